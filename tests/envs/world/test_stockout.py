"""Mid-dialogue stock-outs against the contract (SPEC §6): what sells out, when, and what may follow from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import sqrt
from typing import Any

import numpy as np
import pytest

from ecom_rlve.catalog.constraints import all_satisfied
from ecom_rlve.envs.customer.customer import Customer
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.language.acts import ActKind
from ecom_rlve.envs.parts.stockout import ShelfStockout
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.tasks.cart.goal import WantedItem
from ecom_rlve.envs.tasks.cart.stockout import ProductStockout, VariantStockout
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.stockout import ProductCoins, standing_variants
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import DomainCode, Observation, Termination

Start = Callable[..., Episode]
QUIET = {"p_missing": 0.0, "p_noise": 0.0, "p_switch": 0.0, "eps_rank": 0.0}
OFTEN = {**QUIET, "p_oos": 0.7, "t_max": 200.0, "b_tool": 6.0, "top_k": 200.0}
SELLING_OUT = ("BUNDLE", "CART", "PD", "SUB")
LEAVE_OUT_FROM = 6
"""At lower difficulties two items are wanted or one, and none of them is left out."""


def call(name: str, **args: Any) -> dict[str, Any]:
    """Return one tool call."""
    return {"name": name, "args": args}


def product_id(episode: Episode, row: int) -> str:
    """Return a row's product id."""
    return episode.world.shop.catalog.ids[row]


def kind_of(world: World, row: int) -> str:
    """Return a row's category."""
    return world.shop.catalog.category_of(row).name


def show(episode: Episode, rows: list[int]) -> None:
    """Show products as a batch of searches does."""
    for row in rows:
        episode.world.show(row)
    episode.conversation.sell()


def target(episode: Episode) -> WantedItem:
    """Return the wanted item of whose kind products or variants sell out."""
    item = episode.intent.goal.items[item_of(episode)]
    assert isinstance(item, WantedItem)
    return item


def item_of(episode: Episode) -> int:
    """Return that item's position."""
    stockout = episode.intent.stockout
    assert isinstance(stockout, ProductStockout | VariantStockout)
    return stockout.item


def noun(episode: Episode) -> str:
    """Return what that item is called."""
    return episode.intent.subjects[item_of(episode)].singular


def title(episode: Episode, row: int) -> str:
    """Return a product's title as its card shows it."""
    return episode.world.title(row)


def others(episode: Episode, row: int) -> list[int]:
    """Return the other products of a kind, of which enough are in stock and the title is their own."""
    world = episode.world
    catalog = world.shop.catalog
    rows = [other for other in catalog.rows_of_category(kind_of(world, row)).tolist() if other != row]
    titles = [title(episode, other) for other in rows]
    return [
        other
        for other, name in zip(rows, titles, strict=True)
        if catalog.column("stock").values[other] >= 4 and titles.count(name) == 1 and name != title(episode, row)
    ]


def has_own_title(episode: Episode, row: int) -> bool:
    """Tell whether no other product has a product's title."""
    catalog = episode.world.shop.catalog
    rows = catalog.rows_of_category(kind_of(episode.world, row)).tolist()
    return [title(episode, other) for other in rows].count(title(episode, row)) == 1


def started_with(start: Start, kind: type[Any], *, leaves_out: bool = False, first: int = 0) -> Iterator[Episode]:
    """Yield episodes at d = 6 in which the wanted thing sells out once it and others of its kind were shown."""
    for seed in range(first, first + 300):
        episode = start(6, seed, **OFTEN)
        stockout = episode.intent.stockout
        if isinstance(stockout, kind) and stockout._leave_out == leaves_out:
            item = target(episode)
            if isinstance(stockout, VariantStockout):
                is_gone = item.variant is not None and item.variant not in standing_variants(episode.world, item.row)
                if is_gone and len(others(episode, item.row)) > 0 and has_own_title(episode, item.row):
                    yield episode
            elif item.row in stockout.coins.fallen and len(substitutes(episode)) >= 2:
                yield episode


def substitutes(episode: Episode) -> list[int]:
    """Return products that stay and can take the wanted one's place."""
    stockout, row = episode.intent.stockout, target(episode).row
    assert isinstance(stockout, ProductStockout)
    standing: list[int] = stockout.coins.standing(np.array(others(episode, row), dtype=np.int32)).tolist()
    return standing


