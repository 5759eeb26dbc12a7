"""Tools about the customer."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from ecom_rlve.envs.tools.tool import Args, Tool
from ecom_rlve.envs.world.world import World


class AskArgs(Args):
    """Arguments of ``ask_user``."""

    question: str = Field(min_length=1, max_length=4000, description="In words, naming what you need to know.")


class HistoryArgs(Args):
    """``user_get_visit_history`` takes none."""


def _ask(world: World, args: AskArgs) -> dict[str, Any]:  # noqa: ARG001  # the episode hands the question over
    return {"status": "asked; the answer is in user_message"}


def _history(world: World, _: HistoryArgs) -> dict[str, Any]:
    return {"results": [world.show(row) for row in world.history]}


ASK_USER = Tool("ask_user", "Ask the customer a question (free; ends the turn).", AskArgs, _ask, is_free=True)
USER_GET_VISIT_HISTORY = Tool(
    "user_get_visit_history", "List products the customer has looked at.", HistoryArgs, _history
)
