"""How many rows of a source became products, and why the others did not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class DropReason(StrEnum):
    """Why a row became no product."""

    NO_ID = "no id"
    NO_TITLE = "no title"
    UNREADABLE_DETAILS = "details that are neither an object nor one in JSON"
    CONTINUATION = "a further variant or image of the product above it"
    DUPLICATE_ID = "an id that an earlier row has"
    DUPLICATE_LISTING = "the title and store of an earlier row"


@dataclass(frozen=True, slots=True)
class SourceReport:
    """Rows read, rows kept, rows dropped by reason; the numbers always add up."""

    read: int
    kept: int
    dropped: Mapping[DropReason, int] = field(default_factory=dict)
    """Rows by reason; reasons without rows are left out."""

    def __post_init__(self) -> None:
        """Check the sum; a source that loses rows silently is a bug."""
        assert self.read == self.kept + sum(self.dropped.values()), f"rows got lost: {self}"

    def describe(self) -> list[str]:
        """Return readable lines: rows read and kept, then one per reason, the most frequent first.

        >>> SourceReport(3, 2, {DropReason.NO_ID: 1}).describe()
        ['3 rows read, 2 kept', '1 dropped: no id']
        """
        lines = [f"{self.read:,} rows read, {self.kept:,} kept"]
        for reason, count in sorted(self.dropped.items(), key=lambda item: (-item[1], item[0])):
            lines.append(f"{count:,} dropped: {reason}")
        return lines
