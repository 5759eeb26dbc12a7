"""The customer of a whole episode: one intent after another.

Each intent has its own slots, patience and count of excused turns. The customer may interrupt an intent with the next
and come back to it later, and moves on when one is closed (SPEC §6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ecom_rlve.envs.customer.customer import Customer
from ecom_rlve.envs.customer.turn import NOTHING_HEARD, ClosedTurn, Heard, Left, Reply
from ecom_rlve.envs.errand import Change, Intent
from ecom_rlve.envs.goal import Verdict
from ecom_rlve.envs.language.acts import Act, ActKind
from ecom_rlve.envs.language.frames import acts_in_bank
from ecom_rlve.envs.world.world import ErrandStart


@dataclass(slots=True)
class Begun:
    """An intent that the customer has begun to speak of."""

    intent: Intent[Any]
    customer: Customer
    start: ErrandStart
    """What cart and returns held before it."""
    verdict: Verdict | None = None
    """None until it is closed."""


class Conversation:
    """Knows which intents have begun and which are open, and picks what the customer says about them.

    The first intent begins with the object.
    """

    def __init__(self, intents: Sequence[Intent[Any]]) -> None:
        self.intents = tuple(intents)
        self.begun: list[Begun] = []
        """Intents that have begun, in the order of ``intents``."""
        self._open: list[Begun] = []
        """Intents that have begun and are not closed; the customer spoke of the last one last."""
        self.opening = _led(self._begin(), is_first_of_several=len(self.intents) > 1)

    @property
    def current(self) -> Begun:
        """The intent that the customer spoke of last; at the end of the episode the one that was closed last."""
        return self._open[-1] if self._open else self.begun[-1]

    @property
    def is_over(self) -> bool:
        """Whether every intent was closed."""
        return len(self.begun) == len(self.intents) and not self._open

    def sell(self) -> None:
        """Let things sell out for each open intent."""
        for begun in self._open:
            if begun.intent.stockout is not None:
                begun.intent.stockout.sell(begun.intent)

    def close(self, verdict: Verdict) -> None:
        """Close the current intent; what is done from now on counts for the intent that was interrupted, if any."""
        self._open.pop().verdict = verdict
        if self._open:
            self.current.intent.world.errand_start = self.current.start

    def hear(self, turn: ClosedTurn) -> Heard:
        """Return what a closed turn asks and claims; changes no state."""
        if turn.answer is None:
            return self.current.customer.hear(turn)
        return NOTHING_HEARD if turn.answer.done else self.current.customer.hear(self._own(turn))

    def settles_for(self, heard: Heard) -> Change | None:
        """Return what the customer wants instead of something that the agent calls sold out; None: nothing changes."""
        return self.current.customer.settles_for(heard)

    def revises(self, turn: ClosedTurn, heard: Heard, left: Left) -> Change | None:
        """Return what the customer wants after a change of mind in the reply to this turn; None: nothing changes.

        Every other errand that is not closed keeps the turns that it adds to the conversation.
        """
        if turn.answer is not None and turn.answer.done:
            return None
        closed = sum(begun.verdict is not None for begun in self.begun)
        kept = self.current.intent.world.axes.t_max * (len(self.intents) - closed - 1)
        customer = self.current.customer
        return customer.second_thoughts.changed(
            customer.said, heard, Left(left.if_counted - kept, left.if_excused - kept)
        )

    def reply(self, turn: ClosedTurn, heard: Heard, change: Change | None = None) -> Reply:
        """Return the customer's reaction in the current intent, followed by a change of topic if there is one."""
        if turn.answer is not None and turn.answer.done:
            return Reply(self._moved_on(), is_customer_caused=True)
        begun = self.current
        reply = begun.customer.reply(self._own(turn), heard, change)
        is_last = len(self.begun) == len(self.intents)
        # One change at a time: who has just changed their mind interrupts nothing.
        is_settled = bool(reply.acts) and reply.acts[-1].kind is not ActKind.REVISE
        if reply.leaves or is_last or not begun.intent.is_interrupted or not is_settled:
            return reply
        begun.intent.is_interrupted = False
        switch = (Act(ActKind.SWITCH, frames=acts_in_bank()["interrupt"]), *_introduced(self._begin()))
        return Reply((*reply.acts, *switch), is_customer_caused=not reply.excuses_nothing)

    def _own(self, turn: ClosedTurn) -> ClosedTurn:
        """Return the turn with its proposal in the form that the current intent takes."""
        if turn.answer is None:
            return turn
        return turn._replace(answer=turn.answer.own(self.current.intent.errand.about.answer))

    def _moved_on(self) -> tuple[Act, ...]:
        """Come back to an intent that was interrupted, or begin the next."""
        if self._open:
            about = self.current.intent.errand.about
            return (
                Act(
                    ActKind.NEXT,
                    frames=acts_in_bank()["come_back"],
                    places=(("errand", about.called),),
                    intent=about.id,
                ),
            )
        return (Act(ActKind.NEXT, frames=acts_in_bank()["move_on"]), *_introduced(self._begin()))

    def _begin(self) -> tuple[Act, ...]:
        """Begin the next intent and return its first acts."""
        intent = self.intents[len(self.begun)]
        begun = Begun(intent, Customer(intent), intent.world.begin_errand())
        self.begun.append(begun)
        self._open.append(begun)
        named = intent.errand.about.id if len(self.intents) > 1 else ""
        return tuple(replace(act, intent=named) for act in begun.customer.open())


def _introduced(acts: tuple[Act, ...]) -> tuple[Act, ...]:
    """Return the first acts of an intent as said in the middle of a conversation: without a greeting."""
    return tuple(replace(act, kind=ActKind.NEXT) for act in acts)


def _led(acts: tuple[Act, ...], *, is_first_of_several: bool) -> tuple[Act, ...]:
    """Return the first acts of a conversation, after word that there are several things if there are (SPEC §2.2)."""
    if not is_first_of_several:
        return acts
    return (replace(acts[0], lead=acts_in_bank()["journey_lead"]), *acts[1:])
