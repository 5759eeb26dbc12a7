"""Character references of HTML, decoded in any text that a row may hold."""

from __future__ import annotations

import html
import re

# The number of no character; Python refuses to read numbers of thousands of digits.
_NO_CHARACTER = re.compile("&#[0-9]{100,};?")


def decoded(text: str) -> str:
    """Return the text with references as the characters they stand for, U+FFFD for one of no character.

    >>> decoded("Salt &amp; pepper &#39;24")
    "Salt & pepper '24"
    """
    return html.unescape(_NO_CHARACTER.sub("\ufffd", text))
