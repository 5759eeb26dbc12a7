"""Tables of Apache Arrow as rows: which columns are read, of which types, and how."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.rows.report import STATUS_FIELDS
from ecom_rlve.catalog.rows.row import FIELDS, REQUIRED

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 1_000
_TEXT, _TEXTS, _NUMBER, _OBJECT, _FLAG = "text", "a list of texts", "a number", "an object", "bool"
_ACCEPTED: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("parent_asin", "title", "main_category", "store", "currency"), (_TEXT,)),
    **dict.fromkeys(("categories", "features", "description"), (_TEXTS, _TEXT)),
    **dict.fromkeys(("average_rating", "rating_number"), (_NUMBER,)),
    "price": (_NUMBER, _TEXT),
    "details": (_TEXT, _OBJECT),
    **dict.fromkeys(STATUS_FIELDS, (_TEXT, _NUMBER, _FLAG)),
}


def read_columns(schema: pa.Schema, where: str, *, as_they_are: bool = False) -> list[str]:
    """Return the columns to read, in a fixed order; all of them, of any type, if they are read ``as_they_are``.

    Raises :class:`SourceError`, naming ``where`` (a file or data set) and the column, if a column is missing that a
    product needs, or has a type that cannot hold its field. A column without values has no type, and is accepted.
    """
    if as_they_are:
        return list(schema.names)
    missing = [name for name in REQUIRED if name not in schema.names]
    if missing:
        raise SourceError(
            f"{where}: no column {missing[0]!r}, only {', '.join(schema.names) or 'none'}; "
            f"give products of the Amazon-Reviews-2023 shape, or rename the columns, or say which is what: "
            f"ecom-rlve catalog map SOURCE > map.toml, look through that, and add --map map.toml"
        )
    columns = [name for name in FIELDS if name in schema.names]
    for name in columns:
        kind = _kind(schema.field(name).type)
        if kind is not None and kind not in _ACCEPTED[name]:
            raise SourceError(
                f"{where}: column {name!r} holds {kind} ({schema.field(name).type}), "
                f"where a product has {' or '.join(_ACCEPTED[name])}; convert the column and write the file again"
            )
    return columns


def rows_of_batch(batch: pa.RecordBatch | pa.Table) -> Iterator[Mapping[str, object]]:
    """Yield the rows of a batch as plain objects."""
    rows: list[dict[str, Any]] = batch.to_pylist()
    for row in rows:
        details = row.get("details")
        if isinstance(details, list):
            # What Arrow calls a map comes as pairs.
            row["details"] = dict(details)
        yield row


def _kind(type_: pa.DataType) -> str | None:
    """Return what the values of a type are: None for a type without values, its own name if no field has it."""
    import pyarrow.types as types

    if types.is_null(type_):
        return None
    if types.is_dictionary(type_):
        return _kind(type_.value_type)
    if types.is_map(type_) or types.is_struct(type_):
        return _OBJECT
    if types.is_list(type_) or types.is_large_list(type_) or types.is_fixed_size_list(type_):
        inner = _kind(type_.value_type)
        return _TEXTS if inner in (None, _TEXT) else f"a list of {type_.value_type}"
    tests: dict[str, tuple[Callable[[pa.DataType], bool], ...]] = {
        _TEXT: (types.is_string, types.is_large_string, types.is_string_view),
        _NUMBER: (types.is_integer, types.is_floating),
    }
    return next((kind for kind, checks in tests.items() if any(check(type_) for check in checks)), str(type_))
