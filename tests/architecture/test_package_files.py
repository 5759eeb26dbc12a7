"""The files around the package: manifest, container files, dependency pins, and what must not stand in any of them."""

from __future__ import annotations

import json
import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from ecom_rlve import __version__
from ecom_rlve.server.mcp.tools import callable_tools

TEXT_LIMIT = 5_000_000
FOREIGN = {
    "a path of one machine": re.compile(r"(?<![\w.])/(?:work|tmp|farm|root|home|Users)/[\w.]"),
    "a host of a registry": re.compile(
        r"files[.]pythonhosted|registry[.]npmjs|deb[.]debian[.]org|pypi[.]org/(?:simple|packages)|index[-]url"
    ),
}


@pytest.fixture(scope="module")
def manifest(root: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((root / "openenv.yaml").read_text())
    return loaded


@pytest.fixture(scope="module")
def dockerfile(root: Path) -> list[str]:
    """The instructions, with continuation lines joined and comments removed."""
    text = (root / "Dockerfile").read_text().replace("\\\n", " ")
    return [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]


def test_version_is_the_same_everywhere(root: Path, manifest: dict[str, Any]) -> None:
    newest = re.search(r"^## \[(\d+\.\d+\.\d+)\]", (root / "CHANGELOG.md").read_text(), re.MULTILINE)
    compose = yaml.safe_load((root / "docker-compose.yml").read_text())
    assert newest is not None
    assert newest[1] == manifest["version"] == __version__
    assert compose["services"]["server"]["image"].endswith(f":{__version__}")


@pytest.mark.parametrize("name", ["Dockerfile", "docker-compose.yml", "openenv.yaml"])
def test_no_image_discloses_the_customers_acts(root: Path, name: str) -> None:
    assert "DISCLOSE_ACTS" not in (root / name).read_text()


def test_manifest_declares_what_the_reward_is(manifest: dict[str, Any], root: Path) -> None:
    validation = manifest["validation"]
    assert manifest["app"] == "ecom_rlve.server.app:app"
    assert validation["reward"]["range"] == [-1.0, 1.0]
    assert not validation["capabilities"]["llm_judged"]
    for key in ("probe_path", "dockerfile"):
        assert (root / validation["execution"][key]).is_file()


def test_manifest_declares_the_tools_that_the_server_lists(manifest: dict[str, Any]) -> None:
    assert manifest["validation"]["capabilities"]["declared_tools"] == sorted(
        tool["name"] for tool in callable_tools(None)
    )


def test_runtime_plan_is_bounded_and_ends_the_episode(manifest: dict[str, Any], root: Path) -> None:
    plan = json.loads((root / manifest["validation"]["execution"]["probe_path"]).read_text())
    assert set(plan) == {"plan_schema_version", "reset", "actions"}
    assert not {"seed", "episode_id"} & plan["reset"]["options"].keys()
    assert plan["actions"][-1]["answer"]["done"] is True


def test_dockerfile_suits_a_plain_builder_and_a_locked_down_container(dockerfile: list[str]) -> None:
    words = [line.split()[0] for line in dockerfile]
    users = [line.split()[1] for line in dockerfile if line.startswith("USER")]
    assert not [line for line in dockerfile if re.search(r"--mount|--link|--chmod|<<", line)]
    assert "VOLUME" not in words
    assert "HEALTHCHECK" in words
    assert users == ["65532:65532"]
    assert "EXPOSE 8000" in dockerfile
    # `openenv push` turns the stock web page on unless the name occurs.
    assert any("ENABLE_WEB_INTERFACE=false" in line for line in dockerfile)


def test_there_is_one_dockerfile(tree: list[Path], root: Path) -> None:
    assert [path.relative_to(root).as_posix() for path in tree if path.name == "Dockerfile"] == ["Dockerfile"]


def test_compose_runs_a_read_only_checked_server(root: Path) -> None:
    server = yaml.safe_load((root / "docker-compose.yml").read_text())["services"]["server"]
    assert server["read_only"] is True
    assert server["tmpfs"] == ["/tmp"]
    assert "/health" in server["healthcheck"]["test"][-1]


def test_the_client_states_lowest_versions_only(pyproject: dict[str, Any]) -> None:
    """It shares a process with trainers, whose own pins an upper bound would contradict."""
    base = [Requirement(line) for line in pyproject["project"]["dependencies"]]
    assert {requirement.name for requirement in base} == {"httpx", "pydantic", "websockets"}
    assert [str(r) for r in base if not re.fullmatch(r">=\d+\.\d+", str(r.specifier))] == []


def test_extras_are_pinned_by_minor_version(pyproject: dict[str, Any]) -> None:
    project = pyproject["project"]
    lines = [line for extra in project["optional-dependencies"].values() for line in extra]
    others = [requirement for line in lines if (requirement := Requirement(line)).name != project["name"]]
    loose = [str(r) for r in others if not re.fullmatch(r"~=\d+\.\d+\.0", str(r.specifier))]
    assert not loose


def test_a_server_pins_what_the_client_leaves_open(pyproject: dict[str, Any]) -> None:
    project = pyproject["project"]
    pinned = {Requirement(line).name for line in project["optional-dependencies"]["server"]}
    assert {Requirement(line).name for line in project["dependencies"]} <= pinned


def test_data_files_of_the_package_are_packed(tree: list[Path], root: Path, pyproject: dict[str, Any]) -> None:
    """Every file beside the modules of a sub-package is covered by package-data."""
    settings = pyproject["tool"]["setuptools"]
    forgotten = []
    for package in settings["packages"][1:]:
        folder = root.joinpath(*package.split(".")[1:])
        patterns = settings["package-data"].get(package, [])
        beside = [path for path in tree if path.is_file() and path.parent == folder and path.suffix != ".py"]
        forgotten += [path for path in beside if not any(fnmatch(path.name, pattern) for pattern in patterns)]
    assert not forgotten


def test_no_file_names_a_machine_or_a_registry(tree: list[Path], root: Path) -> None:
    offences = []
    for path in tree:
        if not path.is_file() or path.stat().st_size > TEXT_LIMIT:
            continue
        text = path.read_text(errors="ignore")
        offences += [f"{path.relative_to(root)}: {what}" for what, pattern in FOREIGN.items() if pattern.search(text)]
    assert not offences
