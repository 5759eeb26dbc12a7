"""POLICY, policy Q&A: what the store's rules give in the customer's own case (SPEC §6)."""

from __future__ import annotations

from collections.abc import Collection
from datetime import date
from fractions import Fraction
from typing import Any

from ecom_rlve.envs.about import About
from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.difficulty import Axes
from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.errand import Errand, Intent, Subject
from ecom_rlve.envs.goal import Review, Slot, Verdict
from ecom_rlve.envs.language.acts import Act, ActKind, Mention
from ecom_rlve.envs.policy.book import LEAST_FIGURES
from ecom_rlve.envs.policy.conditions import CONDITIONS
from ecom_rlve.envs.scenario import Scenario, single
from ecom_rlve.envs.tasks.policy_questions.answer import PolicyAnswer, score
from ecom_rlve.envs.tasks.policy_questions.asking import OPENING
from ecom_rlve.envs.tasks.policy_questions.cases import PolicyGoal, dates_of, draw_question, draw_situation, posed
from ecom_rlve.envs.tasks.policy_questions.facts import fact_of, kind_of
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import MAX_DIFFICULTY
from ecom_rlve.streams import Streams

_BRIEF = (
    "The customer asks what the store's rules come to in their case. The rules are this store's own and stand in its "
    "policy book: find sections with policy_search and read them with policy_get. A base figure may be changed by "
    "further sections on conditions such as the membership tier or the payment method. The customer knows their own "
    "situation, not the rules, and may leave out what matters; ask for it. Submit the figure for their case: "
    '{"done": true, "value": 45, "unit": "days"}, in the unit that they ask for, or a date as '
    '{"done": true, "value": "2025-08-31", "unit": "date"}. An answer counts only if policy_get has shown every '
    "section that governs the case."
)


class PolicyEnvironment(Environment, Errand[PolicyGoal]):
    """Policy Q&A."""

    about = About(
        id="POLICY",
        title="Policy Q&A",
        version="3",
        called="my question",
        tool_names=("policy_search", "policy_get", "ask_user", "datetime_now"),
        answer=PolicyAnswer,
        axes=("p_missing", "t_max", "p_noise", "b_branch", "b_tool"),
        candidates=lambda _: LEAST_FIGURES,
        needs="a department",
    )

    def brief(self, axes: Axes) -> str:  # noqa: ARG002 - every implementation gets it, this one decides without
        return _BRIEF

    def max_difficulty(self, shop: Shop) -> int:
        return MAX_DIFFICULTY if shop.departments else -1

    def draw(self, world: World, streams: Streams) -> Scenario:
        return single(_intent_in(self, world, streams))

    def review(self, intent: Intent[PolicyGoal], proposal: Answer | None) -> Review:  # noqa: ARG002 - every implementation gets it, this one decides without
        # The customer does not know the rules, so they cannot judge an answer.
        return Review()

    def verify(self, intent: Intent[PolicyGoal], answer: Answer | None) -> Verdict:
        goal = intent.goal
        has_read = intent.world.sections_read.issuperset(goal.section_ids)
        if not has_read or not isinstance(answer, PolicyAnswer):
            return Verdict(Fraction(-1), correct=False)
        r_task = score(answer, goal.truth, goal.unit)
        return Verdict(r_task, correct=r_task == 1)

    def solve(self, intent: Intent[PolicyGoal]) -> dict[str, Any]:
        goal, world = intent.goal, intent.world
        unread = [section_id for section_id in goal.section_ids if section_id not in world.sections_read]
        calls = [{"name": "policy_get", "args": {"section_id": section_id}} for section_id in unread]
        if calls:
            return {"tool_calls": calls[: world.axes.b_tool]}
        return {"answer": {"done": True, "value": _as_json(goal.truth), "unit": goal.unit}}

    def goal_json(self, intent: Intent[PolicyGoal]) -> dict[str, Any]:
        goal = intent.goal
        return {
            "question": goal.question.key,
            "situation": dict(goal.situation),
            "value": _as_json(goal.truth),
            "unit": goal.unit,
            "section_ids": list(goal.section_ids),
        }


def _intent_in(errand: Errand[PolicyGoal], world: World, streams: Streams) -> Intent[PolicyGoal]:
    """Draw an intent: a question about the policy book of a world."""
    book = world.book
    question = draw_question(book, world.axes.b_branch, streams.stream("question"))
    rule, dates = book.rule(question.topic), dates_of(question, world.today)
    situation = draw_situation(rule, world.tier, streams.stream("situation"), dates)
    goal = posed(book, question, situation, world.today, streams.stream("asking"), world.shop.bank)
    facts = {name: fact_of(name, value, book.departments, book.money) for name, value in goal.situation}
    return Intent(
        errand,
        goal,
        world,
        subjects=(Subject("inquiry", "inquiries", ""),),
        slots=tuple(Slot(0, fact) for fact in facts.values()),
        streams=streams,
        opening=_opening,
        fixed=(0,),
        unknown=tuple(kind_of(name, book.departments) for name in CONDITIONS if name not in facts),
    )


def _opening(intent: Intent[PolicyGoal], said: Collection[Slot]) -> Act:
    """Return the first act."""
    goal = intent.goal
    place = "date" if goal.question.form == "deadline" else "money"
    places = (("question", goal.asked), *(((place, goal.given),) if goal.given else ()))
    mention = Mention("", "", tuple(slot.fact for slot in intent.slots if slot in said))
    return Act(ActKind.OPEN, (mention,), frames=OPENING, places=places, says=goal.says)


def _as_json(truth: Fraction | date) -> int | float | str:
    if isinstance(truth, date):
        return truth.isoformat()
    return truth.numerator if truth.denominator == 1 else float(truth)


ENVIRONMENT = PolicyEnvironment()
