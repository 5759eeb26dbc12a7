"""Whether a text says the facts of the acts: each value exactly, with the right bound, and about the right thing."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ecom_rlve.catalog.constraints import Op
from ecom_rlve.envs.customer.check.cues import DENIED, HEDGE, NEGATION, OR_ELSE, TAKEN_BACK
from ecom_rlve.envs.customer.check.lexicon import grams
from ecom_rlve.envs.customer.check.sheet import COVER, Sheet, folded, phrases_in
from ecom_rlve.envs.customer.check.values import NAMES, is_slip, rivals_of, shape_of, wanted_of
from ecom_rlve.envs.language.acts import Fact, Mention

_ENDS_NAME = frozenset(
    [
        "and",
        "or",
        "with",
        "for",
        "in",
        "of",
        "but",
        "also",
        "the",
        "plus",
        "as",
        "from",
        "to",
        "that",
        "then",
        "is",
        "are",
        "should",
        "must",
        "has",
        "have",
        "my",
        "your",
        "this",
        "it",
        "at",
        "by",
        "on",
    ]
)
"""Words that end a description: what stands before one of them is no property of a noun after it."""
_BEFORE_NOUN = 4
"""Most words between a number or a property and the noun that it belongs to."""
_STANDS_FOR_ITSELF = re.compile(
    r"^(?:[.,;!?)]|$| please| of (?:them|it|those)| in total| altogether| will do| pieces?| units?)"
)
_UNIT = re.compile(r" ?(?:%|(?:days?|weeks?|hours?|h|g|kg|grams|kilos|cm|mm|m|ml|l|litres|w|watts|inch|dollars)\b)")
_NEAR = 60
"""How many letters before a value its name is looked for in."""
_CONNECTING = re.compile(r"(?:\b(?:is|are|should|must|has|to|be|from|by|of|in|made|as|the|an?)\b|[ :])+$")
_TOKEN = re.compile(r"[^\s]+")


@dataclass(slots=True)
class Found:
    """The result of a search for facts."""

    missing: list[str] = field(default_factory=list)
    """What is not said, or not exactly; in words for a retry."""
    twisted: list[str] = field(default_factory=list)
    """What is said about the wrong item, or negated."""


class Noun(NamedTuple):
    """A thing named in the text."""

    start: int
    end: int
    thing: str
    is_plural: bool


class _Place(NamedTuple):
    start: int
    end: int
    candidates: tuple[int, ...]
    """Positions of the facts that are spelled like this."""
    op: Op | None
    """The bound of a number there; None if it is unclear."""


class FactFinder:
    """Looks for the facts of acts in a text. Immutable; :meth:`search` covers what it finds in a sheet."""

    def __init__(
        self,
        mentions: Sequence[Mention],
        others: Iterable[Fact],
        nouns: Iterable[str],
        vocabulary: Callable[[Fact], frozenset[str]],
    ) -> None:
        """``others`` are all facts that the customer can say; ``nouns`` are the nouns of all goods, casefolded;
        ``vocabulary`` returns the values that a fact could have.
        """
        self.wanted = wanted_of(mentions)
        self.nouns = _noun_table(mentions)
        self._longer_nouns = _longer(nouns, self.nouns)
        self._around_nouns = tuple(
            text
            for wanted in self.wanted
            for text in wanted.spelled
            if wanted.shape == "word" and any(noun in text for noun, _, _ in self.nouns)
        )
        self._vocabulary = vocabulary
        self._owned = {wanted.thing for wanted in self.wanted if wanted.thing}
        shapes: dict[str, list[Fact]] = {}
        for fact in dict.fromkeys((*others, *(wanted.fact for wanted in self.wanted))):
            shapes.setdefault(shape_of(fact), []).append(fact)
        self._rivals = tuple(rivals_of(wanted, shapes[wanted.shape]) for wanted in self.wanted)

    def search(self, sheet: Sheet, nouns: Sequence[Noun]) -> Found:
        """Cover every fact that the text says about the things ``nouns``; return what is missing or twisted."""
        found, said = Found(), set[int]()
        self._find_counts(sheet, nouns, said)
        for place in self._places(sheet):
            self._judge(sheet, place, nouns, said, found)
        self._find_slips(sheet, nouns, said, found)
        named = {noun.thing for noun in nouns}
        for at, wanted in enumerate(self.wanted):
            if at not in said and not (wanted.shape == "need" and wanted.needed in named):
                found.missing.append(wanted.demand)
        return found

    def around(self, phrase: str) -> tuple[str, ...]:
        """Return the spellings of facts that contain a phrase and are longer than it."""
        spelled = (text for wanted in self.wanted for text in wanted.spelled)
        return tuple(text for text in spelled if phrase in text and phrase != text)

    def find_nouns(self, sheet: Sheet) -> list[Noun]:
        """Cover the things that the text names; return them in the order of the text."""
        around = (*self._around_nouns, *self._longer_nouns)
        inside = [(at, at + len(text)) for text in around for at in phrases_in(sheet.rest, text)]
        nouns = []
        for spelled, thing, is_plural in self.nouns:
            for at in phrases_in(sheet.rest, spelled):
                # A noun inside a value ("a new lamp") is left for the search for values.
                if not any(start <= at and at + len(spelled) <= end for start, end in inside):
                    sheet.cover(at, at + len(spelled))
                    nouns.append(Noun(at, at + len(spelled), thing, is_plural))
        return sorted(nouns)

    def _find_counts(self, sheet: Sheet, nouns: Sequence[Noun], said: set[int]) -> None:
        for at, wanted in enumerate(self.wanted):
            if wanted.shape != "count":
                continue
            for noun in nouns:
                if noun.thing == wanted.thing and (span := _count_before(sheet, noun.start, wanted.spelled)):
                    sheet.cover(*span)
                    said.add(at)
            is_alone = not wanted.thing or len({thing for _, thing, _ in self.nouns}) == 1
            for spelled in wanted.spelled if at not in said and is_alone else ():
                for start in phrases_in(sheet.rest, spelled):
                    if _STANDS_FOR_ITSELF.match(sheet.rest[start + len(spelled) :]):
                        sheet.cover(start, start + len(spelled))
                        said.add(at)

    def _places(self, sheet: Sheet) -> list[_Place]:
        """Cover the spellings of facts, longest first, and the words that bound numbers; return where they stand."""
        spelled: dict[str, list[int]] = {}
        for at, wanted in enumerate(self.wanted):
            for text in wanted.spelled if wanted.shape not in ("count", "need") else ():
                spelled.setdefault(text, []).append(at)
        spans: list[tuple[int, int, tuple[int, ...]]] = []
        for text in sorted(spelled, key=lambda text: (-len(text), text)):
            spans += [(start, start + len(text), tuple(spelled[text])) for start in sheet.cover_all(text)]
        places = []
        for start, end, candidates in sorted(spans):
            op: Op | None = Op.EQ
            if self.wanted[candidates[0]].shape not in ("word", "phrase"):
                bounds = sheet.bounds(start, end)
                op = bounds.op
                for span in bounds.spans:
                    sheet.cover(*span)
            places.append(_Place(start, end, candidates, op))
        return places

    def _judge(self, sheet: Sheet, place: _Place, nouns: Sequence[Noun], said: set[int], found: Found) -> None:
        fitting = [at for at in place.candidates if self._is_bounded(at, place.op)]
        if not fitting:
            # With another bound it is another value. It is refused even if the right one is said too.
            found.missing.append(self.wanted[place.candidates[0]].demand)
            return
        text = sheet.whole[place.start : place.end]
        named = [at for at in fitting if self._is_named(sheet, place, at)]
        if not named:
            if text not in NAMES:
                found.twisted.append(f"'{text}' was called something that it is not")
            return
        owner = self._owner(sheet, place, nouns)
        owned = [at for at in named if owner is None or self._is_free(at) or self.wanted[at].thing == owner]
        if not owned:
            found.twisted.append(f"'{text}' was said of the {owner}, which it is not about")
            return
        clause = sheet.clause(place.start, place.end)
        behind = sheet.rest[place.end : sheet.sentence(place.start)[1]]
        # What is only preferred is said softly.
        is_wish = all(self.wanted[at].fact.is_wish for at in owned)
        turned = (
            NEGATION.search(clause)
            or (not is_wish and HEDGE.search(clause))
            or OR_ELSE.search(behind)
            or TAKEN_BACK.search(behind)
            or DENIED.search(sheet.rest[: place.start])
        )
        if turned:
            found.twisted.append(f"'{text}' was turned around or softened by '{turned[0].strip()}'")
            return
        said.update(owned)

    def _is_bounded(self, at: int, op: Op | None) -> bool:
        wanted = self.wanted[at]
        if wanted.shape in ("word", "phrase") or wanted.fact.spelled:
            return op is Op.EQ
        return op is wanted.fact.constraint.op

    def _owner(self, sheet: Sheet, place: _Place, nouns: Sequence[Noun]) -> str | None:
        """Return the thing that a value is said about: the noun right after it, else the last noun before it."""
        if len(self._owned) < 2:
            return None
        following = next((noun for noun in nouns if noun.start >= place.end), None)
        if following is not None and _is_before_noun(sheet.rest[place.end : following.start]):
            return following.thing
        before = [noun.thing for noun in nouns if noun.end <= place.start]
        return before[-1] if before else following.thing if following is not None else None

    def _is_free(self, at: int) -> bool:
        """Tell whether a fact can be about one thing only, so that it may stand anywhere."""
        kind = self.wanted[at].fact.kind
        things = {other.thing for other in self.wanted if other.fact.kind == kind}
        return not self.wanted[at].thing or (kind is not None and len(things) == 1)

    def _is_named(self, sheet: Sheet, place: _Place, at: int) -> bool:
        """Tell whether a value is called by its own name if it could be taken for something else.

        A number may also have no name at all.
        """
        rivals, own = self._rivals[at]
        if sheet.whole[place.end - 1].isdigit() and _UNIT.match(sheet.whole, place.end):
            return False
        if self.wanted[at].shape == "word":
            # Only a name directly before the value counts: in "halter style with a floral pattern", "style" does not
            # name "floral".
            is_rival = _CONNECTING.sub("", sheet.rest[max(0, place.start - _NEAR) : place.start]).endswith(rivals)
        else:
            near = sheet.near(place.start, place.end)
            is_rival = any(True for name in rivals for _ in phrases_in(near, name))
        if is_rival:
            return False
        if not own:
            return True
        sentence = sheet.rest[slice(*sheet.sentence(place.start))]
        return any(True for name in own for _ in phrases_in(sentence, name))

    def _find_slips(self, sheet: Sheet, nouns: Sequence[Noun], said: set[int], found: Found) -> None:
        """Accept a word that is one slip away from a missing value and as near to no other value of its attribute."""
        missing = [at for at, wanted in enumerate(self.wanted) if at not in said and wanted.shape == "word"]
        for at in missing:
            value, vocabulary = self.wanted[at].spelled[0], self._vocabulary(self.wanted[at].fact)
            for text, start in grams(sheet.rest):
                if is_slip(text, value, vocabulary):
                    sheet.cover(start, start + len(text))
                    self._judge(sheet, _Place(start, start + len(text), (at,), Op.EQ), nouns, said, found)
                    break


def _noun_table(mentions: Sequence[Mention]) -> tuple[tuple[str, str, bool], ...]:
    """Return nouns as (spelling, thing, whether plural), longest first."""
    table: dict[str, tuple[str, bool]] = {}
    for mention in mentions:
        thing = folded(mention.singular)
        for fact in mention.facts:
            if shape_of(fact) == "need":
                needed = folded(str(fact.constraint.value))
                table.setdefault(needed, (needed, False))
        if thing:
            table[folded(mention.plural)] = (thing, True)
            table[thing] = (thing, False)
    return tuple((spelled, *table[spelled]) for spelled in sorted(table, key=lambda text: (-len(text), text)))


def _longer(nouns: Iterable[str], table: Sequence[tuple[str, str, bool]]) -> tuple[str, ...]:
    """Return the nouns of other things that contain one of the table: "dress shirt" does not mention a dress."""
    own = {spelled for spelled, _, _ in table}
    return tuple(noun for noun in nouns if noun not in own and any(spelled in noun for spelled in own))


def _count_before(sheet: Sheet, start: int, spelled: Sequence[str]) -> tuple[int, int] | None:
    """Return where a count stands before a noun, with at most a few describing words between them; None if nowhere."""
    left = max(0, start - 60)
    words = [(match[0], left + match.start()) for match in _TOKEN.finditer(sheet.rest[left:start])]
    for word, at in reversed(words[-_BEFORE_NOUN - 1 :]):
        for text in spelled:
            if sheet.rest.startswith(text, at) and any(begin == at for begin in phrases_in(sheet.rest, text)):
                return at, at + len(text)
        if word in _ENDS_NAME or word[-1] in ",.;:!?":
            return None
    return None


def _is_before_noun(between: str) -> bool:
    """Tell whether the words between a value and a noun allow the value to be a property of that noun."""
    words = between.replace(COVER, " ").split()
    return len(words) < _BEFORE_NOUN and not any(word in _ENDS_NAME or not word.isalpha() for word in words)
