"""The experts of CART, PD, SUB and BUNDLE: they ask, check, look again and report, and so are right nearly always."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import sqrt
from statistics import fmean, variance
from typing import Any

import pytest

from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.language.acts import ActKind
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agents import make_expert, policies_of
from ecom_rlve.evaluation.in_process import listed_of, play, told
from ecom_rlve.models import EpisodeResult, Observation, Style

BUYING = ("BUNDLE", "CART", "PD", "SUB")
STYLES: tuple[Style, ...] = ("turn", "tool")


def start(store: Shop, env_id: str, d: int, seed: int = 0, style: Style = "turn", **axes: float) -> Episode:
    return Episode(store, EpisodeSpec(env_id, d, seed, style=style, axes=tuple(sorted(axes.items()))), "episode")


def result(store: Shop, env_id: str, name: str, d: int, seed: int, style: Style = "turn") -> EpisodeResult:
    return play(start(store, env_id, d, seed, style), make_expert(env_id, name))


def steps(episode: Episode) -> Iterator[tuple[dict[str, Any], Observation]]:
    """Yield the expert's actions with what came of each."""
    agent, seen = make_expert(episode.environment.about.id), episode.opening
    while not seen.done:
        action = agent.act(told(episode, seen))
        seen = episode.step(action)
        yield action, seen


def is_right(episode: Episode) -> bool:
    return episode.result is not None and episode.result.is_correct


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("env_id", BUYING)
def test_what_was_left_out_is_asked_for(store: Shop, env_id: str, style: Style) -> None:
    episode = start(store, env_id, 3, style=style, p_missing=1.0, p_oos=0.0)
    asked = [action["assistant_message"] for action, _ in steps(episode) if action.get("assistant_message")]
    assert asked
    assert all("?" in message for message in asked)
    assert is_right(episode)
    assert episode.customer_caused > 0


@pytest.mark.parametrize("env_id", ["CART", "PD", "SUB"])
def test_nothing_is_asked_that_was_said(store: Shop, env_id: str) -> None:
    for seed in range(5):
        episode = start(store, env_id, 3, seed, p_missing=0.0, p_oos=0.0)
        # Whether a variant or anything else is wanted too may be asked; nothing is told twice.
        assert not [act for _ in steps(episode) for act in episode.acts if act.kind is ActKind.ANSWER]
        assert is_right(episode)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("env_id", BUYING)
def test_results_that_took_the_place_of_others_are_no_trap(store: Shop, env_id: str, style: Style) -> None:
    for seed in range(3):
        episode = start(store, env_id, 3, seed, style, eps_rank=0.4, p_oos=0.0, p_missing=0.0)
        assert [None for _ in steps(episode)]
        assert is_right(episode)


@pytest.mark.parametrize("style", STYLES)
def test_stock_outs_are_reported_and_the_customer_decides(store: Shop, style: Style) -> None:
    fell_back = 0
    for seed in range(30):
        episode = start(store, "CART", 6, seed, style, p_oos=0.6, p_switch=0.0)
        wanted = episode.intent.goal.items
        reported = [
            action["assistant_message"]
            for action, _ in steps(episode)
            if "sold out" in action.get("assistant_message", "")
        ]
        has_changed = episode.intent.goal.items != wanted
        assert bool(reported) >= has_changed
        fell_back += has_changed and is_right(episode)
    assert fell_back >= 4


@pytest.mark.parametrize("env_id", ["BUNDLE", "PD", "SUB"])
def test_what_may_have_sold_out_is_looked_at_again(store: Shop, env_id: str) -> None:
    hit = right = 0
    for seed in range(8):
        episode = start(store, env_id, 6, seed, p_oos=0.5)
        before = set(episode.world.sold_out)
        actions = [action for action, _ in steps(episode)]
        best = actions[-1]["answer"]["recommended_product_ids"][0]
        world = episode.intent.world
        assert world.stock(world.row_of(best)) > 0
        right += is_right(episode)
        hit += len(world.sold_out - before)
    assert right >= 7
    assert hit >= 15


def test_the_visit_history_is_looked_at(store: Shop) -> None:
    first, _ = next(steps(start(store, "CART", 3)))
    assert {"name": "user_get_visit_history", "args": {}} in first["tool_calls"]


