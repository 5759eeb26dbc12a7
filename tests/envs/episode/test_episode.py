"""The episode as a whole: how it ends, what a mistake costs and whose it is (SPEC §2.2, §2.4, §4)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.envs.episode.episode import Episode
from ecom_rlve.envs.errors import ActionError, DifficultyError, EpisodeDoneError
from ecom_rlve.envs.registry import environment
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import Observation, Termination

Start = Callable[..., Episode]
Snapshot = Callable[[World], tuple[Any, ...]]
Call = dict[str, Any]

VIEW: Call = {"name": "cart_view", "args": {}}
B_TOOL = 2
"""Calls per turn at difficulty 0."""
MAX_BYTES = 32_000


def search(**args: Any) -> Call:
    return {"name": "catalog_search", "args": {"query": "lamp", **args}}


def add(product_id: str, **args: Any) -> Call:
    return {"name": "cart_add", "args": {"product_id": product_id, **args}}


def ask(question: str = "Anything else?") -> Call:
    return {"name": "ask_user", "args": {"question": question}}


def act(*calls: Call, message: str = "", done: bool | None = None) -> dict[str, Any]:
    return {
        "assistant_message": message,
        "tool_calls": list(calls),
        "answer": None if done is None else {"done": done},
    }


def bad_call(name: str, **args: Any) -> dict[str, Any]:
    """Return an action of a call that would change the cart and one that breaks the format."""
    return act(add("$first"), {"name": name, "args": args})


ENVELOPES: dict[str, dict[str, Any]] = {
    "unknown field": {**act(add("$first")), "tool": "x"},
    "an action in the action": {"action": act(add("$first"))},
    "a message": {"message": "Hello", "tool_calls": [add("$first")]},
    "a call of the stock client": {"type": "call_tool", "tool_name": "cart_view", "arguments": {}},
    "content without a role": {"content": "Hello", "tool_calls": [add("$first")]},
    "another's message": {"role": "user", "content": "Hello"},
    "a message said twice": {"role": "assistant", "content": "Hello", "assistant_message": "Hello"},
    "a message with an image": {"role": "assistant", "content": [{"type": "image_url", "image_url": {}}]},
    "a refusal": {"role": "assistant", "content": None, "refusal": "I cannot help."},
    "message is a number": {**act(add("$first")), "assistant_message": 5},
    "message is zero": {**act(add("$first")), "assistant_message": 0},
    "message is false": {**act(add("$first")), "assistant_message": False},
    "message is an empty list": {**act(add("$first")), "assistant_message": []},
    "message is an object": {**act(add("$first")), "assistant_message": {"text": "hello"}},
    "calls are an object": {"tool_calls": add("$first")},
    "calls are a string": {"tool_calls": json.dumps([add("$first")])},
    "calls are zero": {"tool_calls": 0},
    "call is a string": {"tool_calls": [add("$first"), "cart_view"]},
    "call is null": {"tool_calls": [add("$first"), None]},
    "call without a name": {"tool_calls": [add("$first"), {"args": {}}]},
    "call with a number for a name": {"tool_calls": [add("$first"), {"name": 5}]},
    "call with an unknown field": {"tool_calls": [add("$first"), {**VIEW, "tool": "x"}]},
    "call of another type": {"tool_calls": [add("$first"), {**VIEW, "type": "custom"}]},
    "call with a number for an id": {"tool_calls": [add("$first"), {**VIEW, "id": 7}]},
    "call with a false id": {"tool_calls": [add("$first"), {**VIEW, "id": False}]},
    "call with an endless id": {"tool_calls": [add("$first"), {**VIEW, "id": "i" * 256}]},
    "call with args twice": {"tool_calls": [add("$first"), {**VIEW, "arguments": {}}]},
    "call with a name outside its function": {"tool_calls": [{"name": "cart_view", "function": {"name": "cart_view"}}]},
    "function is a string": {"tool_calls": [{"type": "function", "function": "cart_view"}]},
    "function with an unknown field": {"tool_calls": [{"function": {"name": "cart_view", "strict": True}}]},
    "end_turn is a number": {**act(add("$first")), "end_turn": 1},
    "end_turn is a string": {**act(add("$first")), "end_turn": "true"},
    "metadata is a list": {**act(add("$first")), "metadata": []},
    "an envelope's and a model's mistake": {"tool_calls": [{"name": "cart_empty"}], "answer": 5, "tool": "x"},
}
"""What is the client's in a structured action, and the model's in raw text."""
FAILURES: dict[str, dict[str, Any]] = {
    "args are a list": {"tool_calls": [add("$first"), {"name": "cart_view", "args": []}]},
    "args are a string": {"tool_calls": [add("$first"), {"name": "cart_view", "args": "{}"}]},
    "arguments are broken JSON": {"tool_calls": [add("$first"), {"name": "cart_view", "arguments": "{"}]},
    "arguments are an empty string": {"tool_calls": [add("$first"), {"name": "cart_view", "arguments": ""}]},
    "arguments are a list": {"tool_calls": [add("$first"), {"name": "cart_view", "arguments": "[]"}]},
    "answer is a boolean": {**act(add("$first")), "answer": True},
    "answer is a list": {**act(add("$first")), "answer": []},
    "answer without done": {**act(add("$first")), "answer": {}},
    "answer with done = 1": {**act(add("$first")), "answer": {"done": 1}},
    "answer with done = null": {**act(add("$first")), "answer": {"done": None}},
    "answer with an unknown field": {**act(add("$first")), "answer": {"done": True, "value": 1}},
    "answer with another environment's field": {
        **act(add("$first")),
        "answer": {"done": True, "recommended_product_ids": []},
    },
    "too many calls": act(add("$first"), *[VIEW] * B_TOOL),
    "too many calls and a question": act(add("$first"), ask(), *[VIEW] * B_TOOL),
    "unknown tool": bad_call("cart_empty"),
    "tool in capitals": bad_call("CART_VIEW"),
    "tool of another environment": bad_call("policy_get", section_id="a"),
    "missing argument": bad_call("catalog_search"),
    "unknown argument": bad_call("cart_view", limit=5),
    "argument is null": bad_call("catalog_search", query=None),
    "query is a number": bad_call("catalog_search", query=5),
    "query too long": bad_call("catalog_search", query="a" * 1001),
    "limit too high": bad_call("catalog_search", query="a", limit=11),
    "limit too low": bad_call("catalog_search", query="a", limit=0),
    "limit is no whole number": bad_call("catalog_search", query="a", limit=2.5),
    "limit is a word": bad_call("catalog_search", query="a", limit="five"),
    "limit is written and too high": bad_call("catalog_search", query="a", limit="11"),
    "limit is written and no whole number": bad_call("catalog_search", query="a", limit="2.5"),
    "limit is a boolean": bad_call("catalog_search", query="a", limit=True),
    "offset below zero": bad_call("catalog_search", query="a", offset=-1),
    "price with a sign": bad_call("catalog_search", query="a", price_max="$5"),
    "price without end": bad_call("catalog_search", query="a", price_max="1e999"),
    "price below zero": bad_call("catalog_search", query="a", price_max=-1),
    "rating above five": bad_call("catalog_search", query="a", rating_min=6),
    "flag is a number": bad_call("catalog_search", query="a", in_stock=1),
    "unknown sort": bad_call("catalog_search", query="a", sort="price"),
    "color is a list": bad_call("catalog_search", query="a", color=["red"]),
    "quantity of none": bad_call("cart_add", product_id="a", quantity=0),
    "quantity below zero": bad_call("cart_set_quantity", line_id="a", quantity=-1),
    "quantity without end": bad_call("cart_add", product_id="a", quantity=10**30),
    "id is a number": bad_call("cart_remove", line_id=1),
    "id too long": bad_call("cart_remove", line_id="a" * 65),
    "question is empty": bad_call("ask_user", question=""),
    "question too long": bad_call("ask_user", question="a" * 4001),
    "prose": {"text": "Let me look for it."},
    "broken JSON": {"text": '{"tool_calls": [{"name": "cart_add"'},
    "no text": {"text": ""},
    "answer by a tool that style turn lacks": bad_call("submit_answer"),
}


def with_ids(action: dict[str, Any], shop: Shop) -> dict[str, Any]:
    """Return the action with the first product's id where ``$first`` stands."""
    return json.loads(json.dumps(action).replace("$first", shop.catalog.ids[0]))  # type: ignore[no-any-return]  # JSON has no types


