"""The one meaning of a constraint, for one product and for many at once.

Goals, search filters and verifiers all use :func:`satisfied`; nothing else in the project compares a product with a
bound. What is unknown satisfies nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ecom_rlve.catalog.table import Catalog


class Op(StrEnum):
    """How a constraint compares."""

    EQ = "eq"
    ANY_OF = "any_of"
    AT_MOST = "at_most"
    AT_LEAST = "at_least"


@dataclass(frozen=True, slots=True)
class Constraint:
    """``attribute op value``: a condition on one column.

    ``value`` is a canonical word, a tuple of such words (``ANY_OF``) or a number in the column's unit; prices are
    integer cents, ratings 0 to 5.
    """

    attribute: str
    op: Op
    value: str | float | tuple[str, ...]


def satisfied(catalog: Catalog, constraint: Constraint, rows: NDArray[np.int32] | slice) -> NDArray[np.bool_]:
    """Tell which of ``rows`` meet the constraint (shape of ``rows``; a slice addresses the whole catalog's columns)."""
    column = catalog.column(constraint.attribute)
    values = column.values[rows]
    op, wanted = constraint.op, constraint.value
    if op is Op.ANY_OF:
        if not isinstance(wanted, tuple):
            raise TypeError(f"any_of needs a tuple of values, not {wanted!r}")
        return np.isin(values, [code for value in wanted if (code := column.encode(value)) is not None])
    if isinstance(wanted, tuple):
        raise TypeError(f"{op} takes one value, not {wanted!r}")
    if column.vocabulary is not None and op is not Op.EQ:
        raise TypeError(f"{op} compares numbers, and {constraint.attribute} has words")
    bound = column.encode(wanted)
    if bound is None:
        return np.zeros(values.shape, dtype=np.bool_)
    # Unknown is NaN in numeric columns (no comparison holds) and a code that encode() never returns in coded ones.
    if op is Op.AT_LEAST:
        return np.asarray(values >= bound)
    met = values <= bound if op is Op.AT_MOST else values == bound
    if column.is_floor is not None:
        met = met & ~column.is_floor[rows]
    return np.asarray(met)


def all_satisfied(catalog: Catalog, constraints: Iterable[Constraint], rows: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return those of ``rows`` that meet every constraint, in the order given."""
    for constraint in constraints:
        rows = rows[satisfied(catalog, constraint, rows)]
    return rows


def is_satisfied(catalog: Catalog, constraint: Constraint, row: int) -> bool:
    """Tell whether one product meets the constraint."""
    return bool(satisfied(catalog, constraint, np.array([row], dtype=np.int32))[0])
