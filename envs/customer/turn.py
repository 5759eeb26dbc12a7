"""A turn from the customer's side: what they notice, what they hear, what they reply."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.customer.hearing.reading import Reading
from ecom_rlve.envs.customer.stockout_report import Report
from ecom_rlve.envs.language.acts import Act

Understood = Mapping[str, tuple[str, ...]]
"""The names of the topics of a question, by its text."""
NOTHING_UNDERSTOOD: Understood = MappingProxyType({})


class ClosedTurn(NamedTuple):
    """What the customer can notice in a turn that the agent has closed."""

    message: str
    questions: tuple[str, ...]
    """Texts of ``ask_user`` calls."""
    changed: bool
    """The cart, a return or an exchange changed."""
    answer: Answer | None
    """An answer that did not end the episode: a proposal, or in a journey the end of an intent."""
    has_calls: bool = False
    """Tools were called, besides ``ask_user``."""
    met_stockout: bool = False
    """The results showed for the first time that something has sold out, and nothing else that was new."""
    understood: Understood = NOTHING_UNDERSTOOD
    """The topics that a model found in texts of :meth:`Customer.unclear`."""


class Heard(NamedTuple):
    """What the customer understands of a closed turn."""

    readings: tuple[Reading, ...] = ()
    """One for each of the agent's texts: the message, then the questions."""
    report: Report | None = None
    """What the agent says is sold out; None: it says nothing of the kind."""
    claims_done: bool = False
    """The agent says that the work is done, or proposes an answer."""


NOTHING_HEARD = Heard()
"""What is heard in a turn to which the customer does not react."""


class Left(NamedTuple):
    """How many turns the agent will have for an intent after the one that is being closed."""

    if_counted: int
    """If it uses up the agent's budget."""
    if_excused: int
    """If it is the customer's own doing."""

    @classmethod
    def after(cls, turns: int, customer_caused: int, t_max: int) -> Left:
        """Return what is left of a budget after one turn more than ``turns``, so many of which the customer caused."""
        own, in_all = t_max - (turns - customer_caused), 2 * t_max - turns - 1
        return cls(min(own - 1, in_all), min(own, in_all))


class Reply(NamedTuple):
    """What the customer answers; no acts means silence."""

    acts: tuple[Act, ...]
    is_customer_caused: bool
    """The turn does not use up the agent's budget (SPEC §2.3)."""
    leaves: bool = False
    """The customer gives up."""
    excuses_nothing: bool = False
    """The reply corrects something, or answers a question that named nothing: the turn counts in any case."""
