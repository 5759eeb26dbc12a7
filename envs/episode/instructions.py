"""The agent's brief and tool list, generated from the same objects that read and judge its actions."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from ecom_rlve.catalog.shop_words.currencies import DOLLARS
from ecom_rlve.envs.difficulty import Axes
from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.episode.submission import submit_tool
from ecom_rlve.envs.tools.registry import SUBMIT_ANSWER
from ecom_rlve.models import EVERYTHING, Style

_JOB = "You are a shop's assistant. "
_FORMAT_BEGINS = "Each reply is one "
_FORMAT = {
    "turn": (
        f'{_FORMAT_BEGINS}turn and one JSON object: {{"assistant_message": "…", '
        '"tool_calls": [{"name": "…", "args": {…}}], "answer": null}. '
        "Calls run in order and you see their results in the next turn. "
        "Say something to the customer in assistant_message only when you need to. "
        "To finish, give the answer object instead of null. "
    ),
    "tool": (
        f'{_FORMAT_BEGINS}JSON object: {{"assistant_message": "…", "tool_calls": [{{"name": "…", "args": {{…}}}}]}}. '
        'Calls alone leave the turn open, unless you add "end_turn": true; a message or a question closes it, and a '
        "call beyond what a turn holds opens the next. "
        f"To finish, call {SUBMIT_ANSWER} with the answer's fields. "
    ),
}
_CURRENCY = "All amounts of money are in {code}, which is also their unit in an answer."
_EITHER = (
    "<tool_call> blocks are read too. Prose with neither JSON nor a tool call, unknown tools or fields, wrong types "
    "and too many calls end the episode with reward -1."
)


@lru_cache(maxsize=1024)
def instructions(
    environment: Environment,
    axes: Axes,
    t_max: int,
    style: Style,
    include: tuple[str, ...] = EVERYTHING,
    currency: str | None = None,
) -> str | None:
    """Return what ``include`` names of the ``brief`` (the job, the answer schema, the budgets) and the ``format``.

    None where it names neither. The brief tells the ``currency`` of the catalog, unless it is dollars.
    """
    parts = []
    if "brief" in include:
        schema = json.dumps(environment.about.answer_schema, separators=(",", ":"))
        parts += [f"{_JOB}{environment.brief(axes)}", f"Answer schema: {schema}", _budgets(axes, t_max)]
        if currency not in (None, DOLLARS):
            parts.append(_CURRENCY.format(code=currency))
    if "format" in include:
        parts.append(_FORMAT[style] + _EITHER)
    return "\n".join(parts) or None


def included_in(text: str | None) -> tuple[str, ...]:
    """Return which of ``brief`` and ``format`` a text of :func:`instructions` holds."""
    if text is None:
        return ()
    held = {"brief": text.startswith(_JOB), "format": _FORMAT_BEGINS in text}
    return tuple(name for name, is_there in held.items() if is_there)


def _budgets(axes: Axes, t_max: int) -> str:
    return (
        f"You have {t_max} turns of at most {axes.b_tool} tool calls each; turns that the customer causes by answering "
        "what they had left out do not count. Only offer products that a tool result has shown."
    )


@lru_cache(maxsize=64)
def tool_schemas(environment: Environment, style: Style) -> list[dict[str, Any]]:
    """Return the OpenAI function schemas of the environment's tools; callers must not modify them."""
    schemas = [tool.schema for tool in environment.about.tools.values()]
    if style == "tool":
        schemas.append(submit_tool(environment.about))
    return schemas
