"""Words one reply: picks frames from the bank, fills them, and remembers what noise must not change."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache, lru_cache

from numpy.random import Generator

from ecom_rlve.catalog.constraints import Op
from ecom_rlve.envs.language.acts import Fact, Mention
from ecom_rlve.envs.language.frames import (
    DEFAULT_BANK,
    RELATIVE,
    Agreement,
    Bank,
    Frame,
    Frames,
    Place,
    Pool,
    acts_in_bank,
)
from ecom_rlve.envs.language.noise import NEGATION
from ecom_rlve.envs.language.persona import PERSONAS, Persona
from ecom_rlve.envs.language.phrases import (
    LABELS,
    bounds_of,
    counts,
    frames_of,
    is_exact,
    label_of,
    limit_of,
    own_spellings,
    ranges,
)
from ecom_rlve.envs.language.spelling import american
from ecom_rlve.streams import Draws

_SENTENCE_START = re.compile(r"(?:^|(?<=[.!?] ))(?!I\b)[A-Z](?![A-Z])")
_ENDS = (". ", "! ", "? ")
_LABEL = "label_"
"""Tables of names for attributes begin with this."""
_BARE_SHARE = 0.5
"""Share of statements without a frame around them: people answer "In black." as often as in a whole sentence."""
_EXCITED_SHARE = 0.4
"""Share of a chatty customer's bare statements that end in "!": more would shout."""
_WORDS_OF_A_SHORT_NAME = 2
_ONE_ARTICLE_SHARE = 0.6
"""Share of lists of short names with a single article: "the colour and size"."""
_ITEM_FACTS = "{item} {facts}"
PROTECTED_PLACES = ("title", "date", "money", "number")
"""Places of an environment's frames whose text noise must not change."""


