"""What a soak has shown, as a table: each promise, what was found, and whether it is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from statistics import median
from typing import NamedTuple

from ecom_rlve.evaluation.bench.crowd.checking import Checked
from ecom_rlve.evaluation.bench.soak.clients import Seen
from ecom_rlve.evaluation.bench.soak.processes import Sample

FLAT = 0.05
"""By which share the memory of any minute may differ from the middle one."""
_SETTLED_S = 300.0
"""Memory is judged from then on: until then caches fill."""
_MINUTE_S = 60.0


class Minute(NamedTuple):
    """The middle of what was sampled in one minute, while every worker was there."""

    at: float
    value: float


class Promise(NamedTuple):
    """One thing that is promised."""

    what: str
    found: str
    is_kept: bool | None
    """None where the soak was too short to tell."""


def judged(seen: Seen, checked: Checked, samples: Sequence[Sample], workers: int) -> list[Promise]:
    """Return every promise with what was found."""
    lost = seen.begun - seen.ended
    memory = _minutes(samples, workers, lambda each: each.private_mib)
    files = _minutes(samples, workers, lambda each: float(each.descriptors))
    failures = "; ".join(f"{times} × {why}" for why, times in seen.failures.most_common(3))
    return [
        Promise(
            "every episode is played to its end",
            f"{seen.ended:,} of {seen.begun:,} {failures}".strip(),
            not lost and not seen.failures and seen.ended > 0,
        ),
        Promise(
            "every reward equals its replay",
            f"{checked.right:,} right, {len(checked.wrong):,} wrong",
            checked.right == seen.ended,
        ),
        Promise(
            "no step is lost or doubled",
            f"{seen.steps:,} steps, {seen.miscounted:,} episodes miscounted",
            seen.miscounted == 0,
        ),
        Promise("groups stay whole", f"{seen.broken_groups:,} broken", seen.broken_groups == 0),
        Promise("memory is flat", _told(memory, "MiB"), _is_flat(memory)),
        Promise("descriptors are flat", _told(files, "files"), _is_flat(files)),
    ]


def table(promises: Sequence[Promise]) -> str:
    """Return the promises as a Markdown table."""
    words = {True: "kept", False: "BROKEN", None: "too short to tell"}
    rows = [f"| {each.what} | {each.found} | {words[each.is_kept]} |" for each in promises]
    return "\n".join(["| promise | found | |", "|---|---|---|", *rows])


def is_kept(promises: Sequence[Promise]) -> bool:
    """Tell whether none is broken."""
    return all(each.is_kept is not False for each in promises)


def _minutes(samples: Sequence[Sample], workers: int, value: Callable[[Sample], float]) -> list[Minute]:
    """Return one value for each minute after the caches have filled."""
    whole = [each for each in samples if each.workers == workers and each.at >= _SETTLED_S]
    grouped = groupby(whole, lambda each: int(each.at // _MINUTE_S))
    return [Minute(at * _MINUTE_S, median(map(value, found))) for at, found in grouped]


def _is_flat(minutes: Sequence[Minute]) -> bool | None:
    if len(minutes) < 2:
        return None
    middle = median(each.value for each in minutes)
    return all(abs(each.value - middle) <= FLAT * middle for each in minutes)


def _told(minutes: Sequence[Minute], unit: str) -> str:
    if not minutes:
        return "no whole minute after the first five"
    values = [each.value for each in minutes]
    return f"{min(values):,.0f} to {max(values):,.0f} {unit} in {len(values)} minutes"
