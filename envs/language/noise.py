"""Typing noise: at most one typing error in a word, and none that could change what was said.

Numbers, units, ids, negations, number words, short words and the passages that the caller protects stay as they are. A
word of a value stays nearer to itself than to any other word of its vocabulary (SPEC §7).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from numpy.random import Generator
from rapidfuzz.distance import OSA
from rapidfuzz.process import extract

from ecom_rlve.envs.language.phrases import NUMBER_WORDS

NEGATION = re.compile(
    r"\b(?:not|no|never|nothing|nobody|nowhere|none|neither|nor|without|cannot|except|instead|\w+n['’]t)\b",
    re.IGNORECASE,
)
"""Words that negate a sentence."""

# Letters only, and no part of a longer token: "USB-C", "couldn't", "X200" and "t-shirt" are left alone.
_WORD = re.compile(r"(?<![\w'’-])[^\W\d_]{5,}(?![\w'’-])")
_ANY_WORD = re.compile(r"(?<![\w'’-])[^\W\d_]{2,}(?![\w'’-])")
_NEXT_WORD = re.compile(r" ([a-z]{2,})(?= )")
_LEAST_LETTERS = 5
"""A shorter word is too often one edit away from another: "for" and "or"."""
_ARTICLES = frozenset(("an", "the"))
"""A word before them would read like another word: "ina", "tothe"."""
_NUMBERS = frozenset(NUMBER_WORDS)
_CARELESS_SHARE = 0.5
"""Share of a careless customer's errors that are no typing errors."""
_GAP_SHARE = 0.4
"""Share of those that run a word into the next, where that may be; the others are slips of grammar or a capital."""
_CAPITAL_SHARE = 0.8
"""Share of capitals that are forgotten, where that may be: who forgets them forgets most."""
# What people and their phones make of common words. None of them carries a fact.
_GRAMMAR: dict[str, str] = {
    "their": "there", "there": "their", "your": "you're", "than": "then", "then": "than", "the": "teh", "and": "adn",
    "with": "wiht", "have": "ahve", "that": "taht", "just": "jsut", "this": "thsi", "were": "where",
    "where": "were", "quite": "quiet", "could": "coud", "should": "shoud", "would": "woud", "believe": "beleive",
    "definitely": "definately", "separate": "seperate", "receive": "recieve", "friend": "freind", "until": "untill",
    "which": "wich", "really": "realy", "tomorrow": "tommorow", "birthday": "brithday", "because": "becuase",
    "looking": "loking", "through": "threw", "whether": "weather", "affect": "effect", "probably": "probly",
}  # fmt: skip
_SLANG_SHARE = 0.5
_SLANG: dict[str, str] = {
    "about": "abt",
    "already": "alrdy",
    "because": "cuz",
    "before": "b4",
    "could": "cud",
    "great": "gr8",
    "looking": "lookin",
    "people": "ppl",
    "please": "pls",
    "really": "rly",
    "should": "shud",
    "something": "smth",
    "thanks": "thx",
    "though": "tho",
    "today": "2day",
    "tomorrow": "tmrw",
    "weekend": "wknd",
    "would": "wud",
}
_KEY_NEIGHBOURS: dict[str, str] = {
    "a": "qsz", "b": "vgn", "c": "xdv", "d": "sfe", "e": "wrd", "f": "dgr", "g": "fht", "h": "gjy", "i": "uok",
    "j": "hku", "k": "jli", "l": "kop", "m": "nj", "n": "bmh", "o": "ipl", "p": "ol", "q": "wa", "r": "etf",
    "s": "adw", "t": "ryg", "u": "yij", "v": "cbf", "w": "qes", "x": "zcs", "y": "tuh", "z": "xas",
}  # fmt: skip


