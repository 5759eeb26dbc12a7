"""Several errands in one conversation: which is begun, which is open, and the customer who moves between them.

The customer interrupts one errand with the next and comes back to it, or moves on when one is closed (SPEC §6).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.customer.customer import Customer
from ecom_rlve.envs.customer.turn import ClosedTurn, Reply
from ecom_rlve.envs.goal import Verdict
from ecom_rlve.envs.language.acts import Act, ActKind
from ecom_rlve.envs.language.templates import bank
from ecom_rlve.streams import Streams

if TYPE_CHECKING:
    from ecom_rlve.envs.environment import Environment
    from ecom_rlve.envs.scenario import Scenario
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
class Intent:
    """One errand of a journey."""

    environment: Environment[Any]
    scenario: Scenario[Any]
    streams: Streams
    is_interrupted: bool
    """The customer comes to the next errand before this one is done."""
    customer: Customer | None = None
    """None until it is begun."""
    start: ErrandStart | None = None
    """What was done before it; None until it is begun."""
    verdict: Verdict | None = None
    """None until it is closed."""

    def own_answer(self, answer: Answer) -> Answer | None:
        """Return the answer as the errand's environment takes it; None where it lacks what that needs."""
        model = self.environment.about.answer
        given = answer.model_dump(exclude_none=True)
        try:
            return model.model_validate({name: given[name] for name in model.model_fields if name in given})
        except ValidationError:
            return None


@dataclass(slots=True)
class JourneyGoal:
    """The errands in the order in which they are begun, and which of them are open."""

    intents: tuple[Intent, ...]
    open: list[int] = field(default_factory=list)
    """Positions of begun and unclosed errands; the last is the one the customer spoke of last."""
    begun: int = 0

    @property
    def current(self) -> Intent:
        """The errand the customer spoke of last."""
        return self.intents[self.open[-1]]

    @property
    def is_over(self) -> bool:
        """Every errand was closed."""
        return all(intent.verdict is not None for intent in self.intents)

    def begin(self) -> Intent:
        """Begin the next errand."""
        self.open.append(self.begun)
        self.begun += 1
        intent = self.current
        intent.start = intent.scenario.world.begin_errand()
        intent.customer = intent.environment.customer(intent.scenario, intent.streams)
        return intent

    def close(self, verdict: Verdict) -> None:
        """Close the current errand; what is done from now on counts for the one that is come back to."""
        self.current.verdict = verdict
        self.open.pop()
        if self.open and self.current.start is not None:
            self.current.scenario.world.errand_start = self.current.start


class JourneyCustomer(Customer):
    """A customer with several errands: each has its own slots, patience and excuses."""

    def __init__(self, environment: Environment[Any], scenario: Scenario[JourneyGoal], streams: Streams) -> None:
        super().__init__(environment, scenario, streams)
        self._goal = scenario.goal

    def open(self) -> tuple[Act, ...]:
        """Begin the first errand."""
        return _begun(self._goal)

    def reply(self, turn: ClosedTurn) -> Reply:
        """Return the reaction of the errand that is spoken of, and the change of topic where there is one."""
        goal = self._goal
        if turn.answer is not None and turn.answer.done:
            return Reply(self._moved_on(), is_customer_caused=True)
        intent = goal.current
        proposal = None if turn.answer is None else intent.own_answer(turn.answer)
        reply = self._current.reply(turn._replace(answer=proposal))
        is_last = goal.begun == len(goal.intents)
        if reply.leaves or is_last or not intent.is_interrupted or not reply.acts:
            return reply
        intent.is_interrupted = False
        switch = (Act(ActKind.SWITCH, bank=_INTERRUPT), *_introduced(_begun(goal)))
        return Reply((*reply.acts, *switch), is_customer_caused=not reply.excuses_nothing)

    def unclear(self, message: str, questions: tuple[str, ...]) -> list[str]:
        """Return what is unclear to the errand that is spoken of."""
        return self._current.unclear(message, questions)

    def topics(self) -> dict[str, str]:
        """Return what questions about the errand that is spoken of may name."""
        return self._current.topics()

    @property
    def _current(self) -> Customer:
        customer = self._goal.current.customer
        assert customer is not None
        return customer

    def _moved_on(self) -> tuple[Act, ...]:
        """Come back to an errand that was interrupted, or begin the next."""
        goal = self._goal
        if goal.open:
            errand = goal.current.environment.about.called
            back = Act(
                ActKind.NEXT, bank=_COME_BACK, places=(("errand", errand),), intent=goal.current.environment.about.id
            )
            return (back,)
        return (Act(ActKind.NEXT, bank=_MOVE_ON), *_introduced(_begun(goal)))


def _begun(goal: JourneyGoal) -> tuple[Act, ...]:
    intent = goal.begin()
    assert intent.customer is not None
    return tuple(replace(act, intent=intent.environment.about.id) for act in intent.customer.open())


def _introduced(acts: tuple[Act, ...]) -> tuple[Act, ...]:
    """Return first acts as they are said in the middle of a conversation: without a greeting."""
    return tuple(replace(act, kind=ActKind.NEXT) for act in acts)