def fire(episode: Episode) -> None:
    """Let the wanted thing sell out: show what has to be shown."""
    item, world = target(episode), episode.world
    if isinstance(episode.intent.stockout, ProductStockout):
        show(episode, [item.row, *substitutes(episode)[:2]])
        assert item.row in world.sold_out
    else:
        episode.step({"tool_calls": [call("catalog_search", query=world.shop.catalog.titles[item.row], limit=1)]})
        show(episode, [item.row])
        episode.step({"tool_calls": [call("catalog_get_variants", product_id=product_id(episode, item.row))]})
        assert item.variant is not None
        assert item.variant.id in world.sold_out_variants


def sold_out_wish(start: Start, kind: type[Any], **how: Any) -> Episode:
    """Return an episode in which the wanted thing has just sold out."""
    episode = next(started_with(start, kind, **how))
    fire(episode)
    return episode


def tell(episode: Episode, message: str = "{name} is sold out. What should I take instead?") -> Observation:
    """Report the stock-out."""
    row = target(episode).row
    words = message.format(name=title(episode, row), id=product_id(episode, row), noun=noun(episode))
    return episode.step({"assistant_message": words})


def finish(episode: Episode) -> Observation:
    """Let an agent that knows the goal finish; returns the last observation."""
    while True:
        seen = episode.step(episode.solve())
        if seen.done:
            return seen


def acceptable_rows(episode: Episode) -> tuple[str, list[int]]:
    """Return the kind that sells out, and what of it could be wanted at the start, whether or not it sells out."""
    intent, catalog = episode.intent, episode.world.shop.catalog
    if intent.errand.about.id == "CART":
        return kind_of(episode.world, target(episode).row), [target(episode).row]
    assert isinstance(intent.stockout, ShelfStockout)
    kind = intent.stockout.coins.category
    if intent.errand.about.id == "BUNDLE":
        wanted = next(need.wishes for need in intent.goal.needs if need.category == kind)
    else:
        wanted = intent.goal.constraints if intent.errand.about.id == "PD" else intent.goal.required
    rows = all_satisfied(catalog, wanted, catalog.rows_of_category(kind))
    known = catalog.column("price").values[rows] > 0 if intent.errand.about.id == "BUNDLE" else True
    standing = (catalog.column("stock").values[rows] > 0) & known
    return kind, [row for row in rows[standing].tolist() if row not in episode.world.sold_out]


# What sells out, in every environment.


@pytest.mark.parametrize("env_id", SELLING_OUT)
def test_nothing_sells_out_at_difficulty_zero(wide_shop: Shop, env_id: str) -> None:
    for seed in range(30):
        episode = Episode(wide_shop, EpisodeSpec(env_id, 0, seed), "easy")
        before = set(episode.world.sold_out)
        kind, _ = acceptable_rows(episode)
        show(episode, wide_shop.catalog.rows_of_category(kind).tolist()[:60])
        episode.world.variants_read.update(episode.world.shown)
        episode.conversation.sell()
        assert episode.world.sold_out == before
        assert not episode.world.sold_out_variants


def test_the_environments_in_which_things_sell_out_are_those_tested_here() -> None:
    named = {env_id for env_id, each in environments().items() if "p_oos" in each.about.axes and not each.about.members}
    assert named == set(SELLING_OUT)


def check_no_difference(shop: Shop, env_id: str, d: int, least: int) -> None:
    """Show products until ``least`` that were wanted have been shown; wanted ones sell out as often as others."""
    wanted: list[bool] = []
    unwanted: list[bool] = []
    seed = lone = lone_wanted = 0
    while len(wanted) < least:
        episode = Episode(shop, EpisodeSpec(env_id, d, seed), "events")
        seed += 1
        if env_id == "CART" and not isinstance(episode.intent.stockout, ProductStockout):
            continue
        kind, fitting = acceptable_rows(episode)
        rows = [row for row in shop.catalog.rows_of_category(kind).tolist() if row not in episode.world.sold_out]
        strangers = [row for row in rows if row not in fitting]
        if len(strangers) < 9:
            continue
        four = [fitting[seed % len(fitting)], *strangers[:3]]
        show(episode, four + strangers[3:9])
        gone = episode.world.sold_out
        if env_id == "CART" and not gone:
            # Nothing sells out before two that stay were shown.
            continue
        wanted.append(four[0] in gone)
        unwanted += [row in gone for row in strangers[:9]]
        left = [row for row in four if row not in gone]
        lone += len(left) == 1
        lone_wanted += left == four[:1]
    share, base = sum(wanted) / len(wanted), sum(unwanted) / len(unwanted)
    assert abs(share - base) <= 3 * sqrt(base * (1 - base) / len(wanted)), (share, base)
    if lone >= 20:
        assert lone_wanted / lone <= 0.25 + 3 * sqrt(0.25 * 0.75 / lone), (lone_wanted, lone)


