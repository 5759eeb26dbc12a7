"""Mid-dialogue stock-outs against the contract (SPEC §6): when, what, how many, and what may follow from them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, chi2_contingency, fisher_exact

from ecom_rlve.envs.difficulty import axes_of
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.errand import Intent, Stockout
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.tasks.cart.goal import WantedItem, items_at
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.stockout import StockoutPlan
from ecom_rlve.envs.world.world import World
from ecom_rlve.evaluation.agents import make_expert, suites
from ecom_rlve.evaluation.in_process import play
from ecom_rlve.models import DomainCode, Observation, Termination
from ecom_rlve.streams import stream

Start = Callable[..., Episode]
HIT = {"p_oos": 1.0, "p_missing": 0.0, "p_noise": 0.0, "eps_rank": 0.0}
MISS = {**HIT, "p_oos": 0.0}
ROOMY = {"t_max": 200, "b_tool": 6, "top_k": 200}


def stockout_of(intent: Intent[Any]) -> Stockout[Any]:
    """Return what may sell out; fails where nothing can."""
    assert intent.stockout is not None
    return intent.stockout


def plan_of(episode: Episode) -> StockoutPlan:
    """Return what is to sell out."""
    plan = stockout_of(episode.intent).plan
    assert plan is not None
    return plan


def call(name: str, **args: Any) -> dict[str, Any]:
    """Return one tool call."""
    return {"name": name, "args": args}


def target(episode: Episode) -> WantedItem:
    """Return the wanted item that the plan is about."""
    intent = episode.intent
    item = intent.goal.items[plan_of(episode).item]
    assert isinstance(item, WantedItem)
    return item


def noun(episode: Episode) -> str:
    """Return what that item is called."""
    return episode.intent.subjects[plan_of(episode).item].singular


def product_id(episode: Episode, row: int) -> str:
    """Return a row's product id."""
    return episode.intent.world.shop.catalog.ids[row]


def kind_of(world: World, row: int) -> str:
    """Return a row's category."""
    return world.shop.catalog.category_of(row).name


def looking(episode: Episode) -> list[dict[str, Any]]:
    """Return calls that show the target, others of its kind, and its variants."""
    world, item = episode.intent.world, target(episode)
    title = world.shop.catalog.titles[item.row]
    searched = call("catalog_search", query=title, category=kind_of(world, item.row), limit=10)
    return [searched, call("catalog_get_variants", product_id=product_id(episode, item.row))]


def fire(start: Start, kind: str, *, first: int = 0, difficulty: int = 6, **axes: float) -> Episode:
    """Return an episode in which the wanted thing has just sold out."""
    for seed in range(first, first + 200):
        episode = start(difficulty, seed, **{**HIT, **ROOMY, **axes})
        if plan_of(episode).kind == kind and not plan_of(episode).leave_out:
            episode.step({"tool_calls": looking(episode)})
            if plan_of(episode).fired:
                return episode
    raise AssertionError(f"no {kind} sold out in 200 seeds")


def tell(episode: Episode, message: str = "The {noun} is sold out. What should I take instead?") -> Observation:
    """Report the stock-out."""
    return episode.step({"assistant_message": message.format(noun=noun(episode))})


def finish(episode: Episode) -> Observation:
    """Let an agent that knows the goal finish; returns the last observation."""
    while True:
        seen = episode.step(episode.solve())
        if seen.done:
            return seen


def wander(episode: Episode, seed: int) -> Any:
    """Yield after each of many random turns of looking, adding and removing."""
    rng = stream(seed, "wander")
    world = episode.intent.world
    wanted = [item for item in episode.intent.goal.items if item is not None]
    for _ in range(14):
        calls = []
        for _ in range(int(rng.integers(1, 5))):
            item = wanted[int(rng.integers(len(wanted)))]
            shown = [*world.shown, item.row]
            some = shown[int(rng.integers(len(shown)))]
            category = kind_of(world, item.row)
            calls.append(
                (
                    call("catalog_search", query="", category=category, limit=int(rng.integers(1, 6)),
                         offset=int(rng.integers(0, 8))),
                    call("catalog_search", query=world.shop.catalog.titles[item.row], limit=int(rng.integers(1, 4))),
                    call("catalog_get_variants", product_id=product_id(episode, some)),
                    call("cart_add", product_id=product_id(episode, some)),
                    call("user_get_visit_history"),
                    call("cart_remove", line_id=world.cart[0].line_id if world.cart else "none"),
                )[int(rng.integers(6))]
            )  # fmt: skip
        before = (set(world.shown), set(world.variants_read), set(world.sold_out), set(world.sold_out_variants))
        if episode.step({"tool_calls": calls}).done:
            return
        yield before


