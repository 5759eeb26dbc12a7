"""CART against the contract (SPEC §3, §4, §6): identifiable, solvable, drawn as stated, scored exactly."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import exp
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from ecom_rlve.catalog.constraints import satisfied
from ecom_rlve.envs.customer.customer import Customer
from ecom_rlve.envs.difficulty import axes_of
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.errors import GenerationError
from ecom_rlve.envs.splits import split_of
from ecom_rlve.envs.tasks.cart.environment import ENVIRONMENT as CART
from ecom_rlve.envs.tasks.cart.goal import CartGoal, WantedItem, items_at
from ecom_rlve.envs.tasks.cart.lookalikes import with_lookalike
from ecom_rlve.envs.tools.cart import AddArgs
from ecom_rlve.envs.tools.registry import TOOLS
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.stockout import ProductCoins
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import EpisodeResult, Split, Style
from ecom_rlve.streams import Streams

Start = Callable[..., Episode]
LEVELS = (0, 3, 6, 9, 12)
SPLITS: tuple[Split, ...] = ("train", "eval", "test")
SEEDS = 500
PLAIN = {"p_missing": 0.0, "p_oos": 0.0, "p_noise": 0.0, "eps_rank": 0.0}


def draw(shop: Shop, d: int, seed: int, split: Split = "train") -> tuple[Intent[CartGoal], Streams]:
    """Draw the intent of an episode, with its random streams."""
    streams = Streams("episode", "CART", split, seed)
    (intent,) = CART.draw(World(shop, axes_of(d), streams, split), streams).intents
    return intent, streams


def items(intent: Intent[CartGoal]) -> list[WantedItem]:
    """Return the wanted items that were not left out."""
    return [item for item in intent.goal.items if item is not None]


def play(episode: Episode) -> tuple[EpisodeResult, int]:
    """Let the environment's own solution play; returns the result and the number of turns."""
    while True:
        action = CART.solve(episode.intent)
        calls = action.get("tool_calls") or []
        if episode.spec.style == "tool" and len(calls) > 1:
            action = {"tool_calls": calls[:1], "end_turn": False}
        seen = episode.step(action)
        if seen.result is not None:
            return seen.result, episode.turns


# --- Identifiability --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", LEVELS)
def test_the_facts_of_each_item_single_out_one_product_of_its_kind(big_shop: Shop, d: int) -> None:
    catalog = big_shop.catalog
    for seed in range(150):
        intent, _ = draw(big_shop, d, seed)
        assert len(items(intent)) == items_at(d) == len(intent.subjects)
        for at, item in enumerate(items(intent)):
            rows = catalog.rows_of_category(intent.subjects[at].category)
            for slot in intent.slots:
                if slot.item == at and slot.name not in ("quantity", "variant"):
                    rows = rows[satisfied(catalog, slot.fact.constraint, rows)]
            assert rows.tolist() == [item.row]


@pytest.mark.parametrize("d", LEVELS)
def test_goal_slots_and_tools_speak_of_one_object(big_shop: Shop, d: int) -> None:
    """Quantity and variant that the customer can say are the goal's and the tools' (T6)."""
    spoken = 0
    for seed in range(150):
        intent, _ = draw(big_shop, d, seed)
        for at, item in enumerate(items(intent)):
            facts = {slot.name: slot.fact.constraint for slot in intent.slots if slot.item == at}
            assert facts["quantity"].value == item.quantity
            assert ("variant" in facts) == (item.variant is not None)
            spoken += 1
            listed = TOOLS["catalog_get_variants"]
            shown = listed.run(
                intent.world, listed.args.model_validate({"product_id": big_shop.catalog.ids[item.row]})
            )["variants"]
            if item.variant is None:
                continue
            wanted = facts["variant"]
            spelled = [entry for entry in shown if entry["variant_id"] == item.variant.id]
            assert len(spelled) == 1
            value = str(spelled[0][wanted.attribute])
            assert value == wanted.value or float(value.split()[0]) == wanted.value
            assert len({str(entry[wanted.attribute]) for entry in shown}) == len(shown), "one variant has the value"
    assert spoken >= 150


