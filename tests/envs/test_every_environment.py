"""The contract that every environment keeps, over the registry: what ``check_environment`` tries, and the wire."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import permutations
from typing import TYPE_CHECKING, Any

import httpx
import numpy as np
import pytest

from ecom_rlve import AsyncEcomEnv
from ecom_rlve.catalog.constraints import Constraint, all_satisfied
from ecom_rlve.envs.contract.check import check_environment, solution, started
from ecom_rlve.envs.difficulty import axes_of
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.parts.recommendation import RecommendingEnvironment
from ecom_rlve.envs.parts.solving import in_style
from ecom_rlve.envs.parts.stockout import ShelfStockout
from ecom_rlve.envs.registry import COLLECTIONS, environments
from ecom_rlve.envs.tasks.product_discovery.preferences import DIMENSIONS
from ecom_rlve.envs.world.orders import Order, OrderLine
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import MAX_DIFFICULTY, EpisodeResult, Style
from ecom_rlve.streams import Streams

if TYPE_CHECKING:
    from fastapi import FastAPI

ORDER_MATTERS = {env_id for env_id, each in environments().items() if isinstance(each, RecommendingEnvironment)}
"""Lists are best first there; elsewhere they are sets."""
STYLES: tuple[Style, ...] = ("turn", "tool")
EVERY = pytest.mark.parametrize("env_id", environments())
IDENTIFYING = pytest.mark.parametrize("env_id", sorted(COLLECTIONS["C8"]))
"""Where the test has its own way of finding what is meant."""


@EVERY
def test_it_keeps_the_contract(wide_shop: Shop, env_id: str) -> None:
    check_environment(environments()[env_id], wide_shop, seeds=2)


@pytest.mark.slow
@EVERY
def test_it_keeps_the_contract_on_many_seeds(wide_shop: Shop, env_id: str) -> None:
    """At least 500 seeds of every environment, spread over the difficulties, and each of them in both styles."""
    check_environment(environments()[env_id], wide_shop, seeds=100)


GUARANTEED = 500
"""Seeds at each difficulty."""


@pytest.mark.slow
@pytest.mark.parametrize("d", range(13))
@EVERY
@pytest.mark.nightly
def test_the_goal_is_reachable(wide_shop: Shop, env_id: str, d: int) -> None:
    """500 seeds at every difficulty from 0 to 12, in both styles: the solution scores exactly 1."""
    for seed in range(1000, 1000 + GUARANTEED):
        for style in STYLES:
            spec = EpisodeSpec(env_id, d, seed, style=style)
            result = solution(environments()[env_id], wide_shop, spec).result
            assert result.is_correct, (spec, result)
            assert result.r_task == 1.0, (spec, result)


@IDENTIFYING
def test_words_pick_out_exactly_what_is_acceptable(wide_shop: Shop, env_id: str) -> None:
    for d in range(13):
        for seed in range(5):
            check_identified(wide_shop, env_id, d, seed)


@pytest.mark.slow
@pytest.mark.parametrize("d", range(13))
@IDENTIFYING
@pytest.mark.nightly
def test_words_pick_out_exactly_what_is_acceptable_on_many_seeds(wide_shop: Shop, env_id: str, d: int) -> None:
    """500 seeds at every difficulty from 0 to 12."""
    for seed in range(1000, 1000 + GUARANTEED):
        check_identified(wide_shop, env_id, d, seed)


def check_identified(shop: Shop, env_id: str, d: int, seed: int) -> None:
    """Require that all slots together leave exactly the acceptable outcomes, in each errand."""
    environment = environments()[env_id]
    streams = Streams("episode", env_id, "train", seed)
    intents = environment.draw(World(shop, axes_of(d), streams), streams).intents
    assert intents
    for intent in intents:
        slots, name = intent.slots, intent.errand.about.id
        assert len({(slot.item, slot.fact) for slot in slots}) == len(slots), (env_id, d, seed)
        assert IDENTIFIED[name](intent), (env_id, d, seed, name, intent.errand.goal_json(intent))


def stated(intent: Intent[Any], item: int, *, without: Collection[str] = ()) -> list[Constraint]:
    """Return what can be said of an item, but for the slots of these names."""
    slots = (slot for slot in intent.slots if slot.item == item and slot.name not in without)
    return [slot.fact.constraint for slot in slots]


def family(intent: Intent[Any], item: int, constraints: Iterable[Constraint]) -> list[int]:
    """Return the products of an item's kind that meet constraints and could be bought at the start."""
    catalog = intent.world.shop.catalog
    rows = all_satisfied(catalog, constraints, catalog.rows_of_category(intent.subjects[item].category))
    return [row for row in rows.tolist() if intent.world.stock(row) > 0]