class Speaker:
    """The persona, the random draws and the protected passages of one reply."""

    __slots__ = ("bank", "draws", "frames", "is_american", "persona", "protected")

    def __init__(
        self, persona: Persona, rng: Generator, bank: Bank = DEFAULT_BANK, *, is_american: bool = False
    ) -> None:
        self.persona = persona
        self.draws = Draws(rng)
        self.bank = bank
        self.is_american = is_american
        self.protected: list[str] = []
        self.frames: list[str] = []
        """Texts of the frames that were said."""

    def say(self, table: str | Frames, facts: Sequence[Fact] = (), *, of: Mention | None = None, **places: str) -> str:
        """Return one of the frames with its places filled; its place for facts decides in which form they are.

        ``of`` is the item that the facts are about, and that ``{item}`` names where ``places`` do not. Names of frames
        are those of the common bank.
        """
        found = self.bank.act(table) if isinstance(table, str) else self.bank.frames(table)
        frames = found.of(self.persona)
        if not all(map(_has_label, facts)):
            frames = frames.without_tags or frames
        chosen = self.draws.pick(frames.frames)
        self.frames.append(chosen.text)
        self.protected += _negations(chosen.text)
        for place, make in _FACT_PLACES.items():
            if place in chosen.places:
                places[place] = make(self, facts, of)
        if "facts" in chosen.places:
            places["facts"] = _nouns(self, facts, of, is_after_noun=_ITEM_FACTS in chosen.text)
        if "item" in chosen.places and "item" not in places:
            # No phrase can follow a pronoun: "it in black".
            places["item"] = definite(of, may_be_pronoun="facts" not in chosen.places)
        return self.filled(chosen, places, is_many=_is_many(of), is_sentence=not found.is_phrase)

    def filled(self, chosen: Frame, places: dict[str, str], *, is_many: bool = False, is_sentence: bool = False) -> str:
        """Return a frame with its places filled. In a sentence its first letter is written as the customer does."""
        text = ""
        for part in chosen.american_parts if self.is_american else chosen.parts:
            if isinstance(part, Place):
                piece = places[part.name]
                if is_sentence and not self.persona.is_sloppy and (not text or text.endswith(_ENDS)):
                    piece = piece[:1].upper() + piece[1:]
            elif isinstance(part, Agreement):
                piece = part.many if is_many else part.one
            elif isinstance(part, tuple):
                piece = self.draws.pick(part)
            else:
                piece = part
            if is_sentence and self.persona.is_sloppy and not isinstance(part, Place):
                piece = _lowered(piece, is_first=not text)
            text += piece
        return text

    def phrased(self, fact: Fact, form: str, of: Mention | None = None) -> str:
        """Return a fact in a form: ``before``, ``noun``, ``should`` or ``clause``."""
        return self._phrased(fact, frames_of(fact, form, self.bank), of)

    def _phrased(self, fact: Fact, frames: Pool, of: Mention | None) -> str:
        chosen = self._picked(frames, fact)
        label = LABELS.get(fact.constraint.attribute, label_of(fact))
        # "Find me it" is no English.
        may_be_pronoun = "me {item}" not in chosen.text
        places = {"label": self.spelt(label), "item": definite(of, may_be_pronoun=may_be_pronoun)}
        if "bound" in chosen.places:
            places["bound"] = self.bounded(fact)
        return self._kept(fact, self.filled(chosen, places | self._value(fact, chosen), is_many=_is_many(of)))

    def _picked(self, frames: Pool, fact: Fact) -> Frame:
        """Pick a frame, if possible one that does not say a value's first or last word again: "in oven-style style"."""
        chosen = self.draws.pick(frames.frames)
        value = fact.constraint.value
        if isinstance(value, int | float) or (ends := _ends_of(value)).isdisjoint(chosen.beside):
            return chosen
        return self.draws.pick(tuple(each for each in frames.frames if ends.isdisjoint(each.beside)) or frames.frames)

    def _value(self, fact: Fact, chosen: Frame) -> dict[str, str]:
        """Return what fills the places of a frame that are for the value itself."""
        if "limit" in chosen.places:
            return {"limit": limit_of(fact)}
        if "low" in chosen.places:
            low, high = self.draws.pick(ranges(fact))
            return {"low": low, "high": high}
        return {"value": self.draws.pick(_after_between(fact) or own_spellings(fact))}

    def _kept(self, fact: Fact, text: str) -> str:
        """Return a text; noise will leave it alone if it states something exact."""
        if is_exact(fact):
            self.protected.append(text)
        return text

    def free_phrase(self, fact: Fact, of: Mention | None) -> str:
        """Return a fact as a phrase after a noun that is not there: "in black", never "that comes in black"."""
        found = frames_of(fact, "noun", self.bank)
        return self._phrased(fact, found.free or found, of)

    def bounded(self, fact: Fact) -> str:
        """Return a value with its direction: "at most 3 kg"."""
        chosen = self.draws.pick(bounds_of(fact, self.bank).frames)
        return self._kept(fact, self.filled(chosen, self._value(fact, chosen)))

    def tagged(self, facts: Sequence[Fact]) -> str:
        """Return facts as labels with values: "colour black, price up to $30"; "Size 8" needs no label."""
        return ", ".join([self._tag(fact) for fact in self.draws.shuffled(facts)])

    def _tag(self, fact: Fact) -> str:
        label, value = self.label(fact), self.bounded(fact)
        return value if value.casefold().startswith(f"{label} ") else f"{label} {value}"

    def label(self, fact: Fact) -> str:
        """Return what this customer calls a fact's kind."""
        return self.spelt(label_of(fact))

    def spelt(self, text: str) -> str:
        """Return a British text in this customer's spelling."""
        return american(text) if self.is_american else text

    def stated(self, frames: str, facts: Sequence[Fact], of: Mention | None) -> str:
        """Return facts in a frame around their statements, or, as often, the statements alone."""
        if self.draws.uniform() >= _BARE_SHARE:
            return self.say(frames, facts, of=of)
        end = "!" if self.persona.register == "chatty" and self.draws.uniform() < _EXCITED_SHARE else "."
        return self.capitalised(f"{_clauses(self, facts, of)}{end}")

    def clause(self, fact: Fact, of: Mention | None) -> str:
        """Return a fact as a statement of its own, which names the item unless it is clear."""
        found = frames_of(fact, "clause", self.bank)
        if of is not None and not of.pronoun:
            found = found.naming or found
        return self._phrased(fact, found, of)

    def things(self, attributes: Sequence[str], last: str = " and ") -> str:
        """Return "the colour and the size", each by one of its names, or "the colour and size" where all are short."""
        names = [self._called(name) for name in attributes]
        is_short = max((name.count(" ") for name in names), default=0) < _WORDS_OF_A_SHORT_NAME
        if is_short and self.draws.uniform() < _ONE_ARTICLE_SHARE:
            return f"the {joined(names, last=last)}"
        return joined([f"the {name}" for name in names], last=last)

    def _called(self, name: str) -> str:
        """Return what this customer calls an attribute; without names in the bank its own is used."""
        if f"{_LABEL}{name}" in acts_in_bank():
            return self.say(f"{_LABEL}{name}")
        return self.spelt(LABELS.get(name, name.replace("_", " ")))

    def counted(self, mention: Mention) -> str:
        """Return "three throw blankets", or only the count if the item has no noun."""
        count = self.draws.pick(counts(mention.quantity))
        noun = mention.plural if mention.is_many else mention.singular
        if not noun and count == "a single":
            count = "one"
        self.protected.append(count)
        return f"{count} {noun}" if noun else count

    def capitalised(self, text: str) -> str:
        """Return the text with its first letter as this customer begins sentences."""
        if self.persona.is_sloppy:
            return _lowered(text, is_first=True)
        return text[:1].upper() + text[1:]


