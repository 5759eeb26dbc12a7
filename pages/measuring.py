"""Counting how episodes were drawn: the rows of the difficulty tables.

A row is measured as two sums over the episodes, (how many did, out of how many); its cell shows their quotient.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from describing import Count, Counts, Row
from rapidfuzz.distance import Levenshtein

from ecom_rlve.client.text import render
from ecom_rlve.envs.customer.customer import Customer
from ecom_rlve.envs.difficulty import axes_of
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.parts.stockout import ShelfStockout
from ecom_rlve.envs.tasks.cart.stockout import ProductStockout, VariantStockout
from ecom_rlve.envs.tools.catalog import SearchArgs, ranked_page
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.stockout import ProductCoins, standing_variants
from ecom_rlve.evaluation.agent import one_at_a_time
from ecom_rlve.evaluation.agents import make_expert
from ecom_rlve.evaluation.in_process import told
from ecom_rlve.models import Style

_BYTES_A_TOKEN = 4


def episode(shop: Shop, env_id: str, d: int, seed: int, style: Style = "turn", **axes: float) -> Episode:
    """Return an episode in which single axes are overridden."""
    return Episode(shop, EpisodeSpec(env_id, d, seed, style=style, axes=tuple(sorted(axes.items()))), "measured")


def common_counts(shop: Shop, env_id: str, d: int, seed: int) -> Counts:
    """Count what all environments share, in one episode and in others that differ from it in a single axis."""
    plain = episode(shop, env_id, d, seed)
    world = plain.world
    silent, loud = (episode(shop, env_id, d, seed, p_noise=p).opening.user_message for p in (0.0, 1.0))
    coins = [_coins(intent) for intent in plain.scenario.intents if intent.stockout is not None]
    counts: Counts = {
        "left out": _left_out(plain),
        "sells out": (sum(fallen for fallen, _ in coins), sum(thrown for _, thrown in coins)),
        "slipped": (
            _touched(silent.split(), plain.opening.user_message.split()),
            _touched(silent.split(), loud.split()),
        ),
        "turns": (plain.t_max, 1),
        "depth": (plain.axes.top_k, 1),
        "calls": (plain.axes.b_tool, 1),
        "redraws": (plain.scenario.redraws, 1),
        "orders": (len(world.orders), 1),
    }
    if "catalog_search" in plain.environment.about.tool_names:
        args = SearchArgs(query=plain.scenario.intents[-1].subjects[-1].plural or "products")
        found, _ = ranked_page(world, args)
        undisturbed, _ = ranked_page(episode(shop, env_id, d, seed, eps_rank=0.0).world, args)
        counts["replaced"] = (_differing(found, undisturbed), len(found))
    return counts


def solved(shop: Shop, env_id: str, d: int, seed: int, style: Style) -> float:
    """Play an environment's own solution to the end and return r_total."""
    played = episode(shop, env_id, d, seed, style)
    while True:
        observation = played.step(one_at_a_time(played.solve(), style))
        if observation.result is not None:
            return observation.result.r_total


class ExpertPlay(NamedTuple):
    """The result of an episode of the expert."""

    tokens: float
    """Tokens read and written, at four bytes of text each."""
    sold_out: int
    """Things of the kinds of which some sell out that did."""
    could: int
    """Such things that were shown: products, or variants of products that were read."""


def expert_play(shop: Shop, env_id: str, d: int, seed: int, style: Style) -> ExpertPlay:
    """Play the expert to the end."""
    played = episode(shop, env_id, d, seed, style)
    agent, seen, size = make_expert(env_id), played.opening, 0
    while not seen.done:
        action = agent.act(told(played, seen))
        size += len(render(seen).encode()) + len(json.dumps(action, ensure_ascii=False).encode())
        seen = played.step(action)
    met = [_met(intent) for intent in played.scenario.intents if intent.stockout is not None]
    return ExpertPlay(size / _BYTES_A_TOKEN, sum(int(gone) for gone, _ in met), sum(int(shown) for _, shown in met))


def _coins(intent: Intent[Any]) -> Count:
    """Return how many coins have fallen and were thrown: for a kind's products, or for the wanted one's variants."""
    world, stockout = intent.world, intent.stockout
    if isinstance(stockout, VariantStockout):
        row = intent.goal.items[stockout.item].row
        thrown = len(world.variants(row))
        return thrown - len(standing_variants(world, row)), thrown
    coins = _product_coins(intent)
    return len(coins.fallen), len(world.shop.aisle(coins.category))


def _met(intent: Intent[Any]) -> Count:
    """Return how many things of the kind that sells out have done so and were shown."""
    world, catalog = intent.world, intent.world.shop.catalog
    if isinstance(intent.stockout, VariantStockout):
        kind = intent.subjects[intent.stockout.item].category
        read = [row for row in world.variants_read if catalog.category_of(row).name == kind]
        variants = [variant.id for row in read for variant in world.variants(row)]
        return len(world.sold_out_variants.intersection(variants)), len(variants)
    kind = _product_coins(intent).category
    shown = [row for row in world.shown if catalog.category_of(row).name == kind]
    return len(world.sold_out.intersection(shown)), len(shown)


def _product_coins(intent: Intent[Any]) -> ProductCoins:
    assert isinstance(intent.stockout, ProductStockout | ShelfStockout)
    return intent.stockout.coins


def _left_out(played: Episode) -> Count:
    intents = played.scenario.intents
    slots = [slot for intent in intents for slot in intent.slots]
    could = sum(not (slot.is_essential or slot.is_on_request) for slot in slots)
    return sum(Customer(intent).left_out for intent in intents), could


def _differing(one: Sequence[object], other: Sequence[object]) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))


def _touched(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many words noise has touched; two that it ran together count once."""
    return Levenshtein.distance(one, other) - (len(one) - len(other))


def cells(row: Row, by_d: dict[int, list[Counts]]) -> list[str]:
    """Return the cells of a row: the formula's value and the measured one."""
    shown = []
    for d, episodes in by_d.items():
        counted = [counts[row.key] for counts in episodes]
        did, of = sum(one for one, _ in counted), sum(one for _, one in counted)
        stated, measured = row.value(axes_of(d)), number(did / of) if of else "–"
        shown.append(measured if stated != stated else f"{number(stated)} / {measured}")
    return shown


def number(value: float) -> str:
    """Return a number as a cell shows it: a whole one without decimals."""
    return str(int(value)) if float(value).is_integer() and value >= 1 else f"{value:.3f}"
