"""Writes the texts of the procedural catalog: titles, descriptions and feature lines.

Texts state the facts that they are given and no others. Phrases of ``data/wording.json`` spell a fact; templates of the
department arrange the phrases.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from ecom_rlve.catalog.synthetic.departments import Kind

MIN_TITLE, MAX_TITLE = 40, 140
"""Length of a title in characters."""
PICKS = 8
"""How many random integers the text of a product needs."""

_LOWER_IN_TITLES = frozenset({"to", "and", "of", "by", "for", "with", "from", "the"})
_PLACE = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Phrases:
    """One fact in all its forms."""

    lead: str | None
    """As an adjective in a title; None if it cannot stand before the noun."""
    tags: tuple[str, ...]
    """As a part of a title."""
    clause: str
    """Within a sentence."""
    bullets: tuple[str, ...]
    """As a feature line."""


@dataclass(frozen=True, slots=True)
class ProductText:
    """What a shop writes about a product."""

    title: str
    description: str
    features: tuple[str, ...]


@cache
def phrases(attribute: str, value: str | float) -> Phrases:
    """Return the spellings of one fact."""
    entry = _wording()["attributes"][attribute]
    spelled = _wording()["spellings"].get(value, value) if isinstance(value, str) else f"{value:g}"
    return Phrases(
        lead=title_case(spelled) if entry["leads"] else None,
        tags=tuple(form.format(title_case(spelled)) for form in entry["tags"]),
        clause=entry["clause"].format(spelled),
        bullets=tuple(form.format(spelled) for form in entry["bullets"]),
    )


def title_case(text: str) -> str:
    """Return the text with capitals as in a title; existing capitals stay.

    >>> title_case("3 to 5 years of USB-C and soft-touch")
    '3 to 5 Years of USB-C and Soft-Touch'
    """
    words = (word if word in _LOWER_IN_TITLES else _capitals(word) for word in text.split(" "))
    return " ".join(words)


def write_text(
    kind: Kind, brand: str | None, model: str, facts: Sequence[Phrases], picks: Sequence[int]
) -> ProductText:
    """Return the text of one product.

    ``facts`` holds at least two facts; the first ones are named first. ``picks`` holds :data:`PICKS` non-negative
    integers that choose between wordings.
    """
    names = {"brand": brand or "", "model": model, "noun": kind.noun, "singular": kind.category.singular}
    named = 2 + picks[0] % 3
    return ProductText(
        title=_title(kind, names, facts, named, picks),
        description=_description(kind, names, facts, picks),
        features=_features(kind, facts, named, picks),
    )


def _title(kind: Kind, names: dict[str, str], facts: Sequence[Phrases], named: int, picks: Sequence[int]) -> str:
    template = _one_of(kind.shop_copy.titles if names["brand"] else _wording()["unbranded_titles"], picks[1])
    names = {**names, "noun": title_case(kind.noun)}
    title = _filled_title(template, names, facts[:named], picks[2])
    while len(title) < MIN_TITLE and named < min(4, len(facts)):
        named += 1
        title = _filled_title(template, names, facts[:named], picks[2])
    while len(title) > MAX_TITLE and named > 2:
        named -= 1
        title = _filled_title(template, names, facts[:named], picks[2])
    return title if len(title) >= MIN_TITLE else f"{title}, {_one_of(kind.shop_copy.uses, picks[3])}"


def _filled_title(template: str, names: dict[str, str], facts: Sequence[Phrases], pick: int) -> str:
    leading = next((fact for fact in facts if fact.lead), None) if "{lead}" in template else None
    if leading is None:
        template = template.replace("{lead} ", "")
    tags = [_one_of(fact.tags, pick + at) for at, fact in enumerate(facts) if fact is not leading]
    lead = leading.lead if leading else None
    return _filled(template, {**names, "lead": lead or "", "tags": ", ".join(tags), "bars": " | ".join(tags)})


def _description(kind: Kind, names: dict[str, str], facts: Sequence[Phrases], picks: Sequence[int]) -> str:
    openings = kind.shop_copy.openings if names["brand"] else _wording()["unbranded_openings"]
    opening = _filled(_one_of(openings, picks[4]), {**names, "first": facts[-1].clause, "second": facts[-2].clause})
    closings = [_one_of(kind.shop_copy.closings, picks[5] + at) for at in range(picks[6] % 3)]
    return " ".join((opening[0].upper() + opening[1:], *closings))


def _features(kind: Kind, facts: Sequence[Phrases], named: int, picks: Sequence[int]) -> tuple[str, ...]:
    """Return two to five lines; facts that the title leaves out come first."""
    told = (*facts[named:], *facts[:named])[: 2 + picks[7] % 3]
    lines = [_one_of(fact.bullets, picks[7] // 3 + at) for at, fact in enumerate(told)]
    if picks[6] % 2:
        lines.append(_one_of(kind.shop_copy.bullets, picks[3]))
    return tuple(lines)


def _filled(template: str, values: dict[str, str]) -> str:
    return _PLACE.sub(lambda place: values[place[1]], template)


def _one_of(choices: Sequence[str], pick: int) -> str:
    return choices[pick % len(choices)]


def _capitals(word: str) -> str:
    return "-".join(part[:1].upper() + part[1:] for part in word.split("-"))


@cache
def _wording() -> dict[str, Any]:
    wording: dict[str, Any] = json.loads(
        resources.files("ecom_rlve.catalog.data").joinpath("wording.json").read_text("utf-8")
    )
    return wording
