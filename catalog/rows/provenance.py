"""Where a value came from: the key with which a source states it, and its raw text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

from ecom_rlve.catalog.rows.control_tokens import without_control_tokens

MAX_RAW = 80
"""So many characters of a raw text are kept."""

T = TypeVar("T")


class Stated(NamedTuple, Generic[T]):
    """A value with its origin."""

    value: T
    key: str
    """The field of the row, or ``details.KEY`` with the key as the source spells it."""
    raw: object

    def told(self, names: Mapping[str, str]) -> str:
        """Return "key: raw text", cut; ``names`` are the source's own names of keys, where they differ."""
        raw = " > ".join(map(str, self.raw)) if isinstance(self.raw, list) else str(self.raw)
        told = f"{names.get(self.key, self.key)}: {raw[:MAX_RAW]}".encode("utf-8", "replace").decode()
        return without_control_tokens(told)


@dataclass(frozen=True, slots=True)
class Details:
    """The details of a row by lower-case key. If keys are equal, the first counts."""

    values: Mapping[str, object]
    spelled: Mapping[str, str]
    """The keys as the source spells them."""

    @classmethod
    def of(cls, raw: Mapping[str, object]) -> Details:
        """Fold the keys of raw details."""
        values: dict[str, object] = {}
        spelled: dict[str, str] = {}
        for key, value in raw.items():
            folded = " ".join(key.casefold().split())
            values.setdefault(folded, value)
            spelled.setdefault(folded, key)
        return cls(values, spelled)

    def stated(self, keys: Iterable[str]) -> list[Stated[object]]:
        """Return what the details state for any of the lower-case ``keys``, in the order of ``keys``."""
        found = ((key, self.values.get(key)) for key in keys)
        return [Stated(value, f"details.{self.spelled[key]}", value) for key, value in found if value is not None]


def agreed(statements: Iterable[Stated[T]]) -> Stated[T] | None:
    """Return the first of several statements of one value; None if there is none, or two of them differ."""
    first: Stated[T] | None = None
    for stated in statements:
        if first is None:
            first = stated
        elif stated.value != first.value:
            return None
    return first
