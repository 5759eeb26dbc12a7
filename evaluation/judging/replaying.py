"""Playing recorded episodes again, to see that each byte and each reward is what it was."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from ecom_rlve.catalog.errors import CatalogError
from ecom_rlve.envs.episode.trace import Trace, replay
from ecom_rlve.envs.errors import TraceMismatchError
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.judging.errors import ResultsError
from ecom_rlve.evaluation.judging.folder import EPISODES, episodes, read_config
from ecom_rlve.evaluation.judging.plan import Task
from ecom_rlve.evaluation.judging.records import EpisodeLine


@dataclass(frozen=True, slots=True)
class Recorded:
    """One recorded episode."""

    name: str
    trace: Trace
    line: EpisodeLine | None = None
    """What a run wrote down of it, where it comes from a folder of results."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One recorded episode that is not what it was."""

    name: str
    difference: str


def recorded_in(path: Path) -> Iterator[Recorded]:
    """Yield the episodes of a file that holds a trace, or of a folder of results.

    Raises :class:`ResultsError` where there is none.
    """
    if path.is_dir():
        for line in episodes(path, read_config(path)):
            yield Recorded(str(line.task), _load(line.trace, f"{path / EPISODES}, {line.task}"), line)
        return
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ResultsError(f"{path} cannot be read: {error}") from error
    yield Recorded(str(path), _load(text, str(path)))


def source_of(path: Path, default: str) -> str:
    """Return the source of the catalog of recorded episodes: a folder of results says it, a trace does not."""
    return read_config(path).server.source if path.is_dir() else default


def opened(source: str, cache_dir: Path | None = None) -> Shop:
    """Open a catalog; raises :class:`ResultsError` where there is none."""
    try:
        return Shop.open(source, cache_dir)
    except CatalogError as error:
        raise ResultsError(f"{source}: {error}") from error


def mismatches(recorded: Iterable[Recorded], shop: Shop, done: Callable[[], None] = lambda: None) -> Iterator[Mismatch]:
    """Play episodes again, and yield those that differ; ``done`` is called after each.

    Raises :class:`ResultsError` if one was played with another catalog than the shop's.
    """
    for each in recorded:
        played_with = each.trace.metadata.catalog
        if played_with != shop.catalog.fingerprint:
            raise ResultsError(
                f"{each.name} was played with the catalog {played_with}, and this one is {shop.catalog.fingerprint}: "
                "name its source with --catalog"
            )
        found = difference_of(each, shop)
        if found is not None:
            yield Mismatch(each.name, found)
        done()


def again(line: EpisodeLine, shop: Shop) -> str | None:
    """Play what a run wrote down again, and return how it differs; None if it does not."""
    try:
        return difference_of(Recorded(str(line.task), Trace.load(line.trace), line), shop)
    except ValueError as error:
        return str(error)


def difference_of(recorded: Recorded, shop: Shop) -> str | None:
    """Return how an episode differs from its trace, or the trace from what was written down; None if they agree."""
    try:
        replay(recorded.trace, shop)
    except TraceMismatchError as error:
        return str(error)
    return None if recorded.line is None else _untrue(recorded.line, recorded.trace)


def _untrue(line: EpisodeLine, trace: Trace) -> str | None:
    """Return what a line says otherwise than its trace."""
    meta = trace.metadata
    played = Task(meta.env_id, meta.difficulty, meta.seed, line.trial)
    if played != line.task:
        return f"the line says {line.task}, and its trace is {played}"
    for name in ("split", "style", "format", "axes", "version", "catalog", "bank", "simulator"):
        said, is_so = getattr(line, name), getattr(meta, name)
        if said != is_so:
            return f"the line says {name} {said!r}, and its trace {is_so!r}"
    if line.result != trace.result or line.reward != trace.rewards[-1]:
        return f"the line says {line.reward}, and its trace {trace.rewards[-1]}, or their results differ"
    return None


def _load(text: str, name: str) -> Trace:
    try:
        return Trace.load(text)
    except ValueError as error:
        raise ResultsError(f"{name}: {error}"[:500]) from error
