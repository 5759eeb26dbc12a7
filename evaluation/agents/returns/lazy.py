"""A lazy policy of RETURN: it lets the store refuse what cannot be returned, instead of checking it first."""

from __future__ import annotations

from typing import Any

from ecom_rlve.evaluation.agent import Action
from ecom_rlve.evaluation.agents.returns.expert import ReturnExpert
from ecom_rlve.evaluation.agents.returns.request import Line
from ecom_rlve.models import ToolResult


class SkipsCheck(ReturnExpert):
    """Initiates the return of the right line unchecked, and calls it not eligible where the store refuses."""

    def __init__(self) -> None:
        super().__init__()
        self._tried = ""
        """Id of the line whose return was tried."""

    def _take(self, answer: ToolResult) -> None:
        super()._take(answer)
        if answer.name in ("return_initiate", "return_exchange") and answer.result is None:
            self._is_eligible[self._tried] = False

    def _treat(self, line: Line, room: int, turns_left: int) -> Action:
        self._is_eligible.setdefault(line["line_id"], True)
        return super()._treat(line, room, turns_left)

    def _finish(self, which: dict[str, str], selected: dict[str, Any]) -> Action:
        """Return what sends the line back, without an answer before the store has agreed."""
        action = super()._finish(which, selected)
        self._tried = which["line_id"]
        return action if self._is_done else {"tool_calls": action["tool_calls"]}
