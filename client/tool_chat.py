"""An episode as a chat with native tool calls: what adapters for trainers and model servers share.

Such an episode is played in style ``tool``: the server then lists ``submit_answer`` among the tools, whose arguments
are the fields of the environment's answer, and each call may be sent on its own. Reset with :data:`CHAT_RESET`, which
leaves out how an action is written as JSON: the chat template shows that.

Whoever has whole assistant messages uses :class:`ToolChat`. Whoever is handed one call at a time takes
:func:`call_action` for the action and :func:`reply_text` for what came of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any
from uuid import uuid4

from ecom_rlve.client.protocol import StepResult
from ecom_rlve.client.text import found, notes, said
from ecom_rlve.models import ResetRequest

ChatMessage = dict[str, Any]
"""One message of an OpenAI chat: ``role``, ``content``, and ``tool_calls`` or ``tool_call_id``."""
Schema = dict[str, Any]
"""An OpenAI function schema."""

CHAT_RESET: Mapping[str, Any] = MappingProxyType({"style": "tool", "include": ["tools", "brief"]})
"""Arguments of a reset for an episode that is played as a chat."""
ASK_USER = "ask_user"
SUBMIT_ANSWER = "submit_answer"
SAY = "say"
SAY_TOOL: Schema = {
    "type": "function",
    "function": {
        "name": SAY,
        "description": "Say something to the customer and hear their reply; closes the turn.",
        "parameters": {
            "type": "object",
            "properties": {"message": {"type": "string", "description": "What to say, in words."}},
            "required": ["message"],
            "additionalProperties": False,
        },
    },
}
"""For policies that act by tool calls alone. The server has no such tool: what is said is part of an action."""

_MAX_ID = 255
_BY_WORDS = "What you write, alone or beside calls, is said to the customer and closes the turn, as a question does."
_BY_TOOL = f"Call {SAY} to tell the customer something; that closes the turn, as a question does."
_SUBMITS = f"To finish, call {SUBMIT_ANSWER} with the answer's fields, without done."


def reset_arguments(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of a dataset row is an argument of a reset, and what makes it a chat.

    Columns that no reset knows stay here: a row may hold what is no JSON. The row chooses neither style nor content of
    the first observation. An episode that it does not name gets an id, so that the client can end it even if it never
    hears that it began.
    """
    known = ResetRequest.model_fields.keys() - CHAT_RESET.keys()
    given = {name: value for name, value in row.items() if name in known and value is not None}
    return {"episode_id": uuid4().hex, **given, **CHAT_RESET}


def system_text(first: StepResult, *, says_by_tool: bool = False) -> str:
    """Return the system prompt: the brief, today's date, and how to speak and submit.

    ``says_by_tool`` is for policies that act by tool calls alone: they speak with the tool ``say``.
    """
    seen = first.observation
    today = f"Today is {seen.today}." if seen.today else ""
    how = f"{_BY_TOOL if says_by_tool else _BY_WORDS} {_SUBMITS}"
    return "\n".join(part for part in (seen.instructions, today, how) if part)


def opening_text(first: StepResult) -> str:
    """Return the customer's first message, and the budget after it."""
    return _joined([first.observation.user_message, *notes(first.observation)])


def tool_schemas(first: StepResult, *, says_by_tool: bool = False) -> list[Schema]:
    """Return the function schemas of the tools on offer, with ``submit_answer``, and ``say`` where asked for.

    Raises ``ValueError`` if the episode was not reset with :data:`CHAT_RESET`.
    """
    schemas = first.observation.tools or []
    if not any(schema["function"]["name"] == SUBMIT_ANSWER for schema in schemas):
        raise ValueError(f"no {SUBMIT_ANSWER} among the tools; reset the episode with {dict(CHAT_RESET)}")
    return [*schemas, *([SAY_TOOL] if says_by_tool else [])]