def staying(intent: Intent[Any], rows: list[int]) -> list[int]:
    """Return those of some products of the kind that sells out that do not."""
    assert isinstance(intent.stockout, ShelfStockout)
    standing: list[int] = intent.stockout.coins.standing(np.array(rows, dtype=np.int32)).tolist()
    return standing


def finds_discovery(intent: Intent[Any]) -> bool:
    fitting = family(intent, 0, stated(intent, 0, without=["priority"]))
    priorities = [slot.fact.constraint.value for slot in intent.slots if slot.name == "priority"]
    return staying(intent, fitting) == intent.goal.fitting.tolist() and priorities == [DIMENSIONS[intent.goal.priority]]


def finds_substitutes(intent: Intent[Any]) -> bool:
    goal = intent.goal
    kept = [slot.fact.constraint for slot in intent.slots if slot.name == "compatibility"]
    wished = [slot.fact.constraint for slot in intent.slots if slot.name != "compatibility"]
    pool = [row for row in family(intent, 0, kept) if row != goal.original]
    return bool(staying(intent, pool) == goal.fitting.tolist() and tuple(wished) == goal.wished)


def finds_items(intent: Intent[Any]) -> bool:
    """Tell whether each description leaves one product, and each variant one of its variants."""
    for at, item in enumerate(intent.goal.items):
        if family(intent, at, stated(intent, at, without=["quantity", "variant"])) != [item.row]:
            return False
        facts = {slot.name: slot.fact.constraint.value for slot in intent.slots if slot.item == at}
        named = [each for each in intent.world.variants(item.row) if each.value == facts.get("variant")]
        if facts["quantity"] != item.quantity or named != ([item.variant] if item.variant else []):
            return False
    return True


def finds_bundle(intent: Intent[Any]) -> bool:
    assert isinstance(intent.stockout, ShelfStockout)
    goal, column = intent.goal, intent.world.shop.catalog.column("price")
    price = column.values if column.is_floor is None else np.where(column.is_floor, np.nan, column.values)
    of_all = {name: [s.fact.constraint.value for s in intent.slots if s.name == name] for name in ("need", "budget")}
    cover = 0
    for at, need in enumerate(goal.needs, 1):
        fitting = [row for row in family(intent, at, stated(intent, at)) if price[row] >= 0]
        standing = staying(intent, fitting) if need.category == intent.stockout.coins.category else fitting
        if need.cheapest not in standing or price[need.cheapest] != min(price[standing]):
            return False
        cover += int(price[need.cheapest])
    nouns = [subject.singular for subject in intent.subjects[1:]]
    return of_all == {"need": nouns, "budget": [goal.budget]} and cover <= goal.budget


def is_told_of(slot: Slot, order: Order, line: OrderLine, intent: Intent[Any]) -> bool:
    """Tell whether what a slot says is true of a line of an order."""
    catalog, value = intent.world.shop.catalog, slot.fact.constraint.value
    if slot.fact.constraint.attribute == "items_ordered":
        nouns = [catalog.category_of(each.row).singular for each in order.lines]
        return str(value).split(" ", 1)[1] in nouns
    truth = {
        "order_date": order.placed.toordinal(),
        "order_total": order.total_cents,
        "price_paid": line.price_cents,
        "units_bought": line.quantity,
    }
    return slot.item != 0 or slot.name not in truth or truth[slot.name] == value


