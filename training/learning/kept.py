"""What finished runs found, kept in files, so that an interrupted ``make learn`` goes on where it was."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path

from pydantic import TypeAdapter

from ecom_rlve.training.learning.experiments import Job, Outcome, run

_OUTCOMES = TypeAdapter(Outcome)
_ROOT = Path(__file__).parents[2]
_SOURCES = ("catalog", "envs", "streams.py", "training/learning")
"""What decides what a run finds."""
_WRITERS = ("__main__.py", "page.py")
"""Modules of this package that only say what was found."""
_NAME_LENGTH = 32


@dataclass(frozen=True, slots=True)
class Kept:
    """A folder of finished runs. Files of other versions of the code stay in it and are never read."""

    folder: Path

    def of(self, jobs: Iterable[Job]) -> list[Outcome]:
        """Return what those of the jobs found that are finished."""
        return [self.outcome(job) for job in jobs if self._path(job).is_file()]

    def outcome(self, job: Job) -> Outcome:
        """Return what a job found: as kept, else after running it, and kept then."""
        path = self._path(job)
        if path.is_file():
            return _OUTCOMES.validate_json(path.read_bytes())
        found = run(job)
        self.folder.mkdir(parents=True, exist_ok=True)
        # Whole or not at all: whoever is killed while writing leaves another file.
        unfinished = path.with_suffix(f".{os.getpid()}.tmp")
        unfinished.write_bytes(_OUTCOMES.dump_json(found))
        unfinished.replace(path)
        return found

    def _path(self, job: Job) -> Path:
        return self.folder / f"{_name(job)}.json"

    def outcomes(self, jobs: Sequence[Job], workers: int) -> Iterator[Outcome]:
        """Run jobs in processes of their own, and yield what they found in the order of the jobs.

        Processes are spawned, not forked: a fork would share the parent's connections and threads.
        """
        with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
            yield from pool.map(self.outcome, jobs)


def _name(job: Job) -> str:
    """Return a name that tells a job and the code from all others."""
    # Another server is no other run.
    known = replace(job, url=None if job.url is None else "a server")
    return sha256(f"{_sources()} {known!r}".encode()).hexdigest()[:_NAME_LENGTH]


@cache
def _sources() -> str:
    """Return the fingerprint of the code and its data."""
    found = sha256()
    for name in _SOURCES:
        source = _ROOT / name
        for path in sorted(source.rglob("*")) if source.is_dir() else [source]:
            if path.suffix in (".py", ".toml", ".json") and path.name not in _WRITERS:
                found.update(path.relative_to(_ROOT).as_posix().encode() + b"\0" + path.read_bytes())
    return found.hexdigest()
