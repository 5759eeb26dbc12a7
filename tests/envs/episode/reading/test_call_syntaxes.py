"""The lenient format: the call syntaxes of other models and JSON amid prose mean what the structured form means."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.envs.episode.action import Grammar, ParsedAction, parse
from ecom_rlve.envs.errors import FormatFailureError
from ecom_rlve.envs.registry import environment
from ecom_rlve.models import Format, Style

RETURN, CART = environment("RETURN"), environment("CART")
TOOLS = {**CART.about.tools, **RETURN.about.tools, **environment("SUB").about.tools}

Call = tuple[str, dict[str, Any]]
SEARCH: Call = ("catalog_search", {"query": "red mug", "limit": 3, "price_max": 20.5, "in_stock": True})
VIEW: Call = ("cart_view", {})


def read(text: str, format: Format = "lenient", style: Style = "turn") -> ParsedAction:
    return parse({"text": text}, Grammar(TOOLS, RETURN.about.answer, 6, style, format))


def structured(message: str, *calls: Call) -> ParsedAction:
    action = {"assistant_message": message, "tool_calls": [{"name": name, "args": args} for name, args in calls]}
    return parse(action, Grammar(TOOLS, RETURN.about.answer, 6, "turn"))


def mistral_list(message: str, *calls: Call) -> str:
    return f"{message}[TOOL_CALLS] {json.dumps([{'name': name, 'arguments': args} for name, args in calls])}</s>"


def mistral_named(message: str, *calls: Call) -> str:
    return message + "".join(f"[TOOL_CALLS]{name}[ARGS]{json.dumps(args)}" for name, args in calls) + "</s>"


def mistral_plain(message: str, *calls: Call) -> str:
    return message + "".join(f"[TOOL_CALLS]{name}{json.dumps(args)}" for name, args in calls)


def llama_json(message: str, *calls: Call) -> str:
    written = "; ".join(json.dumps({"name": name, "parameters": args}) for name, args in calls)
    return f"{message}<|python_tag|>{written}<|eom_id|>"


def llama_functions(message: str, *calls: Call) -> str:
    return message + "".join(f"<function={name}>{json.dumps(args)}</function>" for name, args in calls) + "<|eot_id|>"


def qwen_coder(message: str, *calls: Call) -> str:
    parts = [message]
    for name, args in calls:
        texts = {key: value if isinstance(value, str) else json.dumps(value) for key, value in args.items()}
        parameters = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in texts.items())
        parts.append(f"\n<tool_call>\n<function={name}>\n{parameters}</function>\n</tool_call>")
    return "".join(parts) + "<|im_end|>"


def hermes(message: str, *calls: Call) -> str:
    blocks = (json.dumps({"name": name, "arguments": args}) for name, args in calls)
    return message + "".join(f"\n<tool_call>\n{block}\n</tool_call>" for block in blocks)


SYNTAXES = [mistral_list, mistral_named, mistral_plain, llama_json, llama_functions, qwen_coder, hermes]
words = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="<>{}[]()|｜"), max_size=20)
values = st.fixed_dictionaries(
    {"query": words},
    optional={
        "limit": st.integers(1, 10),
        "price_max": st.floats(0, 1e6),
        "in_stock": st.booleans(),
        "color": words,
        "sort": st.sampled_from(["relevance", "price_asc"]),
    },
).map(lambda args: ("catalog_search", args))
lists = st.lists(words, max_size=3).map(lambda ids: ("catalog_rerank", {"query": "a", "product_ids": ids}))
calls = st.lists(values | lists | st.just(VIEW), min_size=1, max_size=3)


@given(words, calls, st.sampled_from(SYNTAXES), st.sampled_from(["", "Why?</think>", "<think>Why?</think>\n"]))
def test_every_syntax_means_what_the_structured_form_means(
    message: str, made: list[Call], write: Any, reasoning: str
) -> None:
    expected = structured(message.strip(), *made)
    read_ = read(reasoning + write(message, *made))
    # A syntax that carries text alone drops the blanks around it.
    assert read_.message == expected.message
    assert [call.tool.name for call in read_.calls] == [call.tool.name for call in expected.calls]
    for one, other in zip(read_.calls, expected.calls, strict=True):
        assert one.args == other.args


@pytest.mark.parametrize("write", SYNTAXES[:-1])
def test_the_strict_format_reads_none_of_them(write: Any) -> None:
    with pytest.raises(FormatFailureError):
        read(write("", SEARCH), "strict")


@pytest.mark.parametrize(
    "text",
    [
        '[{"name": "cart_view", "arguments": {}}]',
        '{"name": "cart_view", "parameters": {}}',
        '{"name": "cart_view", "arguments": "{}"}',
        '{"type": "function", "name": "cart_view", "parameters": {}}',
        '```json\n{"name": "cart_view", "parameters": {}}\n```',
        "[cart_view()]",
        "[ cart.view ( ) ]",
        "cart_view{}",
        "cart_view[ARGS]{}",
        "<function=cart_view></function>",
        "<function=cart_view>\n</function>\n</tool_call>",
    ],
)
def test_a_syntax_is_read_without_the_tokens_that_begin_it(text: str) -> None:
    assert read(text) == structured("", VIEW)


def test_a_call_amid_prose_has_the_prose_as_its_message() -> None:
    text = 'Let me look. {"name": "cart_view", "parameters": {}} One moment.'
    assert read(text) == structured("Let me look. One moment.", VIEW)
    assert read("Let me look. cart_view{}") == structured("Let me look.", VIEW)


def test_an_id_of_a_call_is_kept() -> None:
    texts = (
        '[TOOL_CALLS][{"name": "cart_view", "arguments": {}, "id": "abc123"}]',
        "[TOOL_CALLS]cart_view[CALL_ID]abc123[ARGS]{}",
    )
    assert [read(text).calls[0].id for text in texts] == ["abc123", "abc123"]


ANSWER = '{"answer": {"done": true}, "assistant_message": "Here."}'


@pytest.mark.parametrize(
    "text",
    [
        f"Here you are: {ANSWER}",
        f"{ANSWER}\n\nI hope this helps!",
        f"Sure!\n```json\n{ANSWER}\n```\nDone.",
        f"I use {{braces}} and (brackets) now.\n{ANSWER}",
        f"Which size?</think>Here: {ANSWER}<|im_end|>",
    ],
)
def test_one_json_object_amid_prose_is_the_action_and_the_prose_nobodys(text: str) -> None:
    assert read(text) == read(ANSWER, "strict")
    with pytest.raises(FormatFailureError):
        read(text, "strict")


def test_python_calls_have_literals_for_values() -> None:
    text = (
        "[catalog_search(query='it\\'s a \"mug\"', limit=3, price_max=20.5, in_stock=True, color=None), "
        'catalog_rerank(query="a", product_ids=["A", \'B\']), catalog_rerank(query="b", product_ids=[])]'
    )
    args = {"query": 'it\'s a "mug"', "limit": 3, "price_max": 20.5, "in_stock": True}
    reranks: list[Call] = [
        ("catalog_rerank", {"query": "a", "product_ids": ["A", "B"]}),
        ("catalog_rerank", {"query": "b", "product_ids": []}),
    ]
    assert read(text) == structured("", ("catalog_search", args), *reranks)


def test_values_of_qwen_coder_have_the_types_that_the_tool_asks_for() -> None:
    text = (
        "<function=catalog_search><parameter=query>\n12\n</parameter><parameter=limit>\n3\n</parameter>"
        "<parameter=in_stock>\nTrue\n</parameter></function>"
    )
    assert read(text) == structured("", ("catalog_search", {"query": "12", "limit": 3, "in_stock": True}))
    kept = "<function=catalog_search>\n<parameter=query>\n  a\n\n[1]\n</parameter>\n</function>"
    assert read(kept).calls[0].args.model_dump()["query"] == "  a\n\n[1]"


def test_the_answer_may_be_submitted_in_every_syntax() -> None:
    fields = {"selected_order_id": "7", "recommended_product_ids": ["A", "B"]}
    submitted = ("submit_answer", fields)
    expected = parse({"answer": {**fields, "done": True}}, Grammar(TOOLS, RETURN.about.answer, 6, "tool")).answer
    for write in SYNTAXES:
        assert read(write("", submitted), style="tool").answer == expected
    text = '[submit_answer(selected_order_id="7", recommended_product_ids=["A", "B"])]'
    assert read(text, style="tool").answer == expected


@pytest.mark.parametrize(
    "text",
    [
        f"{ANSWER} {ANSWER}",
        f"One {ANSWER}, two {ANSWER}",
        f"Maybe {{}}. {ANSWER}",
        '{"name": "cart_view", "parameters": {}}; {"name": "cart_view", "parameters": {}}',
        'Here: {"answer": {"done": true}',
        'Here: {"answer": NaN}',
        'Here: {"price": 5}',
        'Here: {"answer": {"done": true}, "sure": true}',
        "Here: {'answer': {'done': True}}",
        "Which size?",
        "[TOOL_CALLS]",
        "[TOOL_CALLS]cart_view",
        "[TOOL_CALLS]cart_view[ARGS][]",
        "[TOOL_CALLS][{}]",
        '[TOOL_CALLS]["cart_view"]',
        "[TOOL_CALLS]cart_empty{}",
        "<|python_tag|>",
        "<|python_tag|>print(1)",
        '<|python_tag|>{"name": "cart_view", "parameters": {}};',
        '<|python_tag|>{"name": "cart_view", "parameters": {}, "arguments": {}}',
        "<function=cart_view>",
        "<function=cart_view></function",
        "<function=>{}</function>",
        "<function=cart_view>{</function>",
        "<function=cart_view>now</function>",
        "<function=cart_view><parameter=a>1</function>",
        "<function=catalog_search><parameter=query>a</parameter><parameter=limit>many</parameter></function>",
        "<tool_call>cart_view</tool_call>",
        '<tool_call>{"name": "cart_view"}',
        f"{ANSWER}<tool_call>{{}}</tool_call>",
        "[cart_view]",
        "[cart_view(]",
        "[cart_view()",
        "[cart_view()] now",
        "[cart_view() cart_view()]",
        "[catalog_search('a')]",
        "[catalog_search(query=a)]",
        "[catalog_search(query='\\x41')]",
        "[catalog_search(query='a', limit=03)]",
        "[catalog_search(query='\\ud800')]",
        "[catalog_rerank(query='a', product_ids=[['A']])]",
        '[{"answer": {"done": true}}]',
        "[1]",
    ],
)
def test_nothing_is_forgiven(text: str) -> None:
    with pytest.raises(FormatFailureError) as failure:
        read(text)
    assert 0 < len(str(failure.value)) < 500


def test_too_many_calls_are_too_many_in_every_syntax() -> None:
    for write in SYNTAXES:
        with pytest.raises(FormatFailureError, match="more than 6"):
            read(write("", *[VIEW] * 7))
