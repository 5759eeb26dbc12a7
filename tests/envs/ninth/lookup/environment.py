"""LOOKUP, a toy ninth environment: the customer names a product and wants one figure of it. That is all of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from numpy.random import Generator

from ecom_rlve.envs.about import About
from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.difficulty import Axes
from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.errand import Errand, Intent, Subject
from ecom_rlve.envs.errors import GenerationError
from ecom_rlve.envs.goal import Review, Slot, Verdict
from ecom_rlve.envs.language.acts import Act, ActKind, Mention, SlotKind
from ecom_rlve.envs.language.frames import frames_in
from ecom_rlve.envs.parts.remembered import word_fact
from ecom_rlve.envs.parts.solving import search_showing
from ecom_rlve.envs.scenario import Scenario, single
from ecom_rlve.envs.tasks.cart.targets import eligible_row
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import MAX_DIFFICULTY
from ecom_rlve.streams import Streams

FIGURES = {"star count": "rating", "days on the way": "ship_days"}
_FIGURE = SlotKind(
    "wanted_figure",
    "figure",
    ("figures", "what do you want to know", "what would you like to know"),
    values=tuple(FIGURES),
    is_circumstance=True,
    forms=(("about its %s", "I would like to know the %s"), ("and its %s", "I want to hear the %s")),
)
_OPENING = frames_in(__package__)["open_lookup"]


class LookupAnswer(Answer):
    """The figure that was found."""

    looked_up_id: str | None = None
    figure: float | None = None


@dataclass(frozen=True, slots=True)
class LookupGoal:
    """A product, and what is asked of it."""

    row: int
    asked: str


class LookupEnvironment(Environment, Errand[LookupGoal]):
    """Looking one figure up."""

    about = About(
        id="LOOKUP",
        title="Looking a figure up",
        version="1",
        called="that figure",
        tool_names=("catalog_search", "catalog_get_product", "ask_user"),
        answer=LookupAnswer,
        axes=("p_missing", "eps_rank", "t_max", "p_noise", "top_k", "b_tool"),
    )

    def brief(self, axes: Axes) -> str:  # noqa: ARG002 - every implementation gets it, this one decides without
        return "Find out which figure of which product the customer wants, look it up and submit it."

    def max_difficulty(self, shop: Shop) -> int:
        return MAX_DIFFICULTY if shop.kinds(1) else -1

    def draw(self, world: World, streams: Streams) -> Scenario:
        row, asked, redraws = _draw(world, streams.stream("target"))
        kind = world.shop.catalog.category_of(row)
        intent = Intent(
            self,
            LookupGoal(row, asked),
            world,
            subjects=(Subject(kind.singular, kind.plural, kind.name),),
            slots=(Slot(0, word_fact(_FIGURE, asked)),),
            streams=streams,
            opening=_opening,
            redraws=redraws,
        )
        return single(intent)

    def review(self, intent: Intent[LookupGoal], proposal: Answer | None) -> Review:  # noqa: ARG002 - every implementation gets it, this one decides without
        return Review()

    def verify(self, intent: Intent[LookupGoal], answer: Answer | None) -> Verdict:
        world, goal = intent.world, intent.goal
        if not isinstance(answer, LookupAnswer) or answer.looked_up_id is None:
            return Verdict(Fraction(-1), correct=False)
        card = world.shop.card(goal.row)
        is_right = answer.looked_up_id == card["product_id"] and answer.figure == card[FIGURES[goal.asked]]
        is_right &= goal.row in world.shown
        return Verdict(Fraction(1 if is_right else -1), correct=is_right, output_ids=(answer.looked_up_id,))

    def solve(self, intent: Intent[LookupGoal]) -> dict[str, Any]:
        world, goal = intent.world, intent.goal
        if goal.row not in world.shown:
            return {"tool_calls": [{"name": "catalog_search", "args": search_showing(world, goal.row)}]}
        card = world.shop.card(goal.row)
        figure = card[FIGURES[goal.asked]]
        return {"answer": {"done": True, "looked_up_id": card["product_id"], "figure": figure}}

    def goal_json(self, intent: Intent[LookupGoal]) -> dict[str, Any]:
        return {"row": intent.goal.row, "asked": intent.goal.asked}


def _opening(intent: Intent[LookupGoal], said: Collection[Slot]) -> Act:
    """Return the first act."""
    subject, title = intent.subjects[0], intent.world.shop.card(intent.goal.row)["title"]
    facts = tuple(slot.fact for slot in intent.slots if slot in said)
    mention = Mention(subject.singular, subject.plural, facts)
    return Act(ActKind.OPEN, (mention,), frames=_OPENING, places=(("title", title),))


def _draw(world: World, rng: Generator) -> tuple[int, str, int]:
    """Return a product of its own title that has the figure, the figure, and the number of redraws."""
    shop = world.shop
    copies, kinds = Counter(shop.catalog.titles), shop.kinds(1)
    for redraws in range(50):
        row = eligible_row(shop, kinds[int(rng.integers(len(kinds)))], rng, world.split, 1)
        asked = tuple(FIGURES)[int(rng.integers(len(FIGURES)))]
        if row is not None and copies[shop.catalog.titles[row]] == 1 and FIGURES[asked] in shop.card(row):
            return row, asked, redraws
    raise GenerationError("no product of its own title; use another seed")


ENVIRONMENT = LookupEnvironment()
