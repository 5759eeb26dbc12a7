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
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import Any

from ecom_rlve.envs.errors import BankError
from ecom_rlve.envs.language.frames import (
    DEFAULT_BANK,
    FACTS,
    FORMS,
    LISTS,
    PLACE,
    Agreement,
    Bank,
    Forms,
    Frame,
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
_RANGE = "between"
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
_LENGTH = f"empty, too long (at most {_MOST_LETTERS} letters) or with spaces around it"
_MOST_VARIANTS = 256
"""Variants that the choices of one frame may make; each is looked at."""
_MOST_WORDS = 4
"""Words of the longest names and values that are looked for."""


def read_bank(paths: Sequence[Path], values: Collection[str] = ()) -> Bank:
    """Return the package's bank with the frames of further files.

    ``values`` are words that no frame may hold, because they would state a fact: a catalog's values in small letters,
    and its names as they are written. Raises :class:`BankError` that names the file and the line of everything that is
    wrong.
    """
    added: dict[str, Frames] = {}
    facts: dict[tuple[str, str], Forms] = {}
    bank = Bank(MappingProxyType(added), MappingProxyType(facts))
    for path in paths:
        text = _text(path)
        tables = _tables(path, text)
        faults = list(faults_of(tables, values, bank))
        if faults:
            raise BankError(path.name, [f"line {_line(text, found)}: {why}: {found}" for found, why in faults])
        for kind, operators in tables.pop(FACTS, {}).items():
            for op, forms in operators.items():
                facts[kind, op] = _joined(bank.forms(kind, op), forms)
        for name, table in tables.items():
            lists = {key: tuple(table[key]) for key in LISTS if key in table}
            added[name] = bank.frames(known_frames()[name]).extended(lists)
    return bank


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
    """Return the number of the last line that holds a frame in quotes, or a name of a table or list; 1 if none does."""
    written, lines = json.dumps(found, ensure_ascii=False), text.splitlines()
    name = re.compile(rf"\s*(?:\[.*\b{re.escape(found)}\b|(?:\w+\.)*{re.escape(found)}\b.*=)")
    quoted = [at for at, line in enumerate(lines, 1) if written in line or f"'{found}'" in line]
    return max(quoted or (at for at, line in enumerate(lines, 1) if name.match(line)), default=1)


def faults_of(
    tables: Mapping[str, Any], values: Collection[str] = (), bank: Bank = DEFAULT_BANK
) -> Iterator[tuple[str, str]]:
    """Yield what is wrong in the tables of a file that is added to a bank: the frame or name, and why."""
    known = known_frames()
    for name, table in tables.items():
        if name == FACTS:
            yield from _faults_of_facts(table, values, bank)
        elif name not in known:
            yield name, "no such act"
        else:
            yield from _faults_of_table(bank.frames(known[name]), table, values)


def _faults_of_table(frames: Frames, table: Any, values: Collection[str]) -> Iterator[tuple[str, str]]:
    if not isinstance(table, Mapping):
        yield frames.name, "no table"
        return
    seen = {_key(text) for texts in frames.lists.values() for text in texts} if table is not frames.lists else set()
    for key, texts in table.items():
        if key in ("about", "places", "one_of", "negative", "phrase"):
            continue
        if key not in LISTS or not _is_list(texts):
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


def _faults_of_facts(kinds: Any, values: Collection[str], bank: Bank) -> Iterator[tuple[str, str]]:
    known = set(facts_in_bank())
    for kind, operators in _items(kinds, FACTS):
        for op, forms in _items(operators, kind):
            if (kind, op) not in known:
                yield kind, f"no such kind of fact with operator {op}"
                continue
            others = {
                each.text for one, other in known if one == kind and other != op for each in _own(bank, one, other)
            }
            for form, texts in _items(forms, op):
                if form not in FORMS or not _is_list(texts):
                    yield form, f"no list of phrases; there are {', '.join(FORMS)}"
                    continue
                seen = {each.text for each in bank.forms(kind, op).get(form, ())}
                for text in texts:
                    why = _unphrased(text, form, op) or _stated(text, values, is_sentence=False)
                    why = why or ("says another operator" if text in others else "twice" if text in seen else "")
                    if why:
                        yield str(text), why
                    else:
                        seen.add(text)


def _items(table: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the entries of a table; what is no table has a single one, of its own name, which nothing knows."""
    yield from table.items() if isinstance(table, Mapping) else ((name, None),)


def _is_list(texts: Any) -> bool:
    return isinstance(texts, Sequence) and not isinstance(texts, str)


def _own(bank: Bank, kind: str, op: str) -> Iterator[Frame]:
    """Yield the frames that tell an operator by their own words; what holds ``{bound}`` is the same for several."""
    for frames in bank.forms(kind, op).values():
        yield from (each for each in frames if "bound" not in each.places)


def _unphrased(text: Any, form: str, op: str) -> str:
    """Return why a frame does not phrase a fact; empty if it does."""
    if not isinstance(text, str):
        return "no text"
    if not 0 < len(text) <= _MOST_LETTERS or text != text.strip():
        return _LENGTH
    places = PLACE.findall(text)
    own = [place for place in places if place not in _OPTIONAL]
    if op == _RANGE and set(own) == _RANGE_PLACES and len(own) == len(_RANGE_PLACES):
        return ""
    fitting = _FACT_PLACES - ({"bound"} if form == "bound" else set())
    return "" if len(own) == 1 and own[0] in fitting else "needs one place for the value"


def _why_not(text: Any, values: Collection[str], *, is_sentence: bool) -> str:
    """Return why a text cannot be a frame; empty if it can."""
    if not isinstance(text, str):
        return "no text"
    if not 0 < len(text) <= _MOST_LETTERS or text != text.strip():
        return _LENGTH
    return _stated(text, values, is_sentence=is_sentence)


def _stated(text: str, values: Collection[str], *, is_sentence: bool) -> str:
    made = frame(text)
    if any(PLACE.search(each) for part in made.parts if isinstance(part, tuple) for each in _sources(part, bare=True)):
        return "a place inside a choice"
    if prod(len(_sources(part)) for part in made.parts) > _MOST_VARIANTS:
        return f"more than {_MOST_VARIANTS} variants"
    for variant in variants(text):
        bare = PLACE.sub("X", variant)
        if _MARKUP.search(bare):
            return "markup, double spaces or signs that are no ASCII"
        if _STATED.search(bare):
            return "states a value"
        stated = next((run for run in _runs(bare) if run in values or run.casefold() in values), "")
        if stated:
            return f"states a value ({stated})"
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


def _runs(text: str) -> Iterator[str]:
    """Yield every word of a text, and every run of a few of them."""
    words = _WORD.findall(text)
    for count in range(1, _MOST_WORDS + 1):
        yield from (" ".join(words[at : at + count]) for at in range(len(words) - count + 1))


def variants(text: str) -> list[str]:
    """Return the texts that the choices and agreements of a frame make."""
    return ["".join(parts) for parts in product(*map(_sources, frame(text).parts))]


def _sources(part: Part, *, bare: bool = False) -> tuple[str, ...]:
    """Return what may stand for a part of a frame; a place stands for itself, or is left out of what is ``bare``."""
    if isinstance(part, Place):
        return () if bare else (f"{{{part.name}}}",)
    if isinstance(part, Agreement):
        return (part.one, part.many)
    return (part,) if isinstance(part, str) else part


def _key(text: str) -> str:
    return re.sub(r"\W+", " ", text.casefold()).strip()