def call_action(name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the action of one tool call. An argument that is None is left out.

    ``say`` with its message becomes what is said to the customer. Anything else is sent as a call, and so is a ``say``
    with other arguments: the server has no such tool, and counts it as the model's mistake.
    """
    given = {key: value for key, value in arguments.items() if value is not None}
    if name == SAY and set(given) == {"message"} and isinstance(given["message"], str):
        return {"assistant_message": given["message"]}
    return {"tool_calls": [{"name": name, "args": given}]}


def reply_text(result: StepResult) -> str:
    """Return everything that came of an action, for who reads one text a call; never empty."""
    seen = result.observation
    results = [found(each) for each in seen.tool_results if each.name != ASK_USER]
    return _joined([*results, *([said(seen)] if seen.user_message or not results else []), *notes(seen)])


class ToolChat:
    """The conversation of one episode, from its first observation on.

    >>> chat = ToolChat(env.reset(env_id="CART", **CHAT_RESET))  # doctest: +SKIP
    ... while not chat.result.done:
    ...     chat.hear(env.step(chat.act(policy(chat.messages, chat.tools))))
    """

    def __init__(self, first: StepResult) -> None:
        """Raises ``ValueError`` if the episode was not reset with :data:`CHAT_RESET`."""
        self.result = first
        """The latest answer of the server."""
        self.tools = tool_schemas(first)
        self.messages: list[ChatMessage] = [
            {"role": "system", "content": system_text(first)},
            {"role": "user", "content": opening_text(first)},
        ]
        self._unanswered: ChatMessage | None = None

    def act(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Take in an assistant message and return the action to step with.

        The message is that of a chat API; its reasoning and other fields are not kept. A call without an id that is its
        own gets one. Mistakes in names and arguments are left for the server to judge.
        """
        calls = _identified([_call(raw) for raw in message.get("tool_calls") or ()], turn=len(self.messages))
        taken = {"role": "assistant", "content": _words(message.get("content"))} | (
            {"tool_calls": calls} if calls else {}
        )
        self.messages.append(taken)
        self._unanswered = taken
        return dict(taken)

    def hear(self, result: StepResult) -> list[ChatMessage]:
        """Take in the answer to a step or a finish; return the messages that it adds for the policy.

        There is one for each call, under its id, and one of the customer where they spoke unasked or nothing was
        called. After a finish there are none.
        """
        self.result = result
        added = [] if self._unanswered is None else replies(self._unanswered.get("tool_calls", ()), result)
        self._unanswered = None
        self.messages += added
        return added


def replies(calls: Sequence[Mapping[str, Any]], result: StepResult) -> list[ChatMessage]:
    """Return the messages that answer ``calls`` in OpenAI's form, or words alone where there are none.

    The last question or submission is answered with the customer's words. The last message holds the budget.
    """
    seen = result.observation
    # Results come in the order of the calls; a format failure has none, and a submission never.
    results = iter(seen.tool_results)
    speaking = [call["id"] for call in calls if call["function"]["name"] in (ASK_USER, SUBMIT_ANSWER)]
    messages: list[ChatMessage] = []
    for call in calls:
        each = None if call["function"]["name"] == SUBMIT_ANSWER else next(results, None)
        text = "not executed" if each is None else found(each)
        if call["id"] in speaking:
            text = said(seen) if call["id"] == speaking[-1] else "see the answer to the last question"
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    if not calls or (seen.user_message and not speaking):
        messages.append({"role": "user", "content": seen.user_message or said(seen)})
    messages[-1]["content"] = _joined([messages[-1]["content"], *notes(seen)])
    return messages


def _words(content: object) -> str:
    """Return the words of a message's content, which is a string, a list of text parts, or absent."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return str(content or "")


def _call(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return one tool call in OpenAI's form."""
    body = raw.get("function", raw)
    arguments = body.get("arguments", body.get("args", {}))
    encoded = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {
        "id": raw.get("id"),
        "type": "function",
        "function": {"name": str(body.get("name") or ""), "arguments": encoded},
    }


def _identified(calls: list[dict[str, Any]], turn: int) -> list[dict[str, Any]]:
    """Give each call an id that is its own in this message; the server takes at most 255 characters."""
    seen: set[str] = set()
    for at, call in enumerate(calls):
        given = call["id"]
        if not isinstance(given, str) or not 0 < len(given) <= _MAX_ID or given in seen:
            call["id"] = f"call_{turn}_{at}"
        seen.add(call["id"])
    return calls


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part for part in parts if part)