def test_what_sells_out_is_three_shown_unheld_things_of_one_kind(start: Start) -> None:
    """Whatever the agent does, in whatever order; the wanted thing is among them exactly where the plan hits."""
    fired = {(kind, hits): 0 for kind in ("product", "variant") for hits in (False, True)}
    for seed in range(240):
        episode = start(3 * (seed % 5), seed, **{**(HIT if seed % 2 else MISS), **ROOMY})
        world, plan = episode.intent.world, plan_of(episode)
        wanted = {item.row: item for item in episode.intent.goal.items if item is not None}
        for _, _, products, variants in wander(episode, seed):
            gone, gone_variants = world.sold_out - products, world.sold_out_variants - variants
            if not gone and not gone_variants:
                assert plan.fired == bool(world.sold_out or world.sold_out_variants)
                continue
            assert plan.fired
            assert not products
            assert not variants
            held = {line.row for line in world.cart}
            if plan.kind == "product":
                assert len(gone) == 3
                assert not gone_variants
                assert gone <= world.shown.keys()
                assert not gone & held
                assert len({kind_of(world, row) for row in gone}) == 1
                assert (gone & wanted.keys()) == ({target(episode).row} if plan.hits else set())
                same = [row for row in world.shown if kind_of(world, row) == kind_of(world, next(iter(gone)))]
                assert len(same) >= 4, "the first four of a kind, one of them the fallback, have been shown"
                if plan.hits:
                    fallback = plan.fallback_row
                    assert fallback in world.shown
                    assert fallback not in world.sold_out | held | wanted.keys()
                    assert world.stock(fallback) >= target(episode).quantity
            else:
                assert len(gone_variants) == 3
                assert not gone
                owner = [r for r in world.variants_read if {v.id for v in world.variants(r)} & gone_variants]
                assert len(owner) == 1
                assert owner[0] not in held
                item = wanted.get(owner[0])
                assert item is None or item.variant is None or (item.variant.id in gone_variants) == plan.hits
                if plan.hits:
                    assert item is target(episode)
                    assert plan.fallback_variant is not None
                    assert plan.fallback_variant in world.variants(owner[0])
                    assert plan.fallback_variant.id not in world.sold_out_variants
            fired[plan.kind, plan.hits] += 1
    assert all(count > 10 for count in fired.values()), fired


@pytest.mark.parametrize("kind", ["product", "variant"])
def test_nothing_wanted_sells_out_once_it_is_in_the_cart(start: Start, kind: str) -> None:
    met = 0
    for seed in range(60):
        episode = start(6, seed, **{**HIT, **ROOMY})
        if plan_of(episode).kind != kind:
            continue
        met += 1
        episode.step({"tool_calls": [call("cart_add", product_id=product_id(episode, target(episode).row))]})
        for _ in range(3):
            episode.step({"tool_calls": looking(episode)})
        assert not plan_of(episode).fired
    assert met > 10


def test_what_is_added_in_the_batch_that_first_shows_it_is_safe(start: Start) -> None:
    """The stock-out comes after the whole batch."""
    for seed in range(40):
        episode = start(6, seed, **{**HIT, **ROOMY})
        added = call("cart_add", product_id=product_id(episode, target(episode).row))
        seen = episode.step({"tool_calls": [*looking(episode), added]})
        assert seen.tool_results[-1].error is None
        assert not plan_of(episode).fired


def test_a_product_sells_out_only_once_a_fallback_was_shown(start: Start) -> None:
    met = 0
    for seed in range(40):
        episode = start(6, seed, **{**HIT, **ROOMY})
        world, item = episode.intent.world, target(episode)
        if plan_of(episode).kind != "product":
            continue
        query = {"query": world.shop.catalog.titles[item.row], "category": kind_of(world, item.row)}
        for _ in range(2):
            episode.step({"tool_calls": [call("catalog_search", **query, limit=3)]})
            assert not plan_of(episode).fired
        episode.step({"tool_calls": [call("catalog_search", **query, limit=10)]})
        met += plan_of(episode).fired
    assert met > 10


