"""The envelope of an action: the messages and calls of chat APIs mean what the structured form means."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.envs.episode.action import Grammar, ParsedAction, may_scan, parse
from ecom_rlve.envs.episode.episode import Episode
from ecom_rlve.envs.errors import ActionError, FormatFailureError
from ecom_rlve.envs.registry import environment
from ecom_rlve.models import Style

Start = Callable[..., Episode]
CART = environment("CART")
GRAMMAR = Grammar(CART.about.tools, CART.about.answer, 3, "turn")
SEARCH = {"query": "mug"}
DUMPED: dict[str, Any] = {"refusal": None, "annotations": [], "audio": None, "function_call": None}
"""What a chat client's own dump of a message holds beside what was said."""


def chat(content: Any, *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls) or None, **more}


def chat_call(name: str, arguments: Any, call_id: str = "call_1") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def structured(message: str, *calls: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"assistant_message": message, "tool_calls": list(calls), **more}


def read(action: dict[str, Any], style: Style = "turn") -> ParsedAction:
    return parse(action, GRAMMAR if style == "turn" else Grammar(CART.about.tools, CART.about.answer, 3, style))


def without_ids(parsed: ParsedAction) -> ParsedAction:
    return parsed._replace(calls=tuple(call._replace(id=None) for call in parsed.calls))


CHATS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "words": (chat("Hello"), structured("Hello")),
    "nothing": (chat(None), structured("")),
    "no content": ({"role": "assistant"}, {}),
    "a dump": (chat("Hello", **DUMPED), structured("Hello")),
    "a call": (
        chat(None, chat_call("catalog_search", json.dumps(SEARCH))),
        structured("", {"name": "catalog_search", "args": SEARCH}),
    ),
    "arguments as an object": (
        chat("", chat_call("catalog.search", SEARCH)),
        structured("", {"name": "catalog_search", "args": SEARCH}),
    ),
    "no arguments": (
        chat("One moment.", {"function": {"name": "cart_view"}}),
        structured("One moment.", {"name": "cart_view"}),
    ),
    "a streamed call": (
        chat(None, {**chat_call("cart_view", "{}"), "index": 0}),
        structured("", {"name": "cart_view"}),
    ),
    "blank content": (chat("\n\n", chat_call("cart_view", "{}")), structured("", {"name": "cart_view"})),
    "text parts": (
        chat([{"type": "text", "text": "Hel"}, {"type": "text", "text": "lo"}]),
        structured("Hello"),
    ),
    "reasoning beside it": (chat("Hello", reasoning_content="Which size? {}"), structured("Hello")),
    "reasoning in it": (chat("<think>Which size?</think>\n\nHello<|im_end|>"), structured("Hello")),
    "reasoning that began in the prompt": (chat("Which size?</think>Hello"), structured("Hello")),
    "reasoning without end": (chat("Hello <think>Which size?"), structured("Hello")),
    "content that is wholly JSON": (chat('{"a": "</think>"}'), structured('{"a": "</think>"}')),
    "an answer beside it": (chat("Here.", answer={"done": True}), structured("Here.", answer={"done": True})),
    "metadata beside it": (chat("Here.", metadata={"request_id": "a"}), structured("Here.")),
}


@pytest.mark.parametrize(("action", "plain"), CHATS.values(), ids=CHATS)
@pytest.mark.parametrize("style", ["turn", "tool"])
def test_a_chat_message_means_what_the_structured_form_means(
    action: dict[str, Any], plain: dict[str, Any], style: Style
) -> None:
    expected = read(plain, style)
    assert without_ids(read(action, style)) == expected
    assert without_ids(read({"text": json.dumps(action)}, style)) == expected


@pytest.mark.parametrize(
    "call",
    [
        {"name": "cart_view", "args": {}, "id": "call_1"},
        {"name": "cart_view", "args": {}, "id": "call_1", "type": "tool_call"},
        {"name": "cart_view", "arguments": "{}", "id": "call_1", "type": "function"},
        {"type": "function", "id": "call_1", "function": {"name": "cart_view", "arguments": "{}"}},
        {"type": None, "id": "call_1", "name": "cart_view", "args": None, "arguments": None},
    ],
)
def test_a_call_may_have_an_id_and_a_type_and_keeps_the_id(call: dict[str, Any]) -> None:
    for action in ({"tool_calls": [call]}, {"text": f"<tool_call>{json.dumps(call)}</tool_call>"}):
        (parsed,) = read(action).calls
        assert (parsed.tool.name, parsed.id) == ("cart_view", "call_1")


