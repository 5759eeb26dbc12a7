"""Kubernetes manifests and compose services: valid by the schema, and true of the server that they run."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ecom_rlve import __version__
from ecom_rlve.server.settings import Settings

KUBERNETES = "1.34"
"""The version that manifests are held to: one that clusters run."""
NAMES = ("servers.yaml", "redis.yaml", "autoscaling.yaml")


def loaded(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the documents of a file."""
    yield from yaml.safe_load_all(path.read_text())


@pytest.fixture(scope="module")
def manifests(deploy: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """All resources by kind and name."""
    found = [each for name in NAMES for each in loaded(deploy / "kubernetes" / name)]
    return {(each["kind"], each["metadata"]["name"]): each for each in found}


@pytest.fixture(scope="module")
def compose(deploy: Path) -> dict[str, Any]:
    """The services of compose."""
    services: dict[str, Any] = yaml.safe_load((deploy.parent / "docker-compose.yml").read_text())["services"]
    return services


def pod(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return what a workload says of its pods."""
    template: dict[str, Any] = manifest["spec"]["template"]
    return template


def test_every_resource_is_valid_by_the_schema(manifests: dict[tuple[str, str], dict[str, Any]]) -> None:
    validating = pytest.importorskip(
        "kubernetes_validate", reason="NO MANIFEST WAS VALIDATED: `make test-deploy` installs what that needs"
    )
    for manifest in manifests.values():
        validating.validate(manifest, KUBERNETES, strict=True)
    assert len(manifests) == 7


def test_every_file_is_applied(deploy: Path) -> None:
    listed = yaml.safe_load((deploy / "kubernetes/kustomization.yaml").read_text())["resources"]
    files = {path.name for path in (deploy / "kubernetes").iterdir()} - {"kustomization.yaml"}
    assert set(listed) == files == set(NAMES)


def test_selectors_choose_the_pods_that_are_made(manifests: dict[tuple[str, str], dict[str, Any]]) -> None:
    server = manifests["Deployment", "ecom-rlve"]
    labels = pod(server)["metadata"]["labels"]
    selectors = [
        server["spec"]["selector"]["matchLabels"],
        manifests["Service", "ecom-rlve"]["spec"]["selector"],
        manifests["PodDisruptionBudget", "ecom-rlve"]["spec"]["selector"]["matchLabels"],
        manifests["NetworkPolicy", "ecom-rlve-redis"]["spec"]["ingress"][0]["from"][0]["podSelector"]["matchLabels"],
    ]
    assert [selector for selector in selectors if not selector.items() <= labels.items()] == []
    assert manifests["HorizontalPodAutoscaler", "ecom-rlve"]["spec"]["scaleTargetRef"]["name"] == "ecom-rlve"


def test_the_pods_run_this_version_as_the_image_does(manifests: dict[tuple[str, str], dict[str, Any]]) -> None:
    spec = pod(manifests["Deployment", "ecom-rlve"])["spec"]
    (server,) = spec["containers"]
    assert server["image"].endswith(f":{__version__}")
    assert (spec["securityContext"]["runAsUser"], server["securityContext"]["readOnlyRootFilesystem"]) == (65532, True)
    assert [server[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "readiness", "liveness")] == [
        "/ready",
        "/ready",
        "/health",
    ]


def test_the_engine_waits_longer_than_the_server_takes_to_stop(
    manifests: dict[tuple[str, str], dict[str, Any]],
) -> None:
    spec = pod(manifests["Deployment", "ecom-rlve"])["spec"]
    (server,) = spec["containers"]
    grace = next(float(each["value"]) for each in server["env"] if each["name"] == "ECOM_RLVE_GRACE_S")
    pause = re.search(r"sleep\((\d+)\)", server["lifecycle"]["preStop"]["exec"]["command"][-1])
    assert pause is not None
    assert float(pause[1]) + grace < spec["terminationGracePeriodSeconds"]


def test_every_variable_is_a_setting(manifests: dict[tuple[str, str], dict[str, Any]], compose: dict[str, Any]) -> None:
    (server,) = pod(manifests["Deployment", "ecom-rlve"])["spec"]["containers"]
    named = {each["name"] for each in server["env"]}
    for name in ("server", "server-llm", "replica"):
        named |= set(compose[name]["environment"])
    known = {f"ECOM_RLVE_{field.upper()}" for field in Settings.model_fields} | {"XDG_STATE_HOME"}
    assert named - known == set()


def test_stores_of_replicas_are_where_redis_is(
    manifests: dict[tuple[str, str], dict[str, Any]], compose: dict[str, Any]
) -> None:
    (server,) = pod(manifests["Deployment", "ecom-rlve"])["spec"]["containers"]
    variables = {each["name"]: each.get("value") for each in server["env"]}
    assert ("Service", "ecom-rlve-redis") in manifests
    assert variables["ECOM_RLVE_STORE"] == "redis://ecom-rlve-redis:6379/0"
    assert compose["replica"]["environment"]["ECOM_RLVE_STORE"] == "redis://redis:6379/0"
    assert "redis" in compose


def test_no_redis_throws_anything_away(
    manifests: dict[tuple[str, str], dict[str, Any]], compose: dict[str, Any]
) -> None:
    (redis,) = pod(manifests["StatefulSet", "ecom-rlve-redis"])["spec"]["containers"]
    for command in (redis["args"], compose["redis"]["command"]):
        assert command[command.index("--maxmemory-policy") + 1] == "noeviction"
        assert command[command.index("--appendonly") + 1] == "yes"


def test_replicas_and_what_they_need_come_with_the_profile(compose: dict[str, Any]) -> None:
    assert [name for name, each in compose.items() if each.get("profiles") == ["scale"]] == [
        "replica",
        "redis",
        "balancer",
    ]
    assert compose["replica"]["deploy"]["replicas"] >= 2
    assert "ports" not in compose["replica"]
    assert compose["replica"]["image"] == compose["server"]["image"]


@pytest.mark.parametrize("name", ["server", "replica", "redis", "balancer"])
def test_no_service_may_take_the_whole_machine(compose: dict[str, Any], name: str) -> None:
    assert {"mem_limit", "pids_limit", "restart"} <= compose[name].keys()
    assert "no-new-privileges:true" in compose[name]["security_opt"]


def test_compose_itself_reads_the_file(deploy: Path) -> None:
    """Its command needs no engine for that."""
    program = shutil.which("docker-compose")
    if program is None:
        pytest.skip("COMPOSE HAS NOT READ THE FILE: there is no docker-compose; apt-get install docker-compose")
    command = [program, "--file", str(deploy.parent / "docker-compose.yml"), "--profile", "scale", "config", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
