"""Tool calls written as a list of Python calls: ``[catalog_search(query="red mug", limit=3), cart_view()]``.

Read without Python's own parser, which a hostile text of this length can bring down.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from ecom_rlve.envs.episode.reading.raw_text import loads, past_blanks
from ecom_rlve.envs.errors import FormatFailureError

T = TypeVar("T")
_LOOKS_SO = re.compile(r"\[\s*[A-Za-z_][\w.]*\s*\(")
_NAME = re.compile(r"\s*([A-Za-z_][\w.]*)\s*")
_ATOM = re.compile(r"\s*(\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|-?\d[\d.eE+-]*|True|False|None)\s*")
_ESCAPED = re.compile(r"\\(.)|\"")
_WORDS = {"True": True, "False": False, "None": None}


def pythonic_calls(text: str) -> list[dict[str, Any]]:
    """Return the calls of a text that is such a list, with arguments by name; none where it does not begin like one.

    Raises:
        FormatFailureError: it begins like one and is none.
    """
    return _Reader(text).calls() if _LOOKS_SO.match(text) else []


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def calls(self) -> list[dict[str, Any]]:
        found = self._several("[", self._call, "]")
        if self._at < len(self._text):
            raise self._failure()
        return found

    def _call(self) -> dict[str, Any]:
        name = self._take(_NAME)
        return {"name": name, "arguments": dict(self._several("(", self._argument, ")"))}

    def _argument(self) -> tuple[str, Any]:
        name = self._take(_NAME)
        self._require("=")
        is_list = self._text.startswith("[", self._at)
        return name, self._several("[", self._atom, "]") if is_list else self._atom()

    def _atom(self) -> Any:
        text = self._take(_ATOM)
        if text in _WORDS:
            return _WORDS[text]
        if text.startswith("'"):
            text = f'"{_ESCAPED.sub(_as_json, text[1:-1])}"'
        return loads(text)

    def _several(self, opening: str, read: Callable[[], T], closing: str) -> list[T]:
        """Read items between brackets, with commas between them."""
        self._require(opening)
        found: list[T] = []
        while not self._has(closing):
            if found:
                self._require(",")
            found.append(read())
        return found

    def _take(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self._text, self._at)
        if match is None:
            raise self._failure()
        self._at = match.end()
        return match[1]

    def _require(self, sign: str) -> None:
        if not self._has(sign):
            raise self._failure()

    def _has(self, sign: str) -> bool:
        """Pass over a sign and the blanks around it; tell whether it was there."""
        at = past_blanks(self._text, self._at)
        if not self._text.startswith(sign, at):
            return False
        self._at = past_blanks(self._text, at + 1)
        return True

    def _failure(self) -> FormatFailureError:
        return FormatFailureError(f"this is no list of calls from character {self._at} on")


def _as_json(match: re.Match[str]) -> str:
    """Return an escape, or a bare quote, of a string in single quotes as JSON writes it."""
    if match[1] == "'":
        return "'"
    return match[0] if match[1] else '\\"'
