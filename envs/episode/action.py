"""Reading an agent's action: structured objects and raw model text, to one checked form (SPEC §2.2).

Two kinds of mistake are kept apart. A *format failure* is the model's: it ends the episode. An :class:`ActionError`
is the client's: it costs nothing. The envelope of a structured action is the client's, all else the model's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic import ValidationError

from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.episode.reading.call_syntaxes import as_call, lenient_fields
from ecom_rlve.envs.episode.reading.envelope import AskedCall, Envelope, EnvelopeError, name_of_call, read_envelope
from ecom_rlve.envs.episode.reading.raw_text import MAX_TEXT, loads, strict_fields, visible
from ecom_rlve.envs.episode.submission import SayArgs
from ecom_rlve.envs.errors import ActionError
from ecom_rlve.envs.errors import FormatFailureError as FormatFailureError
from ecom_rlve.envs.tools.registry import SAY, SUBMIT_ANSWER
from ecom_rlve.envs.tools.tool import Args, Tool
from ecom_rlve.models import Format, FormatFault, Style, ToolResult

MAX_QUESTIONS = 8
"""Most ``ask_user`` calls of an action: they cost no call, but the customer reads every one."""


class Call(NamedTuple):
    """One checked tool call."""

    tool: Tool[Any]
    args: Args
    id: str | None = None
    """The client's own, for the result; None where it has none."""


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
    format: Format = "strict"
    """How raw text is read."""

    def schemas(self, tool: str) -> Mapping[str, Any]:
        """Return the JSON schemas of a tool's arguments by name; empty for one that is not on offer."""
        if tool not in self.tools:
            return {}
        schemas: Mapping[str, Any] = self.tools[tool].schema["function"]["parameters"]["properties"]
        return schemas


def parse(action: Mapping[str, Any], grammar: Grammar) -> ParsedAction:
    """Return the checked form of an action.

    Raises:
        FormatFailureError: a mistake of the model's.
        ActionError: a mistake of the client's.
    """
    raw = action.get("text")
    if raw is not None:
        return _checked(_of_text(raw, action, grammar), grammar)
    # A text of null is no text.
    fields = {key: value for key, value in action.items() if key != "text"} if "text" in action else action
    try:
        envelope = read_envelope(fields)
    except EnvelopeError as error:
        raise ActionError(str(error)) from None
    if grammar.style == "turn" and envelope.end_turn is False:
        raise ActionError("end_turn=false belongs to style 'tool'; this episode's style is 'turn'")
    return _checked(envelope, grammar)


def may_scan(action: Mapping[str, Any], tools: Mapping[str, Tool[Any]]) -> bool:
    """Tell whether applying an action may scan the catalog; True too where only parsing it would tell."""
    calls = action.get("tool_calls") or ()
    if action.get("text") is not None or not isinstance(calls, list | tuple):
        return True
    names = map(name_of_call, calls)
    return any(isinstance(name, str) and (name not in tools or tools[name].is_heavy) for name in names)


def result_of(call: Call, **found: Any) -> ToolResult:
    """Return the result of a call, under its own id where it has one."""
    return ToolResult(name=call.tool.name, **({"tool_call_id": call.id} if call.id else {}), **found)


def _of_text(raw: Any, action: Mapping[str, Any], grammar: Grammar) -> Envelope:
    if not isinstance(raw, str):
        raise ActionError("text must be a string: the model's raw output")
    if set(action) - {"text", "metadata"}:
        raise ActionError("send either text or the structured fields, not both")
    if len(raw) > MAX_TEXT:
        raise FormatFailureError(f"the output is longer than {MAX_TEXT} characters", FormatFault.TOO_LONG)
    try:
        envelope = read_envelope(_fields_in(visible(raw), grammar))
    except EnvelopeError as error:
        raise FormatFailureError(str(error), FormatFault.ENVELOPE) from None
    if grammar.style == "turn" and envelope.end_turn is False:
        raise FormatFailureError("end_turn=false is not on offer in this episode", FormatFault.ENVELOPE)
    return envelope


def _fields_in(text: str, grammar: Grammar) -> Mapping[str, Any]:
    if grammar.format == "strict":
        return strict_fields(text)
    try:
        return as_call(strict_fields(text))
    except FormatFailureError:
        fields = lenient_fields(text, grammar.schemas)
        if fields is None:
            raise
        return fields


def _checked(envelope: Envelope, grammar: Grammar) -> ParsedAction:
    calls: list[Call] = []
    said = [envelope.message] if envelope.message else []
    answer = _answer(envelope.answer, grammar)
    for asked in envelope.calls:
        args = _args(asked)
        if asked.name == SUBMIT_ANSWER and grammar.style == "tool":
            if answer is not None:
                raise FormatFailureError("two answers in one action", FormatFault.ANSWER)
            answer = _answer({"done": True, **args}, grammar)
        elif asked.name == SAY and grammar.style == "tool":
            said.append(_said(args))
        else:
            calls.append(_call(asked, args, grammar))
    free = sum(call.tool.is_free for call in calls)
    if len(calls) - free > grammar.b_tool:
        raise FormatFailureError(f"more than {grammar.b_tool} tool calls in one action", FormatFault.TOO_MANY_CALLS)
    if free > MAX_QUESTIONS:
        raise FormatFailureError(f"more than {MAX_QUESTIONS} questions in one action", FormatFault.TOO_MANY_CALLS)
    message, end_turn = "\n".join(said), envelope.end_turn
    if end_turn is None:
        # Calls alone leave the turn of a tool-at-a-time client open.
        end_turn = grammar.style == "turn" or not calls or bool(message) or answer is not None
    return ParsedAction(message, tuple(calls), answer, end_turn)


def _answer(raw: Any, grammar: Grammar) -> Answer | None:
    if raw is None:
        return None
    if not isinstance(raw, dict):
        raise FormatFailureError("answer must be an object", FormatFault.ANSWER)
    try:
        return grammar.answer.read(raw)
    except ValidationError as error:
        raise FormatFailureError(f"answer: {_first(error)}", FormatFault.ANSWER) from None


def _said(args: dict[str, Any]) -> str:
    try:
        return SayArgs.model_validate(args).message
    except ValidationError as error:
        raise FormatFailureError(f"{SAY}: {_first(error)}", FormatFault.ARGUMENTS) from None


def _args(asked: AskedCall) -> dict[str, Any]:
    args = asked.args
    if isinstance(args, str) and asked.is_encoded:
        args = loads(args)
    if args is None:
        return {}
    if not isinstance(args, dict):
        raise FormatFailureError(f"args of {asked.name[:64]!r} must be an object", FormatFault.ARGUMENTS)
    return args


def _call(asked: AskedCall, args: dict[str, Any], grammar: Grammar) -> Call:
    tool = grammar.tools.get(asked.name)
    if tool is None:
        known = ", ".join(grammar.tools)
        raise FormatFailureError(f"no tool {asked.name[:64]!r} here; there are {known}", FormatFault.UNKNOWN_TOOL)
    for given, meant in tool.aliases:
        if given in args and meant not in args:
            args = {meant if key == given else key: value for key, value in args.items()}
    try:
        return Call(tool, tool.args.model_validate(args), asked.id)
    except ValidationError as error:
        raise FormatFailureError(f"{asked.name}: {_first(error)}", FormatFault.ARGUMENTS) from None


def _first(error: ValidationError) -> str:
    found = error.errors(include_input=False, include_url=False, include_context=False)[0]
    where = ".".join(str(part)[:64] for part in found["loc"])
    return f"{where or 'it'}: {found['msg']}"


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