@pytest.mark.parametrize("kind", ["product", "variant"])
def test_reads_show_it_and_buying_is_refused(start: Start, kind: str) -> None:
    episode = fire(start, kind)
    world, item = episode.intent.world, target(episode)
    args = {"product_id": product_id(episode, item.row)}
    if item.variant is not None:
        args["variant_id"] = item.variant.id
    seen = episode.step({"tool_calls": [*looking(episode), call("cart_add", **args)]})
    searched, listed, added = seen.tool_results
    assert added.code is DomainCode.OUT_OF_STOCK
    if kind == "product":
        cards = {card["product_id"]: card for card in (searched.result or {})["results"]}
        gone = {product_id(episode, row) for row in world.sold_out}
        stock = world.shop.catalog.column("stock").values
        never_there = {name for name in cards if stock[world.row_of(name)] == 0}
        assert {name for name, card in cards.items() if not card["in_stock"]} == gone | never_there
        assert args["product_id"] in gone
    else:
        variants = (listed.result or {})["variants"]
        assert {entry["variant_id"] for entry in variants if not entry["in_stock"]} == world.sold_out_variants


@pytest.mark.parametrize("kind", ["product", "variant"])
def test_the_goal_stays_where_nothing_was_told(start: Start, kind: str) -> None:
    episode = fire(start, kind)
    goal = episode.goal_json()
    for action in (
        {"tool_calls": looking(episode)},
        {"assistant_message": f"I found a nice {noun(episode)} for you."},
        {"assistant_message": f"Is the {noun(episode)} sold out?"},
        {"assistant_message": f"If the {noun(episode)} were sold out, would you take another?"},
        {"assistant_message": f"The {noun(episode)} is not sold out."},
        {"tool_calls": [call("ask_user", question=f"What should I take instead of the {noun(episode)}?")]},
    ):
        episode.step(action)
        assert episode.goal_json() == goal, action
    result = episode.step({"answer": {"done": True}}).result
    assert result is not None
    assert not result.is_correct


@pytest.mark.parametrize("kind", ["product", "variant"])
def test_told_of_it_the_customer_names_a_fallback_and_the_goal_becomes_that(start: Start, kind: str) -> None:
    for first in range(0, 60, 6):
        episode = fire(start, kind, first=first)
        world, before, plan = episode.intent.world, target(episode), plan_of(episode)
        others = [item for item in episode.intent.goal.items if item is not before]
        said = tell(episode).user_message
        after = target(episode)
        assert [item for item in episode.intent.goal.items if item is not after] == others
        assert after.quantity == before.quantity
        if kind == "product":
            assert after.row == plan.fallback_row != before.row
            assert after.variant is None
            assert str(world.shop.card(after.row)["title"]) in said
        else:
            assert after.row == before.row
            assert after.variant == plan.fallback_variant != before.variant
            assert after.variant is not None
            spelled = after.variant.value if isinstance(after.variant.value, str) else f"{after.variant.value:g}"
            assert spelled.casefold() in said.casefold()
        result = finish(episode).result
        assert result is not None
        assert result.is_correct
        assert result.r_task == 1.0


def test_the_old_wish_no_longer_counts_after_the_fallback(start: Start) -> None:
    episode = fire(start, "variant")
    world, before = episode.intent.world, target(episode)
    tell(episode)
    after = target(episode)
    first = next(v for v in world.variants(before.row) if v.id not in world.sold_out_variants and v != after.variant)
    args = {"product_id": product_id(episode, before.row), "variant_id": first.id, "quantity": before.quantity}
    said = episode.step({"tool_calls": [call("cart_add", **args)]}).user_message
    assert after.variant is not None
    assert str(after.variant.value).casefold() in said.casefold(), "the fallback was said, so it is named"


