"""Put single faults into the code and see whether a behaviour test notices: what ``make mutants`` runs, with mutmut.

Called with names of areas or paths of modules; without any it takes every area, which takes hours. A copy of the
repository is changed, never the repository itself. Tests that compare whole episodes with stored ones take no part: a
fault that only they notice is one that no test describes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

_ROOT = Path(__file__).resolve().parents[1]
_PACKAGE = "ecom_rlve"
_GOLDEN = ("test_determinism.py", "test_journey_version.py", "test_golden_episode_d1.py")
"""Tests that compare with stored episodes."""
_MARKS = "not slow and not nightly and not needs_server"
_NOTICED = frozenset(("killed", "timeout", "suspicious", "segfault"))
"""Outcomes in which some test failed, or did not come to an end."""


class Area(NamedTuple):
    """Code, and the tests that are to notice what is wrong with it."""

    code: tuple[str, ...]
    """Folders or modules."""
    tests: tuple[str, ...]
    """Folders or files."""


AREAS = {
    "verifiers": Area(
        ("envs/tasks", "envs/parts", "envs/world/similarity.py"), ("envs/tasks", "envs/parts", "envs/world")
    ),
    "customer": Area(
        ("envs/customer/customer.py", "envs/customer/conversation.py"),
        ("envs/customer/test_customer.py", "envs/world/test_stockout.py", "envs/tasks/test_journey.py"),
    ),
    "hearing": Area(("envs/customer/hearing",), ("envs/customer/hearing",)),
    "episode": Area(("envs/episode",), ("envs/episode",)),
    "curriculum": Area(("envs/curriculum.py",), ("envs/test_curriculum.py",)),
    "client": Area(("client/protocol.py", "client/answers.py"), ("client/test_protocol.py", "client/test_client.py")),
}


def main(asked: list[str]) -> int:
    """Report on each area or module asked for; return 2 where one is unknown."""
    jobs = []
    for name in asked or list(AREAS):
        area = AREAS.get(name) or _area_of(name)
        if area is None:
            print(f"no area {name!r}: give modules that belong to one, or {', '.join(AREAS)}", file=sys.stderr)
            return 2
        jobs.append((name, area))
    for name, area in jobs:
        with tempfile.TemporaryDirectory(prefix="mutants-") as room:
            _report(name, _outcomes(Path(room), area))
    return 0


def _area_of(module: str) -> Area | None:
    """Return a module with the tests of the area that it belongs to."""
    for area in AREAS.values():
        if (_ROOT / module).is_file() and any(Path(module).is_relative_to(part) for part in area.code):
            return Area((module,), area.tests)
    return None


def _outcomes(room: Path, area: Area) -> dict[str, str]:
    """Let every fault of an area be tried in a copy of the repository; return what became of each."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=_ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, listed.split("\0")):
        if (_ROOT / name).is_file():
            (room / _PACKAGE / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(_ROOT / name, room / _PACKAGE / name)
    settings = {
        "source_paths": [f"{_PACKAGE}/{part}" for part in area.code],
        "also_copy": [_PACKAGE],
        "pytest_add_cli_args": [
            "-p",
            "no:cacheprovider",
            "-m",
            _MARKS,
            *(f"--ignore-glob=*/{name}" for name in _GOLDEN),
        ],
        "pytest_add_cli_args_test_selection": [f"{_PACKAGE}/tests/{part}" for part in area.tests],
    }
    text = "\n".join(f"{name} =\n    " + "\n    ".join(values) for name, values in settings.items())
    (room / "setup.cfg").write_text(f"[mutmut]\n{text}\n")
    children = str(os.environ.get("JOBS", "2"))
    run = subprocess.run(
        [sys.executable, "-m", "mutmut", "run", "--max-children", children],
        cwd=room, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if run.returncode:
        raise SystemExit(f"mutmut could not run:\n{run.stdout[-2000:]}\n{run.stderr[-2000:]}")
    found = _mutmut(room, "results", "--all", "true")
    outcomes = dict(line.strip().split(": ", 1) for line in found.splitlines() if ": " in line and "__mutmut_" in line)
    return {
        f"{name}\n{_mutmut(room, 'show', name)}" if outcome not in _NOTICED else name: outcome
        for name, outcome in outcomes.items()
    }


def _mutmut(room: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "mutmut", *arguments]
    return subprocess.run(command, cwd=room, check=True, capture_output=True, text=True).stdout


def _report(name: str, outcomes: dict[str, str]) -> None:
    for fault, outcome in outcomes.items():
        if outcome not in _NOTICED:
            changed = [line for line in fault.splitlines()[1:] if line[:1] in "+-" and line[:3] not in ("+++", "---")]
            print(f"{outcome}: {fault.splitlines()[0]}", *changed, sep="\n    ")
    count = Counter(outcomes.values())
    noticed = sum(count[outcome] for outcome in _NOTICED)
    share = f"{100 * noticed / len(outcomes):.0f} %" if outcomes else "nothing to change"
    print(f"{name}: {noticed} of {len(outcomes)} faults killed ({share}); {dict(sorted(count.items()))}", flush=True)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