def test_an_empty_id_is_none() -> None:
    assert read({"tool_calls": [{"name": "cart_view", "id": ""}]}).calls[0].id is None


def test_results_carry_the_ids_of_their_calls(start: Start) -> None:
    episode = start()
    calls = [chat_call("cart_view", "{}", "call_a"), chat_call("cart_add", '{"product_id": "none"}', "call_b")]
    asked = {"name": "ask_user", "args": {"question": "Which one?"}}
    results = episode.step(chat(None, *calls, asked)).tool_results
    wire = [result.model_dump(exclude_unset=True) for result in results]
    assert [each.get("tool_call_id") for each in wire] == ["call_a", "call_b", None]
    assert wire[0]["result"]["lines"] == []
    assert wire[1]["code"] == "UNKNOWN_PRODUCT"
    assert "tool_call_id" not in wire[2]


@pytest.mark.parametrize(
    "wrong",
    [
        chat(None, chat_call("cart_empty", "{}")),
        chat(None, chat_call("cart_view", "{")),
        chat(None, chat_call("cart_view", "")),
        chat(None, chat_call("cart_view", "[]")),
        chat(None, chat_call("cart_view", [])),
        chat(None, chat_call("catalog_search", '{"query": 5}')),
        chat(None, chat_call("cart_view", '{"limit": NaN}')),
        chat(None, *[chat_call("cart_view", "{}")] * 4),
        chat(None, answer={"done": 1}),
    ],
)
def test_names_arguments_and_answer_are_the_models(wrong: dict[str, Any]) -> None:
    with pytest.raises(FormatFailureError):
        read(wrong)


def test_the_envelope_is_looked_at_before_what_it_holds() -> None:
    """A client's mistake is free, whatever the model did in the same action."""
    with pytest.raises(ActionError, match="end_turn"):
        read({**chat(None, chat_call("cart_empty", "{")), "end_turn": "no"})


@pytest.mark.parametrize(
    ("field", "hint"),
    [("action", "directly"), ("message", "assistant_message"), ("content", "role"), ("type", "tool_calls")],
)
def test_a_refusal_says_what_may_have_been_meant(field: str, hint: str) -> None:
    with pytest.raises(ActionError, match=hint):
        read({field: "x"})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
call_fields = st.sampled_from(["name", "args", "arguments", "id", "type", "index", "function"])
any_call = st.dictionaries(call_fields | st.text(max_size=3), json_values | st.just("cart_view"), max_size=5)
message_fields = st.sampled_from(
    ["role", "content", "tool_calls", "assistant_message", "answer", "end_turn", "metadata", "refusal", "reasoning"]
)
any_message = st.dictionaries(
    message_fields | st.text(max_size=3),
    json_values | st.just("assistant") | st.lists(any_call, max_size=3),
    max_size=6,
)


@given(any_message, st.sampled_from(["turn", "tool"]))
def test_any_object_is_read_or_refused_and_never_looked_up_in_vain(action: dict[str, Any], style: Style) -> None:
    assert isinstance(may_scan(action, CART.about.tools), bool)
    reason = "read"
    try:
        read(action, style)
    except (ActionError, FormatFailureError) as refusal:
        reason = str(refusal)
    assert 0 < len(reason) < 500


@pytest.mark.parametrize(
    "action",
    [
        structured("", {"name": "catalog_search", "args": SEARCH}),
        chat(None, chat_call("catalog_search", json.dumps(SEARCH))),
        chat(None, chat_call("cart_view", "{}"), chat_call("catalog_search", "{}")),
        {"text": "{}"},
        {"tool_calls": 5},
    ],
)
def test_what_may_scan_the_catalog_is_known_in_every_form(action: dict[str, Any]) -> None:
    assert may_scan(action, CART.about.tools)
    assert not may_scan(chat("Hello", chat_call("cart_view", "{}")), CART.about.tools)
    assert not may_scan({"text": None, "assistant_message": "Hello"}, CART.about.tools)