def as_text(action: dict[str, Any]) -> dict[str, Any]:
    return action if "text" in action else {"text": json.dumps(action)}


def bytes_of(observation: Observation) -> bytes:
    return observation.model_dump_json(exclude_unset=True).encode()


def seen_of(episode: Episode) -> tuple[Any, ...]:
    """Return all that a client can see of an episode."""
    return episode.state(), episode.turns, episode.turns_left, len(episode.log.steps), episode.done


FORMS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {"structured": dict, "text": as_text}
BROKEN = {
    f"{name}, {form}": FORMS[form](action)
    for form in FORMS
    for name, action in (FAILURES if form == "structured" else {**ENVELOPES, **FAILURES}).items()
}


@pytest.mark.parametrize("before", [0, 2])
@pytest.mark.parametrize("action", BROKEN.values(), ids=BROKEN)
def test_a_format_failure_ends_the_episode_and_does_nothing(
    action: dict[str, Any], before: int, start: Start, snapshot: Snapshot, shop: Shop
) -> None:
    episode = start()
    for _ in range(before):
        episode.step(act(search()))
    world = episode.intent.world
    earlier, shown = snapshot(world), dict(world.shown)
    observation = episode.step(with_ids(action, shop))
    assert observation.done
    assert observation.reward == -1.0
    assert observation.result is not None
    assert observation.result.termination is Termination.FORMAT_FAILURE
    assert observation.result.r_total == -1.0
    assert not observation.result.is_correct
    assert observation.result.turns == observation.turn == before + 1
    assert observation.result.reason
    assert observation.tool_results == []
    assert observation.user_message == ""
    assert (observation.turns_left, observation.tool_calls_left) == (0, 0)
    assert snapshot(world) == earlier
    assert world.shown == shown
    assert len(bytes_of(observation)) < 2000
    with pytest.raises(EpisodeDoneError):
        episode.step(act())


