"""What a constraint means, for one product and for many at once.

Goals, search filters and verifiers all use :func:`satisfied`; nothing else in the project compares a product with a
bound. An unknown value satisfies no constraint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Index = TypeVar("Index", bound=np.integer)


class Op(StrEnum):
    """How a constraint compares."""

    EQ = "eq"
    ANY_OF = "any_of"
    NONE_OF = "none_of"
    """Any known value but these."""
    AT_MOST = "at_most"
    AT_LEAST = "at_least"
    BETWEEN = "between"
    """From a number to another, both included."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """``attribute op value``: a condition on one column.

    ``value`` is a canonical word, a tuple of such words (``ANY_OF``, ``NONE_OF``), a number in the column's unit or a
    pair of numbers, the lower first (``BETWEEN``); prices are integer cents, ratings 0 to 5.
    """

    attribute: str
    op: Op
    value: str | float | tuple[str, ...] | tuple[float, float]


def ends(constraint: Constraint) -> tuple[float, float]:
    """Return the lowest and the highest number that a range allows; raises ``TypeError`` if it is not a range."""
    value = constraint.value
    if isinstance(value, tuple) and len(value) == 2:
        low, high = value
        if not isinstance(low, str) and not isinstance(high, str):
            return low, high
    raise TypeError(f"{Op.BETWEEN} needs a pair of numbers, not {value!r}")


def words(constraint: Constraint) -> tuple[str, ...]:
    """Return the words that a constraint names; empty if it is on a number."""
    value = constraint.value
    return tuple(each for each in (value if isinstance(value, tuple) else (value,)) if isinstance(each, str))


class Values(Protocol):
    """One value for each product: an array, or something that reads from one."""

    def __getitem__(self, rows: NDArray[np.integer] | slice, /) -> NDArray[Any]:
        """Return the values of some products."""


class Comparable(Protocol):
    """A column of values: numbers with NaN for unknown, or codes into a vocabulary with -1 for unknown."""

    @property
    def values(self) -> Values:
        """One value for each product."""

    @property
    def vocabulary(self) -> Sequence[str] | None:
        """The words of a coded column."""

    @property
    def is_floor(self) -> Values | None:
        """Where set, the value is only a lower bound."""

    @property
    def encode(self) -> Callable[[str | float], float | None]:
        """Returns a value as the column stores it; None where no product can have it."""


class Columns(Protocol):
    """Products in columns: a whole catalog, or a part of one."""

    def column(self, name: str) -> Comparable:
        """Return a column by name."""


def satisfied(products: Columns, constraint: Constraint, rows: NDArray[np.integer] | slice) -> NDArray[np.bool_]:
    """Say which of ``rows`` meet the constraint (shape of ``rows``; a slice selects from whole columns)."""
    column = products.column(constraint.attribute)
    values = column.values[rows]
    op, wanted = constraint.op, constraint.value
    if op in (Op.ANY_OF, Op.NONE_OF):
        return _of_several(column, constraint, values)
    if column.vocabulary is not None and op is not Op.EQ:
        raise TypeError(f"{op} compares numbers, and {constraint.attribute} has words")
    if op is Op.BETWEEN:
        low, high = ends(constraint)
        at_least = Constraint(constraint.attribute, Op.AT_LEAST, low)
        at_most = Constraint(constraint.attribute, Op.AT_MOST, high)
        return satisfied(products, at_least, rows) & satisfied(products, at_most, rows)
    if isinstance(wanted, tuple):
        raise TypeError(f"{op} takes one value, not {wanted!r}")
    bound = column.encode(wanted)
    if bound is None:
        return np.zeros(values.shape, dtype=np.bool_)
    # Unknown is NaN in numeric columns (no comparison holds) and a code that encode() never returns in coded ones.
    if op is Op.AT_LEAST:
        return np.asarray(values >= bound)
    met = values <= bound if op is Op.AT_MOST else values == bound
    is_floor = column.is_floor
    if is_floor is not None:
        met = met & ~is_floor[rows]
    return np.asarray(met)


def _of_several(column: Comparable, constraint: Constraint, values: NDArray[Any]) -> NDArray[np.bool_]:
    """Say which values are among those that the constraint names, or which known ones are not."""
    named, is_exclusion = constraint.value, constraint.op is Op.NONE_OF
    if not isinstance(named, tuple):
        raise TypeError(f"{constraint.op} needs a tuple of values, not {named!r}")
    if is_exclusion and column.vocabulary is None:
        raise TypeError(f"{constraint.op} compares words, and {constraint.attribute} has numbers")
    is_named = np.zeros(values.shape, dtype=np.bool_)
    for value in named:
        code = column.encode(value)
        if code is not None:
            is_named |= values == code
    # In a coded column the unknown is -1.
    return (values >= 0) & ~is_named if is_exclusion else is_named


def all_satisfied(products: Columns, constraints: Iterable[Constraint], rows: NDArray[Index]) -> NDArray[Index]:
    """Return the ``rows`` that meet every constraint, in the order given."""
    for constraint in constraints:
        rows = rows[satisfied(products, constraint, rows)]
    return rows


def all_met(products: Columns, constraints: Iterable[Constraint], among: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Say for every product whether it meets every constraint and ``among``, one entry for each product, is true."""
    for constraint in constraints:
        among = among & satisfied(products, constraint, slice(None))
    return among


def is_satisfied(products: Columns, constraint: Constraint, row: int) -> bool:
    """Say whether one product meets the constraint."""
    return bool(satisfied(products, constraint, np.array([row], dtype=np.int32))[0])
