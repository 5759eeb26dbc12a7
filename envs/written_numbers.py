"""Numbers that a model wrote as strings: ``"5"`` for a quantity is 5 (SPEC §2.2)."""

from __future__ import annotations

import re
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel, ValidationInfo, field_validator

_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(rf"{_WHOLE.pattern}(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_LONGEST = 400
"""Characters of a number that is read: more digits than any double has."""


def written_number(value: object) -> object:
    """Return the number that a string spells as JSON does, anything else as it is.

    >>> written_number(" 2.50 "), written_number("7"), written_number("7 days")
    (2.5, 7, '7 days')
    """
    if not isinstance(value, str) or len(value) > _LONGEST:
        return value
    text = value.strip()
    if _WHOLE.fullmatch(text):
        return int(text)
    return float(text) if _NUMBER.fullmatch(text) else value


class ReadsNumbers(BaseModel):
    """Base of models whose numbers may be written as strings; text where only text is meant stays text."""

    @field_validator("*", mode="before")
    @classmethod
    def _read_number(cls, value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, str) and info.field_name in _numeric_fields(cls):
            return written_number(value)
        return value


@cache
def _numeric_fields(model: type[BaseModel]) -> frozenset[str]:
    """Return the names of the fields that take a number, whatever else they take."""
    return frozenset(name for name, field in model.model_fields.items() if _takes_number(field.annotation))


def _takes_number(annotation: Any) -> bool:
    if annotation is int or annotation is float:
        return True
    # Of a list the items would be numbers, not the list.
    return get_origin(annotation) in (Union, UnionType, Annotated) and any(map(_takes_number, get_args(annotation)))