@pytest.mark.parametrize("env_id", SELLING_OUT)
def test_a_wanted_thing_sells_out_as_often_as_others(wide_shop: Shop, env_id: str) -> None:
    check_no_difference(wide_shop, env_id, 9, 150)


@pytest.mark.slow
@pytest.mark.parametrize("d", [3, 9, 12])
@pytest.mark.parametrize("env_id", SELLING_OUT)
def test_a_wanted_thing_sells_out_as_often_as_others_over_2000_events(wide_shop: Shop, env_id: str, d: int) -> None:
    check_no_difference(wide_shop, env_id, d, 2000)


@pytest.mark.slow
@pytest.mark.parametrize("d", [3, 9, 12])
def test_a_wanted_variant_sells_out_as_often_as_others_over_2000_events(start: Start, d: int) -> None:
    wanted: list[bool] = []
    unwanted: list[bool] = []
    seed = 0
    while len(wanted) < 2000:
        episode = start(d, seed)
        seed += 1
        if not isinstance(episode.intent.stockout, VariantStockout) or target(episode).variant is None:
            continue
        item = target(episode)
        show(episode, [item.row])
        episode.world.variants_read.add(item.row)
        episode.conversation.sell()
        gone = episode.world.sold_out_variants
        for variant in episode.world.variants(item.row):
            (wanted if variant == item.variant else unwanted).append(variant.id in gone)
    share, base = sum(wanted) / len(wanted), sum(unwanted) / len(unwanted)
    assert abs(share - base) <= 3 * sqrt(base * (1 - base) / len(wanted)), (share, base)


def test_coins_fall_as_often_as_the_axis_says_and_whatever_is_wanted(wide_shop: Shop) -> None:
    kind = wide_shop.kinds(12)[0]
    fallen = total = 0
    for seed in range(100):
        worlds = [
            Episode(wide_shop, EpisodeSpec(env_id, 9, seed, axes=axes), "coins").world
            for env_id, axes in (("CART", ()), ("CART", (("m", 2.0), ("p_missing", 1.0))))
        ]
        coins = [ProductCoins(world, kind).fallen.tolist() for world in worlds]
        assert coins[0] == coins[1]
        fallen, total = fallen + len(coins[0]), total + len(wide_shop.catalog.rows_of_category(kind))
    assert abs(fallen / total - 0.45) < 3 * sqrt(0.45 * 0.55 / total)


@pytest.mark.parametrize("env_id", ["PD", "SUB"])
@pytest.mark.parametrize("d", [1, 6, 12])
def test_six_products_are_acceptable_and_one_of_them_stays(wide_shop: Shop, env_id: str, d: int) -> None:
    for seed in range(25):
        episode = Episode(wide_shop, EpisodeSpec(env_id, d, seed), "six")
        _, fitting = acceptable_rows(episode)
        goal = episode.intent.goal
        assert len(fitting) >= 6
        assert 1 <= len(goal.fitting) <= len(fitting)
        show(episode, fitting)
        assert set(goal.fitting.tolist()) == set(fitting) - episode.world.sold_out
        assert goal.wanted in goal.fitting


def test_a_bundles_budget_is_met_by_the_cheapest_products_that_stay(wide_shop: Shop) -> None:
    for seed in range(40):
        episode = Episode(wide_shop, EpisodeSpec("BUNDLE", 12, seed), "bundle")
        goal, prices = episode.intent.goal, wide_shop.catalog.column("price").values
        kind, fitting = acceptable_rows(episode)
        assert len(fitting) >= 6
        show(episode, fitting)
        standing = [row for row in fitting if row not in episode.world.sold_out]
        need = next(need for need in goal.needs if need.category == kind)
        assert prices[need.cheapest] == min(prices[row] for row in standing)
        assert sum(int(prices[each.cheapest]) for each in goal.needs) <= goal.budget


# When it sells out (CART).


def test_no_product_sells_out_before_two_that_stay_were_shown(start: Start) -> None:
    episodes = [next(started_with(start, ProductStockout, first=first)) for first in range(0, 200, 40)]
    for episode in episodes:
        item, (one, two, *_) = target(episode), substitutes(episode)
        show(episode, [item.row, one])
        assert not episode.world.sold_out
        show(episode, [two])
        assert item.row in episode.world.sold_out
        assert not {one, two} & episode.world.sold_out


