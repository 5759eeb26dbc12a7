"""The customer of a whole episode: one intent after another, each with slots, patience and excuses of its own.

The customer interrupts one intent with the next and comes back to it, or moves on when one is closed (SPEC §6).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ecom_rlve.envs.customer.customer import Customer
from ecom_rlve.envs.customer.turn import ClosedTurn, Heard, Reply
from ecom_rlve.envs.errand import Change, Intent
from ecom_rlve.envs.goal import Verdict
from ecom_rlve.envs.language.acts import Act, ActKind
from ecom_rlve.envs.language.templates import bank
from ecom_rlve.envs.world.world import ErrandStart

_INTERRUPT = bank(
    "Before we go on, there is something else.",
    "Wait, something else comes first.",
    terse=("Wait, another thing.",),
    formal=("Before we continue, I have another matter.",),
    chatty=("Oh, hold on, something else just came to mind!",),
)
_MOVE_ON = bank(
    "There is another thing.",
    "Next, something else.",
    terse=("Next thing.",),
    formal=("I have a further matter.",),
    chatty=("Lovely, now on to something else!",),
)
_COME_BACK = bank(
    "Now back to {errand}.",
    "So, back to {errand}.",
    terse=("Back to {errand}.",),
    formal=("Let us return to {errand}.",),
    chatty=("Right, where were we? Back to {errand}!",),
)


@dataclass(slots=True)
class Begun:
    """An intent that the customer has begun to speak of."""

    intent: Intent[Any]
    customer: Customer
    start: ErrandStart
    """What was done before it."""
    verdict: Verdict | None = None
    """None until it is closed."""


class Conversation:
    """Which intents are begun, which are open, and what the customer says of them. Begins with the first."""

    def __init__(self, intents: Sequence[Intent[Any]]) -> None:
        self.intents = tuple(intents)
        self.begun: list[Begun] = []
        """In the order of ``intents``."""
        self._open: list[Begun] = []
        """Begun and not closed; the last is the one that the customer spoke of last."""
        self.opening = self._begin()

    @property
    def current(self) -> Begun:
        """The intent that the customer spoke of last; at the end the one that was closed last."""
        return self._open[-1] if self._open else self.begun[-1]

    @property
    def is_over(self) -> bool:
        """Every intent was closed."""
        return len(self.begun) == len(self.intents) and not self._open

    @property
    def knows_stockout(self) -> bool:
        """Some result has shown the agent that what the current intent wants is sold out."""
        if not self._open:
            return False
        intent = self.current.intent
        return intent.stockout is not None and intent.stockout.is_known(intent)

    def sell(self) -> None:
        """Let things sell out that open intents are about."""
        for begun in self._open:
            if begun.intent.stockout is not None:
                begun.intent.stockout.sell(begun.intent)

    def close(self, verdict: Verdict) -> None:
        """Close the current intent; what is done from now on counts for the one that is come back to."""
        self._open.pop().verdict = verdict
        if self._open:
            self.current.intent.world.errand_start = self.current.start

    def hear(self, turn: ClosedTurn) -> Heard:
        """Return what a closed turn asks and claims; changes nothing."""
        return Heard() if self._has_answered(turn) else self.current.customer.hear(self._own(turn))

    def settles_for(self, heard: Heard) -> Change | None:
        """Return what the customer settles for, told that a wanted thing is sold out; None where nothing changes."""
        return self.current.customer.settles_for(heard) if heard.sold_out else None

    def reply(self, turn: ClosedTurn, heard: Heard, change: Change | None = None) -> Reply:
        """Return the reaction of the intent that is spoken of, and the change of topic where there is one."""
        if self._has_answered(turn):
            return Reply(self._moved_on(), is_customer_caused=True)
        begun = self.current
        reply = begun.customer.reply(self._own(turn), heard, change)
        is_last = len(self.begun) == len(self.intents)
        if reply.leaves or is_last or not begun.intent.is_interrupted or not reply.acts:
            return reply
        begun.intent.is_interrupted = False
        switch = (Act(ActKind.SWITCH, bank=_INTERRUPT), *_introduced(self._begin()))
        return Reply((*reply.acts, *switch), is_customer_caused=not reply.excuses_nothing)

    def _has_answered(self, turn: ClosedTurn) -> bool:
        """Tell whether the turn closed an intent and the customer moves on."""
        return turn.answer is not None and turn.answer.done

    def _own(self, turn: ClosedTurn) -> ClosedTurn:
        """Return the turn with its proposal as the current intent takes it."""
        if turn.answer is None:
            return turn
        return turn._replace(answer=turn.answer.own(self.current.intent.errand.about.answer))

    def _moved_on(self) -> tuple[Act, ...]:
        """Come back to an intent that was interrupted, or begin the next."""
        if self._open:
            about = self.current.intent.errand.about
            return (Act(ActKind.NEXT, bank=_COME_BACK, places=(("errand", about.called),), intent=about.id),)
        return (Act(ActKind.NEXT, bank=_MOVE_ON), *_introduced(self._begin()))

    def _begin(self) -> tuple[Act, ...]:
        """Begin the next intent and return its first acts."""
        intent = self.intents[len(self.begun)]
        begun = Begun(intent, Customer(intent), intent.world.begin_errand())
        self.begun.append(begun)
        self._open.append(begun)
        named = intent.errand.about.id if len(self.intents) > 1 else ""
        return tuple(replace(act, intent=named) for act in begun.customer.open())


def _introduced(acts: tuple[Act, ...]) -> tuple[Act, ...]:
    """Return first acts as they are said in the middle of a conversation: without a greeting."""
    return tuple(replace(act, kind=ActKind.NEXT) for act in acts)
