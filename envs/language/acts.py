"""What the customer says, before it is worded: acts and the facts in them.

Code picks acts; wording only puts them into words (SPEC §7). A reply is a tuple of acts in the order in which they are
said.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from ecom_rlve.catalog.constraints import Constraint
from ecom_rlve.envs.language.frames import Frames


class ActKind(StrEnum):
    """What a sentence of the customer can do."""

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
    """Say that a slot of a wanted item is wrong, with the wanted value if it was said before."""
    REVISE = "revise"
    """Change their mind: say the new value of something that they had said."""
    SKIP = "skip"
    """Ask to leave a mistake that was named three times."""
    REJECT = "reject"
    """Say that something in the cart or in a proposal does not fit, without saying what."""
    CONTINUE = "continue"
    """Acknowledge, and add nothing."""
    STOCKOUT_FALLBACK = "stockout_fallback"
    """When a wanted thing is reported sold out: say what to take instead, or to leave it out."""
    CLARIFY = "clarify"
    """Ask which of several things, or of the named topics, is meant."""
    STILL_THERE = "still_there"
    """When a thing is wrongly reported sold out: say that it is still in stock."""
    SWITCH = "switch"
    """Interrupt the current intent."""
    NEXT = "next"
    """Begin another intent, or come back to one."""
    GIVE_UP = "give_up"
    """Leave, out of patience."""
    CLOSE = "close"
    """End the conversation."""


QUANTITY = "quantity"
"""Name of the slot that says how many pieces of an item are wanted."""


@dataclass(frozen=True, slots=True)
class SlotKind:
    """A kind of fact that is no attribute of the catalog: how it is said and asked for."""

    name: str
    """Lower case, words joined by underscores; the slot's and the constraint's name."""
    label: str
    """What a person calls it: "reason for the return"."""
    words: tuple[str, ...]
    """Words by which a question may ask for it, besides the label."""
    values: tuple[str, ...] = ()
    """Every value that it can have, if these are words. Noise brings no value near another one."""
    is_circumstance: bool = False
    """It says how things are ("I paid in cash"), not how they should be."""
    is_of_all: bool = False
    """It is about everything wanted together: a question for it may name any item and means the same."""
    forms: tuple[tuple[str, str], ...] = ()
    """How it is said, for a kind that the bank's facts do not know: pairs of phrases with ``%s`` for the value, after a
    noun and after "should" (for a circumstance: a clause)."""
    phrased_as: str = ""
    """Name of its phrases in the bank's facts; empty: its own name."""
    none_left: str = ""
    """A question for it asks for more than was told ("what else was in it?"): what was told is not told again, and this
    value is told where nothing is left ("nothing else"). Empty: what was told is told again."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One slot's content, ready to be worded."""

    slot: str
    """``brand``, ``color``, …, ``price``, ``quantity`` or ``variant``."""
    constraint: Constraint
    """What it means. For slot ``variant`` its attribute is the category's variant attribute; for ``quantity`` it is
    ``quantity``, with an integer value from 1 to 10."""
    unit: str = ""
    """Canonical unit of a numeric value; empty for prices, which are integer cents."""
    kind: SlotKind | None = None
    """Its kind, if it is no attribute of the catalog."""
    spelled: str = ""
    """The only spelling of the value, such as a date; empty: the value is spelled according to its type."""
    is_wish: bool = False
    """It is a preference beside what is required, and must sound like one: what does not meet it is not useless."""


@dataclass(frozen=True, slots=True)
class Mention:
    """One item that a sentence names, and the facts that the sentence says about it."""

    singular: str
    plural: str
    facts: tuple[Fact, ...] = ()
    pronoun: str = ""
    """"it" where the conversation is about this item alone, and the word says nothing about how many; else empty."""
    is_plural: bool = False
    """The item is spoken of in the plural: it was said that many are wanted, or the kind is meant."""

    @property
    def quantity(self) -> float:
        """How many pieces the sentence says are wanted; 0: it says nothing about that."""
        values = (fact.constraint.value for fact in self.facts if fact.slot == QUANTITY)
        return next((float(value) for value in values if isinstance(value, (int, float))), 0.0)

    @property
    def is_many(self) -> bool:
        """Whether the sentence speaks of the item in the plural."""
        return self.is_plural or self.quantity > 1

    @property
    def features(self) -> tuple[Fact, ...]:
        """The facts other than the quantity."""
        return tuple(fact for fact in self.facts if fact.slot != QUANTITY)


@dataclass(frozen=True, slots=True)
class Act:
    """One thing that the customer says, with its content."""

    kind: ActKind
    mentions: tuple[Mention, ...] = ()
    """The items that it is about; for OPEN every item of the goal."""
    attributes: tuple[str, ...] = ()
    """Names of the attributes that a DONT_KNOW, a NO_PREFERENCE or a CORRECT without a value is about, including
    ``quantity`` and ``brand``; in a CLARIFY the topics of which one is meant, in an OPEN one that can be asked for."""
    frames: Frames | None = None
    """An environment's own frames for OPEN, NEXT and SWITCH; None: a list of the wanted items."""
    places: tuple[tuple[str, str], ...] = ()
    """What fills places of ``frames``: (place, text)."""
    title: str = ""
    """In a STOCKOUT_FALLBACK: title of the product to take instead. Empty: take the variant in ``mentions``, or leave
    the item out."""
    says: tuple[tuple[str, str], ...] = ()
    """What the sentences of ``frames`` say besides the facts, as data: (name, value). Wording does not use it."""
    lead: Frames | None = None
    """What an OPEN says before anything else: that there are several things to settle."""
    intent: str = ""
    """In a journey: id of the environment whose intent begins or is come back to with this act; otherwise empty."""