@pytest.mark.parametrize("kind", ["product", "variant", "nothing"])
def test_of_the_old_wish_only_what_still_holds_can_be_asked_for(start: Start, kind: str) -> None:
    """Of another product the quantity, of another variant all else, and nothing of what is done without."""
    for first in range(0, 30, 6):
        episode = fire(start, "variant" if kind == "variant" else "product", first=first)
        intent, plan = episode.intent, plan_of(episode)
        at, before = plan.item, intent.slots
        if kind == "nothing":
            plan.leave_out = True
        old = [slot for slot in before if slot.item == at]
        assert len(old) > 1
        tell(episode)
        now = [slot for slot in intent.slots if slot.item == at]
        assert [slot for slot in intent.slots if slot.item != at] == [slot for slot in before if slot.item != at]
        if kind == "nothing":
            assert not now
        elif kind == "product":
            assert now == [slot for slot in old if slot.name == "quantity"]
            assert len(now) == 1
        else:
            assert [slot.name for slot in now] == [slot.name for slot in old]
            changed = [slot for slot in now if slot not in old]
            assert [slot.name for slot in changed] == ["variant"]
            assert plan.fallback_variant is not None
            assert changed[0].fact.constraint.value == plan.fallback_variant.value


def test_leave_it_out_only_where_two_or_more_remain(start: Start) -> None:
    left_out = dict.fromkeys(range(13), 0)
    for d in left_out:
        for seed in range(60):
            episode = start(d, seed, **{**HIT, **ROOMY})
            left_out[d] += plan_of(episode).leave_out
            if plan_of(episode).leave_out:
                assert items_at(d) >= 3
    assert not sum(left_out[d] for d in range(6))
    shares = [left_out[d] / 60 for d in range(6, 13)]
    assert all(0.05 < share < 0.5 for share in shares), shares
    for seed in range(200):
        episode = start(9, seed, **{**HIT, **ROOMY})
        if not plan_of(episode).leave_out:
            continue
        episode.step({"tool_calls": looking(episode)})
        if plan_of(episode).fired:
            tell(episode)
            assert episode.intent.goal.items[plan_of(episode).item] is None
            result = finish(episode).result
            assert result is not None
            assert result.is_correct
            return
    raise AssertionError("nobody left anything out")


@pytest.mark.parametrize(
    "claim",
    [
        "The {noun} is sold out. What should I take instead?",
        "Unfortunately the {noun} is no longer available.",
        "Everything is sold out.",
        "Bad news: out of stock!",
    ],
)
@pytest.mark.parametrize("difficulty", [0, 3, 6, 9])
def test_a_false_claim_changes_nothing(start: Start, claim: str, difficulty: int) -> None:
    for seed in range(8):
        for axes in (HIT, MISS):
            episode = start(difficulty, seed, **{**axes, **ROOMY})
            goal = episode.goal_json()
            seen = episode.step({"assistant_message": claim.format(noun=noun(episode))})
            assert seen.user_message
            assert episode.goal_json() == goal
            assert episode.customer_caused == 0
            result = finish(episode).result
            assert result is not None
            assert result.is_correct


def test_a_claim_about_another_item_changes_nothing(start: Start) -> None:
    for first in range(0, 40, 4):
        episode = fire(start, "product", first=first)
        goal = episode.goal_json()
        other = next(s for at, s in enumerate(episode.intent.subjects) if at != plan_of(episode).item)
        episode.step({"assistant_message": f"The {other.singular} is sold out. What should I take instead?"})
        assert episode.goal_json() == goal


def test_a_second_claim_brings_no_second_fallback(start: Start) -> None:
    episode = fire(start, "product")
    tell(episode)
    goal = episode.goal_json()
    messages = [tell(episode).user_message for _ in range(2)]
    assert episode.goal_json() == goal
    assert all(messages)
    assert tell(episode).result is not None, "three claims in a row that were answered already"


def test_one_stock_out_is_excused(start: Start) -> None:
    episode = fire(start, "product")
    before = episode.customer_caused
    tell(episode)
    assert episode.customer_caused == before + 1
    tell(episode)
    assert episode.customer_caused == before + 1


def test_a_stock_out_in_the_closing_turn_cannot_spoil_the_answer(start: Start) -> None:
    for seed in range(30):
        episode = start(6, seed, **{**HIT, **ROOMY})
        wanted = [item for item in episode.intent.goal.items if item is not None]
        while True:
            action = episode.solve()
            if "answer" in action:
                break
            episode.step(action)
        assert len(wanted) >= 1
        result = episode.step(action).result
        assert result is not None
        assert result.termination is Termination.ANSWERED
        assert result.is_correct


