"""The audits refuse what they should, and an audit of nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import Distribution, SimplePath
from os import PathLike
from pathlib import Path
from types import ModuleType

import pytest
import yaml


@pytest.fixture(scope="session")
def audit(deploy: Path) -> ModuleType:
    """The program, as a module."""
    module = ModuleType("audit")
    exec(compile((deploy / "audit.py").read_text(), "audit.py", "exec"), module.__dict__)
    return module


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("MIT AND GPL-3.0-only", False),
        ("MIT OR GPL-3.0-only", True),
        ("MPL-2.0 AND (Apache-2.0 OR MIT)", True),
        ("(MIT", False),
        ("MIT MIT", False),
        ("AND", False),
        ("", False),
    ],
)
def test_an_expression_is_met_or_not(audit: ModuleType, expression: str, allowed: bool) -> None:
    assert audit.is_allowed(expression) is allowed


class Package(Distribution):
    """An installed package of which only the metadata are there."""

    def __init__(self, *lines: str) -> None:
        self._text = "\n".join(("Metadata-Version: 2.4", *lines, ""))

    def read_text(self, filename: str) -> str | None:
        return self._text if filename == "METADATA" else None

    def locate_file(self, path: str | PathLike[str]) -> SimplePath:
        raise NotImplementedError(path)


def test_a_licence_that_is_unknown_or_missing_is_told(audit: ModuleType) -> None:
    fine = Package("Name: a", "License-Expression: MIT")
    classified = Package("Name: b", "Classifier: License :: OSI Approved :: BSD License", "Classifier: Topic :: x")
    viral = Package("Name: c", "Classifier: License :: OSI Approved :: GNU General Public License v3 (GPLv3)")
    silent = Package("Name: d")
    assert list(audit.forbidden([fine, classified])) == []
    assert [line.partition(":")[0] for line in audit.forbidden([fine, viral, silent])] == ["c", "d"]
    assert list(audit.forbidden([])) == ["nothing was audited"]


def test_what_is_installed_here_may_be_distributed(deploy: Path) -> None:
    done = subprocess.run([sys.executable, deploy / "audit.py", "licences"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "nothing is wrong\n")


def test_a_report_that_skipped_a_package_or_everything_is_no_pass(audit: ModuleType, tmp_path: Path) -> None:
    own = {"name": "ecom-rlve", "skip_reason": "not on any index"}
    fine = {"name": "a", "version": "1", "vulns": []}
    skipped = {"name": "b", "skip_reason": "no answer"}
    faulty = {"name": "c", "version": "1", "vulns": [{"id": "X-1", "fix_versions": ["2"]}]}
    path = tmp_path / "report.json"
    for listed, status in (([own, fine], 0), ([own], 1), ([], 1), ([fine, skipped], 1), ([fine, faulty], 1)):
        path.write_text(json.dumps({"dependencies": listed}))
        assert audit.main(["advisories", str(path)]) == status
    for text in ("", "[]", "{}"):
        path.write_text(text)
        assert audit.main(["advisories", str(path)]) == 1
    assert audit.main(["advisories", str(tmp_path / "none")]) == 1
    assert audit.main([]) == 2


def test_the_workflows_cover_what_is_supported_and_pin_what_they_run(deploy: Path) -> None:
    folder = deploy.parent / ".github" / "workflows"
    flows = {path.stem: yaml.safe_load(path.read_text()) for path in folder.iterdir()}
    assert set(flows) == {"ci", "release"}
    matrix = flows["ci"]["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == ["3.11", "3.12", "3.13", "3.14"]
    assert {"arm" in os for os in matrix["os"]} == {True, False}
    assert any(os.startswith("macos") for os in matrix["os"])
    steps = [step for flow in flows.values() for job in flow["jobs"].values() for step in job["steps"]]
    used = [step["uses"] for step in steps if "uses" in step]
    assert used
    assert not [each for each in used if len(each.rpartition("@")[2]) != 40]
    runs = "\n".join(step["run"] for step in steps if "run" in step)
    targets = {line.split()[1] for line in runs.splitlines() if line.startswith("make ")}
    makefile = (deploy.parent / "Makefile").read_text()
    assert {"test", "test-client", "test-slow", "test-fuzz", "test-nightly"} <= targets
    assert not [target for target in targets if f"\n{target}:" not in makefile]