@pytest.mark.parametrize("d", LEVELS)
def test_targets_can_be_wanted(big_shop: Shop, d: int) -> None:
    """In stock, of different kinds, of the split, and silent on the variant in title and card."""
    catalog = big_shop.catalog
    for seed in range(150):
        split = SPLITS[seed % 3]
        intent, _ = draw(big_shop, d, seed, split)
        rows = [item.row for item in items(intent)]
        assert len({catalog.category_of(row).name for row in rows}) == len(rows)
        assert [catalog.category_of(row).name for row in rows] == [s.category for s in intent.subjects]
        for item in items(intent):
            attribute = catalog.category_of(item.row).variant_attribute
            assert split_of(catalog.titles[item.row]) == split
            assert intent.world.stock(item.row) >= item.quantity
            assert attribute not in intent.world.card(item.row)
            title = f" {catalog.titles[item.row].casefold()} "
            for variant in intent.world.variants(item.row):
                if isinstance(variant.value, str):
                    assert f" {variant.value.casefold()} " not in title


def test_splits_are_disjoint(big_shop: Shop) -> None:
    found: dict[str, set[str]] = {}
    for split in SPLITS:
        titles = found.setdefault(split, set())
        for seed in range(300):
            intent, _ = draw(big_shop, 9, seed, split)
            titles.update(big_shop.catalog.titles[item.row].casefold() for item in items(intent))
    assert all(len(titles) > 100 for titles in found.values())
    assert not found["train"] & found["eval"]
    assert not found["train"] & found["test"]
    assert not found["eval"] & found["test"]


def test_equal_seeds_of_different_splits_share_nothing(big_shop: Shop) -> None:
    train, held_out = (Episode(big_shop, EpisodeSpec("CART", 6, 5, split), "x") for split in SPLITS[:2])
    assert train.opening.user_message != held_out.opening.user_message
    assert train.intent.world.history != held_out.intent.world.history


# --- Shares of section 3 ----------------------------------------------------------------------------------------------


def _is_near(measured: float, stated: float, trials: int) -> bool:
    """Tell whether a share lies within 10 % or three standard errors of what is stated."""
    error: float = (stated * (1 - stated) / trials) ** 0.5
    return abs(measured - stated) <= max(0.1 * stated, 3 * error)


@pytest.mark.parametrize("d", LEVELS)
def test_measured_shares_are_those_of_the_contract(big_shop: Shop, d: int) -> None:
    units: list[int] = []
    variants = left_out = slots = stockouts = goods = redraws = 0
    for seed in range(SEEDS):
        intent, _streams = draw(big_shop, d, seed)
        redraws += intent.redraws
        kind = intent.subjects[0].category
        stockouts += len(ProductCoins(intent.world, kind).fallen)
        goods += len(big_shop.catalog.rows_of_category(kind))
        left_out += Customer(intent).left_out
        slots += len(intent.slots)
        units += [item.quantity for item in items(intent)]
        variants += sum(item.variant is not None for item in items(intent))
    count = len(units)
    shares = {
        "variant": (variants / count, 1 / (1 + exp(-(d - 2) / 1.5)), count),
        "quantity": (sum(each > 1 for each in units) / count, min(0.5, 0.1 * d), count),
        "missing": (left_out / slots, 0.8 / (1 + exp(-(d - 3.5) / 1.3)), slots),
        "stock-out": (stockouts / goods, min(0.5, 0.05 * d), goods),
    }
    print(f"d={d}", {name: f"{measured:.3f} ({stated:.3f})" for name, (measured, stated, _) in shares.items()})
    print(f"d={d} redraws per item: {redraws / count:.4f}")
    for name, (measured, stated, trials) in shares.items():
        assert _is_near(measured, stated, trials), (name, measured, stated)
    assert redraws / count < 0.05
    many = Counter(each for each in units if each > 1)
    if sum(many.values()) > 100:
        assert chisquare([many[each] for each in (2, 3, 4)]).pvalue > 0.001, many
    assert set(units) <= {1, 2, 3, 4}


@pytest.mark.slow
def test_the_wanted_variant_is_uniform_over_places_and_over_the_products_own(big_shop: Shop) -> None:
    places: dict[int, Counter[int]] = {}
    own = expected = variance = 0.0
    for seed in range(1500):
        intent, _ = draw(big_shop, 6, seed)
        for item in items(intent):
            listed = intent.world.variants(item.row)
            assert len(listed) >= 4
            if item.variant is None:
                continue
            places.setdefault(len(listed), Counter())[listed.index(item.variant)] += 1
            value = big_shop.catalog.value(item.row, big_shop.catalog.category_of(item.row).variant_attribute)
            if value is not None:
                own += item.variant.value == value
                expected += 1 / len(listed)
                variance += (1 - 1 / len(listed)) / len(listed)
    for size, counts in places.items():
        assert chisquare([counts[at] for at in range(size)]).pvalue > 0.001, (size, counts)
    assert abs(own - expected) < 4 * variance**0.5, (own, expected)