def phrase(frames: Frames, rng: Generator, bank: Bank, **places: str) -> str:
    """Return one of the phrases of a table with its places filled."""
    return Speaker(PERSONAS[0], rng, bank).say(frames, (), of=None, **places)


@lru_cache(maxsize=1 << 12)
def _ends_of(value: str | tuple[str, ...] | tuple[float, float]) -> frozenset[str]:
    """Return the first and the last word of a value, in small letters."""
    words = re.findall(r"[\w']+", (value if isinstance(value, str) else " ".join(map(str, value))).casefold())
    return frozenset((*words[:1], *words[-1:]))


def _lowered(piece: str, *, is_first: bool) -> str:
    return _SENTENCE_START.sub(lambda found: found[0].lower() if found.start() or is_first else found[0], piece)


def _after_between(fact: Fact) -> tuple[str, ...]:
    """Return a range as it stands after "between"; nothing for other facts."""
    return tuple(f"{low} and {high}" for low, high in ranges(fact)) if fact.constraint.op is Op.BETWEEN else ()


def _has_label(fact: Fact) -> bool:
    """Tell whether a label and the value tell the fact: "colour black", not "on the list a lamp"."""
    return fact.kind is None or not fact.kind.is_of_all or not isinstance(fact.constraint.value, str)


def _is_many(of: Mention | None) -> bool:
    return of is not None and of.is_many


def _nouns(speaker: Speaker, facts: Sequence[Fact], of: Mention | None, *, is_after_noun: bool = True) -> str:
    shuffled = speaker.draws.shuffled(facts)
    if is_after_noun:
        return joined(in_order([speaker.phrased(fact, "noun", of) for fact in shuffled]))
    return joined([speaker.free_phrase(fact, of) for fact in shuffled])


def _shoulds(speaker: Speaker, facts: Sequence[Fact], of: Mention | None) -> str:
    return joined([speaker.phrased(fact, "should", of) for fact in speaker.draws.shuffled(facts)])


def _tags(speaker: Speaker, facts: Sequence[Fact], _: Mention | None) -> str:
    return speaker.tagged(facts)


def _clauses(speaker: Speaker, facts: Sequence[Fact], of: Mention | None) -> str:
    return joined([speaker.clause(fact, of) for fact in speaker.draws.shuffled(facts)])


_FACT_PLACES: dict[str, Callable[[Speaker, Sequence[Fact], Mention | None], str]] = {
    "preds": _shoulds,
    "tags": _tags,
    "clause": _clauses,
    "clauses": _clauses,
}


def in_order(phrases: list[str]) -> list[str]:
    """Return phrases after a noun with relative clauses last: what follows one would seem to belong to it."""
    return sorted(phrases, key=lambda phrase: phrase.startswith(RELATIVE))


def joined(parts: Sequence[str], comma: str = ", ", last: str = " and ") -> str:
    """Return "a, b and c"."""
    if len(parts) < 2:
        return "".join(parts)
    return comma.join(parts[:-1]) + last + parts[-1]


def definite(mention: Mention | None, *, may_be_pronoun: bool = True) -> str:
    """Return "it" where that is clear, else "the desk lamp"; "that" for an item without a noun."""
    if mention is None:
        return "that"
    if mention.pronoun and may_be_pronoun:
        return mention.pronoun
    noun = mention.plural if mention.is_many else mention.singular
    return f"the {noun}" if noun else "that"


def named(mentions: Sequence[Mention], otherwise: str = "that") -> str:
    """Return "the desk lamp and the charger", or ``otherwise`` if no mention has a noun."""
    return joined([f"the {mention.singular}" for mention in mentions if mention.singular]) or otherwise


@cache
def _negations(text: str) -> tuple[str, ...]:
    return tuple(NEGATION.findall(text))
