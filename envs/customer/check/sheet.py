"""A text under examination: what is accounted for is covered, so that the rest can be examined.

Also finds whole phrases, and tells how a number is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ecom_rlve.catalog.constraints import Op

COVER = "\x01"
"""Replaces every letter that has been accounted for."""
_CLAUSE_END = re.compile(rf"[!?;:,()\n—–{COVER}]|\.(?!\d)| - |\band\b|\bbut\b")
_PAUSE = re.compile(r"[!?;:,()\n—–]|\.(?!\d)| - |(?<!anything )(?<!everything )(?<!nothing )(?<!all )\bbut\b")
_SENTENCE_END = re.compile(r"[!?\n]|\.(?!\d)")

_MOST = (
    r"at (?:the )?(?:very )?most|(?:no|not) more than|up to|(?:a )?max(?:imum)?(?: of)?|not (?:to )?exceed(?:ing)?|"
    r"(?:no|not) (?:\w+ )?(?:longer|heavier|higher|over|above|later|pricier)(?: than)?|not go over|within|capped at|"
    r"limited to"
)
_LEAST = (
    r"at (?:the )?(?:very )?least|(?:no|not) (?:less|fewer) than|(?:a )?min(?:imum)?(?: of)?|"
    r"(?:no|not) (?:\w+ )?(?:lower|below|under|shorter|smaller)(?: than)?"
)
_EXACT = r"exactly|precisely"
_LOOSE = (
    r"(?:more|less|fewer|greater|higher|lower|longer|shorter|heavier|lighter) than|over|under|above|below|beyond|about|"
    r"around|approx(?:imately|\.)?|roughly|nearly|almost|close to|circa|some|between|starting (?:at|from)|before|after|"
    r"exceed(?:s|ing)?|since|until|till|near|every|anything|not"
)
_BEFORE = re.compile(rf"\b(?:(?P<most>{_MOST})|(?P<least>{_LEAST})|(?P<exact>{_EXACT})|(?P<loose>{_LOOSE}))\b")
_OR_LESS = r"or (?:less|under|below|fewer|cheaper|lighter|shorter|sooner|faster|lower)|and (?:under|below)"
_OR_MORE = (
    r"or (?:more|higher|above|better|over|longer|larger|bigger|greater|up)|and (?:up(?! to)|above|over|higher|more)"
)
_AFTER = re.compile(
    r"^\W*(?:(?:in length|of power|in weight|in total|all together)\W+)?(?:"
    rf"(?P<most>{_OR_LESS}|at (?:the )?(?:very )?most|max(?:imum)?|tops)|"
    rf"(?P<least>{_OR_MORE}|at (?:the )?(?:very )?least|min(?:imum)?)|"
    r"(?P<exact>exactly|sharp)|"
    r"(?P<loose>or so|or thereabouts|-?ish|and change|approximately|give or take|plus|ago|each way|or)"
    r")\b"
)
_MOST_LETTERS_BETWEEN = 40
"""How many letters before a number the words that bound it may begin."""

OPS = {"most": Op.AT_MOST, "least": Op.AT_LEAST, "exact": Op.EQ, "": Op.EQ}


class Bounds(NamedTuple):
    """How a number is bounded in a text."""

    op: Op | None
    """None if it is bounded loosely, or in two ways at once."""
    spans: tuple[tuple[int, int], ...]
    """Where the bounding words stand."""


def folded(text: str) -> str:
    """Return the text casefolded, with plain blanks, hyphens and apostrophes."""
    plain = text.translate(_PLAIN).casefold()
    return " ".join(plain.split()) if "\n" not in plain else re.sub(r"[^\S\n]+", " ", plain)


_PLAIN = str.maketrans(
    {"’": "'", "‘": "'", "\u00a0": " ", "\u2011": "-", "\u2010": "-", "“": '"', "”": '"', COVER: " "}
)


def phrases_in(text: str, phrase: str) -> Iterator[int]:
    """Yield the positions at which the whole phrase begins: "3 March" is not in "13 March"."""
    at = text.find(phrase)
    while at >= 0:
        if _stands_alone(text, phrase, at):
            yield at
        at = text.find(phrase, at + 1)


def _stands_alone(text: str, phrase: str, at: int) -> bool:
    before, end = text[at - 1 : at], at + len(phrase)
    after, second = text[end : end + 1], text[end + 1 : end + 2]
    is_number = phrase[0].isdigit() or phrase[0] == "$"
    if before.isalnum() or before in ("_", "-", "$") or (is_number and before in (".", ",", "/", "'")):
        return False
    if after.isalnum() or after in ("_", "%"):
        return False
    return not (after in (".", ",", "-", "'", "/") and second.isalnum() and (after in "-'/" or phrase[-1].isdigit()))


class Sheet:
    """A folded text whose parts are covered once they are accounted for. Positions count letters of :attr:`whole`."""

    __slots__ = ("rest", "whole")

    def __init__(self, text: str) -> None:
        self.whole = folded(text)
        self.rest = self.whole
        """The text with :data:`COVER` in place of each letter that is accounted for."""

    def cover(self, start: int, end: int) -> None:
        """Cover a passage."""
        self.rest = self.rest[:start] + COVER * (end - start) + self.rest[end:]

    def cover_all(self, phrase: str) -> list[int]:
        """Cover every uncovered occurrence of a phrase; return the positions at which they begin."""
        found = list(phrases_in(self.rest, phrase))
        for at in found:
            self.cover(at, at + len(phrase))
        return found

    def holds(self, phrase: str) -> bool:
        """Tell whether the whole text contains the phrase, covered or not."""
        return any(True for _ in phrases_in(self.whole, phrase))

    def cover_where(self, phrase: str, unless_in: Sequence[str] = ()) -> None:
        """Cover every occurrence of a phrase in the whole text, even if parts of it are covered already.

        Occurrences inside one of the phrases ``unless_in`` stay as they are.
        """
        inside = [(at, at + len(longer)) for longer in unless_in for at in phrases_in(self.whole, longer)]
        for at in phrases_in(self.whole, phrase):
            if not any(start <= at and at + len(phrase) <= end for start, end in inside):
                self.cover(at, at + len(phrase))

    def clause(self, start: int, end: int) -> str:
        """Return the rest of the clause around a passage; clauses end at commas and "but"."""
        left = max((match.end() for match in _PAUSE.finditer(self.rest, 0, start)), default=0)
        right = _PAUSE.search(self.rest, end)
        return self.rest[left : right.start() if right else len(self.rest)]

    def near(self, start: int, end: int) -> str:
        """Return the rest around a passage, up to the next covered passage, "and" or comma on either side."""
        left = max((match.end() for match in _CLAUSE_END.finditer(self.rest, 0, start)), default=0)
        right = _CLAUSE_END.search(self.rest, end)
        return self.rest[left : right.start() if right else len(self.rest)]

    def sentence(self, start: int) -> tuple[int, int]:
        """Return where the sentence around a position begins and ends."""
        left = max((match.end() for match in _SENTENCE_END.finditer(self.rest, 0, start)), default=0)
        right = _SENTENCE_END.search(self.rest, start)
        return left, right.end() if right else len(self.rest)

    def sentences(self) -> list[str]:
        """Return the rest, sentence by sentence."""
        return [part for part in re.split(r"[!?;\n]+|\.(?!\d)", self.rest) if part.strip(" \"'()")]

    def bounds(self, start: int, end: int) -> Bounds:
        """Tell how the number in a passage is bounded, by the words right before and right after it."""
        left = max((match.end() for match in _CLAUSE_END.finditer(self.rest, 0, start)), default=0)
        left = max(left, start - _MOST_LETTERS_BETWEEN)
        right = _PAUSE.search(self.rest, end)
        stop = right.start() if right else len(self.rest)
        found: list[tuple[str, int, int]] = [
            (match.lastgroup or "", *match.span()) for match in _BEFORE.finditer(self.rest, left, start)
        ]
        if match := _AFTER.match(self.rest[end:stop]):
            follows = self.rest[end + match.end() : stop].lstrip()
            # Bounding words between two numbers belong to the second, unless they begin with "or" or "and":
            # "55 W at least 3 h".
            if not (follows[:1] in (COVER, "$") or follows[:1].isdigit()) or match[0].lstrip().startswith(
                ("or ", "and ")
            ):
                group = match.lastgroup or ""
                found.append((group, end + match.start(group), end + match.end()))
        ops = {OPS.get(group) for group, _, _ in found}
        spans = tuple((begin, stop) for _, begin, stop in found)
        if not ops:
            return Bounds(Op.EQ, ())
        return Bounds(ops.pop() if len(ops) == 1 else None, spans)
