"""Whether a shop sells a row at all: drafts, archived and hidden ones are in many exports and on no shelf."""

from __future__ import annotations

from collections.abc import Mapping

from ecom_rlve.catalog.rows.report import DropReason

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
