"""The envelope of an action: which fields it has, and of what types; not what they hold (SPEC §2.2).

Read are the structured fields, and the assistant messages and tool calls of chat APIs::

    {"assistant_message": str, "tool_calls": [{"name": str, "args": {...}}], "answer": {...}, "end_turn": bool}
    {"role": "assistant", "content": str, "tool_calls": [{"id": str, "type": "function",
                                                          "function": {"name": str, "arguments": str}}]}

In a structured action the envelope is the client's, in raw text the model's: who is told of a fault is for the caller
to say. Tools' names, arguments and the answer are the model's everywhere and not looked into here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ecom_rlve.envs.episode.reading.raw_text import visible

FIELDS = ("assistant_message", "tool_calls", "answer", "end_turn", "metadata")
_CALL_FIELDS = frozenset(("name", "args", "arguments", "id", "type", "index", "function"))
_FUNCTION_FIELDS = frozenset(("name", "args", "arguments"))
_CALL_TYPES = (None, "function", "tool_call")
_MAX_ID = 255
_UNSAID = ("reasoning", "reasoning_content", "reasoning_details", "thinking_blocks")
"""Fields of a chat message that servers keep a model's reasoning in: nobody hears it."""
_MEANT = {
    "action": "the fields of an action stand in it directly",
    "message": "what is said to the customer is assistant_message",
    "content": "a chat message has a role, too",
    "type": "a tool is called by tool_calls",
}


class EnvelopeError(Exception):
    """This is not the envelope of an action; the message says why."""


class AskedCall(NamedTuple):
    """One tool call as it came."""

    name: str
    """With underscores for dots."""
    args: Any
    """None where there are none."""
    is_encoded: bool
    """``args`` may be JSON text: they came as ``arguments``."""
    id: str | None


class Envelope(NamedTuple):
    """One action as it came."""

    message: str
    """Empty where nothing is said."""
    calls: tuple[AskedCall, ...]
    answer: Any
    end_turn: bool | None
    """None where the action does not say."""


def read_envelope(fields: Mapping[str, Any]) -> Envelope:
    """Return the envelope of an action.

    Raises:
        EnvelopeError: a field is unknown or of a wrong type.
    """
    plain = _of_chat_message(fields) if "role" in fields else fields
    if unknown := [name for name in plain if name not in FIELDS]:
        name = next((name for name in _MEANT if name in unknown), min(unknown, key=str))
        hint = _MEANT.get(name, f"an action has {', '.join(FIELDS)}, or the fields of a chat message")
        raise EnvelopeError(f"unknown field {_short(name)!r}; {hint}")
    message = plain.get("assistant_message")
    if message is not None and not isinstance(message, str):
        raise EnvelopeError("assistant_message must be a string")
    end_turn = plain.get("end_turn")
    if end_turn is not None and not isinstance(end_turn, bool):
        raise EnvelopeError("end_turn must be true or false")
    metadata = plain.get("metadata")
    if metadata is not None and not isinstance(metadata, dict):
        raise EnvelopeError("metadata must be an object")
    calls = plain.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        raise EnvelopeError("tool_calls must be a list")
    said = message if message and not message.isspace() else ""
    return Envelope(said, tuple(map(_call, calls or ())), plain.get("answer"), end_turn)


def name_of_call(call: Any) -> Any:
    """Return the name of a tool call as it came; None where it has none."""
    body = call.get("function", call) if isinstance(call, dict) else None
    return body.get("name") if isinstance(body, dict) else None


def _of_chat_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a chat API's assistant message, which may have those of an action beside its own."""
    if message["role"] != "assistant":
        raise EnvelopeError("role must be 'assistant': an action is what the agent says")
    if "assistant_message" in message:
        raise EnvelopeError("send content or assistant_message, not both")
    fields: dict[str, Any] = {"assistant_message": _said(message.get("content"))}
    for name, value in message.items():
        # Clients dump whole messages, with every field of the API that has no value.
        is_unset = name not in FIELDS and (value is None or value in ([], {}))
        if name not in ("role", "content", *_UNSAID) and not is_unset:
            fields[name] = value
    return fields


def _said(content: Any) -> str:
    """Return the words of a chat message's content, a string or a list of text parts, without reasoning and tokens."""
    if content is None:
        return ""
    texts = list(map(_text_of_part, content)) if isinstance(content, list) else [content]
    words = [text for text in texts if isinstance(text, str)]
    if len(words) < len(texts):
        raise EnvelopeError("content must be a string or a list of text parts")
    return visible("".join(words))


def _text_of_part(part: Any) -> Any:
    return part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None


def _call(raw: Any) -> AskedCall:
    if not isinstance(raw, dict):
        raise EnvelopeError("a tool call is an object with a name and args")
    _require_known(raw, _CALL_FIELDS)
    body = raw
    if "function" in raw:
        body = raw["function"]
        if not isinstance(body, dict) or _FUNCTION_FIELDS & raw.keys():
            raise EnvelopeError("function must be an object with the call's name and arguments")
        _require_known(body, _FUNCTION_FIELDS)
    if raw.get("type") not in _CALL_TYPES:
        raise EnvelopeError("type of a tool call must be 'function'")
    call_id = raw.get("id")
    if call_id is not None and not (isinstance(call_id, str) and len(call_id) <= _MAX_ID):
        raise EnvelopeError(f"id of a tool call must be a string of at most {_MAX_ID} characters")
    name, args, arguments = body.get("name"), body.get("args"), body.get("arguments")
    if not isinstance(name, str):
        raise EnvelopeError("a tool call is an object with a name and args")
    if args is not None and arguments is not None:
        raise EnvelopeError("a tool call has args or arguments, not both")
    return AskedCall(name.replace(".", "_"), arguments if args is None else args, args is None, call_id or None)


def _require_known(fields: Mapping[str, Any], known: frozenset[str]) -> None:
    if not fields.keys() <= known:
        unknown = _short(min(fields.keys() - known))
        raise EnvelopeError(
            f"unknown field {unknown!r} of a tool call; it has name and args (or arguments), and may have id and type"
        )


def _short(name: object) -> str:
    return str(name)[:64]
