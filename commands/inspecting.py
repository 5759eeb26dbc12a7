"""What ``ecom-rlve catalog inspect`` prints."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ecom_rlve.catalog.inspection import PRICE_EDGES, Coverage, Inspection, inspect
from ecom_rlve.catalog.rows.report import MAX_BAD
from ecom_rlve.commands.serving import Served, served
from ecom_rlve.envs.world.shop import Shop

_PIPE_WIDTH = 120
_BAR_WIDTH = 40
_MOST_LEAVES = 12
"""So many leaf categories are listed; the others are counted."""
_LONGEST = 100
"""Most characters of a field of an example."""


@dataclass(frozen=True, slots=True)
class Inspected:
    """What a catalog holds, where it came from and which environments it can serve."""

    source: str
    rows: Mapping[str, Any]
    """Rows read, kept, and dropped by reason."""
    content: Inspection
    environments: Mapping[str, Served]


def inspected(
    source: str, examples: int, *, currency: str | None = None, mapping: Path | None = None, max_bad: float = MAX_BAD
) -> Inspected:
    """Open a source or a catalog folder as a server would, and describe it; raises ``CatalogError``.

    ``currency``, ``mapping`` and ``max_bad`` are as for a build, and for a source only.
    """
    shop = Shop.open(source, currency=currency, mapping=mapping, max_bad=max_bad)
    report = shop.report
    rows: dict[str, Any] = {}
    if report is not None:
        rows = {"read": report.read, "kept": report.kept, "dropped": {str(why): n for why, n in report.dropped.items()}}
        rows |= {"faults": list(report.faults)} if report.faults else {}
    return Inspected(source, rows, inspect(shop.catalog, examples), served(shop))


def show_json(found: Inspected) -> None:
    """Print everything as one JSON object."""
    whole = asdict(found)
    whole["content"]["prices"]["edges_cents"] = PRICE_EDGES
    print(json.dumps(whole, ensure_ascii=False, indent=1))


def show(found: Inspected) -> None:
    """Print everything for people."""
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _PIPE_WIDTH)
    content = found.content
    console.print(Text(f"{found.source}: {content.products:,} products, fingerprint {content.fingerprint}", "bold"))
    if found.rows:
        console.print(f"{found.rows['read']:,} rows read, {found.rows['kept']:,} kept")
        for reason, count in found.rows["dropped"].items():
            console.print(Text(f"{count:,} dropped: {reason}"))
        for fault in found.rows.get("faults", ()):
            console.print(Text(f"skipped: {fault}"))
    console.print(_environments(found.environments))
    console.print(_coverage(content.coverage, content.products))
    console.print(_prices(content))
    console.print(_counts("Departments", content.departments, content.products, len(content.departments)))
    console.print(_counts("Leaf categories", content.leaves, content.products, _MOST_LEAVES))
    console.print(f"{content.sold_out:,} products start without stock")
    for example in content.examples:
        console.print(_example(example))


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(columns[0])
    for name in columns[1:]:
        table.add_column(name, justify="right" if name else "left")
    return table


def _environments(environments: Mapping[str, Served]) -> Table:
    table = Table(title="Environments", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("id", "environment", "serves"):
        table.add_column(name)
    for env_id, each in environments.items():
        levels = f"difficulty 0 to {each.max_difficulty}" if each.lacks is None else f"no: {each.lacks}"
        table.add_row(env_id, each.title, levels)
    return table


def _coverage(coverage: Mapping[str, Coverage], products: int) -> Table:
    table = _table("What is known", "property", "products", "share", "values", "")
    for name, each in coverage.items():
        table.add_row(
            name, f"{each.known:,}", _share(each.known, products), f"{each.distinct:,}", _bar(each.known, products)
        )
    return table


def _prices(content: Inspection) -> Table:
    prices = content.prices
    kinds = f"{prices.exact:,} exact, {prices.at_least:,} at least, {prices.range:,} ranges, {prices.unknown:,} unknown"
    currencies = ", ".join(f"{count:,} {name}" for name, count in prices.currencies.items())
    unit = content.currency or "dollars"
    table = _table(f"Prices: {kinds}{f'; {currencies}' if currencies else ''}", unit, "products", "")
    most = max(prices.histogram)
    for at, count in enumerate(prices.histogram):
        low = f"{PRICE_EDGES[at] // 100:,}"
        label = f"{low} to {PRICE_EDGES[at + 1] // 100:,}" if at + 1 < len(PRICE_EDGES) else f"{low} and up"
        table.add_row(label, f"{count:,}", _bar(count, most))
    return table


def _counts(title: str, counts: Mapping[str, int], products: int, most: int) -> Table:
    table = _table(f"{title}: {len(counts):,}", "name", "products", "share", "")
    shown: Sequence[tuple[str, int]] = list(counts.items())[:most]
    for name, count in shown:
        table.add_row(Text(name), f"{count:,}", _share(count, products), _bar(count, shown[0][1]))
    if len(counts) > most:
        table.add_row(f"{len(counts) - most:,} more", f"{sum(counts.values()) - sum(n for _, n in shown):,}", "", "")
    return table


def _example(example: Mapping[str, Any]) -> Table:
    table = Table(title=Text(str(example["id"])), title_justify="left", box=None, pad_edge=False, show_header=False)
    provenance: Mapping[str, str] = example.get("provenance", {})
    fields = {name: value for name, value in example.items() if name not in ("id", "attributes", "provenance")}
    for name, value in {**fields, **example.get("attributes", {})}.items():
        told = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        origin = provenance.get(name.removesuffix("_cents"), "")
        table.add_row(f"  {name}", Text(_shortened(told)), Text(_shortened(origin), "dim"))
    return table


def _share(count: int, of: int) -> str:
    return f"{100 * count / of:.1f} %"


def _bar(count: int, of: int) -> ProgressBar:
    return ProgressBar(total=max(of, 1), completed=count, width=_BAR_WIDTH)


def _shortened(text: str) -> str:
    plain = "".join(char if char.isprintable() else " " for char in text)
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1] + "…"
