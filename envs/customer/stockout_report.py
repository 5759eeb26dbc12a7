"""What an agent's report that something is sold out is about, and whether it is true (SPEC §6, Stock-out)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.world.world import World


class About(StrEnum):
    """What a report is about."""

    WANTED = "wanted"
    """A wanted thing that the customer has to replace."""
    UNWANTED = "unwanted"
    """Something else that is sold out."""
    UNCLEAR = "unclear"
    """One of several things: it does not say which."""
    UNTRUE = "untrue"
    """Nothing that it may be about is sold out."""


class Report(NamedTuple):
    """A report, as the customer takes it."""

    about: About
    rows: tuple[int, ...] = ()
    """Products that it is about."""
    items: tuple[int, ...] = ()
    """Positions of the wanted items of their kinds."""


def numbered_products(intent: Intent[Any]) -> dict[str, tuple[int, ...]]:
    """Return the titles and ids of all products shown, casefolded, each with the numbers of the products it names.

    The numbers begin after those of the intent's items and follow the order in which products were shown.
    """
    world, first = intent.world, len(intent.subjects)
    named: dict[str, list[int]] = {}
    for number, row in enumerate(world.shown, first):
        catalog = world.shop.catalog
        titles = (world.title(row).rstrip("…"), world.shop.card(row)["title"].rstrip("…"), catalog.titles[row])
        for name in dict.fromkeys(each.casefold() for each in (*titles, catalog.ids[row])):
            named.setdefault(name, []).append(number)
    return {name: tuple(numbers) for name, numbers in named.items()}


def report_of(intent: Intent[Any], claimed: Sequence[int | None], text: str) -> Report:
    """Return what a claim is about. ``claimed``: items by position, products by number, None for "it"; ``text``: its
    sentences.

    A noun names the only product of its kind that was shown; where several were, it is unclear which is meant. Where
    the choice is the agent's, a noun names nothing: it may be what the customer had before.
    """
    world, items = intent.world, len(intent.subjects)
    shown = list(world.shown)
    rows = [shown[each - items] for each in claimed if each is not None and each >= items]
    named = {intent.subjects[each].category for each in claimed if each is not None and each < items}
    if not (rows or named):
        named = {subject.category for subject in intent.subjects}
    named -= {_kind(world, row) for row in rows}
    if intent.stockout is not None and not intent.stockout.leaves_choice:
        rows += intent.stockout.may_be_meant(intent, [row for row in shown if _kind(world, row) in named])
    rows = list(dict.fromkeys(rows))
    kinds = {_kind(world, row) for row in rows}
    about = tuple(at for at, subject in enumerate(intent.subjects) if subject.category in kinds or at in claimed)
    if len(kinds) < len(rows):
        return Report(About.UNCLEAR, tuple(rows), about)
    if intent.stockout is not None and intent.stockout.reported(intent, rows, text) is not None:
        return Report(About.WANTED, tuple(rows), about)
    is_true = bool(rows) and all(_has_sold_out(world, row) for row in rows)
    return Report(About.UNWANTED if is_true else About.UNTRUE, tuple(rows), about)


def _kind(world: World, row: int) -> str:
    return world.shop.catalog.category_of(row).name


def _has_sold_out(world: World, row: int) -> bool:
    """Tell whether tools show, or have said, that a product or one of its variants cannot be had."""
    if world.stock(row) < 1 or row in world.refused:
        return True
    gone = world.sold_out_variants
    return any(variant.id in gone or variant.stock == 0 for variant in world.variants(row))
