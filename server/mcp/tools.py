"""The tools of an episode as clients see them that can only call tools, and a call of one as an action.

Beside an environment's own tools there are two: ``say`` speaks to the customer and ``submit_answer`` submits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ecom_rlve.envs.episode.submission import say_tool, submit_tool
from ecom_rlve.envs.registry import environment, environments
from ecom_rlve.envs.tools.registry import SUBMIT_ANSWER
from ecom_rlve.server.errors import BadRequestError

Function = dict[str, Any]
"""Name, description and parameters of a tool."""
_SUBMIT_ANYWHERE: Function = {
    "name": SUBMIT_ANSWER,
    "description": "Submit the final answer. Its fields are the environment's: list the tools again after the reset.",
    "parameters": {"type": "object", "properties": {}, "additionalProperties": True},
}


def own_tools(env: str | None) -> list[Function]:
    """Return the tools of one environment, or of all, each name once.

    Raises:
        UnknownEnvironmentError: no environment has this name.
    """
    chosen = environments().values() if env is None else [environment(env)]
    by_name: dict[str, Function] = {}
    for each in chosen:
        for name, tool in each.about.tools.items():
            by_name.setdefault(name, tool.schema["function"])
    return list(by_name.values())


def callable_tools(env: str | None) -> list[Function]:
    """Return what can be called in an episode of one environment, or of any; raises as :func:`own_tools`."""
    submit = _SUBMIT_ANYWHERE if env is None else submit_tool(environment(env).about)["function"]
    return [*own_tools(env), say_tool()["function"], submit]


def listed(tools: list[Function], schema: str) -> list[dict[str, Any]]:
    """Return tools with their parameters under the name ``schema``: MCP and OpenEnv's steps spell it differently."""
    return [{"name": each["name"], "description": each["description"], schema: each["parameters"]} for each in tools]


def call_action(name: Any, arguments: Any) -> dict[str, Any]:
    """Return the action that calls one tool and leaves the turn open.

    Whether there is such a tool, and what its arguments may be, is for the episode to judge.

    Raises:
        BadRequestError: the name is no string, or the arguments are no object.
    """
    if not isinstance(name, str) or not name:
        raise BadRequestError("name: the tool's name is wanted, a string")
    if arguments is not None and not isinstance(arguments, dict):
        raise BadRequestError("arguments: an object is wanted")
    return {"tool_calls": [{"name": name, "args": arguments or {}}], "end_turn": False}


def is_error(observation: Mapping[str, Any]) -> bool:
    """Tell whether a call failed: the store refused it, it broke the format, or the server had to end the episode."""
    ended = (observation.get("result") or {}).get("termination") == "format_failure"
    return ended or "infra_error" in observation or any(each.get("error") for each in observation["tool_results"])
