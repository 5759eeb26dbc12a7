"""Numbers of Google's product taxonomy, which feeds may state instead of a path.

``data/google_taxonomy.txt`` lists those that name a thing, as far as it goes. For any other the title decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources


def google_path(number: str) -> tuple[str, ...]:
    """Return the path of a number; empty for a text that is none, and for a number that is not listed.

    >>> google_path("328")
    ('Electronics', 'Computers', 'Laptops')
    """
    return _paths().get(number, ())


@cache
def _paths() -> Mapping[str, tuple[str, ...]]:
    return dict(_entries())


def _entries() -> Iterator[tuple[str, tuple[str, ...]]]:
    text = resources.files("ecom_rlve.catalog.data").joinpath("google_taxonomy.txt").read_text("utf-8")
    above: tuple[str, ...] = ()
    for line in text.splitlines():
        if line.startswith("["):
            above = tuple(filter(None, line.strip("[]").split(" > ")))
        elif not line.startswith("#"):
            for number, _, name in (entry.strip().partition(" ") for entry in line.split(";")):
                yield number, (*above, name)
