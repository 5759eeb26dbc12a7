"""Reading what clients send: bounded bodies and strict JSON."""

from __future__ import annotations

import re
from math import isfinite
from typing import Any

from pydantic_core import from_json
from starlette.requests import Request

from ecom_rlve.server.errors import InvalidJsonError, PayloadTooLargeError

_SHORT = 200
"""A number of this many characters at most stays finite where its exponent has two digits."""
_LONG = 1 << 16
_MOST_COMMAS = 50_000
"""A value takes up to a hundred times the memory of its text; an episode's actions are kept to its end."""
_LARGE_EXPONENT = re.compile(r"[0-9][eE]\+?[0-9]{3}")
_LARGE_EXPONENT_BYTES = re.compile(_LARGE_EXPONENT.pattern.encode())


async def read_body(request: Request, limit: int) -> bytes:
    """Return the request's body.

    Raises:
        PayloadTooLargeError: it is announced or found to be longer than ``limit`` bytes; no more than that was kept.
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
        InvalidJsonError: anything else, NaN, Infinity and ``1e999`` among it.
    """
    if len(text) > _LONG and (text.count(",") if isinstance(text, str) else text.count(b",")) > _MOST_COMMAS:
        raise InvalidJsonError(f"more than {_MOST_COMMAS:,} commas: no action or reset has so many values")
    try:
        value = from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise InvalidJsonError(f"not JSON: {error}") from None
    # Digits by the hundred or an exponent of three digits are what it takes to leave a double's range.
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