def test_every_product_comes_in_variants(shop: Shop) -> None:
    """So that having them tells nothing: the numbers are those of the wanted ones too."""
    intent, _ = draw(shop, 6, 0)
    sizes = Counter(len(intent.world.variants(row)) for row in range(shop.catalog.size))
    assert set(sizes) == {6, 7, 8}
    assert chisquare(list(sizes.values())).pvalue > 0.001


def test_a_catalog_too_small_for_a_split_raises_a_typed_error_or_serves(shop: Shop) -> None:
    """Never an endless search, never a goal of another split."""
    outcomes: Counter[str] = Counter()
    small = Shop.open("synthetic:60:1")
    for name, each, d in (("small", small, CART.max_difficulty(small)), ("larger", shop, 20)):
        assert d >= 0
        for seed in range(60):
            for split in SPLITS:
                try:
                    intent, _ = draw(each, d, seed, split)
                except GenerationError:
                    outcomes[f"{name}: refused"] += 1
                    continue
                assert all(each.split(item.row) == split for item in items(intent))
                outcomes[f"{name}: served"] += 1
    print(dict(outcomes))
    assert outcomes["small: served"] > 100
    assert outcomes["larger: served"] > 100


# --- Solvability ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", ["turn", "tool"])
@pytest.mark.every_difficulty
@pytest.mark.parametrize("d", range(21))
def test_who_knows_the_goal_scores_exactly_one_within_the_budgets(big_shop: Shop, style: Style, d: int) -> None:
    for seed in range(20):
        episode = Episode(big_shop, EpisodeSpec("CART", d, seed, style=style), "solved")
        result, turns = play(episode)
        assert (result.r_task, result.is_correct, result.r_hall) == (1.0, True, 0.0), seed
        assert turns <= 2 * episode.axes.t_max
        assert result.effective_turns <= episode.axes.t_max


@pytest.mark.nightly
@pytest.mark.parametrize("split", ["train", "eval", "test"])
@pytest.mark.parametrize("style", ["turn", "tool"])
def test_who_knows_the_goal_scores_exactly_one_in_every_split(big_shop: Shop, style: Style, split: Split) -> None:
    for d in range(21):
        for seed in range(100, 260):
            result, _ = play(Episode(big_shop, EpisodeSpec("CART", d, seed, split, style), "solved"))
            assert (result.r_task, result.is_correct) == (1.0, True), (d, seed)


def test_it_is_solvable_in_a_small_shop_too(shop: Shop) -> None:
    for d in range(0, 21, 2):
        for seed in range(20):
            result, _ = play(Episode(shop, EpisodeSpec("CART", d, seed), "solved"))
            assert result.is_correct, (d, seed)


def test_the_authors_first_episode_to_the_printed_digit(start: Start) -> None:
    """d=1, one product, right cart, three turns of which one was customer-caused: +0.80."""
    for seed in range(40):
        episode = start(1, seed, **PLAIN)
        item = items(episode.intent)[0]
        if item.variant is not None:
            continue
        world = episode.intent.world
        episode.step(CART.solve(episode.intent))
        args = {"product_id": world.shop.catalog.ids[item.row], "quantity": item.quantity}
        episode.step({"tool_calls": [{"name": "cart_add", "args": args}]})
        result = episode.step({"answer": {"done": True}}).result
        assert result is not None
        assert (result.turns, result.effective_turns) == (3, 2)
        assert (result.r_task, round(result.r_eff, 2), result.r_hall, round(result.r_total, 2)) == (
            1.0,
            0.33,
            0.0,
            0.80,
        )
        return
    raise AssertionError("no seed without a variant")


# --- Scoring ----------------------------------------------------------------------------------------------------------


