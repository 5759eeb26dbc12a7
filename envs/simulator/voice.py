"""The means of speech that all acts share: sentence case, lists, and the facts of a sentence in one of three forms."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from numpy.random import Generator

from ecom_rlve.envs.simulator.acts import Fact, Mention
from ecom_rlve.envs.simulator.draws import Draws
from ecom_rlve.envs.simulator.persona import Persona
from ecom_rlve.envs.simulator.phrases import LABELS, after_noun, after_should, counted, labelled
from ecom_rlve.envs.simulator.templates import Bank

_FORMS = {"facts": after_noun, "preds": after_should, "tags": labelled}
_UNNAMED = "what I want"


class Voice:
    """One text in the making."""

    def __init__(self, persona: Persona, rng: Generator) -> None:
        self.persona = persona
        self.draws = Draws(rng)
        self.protected: list[str] = []
        """Passages that noise must not touch, as they were worded."""

    def sentence(self, text: str) -> str:
        """Return the text as a sentence begins: with a capital letter, unless the speaker is a sloppy one."""
        return text if self.persona.is_sloppy else text[:1].upper() + text[1:]

    def counted(self, mention: Mention, quantity: Fact) -> str:
        """Return the number of pieces with the noun: "three throw blankets"."""
        value = quantity.constraint.value
        if not isinstance(value, int | float):
            raise ValueError(f"a quantity is a number, not {value!r}")
        return counted(value, mention.singular, mention.plural, self.draws, self.protected)

    def worded(self, form: Literal["facts", "preds", "tags"], facts: Sequence[Fact]) -> str:
        """Return the facts as phrases after a noun, after "should", or as labels with values."""
        phrases = [_FORMS[form](fact, self.draws, self.protected) for fact in facts]
        return ", ".join(phrases) if form == "tags" else listed(phrases)

    def say(self, bank: Bank, facts: Sequence[Fact] = (), **places: str) -> str:
        """Return a sentence of the bank in the speaker's register, its places filled."""
        template = self.draws.pick(bank[self.persona.register])
        for form in ("facts", "preds", "tags"):
            if f"{{{form}}}" in template:
                places[form] = self.worded(form, facts)  # type: ignore[arg-type]  # the loop runs over the literals
        return self.sentence(template.format_map(places))


def split_quantity(mention: Mention) -> tuple[Fact | None, tuple[Fact, ...]]:
    """Return the quantity among a mention's facts, None where there is none, and the other facts."""
    quantity = next((fact for fact in mention.facts if fact.slot == "quantity"), None)
    return quantity, tuple(fact for fact in mention.facts if fact.slot != "quantity")


def named(mentions: Iterable[Mention], unnamed: str = _UNNAMED) -> str:
    """Return the items with their article, ``unnamed`` where none has a noun: "the desk lamp and the tank top"."""
    nouns = [f"the {mention.singular}" for mention in mentions if mention.singular]
    return listed(nouns) if nouns else unnamed


def things(attributes: Iterable[str]) -> str:
    """Return the labels of attributes with their articles: "the colour and the size"."""
    return listed([f"the {LABELS[name]}" for name in attributes])


def listed(parts: Sequence[str]) -> str:
    """Return "a", "a and b" or "a, b and c"."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
