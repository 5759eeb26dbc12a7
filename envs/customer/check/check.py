"""The check of a wording: places, and around them words that state no fact, negate nothing and change no act (SPEC §7).

Every value is in a place, so what is left to ask of the free words is small. Phrases of courtesy are taken out first.
What remains may hold a harmless word (``words.txt``, and what ``english.txt`` holds besides ``harmful.txt``), a word
that the message's own acts need, and, where customers tell of themselves, a word of ``describing.txt``; a clause that
tells a fact takes fewer of them. Some combinations of harmless words are refused, and phrases that do what another act
does; and each act has to have been done. A word that is on no list is refused: then a model is asked again, while a lie
would make the reward meaningless. The phrases are in ``phrases.toml``.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from ecom_rlve.envs.customer.check.sheet import FIRST, PLACE, Part, Sheet
from ecom_rlve.envs.customer.outcome import Finding, Outcome

_MARKUP = re.compile(r"[{}\[\]<>|\\_*#`^=@~/]|https?:|www\.")
_DIGIT_OR_SIGN = re.compile(r"[\d$%+&]")
_WORD = re.compile(r"'?[a-z]+")
_SLANG = re.compile(r"(?<![\w{'])[a-z]+(?![\w}'])")
_ASIDE = re.compile(r"\(.*?\)|\{\w+\}")
_NAMED = r"\b%s(?= (?:is|should|would|has|must|needs|of|for|i|we|wise|{)|\s*$)"
"""How the name of an attribute may stand in a clause: "the colour is …", "as for the colour, …"."""
_LONG_DRAWN = re.compile(r"([a-z])\1{2,}")
_INTERJECTION = re.compile(
    r"\b(?:a+r+g+h*|u+r*g+h*|u+h+|u+m+|h+m+|o+h+|a+h+|e+r+m*|o+o+h+|a+w+|a+h+a+|(?:ha)+h?|e+k+|y+a+y+|ph+ew+)\b"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_CLAUSE = re.compile(r"[.!?,;:()]|\s-+\s|\b(?:and|but|so|because|since|while|though|although|as)\b")
_TELLS_OF_ONESELF = re.compile(r"\b(?:i|we|me|us|my|our|he|she|his|her|life)\b")
_POINTS = re.compile(r"\{|\b(?:it|its|one|ones|this|that|them|they|these|those|something|colou?r|size)\b")
"""A clause that holds one of these may be about a product."""
_NEGATES = re.compile(r"\b(?:not|never|no|nobody|nothing)\b")
_WANTS = re.compile(
    r"\b(?:want|need|like|love|mean|think|say|said|care|buy|order|take|accept|agree|ask|asked|look|use)"
)
_LONG_CLAUSE = 5
"""A clause that negates and has fewer words may negate what stands before it: "{fact_1}? I do not."."""
_TELLS = re.compile(r"\{(?:fact|count|title|clause)_\d+\}")
_PLAIN = str.maketrans({"’": "'", "‘": "'", "“": '"', "”": '"', "–": "-", "—": "-", "…": ".", "é": "e", "\u00a0": " "})
_LETTERS, _LETTERS_PER_PLACE = 320, 60
"""A wording may have so many letters, and so many more for each place."""
_FOREIGN_SHARE = 0.5
"""From this share of unknown words on, a text is not taken for English."""
_ENDINGS = (
    ("", ""),
    ("s", ""),
    ("es", ""),
    ("ed", ""),
    ("ed", "e"),
    ("ing", ""),
    ("ing", "e"),
    ("ies", "y"),
    ("ied", "y"),
    ("ly", ""),
)
_MORE_ENDINGS = (
    *_ENDINGS,
    ("er", ""),
    ("er", "e"),
    ("est", ""),
    ("est", "e"),
    ("ier", "y"),
    ("iest", "y"),
    ("ish", ""),
    ("ness", ""),
)
_CLITICS = frozenset(("'s", "'m", "'re", "'ve", "'d", "'ll", "'em"))
_MAY_ASK = {
    "open",
    "next",
    "switch",
    "clarify",
    "still_there",
    "correct",
    "revise",
    "stockout_fallback",
    "skip",
    "reject",
}
"""Acts with which a customer may ask something."""
_REQUEST = re.compile(r"\b(?:could|can|may|might|would|will|shall) (?:i|you|we|it be)\b|\bhow about\b")
_ECHO = re.compile(
    r"~\s*\?|^(?:honestly|truly|me)\?|^(?:oh|ah|um|hm+|well|,|the|and|of|for|about|dear|\s|\{(?:thing|item)_\d+\})*\?"
)
_SEEKS = re.compile(
    r"\b(?:recommend|suggest|know|tell|say|think|advise|explain|describe|clarify|mean|see if|show me what)\b"
)
_TOLD_ALONE = ("no_preference", "dont_know", "nothing_left", "confirm", "give_up", "close")
"""Acts whose phrases, made of common words, are refused where the act is not among a message's."""

