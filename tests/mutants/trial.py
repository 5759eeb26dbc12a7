"""A copy of the repository in which one fault at a time is tried: do the tests notice it?

The working tree is never touched. No byte code outlives a fault, no process outlives its trial, and none grows beyond
what the machine has: a fault may well loop for ever, or fill the memory.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from enum import Enum
from importlib.util import cache_from_source
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "*.egg-info", "outputs")
MEMORY_KILOBYTES = 8 * 2**20
"""Address space of a trial; the tests need less than half of it."""
SLOWEST = 5
"""A trial that takes this many times as long as without a fault is one that never ends."""
LEAST_SECONDS = 60.0


class Outcome(Enum):
    """What became of a fault."""

    SURVIVED = "survived"
    KILLED = "killed"
    ENDLESS = "killed by the time limit"


class Tree:
    """A copy of the repository, importable as the package."""

    def __init__(self, folder: Path) -> None:
        self._copy = folder / "tree"
        self._path = folder / "path"
        self._running: subprocess.Popen[bytes] | None = None
        self._seconds: dict[tuple[str, ...], float] = {}
        shutil.copytree(ROOT, self._copy, ignore=LEFT_OUT, symlinks=True)
        self._path.mkdir()
        (self._path / "ecom_rlve").symlink_to(self._copy)

    def outcome(self, module: str, source: str, tests: Sequence[str]) -> Outcome:
        """Run tests against the copy with another text in a module, which is put back afterwards."""
        limit = max(LEAST_SECONDS, SLOWEST * self._seconds_without_fault(tests))
        path = self._copy / module
        original = path.read_text("utf-8")
        # Python takes byte code of the same second and size for that of the new text.
        Path(cache_from_source(str(path))).unlink(missing_ok=True)
        path.write_text(source, "utf-8")
        try:
            code = self._pytest(tests, limit, PYTHONDONTWRITEBYTECODE="1")
        finally:
            path.write_text(original, "utf-8")
        if code is None:
            return Outcome.ENDLESS
        return Outcome.SURVIVED if code == 0 else Outcome.KILLED

    def stop(self) -> None:
        """End the trial that is under way, from another thread."""
        if self._running is not None:
            _end(self._running)

    def _seconds_without_fault(self, tests: Sequence[str]) -> float:
        """Return how long the tests take; raises ``RuntimeError`` where they fail, or would test another tree."""
        key = tuple(tests)
        if key not in self._seconds:
            package = str(self._path / "ecom_rlve/__init__.py")
            if self._run(["-c", "import ecom_rlve, sys; sys.exit(ecom_rlve.__file__ != sys.argv[1])", package]) != 0:
                raise RuntimeError("the package that the tests would import is not the copy's")
            began = time.monotonic()
            if self._pytest(tests) != 0:
                raise RuntimeError(f"without any fault one of these tests fails, or there is none: {' '.join(tests)}")
            self._seconds[key] = time.monotonic() - began
        return self._seconds[key]

    def _pytest(self, tests: Sequence[str], limit: float | None = None, **settings: str) -> int | None:
        quiet = ["-x", "-q", "-p", "no:cacheprovider", "-m", "not slow and not nightly"]
        return self._run(["-m", "pytest", *quiet, *tests], limit, **settings)

    def _run(self, arguments: Sequence[str], limit: float | None = None, **settings: str) -> int | None:
        """Return the exit code, or None where the time was up; whatever the process started ends with it."""
        bounded = f'ulimit -v {MEMORY_KILOBYTES}; exec "$0" "$@"'
        process = subprocess.Popen(
            ["/bin/sh", "-c", bounded, sys.executable, *arguments],
            cwd=self._copy,
            env=os.environ | {"PYTHONPATH": str(self._path)} | settings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._running = process
        try:
            return process.wait(limit)
        except subprocess.TimeoutExpired:
            return None
        finally:
            _end(process)
            self._running = None


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all of its session that is left."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
