"""The lines of a text file, packed or not, read with bounded memory. Every error names file and line."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import IO, AnyStr

from ecom_rlve.catalog.errors import SourceError
from ecom_rlve.catalog.sources.files.decoding import LineDecoder, narrow_encoding, wide_encoding
from ecom_rlve.catalog.sources.files.opened import head_of, opened, told

MAX_LINE_BYTES = 16 * 2**20
"""Longest line that is read. A product takes some kilobytes; a longer line is no product and could fill the memory."""
_HEAD_BYTES = 2**16
_BLOCK_CHARS = 2**16


def lines_of(path: Path, max_bytes: int = MAX_LINE_BYTES) -> Iterator[tuple[int, bytes]]:
    """Yield the lines with their numbers from 1, ends included.

    Raises :class:`SourceError` for a file that cannot be read to its end and for a line above ``max_bytes``.
    """
    with told(path):
        file = opened(path)
    with closing(file):
        yield from _numbered(path, file, max_bytes)


def texts_of(path: Path, max_bytes: int = MAX_LINE_BYTES) -> Iterator[tuple[int, str]]:
    """Yield the lines as :func:`lines_of`, decoded; a byte order mark is left out.

    The encoding is UTF-8, UTF-16 or Windows-1252, whichever fits. What fits none is left in the line for
    :func:`ecom_rlve.catalog.sources.files.decoding.fault_of` to find.
    """
    head = head_of(path, _HEAD_BYTES)
    encoding = wide_encoding(head)
    ends_with_cr = b"\r" in head and b"\n" not in head
    if encoding is not None or ends_with_cr:
        yield from _converted(path, encoding or "latin-1", "\r" if ends_with_cr else "\n", max_bytes)
        return
    decoder = LineDecoder()
    for number, line in lines_of(path, max_bytes):
        yield number, decoder.text(line.removeprefix(codecs.BOM_UTF8) if number == 1 else line)


def blocks_of(path: Path) -> Iterator[str]:
    """Yield the text of a file in pieces of some size, whatever its lines are; decoded as by :func:`texts_of`.

    Raises :class:`SourceError` for a file that cannot be read to its end.
    """
    head = head_of(path)
    wide = wide_encoding(head)
    encoding, errors = (wide, "replace") if wide else (narrow_encoding(head), "surrogateescape")
    with told(path):
        file = opened(path)
    with io.TextIOWrapper(file, encoding, errors=errors) as stream:
        while True:
            with told(path):
                block = stream.read(_BLOCK_CHARS)
            if not block:
                return
            yield block.removeprefix("\ufeff")


def _converted(path: Path, encoding: str, end: str, max_chars: int) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file of two-byte characters, or of one whose lines end with a carriage return."""
    decoder = LineDecoder()
    with told(path):
        file = opened(path)
    with io.TextIOWrapper(file, encoding, errors="replace", newline=end) as stream:
        for number, line in _numbered(path, stream, max_chars):
            if encoding == "latin-1":
                line = decoder.text(line.encode("latin-1").removeprefix(codecs.BOM_UTF8))
            yield number, line.removeprefix("\ufeff").replace("\r", "\n")


def _numbered(path: Path, file: IO[AnyStr], most: int) -> Iterator[tuple[int, AnyStr]]:
    """Yield the lines of an open file with their numbers from 1; no more than one of ``most`` bytes is held."""
    for number in count(1):
        with told(path, number):
            line = file.readline(most + 1)
        if not line:
            return
        if len(line) > most:
            raise SourceError(
                f"{path}, line {number}: longer than {most:,} bytes; "
                f"give a file with one product per line, or leave that line out"
            )
        yield number, line
