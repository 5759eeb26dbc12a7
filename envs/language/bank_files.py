"""Reads files of further frames, and checks every line of them (SPEC §7, Wording).

A file has the form of the package's own: tables by name with lists of frames, and under ``facts`` tables by kind of
fact and operator. A table or a place that nothing fills, a frame that states a value, or the same frame twice: the line
is named, and nothing is loaded.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ecom_rlve.envs.errors import BankError
from ecom_rlve.envs.language.frames import (
    FACTS,
    FORMS,
    LISTS,
    PLACE,
    Agreement,
    Bank,
    Forms,
    Frames,
    Part,
    Place,
    Pool,
    facts_in_bank,
    frame,
    known_frames,
)
from ecom_rlve.envs.language.noise import NEGATION
from ecom_rlve.envs.language.phrases import NUMBER_WORDS

_FACT_PLACES = frozenset(("value", "bound", "limit"))
_RANGE_PLACES = frozenset(("low", "high"))
_OPTIONAL = frozenset(("item", "label"))
# "One" is a number only where a thing follows: "which one" says nothing.
_STATED = re.compile(
    r"[0-9$€£¥%]|\b(?:" + "|".join((*NUMBER_WORDS[2:], "zero", "one(?= X)", "dozen", "couple of", "twice")) + r")\b",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[{}()\[\]<>|\\_*`]|  |\s[,.;:!?]|https?:|[^\x20-\x7e]")
_WORD = re.compile(r"[A-Za-z][A-Za-z'-]+")
_MOST_LETTERS = 400
_MOST_VARIANTS = 64
"""Variants of a frame that are looked at, so that many choices in one frame take no time."""


def read_bank(paths: Sequence[Path], values: Collection[str] = ()) -> Bank:
    """Return the package's bank with the frames of further files.

    ``values`` are words that no frame may hold, because they would state a fact: a catalog's values in small letters,
    and its names as they are written. Raises :class:`BankError` that names the file and the line of everything that is
    wrong.
    """
    added: dict[str, Frames] = {}
    facts: dict[tuple[str, str], Forms] = {}
    for path in paths:
        text = _text(path)
        tables = _tables(path, text)
        faults = list(faults_of(tables, values))
        if faults:
            raise BankError(path.name, [f"line {_line(text, found)}: {why}: {found}" for found, why in faults])
        for kind, operators in tables.pop(FACTS, {}).items():
            for op, forms in operators.items():
                facts[kind, op] = _joined({**facts_in_bank(), **facts}.get((kind, op), {}), forms)
        for name, table in tables.items():
            lists = {key: tuple(table[key]) for key in LISTS if key in table}
            added[name] = added.get(name, known_frames()[name]).extended(lists)
    return Bank(MappingProxyType(added), MappingProxyType(facts))


def _joined(known: Forms, forms: Mapping[str, Sequence[str]]) -> Forms:
    names = [name for name in FORMS if name in known or name in forms]
    return MappingProxyType(
        {name: Pool((*known.get(name, Pool()).frames, *map(frame, forms.get(name, ())))) for name in names}
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BankError(path.name, [f"line {line}: not UTF-8"]) from error
    except OSError as error:
        raise BankError(path.name, [str(error)]) from error


def _tables(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BankError(path.name, [f"no TOML: {error}"]) from error


def _line(text: str, found: str) -> int:
    """Return the number of the line that holds a frame or the name of a table or list; 1 if none does."""
    written = (json.dumps(found, ensure_ascii=False)[1:-1], found)
    lines = text.splitlines()
    places = [at for at, line in enumerate(lines, 1) if any(each in line for each in written)]
    return places[-1] if places else 1


def faults_of(tables: Mapping[str, Any], values: Collection[str] = ()) -> Iterator[tuple[str, str]]:
    """Yield what is wrong in the tables of a file: the frame or name, and why."""
    known = known_frames()
    for name, table in tables.items():
        if name == FACTS:
            yield from _faults_of_facts(table, values)
        elif name not in known:
            yield name, "no such act"
        else:
            yield from _faults_of_table(known[name], table, values)


def _faults_of_table(frames: Frames, table: Any, values: Collection[str]) -> Iterator[tuple[str, str]]:
    if not isinstance(table, Mapping):
        yield frames.name, "no table"
        return
    seen = {_key(text) for texts in frames.lists.values() for text in texts} if table is not frames.lists else set()
    for key, texts in table.items():
        if key in ("about", "places", "one_of", "negative", "phrase"):
            continue
        if key not in LISTS or not isinstance(texts, Sequence) or isinstance(texts, str):
            yield key, f"no list of frames; there are {', '.join(LISTS)}"
            continue
        for text in texts:
            why = _why_not(text, values, is_sentence=not frames.is_phrase) or _misplaced(text, frames)
            if not why and _key(text) in seen:
                why = "twice"
            if why:
                yield str(text), why
            else:
                seen.add(_key(text))


def _faults_of_facts(kinds: Any, values: Collection[str]) -> Iterator[tuple[str, str]]:
    known = facts_in_bank()
    for kind, operators in kinds.items():
        for op, forms in operators.items() if isinstance(operators, Mapping) else ():
            if (kind, op) not in known:
                yield kind, f"no such kind of fact with operator {op}"
                continue
            for form, texts in forms.items():
                if form not in FORMS:
                    yield form, f"no such form; there are {', '.join(FORMS)}"
                    continue
                for text in texts:
                    why = _unphrased(text) or _stated(text, values, is_sentence=False)
                    if why:
                        yield str(text), why


def _unphrased(text: Any) -> str:
    """Return why a frame does not phrase a fact; empty if it does."""
    if not isinstance(text, str):
        return "no text"
    places = PLACE.findall(text)
    own = [place for place in places if place not in _OPTIONAL]
    if set(own) == _RANGE_PLACES and len(own) == len(_RANGE_PLACES):
        return ""
    return "" if len(own) == 1 and own[0] in _FACT_PLACES else "needs one place for the value"


def _why_not(text: Any, values: Collection[str], *, is_sentence: bool) -> str:
    """Return why a text cannot be a frame; empty if it can."""
    if not isinstance(text, str):
        return "no text"
    if not 0 < len(text) <= _MOST_LETTERS or text != text.strip():
        return f"empty, too long (at most {_MOST_LETTERS} letters) or with spaces around it"
    return _stated(text, values, is_sentence=is_sentence)


def _stated(text: str, values: Collection[str], *, is_sentence: bool) -> str:
    for variant in variants(text):
        bare = PLACE.sub("X", variant)
        if _MARKUP.search(bare):
            return "markup, double spaces or signs that are no ASCII"
        if _STATED.search(bare):
            return "states a value"
        stated = [word for word in _WORD.findall(bare) if word in values or word.casefold() in values]
        if stated:
            return f"states a value ({stated[0]})"
        if is_sentence and variant[-1] not in ".!?":
            return "does not end like a sentence"
    return ""


def _misplaced(text: str, frames: Frames) -> str:
    """Return what is wrong with the places of a frame; empty if nothing is."""
    for variant in variants(text):
        counts = Counter(PLACE.findall(variant))
        missing = [place for place in frames.places if counts[place] != 1]
        if missing:
            return f"needs {{{missing[0]}}} exactly once"
        if frames.one_of and sum(counts[place] for place in frames.one_of) != 1:
            return f"needs exactly one of {', '.join(frames.one_of)}"
        unknown = set(counts) - {*frames.places, *frames.one_of}
        if unknown:
            return f"nothing fills {{{min(unknown)}}}"
        if not frames.is_negative and _is_negated(variant):
            return "negates a place"
    return ""


def _is_negated(text: str) -> bool:
    return any(PLACE.search(part) and NEGATION.search(part) for part in re.split(r"[.!?;:,]", text))


def variants(text: str) -> list[str]:
    """Return the texts that the choices of a frame make, at most so many."""
    made = product(*map(_sources, frame(text).parts))
    return ["".join(parts) for parts, _ in zip(made, range(_MOST_VARIANTS), strict=False)]


def _sources(part: Part) -> tuple[str, ...]:
    """Return what may stand for a part of a frame; a place stands for itself."""
    if isinstance(part, Place):
        return (f"{{{part.name}}}",)
    if isinstance(part, Agreement):
        return (part.one,)
    return (part,) if isinstance(part, str) else part


def _key(text: str) -> str:
    return re.sub(r"\W+", " ", text.casefold()).strip()
