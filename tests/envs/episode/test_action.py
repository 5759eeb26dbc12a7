"""Reading actions: one meaning in every form, and no text that breaks or stalls the reader (SPEC §2.2)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.envs.episode.action import (
    MAX_QUESTIONS,
    FormatFailureError,
    Grammar,
    ParsedAction,
    batches,
    parse,
)
from ecom_rlve.envs.episode.reading.raw_text import MAX_TEXT
from ecom_rlve.envs.errors import ActionError
from ecom_rlve.envs.registry import environment
from ecom_rlve.models import Format, Style

CART = environment("CART")
B_TOOL = 3
SUBMIT = {"name": "submit_answer", "args": {}}

Call = dict[str, Any]
words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="<{`"), max_size=30)
ids = st.text(st.characters(codec="utf-8"), max_size=12)
quantities = st.integers(1, 1000)
calls = st.one_of(
    st.fixed_dictionaries(
        {"name": st.just("catalog_search")},
        optional={
            "args": st.fixed_dictionaries(
                {"query": words},
                optional={
                    "limit": st.integers(1, 10),
                    "price_max": st.floats(0, 1e6) | st.integers(0, 1000),
                    "color": st.text("abc"),
                    "in_stock": st.booleans(),
                    "sort": st.sampled_from(["relevance", "price_asc"]),
                },
            )
        },
    ).filter(lambda call: "args" in call),
    st.fixed_dictionaries(
        {
            "name": st.just("cart_add"),
            "args": st.fixed_dictionaries({"product_id": ids}, optional={"quantity": quantities, "variant_id": ids}),
        }
    ),
    st.fixed_dictionaries(
        {
            "name": st.just("cart_set_quantity"),
            "args": st.fixed_dictionaries({"line_id": ids, "quantity": quantities}),
        }
    ),
    st.sampled_from(["cart_view", "user_get_visit_history"]).map(lambda name: {"name": name, "args": {}}),
    words.filter(bool).map(lambda question: {"name": "ask_user", "args": {"question": question}}),
)
call_lists = st.lists(calls, max_size=B_TOOL)
answers = st.none() | st.booleans().map(lambda done: {"done": done})


def grammar(style: Style = "turn", format: Format = "strict") -> Grammar:
    return Grammar(CART.about.tools, CART.about.answer, B_TOOL, style, format)


def said(message: str, tool_calls: list[Call], answer: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"assistant_message": message, "tool_calls": tool_calls, "answer": answer}


def renamed(call: Call, *, dotted: bool, arguments: str, floats: bool, qty: bool) -> Call:
    """Return a call as another client spells it."""
    args = {
        "qty" if qty and key == "quantity" else key: float(value) if floats and type(value) is int else value
        for key, value in call["args"].items()
    }
    name = call["name"].replace("_", ".", 1) if dotted else call["name"]
    if arguments == "absent" and not args:
        return {"name": name}
    if arguments == "object":
        return {"name": name, "arguments": args}
    return {"name": name, "arguments": json.dumps(args)} if arguments == "string" else {"name": name, "args": args}


spellings = st.builds(
    lambda **how: how,
    dotted=st.booleans(),
    arguments=st.sampled_from(["args", "object", "string", "absent"]),
    floats=st.booleans(),
    qty=st.booleans(),
)
ENVELOPES: dict[str, Callable[[str], str]] = {
    "bare": lambda text: text,
    "padded": lambda text: f"\n\t {text} \n",
    "fenced": lambda text: f"```\n{text}\n```",
    "fenced as JSON": lambda text: f"\n```json\n{text}\n```  \n",
    "fenced by Windows": lambda text: f"```json\r\n{text}\r\n```\r\n",
    "thought": lambda text: f'<think>first {{"a": 1}} ```\n then\n</think>\n\n{text}',
    "thought of nothing": lambda text: f"<think>\n\n</think>\n\n{text}",
    "thought of a call": lambda text: f'<think><tool_call>{{"name": "cart_view"}}</tool_call></think>{text}',
    "thought, then fenced": lambda text: f"<think>hm</think>\n```JSON\n{text}\n```",
}
envelopes = st.sampled_from(list(ENVELOPES.values()))


def hermes(message: str, tool_calls: list[Call], place: int) -> str:
    """Return the calls as Hermes blocks with the message before the one at ``place``."""
    blocks = [f"<tool_call>\n{json.dumps(call)}\n</tool_call>" for call in tool_calls]
    blocks.insert(place, message)
    return "\n".join(blocks)


@given(words, call_lists, answers, envelopes, st.sampled_from([None, 2]), st.booleans())
def test_raw_json_means_what_the_structured_form_means(
    message: str,
    tool_calls: list[Call],
    answer: dict[str, Any] | None,
    envelope: Callable[[str], str],
    indent: int | None,
    ascii_only: bool,
) -> None:
    action = said(message, tool_calls, answer)
    text = envelope(json.dumps(action, indent=indent, ensure_ascii=ascii_only))
    assert parse({"text": text}, grammar()) == parse(action, grammar())


@given(words, st.lists(calls, min_size=1, max_size=B_TOOL), envelopes, st.integers(0, B_TOOL), spellings)
def test_hermes_blocks_mean_what_the_structured_form_means(
    message: str, tool_calls: list[Call], envelope: Callable[[str], str], place: int, how: dict[str, Any]
) -> None:
    text = hermes(message, [renamed(call, **how) for call in tool_calls], min(place, len(tool_calls)))
    assert parse({"text": envelope(text)}, grammar()) == parse(said(message.strip(), tool_calls), grammar())


@given(words, st.lists(st.tuples(calls, spellings), max_size=B_TOOL), answers)
def test_aliases_mean_the_same(
    message: str, spelled: list[tuple[Call, dict[str, Any]]], answer: dict[str, Any] | None
) -> None:
    plain = parse(said(message, [call for call, _ in spelled], answer), grammar())
    aliased = said(message, [renamed(call, **how) for call, how in spelled], answer)
    assert parse(aliased, grammar()) == plain
    assert parse({"text": json.dumps(aliased)}, grammar()) == plain


@given(words, call_lists, answers)
def test_absent_fields_have_their_defaults(message: str, tool_calls: list[Call], answer: dict[str, Any] | None) -> None:
    action = said(message, tool_calls, answer)
    short = {key: value for key, value in action.items() if value}
    assert parse(short, grammar()) == parse({**action, "end_turn": True, "text": None, "metadata": {"a": 1}}, grammar())


def test_an_empty_action_is_a_silent_turn() -> None:
    assert parse({}, grammar()) == ParsedAction("", (), None, end_turn=True)


def test_a_whole_float_is_an_integer_and_arguments_keep_their_types() -> None:
    args = {"product_id": "a", "quantity": 5.0}
    (call,) = parse({"tool_calls": [{"name": "cart.add", "args": args}]}, grammar()).calls
    assert call.args.model_dump() == {"product_id": "a", "variant_id": None, "quantity": 5}
    assert type(call.args.model_dump()["quantity"]) is int
    for quantity in (5.5, "5.5", "five", "5 mugs", "0x5", "٥", "", True, None, [5], ["5"], 1e30, "1e30", "9" * 9000):
        with pytest.raises(FormatFailureError, match="quantity"):
            parse({"tool_calls": [{"name": "cart_add", "args": {**args, "quantity": quantity}}]}, grammar())


@pytest.mark.parametrize("quantity", ["5", " 5 ", "5.0", "5e0", "50E-1"])
def test_a_number_written_as_a_string_is_that_number(quantity: str) -> None:
    calls = [{"name": "cart_add", "args": {"product_id": "5", "quantity": given}} for given in (quantity, 5)]
    written, plain = (parse({"tool_calls": [call]}, grammar()).calls for call in calls)
    assert written == plain
    assert type(written[0].args.model_dump()["quantity"]) is int
    assert written[0].args.model_dump()["product_id"] == "5"


@given(st.floats(0, 1e300) | st.integers(0, 10**9))
def test_a_written_bound_is_the_bound(bound: float) -> None:
    searches = [{"name": "catalog_search", "args": {"query": "7", "price_max": as_is}} for as_is in (bound, str(bound))]
    plain, written = (parse({"tool_calls": [call]}, grammar()).calls for call in searches)
    assert written == plain


def test_a_number_of_an_answer_may_be_written_too() -> None:
    answer = environment("POLICY").about.answer
    assert answer.model_validate({"done": True, "value": "12.40"}) == answer.model_validate(
        {"done": True, "value": 12.4}
    )
    dated = answer.model_validate({"done": True, "value": "2025-03-01"})
    assert dated.model_dump()["value"] == "2025-03-01"


def test_a_search_bound_is_the_same_as_integer_and_float() -> None:
    parsed = [
        parse({"tool_calls": [{"name": "catalog_search", "args": {"query": "a", "rating_min": bound}}]}, grammar())
        for bound in (4, 4.0)
    ]
    assert repr(parsed[0].calls[0].args) == repr(parsed[1].calls[0].args)


def test_an_alias_beside_its_meaning_is_an_unknown_field() -> None:
    args = {"product_id": "a", "quantity": 1, "qty": 2}
    with pytest.raises(FormatFailureError, match="qty"):
        parse({"tool_calls": [{"name": "cart_add", "args": args}]}, grammar())


@pytest.mark.parametrize(
    "text",
    [
        '{"assistant_message": NaN}',
        '{"assistant_message": "a", "metadata": {"a": NaN}}',
        '{"assistant_message": "a", "metadata": [-Infinity]}',
        '{"tool_calls": [{"name": "catalog_search", "args": {"query": "a", "price_max": NaN}}]}',
        '{"tool_calls": [{"name": "catalog_search", "args": {"query": "a", "price_max": Infinity}}]}',
        '{"tool_calls": [{"name": "catalog_search", "args": {"query": "a", "price_max": -Infinity}}]}',
        '{"tool_calls": [{"name": "catalog_search", "args": {"query": "a", "price_max": 1e999}}]}',
        '{"tool_calls": [{"name": "cart_add", "args": {"product_id": "a", "quantity": 1e999}}]}',
        '{"tool_calls": [{"name": "cart_add", "args": {"product_id": "a", "quantity": 1' + "0" * 400 + "}}]}",
        '{"tool_calls": [{"name": "catalog_search", "args": {"query": "a", "price_max": 1' + "0" * 400 + "}}]}",
        '{"a": ' + "1" * 5000 + "}",
        '{"answer": ' * 30_000 + "{}" + "}" * 30_000,
        '{"tool_calls": ' + "[" * 50_000 + "]" * 50_000 + "}",
        '{"assistant_message": "' + "a" * MAX_TEXT + '"}',
        r'{"tool_calls": [{"name": "catalog_search", "args": {"query": "\ud800"}}]}',
        r'{"tool_calls": [{"name": "\ud800", "args": 5}]}',
        r'{"\ud800": 1}',
        '{"' + "long" * 9000 + '": 1}',
        '{"tool_calls": [{"name": "' + "long" * 9000 + '"}]}',
        '{"tool_calls": [{"name": "' + "long" * 9000 + '", "args": 1}]}',
        '{"tool_calls": [{"name": "cart_view", "args": {"' + "long" * 9000 + '": 1}}]}',
        '{"answer": {"done": true, "' + "long" * 9000 + '": 1}}',
        '{"answer": {"done": true}} {"answer": {"done": true}}',
        '```json\n{"answer": {"done": true}}\n```\n```json\n{"answer": {"done": true}}\n```',
        '```json\n{"answer": {"done": true}}',
        '{"answer": {"done": true}',
        "{'answer': {'done': true}}",
        '[{"answer": {"done": true}}]',
        '"answer"',
        "null",
        "",
        " \n ",
        "```\n```",
        "<think>",
        "<think></think>",
        "<think>I never stop",
        "I will look for it.",
        'Here you are: {"answer": {"done": true}}',
        '{"text": "again"}',
        '{"answer": {"done": true}, "text": "x"}',
        "<tool_call></tool_call>",
        '<tool_call>{"name": "cart_view"}',
        '<tool_call>{"name": "cart_view"}</tool_call><tool_call>{"name": "cart_view"',
        '<tool_call>{"name": "cart_view", }</tool_call>',
        '<tool_call>["cart_view"]</tool_call>',
        '<tool_call>{"name": "cart_view", "arguments": "{"}</tool_call>',
        '<tool_call>{"name": "cart_view", "arguments": "[]"}</tool_call>',
        '<tool_call>{"name": "cart_view"}</tool_call>' * (B_TOOL + 1),
        "\x00",
        "\ud800",
    ],
    ids=lambda text: repr(text[:60]),
)
@pytest.mark.parametrize("style", ["turn", "tool"])
def test_unreadable_text_is_a_format_failure_with_a_short_reason(text: str, style: Style) -> None:
    with pytest.raises(FormatFailureError) as failure:
        parse({"text": text}, grammar(style))
    reason = str(failure.value)
    assert reason
    assert len(reason) < 500
    reason.encode()


@given(st.text(), st.sampled_from(["turn", "tool"]))
def test_any_text_is_read_or_refused(text: str, style: Style) -> None:
    for raw in (text, f"{{{text}}}", f"<tool_call>{text}</tool_call>", f"```\n{text}\n```"):
        with suppress(FormatFailureError):
            assert isinstance(parse({"text": raw}, grammar(style)), ParsedAction)


@pytest.mark.parametrize(
    "text",
    [
        "```" + "\n" * 190_000 + "x",
        "```" + " " * 190_000,
        "```\n" + "``` " * 45_000 + "x",
        "<tool_call>" * 18_000,
        "<tool_call>" * 9_000 + "</tool_call>",
        "<tool_call></tool_call>" * 8_000,
        "<think>" * 25_000,
        " " * 190_000 + "x",
        "<think>" + "</think" * 25_000,
        "{" * 190_000,
        '{"a":' * 38_000,
        '"' + "\\" * 190_000,
    ],
    ids=lambda text: repr(text[:24]),
)
def test_reading_takes_linear_time(text: str) -> None:
    # The thread's own time: no other work on the machine adds to it.
    started = time.thread_time()
    with pytest.raises(FormatFailureError):
        parse({"text": text}, grammar())
    assert time.thread_time() - started < 1


def test_the_last_of_two_equal_keys_counts() -> None:
    text = '{"answer": {"done": true}, "answer": null, "assistant_message": "a", "assistant_message": "b"}'
    assert parse({"text": text}, grammar()) == parse(said("b", []), grammar())


@pytest.mark.parametrize(
    ("action", "style"),
    [
        ({"end_turn": False}, "turn"),
        ({"tool_calls": [{"name": "cart_view"}], "end_turn": False}, "turn"),
        ({"text": '{"answer": null}', "assistant_message": "hello"}, "turn"),
        ({"text": '{"answer": null}', "tool_calls": []}, "tool"),
        ({"text": '{"answer": null}', "end_turn": False}, "tool"),
        ({"text": 5}, "turn"),
        ({"text": ["{}"]}, "turn"),
        ({"text": {"answer": None}}, "tool"),
        ({"text": False}, "tool"),
    ],
)
def test_a_clients_mistake_is_no_format_failure(action: dict[str, Any], style: Style) -> None:
    with pytest.raises(ActionError) as mistake:
        parse(action, grammar(style))
    assert str(mistake.value)


def test_metadata_may_stand_beside_text() -> None:
    assert parse({"text": "{}", "metadata": {"request_id": "a"}}, grammar()) == parse({}, grammar())


@given(st.text("<>{}tool_callthink/`\n \"'", max_size=60), st.sampled_from(["turn", "tool"]))
def test_the_words_of_a_structured_message_mean_nothing_more(message: str, style: Style) -> None:
    said = "" if message.isspace() else message
    assert parse({"assistant_message": message}, grammar(style)) == ParsedAction(said, (), None, end_turn=True)


def test_submit_answer_is_the_answer_in_style_tool_only() -> None:
    parsed = parse({"tool_calls": [SUBMIT], "end_turn": False}, grammar("tool"))
    assert parsed.calls == ()
    assert parsed.answer == parse({"answer": {"done": True}}, grammar()).answer
    dotted = {"name": "submit.answer", "arguments": "{}"}
    assert parse({"tool_calls": [dotted]}, grammar("tool")).answer == parsed.answer
    with pytest.raises(FormatFailureError, match="no tool"):
        parse({"tool_calls": [SUBMIT]}, grammar("turn"))
    for two in ({"tool_calls": [SUBMIT, SUBMIT]}, {"tool_calls": [SUBMIT], "answer": {"done": True}}):
        with pytest.raises(FormatFailureError, match="two answers"):
            parse(two, grammar("tool"))
    with pytest.raises(FormatFailureError, match="product_ids"):
        parse({"tool_calls": [{"name": "submit_answer", "args": {"product_ids": []}}]}, grammar("tool"))


@given(call_lists.filter(bool), st.integers(0, B_TOOL), st.integers(1, B_TOOL))
def test_batches_keep_order_and_never_hold_more_than_fits(tool_calls: list[Call], room: int, b_tool: int) -> None:
    checked = parse(said("", tool_calls), grammar()).calls
    split = list(batches(checked, min(room, b_tool), b_tool))
    assert tuple(call for batch in split for call in batch) == checked
    counted = [sum(not call.tool.is_free for call in batch) for batch in split]
    assert counted[0] <= min(room, b_tool)
    assert all(0 < count <= b_tool for count in counted[1:])
    assert all(count == b_tool for count in counted[1:-1])
    if len(split) > 1:
        assert counted[0] == min(room, b_tool)


@pytest.mark.parametrize("style", ["turn", "tool"])
def test_questions_cost_no_call_but_are_not_without_end(style: Style) -> None:
    question = {"name": "ask_user", "args": {"question": "Which colour?"}}
    grammar = Grammar(CART.about.tools, CART.about.answer, B_TOOL, style)
    assert len(parse({"tool_calls": [question] * MAX_QUESTIONS}, grammar).calls) == MAX_QUESTIONS
    with pytest.raises(FormatFailureError, match="more than 8 questions"):
        parse({"tool_calls": [question] * (MAX_QUESTIONS + 1)}, grammar)


@pytest.mark.parametrize(
    "raw",
    [
        r'{"assistant_message": "What colour \ud800 do you want?"}',
        r'{"tool_calls": [{"name": "ask_user", "arguments": "{\"question\": \"\\uD800\"}"}]}',
    ],
)
def test_half_a_character_is_a_format_failure(raw: str) -> None:
    with pytest.raises(FormatFailureError):
        parse({"text": raw}, Grammar(CART.about.tools, CART.about.answer, B_TOOL, "turn"))
    whole = r'{"assistant_message": "\ud83d\ude00"}'
    assert parse({"text": whole}, Grammar(CART.about.tools, CART.about.answer, B_TOOL, "turn")).message == "\U0001f600"
