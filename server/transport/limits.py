"""Reading what clients send: bodies of limited size, and strict JSON."""

from __future__ import annotations

import re
from math import isfinite
from typing import Any

from pydantic_core import from_json
from starlette.requests import Request

from ecom_rlve.server.errors import InvalidJsonError, PayloadTooLargeError

_SHORT = 200
"""A number of at most so many characters is finite if its exponent has at most two digits."""
_LONG = 1 << 16
_MOST_COMMAS = 50_000
"""Limits memory: a value takes up to a hundred times as much as its text, and an episode's actions are kept."""
_LARGE_EXPONENT = re.compile(r"[0-9][eE]\+?[0-9]{3}")
_LARGE_EXPONENT_BYTES = re.compile(_LARGE_EXPONENT.pattern.encode())


async def read_body(request: Request, limit: int) -> bytes:
    """Return the request's body.

    Raises:
        PayloadTooLargeError: its header says, or reading shows, that it is longer than ``limit`` bytes.
    """
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > limit:
        raise PayloadTooLargeError(limit)
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise PayloadTooLargeError(limit)
        chunks.append(chunk)
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)


def parse_json(text: bytes | str) -> Any:
    """Return the value of a JSON text; numbers are finite, strings are valid Unicode, depth is at most 200.

    Raises:
        InvalidJsonError: for anything else, such as NaN, Infinity and ``1e999``.
    """
    if len(text) > _LONG and (text.count(",") if isinstance(text, str) else text.count(b",")) > _MOST_COMMAS:
        raise InvalidJsonError(f"more than {_MOST_COMMAS:,} commas: no action or reset has so many values")
    try:
        value = from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise InvalidJsonError(f"not JSON: {error}") from None
    # Only a number with hundreds of digits or an exponent of three digits can leave the range of a double.
    may_overflow = len(text) > _SHORT or (
        _LARGE_EXPONENT_BYTES.search(text) if isinstance(text, bytes) else _LARGE_EXPONENT.search(text)
    )
    if may_overflow and not _finite(value):
        raise InvalidJsonError("not JSON: a number is out of range")
    return value


def _finite(value: Any) -> bool:
    kind = type(value)
    if kind is dict:
        value = value.values()
    elif kind is not list:
        return kind is not float or isfinite(value)
    for item in value:  # noqa: SIM110 - a generator here costs more than the parsing
        if not _finite(item):
            return False
    return True