def add_noise(
    text: str,
    protected: Sequence[str],
    confusable: Mapping[str, tuple[str, ...]],
    p_noise: float,
    rng: Generator,
    *,
    uses_slang: bool = True,
    is_careless: bool = False,
) -> str:
    """Return ``text``, with a typing error in each eligible word with probability ``p_noise`` (0 to 1).

    A word is eligible if it has five letters or more and nothing but letters, touches no ``protected`` passage, and is
    neither a negation nor a number word. ``confusable`` maps a casefolded word of a value to the words of its
    vocabulary. If the error would not leave such a word strictly nearest to itself (by optimal string alignment
    distance), the word stays as it is. With ``p_noise`` 0 nothing is drawn.

    ``uses_slang``: an error may be slang. ``is_careless``: it may also be a word run into the next, a capital forgotten
    at the beginning, or a slip of grammar or autocorrection, for which some shorter words are eligible too.
    """
    if p_noise <= 0:
        return text
    words = [match for match in (_ANY_WORD if is_careless else _WORD).finditer(text) if _is_eligible(match[0])]
    chosen = [match for match, draw in zip(words, rng.random(len(words)).tolist(), strict=True) if draw < p_noise]
    if not chosen:
        return text
    spans = _occurrences(text, protected)
    pieces: list[str] = []
    done = 0
    for match, draws in zip(chosen, rng.random((len(chosen), 4)).tolist(), strict=True):
        word, (start, end) = match[0], match.span()
        if any(start < stop and begin < end for begin, stop in spans) or _must_stay(word):
            continue
        others = confusable.get(word.casefold())
        slipped = ""
        if is_careless and others is None and draws[3] < _CARELESS_SHARE:
            if draws[0] < _GAP_SHARE and _may_run_on(text, end, spans, confusable):
                pieces += (text[done:start], word)
                done = end + 1
                continue
            slipped = _careless(word, draws)
        if not slipped and len(word) < _LEAST_LETTERS:
            continue
        slipped = slipped or _slip(word, draws, may_be_slang=uses_slang and others is None)
        if others and _is_confusing(word, slipped, others):
            continue
        pieces += (text[done:start], slipped)
        done = end
    return "".join((*pieces, text[done:]))


def _is_eligible(word: str) -> bool:
    return len(word) >= _LEAST_LETTERS or word.casefold() in _GRAMMAR


def _may_run_on(
    text: str, end: int, spans: Sequence[tuple[int, int]], confusable: Mapping[str, tuple[str, ...]]
) -> bool:
    """Tell whether the space after a word may be left out: the next word is a plain one that carries no fact."""
    following = _NEXT_WORD.match(text, end)
    if following is None or following[1] in confusable or _must_stay(following[1]) or following[1] in _ARTICLES:
        return False
    begin, stop = following.span(1)
    return not any(begin < last and first < stop for first, last in spans)


def _careless(word: str, draws: Sequence[float]) -> str:
    """Return a slip of grammar or of autocorrection, or the word without its capital; empty if there is none."""
    slip = _GRAMMAR.get(word.casefold())
    if slip is not None:
        return slip.capitalize() if word[0].isupper() else slip
    return word[0].lower() + word[1:] if word[0].isupper() and draws[0] < _CAPITAL_SHARE else ""


def _occurrences(text: str, passages: Sequence[str]) -> list[tuple[int, int]]:
    found = []
    for passage in filter(None, passages):
        start = text.find(passage)
        while start >= 0:
            found.append((start, start + len(passage)))
            start = text.find(passage, start + 1)
    return found


def _must_stay(word: str) -> bool:
    return word.casefold() in _NUMBERS or NEGATION.fullmatch(word) is not None


def _is_confusing(word: str, slipped: str, vocabulary: Sequence[str]) -> bool:
    """Tell whether another word of the vocabulary is as near as the original, which is one edit away."""
    own = word.casefold()
    near = extract(slipped, vocabulary, scorer=OSA.distance, processor=str.casefold, score_cutoff=1, limit=None)
    return any(match.casefold() != own for match, _, _ in near)


def _slip(word: str, draws: Sequence[float], *, may_be_slang: bool) -> str:
    slang = _SLANG.get(word.casefold()) if may_be_slang else None
    if slang and draws[0] < _SLANG_SHARE:
        return slang.capitalize() if word[0].isupper() else slang
    return _typo(word, int(draws[1] * 4), draws[2])


def _typo(word: str, kind: int, draw: float) -> str:
    """Return the word with one edit after its first letter; if that would change nothing, a letter is doubled."""
    at = 1 + int(draw * (len(word) - 1))
    letter = word[at]
    if kind == 0:
        at = min(at, len(word) - 2)
        if word[at] != word[at + 1]:
            return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
    elif kind == 1:
        return word[:at] + word[at + 1 :]
    elif kind == 2 and letter in _KEY_NEIGHBOURS:
        neighbours = _KEY_NEIGHBOURS[letter]
        # The leading digits of the draw chose the position; the remainder chooses the key.
        rest = draw * (len(word) - 1) % 1.0
        return word[:at] + neighbours[int(rest * len(neighbours))] + word[at + 1 :]
    return word[:at] + letter + word[at:]
