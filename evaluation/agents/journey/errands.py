"""Which errand a customer speaks of: what they begin with, and how they interrupt one with another or come back to it.

Readings allow a slip of the pen in each word, and look at no title that is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from itertools import pairwise

from ecom_rlve.evaluation.reading import language

_TITLE = re.compile(r"\".*?\"")
_PLANNING = re.compile(r"\bI['’]m (\w+)( for\b)?", re.IGNORECASE)
_NO_PLANS = (
    "in", "a", "an", "on", "so", "not", "after", "afraid", "curious", "interested", "looking", "lookin", "wondering",
    "writing", "thinking",
)  # fmt: skip
"""What customers are who have no project."""
_ASKING = ("tell", "know", "ask", "asking", "question", "wondering", "myself", "discussing")
_INTERROGATIVE = ("how", "what", "when", "which")
_ADVICE = (
    "recommend", "recommendation", "recommendations", "suggest", "suggestion", "suggestions", "advice", "ideas",
)  # fmt: skip
_WANTING = ("for", "need", "want", "like", "get", "find", "pick", "recommend", "suggest")
_ARTICLES = ("a", "an")
_MATTERS = ("thing", "matter", "question", "topic")


def _spells(token: str, *words: str) -> bool:
    return any(language.is_slip(token, word) for word in words)


def _says(tokens: list[str], *words: str) -> bool:
    return any(_spells(token, *words) for token in tokens)


def _is_substitution(tokens: list[str], _: str) -> bool:
    return any(pair == ("sold", "out") for pair in pairwise(tokens))


def _is_status(tokens: list[str], _: str) -> bool:
    is_doing = any(_spells(token, "coming", "along", "doing") and token != "going" for token in tokens)
    return _says(tokens, "status") or (_says(tokens, "order") and is_doing)


def _is_project(_: list[str], text: str) -> bool:
    for said, is_for in _PLANNING.findall(text):
        word = said.casefold()
        if not _spells(word, *_NO_PLANS) and not (is_for and _spells(word, "shopping")):
            return True
    return False


def _is_policy(tokens: list[str], _: str) -> bool:
    """Tell whether the customer wants to be told how many, until when, which: "just so you know" asks nothing."""
    asked = (
        tokens[at + 1 : at + 5]
        for at, token in enumerate(tokens)
        if _spells(token, *_ASKING) and (token != "know" or tokens[at - 1 : at] != ["you"])
    )
    return any(_says(following, *_INTERROGATIVE) for following in asked)


def _is_return(tokens: list[str], _: str) -> bool:
    return "back" in tokens or _says(tokens, "return", "returning")


def _is_discovery(tokens: list[str], _: str) -> bool:
    """Tell whether advice is wanted, or some such thing: what shall go into a cart is counted, or "the" one."""
    wanted = (
        _spells(before, *_WANTING) and article in _ARTICLES and noun != "single"
        for before, article, noun in zip(tokens, tokens[1:], tokens[2:], strict=False)
    )
    return _says(tokens, *_ADVICE) or any(wanted) or ("meaning", "to") in pairwise(tokens)


_READERS: Mapping[str, Callable[[list[str], str], bool]] = {
    "SUB": _is_substitution,
    "STATUS": _is_status,
    "BUNDLE": _is_project,
    "POLICY": _is_policy,
    "RETURN": _is_return,
    "PD": _is_discovery,
}
"""The first that is true of the customer's words tells their errand; where none is, they fill a cart."""


def errand_of(text: str, settled: Collection[str] = ()) -> str:
    """Return the environment id of the errand that a text begins; none of those that were begun before."""
    bare = _TITLE.sub(" ", text)
    tokens = language.words(bare)
    for name, is_meant in _READERS.items():
        if name not in settled and is_meant(tokens, bare):
            return name
    return next((name for name in ("CART", *_READERS) if name not in settled), "CART")


def split_at_interruption(text: str) -> tuple[str, str] | None:
    """Return what is said before and after the sentence that turns to another errand; None where none does."""
    for sentence in language.sentences(text):
        if _turns_away(sentence) and sentence in text:
            before, _, after = text.partition(sentence)
            return before.strip(), after.strip()
    return None


def after_first_sentence(text: str) -> str:
    """Return a text without its first sentence, by which the customer moves on."""
    first, *_ = language.sentences(text) or [""]
    return text.partition(first)[2].strip() if first else text


def comes_back(text: str) -> bool:
    """Tell whether a text says that the customer returns to an errand that was left open."""
    tokens = [token for sentence in language.sentences(text)[:2] for token in language.words(sentence)]
    steps = zip(tokens, tokens[1:], [*tokens[2:], ""], strict=False)
    return any(_spells(verb, "back", "return") and to == "to" and whom != "you" for verb, to, whom in steps)


def _turns_away(sentence: str) -> bool:
    tokens = language.words(_TITLE.sub(" ", sentence))
    if ":" in sentence or "said" in tokens:
        return False  # "I said something else: …" speaks of the same errand.
    return any(
        (second == "else" and _spells(first, "something", "smth"))
        or (_spells(first, "another", "further") and _spells(second, *_MATTERS))
        for first, second in pairwise(tokens)
    )
