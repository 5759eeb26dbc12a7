"""What the customer does, before it is worded: acts and the facts they carry.

Code picks acts; wording only spells them (SPEC §7). A reply is a tuple of acts in the order in which they are said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from ecom_rlve.catalog.constraints import Constraint
from ecom_rlve.envs.language.persona import Register


class ActKind(StrEnum):
    """What the customer can do with a sentence."""

    OPEN = "open"
    """Begin: say what is wanted, with the facts of each item."""
    ANSWER = "answer"
    """Tell facts that were asked for."""
    DONT_KNOW = "dont_know"
    """Say that no customer could know this (ids, stock)."""
    NO_PREFERENCE = "no_preference"
    """Say that the goal leaves this free."""
    NOTHING_LEFT = "nothing_left"
    """Say that everything has been told."""
    CONFIRM = "confirm"
    """Say that all is right, once per intent."""
    CORRECT = "correct"
    """Say that a slot of a wanted item is wrong; with the wanted value where it was said before."""
    SKIP = "skip"
    """Ask to leave a mistake that was named three times."""
    REJECT = "reject"
    """Say that something in the cart, or something proposed, does not fit, without saying which."""
    CONTINUE = "continue"
    """Acknowledge; nothing to add."""
    STOCKOUT_FALLBACK = "stockout_fallback"
    """Told that a wanted thing is sold out: say what to take instead, or to leave it out."""
    STILL_THERE = "still_there"
    """Told that something is sold out which is not: say so."""
    SWITCH = "switch"
    NEXT = "next"
    GIVE_UP = "give_up"
    """Leave: patience is at its end."""
    CLOSE = "close"


Bank = Mapping[Register, tuple[str, ...]]
"""Sentences by the register of the speaker, with places in braces."""


@dataclass(frozen=True, slots=True)
class SlotKind:
    """A kind of fact that the catalog's attributes do not know: how it is said and asked for."""

    name: str
    """Lower case, words joined by underscores; the slot's and the constraint's name."""
    label: str
    """What a person calls it: "reason for the return"."""
    forms: tuple[tuple[str, str], ...]
    """Pairs with ``%s`` for the value: after a noun, after "should" (for a circumstance: a clause of its own)."""
    words: tuple[str, ...]
    """By which a question may name it, beside the label."""
    values: tuple[str, ...] = ()
    """Every value it can have, where these are words: a slip of the pen brings none near another."""
    is_circumstance: bool = False
    """It says how things are ("I paid in cash"), not how they should be."""
    is_of_all: bool = False
    """It is about everything wanted together: a thing named beside a question for it narrows nothing."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One slot's content, ready to be worded."""

    slot: str
    """``brand``, ``color``, …, ``price``, ``quantity`` or ``variant``."""
    constraint: Constraint
    """What it means; for ``variant`` the attribute is the category's variant attribute, for ``quantity`` it is
    ``quantity`` with an integer value 1 to 10."""
    unit: str = ""
    """Canonical unit of a numeric value; prices are integer cents and need none."""
    kind: SlotKind | None = None
    """Where it is no attribute of the catalog."""
    spelled: str = ""
    """The only spelling of the value, where it is not spelled by its type (dates)."""


@dataclass(frozen=True, slots=True)
class Mention:
    """One wanted item as a sentence speaks of it, with what is said of it."""

    singular: str
    plural: str
    facts: tuple[Fact, ...] = ()


@dataclass(frozen=True, slots=True)
class Act:
    """One act."""

    kind: ActKind
    mentions: tuple[Mention, ...] = ()
    """The items spoken of; for OPEN every item of the goal."""
    attributes: tuple[str, ...] = ()
    """Attribute names a DONT_KNOW, NO_PREFERENCE or value-less CORRECT speaks of (``quantity``, ``brand`` included)."""
    bank: Bank | None = None
    """An environment's own sentences for OPEN and NEXT, instead of a list of wanted items."""
    places: tuple[tuple[str, str], ...] = ()
    """What fills the places of ``bank`` beside the facts of the first mention: (place, text)."""
    title: str = ""
    """Title of the product named as a fallback; empty: leave the item out, or another variant in ``mentions``."""
    says: tuple[tuple[str, str], ...] = ()
    """What the sentences of ``bank`` say beside the facts, as data: (name, value). Never worded from."""
    intent: str = ""
    """Id of the environment whose errand a journey's customer begins or comes back to with this act; else empty."""