def put(intent: Intent[CartGoal], row: int, variant_id: str | None = None, quantity: int = 1) -> None:
    """Put something that was shown into the cart."""
    intent.world.shown[row] = None
    args: dict[str, Any] = {"product_id": intent.world.shop.catalog.ids[row], "quantity": quantity}
    TOOLS["cart_add"].run(
        intent.world, AddArgs.model_validate(args | ({"variant_id": variant_id} if variant_id else {}))
    )


def fill(intent: Intent[CartGoal], order: list[int] | None = None) -> None:
    """Put everything wanted into the cart."""
    wanted = items(intent)
    for at in order if order is not None else range(len(wanted)):
        item = wanted[at]
        put(intent, item.row, item.variant.id if item.variant else None, item.quantity)


def score(intent: Intent[CartGoal]) -> tuple[float, bool]:
    """Return r_task and whether the cart is right."""
    verdict = CART.verify(intent, None)
    return float(verdict.r_task), verdict.correct


def test_order_and_splitting_of_additions_change_nothing(shop: Shop) -> None:
    for seed in range(40):
        forward, backward, piecewise = (draw(shop, 9, seed)[0] for _ in range(3))
        fill(forward)
        fill(backward, list(range(len(items(backward))))[::-1])
        for item in items(piecewise):
            for _ in range(item.quantity):
                put(piecewise, item.row, item.variant.id if item.variant else None)
        assert score(forward) == score(backward) == score(piecewise) == (1.0, True)


def test_any_variant_counts_where_none_is_wanted_and_they_add_up(shop: Shop) -> None:
    met = 0
    for seed in range(120):
        intent, _ = draw(shop, 3, seed)
        free = [item for item in items(intent) if item.variant is None and item.quantity > 1]
        if not free:
            continue
        met += 1
        for item in items(intent):
            if item is not free[0]:
                put(intent, item.row, item.variant.id if item.variant else None, item.quantity)
        variants = intent.world.variants(free[0].row)
        put(intent, free[0].row, variants[-1].id, free[0].quantity - 1)
        put(intent, free[0].row, variants[2].id, 1)
        assert score(intent) == (1.0, True)
        assert CART.review(intent, None).complete
    assert met > 5


def test_every_deviation_is_a_miss(shop: Shop) -> None:
    """One unit more or less, another variant, another product, a stray one: never correct, always below 1."""
    for seed in range(60):
        wanted = items(draw(shop, 6, seed)[0])
        for spoil in ("more", "less", "variant", "lookalike", "stray"):
            intent, _ = draw(shop, 6, seed)
            for at, item in enumerate(wanted):
                variant, quantity, row = item.variant.id if item.variant else None, item.quantity, item.row
                if at == 0 and spoil == "more":
                    quantity += 1 if quantity < 4 else -1
                elif at == 0 and spoil == "less":
                    quantity -= 1
                elif at == 0 and spoil == "variant" and item.variant:
                    variant = next(v.id for v in intent.world.variants(row) if v != item.variant)
                elif at == 0 and spoil in ("lookalike", "variant"):
                    kin = shop.catalog.rows_of_category(shop.catalog.category_of(row).name).tolist()
                    row = next(r for r in kin if r != row and intent.world.stock(r) >= quantity)
                    variant = None
                if quantity:
                    put(intent, row, variant, quantity)
            if spoil == "stray":
                held = {item.row for item in wanted}
                put(intent, next(r for r in range(400) if r not in held and intent.world.stock(r)))
            r_task, correct = score(intent)
            assert -1 < r_task < 1, spoil
            assert not correct
            assert not CART.review(intent, None).complete


def test_a_product_that_was_never_shown_earns_nothing(start: Start) -> None:
    """Nor does reading it by its id show it (T15)."""
    for seed in range(20):
        episode = start(0, seed, **PLAIN)
        item = items(episode.intent)[0]
        name = episode.intent.world.shop.catalog.ids[item.row]
        add: dict[str, Any] = {"product_id": name, "quantity": item.quantity}
        if item.variant is not None:
            add["variant_id"] = item.variant.id
        episode.step({"tool_calls": [{"name": "catalog_get_variants", "args": {"product_id": name}}]})
        calls = [{"name": "cart_add", "args": add}, {"name": "cart_view", "args": {}}]
        episode.step({"tool_calls": calls})
        result = episode.step({"answer": {"done": True}}).result
        assert result is not None
        assert (result.r_task, result.r_hall, result.is_correct) == (-1.0, -1.0, False)