_GOES_WITH: Mapping[str, tuple[str, ...]] = {
    "close": ("nothing_left", "give_up", "confirm"),
    "give_up": ("close", "nothing_left"),
    "nothing_left": ("close",),
    "confirm": ("nothing_left", "close"),
    "correct": ("confirm",),
    "reject": ("confirm", "nothing_left"),
    "skip": ("give_up",),
    "still_there": ("confirm",),
}
"""Acts that another one does by the way."""


class _Rule(NamedTuple):
    """What one kind of act may and must say."""

    must: str
    core: tuple[re.Pattern[str], ...]
    also: tuple[re.Pattern[str], ...]
    words: frozenset[str]
    near: frozenset[str]
    later: frozenset[str] = frozenset()


class _Refused(NamedTuple):
    """Common words that do harm together."""

    why: str
    patterns: tuple[re.Pattern[str], ...]
    unless: frozenset[str]
    only: frozenset[str]


class _Phrases(NamedTuple):
    """The tables of ``phrases.toml``."""

    courtesy: re.Pattern[str]
    refused: tuple[_Refused, ...]
    acts: Mapping[str, _Rule]
    asks: Mapping[str, _Rule]
    names: frozenset[str]
    slang: Mapping[str, str]


class WordingCheck:
    """Tells whether a wording says what a sheet holds and nothing else."""

    def __init__(self, sheet: Sheet, unsaid: frozenset[str] = frozenset()) -> None:
        """``unsaid`` are values and names, casefolded, that free words must not hold even if they are common words."""
        phrases = _phrases()
        self._sheet, self._unsaid = sheet, unsaid
        self._kinds = {part.kind for part in sheet.parts}
        self._marks = self._kinds | {part.about for part in sheet.parts}
        self._rules = [rule for part in sheet.parts for rule in _rules_of(part, phrases)]
        self._words = frozenset[str]().union(*(rule.words | rule.near for rule in self._rules))
        begun = " ".join(part.says for part in sheet.parts if part.kind in FIRST)
        said = frozenset(_WORD.findall(_ASIDE.sub(" ", _expanded(begun.casefold()))))
        self._near = said.union(*(rule.near for rule in self._rules))
        self._words |= said
        self._most_letters = _LETTERS + _LETTERS_PER_PLACE * len(sheet.places)

    def __call__(self, wording: str) -> Finding | None:
        """Return why a wording does not pass, None if it does."""
        text = wording.translate(_PLAIN).casefold().replace(" + ", " and ")
        text = _LONG_DRAWN.sub(r"\1", _INTERJECTION.sub("oh", text))
        finding = self._form(text) or self._places(wording)
        if finding:
            return finding
        text = text.replace('"', "")
        text = _expanded(_SLANG.sub(lambda match: _phrases().slang.get(match[0], match[0]), text))
        free = _phrases().courtesy.sub(" ~ ", text)
        return (
            self._harmful(text)
            or self._strange(free)
            or self._doings(free)
            or self._questions(free)
            or self._owners(text)
        )

    def _form(self, text: str) -> Finding | None:
        if not re.search(r"\w", text):
            return Finding(Outcome.FELL_BACK_EMPTY, "write one message")
        if len(text) > self._most_letters:
            return Finding(Outcome.FELL_BACK_LENGTH, f"use fewer than {self._most_letters} letters")
        if _MARKUP.search(PLACE.sub("", text)):
            return Finding(Outcome.FELL_BACK_BRACE, "write plain sentences, without other brackets, markup or links")
        if not text.isascii():
            return Finding(Outcome.FELL_BACK_LANGUAGE, "write plain English")
        if "\n" in text or text != text.strip():
            return Finding(Outcome.FELL_BACK_LENGTH, "write whole sentences in one line")
        return None

    def _places(self, text: str) -> Finding | None:
        written, wanted = Counter(PLACE.findall(text)), self._sheet.places
        unknown = [name for name in written if name not in wanted]
        wrong = [name for name in wanted if written[name] != 1]
        if unknown:
            return Finding(Outcome.FELL_BACK_PLACES, f"there is no place {{{unknown[0]}}}; copy the places as they are")
        if wrong:
            return Finding(Outcome.FELL_BACK_PLACES, f"write {', '.join(f'{{{name}}}' for name in wrong)} exactly once")
        return None

    def _harmful(self, text: str) -> Finding | None:
        """Find common words that do harm together."""
        for refused in _phrases().refused:
            is_left = not self._marks.isdisjoint(refused.unless) or (
                refused.only and self._marks.isdisjoint(refused.only)
            )
            for pattern in () if is_left else refused.patterns:
                if match := pattern.search(text):
                    outcome = Outcome.FELL_BACK_ROLE if "shop" in refused.why else Outcome.FELL_BACK_MEANING
                    return Finding(outcome, f"do not say '{match[0].strip()}', which {refused.why}")
        return None

    def _strange(self, free: str) -> Finding | None:
        """Find a word that no customer needs, or one that must not stand so near to a fact."""
        bare = PLACE.sub(" ", free)
        if sign := _DIGIT_OR_SIGN.search(bare):
            return Finding(Outcome.FELL_BACK_WORDS, f"do not say '{sign[0]}'; numbers are in the places")
        for value in sorted(self._unsaid):
            if re.search(rf"\b{re.escape(value)}\b", bare):
                return Finding(Outcome.FELL_BACK_WORDS, f"do not say '{value}', which you were not told to say")
        names, words = _phrases().names, _WORD.findall(bare)
        if sum(_is_foreign(word) for word in words) > max(1, _FOREIGN_SHARE * len(words)):
            return Finding(Outcome.FELL_BACK_LANGUAGE, "write plain English")
        for clause in map(_without_story, _CLAUSE.split(free)):
            tells = _TELLS.search(clause)
            names_of = tells or (PLACE.search(clause) and "clarify" not in self._kinds)
            for word in _WORD.findall(PLACE.sub(" ", clause)):
                is_near = (
                    _is_common(word)
                    or word in self._near
                    or (names_of and word in names and re.search(_NAMED % word, clause))
                )
                if not is_near and not _is_harmless(word) and word not in self._words:
                    return Finding(Outcome.FELL_BACK_WORDS, f"do not say '{word}'; say only what the places hold")
                if not is_near and tells:
                    return Finding(Outcome.FELL_BACK_MEANING, f"do not say '{word}' in '{clause.strip()}'")
        return None

    def _doings(self, free: str) -> Finding | None:
        """Find an act that the message must do and does not, or the other way round."""
        rest = free
        for rule in self._rules:
            if rule.must and not any(pattern.search(free) for pattern in (*rule.core, *rule.also)):
                return Finding(Outcome.FELL_BACK_MEANING, rule.must)
            for pattern in rule.core:
                rest = pattern.sub(" ~ ", rest)
        done = self._kinds.union(*(_GOES_WITH.get(kind, ()) for kind in self._kinds))
        for kind in _TOLD_ALONE:
            for pattern in _phrases().acts[kind].core if kind not in done else ():
                if match := pattern.search(rest):
                    return Finding(
                        Outcome.FELL_BACK_MEANING, f"do not say '{match[0].strip()}'; only what the message does"
                    )
        return None

    def _questions(self, free: str) -> Finding | None:
        """Find a question of a customer who has none to ask."""
        if self._kinds & _MAY_ASK:
            return None
        for sentence in _SENTENCE.split(free):
            is_asked = sentence.rstrip(" \"')").endswith("?") and _WORD.search(PLACE.sub("", sentence))
            is_asked = is_asked and not _ECHO.search(sentence)
            is_request = PLACE.search(sentence) and _REQUEST.search(sentence) and not _SEEKS.search(sentence)
            if is_asked and not is_request:
                return Finding(Outcome.FELL_BACK_MEANING, "tell it, ask nothing")
        return None

    def _owners(self, text: str) -> Finding | None:
        """Find a fact that stands with another item than its own: a fact belongs to the last item before it."""
        groups = [group for part in self._sheet.parts for group in part.groups]
        heads = {group[0] for group in groups if not group[0].startswith(("fact", "clause"))}
        owner = {
            name: group[0] for group in groups for name in group[1:] if group[0] in heads and name.startswith("fact")
        }
        if len(heads) > 1:
            last = ""
            for name in PLACE.findall(text):
                last = name if name in heads else last
                if name in owner and owner[name] != last:
                    return Finding(Outcome.FELL_BACK_MEANING, f"put {{{name}}} right after {{{owner[name]}}}")
        return None


