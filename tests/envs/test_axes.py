"""The table of live axes (SPEC §3): moving one axis alone moves what it is about, and nothing where it is dead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import pairwise
from typing import Any

import pytest

from ecom_rlve.catalog.constraints import Op
from ecom_rlve.envs.contract.check import solution
from ecom_rlve.envs.difficulty import AXES
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.policy.topics import ONLINE_RETURN
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.tasks.cart.stockout import VariantStockout
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.stockout import ProductCoins, standing_variants
from ecom_rlve.models import DomainCode, Termination

DIFFICULTY = 10
"""Where every axis has room on both sides and half of the returns want a replacement."""
SEEDS = 10

LIVE = {env_id: frozenset(each.about.axes) for env_id, each in environments().items()}
"""What each environment declares: the table of SPEC §3."""

VALUES: Mapping[str, tuple[float, ...]] = {
    "m": (2, 3, 6),
    "p_missing": (0.0, 0.4, 1.0),
    "eps_rank": (0.0, 0.2, 0.5),
    "p_oos": (0.0, 0.2, 0.5),
    "t_max": (3, 7, 12),
    "p_noise": (0.0, 0.06, 0.125),
    "p_switch": (0.0, 0.5, 1.0),
    "top_k": (40, 100, 200),
    "h_orders": (12, 20, 40),
    "b_branch": (1, 2, 4),
    "b_tool": (2, 4, 6),
    "k_rec": (1, 3, 6),
}
"""Rising values of each axis."""


def parts(episode: Episode) -> list[Intent[Any]]:
    """Return the episode's intents: its own, or those of its errands."""
    return list(episode.scenario.intents)


def search(episode: Episode, query: str, offset: int = 0, limit: int = 10) -> Any:
    """Return the tool result of a search."""
    args = {"query": query, "limit": limit, "offset": offset}
    return episode.step({"tool_calls": [{"name": "catalog_search", "args": args}]}).tool_results[0]


def constraints(episode: Episode) -> float:
    """Conditions in the goal: triples of attribute, operator, value."""

    def count(part: Any) -> int:
        if isinstance(part, Mapping):
            return sum(map(count, part.values()))
        if not isinstance(part, list):
            return 0
        is_one = len(part) == 3 and part[1] in [op.value for op in Op] and isinstance(part[0], str)
        return 1 if is_one else sum(map(count, part))

    return count(episode.goal_json())


def omissions(episode: Episode) -> float:
    """Slots that are left out of the first message."""
    customer = episode.conversation.current.customer if episode.environment.about.members else episode.customer
    return float(customer.left_out)


def degraded(episode: Episode) -> float:
    """Results that differ from those of a search without distractors."""
    clean = restarted(episode, eps_rank=0.0)
    pages = ([card["product_id"] for card in search(each, "steel").result["results"]] for each in (episode, clean))
    return float(sum(one != other for one, other in zip(*pages, strict=True)))


def stockouts(episode: Episode) -> float:
    """Things of the wanted kinds that sell out once they are shown: products, or variants of the wanted one."""
    count = 0
    for part in parts(episode):
        if isinstance(part.stockout, VariantStockout):
            row = next(item.row for item in part.goal.items)
            count += len(part.world.variants(row)) - len(standing_variants(part.world, row))
        elif part.stockout is not None:
            count += len(ProductCoins(part.world, part.subjects[-1].category).fallen)
    return count


def budget(episode: Episode) -> float:
    """Turns without an answer until the episode ends."""
    turns = 0
    while not episode.done:
        turns = episode.step({}).turn
    assert episode.result is not None
    assert episode.result.termination is Termination.TURN_BUDGET
    return turns


def noise(episode: Episode) -> float:
    """Share of the first message's words that noise has touched."""
    clean = restarted(episode, p_noise=0.0).opening.user_message.split()
    noisy = episode.opening.user_message.split()
    return len(set(clean) - set(noisy)) / len(clean)


def switches(episode: Episode) -> float:
    """Errands that the customer will interrupt, and those in which they will change their mind."""
    intents = episode.scenario.intents
    return float(sum(intent.is_interrupted + (intent.revision is not None) for intent in intents))


def depth(episode: Episode) -> float:
    """The deepest result that a search pages to."""
    episode = restarted(episode, t_max=100)
    deepest = 0
    for end in range(20, 240, 20):
        shown = search(episode, "a", offset=end - 10)
        if shown.code is DomainCode.PAGE_TOO_DEEP:
            break
        deepest = end
    return deepest


def orders(episode: Episode) -> float:
    """Orders in the customer's history, as the store lists them."""
    seen = episode.step({"tool_calls": [{"name": "order_list", "args": {}}]}).tool_results[0]
    assert seen.result is not None
    return float(seen.result["total_orders"])


def conditions(episode: Episode) -> float:
    """Conditions that a rule of the policy book needs: of the question asked, or of what can be returned."""
    asked = [len(goal["section_ids"]) for goal in questions(episode.goal_json())]
    book = episode.intent.world.book
    of_returns = len(book.rule(ONLINE_RETURN).adjustments) + (book.final_sale.department is not None)
    return sum(asked) if asked else of_returns