@pytest.mark.parametrize("kind", [ProductStockout, VariantStockout])
def test_what_is_in_the_cart_does_not_sell_out(start: Start, kind: type[Any]) -> None:
    episode = next(started_with(start, kind))
    item, world = target(episode), episode.world
    show(episode, [item.row])
    variant = {} if item.variant is None else {"variant_id": item.variant.id}
    added = episode.step({"tool_calls": [call("cart_add", product_id=product_id(episode, item.row), **variant)]})
    assert added.tool_results[0].error is None
    show(episode, others(episode, item.row)[:20])
    episode.step({"tool_calls": [call("catalog_get_variants", product_id=product_id(episode, item.row))]})
    assert item.row not in world.sold_out
    assert item.variant is None or item.variant.id not in world.sold_out_variants


def test_nothing_sells_out_in_the_turn_of_the_final_answer(start: Start) -> None:
    episode = next(started_with(start, ProductStockout))
    search = call("catalog_search", query="", category=kind_of(episode.world, target(episode).row), limit=10)
    seen = episode.step({"tool_calls": [search], "answer": {"done": True}})
    assert seen.done
    assert episode.world.shown
    assert not episode.world.sold_out


def test_a_right_answer_is_never_spoiled(start: Start) -> None:
    for seed in range(30):
        result = finish(start(6, seed, **OFTEN)).result
        assert result is not None
        assert result.termination is Termination.ANSWERED
        assert result.is_correct
        assert result.r_task == 1.0


@pytest.mark.parametrize("kind", [ProductStockout, VariantStockout])
def test_reads_show_it_and_buying_is_refused(start: Start, kind: type[Any]) -> None:
    episode = sold_out_wish(start, kind)
    world, item = episode.world, target(episode)
    args = {"product_id": product_id(episode, item.row)}
    if kind is VariantStockout:
        assert item.variant is not None
        args["variant_id"] = item.variant.id
    added, listed = episode.step(
        {"tool_calls": [call("cart_add", **args), call("catalog_get_variants", product_id=args["product_id"])]}
    ).tool_results
    assert added.code is DomainCode.OUT_OF_STOCK
    variants = (listed.result or {})["variants"]
    if kind is VariantStockout:
        assert {each["variant_id"] for each in variants if not each["in_stock"]} == world.sold_out_variants
    else:
        assert not world.card(item.row)["in_stock"]
        assert not any(each["in_stock"] for each in variants)


# What the customer takes instead (CART).

NAMED = (
    "{name} is sold out. What should I take instead?",
    "Sorry, {id} is out of stock.",
    "{name} ({id}) is sold out.",
)


@pytest.mark.parametrize("words", NAMED)
def test_told_by_title_or_id_the_customer_takes_another_product_that_was_shown(start: Start, words: str) -> None:
    episode = sold_out_wish(start, ProductStockout)
    before, caused = target(episode), episode.customer_caused
    said = tell(episode, words).user_message
    after = target(episode)
    assert after.row in episode.world.shown
    assert after.row not in episode.world.sold_out
    assert (after.variant, after.quantity) == (None, before.quantity)
    assert title(episode, after.row) in said
    assert episode.customer_caused == caused + 1
    show(episode, others(episode, before.row))
    assert after.row not in episode.world.sold_out, "what was named as a fallback stays"
    result = finish(episode).result
    assert result is not None
    assert result.is_correct


