"""A tool's JSON schema as a method with types and a docstring in Google's style, which TRL makes a schema of again."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from functools import reduce
from inspect import Parameter, Signature, iscoroutinefunction
from operator import or_
from typing import Any

_TYPES: Mapping[str, Any] = {"string": str, "integer": int, "number": float, "boolean": bool}
_LISTS: Mapping[str, Any] = {"string": list[str], "integer": list[int], "number": list[float]}


def tool_method(
    function: Mapping[str, Any], call: Callable[[Any, str, Mapping[str, Any]], str | Awaitable[str]]
) -> Callable[..., Any]:
    """Return a method named as the tool that hands its arguments to ``call(self, name, arguments)``.

    It is a coroutine function where ``call`` is one. It takes arguments that it does not declare too: the server, not
    Python, judges what a model sends. The arguments are by name only.

    >>> shown = {"name": "show", "description": "Show it.", "parameters": {"properties": {"n": {"type": "integer"}}}}
    >>> tool_method(shown, lambda self, name, arguments: f"{name} {arguments}")(None, n=3)
    "show {'n': 3}"
    """
    name = str(function["name"])

    def method(self: Any, /, **arguments: Any) -> Any:
        return call(self, name, arguments)

    async def awaited(self: Any, /, **arguments: Any) -> Any:
        answer = call(self, name, arguments)
        assert not isinstance(answer, str)
        return await answer

    made: Callable[..., Any] = awaited if iscoroutinefunction(call) else method
    made.__name__ = made.__qualname__ = name
    made.__doc__ = docstring(function)
    made.__annotations__ = {each: annotation(function, each) for each in _properties(function)}
    vars(made)["__signature__"] = _signature(function)
    return made


def docstring(function: Mapping[str, Any]) -> str:
    """Return the tool's description and its arguments' under ``Args:``."""
    lines = [_line(function.get("description") or f"Call {function['name']}.")]
    if properties := _properties(function):
        lines += ["", "Args:", *(f"    {name}: {_described(name, schema)}" for name, schema in properties.items())]
    return "\n".join(lines)


def annotation(function: Mapping[str, Any], name: str) -> Any:
    """Return the type of an argument; one that may be left out may be None."""
    schema = _properties(function)[name]
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    types = [_LISTS[schema["items"]["type"]] if kind == "array" else _TYPES[kind] for kind in kinds]
    return reduce(or_, types if name in _required(function) else [*types, None])


def _signature(function: Mapping[str, Any]) -> Signature:
    receiver = Parameter("self", Parameter.POSITIONAL_ONLY)
    required = _required(function)
    arguments = [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if name in required else None,
            annotation=annotation(function, name),
        )
        for name in _properties(function)
    ]
    return Signature([receiver, *arguments])


def _described(name: str, schema: Mapping[str, Any]) -> str:
    """Return an argument's description on one line, with its bounds, and the choices last, as the parser wants them.

    A value out of bounds costs the episode, and a type cannot say them.
    """
    parts = [_line(schema.get("description") or f"{name.replace('_', ' ').capitalize()}.")]
    bounds = [
        f"{word} {schema[key]}" for key, word in (("minimum", "at least"), ("maximum", "at most")) if key in schema
    ]
    if bounds:
        parts.append(f"{', '.join(bounds).capitalize()}.")
    if "default" in schema:
        parts.append(f"Default {schema['default']}.")
    if "enum" in schema:
        parts.append(f"(choices: {json.dumps(schema['enum'])})")
    return " ".join(parts)


def _properties(function: Mapping[str, Any]) -> Mapping[str, Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = function.get("parameters", {}).get("properties", {})
    return found


def _required(function: Mapping[str, Any]) -> frozenset[str]:
    return frozenset(function.get("parameters", {}).get("required", ()))


def _line(text: str) -> str:
    return " ".join(text.split())