def test_a_format_failure_with_everything_right_is_still_minus_one(start: Start) -> None:
    episode = start()
    while episode.solve()["tool_calls"][0]["name"] != "cart_add":
        episode.step(episode.solve())
    solution = episode.solve()
    episode.step({**solution, "answer": None})
    observation = episode.step({"answer": {"done": True, "sure": True}})
    assert observation.reward == -1.0
    assert observation.result is not None
    assert not observation.result.is_correct


@pytest.mark.parametrize("style", ["turn", "tool"])
def test_questions_cost_no_call(style: str, start: Start) -> None:
    observation = start(style=style).step(act(*[VIEW] * B_TOOL, ask(), ask("Which brand?")))
    assert not observation.done
    assert len(observation.tool_results) == B_TOOL + 2
    assert start(style=style).step(act(*[VIEW] * (B_TOOL + 1))).reward == -1.0


@pytest.mark.parametrize(
    ("action", "style"),
    [
        ({"tool_calls": [VIEW], "end_turn": False}, "turn"),
        ({"text": "{}", "tool_calls": [VIEW]}, "turn"),
        ({"text": "{}", "end_turn": True}, "tool"),
        ({"text": 5}, "turn"),
        ({"text": [], "metadata": {}}, "tool"),
        *((action, style) for action in ENVELOPES.values() for style in ("turn", "tool")),
    ],
)
@pytest.mark.parametrize("before", [0, 1])
def test_a_clients_mistake_costs_nothing(
    action: dict[str, Any], style: str, before: int, start: Start, snapshot: Snapshot
) -> None:
    episode = start(style=style)
    for _ in range(before):
        episode.step(act(search()))
    earlier = seen_of(episode), snapshot(episode.intent.world)
    with pytest.raises(ActionError):
        episode.step(action)
    assert (seen_of(episode), snapshot(episode.intent.world)) == earlier
    assert episode.step(act(VIEW)).done is False


