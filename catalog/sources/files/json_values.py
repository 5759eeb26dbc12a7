"""The objects of JSON files of any layout: one per line, one after the other, in a list, or in a list of an object."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.sources.files.decoding import fault_of
from ecom_rlve.catalog.sources.lines import blocks_of, texts_of

_LIST = re.compile(r'\s*\{\s*"(?:products|items|data|results|rows|entries|offers|catalog)"\s*:\s*\[', re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,]*")
_BLANKS = re.compile(r"\s*")
_LINES_LOOKED_AT = 20
_LONGEST_SIGN = 16
"""An escape or a word that is cut off is told as broken where it begins, at most so many characters before the end."""
_NOT_JSON = "not JSON"
_REMEDY = "every product must be one complete JSON object, fetch the file again"


class Value(NamedTuple):
    """One object of a file."""

    line: int
    """Number of the line where it begins."""
    row: dict[str, Any]
    """The object; empty if it cannot be read."""
    fault: str = ""
    """Why it cannot be read, with the remedy; empty if it can."""


def values_of(path: Path, max_bytes: int) -> Iterator[Value]:
    """Yield the objects in order; what is none is yielded with its fault, and reading goes on behind it.

    Raises :class:`SourceError`, naming file and line, for a file that cannot be read to its end or holds nothing, and
    for a value or a line above ``max_bytes``.
    """
    found = False
    for value in (_by_line if _is_by_line(path, max_bytes) else _in_sequence)(path, max_bytes):
        found = True
        yield value
    if not found:
        raise SourceError(f"{path}: the file holds no rows; give a file with products as JSON objects")


def _is_by_line(path: Path, max_bytes: int) -> bool:
    """Say whether one of the first lines is a whole object; in another layout they are parts of one."""
    head = next(blocks_of(path), "").lstrip()
    if not head or head[0] == "[" or _LIST.match(head):
        return not head
    for _, text in islice(texts_of(path, max_bytes), _LINES_LOOKED_AT):
        line = text.rstrip()
        if line.startswith("{") and line.endswith("}") and not _parsed(1, line).fault:
            return True
    return False


def _by_line(path: Path, max_bytes: int) -> Iterator[Value]:
    for number, text in texts_of(path, max_bytes):
        if not text.isspace():
            fault = fault_of(text)
            yield Value(number, {}, fault) if fault else _parsed(number, text)


def _parsed(line: int, text: str) -> Value:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Value(line, {}, f"{_NOT_JSON} ({error}); {_REMEDY}")
    return _object(line, value)


def _object(line: int, value: object) -> Value:
    if isinstance(value, dict):
        return Value(line, value)
    return Value(line, {}, f"a JSON {_kind(value)}, not an object; {_REMEDY}")


def _kind(value: object) -> str:
    if value is None:
        return "null"
    return {bool: "boolean", str: "string", list: "list"}.get(type(value), "number")


class _Buffer:
    """The unread part of a file, filled block by block."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        self._path, self._max_bytes = path, max_bytes
        self._blocks = blocks_of(path)
        self.text, self.at, self.line = "", 0, 1

    def more(self) -> bool:
        """Read another block; False at the end of the file."""
        block = next(self._blocks, None)
        if block is None:
            return False
        self.text, self.at = self.text[self.at :] + block, 0
        if len(self.text) > self._max_bytes + len(block):
            raise SourceError(
                f"{self._path}, line {self.line}: one value of more than {self._max_bytes:,} bytes; "
                f"give a file with a list of products"
            )
        return True

    def skip(self, pattern: re.Pattern[str]) -> None:
        """Leave out what the pattern matches, over any number of blocks."""
        while True:
            match = pattern.match(self.text, self.at)
            if match:
                self.move(match.end())
            if self.at < len(self.text) or not self.more():
                return

    def move(self, at: int) -> None:
        """Go on at a place of the text."""
        self.line += self.text.count("\n", self.at, at)
        self.at = at


def _in_sequence(path: Path, max_bytes: int) -> Iterator[Value]:
    buffer, decoder = _Buffer(path, max_bytes), json.JSONDecoder()
    is_list = _enter(buffer)
    while True:
        buffer.skip(_BETWEEN)
        if buffer.at >= len(buffer.text) or (is_list and buffer.text[buffer.at] == "]"):
            return
        indent = buffer.text[buffer.text.rfind("\n", 0, buffer.at) + 1 : buffer.at]
        value = _next(buffer, decoder)
        yield value
        if value.fault.startswith(_NOT_JSON) and not _found_again(buffer, indent):
            return


def _enter(buffer: _Buffer) -> bool:
    """Go to the first value: into a list, if the file is one, or an object that holds one."""
    buffer.skip(_BLANKS)
    inner = _LIST.match(buffer.text, buffer.at)
    if inner:
        buffer.move(inner.end())
    elif buffer.text[buffer.at : buffer.at + 1] == "[":
        buffer.move(buffer.at + 1)
    else:
        return False
    return True


def _next(buffer: _Buffer, decoder: json.JSONDecoder) -> Value:
    """Read the value at the buffer's place, taking in blocks until it is whole; it stays there if it is broken."""
    while True:
        try:
            value, end = decoder.raw_decode(buffer.text, buffer.at)
        except json.JSONDecodeError as error:
            is_cut = error.pos >= len(buffer.text.rstrip()) - _LONGEST_SIGN or error.msg.startswith("Unterminated")
            if is_cut and buffer.more():
                continue
            return Value(buffer.line, {}, f"{_NOT_JSON} ({error.msg}); {_REMEDY}")
        except RecursionError as error:
            return Value(buffer.line, {}, f"{_NOT_JSON} ({error}); {_REMEDY}")
        if end == len(buffer.text) and buffer.more():
            # A number, or a word, may go on in the next block.
            continue
        line, fault = buffer.line, fault_of(buffer.text[buffer.at : end])
        buffer.move(end)
        return Value(line, {}, fault) if fault else _object(line, value)


def _found_again(buffer: _Buffer, indent: str) -> bool:
    """Go from a broken value to the next line that begins one with the same indentation; False if there is none."""
    if indent.strip(" \t"):
        return False
    start = f"\n{indent}{{"
    while (at := buffer.text.find(start, buffer.at)) < 0:
        buffer.move(max(buffer.at, len(buffer.text) - len(start)))
        if not buffer.more():
            return False
    buffer.move(at + 1)
    return True
