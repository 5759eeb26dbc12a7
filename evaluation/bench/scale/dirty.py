"""What a catalog of dirty rows costs to build, and what becomes of the rows.

It is built twice, the first time from half of the rows: so it shows whether the cost grows with their number, and
what ten times as many would take.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.build import CHUNK_ROWS
from ecom_rlve.catalog.inspection import inspect
from ecom_rlve.catalog.rows.report import SourceReport
from ecom_rlve.catalog.store import open_store
from ecom_rlve.evaluation.bench.report import Target
from ecom_rlve.evaluation.bench.scale.build import CORES, built
from ecom_rlve.evaluation.bench.scale.dirty_rows import write_rows
from ecom_rlve.evaluation.bench.scale.report import PEAK_MOST_GIB, Build

AIM = 2_000_000
"""So many rows are extrapolated to."""
GROWTH_MOST = 1.15
"""How much more CPU time a row may take where there are twice as many; the clock alone differs by a tenth."""
_SHARE = 2
_FILLED = (CORES + 2) * CHUNK_ROWS
"""Fewer rows do not keep every process busy, so that memory still grows with the number of processes."""
_MIB, _GIB = 2**20, 1024


@dataclass(frozen=True, slots=True)
class RowsBuilt:
    """A catalog of so many rows."""

    report: SourceReport
    file_mib: float
    build: Build
    kinds: int
    """Leaf categories."""
    known: int
    """Products of a known kind."""
    priced: int
    """Products whose price is known, if only in part."""
    attributes: int
    """Known typed attributes of all products."""

    @property
    def cpu_s_per_row(self) -> float:
        """CPU seconds that a row took."""
        return self.build.cpu_s / self.report.read


def measured(rows: int, room: Path, console: Console) -> tuple[RowsBuilt, RowsBuilt]:
    """Build half of the rows, then all; files are made in the folder ``room``, and removed."""
    few, many = (_built(count, room, console) for count in (rows // _SHARE, rows))
    return few, many


def _built(rows: int, room: Path, console: Console) -> RowsBuilt:
    file, store = room / f"rows-{rows}.jsonl", room / f"rows-{rows}"
    console.print(f"building {rows:,} dirty rows …")
    write_rows(file, rows)
    size, build = file.stat().st_size / _MIB, built(str(file), store)
    opened = open_store(store)
    found = inspect(opened.catalog, examples=0)
    unknown = sum(found.leaves.get(each.name, 0) for each in opened.catalog.categories if not each.is_kind)
    attributes = sum(found.coverage[name].known for name in ATTRIBUTES)
    priced = found.products - found.prices.unknown
    done = RowsBuilt(opened.report, size, build, len(found.leaves), found.products - unknown, priced, attributes)
    file.unlink()
    shutil.rmtree(store)
    return done


def extrapolated(sizes: Sequence[RowsBuilt], cost: Callable[[RowsBuilt], float]) -> float:
    """Return a cost at :data:`AIM` rows, on the straight line through those of two numbers of rows."""
    few, many = sizes
    slope = (cost(many) - cost(few)) / (many.report.read - few.report.read)
    return cost(many) + max(0.0, slope) * (AIM - many.report.read)


def growth(sizes: Sequence[RowsBuilt]) -> float:
    """Return what a further row costs among many, relative to what one costs among few; in CPU time."""
    few, many = sizes
    added = (many.build.cpu_s - few.build.cpu_s) / (many.report.read - few.report.read)
    return added / few.cpu_s_per_row


def judged(sizes: Sequence[RowsBuilt]) -> list[Target]:
    """Return every target with what was measured."""
    peak, ratio = _peak_at_aim(sizes), growth(sizes)
    return [
        Target(
            "CPU time of a further row, × that of an early one",
            f"{ratio:.2f}",
            f"≤ {GROWTH_MOST}",
            ratio <= GROWTH_MOST,
        ),
        Target(
            f"most memory of the build, {AIM:,} rows, GiB",
            "not measured" if peak is None else f"{peak / _GIB:.1f}",
            f"< {PEAK_MOST_GIB:g}",
            None if peak is None else peak / _GIB < PEAK_MOST_GIB,
        ),
    ]


def table(sizes: Sequence[RowsBuilt]) -> str:
    """Return both builds and the extrapolation as a Markdown table."""
    peak = _peak_at_aim(sizes)
    minutes = extrapolated(sizes, lambda size: size.build.seconds) / 60
    cores = extrapolated(sizes, lambda size: size.build.cpu_s) / 60
    lines = [
        _line(
            "file, MiB", sizes, lambda size: size.file_mib, f"{extrapolated(sizes, lambda size: size.file_mib):,.0f}"
        ),
        _line("build, minutes", sizes, lambda size: size.build.seconds / 60, f"{minutes:,.0f}", digits=1),
        _line("CPU time of the build, minutes", sizes, lambda size: size.build.cpu_s / 60, f"{cores:,.0f}", digits=1),
        _line("rows/s", sizes, lambda size: size.report.read / size.build.seconds),
        _line("rows/s of one core", sizes, lambda size: 1 / size.cpu_s_per_row),
        _line(
            "most memory of the build, MiB",
            sizes,
            lambda size: size.build.peak_mib,
            "" if peak is None else f"{peak:,.0f}",
        ),
        _line("rows kept", sizes, lambda size: size.report.kept),
        *_dropped(sizes),
        _line("leaf categories", sizes, lambda size: size.kinds),
        _line("products of a known kind", sizes, lambda size: size.known),
        _line("products with a price", sizes, lambda size: size.priced),
        _line("typed attributes of a product", sizes, lambda size: size.attributes / size.report.kept, digits=2),
    ]
    head = "".join(f" {size.report.read:,} rows |" for size in sizes)
    return "\n".join([f"| |{head} {AIM:,} rows, extrapolated |", "|---|---:|---:|---:|", *lines])


def _peak_at_aim(sizes: Sequence[RowsBuilt]) -> float | None:
    """Return the most memory in MiB; None where it is not known, or too few rows were read to tell."""
    if sizes[0].report.read < _FILLED or any(size.build.peak_mib is None for size in sizes):
        return None
    return extrapolated(sizes, lambda size: size.build.peak_mib or 0.0)


def _dropped(sizes: Sequence[RowsBuilt]) -> Iterator[str]:
    """Yield a line for each reason, the most frequent first."""
    counts = sizes[-1].report.dropped
    for reason in sorted(counts, key=lambda reason: (-counts[reason], reason)):
        dropped = [size.report.dropped.get(reason, 0) for size in sizes]
        yield f"| {' | '.join([f'dropped: {reason}', *(f'{count:,}' for count in dropped)])} | |"


def _line(
    what: str, sizes: Sequence[RowsBuilt], value: Callable[[RowsBuilt], float | None], aim: str = "", digits: int = 0
) -> str:
    values = map(value, sizes)
    cells = ["not measured" if each is None else f"{each:,.{digits}f}" for each in values]
    return f"| {' | '.join([what, *cells, aim])} |"