def test_after_the_end_every_step_is_refused_and_changes_nothing(start: Start, snapshot: Snapshot) -> None:
    episode = start()
    episode.step(act(done=True))
    earlier = seen_of(episode), snapshot(episode.intent.world)
    for action in (act(search()), act(done=True), {"text": "prose"}, {"text": 5}, {"end_turn": False}):
        with pytest.raises(EpisodeDoneError):
            episode.step(action)
    assert (seen_of(episode), snapshot(episode.intent.world)) == earlier


def test_a_proposal_ends_nothing(start: Start) -> None:
    observation = start().step(act(done=False))
    assert not observation.done
    assert observation.user_message


def test_a_question_beside_the_final_answer_is_not_answered(start: Start) -> None:
    episode = start(difficulty=3, p_missing=1.0, p_noise=0.0)
    said = episode.step(act(ask("Which brand and price?"), message="Which brand?", done=True)).user_message
    asked = start(difficulty=3, p_missing=1.0, p_noise=0.0)
    told = asked.step(act(ask("Which brand?"))).user_message
    brands = {str(slot.fact.constraint.value) for slot in episode.intent.slots if slot.name == "brand"}
    assert any(brand in told for brand in brands)
    assert not any(brand in said for brand in brands)


def test_quitting_at_once_costs_as_much_as_a_wrong_answer_may(start: Start) -> None:
    quit_ = start().step(act(done=True)).result
    assert quit_ is not None
    assert (quit_.r_task, quit_.r_eff, quit_.r_hall, quit_.r_total) == (-1.0, -1.0, 0.0, -0.9)
    assert quit_.termination is Termination.ANSWERED


def test_without_an_answer_the_task_is_lost_whatever_the_cart_holds(start: Start) -> None:
    episode = start(t_max=4)
    while not episode.intent.world.cart:
        episode.step({**episode.solve(), "answer": None})
    observation = None
    while not episode.done:
        observation = episode.step(act())
    assert observation is not None
    assert observation.result is not None
    assert observation.result.termination is Termination.TURN_BUDGET
    assert (observation.result.r_task, observation.result.r_eff) == (-1.0, -1.0)
    assert not observation.result.is_correct


def test_an_id_that_only_arguments_held_was_never_shown(start: Start) -> None:
    episode = start()
    (wanted,) = episode.goal_json()["items"]
    product_id = wanted["product_id"]
    variants = {"name": "catalog_get_variants", "args": {"product_id": product_id}}
    episode.step(act(variants, add(product_id, quantity=wanted["quantity"])))
    result = episode.step(act(VIEW, done=True)).result
    assert result is not None
    assert (result.r_task, result.r_hall, result.is_correct) == (-1.0, -1.0, False), "and earns nothing"
    assert result.r_eff == -1


def test_ids_that_left_the_cart_are_no_output(start: Start, shop: Shop) -> None:
    episode = start(t_max=9)
    episode.step(act(add(shop.catalog.ids[0]), {"name": "cart_remove", "args": {"line_id": "L1"}}))
    result = episode.step(act(done=True)).result
    assert result is not None
    assert result.r_hall == 0.0


def test_the_resolved_arguments_are_beside_the_episode(start: Start, shop: Shop) -> None:
    episode = start(difficulty=3, seed=7, style="tool", t_max=9)
    metadata = episode.metadata
    assert (metadata.env_id, metadata.difficulty, metadata.seed) == ("CART", 3, 7)
    assert (metadata.split, metadata.style, metadata.axes) == ("train", "tool", {"t_max": 9})
    assert metadata.catalog == shop.catalog.fingerprint
    state = episode.state()
    assert (state.difficulty, state.seed, state.step_count, state.turn, state.done) == (3, 7, 0, 0, False)


