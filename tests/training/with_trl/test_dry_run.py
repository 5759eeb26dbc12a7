"""The recipe's dry run: two real steps, a checkpoint that knows its run, and a resumed run whose groups go on."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from ecom_rlve import EcomEnv
from ecom_rlve.evaluation.local_server import local_server

GROUPS = ("prompt-0", "prompt-1", "prompt-2", "prompt-3")
SIZE = 4
"""Rollouts of a group in the dry run."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with local_server("--catalog", "synthetic:600:0") as served:
        yield served


def members(url: str, run_id: str) -> list[int]:
    """Return how many episodes each group has had; each is reset once more for it."""
    with EcomEnv(url, env="CART") as env:
        counts = [env.reset(run_id=run_id, group_id=each, style="tool").metadata.group_member for each in GROUPS]
    return [(count or 0) - 1 for count in counts]


def test_two_steps_and_a_resumed_one(url: str, dry_run: Any) -> None:
    dry_run.run(url)
    first, second = dry_run.steps()
    for line in (first, second):
        assert line["grad_norm"] > 0, "some group was mixed"
        assert 0 <= line["CART/success"] <= 1
        assert line["lost"] == 0
        assert line["CART/frontier"] == 0
        assert line["CART/tokens"] > 0
        assert sum(share for name, share in line.items() if name.startswith("CART/ended/")) == pytest.approx(1)
    assert list((dry_run.output / "runs").rglob("events.out.tfevents.*"))
    run_id = dry_run.run_id
    assert json.loads((dry_run.output / "checkpoint-1" / "ecom_rlve_run.json").read_text())["run_id"] == run_id
    with EcomEnv(url) as env:
        state = env.curriculum(run_id).read()
    assert state.settings.parameters.tau_num == 32
    assert state.counted == state.groups * SIZE >= 16, "more, where no group was mixed and new ones were played"
    assert members(url, run_id) == [SIZE] * 4
    assert httpx.get(f"{url}/episodes", params={"run_id": run_id}).json() == []

    shutil.rmtree(dry_run.output / "checkpoint-2")
    printed = dry_run.run(url, "--resume")
    assert f"run {run_id}, from {dry_run.output / 'checkpoint-1'}" in printed
    assert members(url, run_id) == [SIZE + 1, SIZE + 1, 2 * SIZE + 1, 2 * SIZE + 1]
    again = dry_run.steps()
    assert again[0] == first, "a resumed run goes on after what it had done"
    assert len(again) == 2


def test_a_folder_with_a_run_is_not_trained_over(url: str, dry_run: Any) -> None:
    dry_run.output.mkdir()
    (dry_run.output / "ecom_rlve_run.json").write_text("{}")
    process = dry_run.start(url)
    printed, _ = process.communicate()
    assert process.returncode == 1
    assert "--resume" in printed.splitlines()[-1]
    assert "Traceback" not in printed
