"""The agent's brief and tool list, generated from the same objects that read and judge its actions."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from ecom_rlve.envs.difficulty import Axes
from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.tools.registry import SUBMIT_ANSWER
from ecom_rlve.models import Style

_FORMAT = {
    "turn": (
        "Each reply is one turn and one JSON object: "
        '{{"assistant_message": "…", "tool_calls": [{{"name": "…", "args": {{…}}}}], "answer": null}}. '
        "At most {b_tool} tool calls a turn; calls run in order and you see their results in the next turn. "
        "Say something to the customer in assistant_message only when you need to. "
        "To finish, give the answer object instead of null. "
    ),
    "tool": (
        "Each reply is one JSON object: "
        '{{"assistant_message": "…", "tool_calls": [{{"name": "…", "args": {{…}}}}], "end_turn": false}}. '
        "A turn holds {b_tool} tool calls; a further call opens the next turn, a message or a question closes "
        "the open one. "
        f"To finish, call {SUBMIT_ANSWER} with the answer's fields. "
    ),
}
_COMMON = (
    "You have {t_max} turns; turns that the customer causes by answering what they had left out do not count. "
    "<tool_call> blocks are read too. Prose with neither JSON nor a tool call, unknown tools or fields, wrong types "
    "and too many calls end the episode with reward -1. Only offer products that a tool result has shown."
)


@lru_cache(maxsize=1024)
def instructions(environment: Environment, axes: Axes, t_max: int, style: Style) -> str:
    """Return the text for the agent: its job, the answer schema, the format of an action."""
    return (
        f"You are a shop's assistant. {environment.brief(axes)}\n"
        f"Answer schema: {json.dumps(environment.about.answer_schema, separators=(',', ':'))}\n"
        f"{(_FORMAT[style] + _COMMON).format(b_tool=axes.b_tool, t_max=t_max)}"
    )


@lru_cache(maxsize=64)
def tool_schemas(environment: Environment, style: Style) -> list[dict[str, Any]]:
    """Return the OpenAI function schemas of the environment's tools; callers must not modify them."""
    schemas = [tool.schema for tool in environment.about.tools.values()]
    if style == "tool":
        schemas.append(
            {
                "type": "function",
                "function": {
                    "name": SUBMIT_ANSWER,
                    "description": "Submit the final answer; ends the episode.",
                    "parameters": _without_done(environment.about.answer_schema),
                },
            }
        )
    return schemas


def _without_done(schema: dict[str, Any]) -> dict[str, Any]:
    properties = {name: field for name, field in schema["properties"].items() if name != "done"}
    return {**schema, "properties": properties, "required": [name for name in schema["required"] if name != "done"]}