def finds_line(intent: Intent[Any]) -> bool:
    catalog, goal = intent.world.shop.catalog, intent.goal
    left = [
        (order.order_id, line.line_id)
        for order in intent.world.orders
        for line in order.lines
        if catalog.category_of(line.row).name == intent.subjects[0].category
        and all(is_told_of(slot, order, line, intent) for slot in intent.slots)
    ]
    if left != [(goal.order_id, goal.line_id)]:
        return False
    new = goal.replacement
    return new is None or (new.row in family(intent, 1, stated(intent, 1)) and len(stated(intent, 1)) > 0)


def finds_order(intent: Intent[Any]) -> bool:
    reference = intent.goal.reference
    slots = [slot for slot in intent.slots if not slot.is_on_request]
    left = [
        order.order_id
        for order in intent.world.orders
        if reference.holds(order) and all(is_told_of(slot, order, order.lines[0], intent) for slot in slots)
    ]
    return left == [intent.goal.order.order_id]


def finds_rule(intent: Intent[Any]) -> bool:
    """Tell whether the situation as it is told has one value for each condition that bears on the figure."""
    goal, book = intent.goal, intent.world.book
    values = ((slot.name, slot.fact.constraint.value) for slot in intent.slots)
    told = {
        name: value if isinstance(value, str) else int(value) for name, value in values if not isinstance(value, tuple)
    }
    rule = book.rule(goal.question.topic)
    conditions = [adjustment.condition.name for adjustment in rule.adjustments]
    figure = rule.figure(told)
    is_all = list(told) == conditions and len(intent.slots) == len(told)
    return is_all and (goal.question.form != "figure" or figure == goal.truth)


IDENTIFIED: Mapping[str, Callable[[Intent[Any]], bool]] = {
    "BUNDLE": finds_bundle,
    "CART": finds_items,
    "PD": finds_discovery,
    "POLICY": finds_rule,
    "RETURN": finds_line,
    "STATUS": finds_order,
    "SUB": finds_substitutes,
}
"""Ways of finding what a task's words pick out that know nothing of how it was drawn."""


def test_what_words_pick_out_is_found_in_every_built_in_task() -> None:
    assert set(IDENTIFIED) == {env_id for env_id in COLLECTIONS["C8"] if not environments()[env_id].about.members}


@EVERY
def test_a_shop_of_this_size_serves_it(wide_shop: Shop, env_id: str) -> None:
    assert environments()[env_id].max_difficulty(wide_shop) >= 12


@EVERY
def test_the_default_catalog_serves_every_difficulty(big_shop: Shop, env_id: str) -> None:
    assert environments()[env_id].max_difficulty(big_shop) == MAX_DIFFICULTY


@pytest.fixture(scope="module")
def wide_app(wide_shop: Shop) -> FastAPI:
    """Return the real application over that shop."""
    from ecom_rlve.server.app import create_app
    from ecom_rlve.server.settings import Settings

    return create_app(Settings().model_copy(update={"log_level": "warning"}), shop=wide_shop)


@EVERY
@pytest.mark.parametrize("style", ["turn", "tool"])
def test_over_http_it_is_the_same_episode(wide_app: FastAPI, wide_shop: Shop, env_id: str, style: Style) -> None:
    """Field by field what an episode in process says, from the first observation to the result."""

    async def play(d: int, seed: int) -> None:
        spec = EpisodeSpec(env_id, d, seed, style=style)
        mirror = Episode(wide_shop, spec, "same")
        async with AsyncEcomEnv("http://app", transport=httpx.ASGITransport(wide_app)) as env:
            step = await env.reset(env_id=env_id, difficulty=d, seed=seed, style=style, episode_id="same")
            seen = mirror.opening
            while not mirror.done:
                assert json.loads(seen.model_dump_json(exclude_unset=True)) == _sent(step.observation)
                action = in_style(mirror.solve(), style)
                seen = mirror.step(action)
                step = await env.step(action)
            assert json.loads(seen.model_dump_json(exclude_unset=True)) == _sent(step.observation)
            assert step.reward == seen.reward
            assert (await env.state()).messages == mirror.state().messages

    for d in (0, 6, 12):
        asyncio.run(play(d, seed=d + 1))


