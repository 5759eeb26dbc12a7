"""An episode as a chat with tool calls: what the policy reads, and what of its messages becomes an action."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ecom_rlve.client.protocol import StepResult
from ecom_rlve.client.tool_chat import (
    CHAT_RESET,
    SAY_TOOL,
    ToolChat,
    call_action,
    opening_text,
    reply_text,
    reset_arguments,
    system_text,
    tool_schemas,
)
from ecom_rlve.models import DomainCode, Observation, StepMetadata, ToolResult

METADATA = StepMetadata(
    env_id="CART", difficulty=0, seed=1, split="train", style="tool", axes={}, version="1", catalog="c"
)


def schema(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": {}}}}


def result(words: str = "", *results: ToolResult, reward: float | None = 0.0, **fields: Any) -> StepResult:
    known: dict[str, Any] = {"turn": 0, "turns_left": 4, "tool_calls_left": 2, "done": False}
    seen = Observation(
        episode_id="e", user_message=words, tool_results=list(results), reward=reward, **{**known, **fields}
    )
    return StepResult(seen, reward, seen.done, METADATA)


FIRST = result(
    "A mug, please.",
    reward=None,
    instructions="You are a shop's assistant.",
    today="2025-11-12",
    tools=[schema("cart_view"), schema("ask_user"), schema("submit_answer")],
)
BUDGET = "(turns left: 4; tool calls left in this turn: 2)"


def call(name: str, call_id: str | None = "c", arguments: Any = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def assistant(*calls: dict[str, Any], content: Any = None) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def view(call_id: str | None = None) -> ToolResult:
    return ToolResult(name="cart_view", tool_call_id=call_id, result={"lines": []})


def test_the_opening_holds_brief_date_way_of_speaking_customer_and_budget() -> None:
    chat = ToolChat(FIRST)
    system, user = chat.messages
    assert system["content"].startswith("You are a shop's assistant.\nToday is 2025-11-12.\n")
    assert "submit_answer" in system["content"]
    assert user == {"role": "user", "content": f"A mug, please.\n\n{BUDGET}"}
    assert chat.tools == FIRST.observation.tools


def test_policies_that_only_call_tools_are_given_say() -> None:
    assert tool_schemas(FIRST, says_by_tool=True)[-1] is SAY_TOOL
    assert SAY_TOOL not in tool_schemas(FIRST)
    assert "Call say" in system_text(FIRST, says_by_tool=True)
    assert "Call say" not in system_text(FIRST)


def test_an_episode_of_another_style_is_refused() -> None:
    with pytest.raises(ValueError, match="reset the episode with"):
        ToolChat(result("Hi", tools=[schema("cart_view")]))


def test_a_row_gives_a_reset_its_arguments_and_nothing_else() -> None:
    row = {"env_id": "CART", "seed": None, "prompt": object(), "style": "turn", "group_id": "g", "include": ["format"]}
    arguments = reset_arguments(row)
    made = arguments.pop("episode_id")
    assert arguments == {"env_id": "CART", "group_id": "g", **CHAT_RESET}
    assert made != reset_arguments(row)["episode_id"]
    assert reset_arguments({"episode_id": "mine"})["episode_id"] == "mine"


def test_a_call_is_answered_under_its_id_with_the_budget_last() -> None:
    chat = ToolChat(FIRST)
    action = chat.act(assistant(call("cart_view", "a"), call("cart_view", "b")))
    assert [each["id"] for each in action["tool_calls"]] == ["a", "b"]
    error = ToolResult(name="cart_view", tool_call_id="b", error="no", code=DomainCode.UNKNOWN_PRODUCT)
    assert chat.hear(result("", view("a"), error)) == [
        {"role": "tool", "tool_call_id": "a", "content": '{"lines": []}'},
        {"role": "tool", "tool_call_id": "b", "content": f"error UNKNOWN_PRODUCT: no\n\n{BUDGET}"},
    ]
    assert len(chat.messages) == 5


def test_a_question_is_answered_with_the_customers_words() -> None:
    chat = ToolChat(FIRST)
    chat.act(assistant(call("ask_user", "q"), call("cart_view", "v")))
    asked = ToolResult(name="ask_user", tool_call_id="q", result={"status": "asked"})
    assert [each["content"] for each in chat.hear(result("Blue.", asked, view("v")))] == [
        "Customer: Blue.",
        f'{{"lines": []}}\n\n{BUDGET}',
    ]


def test_words_alone_are_answered_by_the_customer_even_where_they_say_nothing() -> None:
    chat = ToolChat(FIRST)
    assert chat.act(assistant(content=[{"type": "text", "text": "Which "}, {"type": "text", "text": "colour?"}])) == {
        "role": "assistant",
        "content": "Which colour?",
    }
    assert chat.hear(result("Blue.")) == [{"role": "user", "content": f"Blue.\n\n{BUDGET}"}]
    chat.act({"content": None})
    assert chat.hear(result()) == [{"role": "user", "content": f"The customer said nothing.\n\n{BUDGET}"}]


def test_a_customer_who_speaks_unasked_is_heard_after_the_results() -> None:
    chat = ToolChat(FIRST)
    chat.act(assistant(call("cart_view")))
    assert [each["role"] for each in chat.hear(result("Wait!", view()))] == ["tool", "user"]


def test_calls_that_a_format_failure_left_undone_are_answered_too() -> None:
    chat = ToolChat(FIRST)
    chat.act(assistant(call("cart_view", "a"), call("submit_answer", "s"), call("no_such", "n")))
    added = chat.hear(result("", reward=-1.0, done=True))
    assert [each["tool_call_id"] for each in added] == ["a", "s", "n"]
    assert added[0]["content"] == "not executed"
    assert added[-1]["content"].endswith("(the conversation has ended)")


def test_a_finish_adds_no_message() -> None:
    chat = ToolChat(FIRST)
    assert chat.hear(result("", reward=0.1, done=True)) == []
    assert chat.result.done
    assert len(chat.messages) == 2


@pytest.mark.parametrize("given", [None, "", 7, "x" * 256])
def test_a_call_without_a_usable_id_gets_one(given: Any) -> None:
    chat = ToolChat(FIRST)
    action = chat.act(assistant(call("cart_view", given), call("cart_view", "a"), call("cart_view", "a")))
    ids = [each["id"] for each in action["tool_calls"]]
    assert ids == ["call_2_0", "a", "call_2_2"]
    assert [each["tool_call_id"] for each in chat.hear(result("", view(), view(), view()))] == ids


def test_reasoning_and_other_fields_are_not_kept_and_arguments_become_text() -> None:
    chat = ToolChat(FIRST)
    action = chat.act({**assistant(call("cart_view", "a", {"x": 1})), "refusal": "no", "reasoning": "hm"})
    assert set(action) == {"role", "content", "tool_calls"}
    assert json.loads(action["tool_calls"][0]["function"]["arguments"]) == {"x": 1}
    assert chat.messages[-1] == action


def test_one_call_at_a_time() -> None:
    assert call_action("cart_view", {"a": 1, "b": None}) == {"tool_calls": [{"name": "cart_view", "args": {"a": 1}}]}
    assert call_action("say", {"message": "Hi"}) == {"assistant_message": "Hi"}
    assert call_action("say", {"words": "Hi"}) == {"tool_calls": [{"name": "say", "args": {"words": "Hi"}}]}
    assert reply_text(result("", view())) == f'{{"lines": []}}\n\n{BUDGET}'
    assert reply_text(result("Yes.", view())) == f'{{"lines": []}}\n\nCustomer: Yes.\n\n{BUDGET}'
    asked = ToolResult(name="ask_user", result={"status": "asked"})
    assert reply_text(result("", asked)) == f"The customer said nothing.\n\n{BUDGET}"
    assert opening_text(FIRST) == f"A mug, please.\n\n{BUDGET}"
