"""The tables of ``data/phrases.toml``, and the one spelling in which texts and patterns are compared."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

_PLAIN = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": ".", "é": "e", "\u00a0": " "})
_LONG_DRAWN = re.compile(r"([a-z])\1{2,}")
_INTERJECTION = re.compile(
    r"\b(?:a+r+g+h*|u+r*g+h*|u+h+|u+m+|h+m+|o+h+|a+h+|e+r+m*|o+o+h+|a+w+|a+h+a+|(?:ha)+h?|e+k+|y+a+y+|ph+ew+)\b"
)
_SLANG = re.compile(r"(?<![\w{'])[a-z]+(?![\w}'])")
_SHORT = (("can(?:'t|not)", "can not"), ("can't", "can not"), ("cannot", "can not"), ("won't", "will not"))


class Rule(NamedTuple):
    """What one kind of act, or the first message of an environment, may and must say."""

    must: str
    """What a second try is told to say; empty: nothing has to be found."""
    core: tuple[re.Pattern[str], ...] = ()
    also: tuple[re.Pattern[str], ...] = ()
    words: frozenset[str] = frozenset()
    near: frozenset[str] = frozenset()
    later: frozenset[str] = frozenset()


class Refused(NamedTuple):
    """Common words that do harm together."""

    why: str
    patterns: tuple[re.Pattern[str], ...]
    unless: frozenset[str]
    """Kinds of acts, and environments, with which they do none."""
    only: frozenset[str]
    """The only ones with which they do; empty: with all."""


class Phrases(NamedTuple):
    """All tables."""

    courtesy: re.Pattern[str]
    refused: tuple[Refused, ...]
    acts: Mapping[str, Rule]
    asks: Mapping[str, Rule]
    names: frozenset[str]
    slang: Mapping[str, str]


@cache
def phrases() -> Phrases:
    """Return the tables; read once."""
    text = files("ecom_rlve.envs.customer.check.data").joinpath("phrases.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    return Phrases(
        _compiled(rf"(?<![\w'])(?:{'|'.join(data['courtesy'])})(?![\w'])"),
        tuple(
            Refused(each["why"], tuple(map(_compiled, each["patterns"])), *map(frozenset, _limits(each)))
            for each in data["refused"]
        ),
        {kind: _rule(entry) for kind, entry in data["acts"].items()},
        {name: _rule(entry) for name, entry in data["asks"].items()},
        frozenset(data["names"].split()),
        data["slang"],
    )


def folded(wording: str) -> str:
    """Return a wording in small letters and with plain signs."""
    text = wording.translate(_PLAIN).casefold().replace(" + ", " and ")
    return _LONG_DRAWN.sub(r"\1", _INTERJECTION.sub("oh", text))


def spelled_out(text: str) -> str:
    """Return a folded text without slang and short forms: "cant" and "can't" are "can not"."""
    slang = phrases().slang
    return expanded(_SLANG.sub(lambda match: slang.get(match[0], match[0]), text.replace('"', "")))


def expanded(text: str) -> str:
    """Return a text, or a pattern, with negations written out."""
    for short, long in _SHORT:
        text = text.replace(short, long)
    return re.sub(r"(?<=[a-z])~not", " not", text).replace("~not", r"\bnot").replace("n't", " not")


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(expanded(pattern.replace(r"\w+", r"[\w']+")))


def _limits(entry: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    return entry.get("unless", []), entry.get("only", [])


def _rule(entry: Mapping[str, Any]) -> Rule:
    core, also = (tuple(map(_compiled, entry.get(name, ()))) for name in ("core", "also"))
    words, near, later = (frozenset(str(entry.get(name, "")).split()) for name in ("words", "near", "later"))
    return Rule(entry.get("must", ""), core, also, words, near, later)
