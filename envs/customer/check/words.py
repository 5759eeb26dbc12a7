"""Which words a customer may use where: the lists in ``data``, and the forms of the words on them."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from importlib.resources import files

WORD = re.compile(r"'?[a-z]+")
_WORDS_KEPT = 1 << 14
"""How many words each function remembers: a model may write any number of them."""
_CLITICS = frozenset(("'s", "'m", "'re", "'ve", "'d", "'ll", "'em"))
_ENDINGS = {
    "": ("",),
    "s": ("",),
    "es": ("",),
    "ed": ("", "e"),
    "ing": ("", "e"),
    "ies": ("y",),
    "ied": ("y",),
    "ly": ("",),
}
"""Endings, and what the base form has in their place."""
_MORE_ENDINGS = _ENDINGS | {
    "er": ("", "e"),
    "est": ("", "e"),
    "ier": ("y",),
    "iest": ("y",),
    "ish": ("",),
    "ness": ("",),
}
STATING = frozenset(
    (
        "more",
        "quantity and order",
        "shops, orders and money",
        "the conversation's machinery",
        "goods",
        "colours and materials",
        "deciding, approving, correcting, leaving",
    )
)
"""Kinds of words that state a fact, or do another act, wherever they stand."""
TOLD = frozenset(("common", "other", "saying yes"))
"""Kinds of words that may do no harm where a place stands in their clause."""
_TELLS_OF_ONESELF = re.compile(
    r"\b(?:i|we|me|us|my|our|he|she|his|her|life|(?:the|our|my) \w+ (?:is|are|was|were)|school|kids?|everyone|family)\b"
)
_POINTS = re.compile(
    r"\{|\b(?:it(?!'s been| rains| snows| took| takes| turns| feels)|its|ones?|"
    r"th(?:is|at)(?! (?:morning|evening|week|month|year|winter|summer|spring|autumn|day|time|happens)| is why)|"
    r"them|they|these|those|something|colou?r|size)\b"
)
"""A clause that holds one of these may be about a product; "it's been a long day" and "this week" are not."""
_NEGATES = re.compile(r"\b(?:not|never|no|nobody|nothing)\b")
_WANTS = re.compile(
    r"\b(?:(?:want|need|like|prefer|care|buy|order|accept|agree)\w*|bought|must|should|sure|certain|wrong|maybe|"
    r"perhaps|guess|suppose|decid\w+|chang(?:e|ed) (?:my|our)|instead|rather|otherwise|or|unless|except|"
    r"either|joking|kidding)\b"
)
"""A clause that holds one of these wishes, or qualifies what was said."""
_MUSES = re.compile(r"\b(?:love|mean|think|say|said|ask|asked|take|look|use)\b")
"""A clause that holds one of these may be an opinion of a product."""
_LONG_CLAUSE = 5
"""A clause that negates and has fewer words may negate what stands before it: "{fact_1}? I do not."."""


@lru_cache(_WORDS_KEPT)
def is_common(word: str) -> bool:
    """Tell whether any customer may use a word, even next to a fact: it or its base form stands in ``words.txt``."""
    words = _listed("words.txt")
    is_form = not _forms(word).isdisjoint(words) and word not in _listed("harmful.txt") | _listed("describing.txt")
    return word in _CLITICS or word in words or is_form


@lru_cache(_WORDS_KEPT)
def is_harmless(word: str) -> bool:
    """Tell whether a customer may use a word where no fact is told: it is common, or English and on no other list."""
    forms = _forms(word, _MORE_ENDINGS)
    is_harmful = not forms.isdisjoint(_listed("harmful.txt") | _listed("describing.txt"))
    return is_common(word) or (not is_harmful and is_english(word))


@lru_cache(_WORDS_KEPT)
def is_english(word: str) -> bool:
    """Tell whether a word is English as far as this project knows: its frames hold it, or a list does."""
    return is_common(word) or not _forms(word).isdisjoint(_said_by_bank() | _listed("english.txt"))


@lru_cache(_WORDS_KEPT)
def class_of(word: str) -> str:
    """Return what kind of word it is: ``common``, a heading of ``harmful.txt`` or ``describing.txt``, else ``other``.

    Comparatives of describing words are ``more``.
    """
    if is_common(word):
        return "common"
    headings = _headings()
    forms = sorted(_forms(word, _MORE_ENDINGS), key=lambda form: (-len(form), form))
    if word.endswith(("er", "est")) and not headings.keys().isdisjoint(forms[1:]):
        return "more"
    return next((headings[form] for form in forms if form in headings), "other")


@cache
def _headings() -> dict[str, str]:
    """Return the heading under which each harmful or describing word stands."""
    found, heading = dict[str, str](), ""
    for name in ("harmful.txt", "describing.txt"):
        for line in files("ecom_rlve.envs.customer.check.data").joinpath(name).read_text(encoding="utf-8").splitlines():
            if line.startswith("#"):
                heading = line.strip("# ")
            for word in () if line.startswith("#") else re.findall("[a-z]+", line):
                found.setdefault(word, heading)
    return found


def without_story(clause: str, is_service: bool) -> str:
    """Return a clause without words that are unknown, describe or negate, where it tells of people and of no product.

    ``is_service``: what people tell of an order could be taken for a circumstance, so only unknown words are let pass.
    """
    if not _TELLS_OF_ONESELF.search(clause) or _POINTS.search(clause) or _WANTS.search(clause):
        return clause
    if _NEGATES.search(clause) and len(WORD.findall(clause)) < _LONG_CLAUSE:
        return clause
    told = _is_unknown if is_service or _MUSES.search(clause) else _describes
    return WORD.sub(lambda match: "~" if told(match[0]) or _NEGATES.fullmatch(match[0]) else match[0], clause)


def _is_unknown(word: str) -> bool:
    return not is_english(word) and _forms(word, _MORE_ENDINGS).isdisjoint(
        _listed("harmful.txt") | _listed("describing.txt")
    )


@lru_cache(_WORDS_KEPT)
def _describes(word: str) -> bool:
    forms = _forms(word, _MORE_ENDINGS)
    is_told = _is_unknown(word) or not forms.isdisjoint(_listed("describing.txt"))
    return is_told and forms.isdisjoint(_listed("harmful.txt"))


def _forms(word: str, endings: dict[str, tuple[str, ...]] = _ENDINGS) -> set[str]:
    """Return a word and what it may be a form of: "planning" → "planning", "plann", "planne", "plan"."""
    stems = {word.removesuffix(end) + put for end, puts in endings.items() if word.endswith(end) for put in puts}
    stems |= {stem[:-1] for stem in stems if len(stem) > 3 and stem[-1] == stem[-2]}
    return {stem for stem in stems if len(stem) > 2} | {word}


@cache
def _listed(name: str) -> frozenset[str]:
    lines = files("ecom_rlve.envs.customer.check.data").joinpath(name).read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in re.findall("[a-z]+", line))


@cache
def _said_by_bank() -> frozenset[str]:
    """Return the words in the files of frames: what the bank may say, a model may say too."""
    folders = (files("ecom_rlve.envs.language.bank"), *files("ecom_rlve.envs.tasks").iterdir())
    found = (file for folder in folders if folder.is_dir() for file in folder.iterdir() if file.name.endswith(".toml"))
    texts = (file.read_text(encoding="utf-8").lower() for file in found)
    return frozenset(word for text in texts for word in re.findall("[a-z]+", text))