def _rules_of(part: Part, phrases: _Phrases) -> Iterator[_Rule]:
    if part.kind in phrases.acts:
        yield phrases.acts[part.kind]
    for name in ("STATUS", "ARRIVAL") if part.about == "ARRIVAL" else (part.about,):
        if name in phrases.asks:
            rule = phrases.asks[name]
            yield rule if part.kind in FIRST else _Rule("", (), (), frozenset(), rule.later)


@cache
def _is_common(word: str) -> bool:
    """Tell whether any customer may use a word, even next to a fact: it or its base form stands in ``words.txt``."""
    words = _listed("words.txt")
    is_form = not _forms(word).isdisjoint(words) and word not in _listed("harmful.txt")
    return word in _CLITICS or word in words or is_form


@cache
def _is_harmless(word: str) -> bool:
    """Tell whether a customer may use a word in a clause that tells no fact: English, and not in ``harmful.txt``."""
    if _is_common(word):
        return True
    forms = _forms(word, _MORE_ENDINGS)
    is_harmful = not forms.isdisjoint(_listed("harmful.txt") | _listed("describing.txt"))
    return not is_harmful and not _forms(word).isdisjoint(_listed("english.txt"))


@cache
def _is_descriptive(word: str) -> bool:
    """Tell whether a word may describe: something else than a product, in a sentence about that."""
    forms = _forms(word, _MORE_ENDINGS)
    return not forms.isdisjoint(_listed("describing.txt")) and forms.isdisjoint(_listed("harmful.txt"))


