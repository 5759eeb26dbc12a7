"""Reading an agent's action: structured objects and raw model text, to one checked form (SPEC §2.2).

Two kinds of mistake are kept apart. A *format failure* is the model's: it ends the episode. An :class:`ActionError`
is the client's: it costs nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

from pydantic import ValidationError

from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.errors import ActionError
from ecom_rlve.envs.tools.registry import SUBMIT_ANSWER
from ecom_rlve.envs.tools.tool import Args, Tool
from ecom_rlve.models import Style

MAX_TEXT = 200_000
"""Longest raw model text that is read, in characters."""


MAX_QUESTIONS = 8
"""Most ``ask_user`` calls of an action: they cost no call, but the customer reads every one."""


class FormatFailureError(Exception):
    """The model's output cannot be read as an action; the message says why."""


class Call(NamedTuple):
    """One checked tool call."""

    tool: Tool[Any]
    args: Args


class ParsedAction(NamedTuple):
    """One checked action."""

    message: str
    calls: tuple[Call, ...]
    answer: Answer | None
    end_turn: bool


@dataclass(frozen=True, slots=True)
class Grammar:
    """What an action may hold in one episode."""

    tools: Mapping[str, Tool[Any]]
    """The tools on offer, by name."""
    answer: type[Answer]
    """The environment's answer model; every one has ``done``."""
    b_tool: int
    style: Style


_FIELDS = {"assistant_message", "tool_calls", "answer", "end_turn", "metadata"}
_CALL_FIELDS = {"name", "args", "arguments"}
_THINK = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)
_FENCE = "```"
_SURROGATE = "\\ud"
_LANGUAGE = re.compile(r"[a-zA-Z]*")
_CALL_OPENS, _CALL_CLOSES = "<tool_call>", "</tool_call>"


def parse(action: Mapping[str, Any], grammar: Grammar) -> ParsedAction:
    """Return the checked form of an action.

    Raises :class:`FormatFailureError` for the model's mistakes and :class:`ActionError` for the client's.
    """
    raw = action.get("text")
    if raw is None:
        if grammar.style == "turn" and action.get("end_turn") is False:
            raise ActionError("end_turn=false belongs to style 'tool'; this episode's style is 'turn'")
        # A text of null is no text.
        fields = {key: value for key, value in action.items() if key != "text"} if "text" in action else action
        return _structured(fields, grammar)
    if not isinstance(raw, str):
        raise ActionError("text must be a string: the model's raw output")
    if set(action) - {"text", "metadata"}:
        raise ActionError("send either text or the structured fields, not both")
    return _structured(_from_text(raw), grammar)


def _from_text(raw: str) -> dict[str, Any]:
    if len(raw) > MAX_TEXT:
        raise FormatFailureError(f"the output is longer than {MAX_TEXT} characters")
    text = _unfenced(_THINK.sub("", raw, count=1).strip())
    if text.startswith("{"):
        loaded = _json(text)
        if not isinstance(loaded, dict):
            raise FormatFailureError("the output is not a JSON object")
        if "text" in loaded:
            raise FormatFailureError("unknown field 'text'")
        return loaded
    message, blocks = _call_blocks(text)
    if not blocks:
        raise FormatFailureError("the output holds neither a JSON object nor a <tool_call> block")
    return {"assistant_message": message, "tool_calls": [_json(block) for block in blocks]}


def _unfenced(text: str) -> str:
    """Return the text inside the one code fence around it, or the text itself; in linear time, unlike a pattern."""
    opening, _, body = text.partition("\n")
    is_fenced = opening.startswith(_FENCE) and body.endswith(_FENCE)
    if not is_fenced or not _LANGUAGE.fullmatch(opening.removeprefix(_FENCE).strip()):
        return text
    return body.removesuffix(_FENCE).strip()


def _call_blocks(text: str) -> tuple[str, list[str]]:
    """Return the words around the ``<tool_call>`` blocks of a text, and what is inside each; in linear time."""
    words: list[str] = []
    blocks: list[str] = []
    at = 0
    while (start := text.find(_CALL_OPENS, at)) >= 0:
        end = text.find(_CALL_CLOSES, start)
        if end < 0:
            raise FormatFailureError("a <tool_call> block is not closed")
        words.append(text[at:start])
        blocks.append(text[start + len(_CALL_OPENS) : end])
        at = end + len(_CALL_CLOSES)
    words.append(text[at:])
    return " ".join(words).strip(), blocks


