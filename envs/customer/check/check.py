"""The check of a wording: places, and around them words that state no fact, negate nothing and change no act (SPEC §7).

Every value is in a place, so what is left to ask of the free words is small. Phrases of courtesy are taken out first.
What remains may hold a harmless word (``words.txt``; what the frames and ``english.txt`` hold besides ``harmful.txt``),
a word that the message's own acts need, and, where customers tell of themselves, a word of ``describing.txt``; a clause
that tells a fact takes fewer of them. Some combinations of harmless words are refused, and phrases that do what another
act does; and each act has to have been done. The phrases are in ``phrases.toml``.

Lists know neither every word of a story nor every way to lie. So a classifier of the words and of where they stand
decides last: it may excuse a word that is on no list, or a question, and refuses what looks like a lie all the same.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from ecom_rlve.envs.customer.check.classifier import classifier
from ecom_rlve.envs.customer.check.features import labels_of
from ecom_rlve.envs.customer.check.phrases import Rule, expanded, folded, phrases, spelled_out
from ecom_rlve.envs.customer.check.sheet import FIRST, PLACE, Part, Sheet
from ecom_rlve.envs.customer.check.words import (
    STATING,
    TOLD,
    WORD,
    class_of,
    is_common,
    is_english,
    is_harmless,
    without_story,
)
from ecom_rlve.envs.customer.outcome import Finding, Outcome

_MARKUP = re.compile(r"[{}\[\]<>|\\_*#`^=@~/]|https?:|www\.")
_DIGIT_OR_SIGN = re.compile(r"[\d$€£¥₹₩₺₴₫₽₪฿₦₱%+&]")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_CLAUSE = re.compile(r"[.!?,;:()]|\s-+\s|\b(?:and|but|so|because|since|while|though|although|as)\b")
_TELLS = re.compile(r"\{(?:fact|count|title|clause)_\d+\}")
_NAMED = r"\b%s(?= (?:is|should|would|has|must|needs|of|for|i|we|{)|\s*$)"
"""How the name of an attribute may stand in a clause: "the colour is …", "as for the colour, …"."""
_ASIDE = re.compile(r"\(.*?\)|\{\w+\}")
_LETTERS, _LETTERS_PER_PLACE = 320, 60
"""A wording may have so many letters, and so many more for each place."""
_FOREIGN_SHARE = 0.5
"""From this share of unknown words on, a text is not taken for English."""
_HONEST, _LIE = -64, 40
"""Log odds of a lie, times the classifier's scale: below the one a word on no list may pass, above the other nothing
does. Chosen where each writer's files in turn were held out from training; refusing costs less than a lie.
"""
_TOO_FREE = Finding(
    Outcome.FELL_BACK_MEANING, "keep closer to the message: state every place plainly, and say nothing besides"
)
_MAY_ASK = frozenset("open next switch clarify still_there correct revise stockout_fallback skip reject".split())
"""Acts with which a customer may ask something."""
_REQUEST = re.compile(r"\b(?:could|can|may|might|would|will|shall) (?:i|you|we|it be)\b|\bhow about\b")
_SEEKS = re.compile(
    r"\b(?:recommend|suggest|know|tell|say|think|advise|explain|describe|clarify|mean|see if|show me what)\b"
)
_ECHO = re.compile(
    r"~\s*\?|^(?:honestly|truly|me)\?|^(?:oh|um|hm|well|,|the|and|of|for|about|dear|\s|\{(?:thing|item)_\d+\})*\?"
)
"""A question that asks nothing: it repeats what was asked, or is a phrase of courtesy."""
_SERVICES = frozenset(("RETURN", "STATUS", "ARRIVAL", "POLICY"))
"""What is asked about orders."""
_NAMES_NOTHING = frozenset(("clarify", "reject", "confirm", "skip", "no_preference", "dont_know"))
"""Acts that name no attribute besides those in their places."""
_ENDING = ("nothing_left", "confirm", "close")
_UNWILLING = ("no_preference", "dont_know", "give_up")
"""Acts whose phrases, made of common words, are refused where the act is not among a message's; those of the second
may be courtesies: "I don't want to be a bother"."""
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


class WordingCheck:
    """Tells whether a wording says what a sheet holds and nothing else."""

    def __init__(
        self, sheet: Sheet, unsaid: frozenset[str] = frozenset(), values: frozenset[str] = frozenset()
    ) -> None:
        """``unsaid`` are names and values that this customer has in mind; free words must not hold them.

        ``values`` are words of further values, which are refused where they are no common words. All are casefolded.
        """
        self._sheet, self._unsaid, self._values = sheet, unsaid, values
        self._kinds = {part.kind for part in sheet.parts}
        self._labels = labels_of(sheet)
        self._marks = self._kinds | {part.about for part in sheet.parts}
        self._rules = [rule for part in sheet.parts for rule in _rules_of(part)]
        self._words = frozenset[str]().union(*(rule.words | rule.near for rule in self._rules))
        begun = " ".join(part.says for part in sheet.parts if part.kind in FIRST)
        said = frozenset(WORD.findall(_ASIDE.sub(" ", expanded(begun.casefold()))))
        self._near = said.union(*(rule.near for rule in self._rules))
        self._words |= said
        self._most_letters = _LETTERS + _LETTERS_PER_PLACE * len(sheet.places)

    def __call__(self, wording: str) -> Finding | None:
        """Return why a wording does not pass, None if it does."""
        text = folded(wording)
        finding = self._form(text) or self._places(wording)
        if finding:
            return finding
        text = spelled_out(text)
        free = phrases().courtesy.sub(" ~ ", text)
        strange = list(self._strange(free))
        finding = self._harmful(text) or self._numbers(text, free) or _first(each for each in strange if each[0])
        finding = finding or self._undone(free) or self._doings(free, _ENDING)
        if finding := finding or self._owners(text):
            return finding
        score = classifier().score(self._labels, text)
        if finding := _first(strange) or self._doings(free, _UNWILLING) or self._questions(free):
            return finding if score > _HONEST else None
        return _TOO_FREE if score > _LIE else None

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
        for refused in phrases().refused:
            is_fine = self._marks & refused.unless or (refused.only and not self._marks & refused.only)
            for pattern in () if is_fine else refused.patterns:
                if match := pattern.search(text):
                    outcome = Outcome.FELL_BACK_ROLE if "shop" in refused.why else Outcome.FELL_BACK_MEANING
                    return Finding(outcome, f"do not say '{match[0].strip()}', which {refused.why}")
        return None

    def _numbers(self, text: str, free: str) -> Finding | None:
        """Find a number, a value that this customer has in mind, or another language."""
        bare = PLACE.sub(" ", free)
        if sign := _DIGIT_OR_SIGN.search(bare):
            return Finding(Outcome.FELL_BACK_WORDS, f"do not say '{sign[0]}'; numbers are in the places")
        for value in sorted(self._unsaid):
            # A phrase of courtesy may hold a word, but no part of a value of several.
            if re.search(rf"\b{re.escape(value)}\b", bare if value.isalpha() else PLACE.sub(" ", text)):
                return Finding(Outcome.FELL_BACK_WORDS, f"do not say '{value}', which you were not told to say")
        words = WORD.findall(bare)
        if sum(not is_english(word) for word in words) > max(1, _FOREIGN_SHARE * len(words)):
            return Finding(Outcome.FELL_BACK_LANGUAGE, "write plain English")
        return None

    def _strange(self, free: str) -> Iterator[tuple[bool, Finding]]:
        """Yield whether it is sure, and why, for each word that no customer needs or that must not be near a fact."""
        is_service = bool(self._marks & _SERVICES)
        for clause in (without_story(each, is_service) for each in _CLAUSE.split(free)):
            tells = _TELLS.search(clause)
            names_of = tells or (PLACE.search(clause) and not self._kinds & _NAMES_NOTHING)
            for word in WORD.findall(PLACE.sub(" ", clause)):
                is_named = names_of and word in phrases().names and re.search(_NAMED % word, clause)
                if is_common(word) or word in self._near or is_named:
                    continue
                kind = class_of(word)
                states = word in self._values | phrases().names or kind in STATING
                is_sure = states or (kind not in TOLD and PLACE.search(clause) is not None)
                if word not in self._words and (word in self._values or not is_harmless(word)):
                    yield (
                        is_sure,
                        Finding(Outcome.FELL_BACK_WORDS, f"do not say '{word}'; say only what the places hold"),
                    )
                elif tells:
                    yield is_sure, Finding(Outcome.FELL_BACK_MEANING, f"do not say '{word}' in '{clause.strip()}'")

    def _undone(self, free: str) -> Finding | None:
        """Find an act that the message must do and does not."""
        for rule in self._rules:
            if rule.must and not any(pattern.search(free) for pattern in (*rule.core, *rule.also)):
                return Finding(Outcome.FELL_BACK_MEANING, rule.must)
        return None

    def _doings(self, free: str, kinds: Iterable[str]) -> Finding | None:
        """Find an act that the message does and must not."""
        rest = free
        for rule in self._rules:
            for pattern in rule.core:
                rest = pattern.sub(" ~ ", rest)
        done = self._kinds.union(*(_GOES_WITH.get(kind, ()) for kind in self._kinds))
        for kind in kinds:
            for pattern in phrases().acts[kind].core if kind not in done else ():
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
            is_asked = sentence.rstrip(" \"')").endswith("?") and WORD.search(PLACE.sub("", sentence))
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


def _first(strange: Iterable[tuple[bool, Finding]]) -> Finding | None:
    return next((finding for _, finding in strange), None)


def _rules_of(part: Part) -> Iterator[Rule]:
    tables = phrases()
    if part.kind in tables.acts:
        yield tables.acts[part.kind]
    for name in ("STATUS", "ARRIVAL") if part.about == "ARRIVAL" else (part.about,):
        if name in tables.asks:
            rule = tables.asks[name]
            yield rule if part.kind in FIRST else Rule("", near=rule.later)
