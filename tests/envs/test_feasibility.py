"""Every episode can be done within its budgets, in both styles, by one who asks for everything first (SPEC §2.3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from ecom_rlve.envs.check import Played, solution
from ecom_rlve.envs.environment import Environment, Scenario
from ecom_rlve.envs.episode import EpisodeSpec
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.shop import Shop
from ecom_rlve.models import MAX_DIFFICULTY, Style

FACTS_PER_QUESTION = 3
STYLES: tuple[Style, ...] = ("turn", "tool")


class Need(NamedTuple):
    """What one episode takes at most, and what there is."""

    own: int
    """Turns of the agent's own budget that the solution uses."""
    total: int
    """Turns in all: every left-out slot is asked for first, three at a time, and the customer causes those turns."""
    t_max: int


@pytest.fixture(scope="module")
def wide_shop() -> Shop:
    """Return a shop of 2,000 products."""
    return Shop.open("synthetic:2000:0")


def askable(scenario: Scenario[Any], environment: Environment[Any]) -> Iterator[int]:
    """Yield, for each errand, how many slots may have been left out."""
    parts = [intent.scenario for intent in scenario.goal.intents] if environment.is_journey else [scenario]
    for part in parts:
        yield sum(not slot.is_essential for slot in part.slots)


def need(played: Played) -> Need:
    """Return what an agent needs that asks for everything and then does what the solution does."""
    episode = played.episode
    asks = sum(-(-count // FACTS_PER_QUESTION) for count in askable(episode.scenario, episode.environment))
    return Need(episode.turns - episode.customer_caused, asks + episode.turns, episode.t_max)


def tightest(shop: Shop, env_id: str, seeds: int) -> dict[tuple[Style, int], Need]:
    """Play the solution at every difficulty; returns the tightest need by style and difficulty."""
    environment = environments()[env_id]
    needs: defaultdict[tuple[Style, int], list[Need]] = defaultdict(list)
    for d in range(min(MAX_DIFFICULTY, environment.max_difficulty(shop)) + 1):
        for style in STYLES:
            for seed in range(seeds):
                played = solution(environment, shop, EpisodeSpec(env_id, d, seed, style=style))
                assert played.result.is_correct, (env_id, d, seed, style, played.result)
                needs[style, d].append(need(played))
    return {
        cell: Need(max(each.own for each in some), max(each.total for each in some), min(each.t_max for each in some))
        for cell, some in needs.items()
    }


def check(env_id: str, needs: dict[tuple[Style, int], Need]) -> None:
    """Print the worst margins and require that there is one everywhere."""
    own_style, own_d = min(needs, key=lambda cell: needs[cell].t_max - needs[cell].own)
    all_style, all_d = min(needs, key=lambda cell: 2 * needs[cell].t_max - needs[cell].total)
    own, total = needs[own_style, own_d], needs[all_style, all_d]
    print(
        f"\n{env_id}: worst own budget {own.own} of {own.t_max} turns (d={own_d}, {own_style}), "
        f"worst in all {total.total} of {2 * total.t_max} (d={all_d}, {all_style})"
    )
    for cell, each in needs.items():
        assert each.own <= each.t_max, (env_id, cell, each)
        assert each.total <= 2 * each.t_max, (env_id, cell, each)


@pytest.mark.parametrize("env_id", environments())
def test_every_difficulty_is_feasible(wide_shop: Shop, env_id: str) -> None:
    check(env_id, tightest(wide_shop, env_id, seeds=5))


@pytest.mark.slow
@pytest.mark.parametrize("env_id", environments())
def test_every_difficulty_is_feasible_on_many_seeds(wide_shop: Shop, env_id: str) -> None:
    check(env_id, tightest(wide_shop, env_id, seeds=50))
