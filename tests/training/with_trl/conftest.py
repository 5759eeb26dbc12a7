"""Tests that need TRL run in an environment that holds it (``make test-trl``); elsewhere none is collected."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

collect_ignore_glob = [] if find_spec("trl") else ["test_*.py"]


class DryRun:
    """The recipe's dry run in a process of its own, and what it leaves in its folder."""

    def __init__(self, folder: Path) -> None:
        self.output = folder / "run"
        self.recipe = folder / "recipe.yaml"
        self.recipe.write_text((resources.files("ecom_rlve.training.recipes") / "c1.yaml").read_text())

    def start(self, url: str, *options: str) -> subprocess.Popen[str]:
        """Start it against a server."""
        command = [sys.executable, "-W", "ignore", "-m", "ecom_rlve.training.grpo", "--config", str(self.recipe)]
        command += ["--dry-run", "--server", url, "--output", str(self.output), *options]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run(self, url: str, *options: str) -> str:
        """Run it to its end and return what it printed; AssertionError if it fails."""
        process = self.start(url, *options)
        printed, _ = process.communicate()
        assert process.returncode == 0, printed[-4000:]
        return printed

    @property
    def run_id(self) -> str:
        """The run's name at the server."""
        return str(json.loads((self.output / "ecom_rlve_run.json").read_text())["run_id"])

    def steps(self) -> list[dict[str, Any]]:
        """Return what was logged of each step."""
        state = json.loads((self.output / "checkpoint-2" / "trainer_state.json").read_text())
        return [line for line in state["log_history"] if "loss" in line]


@pytest.fixture
def dry_run(tmp_path: Path) -> DryRun:
    return DryRun(tmp_path)
