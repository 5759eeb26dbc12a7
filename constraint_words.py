"""A constraint in words: what a goal asks of a product, or by what a search filters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

_COMPARISONS = {
    "eq": "is {}",
    "any_of": "is one of {}",
    "none_of": "is none of {}",
    "at_most": "is at most {}",
    "at_least": "is at least {}",
    "between": "lies between {}",
}


def is_constraint(value: object) -> TypeGuard[Sequence[Any]]:
    """Tell whether a value is an attribute, an operator and what it is compared with.

    >>> is_constraint(["price", "at_most", 1999]), is_constraint(["red", "green", "blue"])
    (True, False)
    """
    return isinstance(value, list | tuple) and len(value) == 3 and str(value[1]) in _COMPARISONS


def in_words(constraint: Sequence[Any], said: Callable[[str, Any], str]) -> str:
    """Return a constraint in words; ``said`` returns one value of an attribute, prices as amounts, not in cents.

    >>> in_words(["price", "between", [500, 1999]], lambda attribute, value: f"${value:.2f}")
    'price lies between $5.00 and $19.99'
    """
    attribute, operator, wanted = constraint
    values = wanted if isinstance(wanted, list | tuple) else [wanted]
    if attribute == "price":
        values = [each / 100 for each in values]
    joint = " and " if operator == "between" else ", "
    told = joint.join(said(attribute, each) for each in values)
    return f"{attribute.replace('_', ' ')} {_COMPARISONS[operator].format(told)}"