@pytest.mark.parametrize("env_id", BUYING)
def test_a_tool_at_a_time_leaves_the_turn_open(store: Shop, env_id: str) -> None:
    taken = list(steps(start(store, env_id, 6, style="tool")))
    assert len(taken) >= 3
    for action, _ in taken:
        calls = action["tool_calls"]
        assert len(calls) <= 1 or action.get("answer")
        assert ("end_turn" in action) == bool(calls and not action.get("answer"))


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("env_id", BUYING)
def test_experts_are_right(store: Shop, env_id: str, style: Style) -> None:
    results = [result(store, env_id, "expert", d, seed, style) for d in (0, 6, 12) for seed in range(5)]
    assert sum(each.is_correct for each in results) >= len(results) - 1
    assert not any(each.reason or each.r_hall for each in results)


@pytest.mark.parametrize("env_id", BUYING)
@pytest.mark.parametrize("name", ["first_hit", "never_asks", "guess_and_wait", "ignores_stock", "ignores_filters"])
def test_lazy_rungs_do_it_worse(store: Shop, lazy: Callable[[str], list[str]], env_id: str, name: str) -> None:
    assert name in lazy(env_id)
    weaker, expert = ([result(store, env_id, each, 6, seed) for seed in range(14)] for each in (name, "expert"))
    assert fmean(each.r_total for each in weaker) < fmean(each.r_total for each in expert)
    assert sum(each.is_correct for each in weaker) <= sum(each.is_correct for each in expert) - 2


def test_who_always_lists_the_cheapest_first_is_no_expert(store: Shop) -> None:
    policies = policies_of("PD", listed_of(store))
    assert "cheapest_first" in policies.lazy
    right = 0
    for seed in range(30):
        played = play(start(store, "PD", 3, seed), policies.make("cheapest_first"))
        right += played.is_correct
        assert played.r_hall >= 0
    assert right <= 24


@pytest.mark.slow
def test_a_cart_grows_harder_for_who_compares_nothing_up_to_the_highest_difficulty(big_shop: Shop) -> None:
    """Five items are wanted from d = 12 on; the share of them that are right still falls, but not the expert's."""
    seeds = 400
    right = {
        d: [(result(big_shop, "CART", "first_hit", d, seed).r_task + 1) / 2 for seed in range(seeds)]
        for d in (12, 16, 20)
    }
    for easier, harder in ((12, 16), (16, 20)):
        error = sqrt((variance(right[easier]) + variance(right[harder])) / seeds)
        assert fmean(right[easier]) - fmean(right[harder]) > 2 * error, (easier, harder)
    for d in right:
        assert sum(result(big_shop, "CART", "expert", d, seed).is_correct for seed in range(40)) >= 0.85 * 40


@pytest.mark.slow
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("d", [0, 3, 6, 9, 12])
@pytest.mark.parametrize("env_id", BUYING)
def test_experts_are_a_yardstick(big_shop: Shop, env_id: str, d: int, style: Style) -> None:
    """SPEC §11: 0.95 at d = 0 and 0.85 from there on; of 60 episodes, two more may be missed by chance."""
    right = sum(result(big_shop, env_id, "expert", d, seed, style).is_correct for seed in range(60))
    assert right >= (55 if d == 0 else 49)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("env_id", ["CART", "PD"])
def test_what_was_said_last_is_what_is_done(store: Shop, env_id: str, style: Style) -> None:
    """Where everyone changes their mind, the expert does as they say, even of what it has done already."""
    right = fell = 0
    for d in (0, 3, 6, 9):
        for seed in range(8):
            episode = start(store, env_id, d, seed, style=style, p_switch=1.0)
            fell += sum(any(act.kind is ActKind.REVISE for act in episode.acts) for _ in steps(episode))
            right += is_right(episode)
    assert fell >= 16
    assert right >= 28


def test_a_cart_that_holds_what_was_wanted_before_is_changed(store: Shop) -> None:
    changed: set[str] = set()
    for seed in range(40):
        episode = start(store, "CART", 3, seed, STYLES[seed % 2], p_switch=1.0, p_missing=0.0, p_oos=0.0, t_max=20)
        names = [call["name"] for action, _ in steps(episode) for call in action.get("tool_calls") or ()]
        assert is_right(episode)
        changed.update(names)
    assert {"cart_set_quantity", "cart_remove"} <= changed