def _is_foreign(word: str) -> bool:
    return not _is_common(word) and _forms(word).isdisjoint(_listed("english.txt"))


def _without_story(clause: str) -> str:
    """Return a clause without words that describe or negate, where it tells of the customer and of no product."""
    if not _TELLS_OF_ONESELF.search(clause) or _POINTS.search(clause) or _WANTS.search(clause):
        return clause
    if _NEGATES.search(clause) and len(_WORD.findall(clause)) < _LONG_CLAUSE:
        return clause
    return _WORD.sub(
        lambda match: "~" if _is_descriptive(match[0]) or _NEGATES.fullmatch(match[0]) else match[0], clause
    )


def _forms(word: str, endings: tuple[tuple[str, str], ...] = _ENDINGS) -> set[str]:
    """Return a word and what it may be a form of: "planning" → "plann", "planne", "plan"."""
    stems = {word.removesuffix(end) + put for end, put in endings if word.endswith(end)}
    stems |= {stem[:-1] for stem in stems if len(stem) > 3 and stem[-1] == stem[-2]}
    return {stem for stem in stems if len(stem) > 2} | {word}


@cache
def _listed(name: str) -> frozenset[str]:
    lines = files("ecom_rlve.envs.customer.check.data").joinpath(name).read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in re.findall("[a-z]+", line))


@cache
def _phrases() -> _Phrases:
    data = tomllib.loads(
        files("ecom_rlve.envs.customer.check.data").joinpath("phrases.toml").read_text(encoding="utf-8")
    )
    return _Phrases(
        _compiled(rf"(?<![\w'])(?:{'|'.join(data['courtesy'])})(?![\w'])"),
        tuple(
            _Refused(
                each["why"],
                tuple(map(_compiled, each["patterns"])),
                frozenset(each.get("unless", ())),
                frozenset(each.get("only", ())),
            )
            for each in data["refused"]
        ),
        {kind: _rule(entry) for kind, entry in data["acts"].items()},
        {name: _rule(entry) for name, entry in data["asks"].items()},
        frozenset(data["names"].split()),
        data["slang"],
    )


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(_expanded(pattern.replace(r"\w+", r"[\w']+")))


def _expanded(text: str) -> str:
    """Return a text, or a pattern, with negations written out: "can't" is "can not"."""
    for short, long in (
        ("can(?:'t|not)", "can not"),
        ("can't", "can not"),
        ("cannot", "can not"),
        ("won't", "will not"),
    ):
        text = text.replace(short, long)
    return re.sub(r"(?<=[a-z])~not", " not", text).replace("~not", r"\bnot").replace("n't", " not")


def _rule(entry: Mapping[str, Any]) -> _Rule:
    words, near, later = (frozenset(str(entry.get(name, "")).split()) for name in ("words", "near", "later"))
    core, also = (tuple(map(_compiled, entry.get(name, ()))) for name in ("core", "also"))
    return _Rule(entry.get("must", ""), core, also, words, near, later)
