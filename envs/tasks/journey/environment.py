"""JOURNEY: two to five different intents in one conversation, in one world (SPEC §6)."""

from __future__ import annotations

from ecom_rlve.envs.about import About
from ecom_rlve.envs.difficulty import AXES, Axes
from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.errors import GenerationError
from ecom_rlve.envs.scenario import Scenario
from ecom_rlve.envs.tasks.journey.answer import JourneyAnswer
from ecom_rlve.envs.tasks.journey.members import MEMBERS
from ecom_rlve.envs.tools.registry import TOOLS
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import MAX_DIFFICULTY
from ecom_rlve.streams import Streams

_REDRAWS = 50
_BRIEF = (
    "The customer has several things to settle, one after another, and may jump to the next before one is done. Settle "
    "each with a final answer that names its intent and has the fields of that intent, no others: it closes the one "
    "that the customer spoke of last, and they move on. The intents and their jobs:"
)


def intents_at(d: int) -> int:
    """Return the number of intents: min(5, 2 + d // 4) (SPEC §3)."""
    return min(5, 2 + d // 4)


class JourneyEnvironment(Environment):
    """Multi-intent journeys."""

    about = About(
        id="JOURNEY",
        title="Multi-intent journey",
        version="5",
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

    def draw(self, world: World, streams: Streams) -> Scenario:
        able = [each for each in MEMBERS if each.max_difficulty(world.shop) >= world.axes.d]
        order = streams.stream("intents").permutation(len(able)).tolist()
        chosen = [able[at] for at in order[: intents_at(world.axes.d)]]
        switches = streams.stream("switches").random(len(chosen)).tolist()
        drawn, redraws = _drawn_apart(chosen, world, streams)
        intents = tuple(intent for each in chosen for intent in drawn[each.about.id].intents)
        for intent, switch in zip(intents, switches, strict=True):
            # The customer's own draws must not depend on how often the goal was redrawn.
            intent.streams = streams.family(intent.errand.about.id)
            intent.is_interrupted = switch < world.axes.p_switch
        return Scenario(world, intents, redraws)


def _drawn_apart(chosen: list[Environment], world: World, streams: Streams) -> tuple[dict[str, Scenario], int]:
    """Return a scenario for each chosen environment, no two about the same kind of thing, and the number of redraws.

    Environments that make products sold out from the start are drawn first, so that none of the others wants these
    products.
    """
    drawn: dict[str, Scenario] = {}
    taken: set[str] = set()
    redraws = 0
    for each in sorted(chosen, key=lambda each: (not each.about.empties_shelves, each.about.id)):
        for attempt in range(_REDRAWS):
            scenario = each.draw(world, streams.family(each.about.id, attempt))
            subjects = (subject for intent in scenario.intents for subject in intent.subjects)
            kinds = {subject.category for subject in subjects} - {""}
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


ENVIRONMENT = JourneyEnvironment()
