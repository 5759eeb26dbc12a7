"""What the policy may see, and how large it may be (SPEC §2.4)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import pytest

from ecom_rlve.catalog.columns.table import Catalog
from ecom_rlve.catalog.product import Category, Product
from ecom_rlve.catalog.search.search import Search
from ecom_rlve.envs.difficulty import axes_of
from ecom_rlve.envs.episode.episode import Episode
from ecom_rlve.envs.world.cards import CARD_BYTES
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import MAX_DIFFICULTY, Observation

Start = Callable[..., Episode]
Call = dict[str, Any]

MAX_BYTES = 32_000
EVERY_STEP = {
    "episode_id", "turn", "turns_left", "tool_calls_left", "user_message", "tool_results", "done", "reward",
}  # fmt: skip
ON_RESET = {"env_id", "today", "max_turns", "tool_budget", "instructions", "tools"}
RESULT = {
    "r_task", "r_eff", "r_hall", "r_total", "is_correct", "termination", "turns", "correct_share", "effective_turns",
    "style", "format", "tool_errors", "reward_profile", "observation_bytes",
}  # fmt: skip
HISTORY: Call = {"name": "user_get_visit_history", "args": {}}
VIEW: Call = {"name": "cart_view", "args": {}}


def act(*calls: Call, **fields: Any) -> dict[str, Any]:
    return {"tool_calls": list(calls), **fields}


def wire(observation: Observation) -> dict[str, Any]:
    """Return an observation as it travels."""
    return json.loads(observation.model_dump_json(exclude_unset=True))  # type: ignore[no-any-return]  # JSON has no types


def size(observation: Observation) -> int:
    return len(observation.model_dump_json(exclude_unset=True).encode())


def solved(episode: Episode) -> Iterator[Observation]:
    """Play the episode as one who knows the goal; yields every observation after the first."""
    while not episode.done:
        yield episode.step(episode.solve())


def keys_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from keys_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from keys_in(inner)


def cards_in(observation: Observation) -> list[dict[str, Any]]:
    return [card for result in observation.tool_results for card in (result.result or {}).get("results", [])]


@pytest.mark.parametrize("style", ["turn", "tool"])
@pytest.mark.parametrize("difficulty", [0, 5, 12])
def test_every_observation_has_exactly_its_fields(style: str, difficulty: int, start: Start) -> None:
    episode = start(difficulty, style=style)
    opening = wire(episode.opening)
    assert opening.keys() == EVERY_STEP | ON_RESET
    assert opening["reward"] is None
    assert opening["user_message"]
    assert opening["tool_results"] == []
    assert (opening["env_id"], opening["done"], opening["turn"]) == ("CART", False, 0)
    axes = axes_of(difficulty)
    assert opening["max_turns"] == opening["turns_left"] == axes.t_max
    assert opening["tool_budget"] == opening["tool_calls_left"] == axes.b_tool
    for observation in solved(episode):
        seen = wire(observation)
        if not observation.done:
            assert seen.keys() == EVERY_STEP
            assert seen["reward"] == 0.0
        else:
            assert seen.keys() == EVERY_STEP | {"result"}
            assert seen["result"].keys() == RESULT
            assert seen["reward"] == seen["result"]["r_total"]
            assert (seen["result"]["style"], seen["result"]["format"]) == (style, "strict")


def test_a_format_failure_says_its_reason_beside_the_result(start: Start) -> None:
    seen = wire(start().step({"text": "prose"}))
    assert seen.keys() == EVERY_STEP | {"result"}
    assert seen["result"].keys() == RESULT | {"reason"}


@pytest.mark.parametrize(
    ("include", "present"),
    [
        ((), set()),
        (("tools",), {"tools"}),
        (("brief",), {"instructions"}),
        (("format",), {"instructions"}),
        (("tools", "brief"), {"tools", "instructions"}),
        (("tools", "brief", "format"), {"tools", "instructions"}),
    ],
)
def test_include_decides_on_tools_and_instructions(include: tuple[str, ...], present: set[str], start: Start) -> None:
    opening = wire(start(options={"include": include}).opening)
    assert opening.keys() == EVERY_STEP | ON_RESET - {"tools", "instructions"} | present


def test_difficulty_and_seed_are_disclosed_only_where_configured(start: Start) -> None:
    opening = wire(start(3, 7, options={"disclose": True}).opening)
    assert (opening["difficulty"], opening["seed"]) == (3, 7)
    assert not {"difficulty", "seed"} & set(keys_in(wire(start(3, 7).opening)))


def test_the_goal_is_revealed_only_at_the_end_and_where_configured(start: Start) -> None:
    for reveal in (True, False):
        episode = start(3, options={"reveal_goal": reveal})
        seen = [wire(episode.opening), *map(wire, solved(episode))]
        assert all("goal" not in set(keys_in(observation)) for observation in seen[:-1])
        assert seen[-1]["result"].get("goal") == (episode.goal_json() if reveal else None)
        assert ("goal" in seen[-1]["result"]) == reveal


@pytest.mark.parametrize("difficulty", range(0, 13, 3))
def test_nothing_of_seed_difficulty_or_goal_is_seen_before_the_end(difficulty: int, start: Start) -> None:
    for number in range(5):
        seed = 987_654_321_000 + number
        episode = start(difficulty, seed)
        ids = [item["product_id"] for item in episode.goal_json()["items"]]
        variants = [item["variant_id"] for item in episode.goal_json()["items"] if item["variant_id"]]
        opening = episode.opening.model_dump_json()
        assert not any(secret in opening for secret in [*ids, *variants, str(seed)])
        for observation in solved(episode):
            text = observation.model_dump_json(exclude_unset=True)
            assert str(seed) not in text
            assert not {"difficulty", "seed", "goal", "split"} & set(keys_in(wire(observation)))
            assert not any(secret in observation.user_message for secret in [*ids, *variants])


def test_the_same_words_open_an_episode_whatever_the_style_or_what_is_included(start: Start) -> None:
    said = {
        start(4, 11, style=style, options={"include": include}).opening.user_message
        for style in ("turn", "tool")
        for include in ((), ("tools",))
    }
    assert len(said) == 1


# --- Brief and tools --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", ["turn", "tool"])
def test_submit_answer_is_a_tool_of_style_tool(style: str, start: Start) -> None:
    episode = start(style=style)
    assert episode.opening.tools is not None
    names = [tool["function"]["name"] for tool in episode.opening.tools]
    assert names == [*episode.environment.about.tool_names, *(["submit_answer"] if style == "tool" else [])]
    if style == "tool":
        parameters = episode.opening.tools[-1]["function"]["parameters"]
        assert parameters == {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


@pytest.mark.parametrize("style", ["turn", "tool"])
@pytest.mark.parametrize("difficulty", [0, 8])
def test_the_brief_states_job_answer_and_budgets_and_the_format_how_to_write(
    style: str, difficulty: int, start: Start
) -> None:
    def told(*include: str) -> str:
        return start(difficulty, style=style, options={"include": include}).opening.instructions or ""

    brief, written = told("brief"), told("format")
    assert told("tools", "format", "brief") == told("brief", "format") == f"{brief}\n{written}"
    axes = axes_of(difficulty)
    in_brief = ("cart", '"done":{"type":"boolean"}', f"{axes.t_max} turns", f"{axes.b_tool} tool calls")
    in_format = ("Prose with neither JSON nor a tool call", '"tool_calls": [{"name": "…", "args": {…}}]', "To finish")
    for part in in_brief:
        assert part in brief
        assert part not in written
    for part in in_format:
        assert part in written
        assert part not in brief
    assert ("submit_answer" in written) == ("Calls alone leave the turn open" in written) == (style == "tool")


# --- Sizes ------------------------------------------------------------------------------------------------------------


def assert_card_fits(card: dict[str, Any]) -> None:
    text = json.dumps(card, ensure_ascii=False)
    assert len(text.encode()) <= CARD_BYTES == 350, text
    assert None not in card.values()


def test_every_card_fits_and_holds_no_null(shop: Shop, start: Start) -> None:
    world = start().intent.world
    assert shop.catalog.size == 400
    for row in range(shop.catalog.size):
        card = world.card(row)
        assert_card_fits(card)
        assert {"product_id", "title", "category", "ship_days", "in_stock"} <= card.keys()
        assert shop.catalog.category_of(row).variant_attribute not in card


def test_cards_in_results_fit(start: Start) -> None:
    for seed in range(5):
        episode = start(6, seed)
        search = {"name": "catalog_search", "args": {"query": "the best gift", "limit": 10}}
        cards = cards_in(episode.step(act(search, HISTORY)))
        assert len(cards) > 10
        for card in cards:
            assert_card_fits(card)


@pytest.mark.parametrize(
    "text",
    ["茶" * 300, "茶 " * 150, "💥" * 200, '"' * 300, "\\" * 300, "é" * 300, "a" * 300, "a b " * 80, "\n" * 300, "x"],
)
def test_a_card_of_any_writing_fits(text: str) -> None:
    kind = Category("yoga mats", ("Sports", "yoga mats"), "yoga mat", "yoga mats", "color")
    product = Product(
        id="B0" + "X" * 30,
        title=text,
        category=kind.name,
        brand=text,
        price_cents=123456,
        rating=4.5,
        rating_count=5,
        ship_days=30,
        stock=9,
        attributes={"material": "cork" * 9, "color": "red", "weight": 1000.0, "length": 183.0},
    )
    catalog = Catalog.from_products([product], [kind])
    card = Shop(catalog, Search.build(catalog)).card(0)
    assert card["title"]
    assert_card_fits({**card, "in_stock": False})


def test_an_unknown_price_is_absent_from_the_card_and_a_floor_is_named_so() -> None:
    kind = Category("yoga mats", ("Sports", "yoga mats"), "yoga mat", "yoga mats", "color")
    products = [
        Product(id="a", title="Mat A", category=kind.name, ship_days=3, stock=1),
        Product(id="b", title="Mat B", category=kind.name, ship_days=3, stock=1, price_cents=1299, price_is_floor=True),
    ]
    catalog = Catalog.from_products(products, [kind])
    cards = {card["product_id"]: card for card in map(Shop(catalog, Search.build(catalog)).card, range(2))}
    assert not {"price", "price_from", "rating", "brand"} & cards["a"].keys()
    assert cards["b"]["price_from"] == 12.99
    assert "price" not in cards["b"]


def test_a_large_observation_loses_whole_cards_from_the_end(start: Start) -> None:
    episode, whole = start(MAX_DIFFICULTY), start(MAX_DIFFICULTY)
    observation = episode.step(act(*[HISTORY] * 6))
    assert size(observation) <= MAX_BYTES
    assert size(observation) > MAX_BYTES - 1000, "no more is dropped than must be"
    history = cards_in(whole.step(act(HISTORY)))
    kept = cards_in(observation)
    assert kept == (history * 6)[: len(kept)]
    assert observation.truncated == 6 * len(history) - len(kept) > 0
    assert len(observation.tool_results) == 6
    assert wire(observation)["truncated"] == observation.truncated


def test_an_observation_that_fits_says_nothing_of_truncation(start: Start) -> None:
    observation = start(MAX_DIFFICULTY).step(act(HISTORY, HISTORY))
    assert "truncated" not in wire(observation)


def test_a_long_cart_seen_often_is_cut_too(start: Start, shop: Shop) -> None:
    episode = start(MAX_DIFFICULTY, t_max=40, p_oos=0.0)
    wanted = {item["product_id"] for item in episode.goal_json()["items"]}
    ids = [id_ for id_ in map(shop.catalog.ids.__getitem__, range(120)) if id_ not in wanted]
    for at in range(0, len(ids), 6):
        adds = [{"name": "cart_add", "args": {"product_id": id_}} for id_ in ids[at : at + 6]]
        assert size(episode.step(act(*adds))) <= MAX_BYTES
    observation = episode.step(act(*[VIEW] * 6))
    assert size(observation) <= MAX_BYTES
    assert observation.truncated
    lines = [line for result in observation.tool_results for line in (result.result or {})["lines"]]
    assert len(lines) + observation.truncated == 6 * len(episode.intent.world.cart)


@pytest.mark.parametrize("calls", [4, 10, 60])
def test_more_calls_than_any_difficulty_grants_still_fit(calls: int, start: Start) -> None:
    for call in (HISTORY, {"name": "catalog_search", "args": {"query": "lamp", "limit": 10}}):
        observation = start(12, b_tool=100).step(act(*[call] * calls))
        assert size(observation) <= MAX_BYTES


def test_openings_fit(start: Start) -> None:
    every = product(range(MAX_DIFFICULTY + 1), ("turn", "tool"))
    openings = [start(difficulty, style=style).opening for difficulty, style in every]
    assert max(map(size, openings)) <= MAX_BYTES // 2
