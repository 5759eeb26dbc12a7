"""Reading a customer's sentences: a small, fuzzy, template-free understanding of shopping talk."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

_SENTENCE = re.compile(r"(?<=[.!?;])\s+(?![^\"]*\"(?:[^\"]*\"[^\"]*\")*[^\"]*$)|\n")
_NUMBER_WORDS = {"one": 1, "single": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_PRICE = re.compile(r"\$\s?(\d[\d,]*)(?:\.(\d\d))?")
_MEASURE = re.compile(r"(\d+(?:\.\d+)?)\s?(watts?|w|litres?|l|ml|kilos?|kg|grams?|g|cm|hours?|h)\b", re.IGNORECASE)
_UNITS = {
    **dict.fromkeys(("l", "litre"), (1000.0, "ml")),
    "ml": (1.0, "ml"),
    **dict.fromkeys(("kg", "kilo"), (1000.0, "g")),
    **dict.fromkeys(("g", "gram"), (1.0, "g")),
    **dict.fromkeys(("w", "watt"), (1.0, "w")),
    "cm": (1.0, "cm"),
    **dict.fromkeys(("h", "hour"), (1.0, "h")),
}
_BRAND = re.compile(r"\b(?:from|by|[Bb]\w{2,5})\s+((?:[A-Z][\w&'’.-]*\s?){1,3})")
_QUOTED = re.compile(r"\"(.+?)\"")
_WORD = re.compile(r"[\w&'’.+/-]+")
_COMMON = frozenset((
    "line", "model", "price", "colour", "color", "form", "finish", "with", "from", "made", "make", "come",
    "need", "like", "want", "what", "have", "that", "then", "also", "style", "size", "brand", "should", "must",
    "would", "could", "please", "them", "they", "this", "these", "those", "thanks", "best", "matter", "mind",
    "care", "particular", "preference", "fussy", "regarding", "about", "mean",
))  # fmt: skip
"""Words that are themselves, never a slip of another."""
_NO_SLIPS = _COMMON | {"hello", "matters", "first", "looking", "great", "there", "order"}
_TYPO_SCORE = 78
_SHORT = 5


def sentences(text: str) -> list[str]:
    """Return the sentences and list entries of a text; a quoted title is never cut."""
    parts = _SENTENCE.split(text.replace("; and ", "; "))
    return [part.strip() for part in parts if part and part.strip()]


@lru_cache(maxsize=4096)
def words(text: str) -> list[str]:
    """Return the casefolded words of a text without closing punctuation; callers must not change the list."""
    return [word.strip(".'’").casefold() for word in _WORD.findall(text)]


@lru_cache(maxsize=65536)
def likeness(value: str, text: str) -> float:
    """Return how well some passage of ``text`` spells ``value``, 0 to 100; short words must match exactly."""
    target, tokens = value.casefold().split(), words(text)
    best = 0.0
    for start in range(len(tokens) - len(target) + 1):
        passage = tokens[start : start + len(target)]
        if passage == target:
            return 100.0
        if all(a == b or _may_be_typo(a, b) for a, b in zip(passage, target, strict=True)):
            score = min(fuzz.ratio(a, b) for a, b in zip(passage, target, strict=True))
            best = max(best, score)
    return best if best >= _TYPO_SCORE else 0.0


def _may_be_typo(said: str, meant: str) -> bool:
    return said not in _COMMON and min(len(said), len(meant)) >= _SHORT - 1 and said[:1] == meant[:1]


def best_said(values: Iterable[str], text: str) -> str | None:
    """Return the value that the text spells best, the longest on a tie; None where it spells none."""
    scored = [(likeness(value, text), len(value), value) for value in values]
    score, _, value = max(scored, default=(0.0, 0, ""))
    return value if score else None


def is_slip(said: str, meant: str) -> bool:
    """Tell whether a casefolded word is another with at most one slip of the pen; short words have none."""
    return said == meant or (len(meant) >= _SHORT and OSA.distance(said, meant, score_cutoff=1) <= 1)


def is_said(value: str, text: str) -> bool:
    """Tell whether some passage of a text spells a value, with at most one slip of the pen in each word."""
    target, tokens = words(value), words(text)
    passages = (tokens[start : start + len(target)] for start in range(len(tokens) - len(target) + 1))
    return any(all(map(is_slip, passage, target)) for passage in passages)


@lru_cache(maxsize=65536)
def said_at(value: str, text: str) -> tuple[int, int] | None:
    """Return the position, among the text's words, of a passage that spells a value, and how many slips it has.

    The passage with the fewest slips, at most one in each word; None where there is none.
    """
    target, tokens = words(value), words(text)
    found: tuple[int, int] | None = None
    for start in range(len(tokens) - len(target) + 1):
        passage = tokens[start : start + len(target)]
        pairs = list(zip(passage, target, strict=True))
        if all(a == b or (a not in _NO_SLIPS and a.isalpha() and is_slip(a, b)) for a, b in pairs):
            slips = sum(a != b for a, b in pairs)
            if found is None or slips < found[1]:
                found = start, slips
    return found


def prices(text: str) -> list[float]:
    """Return the prices that a text names, in the catalog's currency."""
    return [float(f"{whole.replace(',', '')}.{cents or '00'}") for whole, cents in _PRICE.findall(text)]


def measures_with_units(text: str) -> list[tuple[float, str]]:
    """Return the numbers with units that a text names, in canonical units (g, ml, w, cm, h)."""
    found = []
    for number, unit in _MEASURE.findall(text):
        scale, canonical = _UNITS[unit.casefold().rstrip("s")]
        found.append((round(float(number) * scale, 6), canonical))
    return found


def measures(text: str) -> list[float]:
    """Return the numbers with units that a text names, in canonical units, without them."""
    return [number for number, _ in measures_with_units(text)]


def brand_said(text: str) -> str | None:
    """Return what follows "from", "by" or "brand" in capitals, however it is spelled."""
    match = _BRAND.search(text)
    return match.group(1).strip(" .,;") if match else None


def quoted(text: str) -> str | None:
    """Return the first quoted passage of a text."""
    match = _QUOTED.search(text)
    return match.group(1) if match else None


def count_before(noun_words: Iterable[str], text: str) -> int | None:
    """Return the number of pieces said right before one of the nouns ("three desk lamps"), None where none is."""
    tokens = words(text)
    for noun in noun_words:
        target = noun.casefold().split()
        for start in range(1, len(tokens) - len(target) + 1):
            passage = " ".join(tokens[start : start + len(target)])
            if fuzz.ratio(passage, " ".join(target)) >= _TYPO_SCORE:
                # "three pairs of sandals" counts from before the container.
                number = _count(tokens[start - 3 if tokens[start - 1] == "of" and start > 2 else start - 1])
                if number is not None:
                    return number
    return None


def _count(token: str) -> int | None:
    if token.isdigit() and 0 < int(token) <= 10:
        return int(token)
    return _NUMBER_WORDS.get(token)


def noun_forms(plural: str) -> tuple[str, ...]:
    """Return the forms in which a sentence may name a category: the plural, and its likely singulars."""
    head, _, last = plural.rpartition(" ")
    singulars = [last.removesuffix("s")]
    if last.endswith("ies"):
        singulars.insert(0, last[:-3] + "y")
    elif last.endswith("ves"):
        singulars = [last[:-3] + "f", last[:-3] + "fe", last[:-1]]
    elif last.endswith(("sses", "shes", "ches", "xes", "zzes")):
        singulars.insert(0, last[:-2])
    return (plural, *(f"{head} {form}".strip() for form in singulars))