def test_after_a_fallback_a_refused_wish_does_not_stop_the_customer_from_confirming(start: Start) -> None:
    """The wish that was refused is gone; the new one was said by the customer themselves."""
    met = 0
    for seed in range(200):
        episode = start(2, seed, **{**HIT, **ROOMY, "p_missing": 1.0})
        world, item = episode.intent.world, target(episode)
        if item.variant is None or plan_of(episode).kind != "variant":
            continue
        name = product_id(episode, item.row)
        wrong = next(variant for variant in world.variants(item.row) if variant != item.variant)
        args = {"product_id": name, "variant_id": wrong.id, "quantity": item.quantity}
        added = episode.step({"tool_calls": [call("cart_add", **args)]})
        assert added.user_message, "the variant is refused"
        line = world.cart[0].line_id
        episode.step({"tool_calls": [call("cart_remove", line_id=line)]})
        episode.step({"tool_calls": [call("catalog_get_variants", product_id=name)]})
        assert plan_of(episode).fired
        tell(episode)
        after = target(episode)
        assert after.variant is not None
        caused = episode.customer_caused
        episode.step(
            {"tool_calls": [call("cart_add", product_id=name, variant_id=after.variant.id, quantity=after.quantity)]}
        )
        assert episode.customer_caused == caused + 1, "everything is right, nothing is left unsaid: it is confirmed"
        met += 1
    assert met


@pytest.mark.slow
@pytest.mark.parametrize("difficulty", [3, 6, 9, 12])
def test_the_share_of_wanted_things_among_stock_outs_is_the_axis(start: Start, difficulty: int) -> None:
    """Counted as drawn, over all episodes and over those in which something did sell out."""
    drawn = fired = hit = 0
    trials = 700
    for seed in range(trials):
        episode = start(difficulty, seed)
        drawn += plan_of(episode).hits
        episode.step({"tool_calls": looking(episode)})
        fired += plan_of(episode).fired
        hit += plan_of(episode).fired and plan_of(episode).hits
    p_oos = min(0.5, 0.05 * difficulty)
    assert binomtest(drawn, trials, p_oos).pvalue > 0.002, drawn / trials
    assert binomtest(hit, fired, p_oos).pvalue > 0.002, hit / fired
    assert fired > trials / 2


