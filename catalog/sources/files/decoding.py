"""The encoding of a text file, found from its bytes: UTF-8, with or without mark, UTF-16, or Windows-1252."""

from __future__ import annotations

import codecs
import re

_MARKS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_LOOKED_AT = 4096
_NULS = 0.3
"""From this share of NUL bytes at even, or at odd, places on, a file without a mark is UTF-16."""
# What Windows-1252 leaves undefined is read as Latin-1 has it.
_UNDEFINED = {0xDC00 + byte: byte for byte in (0x81, 0x8D, 0x8F, 0x90, 0x9D)}
_ESCAPED = re.compile("[\udc00-\udcff]")


def wide_encoding(head: bytes) -> str | None:
    """Return the encoding of a file of two-byte characters by its first bytes; None for every other file.

    >>> wide_encoding("a;b".encode("utf-16")), wide_encoding(b"a;b")
    ('utf-16-le', None)
    """
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            return encoding
    piece = head[: _LOOKED_AT & ~1]
    even, odd = piece[::2].count(0), piece[1::2].count(0)
    half = max(1, len(piece) // 2)
    if max(even, odd) / half < _NULS or min(even, odd) / half > _NULS / 3:
        return None
    return "utf-16-le" if odd > even else "utf-16-be"


def text_of(head: bytes) -> str:
    r"""Return the first bytes of a file as text, whatever its encoding; a character that was cut is left out.

    >>> text_of(b"\xef\xbb\xbfprice"), text_of(b"5 \x80, caf\xe9")
    ('price', '5 €, café')
    """
    encoding = wide_encoding(head) or narrow_encoding(head)
    return codecs.getincrementaldecoder(encoding)("replace").decode(head).removeprefix("\ufeff")


def narrow_encoding(head: bytes) -> str:
    """Return the encoding of a file that is none of two-byte characters by its first bytes: UTF-8 or Windows-1252."""
    try:
        codecs.getincrementaldecoder("utf-8-sig")().decode(head)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8-sig"


class LineDecoder:
    """Decodes the lines of a file in order. The first that is no ASCII shows which encoding the file has.

    A line that is no UTF-8 in a file of UTF-8 keeps its wrong bytes as lone surrogates: see :func:`fault_of`.
    """

    def __init__(self) -> None:
        self._is_utf8: bool | None = None

    def text(self, line: bytes) -> str:
        """Return the next line; a byte order mark must have been removed."""
        if line.isascii():
            return line.decode("ascii")
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            if self._is_utf8 is None:
                self._is_utf8 = False
            if self._is_utf8:
                return line.decode("utf-8", "surrogateescape")
            return line.decode("cp1252", "surrogateescape").translate(_UNDEFINED)
        if self._is_utf8 is None:
            self._is_utf8 = True
        return text


def fault_of(text: str) -> str | None:
    """Return what is wrong with the encoding of a line, None if nothing is."""
    if "\0" in text:
        return "holds a NUL byte, so it is no text; export the file again as UTF-8"
    if not text.isascii() and _ESCAPED.search(text):
        return "holds bytes that are no UTF-8, unlike the lines before; convert the file to UTF-8"
    return None
