"""Wishes that filters do not state, or not wholly: ranges and exclusions (SPEC §6, PD)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ecom_rlve.catalog.attributes import NUMERIC
from ecom_rlve.catalog.columns.aisle import Aisle
from ecom_rlve.catalog.constraints import Columns, Constraint, Op, ends
from ecom_rlve.envs.parts.constraints import Places, natural_bound, sayable

_RANGE_SHARE = 0.25
"""Probability that a number is wanted within a range, not on one side of a bound."""
_EXCLUSION_SHARE = 0.25
"""Probability that a word is excluded, not wanted. With a quarter of each, most customers with several wishes have one
that cards must be read for, and most wishes still narrow a search."""
_RANGED = frozenset(("price", *NUMERIC))
"""What may be wanted within a range. Nobody minds too many stars or too fast a delivery."""
_STAYING = 2
"""The price and the first wish beside it name no exclusion: searches start with them, and few products should pass."""
_LEAST_WORDS = 3
"""Words that products of the kind must have: of two, an exclusion would name the other one."""
_TWO_SHARE = 0.5
"""Probability that two words are excluded, where one more than usual is there."""


def drawn_forms(stated: Sequence[Constraint], draws: Sequence[Sequence[float]]) -> list[Op | None]:
    """Return for each constraint whether it becomes a range or an exclusion; None: it stays as it is.

    ``stated`` begins with the price. Of each row of ``draws`` in [0, 1) the first decides.
    """
    forms: list[Op | None] = []
    for at, (each, (whether, *_)) in enumerate(zip(stated, draws, strict=True)):
        is_range = each.attribute in _RANGED and whether < _RANGE_SHARE
        is_exclusion = each.op is Op.EQ and at >= _STAYING and whether < _EXCLUSION_SHARE
        forms.append(Op.BETWEEN if is_range else Op.NONE_OF if is_exclusion else None)
    return forms


def in_forms(
    aisle: Aisle,
    target: int,
    stated: Sequence[Constraint],
    forms: Sequence[Op | None],
    fitting: Places,
    draws: Sequence[Sequence[float]],
) -> list[Constraint]:
    """Return constraints in their forms; one that can have its form only by leaving nothing out stays as it is.

    ``fitting`` are the products that meet all that are no exclusions; a range or an exclusion leaves out some of them,
    and never the product in row ``target``.
    """
    changed = list(stated)
    for at, (each, form, (_, *rest)) in enumerate(zip(stated, forms, draws, strict=True)):
        if form is Op.BETWEEN:
            value = aisle.column(each.attribute).values[np.array([aisle.place_of(target)])]
            changed[at] = as_range(aisle, each, float(value[0]), fitting, rest[0])
        elif form is Op.NONE_OF:
            changed[at] = exclusion(aisle, each, fitting, rest) or each
    return changed


def as_range(products: Columns, bound: Constraint, value: float, fitting: Places, draw: float) -> Constraint:
    """Return a bound on a number with a limit on its other side too, which leaves out some of the ``fitting`` products.

    The range holds ``value``. ``draw`` in [0, 1) chooses between which two products' values the limit lies. Where no
    limit leaves out a product, the bound itself is returned.
    """
    name, is_most, stated = bound.attribute, bound.op is Op.AT_MOST, bound.value
    assert isinstance(stated, int | float), "a bound is a number"
    values = products.column(name).values[fitting].astype(np.float64)
    known = np.unique(values[~np.isnan(values)])
    beyond = known[known < value] if is_most else known[known > value]
    if not len(beyond):
        return bound
    left_out = float(beyond[int(draw * len(beyond))])
    nearest = float(
        min(known[known > left_out], default=value) if is_most else max(known[known < left_out], default=value)
    )
    for number in ((left_out + nearest) / 2, nearest):
        limit = _easily_said(name, number, up=not is_most)
        if is_most and left_out < limit <= nearest and limit < stated:
            return Constraint(name, Op.BETWEEN, (limit, stated))
        if not is_most and nearest <= limit < left_out and stated < limit:
            return Constraint(name, Op.BETWEEN, (stated, limit))
    return bound


def _easily_said(name: str, number: float, *, up: bool) -> float:
    """Return a number that is easily said; a price in whole cents."""
    return round(number) if name == "price" else sayable(name, number, up=up)


def exclusion(aisle: Aisle, wanted: Constraint, fitting: Places, draws: Sequence[float]) -> Constraint | None:
    """Return a constraint that excludes one word or two, not the ``wanted`` one, that ``fitting`` products have.

    None if these have no other one, or if too few words are known of the aisle's products. Of the ``draws`` in [0, 1)
    the first two choose words, as often as products have them, and the third decides whether it is two.
    """
    column = aisle.column(wanted.attribute)
    known = np.unique(column.values[:])
    count = int(np.count_nonzero(known >= 0))
    if column.vocabulary is None or count < _LEAST_WORDS:
        return None
    codes = column.values[fitting]
    chosen = [int(column.encode(str(wanted.value)) or 0)]
    for draw in draws[: 1 + (count > _LEAST_WORDS and draws[2] < _TWO_SHARE)]:
        left = codes[(codes >= 0) & ~np.isin(codes, chosen)]
        if len(left):
            chosen.append(int(left[int(draw * len(left))]))
    words = sorted(column.vocabulary[code] for code in chosen[1:])
    return Constraint(wanted.attribute, Op.NONE_OF, tuple(words)) if words else None


def filtered(constraints: Sequence[Constraint]) -> list[Constraint]:
    """Return what filters of a search can state of constraints: of a range one side, but of prices both."""
    stated = []
    for each in constraints:
        if each.op is Op.BETWEEN and each.attribute != "price":
            stated.append(natural_bound(each.attribute, ends(each)))
        elif each.op is not Op.NONE_OF:
            stated.append(each)
    return stated
