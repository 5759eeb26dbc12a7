"""A folder of results: ``config.json``, ``episodes.jsonl`` and ``failures.jsonl``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from ecom_rlve.evaluation.judging.errors import ResultsError
from ecom_rlve.evaluation.judging.journal import whole_lines, write_whole
from ecom_rlve.evaluation.judging.plan import Task, tasks_of
from ecom_rlve.evaluation.judging.records import FORMAT, Config, EpisodeLine, FailureLine, TaskLine

CONFIG, EPISODES, FAILURES = "config.json", "episodes.jsonl", "failures.jsonl"

L = TypeVar("L", bound=TaskLine)


def read_config(folder: Path) -> Config:
    """Return the configuration of a folder of results; raises :class:`ResultsError` where there is none."""
    path = folder / CONFIG
    try:
        config = Config.model_validate_json(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise ResultsError(f"{path} does not exist: {folder} holds no results of `ecom-rlve eval`") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ResultsError(f"{path} cannot be read: {error}") from error
    except ValidationError as error:
        raise ResultsError(f"{path} is no configuration of a run: {_first(error)}") from error
    if config.format != FORMAT:
        raise ResultsError(f"{path} has format {config.format}; this version reads format {FORMAT}")
    return config


def begin(folder: Path, config: Config) -> Config:
    """Write the configuration of a new run, or return that of the run that the folder holds.

    Raises :class:`ResultsError` if the folder holds another run, or something else.
    """
    if not (folder / CONFIG).exists():
        strange = sorted(path.name for path in folder.iterdir())
        if strange:
            raise ResultsError(f"{folder} holds {strange[0]} and no {CONFIG}: name an empty folder or a new one")
        write_whole(folder / CONFIG, config.model_dump_json(indent=1) + "\n")
        return config
    there = read_config(folder)
    for part in ("plan", "server"):
        was, now = getattr(there, part).model_dump(), getattr(config, part).model_dump()
        for name in was:
            if was[name] != now[name]:
                raise ResultsError(
                    f"{folder / CONFIG} is of another run: {name} was {was[name]!r} and is {now[name]!r}; "
                    "name another folder, or the same arguments"
                )
    return there


def episodes(folder: Path, config: Config) -> Iterator[EpisodeLine]:
    """Yield the episodes of a folder, in the order in which they ended.

    Raises :class:`ResultsError` for a line that is none, of an episode that the configuration does not have, or of one
    that was there before.
    """
    path, planned, seen = folder / EPISODES, set(tasks_of(config.plan)), set[Task]()
    for number, line in _lines(path, EpisodeLine):
        if line.task not in planned:
            raise ResultsError(f"{path}, line {number}: {line.task} is no episode of {folder / CONFIG}")
        if line.task in seen:
            raise ResultsError(f"{path}, line {number}: {line.task} is there twice")
        seen.add(line.task)
        yield line


def failures(folder: Path) -> Iterator[FailureLine]:
    """Yield the failures of a folder; raises :class:`ResultsError` for a line that is none."""
    if (folder / FAILURES).exists():
        yield from (line for _, line in _lines(folder / FAILURES, FailureLine))


def _lines(path: Path, kind: type[L]) -> Iterator[tuple[int, L]]:
    try:
        for number, text in whole_lines(path):
            try:
                yield number, kind.model_validate_json(text)
            except ValidationError as error:
                raise ResultsError(f"{path}, line {number} is no line of a run: {_first(error)}") from error
    except FileNotFoundError:
        raise ResultsError(f"{path} does not exist: the folder was not written by `ecom-rlve eval`") from None
    except OSError as error:
        raise ResultsError(f"{path} cannot be read: {error.strerror}") from error


def _first(error: ValidationError) -> str:
    """Return one line for the first thing that is wrong."""
    found = error.errors(include_url=False, include_input=False)[0]
    return f"{'.'.join(map(str, found['loc'])) or 'text'}: {found['msg']}"
