"""Words one reply: picks sentences from the banks and remembers what noise must not change."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from numpy.random import Generator

from ecom_rlve.envs.language.acts import Bank, Fact, Mention
from ecom_rlve.envs.language.noise import NEGATION
from ecom_rlve.envs.language.persona import Persona
from ecom_rlve.envs.language.phrases import LABELS, after_noun, after_should, counted, labelled
from ecom_rlve.streams import Draws

_FACT_PLACES = {"facts": after_noun, "preds": after_should, "tags": labelled}
_SEPARATORS = {"facts": (", ", " and "), "preds": (", ", " and "), "tags": (", ", ", ")}


class Speaker:
    """The persona, the random draws and the protected passages of one reply."""

    __slots__ = ("draws", "persona", "protected")

    def __init__(self, persona: Persona, rng: Generator) -> None:
        self.persona = persona
        self.draws = Draws(rng)
        self.protected: list[str] = []

    def say(self, bank: Bank, facts: Sequence[Fact] = (), **places: str) -> str:
        """Return a sentence of the bank with its places filled; its place for facts decides in which form they are."""
        template = self.draws.pick(bank[self.persona.register])
        self.protected += _negations(template)
        for place in _fact_places(template):
            places[place] = self.worded(place, facts)
        return self.sentence(template.format_map(places))

    def sentence(self, text: str) -> str:
        """Return the text with a capital or small first letter, as this customer writes sentences."""
        is_abbreviation = text[:2].isupper()
        first = text[:1]
        return (first.lower() if self.persona.is_sloppy and not is_abbreviation else first.upper()) + text[1:]

    def worded(self, place: str, facts: Sequence[Fact]) -> str:
        """Return the facts in random order as ``facts`` (after a noun), ``preds`` (after "should") or ``tags``."""
        form = _FACT_PLACES[place]
        comma, last = _SEPARATORS[place]
        return joined([form(fact, self.draws, self.protected) for fact in self.draws.shuffled(facts)], comma, last)

    def counted(self, mention: Mention, quantity: Fact) -> str:
        """Return "three throw blankets"."""
        value = quantity.constraint.value
        if not isinstance(value, int | float):
            raise TypeError(f"a quantity is a whole number, not {value!r}")
        return counted(value, mention.singular, mention.plural, self.draws, self.protected)


def joined(parts: Sequence[str], comma: str = ", ", last: str = " and ") -> str:
    """Return "a, b and c"."""
    if len(parts) < 2:
        return "".join(parts)
    return comma.join(parts[:-1]) + last + parts[-1]


def split_quantity(mention: Mention) -> tuple[Fact | None, list[Fact]]:
    """Return the mention's quantity, None if it has none, and its other facts."""
    quantity, others = None, []
    for fact in mention.facts:
        if fact.slot == "quantity":
            quantity = fact
        else:
            others.append(fact)
    return quantity, others


def split_circumstances(facts: Sequence[Fact]) -> tuple[list[Fact], list[Fact]]:
    """Return the facts that say how things are, and those that say how something should be."""
    told: list[Fact] = []
    wished: list[Fact] = []
    for fact in facts:
        (told if fact.kind is not None and fact.kind.is_circumstance else wished).append(fact)
    return told, wished


def split_wishes(facts: Sequence[Fact]) -> tuple[list[Fact], list[Fact]]:
    """Return the facts that are preferences, and the others."""
    return [fact for fact in facts if fact.is_wish], [fact for fact in facts if not fact.is_wish]


def named(mentions: Sequence[Mention], otherwise: str = "that") -> str:
    """Return "the desk lamp and the charger", or ``otherwise`` if no mention has a noun."""
    return joined([f"the {mention.singular}" for mention in mentions if mention.singular]) or otherwise


def things(attributes: Sequence[str]) -> str:
    """Return "the colour and the size"; a name without a label is used as it is."""
    return joined([f"the {LABELS.get(name, name.replace('_', ' '))}" for name in attributes])


@cache
def _negations(template: str) -> tuple[str, ...]:
    return tuple(NEGATION.findall(template))


@cache
def _fact_places(template: str) -> tuple[str, ...]:
    return tuple(place for place in _FACT_PLACES if "{" + place + "}" in template)
