"""Cuts a message into sentences, and tells which of them are worded as questions or requests."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ecom_rlve.envs.customer.hearing.questions import is_question, is_request

_SENTENCE_END = re.compile(r"[.!?][\"')\]”*]{0,3}\s+|[。？！]|\n")
_BULLET = re.compile(r"\s*(?:[-*•]|\d+[.)])\s*")
_TRAILING = " \t\r\n\"')]”*_"
_EXCEPT = re.compile(
    r"\b(?:apart from|aside from|besides|other than|except(?: for)?|leaving aside|not counting)\b"
    r"[^,;:?.!]*?(?=[,;:?.!]|\b(?:what|which|how|is|are|do|does|any|anything|should)\b|$)"
)


def sentences_of(folded: str) -> list[str]:
    """Return the sentences of a casefolded text that hold anything."""
    ends = [match.end() for match in _SENTENCE_END.finditer(folded)]
    pieces = [folded[start:end] for start, end in zip([0, *ends], [*ends, len(folded)], strict=True)]
    return [piece for piece in pieces if piece and not piece.isspace()]


def asking(sentences: Sequence[str]) -> list[bool]:
    """Tell for each sentence whether it asks by its form. Entries of a list after "please tell me:" ask too."""
    found = []
    in_list = False
    for sentence in sentences:
        is_entry = in_list and _BULLET.match(sentence) is not None
        asks = (
            is_entry
            or sentence.rstrip(_TRAILING).endswith(("?", "？"))
            or is_question(sentence)
            or is_request(sentence)
        )
        in_list = is_entry or (asks and sentence.rstrip(_TRAILING).endswith(":"))
        found.append(asks)
    return found


def without_exceptions(sentence: str) -> str:
    """Return a sentence without what it does not ask for: "apart from the price, what matters?".

    >>> without_exceptions("apart from the price, what matters?")
    ', what matters?'
    """
    return _EXCEPT.sub("", sentence)
