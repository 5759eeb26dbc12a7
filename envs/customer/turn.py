"""A turn as the customer meets it: what they notice of it, and what they reply."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.customer.hearing.reading import Reading
from ecom_rlve.envs.language.acts import Act

Understood = Mapping[str, tuple[str, ...]]
"""Names of topics by the text that asks about them."""
NOTHING_UNDERSTOOD: Understood = MappingProxyType({})


class ClosedTurn(NamedTuple):
    """What the customer can notice of a turn that the agent closed."""

    message: str
    questions: tuple[str, ...]
    """Texts of ``ask_user`` calls."""
    changed: bool
    """The cart, a return or an exchange changed."""
    answer: Answer | None
    """An answer that did not end the episode: a proposal, or in a journey the end of an intent."""
    met_stockout: bool
    """A wanted thing was first read to be sold out, and nothing else was new."""
    understood: Understood = NOTHING_UNDERSTOOD
    """What a model took the texts of :meth:`Customer.unclear` to ask about."""


class Heard(NamedTuple):
    """What the customer has made of a closed turn."""

    readings: tuple[Reading, ...] = ()
    """One for each text of the agent's: the message, then the questions."""
    sold_out: tuple[int | None, ...] = ()
    """Items that are said to be sold out; None where the words name none."""
    claims_done: bool = False
    """It says that the work is done, or proposes an answer."""


class Reply(NamedTuple):
    """What the customer answers; no acts means silence."""

    acts: tuple[Act, ...]
    is_customer_caused: bool
    """The turn does not count against the agent (SPEC §2.3)."""
    leaves: bool = False
    excuses_nothing: bool = False
    """It corrects something, or answers a question that named nothing."""