def test_where_every_title_has_come_to_be_shown_twice_the_first_of_those_products_is_taken(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    episode = sold_out_wish(start, ProductStockout)
    first = substitutes(episode)[0]
    monkeypatch.setattr(episode.world, "title", lambda _row: "Plain Thing")
    said = tell(episode, "{id} is sold out. What should I take instead?").user_message
    assert target(episode).row == first
    assert "Plain Thing" in said


def test_every_product_that_stays_and_was_shown_is_taken_now_and_then(wide_shop: Shop) -> None:
    def start(d: int, seed: int, **axes: float) -> Episode:
        return Episode(wide_shop, EpisodeSpec("CART", d, seed, axes=tuple(axes.items())), "fallback")

    places = []
    for episode in started_with(start, ProductStockout):
        choices = substitutes(episode)[:4]
        if len(choices) == 4:
            show(episode, [target(episode).row, *choices])
            tell(episode)
            places.append(choices.index(target(episode).row))
    assert len(places) >= 40
    assert {places.count(place) > 2 for place in range(4)} == {True}, places


@pytest.mark.parametrize("words", [*NAMED, "The {noun} is sold out. What should I take instead?"])
def test_told_of_a_variant_the_customer_takes_another_that_stays(start: Start, words: str) -> None:
    episode = sold_out_wish(start, VariantStockout)
    before = target(episode)
    said = tell(episode, words).user_message
    after = target(episode)
    assert after.row == before.row
    assert after.variant is not None
    assert after.variant != before.variant
    assert after.variant in standing_variants(episode.world, after.row)
    spelled = after.variant.value if isinstance(after.variant.value, str) else f"{after.variant.value:g}"
    assert spelled.casefold() in said.casefold()
    result = finish(episode).result
    assert result is not None
    assert result.is_correct


def test_a_noun_names_the_only_product_of_its_kind_that_was_shown(start: Start) -> None:
    episode = sold_out_wish(start, ProductStockout)
    goal = episode.goal_json()
    asked = tell(episode, "The {noun} is sold out. What should I take instead?")
    assert [act.kind for act in episode.acts] == [ActKind.CLARIFY]
    assert asked.user_message
    assert episode.goal_json() == goal
    assert episode.customer_caused == 0


def test_some_leave_it_out_where_two_or_more_remain(start: Start) -> None:
    episode = sold_out_wish(start, ProductStockout, leaves_out=True)
    at, before = item_of(episode), episode.intent.slots
    tell(episode)
    assert episode.intent.goal.items[at] is None
    assert [slot for slot in episode.intent.slots if slot.item != at] == [slot for slot in before if slot.item != at]
    assert not [slot for slot in episode.intent.slots if slot.item == at]
    result = finish(episode).result
    assert result is not None
    assert result.is_correct
    shares = {}
    for d in (0, 5, LEAVE_OUT_FROM, 9):
        drawn = [start(d, seed).intent.stockout for seed in range(80)]
        shares[d] = sum(each._leave_out for each in drawn if isinstance(each, ProductStockout | VariantStockout)) / 80
    assert (shares[0], shares[5]) == (0, 0)
    assert 0.1 < shares[LEAVE_OUT_FROM] < 0.45
    assert 0.1 < shares[9] < 0.45


@pytest.mark.parametrize("kind", [ProductStockout, VariantStockout])
def test_of_the_old_wish_only_what_still_holds_can_be_asked_for(start: Start, kind: type[Any]) -> None:
    """Of another product the quantity, of another variant all else."""
    episode = sold_out_wish(start, kind)
    old = [slot for slot in episode.intent.slots if slot.item == item_of(episode)]
    tell(episode)
    now = [slot for slot in episode.intent.slots if slot.item == item_of(episode)]
    same = [slot.name for slot in old]
    assert [slot.name for slot in now] == (["quantity"] if kind is ProductStockout else same)
    assert [slot.name for slot in now if slot not in old] == ([] if kind is ProductStockout else ["variant"])


# What changes nothing.


def customer_of(episode: Episode) -> Customer:
    """Return the customer."""
    return episode.customer


@pytest.mark.parametrize("kind", [ProductStockout, VariantStockout])
def test_the_goal_stays_where_nothing_was_told(start: Start, kind: type[Any]) -> None:
    episode = sold_out_wish(start, kind)
    goal, name = episode.goal_json(), title(episode, target(episode).row)
    for words in (
        f"I found {name} for you.",
        f"Is {name} sold out?",
        f"If {name} were sold out, would you take another?",
        f"{name} is not sold out.",
        f"What should I take instead of {name}?",
    ):
        episode.step({"assistant_message": words})
        assert episode.goal_json() == goal, words
    result = episode.step({"answer": {"done": True}}).result
    assert result is not None
    assert not result.is_correct


def test_a_true_report_about_something_unwanted_is_acknowledged_and_never_denied(start: Start) -> None:
    """``cart_add`` said OUT_OF_STOCK; whichever product it was, the customer does not say that it is there."""
    met = 0
    for episode in started_with(start, ProductStockout):
        show(episode, [*substitutes(episode)[:2], *others(episode, target(episode).row)[:20]])
        gone = sorted(episode.world.sold_out - {target(episode).row})
        if len(gone) < 4:
            continue
        goal, caused = episode.goal_json(), episode.customer_caused
        replies = []
        for row in gone[:4]:
            refused = episode.step({"tool_calls": [call("cart_add", product_id=product_id(episode, row))]})
            assert refused.tool_results[0].code is DomainCode.OUT_OF_STOCK
            said = episode.step(
                {"assistant_message": f"{title(episode, row)} ({product_id(episode, row)}) is sold out."}
            )
            replies.append([act.kind for act in episode.acts])
            assert episode.goal_json() == goal
        assert replies[:3] == [[ActKind.CONTINUE]] * 3
        assert said.done, "the first is acknowledged, three more in a row are too many"
        assert said.result is not None
        assert said.result.termination is Termination.CUSTOMER_LEFT
        assert episode.customer_caused <= caused + 1, "at most the first sight of a stock-out is excused"
        met += 1
        if met == 3:
            break
    assert met == 3


def test_what_a_tool_called_too_few_is_not_denied(start: Start) -> None:
    episode = next(started_with(start, ProductStockout))
    row = substitutes(episode)[0]
    show(episode, [row])
    asked = call("cart_add", product_id=product_id(episode, row), quantity=1000)
    assert episode.step({"tool_calls": [asked]}).tool_results[0].code is DomainCode.OUT_OF_STOCK
    episode.step({"assistant_message": f"{title(episode, row)} is out of stock."})
    assert [act.kind for act in episode.acts] == [ActKind.CONTINUE]


def test_a_report_that_names_several_of_a_kind_is_unclear(start: Start) -> None:
    episode = sold_out_wish(start, ProductStockout)
    row, other = target(episode).row, substitutes(episode)[0]
    goal = episode.goal_json()
    episode.step({"assistant_message": f"{product_id(episode, row)} and {product_id(episode, other)} are sold out."})
    assert [act.kind for act in episode.acts] == [ActKind.CLARIFY]
    assert episode.goal_json() == goal
    tell(episode)
    assert episode.goal_json() != goal


def test_another_variant_that_is_sold_out_is_none_of_theirs(start: Start) -> None:
    for episode in started_with(start, VariantStockout):
        fire(episode)
        item, world = target(episode), episode.world
        gone = [
            each for each in world.variants(item.row) if each.id in world.sold_out_variants and each != item.variant
        ]
        if gone:
            break
    goal = episode.goal_json()
    episode.step({"assistant_message": f"Variant {gone[0].id} of {product_id(episode, item.row)} is sold out."})
    assert [act.kind for act in episode.acts] == [ActKind.CONTINUE]
    assert episode.goal_json() == goal


@pytest.mark.parametrize("words", ["{name} is sold out.", "Unfortunately {id} is no longer available."])
@pytest.mark.parametrize("difficulty", [0, 3, 6, 9])
def test_a_false_report_changes_nothing_and_is_denied(start: Start, words: str, difficulty: int) -> None:
    for seed in range(8):
        episode = start(difficulty, seed, **{**OFTEN, "p_oos": 0.0})
        row, goal = target(episode).row, episode.goal_json()
        show(episode, [row])
        episode.step({"assistant_message": words.format(name=title(episode, row), id=product_id(episode, row))})
        assert [act.kind for act in episode.acts] == [ActKind.STILL_THERE]
        assert episode.goal_json() == goal
        assert episode.customer_caused == 0
        result = finish(episode).result
        assert result is not None
        assert result.is_correct


def test_a_second_report_brings_no_second_fallback_and_is_not_excused(start: Start) -> None:
    episode = sold_out_wish(start, ProductStockout)
    words = f"{title(episode, target(episode).row)} is sold out. What should I take instead?"
    episode.step({"assistant_message": words})
    goal, caused = episode.goal_json(), episode.customer_caused
    messages = [episode.step({"assistant_message": words}).user_message for _ in range(2)]
    assert all(messages)
    assert episode.goal_json() == goal
    assert episode.customer_caused == caused
    assert episode.step({"assistant_message": words}).done, "three reports in a row that were answered already"


def test_a_report_excuses_no_tool_calls(start: Start) -> None:
    """What is called in the same turn is the agent's work (SPEC §2.3)."""
    episode = sold_out_wish(start, ProductStockout)
    caused = episode.customer_caused
    words = f"{title(episode, target(episode).row)} is sold out. What should I take instead?"
    episode.step({"assistant_message": words, "tool_calls": [call("cart_view")]})
    assert [act.kind for act in episode.acts] == [ActKind.STOCKOUT_FALLBACK]
    assert episode.customer_caused == caused