def test_the_state_holds_the_whole_conversation(start: Start) -> None:
    episode = start()
    first = episode.step(act(VIEW, ask("Which brand?")))
    second = episode.step({"text": '{"answer": {"done": true}}'})
    messages = episode.state().messages
    assert [message.role for message in messages] == [
        "user", "assistant", "tool", "tool", "user", "assistant", "user",
    ]  # fmt: skip
    assert [messages[at].content for at in (0, 4, 6)] == [
        episode.opening.user_message, first.user_message, second.user_message,
    ]  # fmt: skip
    assert episode.state().step_count == 2


def test_a_difficulty_that_the_catalog_cannot_serve_is_refused(start: Start, shop: Shop) -> None:
    most = environment("CART").max_difficulty(shop)
    with pytest.raises(DifficultyError, match=str(most)):
        start(difficulty=most + 1)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["cart_add", "cart_view", "ask_user", "submit_answer", "catalog_search", "\ud800"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
ARGUMENTS = (
    "query", "limit", "offset", "category", "price_min", "price_max", "rating_min", "wattage_min", "color", "sort",
    "in_stock", "product_id", "variant_id", "line_id", "quantity", "qty", "question", "ship_days_max", "brand", "done",
)  # fmt: skip
TOOL_NAMES = (*environment("CART").about.tool_names, "catalog.search", "cart.add", "submit_answer", "order_get")
names = st.sampled_from(TOOL_NAMES)
# Values that are often right, so that many of the calls are made.
likely = (
    json_values
    | st.sampled_from(["lamp", "red", "L1", "", "price_asc", "$first", 1, 2, 5.0, 1e308, 1e-308, 0.005, True, False])
    | st.floats(0, 1e308)
)
arguments = st.dictionaries(st.sampled_from(ARGUMENTS), likely, max_size=4)
call_like = (
    st.fixed_dictionaries({"name": names, "args": arguments})
    | st.fixed_dictionaries({"name": names}, optional={"arguments": arguments.map(json.dumps) | json_values})
    | st.sampled_from([add("$first"), VIEW, search(), search(price_max=1e308), search(price_min=1e308), ask()])
)
action_like = st.fixed_dictionaries(
    {},
    optional={
        "assistant_message": st.text(max_size=40) | json_values,
        "tool_calls": st.lists(call_like, max_size=3) | json_values,
        "answer": st.sampled_from([None, {"done": False}]) | json_values,
        "end_turn": st.booleans() | json_values,
        "metadata": json_values,
    },
)
raw_like = (
    action_like.map(json.dumps)
    | json_values.map(json.dumps)
    | st.text()
    | call_like.map(lambda call: f"<tool_call>{json.dumps(call)}</tool_call>")
)
any_action = (
    action_like
    | raw_like.map(lambda text: {"text": text})
    | st.dictionaries(st.sampled_from(["text", "tool_calls", "answer", "x"]) | st.text(), json_values, max_size=3)
)


def real_ids(value: Any, product_id: str) -> Any:
    """Return the value with a product's id in place of ``$first``."""
    if isinstance(value, dict):
        return {key: real_ids(each, product_id) for key, each in value.items()}
    if isinstance(value, list):
        return [real_ids(each, product_id) for each in value]
    return value.replace("$first", product_id) if isinstance(value, str) else value


@given(st.lists(any_action, min_size=1, max_size=4), st.sampled_from(["turn", "tool"]), st.sampled_from([0, 6, 20]))
def test_no_json_breaks_an_episode(
    start: Start, shop: Shop, actions: list[dict[str, Any]], style: str, difficulty: int
) -> None:
    episode = start(difficulty, style=style)
    refused = 0
    for action in actions:
        earlier = len(episode.log.steps), episode.turns, episode.turns_left
        try:
            observation = episode.step(real_ids(action, shop.catalog.ids[0]))
        except (ActionError, EpisodeDoneError):
            assert (len(episode.log.steps), episode.turns, episode.turns_left) == earlier
            refused += 1
            continue
        assert len(bytes_of(observation)) <= MAX_BYTES
        assert observation.done == episode.done
        assert (observation.result is not None) == observation.done
    assert len(episode.log.steps) == len(actions) - refused
