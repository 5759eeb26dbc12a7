"""JOURNEY: two to five different errands in one conversation over one world (SPEC §6)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from pydantic import Field

from ecom_rlve.envs.about import About
from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.customer.customer import Customer
from ecom_rlve.envs.difficulty import AXES, Axes
from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.errors import GenerationError
from ecom_rlve.envs.goal import Review, Verdict
from ecom_rlve.envs.language.acts import Act
from ecom_rlve.envs.scenario import Scenario
from ecom_rlve.envs.tasks.bundle.environment import ENVIRONMENT as BUNDLE
from ecom_rlve.envs.tasks.cart.environment import ENVIRONMENT as CART
from ecom_rlve.envs.tasks.journey.customer import Intent, JourneyCustomer, JourneyGoal
from ecom_rlve.envs.tasks.order_status.environment import ENVIRONMENT as STATUS
from ecom_rlve.envs.tasks.policy_questions.environment import ENVIRONMENT as POLICY
from ecom_rlve.envs.tasks.product_discovery.environment import ENVIRONMENT as PD
from ecom_rlve.envs.tasks.returns.environment import ENVIRONMENT as RETURN
from ecom_rlve.envs.tasks.substitution.environment import ENVIRONMENT as SUB
from ecom_rlve.envs.tools.registry import TOOLS
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import MAX_DIFFICULTY
from ecom_rlve.streams import Streams

MEMBERS: tuple[Environment[Any], ...] = (BUNDLE, CART, PD, POLICY, RETURN, STATUS, SUB)
"""What a journey is made of, in the order of their ids. Another member is another version."""
_REDRAWS = 50
_BRIEF = (
    "The customer has several things to settle, one after another, and may jump to the next before one is done. Settle "
    "each with a final answer that names its intent and has the fields that its job asks for: it closes the one that "
    "the customer spoke of last, and they move on. The intents and their jobs:"
)


class JourneyAnswer(Answer):
    """The intent that is settled, with the fields that its own answer has."""

    intent: str = Field(max_length=32)
    recommended_product_ids: list[str] | None = Field(default=None, max_length=10_000)
    selected_order_id: str | None = None
    selected_line_id: str | None = None
    resolution: str | None = None
    order_status: str | None = None
    eta_date: str | None = None
    value: float | str | None = None
    unit: str | None = None


def intents_at(d: int) -> int:
    """Number of intents: min(5, 2 + d // 4) (SPEC §3)."""
    return min(5, 2 + d // 4)


class JourneyEnvironment(Environment[JourneyGoal]):
    """Multi-intent journeys."""

    about = About(
        id="JOURNEY",
        title="Multi-intent journey",
        version="1",
        called="the rest",
        tool_names=tuple(TOOLS),
        answer=JourneyAnswer,
        axes=tuple(name for name in AXES if name == "p_switch" or any(name in each.about.axes for each in MEMBERS)),
        needs="two other environments that it serves",
        members=tuple(each.about.id for each in MEMBERS),
    )

    def brief(self, axes: Axes) -> str:
        return " ".join([_BRIEF, *(f"{each.about.id}: {each.brief(axes)}" for each in MEMBERS)])

    def max_difficulty(self, shop: Shop) -> int:
        most = [each.max_difficulty(shop) for each in MEMBERS]
        served = (d for d in range(MAX_DIFFICULTY + 1) if sum(level >= d for level in most) >= intents_at(d))
        return max(served, default=-1)

    def draw_in(self, world: World, streams: Streams) -> Scenario[JourneyGoal]:
        able = [each for each in MEMBERS if each.max_difficulty(world.shop) >= world.axes.d]
        order = streams.stream("intents").permutation(len(able)).tolist()
        chosen = [able[at] for at in order[: intents_at(world.axes.d)]]
        switches = streams.stream("switches").random(len(chosen)).tolist()
        drawn, redraws = _drawn_apart(chosen, world, streams)
        intents = tuple(
            Intent(each, drawn[each.about.id], streams.family(each.about.id), switch < world.axes.p_switch)
            for each, switch in zip(chosen, switches, strict=True)
        )
        subjects = tuple(subject for intent in intents for subject in intent.scenario.subjects)
        return Scenario(JourneyGoal(intents), world, subjects, (), redraws=redraws)

    def customer(self, scenario: Scenario[JourneyGoal], streams: Streams) -> Customer:
        return JourneyCustomer(self, scenario, streams)

    def turn_budget(self, scenario: Scenario[JourneyGoal]) -> int:
        return scenario.world.axes.t_max * len(scenario.goal.intents)

    def takes_answer(self, scenario: Scenario[JourneyGoal], answer: Answer) -> bool:
        goal = scenario.goal
        goal.close(_verdict(goal.current, answer))
        return goal.is_over

    def review(self, scenario: Scenario[JourneyGoal], proposal: Answer | None) -> Review:
        intent = scenario.goal.current
        return intent.environment.review(intent.scenario, None if proposal is None else intent.own_answer(proposal))

    def verify(self, scenario: Scenario[JourneyGoal], answer: Answer | None) -> Verdict:  # noqa: ARG002 - the protocol's
        intents, world = scenario.goal.intents, scenario.world
        verdicts = [intent.verdict for intent in intents if intent.verdict is not None]
        missing = len(intents) - len(verdicts)
        ids = [product_id for verdict in verdicts for product_id in verdict.output_ids]
        shown = world.shown_ids()
        right = sum(verdict.correct and shown.issuperset(verdict.output_ids) for verdict in verdicts)
        return Verdict(
            r_task=Fraction(sum(verdict.r_task for verdict in verdicts) - missing, len(intents)),
            correct=all(verdict.correct for verdict in verdicts) and not missing,
            output_ids=(*ids, *world.cart_ids()),
            share=Fraction(right, len(intents)),
        )

    def forfeit(self, scenario: Scenario[JourneyGoal]) -> Verdict:
        return self.verify(scenario, None)

    def solve(self, scenario: Scenario[JourneyGoal]) -> dict[str, Any]:
        intent = scenario.goal.current
        action = intent.environment.solve(intent.scenario)
        if action.get("answer"):
            action["answer"] = {"intent": intent.environment.about.id, **action["answer"]}
        return action

    def after_results(self, scenario: Scenario[JourneyGoal]) -> None:
        for at in scenario.goal.open:
            intent = scenario.goal.intents[at]
            others = (other.scenario for other in scenario.goal.intents if other is not intent)
            kinds = (subject.category for other in others for subject in other.subjects)
            scenario.world.reserved_kinds = frozenset(kinds)
            intent.environment.after_results(intent.scenario)

    def sold_out_item(self, scenario: Scenario[JourneyGoal]) -> int | None:
        intent = scenario.goal.current
        return intent.environment.sold_out_item(intent.scenario)

    def knows_stockout(self, scenario: Scenario[JourneyGoal]) -> bool:
        if not scenario.goal.open:
            return False
        intent = scenario.goal.current
        return intent.environment.knows_stockout(intent.scenario)

    def fall_back(self, scenario: Scenario[JourneyGoal], item: int) -> Act:
        intent = scenario.goal.current
        return intent.environment.fall_back(intent.scenario, item)

    def goal_json(self, scenario: Scenario[JourneyGoal]) -> dict[str, Any]:
        return {
            "intents": [
                {"intent": intent.environment.about.id, "goal": intent.environment.goal_json(intent.scenario)}
                for intent in scenario.goal.intents
            ]
        }


def _drawn_apart(
    chosen: list[Environment[Any]], world: World, streams: Streams
) -> tuple[dict[str, Scenario[Any]], int]:
    """Return a scenario for each errand, no two about the same kind of thing, and the number of redraws.

    What empties shelves is drawn first: nobody else may want what it takes.
    """
    drawn: dict[str, Scenario[Any]] = {}
    taken: set[str] = set()
    redraws = 0
    for each in sorted(chosen, key=lambda each: (not each.about.empties_shelves, each.about.id)):
        for attempt in range(_REDRAWS):
            scenario = each.draw_in(world, streams.family(each.about.id, attempt))
            kinds = {subject.category for subject in scenario.subjects} - {""}
            redraws += scenario.redraws
            if not kinds & taken:
                break
            redraws += 1
        else:
            raise GenerationError(
                f"no {each.about.id} apart from the other errands in {_REDRAWS} draws; use another seed"
            )
        taken |= kinds
        drawn[each.about.id] = scenario
    return drawn, redraws


def _verdict(intent: Intent, answer: Answer) -> Verdict:
    """Judge an intent when it is closed; naming another one scores -1."""
    named = str(getattr(answer, "intent", "")).upper().removeprefix("E_")
    own = intent.own_answer(answer)
    if named != intent.environment.about.id or own is None:
        return intent.environment.forfeit(intent.scenario)
    return intent.environment.verify(intent.scenario, own)


ENVIRONMENT = JourneyEnvironment()
