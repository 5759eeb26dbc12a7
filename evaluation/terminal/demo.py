"""One episode of a built-in agent over HTTP, printed as it happens."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.text import Text

from ecom_rlve.client import EcomEnv
from ecom_rlve.evaluation.agents import Agent, make_expert, suites
from ecom_rlve.evaluation.terminal.screen import show_action, show_customer, show_result, show_tool_results
from ecom_rlve.models import EpisodeResult

SHOWN_ROWS = 3
"""Most rows of a tool result that are printed."""


def demo(env: EcomEnv, console: Console, make_oracle: Callable[[str], Agent], **arguments: Any) -> EpisodeResult | None:
    """Play one episode with a built-in agent, print it, and return how it ended.

    ``make_oracle`` makes the agent of an environment that has no expert, given the fingerprint of the server's catalog;
    ``arguments`` are those of a reset. None where the server gave no result.
    """
    result = env.reset(**arguments)
    meta = result.metadata
    has_expert = meta.env_id in suites()
    agent = make_expert(meta.env_id) if has_expert else make_oracle(meta.catalog)
    name = "expert" if has_expert else "oracle"
    console.print(Text(f"{meta.env_id}, difficulty {meta.difficulty}, seed {meta.seed}, agent: {name}\n"))
    show_customer(console, result.observation.user_message)
    while not result.done:
        action = agent.act(result)
        console.rule(f"turn {result.observation.turn + 1}", style="dim")
        show_action(console, action)
        result = env.step(action)
        show_tool_results(console, result.observation.tool_results, SHOWN_ROWS)
        show_customer(console, result.observation.user_message)
    ended = result.observation.result
    if ended is not None:
        show_result(console, ended)
    return ended
