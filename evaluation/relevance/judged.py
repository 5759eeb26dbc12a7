"""Precision at five on queries that were graded by hand.

``data/judged.json`` holds queries as people type them, and the products of a catalog that a reader graded for each: 3
exactly what is sought, 2 good, 1 related, 0 none of that. A product that is not listed counts as 0; where the search
shows one among the first five, the judgement is stale, and :attr:`Precision.ungraded` names it. Of the real files every
product was read; of the procedural catalog those that one of the searches so far showed first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter

from ecom_rlve.catalog.search.search import Search

FIRST = 5
GOOD = 2
"""The least grade of a relevant product."""
SYNTHETIC = "synthetic"


class JudgedQuery(BaseModel):
    """A query and the grades of products by their ids."""

    model_config = ConfigDict(frozen=True)

    query: str
    grades: dict[str, int]

    @property
    def relevant(self) -> frozenset[str]:
        """The products that are good or better."""
        return frozenset(product_id for product_id, grade in self.grades.items() if grade >= GOOD)


class JudgedCatalog(BaseModel):
    """The judged queries for one catalog: ``synthetic``, or a file's path below the folder of the data."""

    model_config = ConfigDict(frozen=True)

    catalog: str
    currency: str | None = None
    """Code of its currency where its rows state none; None = the one that they state."""
    queries: tuple[JudgedQuery, ...]

    def source(self, folder: Path) -> str:
        """Return the name under which the catalog is opened, with the real files in ``folder``."""
        return self.catalog if self.catalog == SYNTHETIC else str(folder / self.catalog)


class Precision(BaseModel):
    """What the first five results of a query are worth."""

    model_config = ConfigDict(frozen=True)

    query: str
    found: int
    """Relevant products among the first five."""
    possible: int
    """Relevant products among the first five of the best order: five, or all there are."""

    ungraded: tuple[str, ...]
    """Ids of the products among the first five that nobody graded for this query, in order."""

    @property
    def share(self) -> float:
        """Found of possible, 0 to 1."""
        return self.found / self.possible


def judged_catalogs() -> tuple[JudgedCatalog, ...]:
    """Return all that was judged."""
    text = resources.files(__package__).joinpath("data/judged.json").read_text(encoding="utf-8")
    return TypeAdapter(tuple[JudgedCatalog, ...]).validate_python(json.loads(text))


def precisions(search: Search, judged: JudgedCatalog) -> Iterator[Precision]:
    """Yield the precision of each query."""
    ids = search.catalog.ids
    for each in judged.queries:
        shown = [ids[row] for row in search.rank(each.query, None, FIRST).tolist()]
        found = sum(product_id in each.relevant for product_id in shown)
        ungraded = tuple(product_id for product_id in shown if product_id not in each.grades)
        yield Precision(query=each.query, found=found, possible=min(FIRST, len(each.relevant)), ungraded=ungraded)
