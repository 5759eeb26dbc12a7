"""Reading the commands that a person types who plays the agent.

Arguments are checked against the tools' schemas here. A call that the server cannot read ends the episode with the
lowest reward, which is right for a model but too harsh for a typing error.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from math import isfinite
from typing import Any, Literal, NoReturn, get_args

WordName = Literal["send", "clear", "tools", "state", "help", "quit"]
PROSE_LENGTH = 100
"""A text argument that may be longer than this takes all remaining words; shorter ones are ids."""

HELP = """\
words                       say them to the customer; this closes the turn
/search words --brand X     collect a tool call: any tool, by its name or the end of it
/tool name {"arg": 1}       the same, with arguments in JSON
(an empty line) or /send    close the turn with the collected calls
/clear                      forget the collected calls
/answer {"field": 1}        send an answer; it is final with "done": true
/done                       send the final answer {"done": true}
/tools  /state  /help       what there is, what was said so far, this text
/quit                       leave"""


class CommandError(ValueError):
    """The line cannot be read as a command; the message says why. Nothing was sent."""


@dataclass(frozen=True, slots=True)
class Say:
    """Words for the customer."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call."""

    name: str
    args: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer object."""

    fields: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Word:
    """A command without arguments."""

    name: WordName


Command = Say | Call | Answer | Word


def parse(line: str, tools: Mapping[str, Mapping[str, Any]]) -> Command:
    """Read one line; ``tools`` holds the JSON schema of each tool's arguments by name. Raises CommandError."""
    line = line.strip()
    if not line:
        return Word("send")
    if not line.startswith("/"):
        return Say(line)
    head, _, rest = line[1:].partition(" ")
    rest = rest.strip()
    for word in get_args(WordName):
        if head == word:
            return Word(word)
    if head == "answer":
        return Answer(_object(rest))
    if head == "done":
        return Answer({**(_object(rest) if rest else {}), "done": True})
    if head == "tool":
        head, _, rest = rest.partition(" ")
        rest = rest.strip() or "{}"
    name = _tool_name(head, tools)
    schema = tools[name]
    return Call(name, _checked(_object(rest) if rest.startswith("{") else _from_words(rest, schema), schema))


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
        json.dumps(value, allow_nan=False)  # Python reads NaN and 1e999, JSON has neither
    except (ValueError, RecursionError) as error:
        raise CommandError(f"not JSON: {error}") from None
    if not isinstance(value, dict):
        raise CommandError("a JSON object {...} is needed")
    return value


def _tool_name(given: str, tools: Iterable[str]) -> str:
    """Return the tool called ``given``, or the only one whose name ends with it."""
    given = given.replace(".", "_").replace("-", "_")
    matches = [name for name in tools if name == given] or [name for name in tools if name.endswith(f"_{given}")]
    if len(matches) > 1:
        raise CommandError(f"/{given} may be {' or '.join(f'/{name}' for name in matches)}")
    if not matches or not given:
        short = (name.rpartition("_")[2] for name in tools)
        known = [*tools, *short, *get_args(WordName), "answer", "done"]
        _unknown("command", f"/{given}", [f"/{name}" for name in dict.fromkeys(known)])
    return matches[0]


def _unknown(kind: str, given: str, known: list[str]) -> NoReturn:
    near = get_close_matches(given, known, n=1)
    raise CommandError(
        f"no {kind} {given}; " + (f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}")
    )


def _split(text: str) -> list[str]:
    """Split at blanks outside double quotes; an apostrophe is an ordinary letter."""
    lexer = shlex.shlex(text, posix=True)
    lexer.whitespace_split, lexer.quotes, lexer.escape, lexer.commenters = True, '"', "", ""
    try:
        return list(lexer)
    except ValueError:
        raise CommandError('a double quote (") is not closed') from None


def _from_words(text: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Read ``words --option value`` into arguments: plain words fill the required ones first, in schema order."""
    properties: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
    words, args = _options(text, properties)
    required = [name for name in schema.get("required", []) if name in properties]
    for name in [*required, *(name for name in properties if name not in required)]:
        if not words:
            break
        if name not in args:
            taken = len(words) if _is_prose(properties[name]) else 1
            args[name] = _typed(name, " ".join(words[:taken]), properties[name])
            del words[:taken]
    if words:
        raise CommandError(f"too many words: {' '.join(words)}")
    return args


def _options(text: str, properties: Mapping[str, Mapping[str, Any]]) -> tuple[list[str], dict[str, Any]]:
    """Return the plain words of ``text``, and the arguments that its options name."""
    words: list[str] = []
    args: dict[str, Any] = {}
    tokens = iter(_split(text))
    for token in tokens:
        if not token.startswith("--"):
            words.append(token)
            continue
        name, has_value, value = token[2:].partition("=")
        name = name.replace("-", "_")
        if name not in properties:
            _unknown("option", f"--{name}", [f"--{known}" for known in properties])
        if not has_value:
            value = "true" if properties[name].get("type") == "boolean" else next(tokens, "")
        args[name] = _typed(name, value, properties[name])
    return words, args


def _is_prose(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "string" and "enum" not in schema and schema.get("maxLength", 1000) > PROSE_LENGTH


def _typed(name: str, text: str, schema: Mapping[str, Any]) -> Any:
    """Return ``text`` in the type of its schema."""
    kind = schema.get("type", "string")
    try:
        if kind == "integer":
            return int(text)
        if kind == "number":
            return _finite(float(text))
        if kind == "boolean":
            return {"true": True, "yes": True, "false": False, "no": False}[text.lower()]
    except (ValueError, KeyError):
        raise CommandError(f"{name} must be {_kind_name(kind)}, not {text!r}") from None
    if kind == "array":
        return [_typed(name, item.strip(), schema.get("items", {})) for item in text.split(",") if item.strip()]
    return text


def _finite(value: float) -> float:
    if not isfinite(value):
        raise ValueError("JSON has finite numbers only")
    return value


_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def _kind_name(kind: str) -> str:
    return {"integer": "a whole number", "number": "a number", "boolean": "true or false"}.get(kind, f"of type {kind}")


def _checked(args: dict[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``args`` if they fit the schema, else raise CommandError."""
    properties: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
    for name in schema.get("required", []):
        if name not in args or args[name] == "":
            raise CommandError(f"{name} is missing")
    for name, value in args.items():
        if name not in properties:
            _unknown("argument", name, list(properties))
        _check_value(name, value, properties[name])
    return args


def _check_value(name: str, value: Any, schema: Mapping[str, Any]) -> None:
    kind = str(schema.get("type"))
    if kind in _TYPES and (
        not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind in {"integer", "number"})
    ):
        raise CommandError(f"{name} must be {_kind_name(kind)}")
    if "enum" in schema and value not in schema["enum"]:
        raise CommandError(f"{name} must be one of {', '.join(map(str, schema['enum']))}")
    if kind not in {"integer", "number"}:
        return
    if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        bounds = f"from {schema.get('minimum', '…')} to {schema.get('maximum', '…')}"
        raise CommandError(f"{name} must be {bounds}")