def questions(goal: Any) -> Iterator[Any]:
    """Yield the goals, at any depth, that name sections of the policy book."""
    if isinstance(goal, Mapping):
        if "section_ids" in goal:
            yield goal
        for part in goal.values():
            yield from questions(part)
    elif isinstance(goal, list):
        for part in goal:
            yield from questions(part)


def calls(episode: Episode) -> float:
    """The most tool calls that one action may hold."""
    tool = next(tool for tool in episode.environment.about.tools.values() if not tool.is_free)
    call = {"name": tool.name, "args": dict.fromkeys(tool.schema["function"]["parameters"]["required"], "x")}
    most = 0
    for count in range(1, 10):
        seen = restarted(episode).step({"tool_calls": [call] * count})
        if seen.result is not None and seen.result.termination is Termination.FORMAT_FAILURE:
            break
        most = count
    return most


def listed(episode: Episode) -> float:
    """Products in the list that scores 1."""
    if episode.environment.about.members:
        lists = [part.get("goal", {}).get("recommended_product_ids", ()) for part in episode.goal_json()["intents"]]
        return sum(map(len, lists))
    played = solution(episode.environment, episode.intent.world.shop, episode.spec)
    assert played.result.is_correct
    return len(played.last["answer"]["recommended_product_ids"])


MEASURES: Mapping[str, Callable[[Episode], float]] = {
    "m": constraints,
    "p_missing": omissions,
    "eps_rank": degraded,
    "p_oos": stockouts,
    "t_max": budget,
    "p_noise": noise,
    "p_switch": switches,
    "top_k": depth,
    "h_orders": orders,
    "b_branch": conditions,
    "b_tool": calls,
    "k_rec": listed,
}
"""What each axis is about."""


def restarted(episode: Episode, **axes: float) -> Episode:
    """Return the same episode from its start, with further axes overridden."""
    spec = episode.spec
    changed = tuple(sorted({**dict(spec.axes), **axes}.items()))
    again = EpisodeSpec(spec.env_id, spec.difficulty, spec.seed, spec.split, spec.style, changed)
    return Episode(episode.intent.world.shop, again, episode.id)


def start(shop: Shop, env_id: str, seed: int, **axes: float) -> Episode:
    """Return an episode at :data:`DIFFICULTY`."""
    return Episode(shop, EpisodeSpec(env_id, DIFFICULTY, seed, axes=tuple(axes.items())), "episode")


LIVE_CELLS = [(env_id, axis) for env_id, axes in sorted(LIVE.items()) for axis in VALUES if axis in axes]
DEAD_CELLS = [(env_id, axis) for env_id, axes in sorted(LIVE.items()) for axis in VALUES if axis not in axes]
ROOMIER = {("BUNDLE", "m"): (2, 6, 10)}
"""Every fourth constraint is one more wish for each thing of a bundle."""
SHARED_WORLD = {("STATUS", "b_branch")}
"""Dead for the task, yet not for the dates it shows: some orders are as old as the store's return window is long."""


def test_every_axis_is_measured_and_lives_somewhere() -> None:
    assert set(VALUES) == set(MEASURES) == set(AXES)
    assert {axis for _, axis in LIVE_CELLS} == set(AXES)
    assert len(LIVE_CELLS) + len(DEAD_CELLS) == len(environments()) * len(VALUES)


@pytest.mark.parametrize(("env_id", "axis"), LIVE_CELLS)
def test_a_live_axis_moves_what_it_is_about(wide_shop: Shop, env_id: str, axis: str) -> None:
    """Over the same seeds, the mean rises with each value."""
    values = ROOMIER.get((env_id, axis), VALUES[axis])
    measured = [
        [MEASURES[axis](start(wide_shop, env_id, seed, **{axis: value})) for seed in range(SEEDS)] for value in values
    ]
    totals = [sum(row) for row in measured]
    assert len(totals) >= 2
    assert all(less < more for less, more in pairwise(totals)), f"{axis} = {values} gives {totals}"


@pytest.mark.parametrize(("env_id", "axis"), [cell for cell in DEAD_CELLS if cell not in SHARED_WORLD])
def test_a_dead_axis_moves_nothing(wide_shop: Shop, env_id: str, axis: str) -> None:
    for seed in range(2):
        low, high = (shown(wide_shop, env_id, seed, axis, value) for value in (VALUES[axis][0], VALUES[axis][-1]))
        assert low == high


@cache
def shown(shop: Shop, env_id: str, seed: int, axis: str, value: float) -> tuple[str, ...]:
    """Return everything that the environment's own solution is shown, and the goal."""
    spec = EpisodeSpec(env_id, DIFFICULTY, seed, axes=((axis, value),))
    played = solution(environments()[env_id], shop, spec)
    return (*played.transcript, str(played.episode.goal_json()))
