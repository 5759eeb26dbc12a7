"""Stock-outs that miss the goal have nothing to do with it: neither the moment nor the place tells what is wanted."""

from __future__ import annotations

from typing import Any

import pytest

from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.errand import Intent, Stockout
from ecom_rlve.envs.world.shop import Shop

MISS = (("eps_rank", 0.0), ("p_noise", 0.0), ("p_oos", 0.0), ("t_max", 200.0))


def stockout_of(intent: Intent[Any]) -> Stockout[Any]:
    """Return what may sell out; fails where nothing can."""
    assert intent.stockout is not None
    return intent.stockout


@pytest.fixture(scope="module")
def store(wide_shop: Shop) -> Shop:
    return wide_shop


def search(kind: str) -> dict[str, Any]:
    return {"tool_calls": [{"name": "catalog_search", "args": {"query": "", "category": kind, "limit": 10}}]}


def kinds_of(episode: Episode) -> set[str]:
    return {subject.category for subject in episode.intent.subjects}


def sold_out_since(episode: Episode, before: set[int]) -> set[str]:
    catalog = episode.intent.world.shop.catalog
    return {catalog.category_of(row).name for row in episode.intent.world.sold_out - before}


@pytest.mark.parametrize("env_id", ["BUNDLE", "PD", "SUB"])
def test_a_miss_comes_with_the_first_kind_that_was_shown_often_enough(store: Shop, env_id: str) -> None:
    kinds = store.kinds(12)
    for seed in range(20):
        episode = Episode(store, EpisodeSpec(env_id, 9, seed, axes=MISS), "miss")
        before = set(episode.intent.world.sold_out)
        others = [kind for kind in kinds if kind not in kinds_of(episode)]
        other = others[seed % len(others)]
        episode.step(search(other))
        assert episode.intent.stockout is not None
        assert stockout_of(episode.intent).plan.fired
        assert sold_out_since(episode, before) == {other}


@pytest.mark.parametrize("env_id", ["BUNDLE", "PD", "SUB"])
def test_in_the_wanted_kind_a_miss_waits_for_the_wanted_one_no_longer_than_for_others(store: Shop, env_id: str) -> None:
    """Before, what sold out told that the wanted product was on the page just read."""
    fired = early = 0
    for seed in range(40):
        episode = Episode(store, EpisodeSpec(env_id, 9, seed, axes=MISS), "miss")
        intent = episode.intent
        goal, world, plan = intent.goal, intent.world, stockout_of(intent).plan
        assert plan is not None
        wanted = goal.needs[plan.item - 1].cheapest if env_id == "BUNDLE" else goal.wanted
        kind = world.shop.catalog.category_of(wanted).name
        for offset in range(0, 60, 10):
            call = {"query": "", "category": kind, "limit": 10, "offset": offset, "sort": "rating_desc"}
            episode.step({"tool_calls": [{"name": "catalog_search", "args": call}]})
            if plan.fired:
                break
        fired += plan.fired
        early += plan.fired and wanted not in world.shown
        assert wanted not in world.sold_out
    assert fired >= 30
    assert early >= 8


def test_in_a_journey_a_miss_leaves_alone_what_other_errands_are_about(store: Shop) -> None:
    met = 0
    for seed in range(40):
        episode = Episode(store, EpisodeSpec("JOURNEY", 4, seed, axes=MISS), "miss")
        intents = episode.scenario.intents
        own, others = ({each.category for each in intent.subjects if each.category} for intent in intents[:2])
        if intents[0].errand.about.id not in ("BUNDLE", "CART", "PD", "SUB") or not others:
            continue
        before = set(episode.intent.world.sold_out)
        for kind in sorted(others):
            episode.step(search(kind))
        assert not sold_out_since(episode, before) & (others - own)
        met += 1
    assert met >= 8