def _sent(observation: Any) -> Any:
    return json.loads(observation.model_dump_json(exclude_unset=True))


def played(shop: Shop, spec: EpisodeSpec, change: Callable[[dict[str, Any]], dict[str, Any]]) -> EpisodeResult:
    """Play the solution with its answers changed."""
    episode = Episode(shop, spec, "changed")
    while episode.result is None:
        action = episode.solve()
        answer = action.get("answer")
        episode.step({**action, "answer": change(answer)} if answer else action)
    return episode.result


def _lists(answer: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {name: value for name, value in answer.items() if isinstance(value, list) and value}


@EVERY
def test_whole_numbers_are_equal_however_they_are_written(wide_shop: Shop, env_id: str) -> None:
    """5 and 5.0 are one number, in answers and in the arguments of tools."""

    def as_floats(part: Any) -> Any:
        if isinstance(part, dict):
            return {name: as_floats(value) for name, value in part.items()}
        if isinstance(part, list):
            return [as_floats(value) for value in part]
        return float(part) if type(part) is int else part

    for seed in range(8):
        spec = EpisodeSpec(env_id, 4, seed)
        plain, floats = Episode(wide_shop, spec, "same"), Episode(wide_shop, spec, "same")
        while not plain.done:
            action = plain.solve()
            assert plain.step(action) == floats.step(as_floats(action))
        assert plain.result is not None
        assert plain.result.is_correct


@EVERY
def test_equal_ids_and_their_order_change_nothing_where_a_list_is_a_set(wide_shop: Shop, env_id: str) -> None:
    if env_id in ORDER_MATTERS:
        pytest.skip("best first: the order is the answer")
    for seed in range(8):
        spec = EpisodeSpec(env_id, 6, seed)
        right = solution(environments()[env_id], wide_shop, spec).result
        assert played(wide_shop, spec, _reversed) == right


def _reversed(answer: dict[str, Any]) -> dict[str, Any]:
    is_ordered = answer.get("intent") in ORDER_MATTERS
    return answer if is_ordered else {**answer, **{name: value[::-1] for name, value in _lists(answer).items()}}


@EVERY
def test_an_id_given_twice_is_never_worth_more(wide_shop: Shop, env_id: str) -> None:
    for seed in range(8):
        spec = EpisodeSpec(env_id, 6, seed)
        twice = played(wide_shop, spec, lambda answer: {**answer, **{n: v * 2 for n, v in _lists(answer).items()}})
        once = played(wide_shop, spec, lambda answer: {**answer, **{n: v[:1] for n, v in _lists(answer).items()}})
        padded = played(wide_shop, spec, lambda answer: {**answer, **{n: v[:1] * 9 for n, v in _lists(answer).items()}})
        assert twice.r_task <= 1.0
        assert padded.r_task <= once.r_task
        assert twice.r_hall == padded.r_hall == 0.0


@EVERY
def test_a_step_of_another_episode_says_nothing_of_this_one(wide_shop: Shop, env_id: str) -> None:
    """Two episodes side by side are what they are alone: nothing is shared but the shop."""
    environment = environments()[env_id]
    alone = [solution(environment, wide_shop, EpisodeSpec(env_id, 6, seed)).transcript for seed in (1, 2)]
    pair = [started(environment, wide_shop, 6, seed) for seed in (1, 2)]
    said = [[each.opening.model_dump_json(exclude_unset=True)] for each in pair]
    while not all(each.done for each in pair):
        for each, lines in zip(pair, said, strict=True):
            if not each.done:
                lines.append(each.step(each.solve()).model_dump_json(exclude_unset=True))
    assert [tuple(lines) for lines in said] == alone


def test_no_two_environments_share_what_names_them() -> None:
    for name in ("id", "title"):
        values = [getattr(each.about, name) for each in environments().values()]
        assert len(set(values)) == len(values)
    errands = [each.about.called for each in environments().values()]
    assert all(one not in other for one, other in permutations(errands, 2))
