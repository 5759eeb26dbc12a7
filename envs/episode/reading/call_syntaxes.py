"""What the lenient format reads beside the strict one: the call syntaxes of other models, and JSON amid prose.

============ ==========================================================================================
Mistral      ``[TOOL_CALLS][{"name": …, "arguments": {…}}]``, ``[TOOL_CALLS]name[ARGS]{…}``
Llama        ``<|python_tag|>{"name": …, "parameters": {…}}``, ``<function=name>{…}</function>``,
             ``[name(argument="value")]``
Qwen-Coder   ``<tool_call><function=name><parameter=argument>value</parameter></function></tool_call>``
============ ==========================================================================================

Tokens that begin a syntax are often dropped on the way, so the lists and objects behind them are read without them
too. Words around calls are the message, as in the strict format; words around an action that has a message of its own
are nobody's. What is read is checked as if the model had written the structured form.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ecom_rlve.envs.episode.reading.envelope import FIELDS
from ecom_rlve.envs.episode.reading.pythonic_calls import pythonic_calls
from ecom_rlve.envs.episode.reading.raw_text import CALL_CLOSES, CALL_OPENS, decode, is_json, loads, past_blanks
from ecom_rlve.envs.errors import FormatFailureError

Fields = dict[str, Any]
Schemas = Callable[[str], Mapping[str, Any]]
"""Returns the schemas of a tool's arguments by name; empty for a tool that is not known."""

_TOOL_CALLS, _PYTHON_TAG = "[TOOL_CALLS]", "<|python_tag|>"
_NAMED = re.compile(r"\s*(?P<name>[\w.-]+)\s*(?:\[CALL_ID\]\s*(?P<id>[\w-]+)\s*)?(?:\[ARGS\]\s*)?(?=\{)")
_NAME_BEFORE = re.compile(r"(?P<name>[a-zA-Z_][\w.]*)(?:\[ARGS\])?\Z")
_LONGEST_NAME = 64
_FUNCTION_OPENS, _FUNCTION_CLOSES = "<function=", "</function>"
_PARAMETER = re.compile(r"\s*<parameter=(?P<name>[^<>\s]{1,64})>")
_PARAMETER_CLOSES = "</parameter>"
_OBJECT = re.compile(r"\{\s*[\"}]")
"""Where a JSON object begins, unlike a brace in prose."""


def lenient_fields(text: str, schemas: Schemas) -> Fields | None:
    """Return the structured fields in a visible text that the strict format cannot read; None where there are none.

    Raises:
        FormatFailureError: a syntax begins and is broken, or there is more than one JSON object.
    """
    if _TOOL_CALLS in text:
        return _mistral(text)
    if _PYTHON_TAG in text:
        return _llama(text)
    if _FUNCTION_OPENS in text:
        return _functions(text, schemas)
    if CALL_OPENS in text:
        return None
    if calls := pythonic_calls(text):
        return _calling([], calls)
    return _listed(text) if is_json(text) else _amid_prose(text)


def as_call(fields: Fields) -> Fields:
    """Return an object that is one bare tool call as an action of this call, any other as it is."""
    return _calling([], [_renamed(fields)]) if _is_call(fields) else fields


def _mistral(text: str) -> Fields:
    head, *parts = text.split(_TOOL_CALLS)
    words, calls = [head], []
    for part in parts:
        if named := _NAMED.match(part):
            arguments, end = decode(part, named.end())
            calls.append({"name": named["name"], "arguments": arguments, "id": named["id"]})
        else:
            listed, end = decode(part, past_blanks(part, 0))
            calls += listed if isinstance(listed, list) else [listed]
        words.append(part[end:])
    return _calling(words, calls)


def _llama(text: str) -> Fields:
    head, *parts = text.split(_PYTHON_TAG)
    words, calls = [head], []
    for part in parts:
        call, at = decode(part, past_blanks(part, 0))
        calls.append(_renamed(call))
        while part.startswith(";", past_blanks(part, at)):
            call, at = decode(part, past_blanks(part, past_blanks(part, at) + 1))
            calls.append(_renamed(call))
        words.append(part[at:])
    return _calling(words, calls)


def _functions(text: str, schemas: Schemas) -> Fields:
    """Read ``<function=name>`` elements, inside ``<tool_call>`` or not."""
    words, calls, at = [], [], 0
    while (start := text.find(_FUNCTION_OPENS, at)) >= 0:
        body_at, end = text.find(">", start), text.find(_FUNCTION_CLOSES, start)
        if not start < body_at < end:
            raise FormatFailureError("a <function=…> element is not closed")
        words.append(text[at:start])
        name, body = text[start + len(_FUNCTION_OPENS) : body_at], text[body_at + 1 : end].strip()
        arguments = loads(body) if body.startswith("{") else _parameters(body, schemas(name.replace(".", "_")))
        calls.append({"name": name, "arguments": arguments})
        at = end + len(_FUNCTION_CLOSES)
    words.append(text[at:])
    return _calling([each.replace(CALL_OPENS, " ").replace(CALL_CLOSES, " ") for each in words], calls)


def _parameters(body: str, schemas: Mapping[str, Any]) -> Fields:
    """Read ``<parameter=name>value</parameter>`` elements; a value is text unless its schema wants something else."""
    arguments: Fields = {}
    at = 0
    while opened := _PARAMETER.match(body, at):
        end = body.find(_PARAMETER_CLOSES, opened.end())
        if end < 0:
            raise FormatFailureError("a <parameter=…> element is not closed")
        # One line break on each side is the syntax's own.
        value = body[opened.end() : end].removeprefix("\n").removesuffix("\n")
        arguments[opened["name"]] = _typed(value, schemas.get(opened["name"], {}))
        at = end + len(_PARAMETER_CLOSES)
    if body[at:].strip():
        raise FormatFailureError("a <function=…> element holds something else than parameters")
    return arguments


def _typed(value: str, schema: Mapping[str, Any]) -> Any:
    text = value.strip()
    if schema.get("type") == "boolean":
        text = text.lower()
    elif "type" in schema and schema["type"] not in ("array", "object"):
        # A number that is written as a string is that number anyway.
        return value
    is_literal = is_json(text) or text in ("true", "false")
    return loads(text) if is_literal else value


def _listed(text: str) -> Fields | None:
    """Read a list of calls."""
    value = loads(text)
    if not isinstance(value, list) or not value or not all(map(_is_call, value)):
        return None
    return _calling([], list(map(_renamed, value)))


def _amid_prose(text: str) -> Fields | None:
    begins = _OBJECT.search(text)
    if begins is None:
        return None
    found, end = decode(text, begins.start())
    if _OBJECT.search(text, end):
        raise FormatFailureError("the output holds more than one JSON object")
    head, tail = text[: begins.start()], text[end:]
    named = _NAME_BEFORE.search(head, max(0, len(head) - _LONGEST_NAME))
    if named and not found.keys() & set(FIELDS):
        return _calling([head[: named.start()], tail], [{"name": named["name"], "arguments": found}])
    return _calling([head, tail], [_renamed(found)]) if _is_call(found) else found


def _is_call(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("name"), str) and not value.keys() & set(FIELDS)


def _renamed(call: Any) -> Any:
    """Return a call with Llama's ``parameters`` as ``arguments``."""
    if not isinstance(call, dict) or "arguments" in call:
        return call
    return {"arguments" if name == "parameters" else name: value for name, value in call.items()}


def _calling(words: list[str], calls: list[Any]) -> Fields:
    """Return the fields of calls with the words around them."""
    return {"assistant_message": " ".join(filter(None, map(str.strip, words))), "tool_calls": calls}
