"""Reading the commands that a person types who plays the agent."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from ecom_rlve.evaluation.terminal.typed.arguments import (
    CommandError,
    Schema,
    check_values,
    is_prose,
    missing,
    no_such,
    read_object,
    typed,
)

WordName = Literal["send", "undo", "clear", "cart", "tools", "state", "help", "quit"]

HELP = """\
words                       say them to the customer; this closes the turn
/search                     a tool: any, by its name or the end of it; you are asked for its arguments
/search words --brand X     the same in one line
/tool name {"arg": 1}       the same, with arguments in JSON
(an empty line) or /send    close the turn with the collected calls
/undo  /clear               forget the last collected call, or all; while a call is asked for: that call
/propose                    show the customer an answer that is not final
/done                       submit the final answer; you are asked for its fields. In one line: /done {"field": 1}
/cart  /tools  /state       what is in the cart, what tools there are, what was said so far
?  or  ?search              this text, or what a tool takes
/quit                       leave"""


@dataclass(frozen=True, slots=True)
class Say:
    """Words for the customer."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call; ``is_half`` where arguments are missing, or only the name was typed."""

    name: str
    args: dict[str, Any]
    is_half: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, slots=True)
class Submit:
    """An answer; ``fields`` is None where they are to be asked for."""

    fields: dict[str, Any] | None
    is_final: bool


@dataclass(frozen=True, slots=True)
class Explain:
    """A question what a tool takes."""

    tool: str


@dataclass(frozen=True, slots=True)
class Word:
    """A command without arguments."""

    name: WordName


Command = Say | Call | Submit | Explain | Word


def parse(line: str, tools: Mapping[str, Schema]) -> Command:
    """Read one line; ``tools`` holds the JSON schema of each tool's arguments by name. Raises CommandError."""
    line = line.strip()
    if not line:
        return Word("send")
    if line.startswith("?"):
        about = line[1:].strip().removeprefix("/")
        return Explain(_tool_name(about, tools)) if about else Word("help")
    if not line.startswith("/"):
        return Say(line)
    head, _, rest = line[1:].partition(" ")
    rest = rest.strip()
    for word in get_args(WordName):
        if head == word:
            return Word(word)
    if head in SUBMITS:
        return Submit(read_object(rest) if rest else None, SUBMITS[head])
    if head == "tool":
        head, _, rest = rest.partition(" ")
        rest = rest.strip()
    return _call(_tool_name(head, tools), rest, tools)


SUBMITS = {"done": True, "propose": False}
"""Words that hand an answer in, and whether it is final."""


def _call(name: str, rest: str, tools: Mapping[str, Schema]) -> Call:
    schema = tools[name]
    args = read_object(rest) if rest.startswith("{") else _from_words(rest, schema)
    check_values(args, schema)
    only_named = not rest and bool(schema.get("properties"))
    return Call(name, args, is_half=only_named or bool(missing(args, schema)))


def short_names(tools: Iterable[str]) -> dict[str, str]:
    """Return the shortest name that each tool can be called by, by tool."""
    names = list(tools)
    ends = [name.rpartition("_")[2] for name in names]
    return {name: end if ends.count(end) == 1 else name for name, end in zip(names, ends, strict=True)}


def _tool_name(given: str, tools: Iterable[str]) -> str:
    """Return the tool called ``given``, or the only one whose name ends with it."""
    given = given.replace(".", "_").replace("-", "_")
    matches = [name for name in tools if name == given] or [name for name in tools if name.endswith(f"_{given}")]
    if len(matches) > 1:
        raise CommandError(f"/{given} may be {' or '.join(f'/{name}' for name in matches)}")
    if not matches or not given:
        known = [*tools, *short_names(tools).values(), *get_args(WordName), *SUBMITS]
        no_such("command", f"/{given}", [f"/{name}" for name in dict.fromkeys(known)])
    return matches[0]


def _split(text: str) -> list[str]:
    """Split at blanks outside double quotes; an apostrophe is an ordinary letter."""
    lexer = shlex.shlex(text, posix=True)
    lexer.whitespace_split, lexer.quotes, lexer.escape, lexer.commenters = True, '"', "", ""
    try:
        return list(lexer)
    except ValueError:
        raise CommandError('a double quote (") is not closed') from None


def _from_words(text: str, schema: Schema) -> dict[str, Any]:
    """Read ``words --option value`` into arguments: plain words fill the required ones first, in schema order."""
    properties: Mapping[str, Schema] = schema.get("properties", {})
    words, args = _options(text, properties)
    required = [name for name in schema.get("required", []) if name in properties]
    for name in [*required, *(name for name in properties if name not in required)]:
        if not words:
            break
        if name not in args:
            taken = len(words) if is_prose(properties[name]) else 1
            args[name] = typed(name, " ".join(words[:taken]), properties[name])
            del words[:taken]
    if words:
        raise CommandError(f"too many words: {' '.join(words)}")
    return args


def _options(text: str, properties: Mapping[str, Schema]) -> tuple[list[str], dict[str, Any]]:
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
            no_such("option", f"--{name}", [f"--{known}" for known in properties])
        if not has_value:
            value = "true" if properties[name].get("type") == "boolean" else next(tokens, "")
        args[name] = typed(name, value, properties[name])
    return words, args
