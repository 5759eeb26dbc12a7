"""What is no part of a model's output: reasoning, chat-control tokens, a fence; and how long finding that out takes."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.envs.episode.action import Grammar, ParsedAction, parse
from ecom_rlve.envs.episode.reading.raw_text import visible
from ecom_rlve.envs.errors import FormatFailureError
from ecom_rlve.envs.registry import environment
from ecom_rlve.models import Format, Style

CART = environment("CART")
SAY = '{"assistant_message": "Which size?"}'
CALL = '<tool_call>{"name": "cart_view"}</tool_call>'
TOKENS = (
    "<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "<|endoftext|>", "<|end|>", "<|return|>", "</s>",
    "<eos>", "<pad>", "<end_of_turn>", "<turn|>", "<｜end▁of▁sentence｜>", "<|END_OF_TURN_TOKEN|>", "[|endofturn|]",
)  # fmt: skip


def read(text: str, style: Style = "turn", format: Format = "strict") -> ParsedAction:
    return parse({"text": text}, Grammar(CART.about.tools, CART.about.answer, 3, style, format))


@pytest.mark.parametrize("token", TOKENS)
@pytest.mark.parametrize("end", ["{}", "\n{}", " {}\n", "{0}{0}", "{}\n<|endoftext|>\n"])
@pytest.mark.parametrize(
    "output", [SAY, f"```json\n{SAY}\n```", f"<think>hm</think>{SAY}", CALL, f"One moment. {CALL}"]
)
def test_tokens_at_the_end_are_no_part_of_the_output(output: str, end: str, token: str) -> None:
    assert read(output + end.format(token)) == read(output)


@pytest.mark.parametrize("token", TOKENS)
def test_a_token_inside_an_output_stays_where_it_is(token: str) -> None:
    assert read(json.dumps({"assistant_message": f"a {token} b"})).message == f"a {token} b"
    with pytest.raises(FormatFailureError):
        read(f"{SAY}{token}{SAY}")


@pytest.mark.parametrize(
    "reasoning",
    [
        "<think>What size?</think>",
        "<think>\n\n</think>\n\n",
        "What size? I had better ask.</think>",
        "\n</think>",
        "One</think> two</think> three\n</think>\n",
        "<think>I open <think> twice</think></think>",
        f"I will say {SAY}.\n</think>\n",
        f"I will call {CALL}.</think>",
        "Let me see. <think>What size?</think>",
        "<think>```json\n{}\n```</think>",
    ],
)
@pytest.mark.parametrize("output", [SAY, f"```json\n{SAY}\n```", CALL, f"One moment. {CALL}"])
def test_everything_up_to_the_last_end_of_reasoning_is_reasoning(output: str, reasoning: str) -> None:
    assert read(reasoning + output) == read(output)


@pytest.mark.parametrize("output", [SAY, CALL])
def test_reasoning_that_never_ends_hides_what_follows(output: str) -> None:
    assert read(f"{output}\n<think>Or should I rather {SAY}") == read(output)
    assert read(f"hm</think>{output}<think>Or {CALL}") == read(output)
    with pytest.raises(FormatFailureError):
        read(f"<think>I think and think. {output}")
    with pytest.raises(FormatFailureError):
        read(f"<think>One.</think><think>Two. {output}")


@pytest.mark.parametrize(
    "title", ["</think>", "<think>", "</think> {} <think>", "<think></think>", "a</think>b</think>"]
)
@pytest.mark.parametrize("before", ["", "<think>A title.</think>", "A title.\n</think>\n"])
@pytest.mark.parametrize("form", ["{}", "```json\n{}\n```", "{}<|im_end|>", "  {}\n"])
def test_what_is_wholly_json_is_not_stripped(form: str, before: str, title: str) -> None:
    output = json.dumps({"assistant_message": f"It is called {title}."})
    assert read(before + form.replace("{}", output)).message == f"It is called {title}."


def test_a_question_inside_reasoning_is_nobodys() -> None:
    parsed = read(f'{{"assistant_message": "Which colour?"}} or rather </think>\n{CALL}')
    assert (parsed.message, len(parsed.calls)) == ("", 1)


def test_the_message_around_calls_holds_no_reasoning() -> None:
    assert read(f"Is it for him?</think>\n\nOne moment.\n{CALL}<|im_end|>").message == "One moment."


@pytest.mark.parametrize(
    "text",
    [
        f"{SAY}\n{SAY}",
        f"{SAY}<|im_end|>{SAY}",
        f"{SAY}<|im_end|>\n<|im_start|>user\nYes, please.<|im_end|>",
        f"```json\n{SAY}\n```\n```json\n{SAY}\n```",
        f"{SAY} {CALL}",
        f"</think> and {SAY}",
        f"{SAY}</think>",
        "<|im_end|>",
        "</think>",
        "<think></think>",
        "</s></s>",
        "Which size?",
        "[]",
        f"[{SAY}]",
    ],
)
@pytest.mark.parametrize("style", ["turn", "tool"])
def test_all_else_is_a_format_failure(text: str, style: Style) -> None:
    with pytest.raises(FormatFailureError) as failure:
        read(text, style)
    assert 0 < len(str(failure.value)) < 500


PIECES = (
    SAY, CALL, "<think>", "</think>", "```", "```json\n", "\n", " ", "{", "}", '{"', '"', "[", "]", "\\", "Which size?",
    "<tool_call>", "</tool_call>", "<function=cart_view>", "</function>", "<parameter=query>", "</parameter>", ";",
    "[TOOL_CALLS]", "[ARGS]", "<|python_tag|>", "cart_view", "(", ")", "query=", "'a'", "null", "\ud800", "NaN",
    '{"name": "cart_view"}', '{"name": "cart_view", "parameters": {}}', '{"answer": {"done": true}}', *TOKENS,
)  # fmt: skip
pieces = st.sampled_from(PIECES)
texts = st.lists(pieces | st.text(max_size=8), max_size=8).map("".join)


@given(texts | st.text(), st.sampled_from(["turn", "tool"]), st.sampled_from(["strict", "lenient"]))
def test_any_text_is_read_or_refused(text: str, style: Style, format: Format) -> None:
    with suppress(FormatFailureError):
        assert isinstance(read(text, style, format), ParsedAction)


def outcome(text: str, style: Style, format: Format) -> ParsedAction | None:
    try:
        return read(text, style, format)
    except FormatFailureError:
        return None


@given(texts, st.sampled_from(["turn", "tool"]))
def test_lenient_reads_all_that_strict_reads_and_reads_it_alike(text: str, style: Style) -> None:
    strict = outcome(text, style, "strict")
    if strict is not None:
        assert outcome(text, style, "lenient") == strict


@given(texts)
def test_what_is_shown_is_shown_as_it_is(text: str) -> None:
    """Taking off what is no part of the output does not go on for ever, and JSON loses nothing."""
    shown = visible(text)
    assert len(shown) <= len(text)
    with suppress(ValueError):
        value: Any = json.loads(text)
        if isinstance(value, dict | list):
            assert json.loads(shown) == value


MANY = 190_000


@pytest.mark.parametrize(
    "text",
    [
        "</think>" * (MANY // 8),
        "</think>{" * (MANY // 9),
        "<think>" * (MANY // 7),
        "</s>" * (MANY // 4),
        " </s>" * (MANY // 5),
        "<|im_end|>\n" * (MANY // 11),
        "<|" * (MANY // 2),
        "<" * MANY,
        "<|" + "a" * MANY,
        "{" * MANY,
        '{"' * (MANY // 2),
        '{"a":' * (MANY // 5),
        '{"a":1}' * (MANY // 7),
        "{ " * (MANY // 2),
        "{" + " " * MANY,
        "a" * MANY + "{",
        "a" * MANY + '!{"',
        "a." * (MANY // 2) + '{"a": 1}',
        "[" * MANY,
        "[a(" * (MANY // 3),
        "[a(b=[" + "1," * (MANY // 2),
        "[a(b='" + "\\" * MANY,
        "[a(b='x')," * (MANY // 10),
        "[a(b=[1])," * (MANY // 10),
        "[" + " " * MANY,
        "[TOOL_CALLS]" * (MANY // 12),
        "[TOOL_CALLS]a{}" * (MANY // 15),
        "[TOOL_CALLS]" + "a" * MANY,
        "[TOOL_CALLS]a[CALL_ID]" * (MANY // 22),
        "<|python_tag|>" * (MANY // 14),
        "<|python_tag|>" + "{};" * (MANY // 3),
        "<|python_tag|>" + "{} ; " * (MANY // 5),
        "<function=" * (MANY // 10),
        "<function=a>" * (MANY // 12),
        "<function=a></function>" * (MANY // 23),
        "<function=a>" + "<parameter=b>" * (MANY // 13) + "</function>",
        "<function=a>" + "<parameter=b>c</parameter>" * (MANY // 26) + "</function>",
        "<function=a><parameter=" + " " * MANY + "</function>",
    ],
    ids=lambda text: repr(text[:24]),
)
@pytest.mark.parametrize("format", ["strict", "lenient"])
def test_reading_takes_linear_time(text: str, format: Format) -> None:
    # The thread's own time, which other work on the machine does not lengthen; a quadratic reading takes minutes.
    started = time.thread_time()
    assert outcome(text, "turn", format) is None
    assert time.thread_time() - started < 5
