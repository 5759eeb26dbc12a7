"""The words for values of attributes: colours, sizes, materials and so on, from ``data/attribute_words.json``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from ecom_rlve.catalog.shop_words.phrases import Phrases


def vocabulary(name: str) -> Mapping[str, Sequence[str]]:
    """Return the spellings of an attribute by value; the value "" lists phrases that only look like one."""
    found: Mapping[str, Sequence[str]] = _file()["vocabulary"].get(name, {})
    return found


def spellings(name: str) -> Iterator[str]:
    """Yield every spelling of every value of an attribute that has a vocabulary; nothing for the others."""
    for value, others in vocabulary(name).items():
        if value:
            yield value
            yield from others


@cache
def phrases(name: str) -> Phrases[str]:
    """Return an attribute's spellings as phrases, each with its value."""
    return Phrases((spelling, value) for value, others in vocabulary(name).items() for spelling in (value, *others))


@cache
def only_where_stated(name: str) -> frozenset[str]:
    """Return the values that a text may name without meaning them: "cream" need not be a colour."""
    return frozenset(_file()["only_where_stated"].get(name, ()))


@cache
def parts() -> frozenset[str]:
    """Return words for parts of a product, whose material is not the product's: "sole", "lining"."""
    return frozenset(_file()["parts"])


@cache
def _file() -> dict[str, Any]:
    text = resources.files("ecom_rlve.catalog.data").joinpath("attribute_words.json").read_text("utf-8")
    table: dict[str, Any] = json.loads(text)
    return table
