"""How many rows of a source became products, and why the others did not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import ceil

from ecom_rlve.catalog.errors import SourceError

MAX_BAD = 0.01
"""The share of rows that may be unreadable, unless told otherwise; one row may always be, unless it is 0."""
MOST_FAULTS = 20
"""So many unreadable rows are listed."""

_TOLD = 3


class DropReason(StrEnum):
    """Why a row became no product."""

    NO_ID = "no id"
    NO_TITLE = "no title"
    UNREADABLE_DETAILS = "details that are neither an object nor one in JSON"
    UNREADABLE = "a row that cannot be read"
    DRAFT = "a draft"
    ARCHIVED = "archived"
    UNPUBLISHED = "not published"
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
    faults: tuple[str, ...] = ()
    """The first rows that cannot be read: file, line, what is wrong and what to do."""

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
        return [*lines, *(f"skipped: {fault}" for fault in self.faults)]


def check_report(report: SourceReport, max_bad: float) -> None:
    """Raise :class:`SourceError` where more than a share of the rows are unreadable, or none became a product.

    The bound is rounded up to whole rows.
    """
    bad = report.dropped.get(DropReason.UNREADABLE, 0)
    if bad > ceil(max_bad * report.read):
        first = "; ".join(report.faults[:_TOLD])
        raise SourceError(
            f"{bad:,} of {report.read:,} rows cannot be read, more than {max_bad:.4g} of them: {first}; mend them and "
            f"run the command again, or allow more with --max-bad"
        )
    if not report.kept:
        raise SourceError(f"no row became a product ({'; '.join(report.describe())}); give a source with products")


STATUS_FIELDS = ("status", "published", "archived")
"""Fields of a row that say so."""
_STATES: dict[str, DropReason] = {
    **dict.fromkeys(("draft", "auto-draft", "pending", "future", "-1"), DropReason.DRAFT),
    **dict.fromkeys(("archived", "trash", "deleted", "discontinued"), DropReason.ARCHIVED),
    **dict.fromkeys(("private", "unlisted", "unpublished", "hidden", "inactive", "disabled"), DropReason.UNPUBLISHED),
}
_NO = ("false", "no", "0", "n", "off")
_YES = ("true", "yes", "1", "y", "on")


def unsold(row: Mapping[str, object]) -> DropReason | None:
    """Return why a row is not for sale, None if it is, or does not say.

    >>> unsold({"status": "Archived"}), unsold({"published": "FALSE"}), unsold({"status": "active"})
    (<DropReason.ARCHIVED: 'archived'>, <DropReason.UNPUBLISHED: 'not published'>, None)
    """
    status, published, archived = (_folded(row.get(name)) for name in STATUS_FIELDS)
    for text in (status, published):
        if text in _STATES:
            return _STATES[text]
    if archived in _YES:
        return DropReason.ARCHIVED
    return DropReason.UNPUBLISHED if published in _NO or status in _NO else None


def _folded(value: object) -> str:
    return str(value).strip().casefold() if isinstance(value, str | bool | int) else ""