def _json(text: str) -> Any:
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        if _SURROGATE in text.casefold():
            # A lone half of a character is no text: nothing could be written of it.
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except (ValueError, RecursionError) as error:
        raise FormatFailureError(f"the output is not valid JSON: {error}") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _structured(fields: Mapping[str, Any], grammar: Grammar) -> ParsedAction:
    if not _FIELDS.issuperset(fields):
        first = _short(min(set(fields) - _FIELDS, key=str))
        raise FormatFailureError(f"unknown field {first!r}; an action has {', '.join(sorted(_FIELDS))}")
    message = fields.get("assistant_message")
    if message is None:
        message = ""
    if not isinstance(message, str):
        raise FormatFailureError("assistant_message must be a string")
    end_turn = fields.get("end_turn", True)
    if not isinstance(end_turn, bool):
        raise FormatFailureError("end_turn must be true or false")
    if grammar.style == "turn" and not end_turn:
        raise FormatFailureError("end_turn=false is not on offer in this episode")
    raw_calls = fields.get("tool_calls")
    if raw_calls is not None and not isinstance(raw_calls, list):
        raise FormatFailureError("tool_calls must be a list")
    calls: list[Call] = []
    answer = _answer(fields.get("answer"), grammar)
    for name, args in map(_named, raw_calls or []):
        if name == SUBMIT_ANSWER and grammar.style == "tool":
            if answer is not None:
                raise FormatFailureError("two answers in one action")
            answer = _answer({"done": True, **args}, grammar)
        else:
            calls.append(_call(name, args, grammar))
    free = sum(call.tool.is_free for call in calls)
    if len(calls) - free > grammar.b_tool:
        raise FormatFailureError(f"more than {grammar.b_tool} tool calls in one action")
    if free > MAX_QUESTIONS:
        raise FormatFailureError(f"more than {MAX_QUESTIONS} questions in one action")
    return ParsedAction(message, tuple(calls), answer, end_turn)


def _answer(raw: Any, grammar: Grammar) -> Answer | None:
    if raw is None:
        return None
    if not isinstance(raw, dict):
        raise FormatFailureError("answer must be an object")
    try:
        return grammar.answer.model_validate(raw)
    except ValidationError as error:
        raise FormatFailureError(f"answer: {_first(error)}") from None


def _named(raw: Any) -> tuple[str, dict[str, Any]]:
    if not isinstance(raw, dict) or not isinstance(raw.get("name"), str):
        raise FormatFailureError("a tool call is an object with a name and args")
    if not _CALL_FIELDS.issuperset(raw) or ("args" in raw and "arguments" in raw):
        raise FormatFailureError("a tool call holds name and args (or arguments), nothing else")
    args = raw.get("args", raw.get("arguments"))
    if isinstance(args, str) and "arguments" in raw:
        args = _json(args)
    if args is None:
        args = {}
    if not isinstance(args, dict):
        raise FormatFailureError(f"args of {raw['name'][:64]!r} must be an object")
    return raw["name"].replace(".", "_"), args


def _call(name: str, args: dict[str, Any], grammar: Grammar) -> Call:
    tool = grammar.tools.get(name)
    if tool is None:
        raise FormatFailureError(f"no tool {name[:64]!r} here; there are {', '.join(grammar.tools)}")
    for given, meant in tool.aliases:
        if given in args and meant not in args:
            args = {meant if key == given else key: value for key, value in args.items()}
    try:
        return Call(tool, tool.args.model_validate(args))
    except ValidationError as error:
        raise FormatFailureError(f"{name}: {_first(error)}") from None


def _first(error: ValidationError) -> str:
    found = error.errors(include_input=False, include_url=False, include_context=False)[0]
    where = ".".join(_short(part) for part in found["loc"])
    return f"{where or 'it'}: {found['msg']}"


def _short(part: int | str) -> str:
    return str(part)[:64]


def batches(calls: tuple[Call, ...], room: int, b_tool: int) -> Iterator[tuple[Call, ...]]:
    """Split calls at turn boundaries: the first batch holds at most ``room`` counted calls, later ones ``b_tool``.

    Free calls stay with the batch before them. Yields at least one batch, which may be empty.
    """
    batch: list[Call] = []
    for call in calls:
        if not call.tool.is_free:
            if not room:
                yield tuple(batch)
                batch, room = [], b_tool
            room -= 1
        batch.append(call)
    yield tuple(batch)
