"""An observation as the text that a policy reads.

The text holds everything new in the observation. It is never empty, even if the customer said nothing and no tool was
called, because a policy that reads an empty turn tends to repeat itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ecom_rlve.models import Observation, ToolResult


def render(observation: Observation, *, tools: bool = True) -> str:
    """Return the text of ``observation``.

    ``tools=False`` leaves out the list of tools in a first observation, for policies whose chat template shows the JSON
    schemas.
    """
    return "\n\n".join(part for part in _parts(observation, tools=tools) if part)


def signature(schema: dict[str, Any]) -> str:
    """Return one line for an OpenAI function schema; optional arguments carry ``?``.

    >>> signature({"function": {"name": "cart_view", "description": "Show the cart.", "parameters": {}}})
    'cart_view() - Show the cart.'
    """
    function = schema.get("function", schema)
    parameters = function.get("parameters") or {}
    required = parameters.get("required", ())
    arguments = ", ".join(
        f"{name}{'' if name in required else '?'}: {_type_name(value)}"
        for name, value in parameters.get("properties", {}).items()
    )
    description = function.get("description", "")
    return f"{function.get('name', '?')}({arguments})" + (f" - {description}" if description else "")


def _parts(observation: Observation, *, tools: bool) -> Iterator[str]:
    if observation.instructions:
        yield observation.instructions
    if tools and observation.tools:
        yield "Tools:\n" + "\n".join(f"- {signature(schema)}" for schema in observation.tools)
    if observation.today:
        yield f"Today is {observation.today}."
    for result in observation.tool_results:
        yield f"[{result.name}] {found(result)}"
    yield from notes(observation)[:-1]
    yield said(observation)
    yield notes(observation)[-1]


def found(result: ToolResult) -> str:
    """Return what one tool call found, as JSON, or the error that it ran into."""
    if result.error is not None:
        return f"error{f' {result.code}' if result.code else ''}: {result.error}"
    return json.dumps(result.result, ensure_ascii=False)


def said(observation: Observation) -> str:
    """Return what the customer said, after who said it."""
    return f"Customer: {observation.user_message}" if observation.user_message else "The customer said nothing."


def notes(observation: Observation) -> list[str]:
    """Return what the store says beside results and customer: cards that were left out, and last the budget left."""
    left_out = f"({observation.truncated} product cards were left out because the results were too long.)"
    return [*([left_out] if observation.truncated else []), _closing(observation)]


def _closing(observation: Observation) -> str:
    if not observation.done:
        return f"(turns left: {observation.turns_left}; tool calls left in this turn: {observation.tool_calls_left})"
    result = observation.result
    if result is None:
        return "(the conversation has ended)"
    reason = f"; {result.reason}" if result.reason else ""
    return f"(the conversation has ended: {result.termination}{reason})"


def _type_name(schema: dict[str, Any]) -> str:
    """Return a short name of a property's type: its choices, its alternatives, or its JSON type."""
    if "enum" in schema:
        return "|".join(map(str, schema["enum"]))
    if "anyOf" in schema:
        return "|".join(_type_name(option) for option in schema["anyOf"] if option.get("type") != "null")
    if schema.get("type") == "array":
        return f"[{_type_name(schema.get('items', {}))}]"
    kind = schema.get("type", "any")
    return "|".join(kind) if isinstance(kind, list) else str(kind)
