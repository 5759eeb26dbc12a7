"""Wishes that filters do not state, or not wholly: ranges and exclusions (SPEC §6, PD)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.attributes import NUMERIC
from ecom_rlve.catalog.constraints import Columns, Constraint, Op, ends
from ecom_rlve.envs.parts.constraints import Places, natural_bound, sayable

RANGE_SHARE = 0.25
"""Probability that a number is wanted within a range, not on one side of a bound."""
EXCLUSION_SHARE = 0.25
"""Probability that a word is excluded, not wanted. With a quarter of each, most customers with several wishes have one
that cards must be read for, and most wishes still narrow a search."""
RANGED = frozenset(("price", *NUMERIC))
"""What may be wanted within a range. Nobody minds too many stars or too fast a delivery."""
_LEAST_WORDS = 3
"""Words that products of the kind must have: of two, an exclusion would name the other one."""
_TWO_SHARE = 0.5
"""Probability that two words are excluded, where one more than usual is there."""


def as_range(products: Columns, bound: Constraint, value: float, among: NDArray[np.bool_], draw: float) -> Constraint:
    """Return a bound on a number with a limit on its other side too, which leaves out some product of ``among``.

    The range holds ``value``. ``draw`` in [0, 1) chooses between which two products' values the limit lies. Where no
    limit leaves out a product, the bound itself is returned.
    """
    name, is_most = bound.attribute, bound.op is Op.AT_MOST
    values = products.column(name).values[np.flatnonzero(among)].astype(np.float64)
    known = np.unique(values[~np.isnan(values)])
    beyond = known[known < value] if is_most else known[known > value]
    if not len(beyond):
        return bound
    left_out = float(beyond[int(draw * len(beyond))])
    nearest = float(known[known > left_out].min()) if is_most else float(known[known < left_out].max())
    stated = bound.value
    assert isinstance(stated, int | float), "a bound is a number"
    for number in ((left_out + nearest) / 2, nearest):
        limit = _easily_said(name, number, up=not is_most)
        if left_out < limit <= nearest and is_most and limit < stated:
            return Constraint(name, Op.BETWEEN, (limit, stated))
        if nearest <= limit < left_out and not is_most and stated < limit:
            return Constraint(name, Op.BETWEEN, (stated, limit))
    return bound


def _easily_said(name: str, number: float, *, up: bool) -> float:
    """Return a number that is easily said; a price in whole cents."""
    return round(number) if name == "price" else sayable(name, number, up=up)


def exclusion(
    products: Columns, name: str, own: str, tempting: Places, others: Places, draws: Sequence[float]
) -> Constraint | None:
    """Return a constraint that excludes one word or two, not ``own``, that products at ``tempting`` places have.

    If none there has another word, products at the ``others`` do. None if too few words are known of these. Of the
    ``draws`` in [0, 1) the first two choose the words, as often as products have them, and the third whether it is two.
    """
    column = products.column(name)
    known = np.unique(column.values[others])
    known = known[known >= 0]
    vocabulary, mine = column.vocabulary, column.encode(own)
    if vocabulary is None or len(known) < _LEAST_WORDS:
        return None
    chosen: list[int] = []
    count = 1 + (len(known) > _LEAST_WORDS and draws[2] < _TWO_SHARE)
    for draw in draws[:count]:
        for places in (tempting, others):
            codes = column.values[places]
            left = codes[(codes >= 0) & (codes != mine) & ~np.isin(codes, chosen)]
            if len(left):
                chosen.append(int(left[int(draw * len(left))]))
                break
    return Constraint(name, Op.NONE_OF, tuple(sorted(vocabulary[code] for code in chosen))) if chosen else None


def filtered(constraints: Sequence[Constraint]) -> list[Constraint]:
    """Return what filters of a search can state of constraints: of a range one side, but of prices both."""
    stated = []
    for each in constraints:
        if each.op is Op.BETWEEN and each.attribute != "price":
            stated.append(natural_bound(each.attribute, ends(each)))
        elif each.op is not Op.NONE_OF:
            stated.append(each)
    return stated