def test_reads_never_matter(start: Start) -> None:
    """Looking at everything first changes no score but that of time."""
    for seed in range(10):
        plain, curious = (start(3, seed, **PLAIN, t_max=50) for _ in range(2))
        for name, args in (
            ("user_get_visit_history", {}),
            ("cart_view", {}),
            ("catalog_search", {"query": "lamp", "limit": 10}),
        ):
            curious.step({"tool_calls": [{"name": name, "args": args}]})
        assert play(plain)[0].r_task == play(curious)[0].r_task == 1.0


def test_outcomes_are_ordered(start: Start) -> None:
    """Correct above partly right above wrong, no worse than quitting, above a format failure (T14)."""
    for seed in range(10):
        results: dict[str, EpisodeResult | None] = {}
        for name in ("correct", "partly", "wrong", "quit", "prose"):
            episode = start(6, seed, **PLAIN)
            world, wanted = episode.intent.world, items(episode.intent)
            if name == "correct":
                results[name] = play(episode)[0]
                continue
            if name == "partly":
                episode.step(CART.solve(episode.intent))
                first = next(item for item in wanted if item.row in world.shown)
                add: dict[str, Any] = {"product_id": world.shop.catalog.ids[first.row], "quantity": first.quantity}
                add |= {"variant_id": first.variant.id} if first.variant else {}
                episode.step({"tool_calls": [{"name": "cart_add", "args": add}]})
            elif name == "wrong":
                shown = episode.step({"tool_calls": [{"name": "catalog_search", "args": {"query": "gift"}}]})
                cards = (shown.tool_results[0].result or {})["results"]
                names = {world.shop.catalog.ids[item.row] for item in wanted}
                other = next(card for card in cards if card["product_id"] not in names and card["in_stock"])
                add = {"product_id": other["product_id"]}
                episode.step({"tool_calls": [{"name": "cart_add", "args": add}]})
            last = {"text": "Hello!"} if name == "prose" else {"answer": {"done": True}}
            results[name] = episode.step(last).result
        totals = [result.r_total for result in results.values() if result is not None]
        assert totals[0] > totals[1] > totals[2] >= totals[3] > totals[4] == -1.0, totals


def test_the_time_out_is_worth_no_more_than_quitting(start: Start) -> None:
    for d in (0, 6, 12):
        quitter, sleeper = start(d, 1), start(d, 1)
        left = quitter.step({"answer": {"done": True}}).result
        while not sleeper.done:
            last = sleeper.step({})
        assert left is not None
        assert last.result is not None
        assert last.result.r_task == -1.0
        assert last.result.r_total <= left.r_total


def test_who_is_left_by_the_customer_has_lost_even_a_right_cart(start: Start) -> None:
    episode = start(3, 0, **PLAIN, t_max=50)
    while True:
        action = CART.solve(episode.intent)
        if "answer" in action:
            break
        episode.step(action)
    episode.step({"tool_calls": action["tool_calls"]})
    seen = episode.step({})
    while not seen.done:
        seen = episode.step({"assistant_message": f"How many {episode.intent.subjects[0].plural} do you need?"})
    assert seen.result is not None
    assert (seen.result.termination, seen.result.r_task) == ("customer_left", -1.0)
    assert not seen.result.is_correct


def test_items_follow_the_formula() -> None:
    assert [items_at(d) for d in (0, 2, 3, 6, 9, 12, 20)] == [1, 1, 2, 3, 4, 5, 5]
    assert np.all(np.diff([items_at(d) for d in range(21)]) >= 0)


def test_from_twelve_to_twenty_items_carry_more_facts_and_lookalikes_come_closer(big_shop: Shop) -> None:
    facts, alike = {}, {}
    for d in (12, 16, 20):
        counts, close = [], []
        for seed in range(60):
            intent = Episode(big_shop, EpisodeSpec("CART", d, seed), "close").intent
            counts.append(sum(slot.name not in ("quantity", "variant") for slot in intent.slots))
            for item in intent.goal.items:
                kind = big_shop.catalog.category_of(item.row).name
                close.append(item.row in with_lookalike(big_shop, kind))
        facts[d], alike[d] = sum(counts) / len(counts), sum(close) / len(close)
    assert facts[12] + 1 < facts[16] < facts[20] - 1, facts
    assert alike[12] + 0.1 < alike[16] < alike[20] - 0.1, alike