@pytest.mark.slow
def test_where_in_the_results_something_sells_out_does_not_tell_that_it_is_wanted(start: Start) -> None:
    """Of the unwanted things that go, none is nearer to the top in hits than in misses."""
    ranks: dict[bool, list[int]] = {False: [], True: []}
    for seed in range(900):
        hits = bool(seed % 2)
        episode = start(6, seed // 2, **{**(HIT if hits else MISS), **ROOMY})
        if plan_of(episode).kind != "product":
            continue
        episode.step({"tool_calls": looking(episode)})
        world = episode.intent.world
        shown = [row for row in world.shown if row != target(episode).row]
        ranks[hits] += [shown.index(row) for row in sorted(world.sold_out) if row in shown]
    assert min(map(len, ranks.values())) > 100
    table = [[sum(rank < 3 for rank in some), sum(rank >= 3 for rank in some)] for some in ranks.values()]
    assert fisher_exact(np.array(table)).pvalue > 0.001, table


def test_a_miss_takes_no_notice_of_the_goal(start: Start) -> None:
    """A stock-out of unwanted things comes with the first kind that was shown often enough, wanted or not."""
    met = 0
    for seed in range(40):
        episode = start(0, seed, **{**MISS, **ROOMY})
        world, item = episode.intent.world, target(episode)
        kinds = [kind for kind in world.shop.kinds(8) if kind != kind_of(world, item.row)]
        other = kinds[seed % len(kinds)]
        if plan_of(episode).kind != "product":
            continue
        episode.step({"tool_calls": [call("catalog_search", query="", category=other, limit=10)]})
        assert plan_of(episode).fired
        assert {kind_of(world, row) for row in world.sold_out} == {other}
        met += 1
    assert met > 20


@pytest.mark.slow
def test_which_variants_sell_out_in_a_miss_does_not_tell_a_wanted_product(start: Start) -> None:
    """In a wanted product and in any other, each place of the list goes as often."""
    places: dict[bool, list[int]] = {False: [0] * 6, True: [0] * 6}
    for seed in range(1600):
        episode = start(6, seed // 2, **{**MISS, **ROOMY})
        world, item = episode.intent.world, target(episode)
        if plan_of(episode).kind != "variant" or item.variant is None:
            continue
        row = item.row if seed % 2 else (item.row + 1) % world.shop.catalog.size
        searched = call("catalog_search", query=world.shop.catalog.titles[row], category=kind_of(world, row), limit=10)
        episode.step({"tool_calls": [searched, call("catalog_get_variants", product_id=product_id(episode, row))]})
        for at, variant in enumerate(world.variants(row)[:6]):
            places[bool(seed % 2)][at] += variant.id in world.sold_out_variants
    assert min(map(sum, places.values())) > 300, places
    assert chi2_contingency(list(places.values())).pvalue > 0.001, places


@pytest.mark.parametrize("axes", [HIT, MISS])
def test_where_any_variant_counts_the_one_taken_unasked_can_be_bought(start: Start, axes: dict[str, float]) -> None:
    for seed in range(60):
        episode = start(3, seed, **{**axes, **ROOMY})
        world = episode.intent.world
        free = [item for item in episode.intent.goal.items if item is not None and item.variant is None]
        for item in free:
            query = call("catalog_search", query=world.shop.catalog.titles[item.row], limit=2)
            episode.step(
                {"tool_calls": [query, call("catalog_get_variants", product_id=product_id(episode, item.row))]}
            )
            if item.row not in world.sold_out:
                seen = episode.step({"tool_calls": [call("cart_add", product_id=product_id(episode, item.row))]})
                assert seen.tool_results[0].error is None


# Every environment in which things sell out, as an honest agent meets it.

SELLING_OUT = [
    env_id
    for env_id, each in environments().items()
    if "p_oos" in each.about.axes and not each.about.members and env_id in suites()
]


def happened(shop: Shop, env_id: str, d: int, seed: int) -> tuple[bool, bool]:
    """Play the expert; returns whether a wanted thing was to sell out, and whether anything did."""
    episode = Episode(shop, EpisodeSpec(env_id, d, seed), "expert")
    play(episode, make_expert(env_id))
    plan = stockout_of(episode.intent).plan
    assert plan is not None
    return plan.hits, plan.fired


def check_stockouts(shop: Shop, env_id: str, d: int, trials: int) -> None:
    """Print the share of episodes in which a wanted thing did sell out, and hold it to the axis."""
    met = [happened(shop, env_id, d, seed) for seed in range(trials)]
    drawn, fired = sum(hits for hits, _ in met), sum(fires for _, fires in met)
    hit = sum(hits and fires for hits, fires in met)
    p_oos = axes_of(d).p_oos
    print(
        f"\n{env_id} d={d}: stated {p_oos:.2f}, drawn {drawn / trials:.3f}, happened {hit / trials:.3f}, "
        f"something sold out in {fired / trials:.3f}"
    )
    assert binomtest(drawn, trials, p_oos).pvalue > 0.002, drawn / trials
    if env_id == "BUNDLE":
        # Nothing sells out before four of a kind were shown, one of them a substitute within the budget: whoever
        # searches with every requirement sees fewer, and meets about half of what is stated at d = 9 and beyond.
        assert fired >= 0.6 * trials
        assert hit >= 0.35 * drawn
        return
    assert fired >= 0.85 * trials
    assert hit >= 0.75 * drawn
    assert binomtest(hit, fired, p_oos).pvalue > 0.002, hit / fired


@pytest.mark.parametrize("env_id", SELLING_OUT)
def test_an_honest_agent_meets_stock_outs(wide_shop: Shop, env_id: str) -> None:
    check_stockouts(wide_shop, env_id, 9, 12)


@pytest.mark.slow
@pytest.mark.parametrize("d", [6, 9, 12])
@pytest.mark.parametrize("env_id", SELLING_OUT)
def test_an_honest_agent_meets_as_many_stock_outs_as_stated(wide_shop: Shop, env_id: str, d: int) -> None:
    """Happened, not planned: 300 episodes of the expert."""
    check_stockouts(wide_shop, env_id, d, 300)
