"""An episode as far as it was played: what the page shows of a visitor's game, of an agent's, and of a recorded one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ecom_rlve.envs.episode.episode import Episode
from ecom_rlve.envs.episode.trace import Trace
from ecom_rlve.models import EpisodeMetadata, Observation


@dataclass(frozen=True, slots=True)
class Move:
    """One action and what followed."""

    action: Mapping[str, Any]
    seen: Observation


@dataclass(frozen=True, slots=True)
class Played:
    """An episode up to some step."""

    episode_id: str
    metadata: EpisodeMetadata
    opening: Observation
    moves: Sequence[Move]

    @classmethod
    def of_episode(cls, episode: Episode) -> Played:
        """Return an episode as it stands."""
        moves = [Move(step.action, step.observation) for step in episode.log.steps]
        return cls(episode.id, episode.metadata, episode.opening, moves)

    @classmethod
    def of_trace(cls, trace: Trace) -> Played:
        """Return a recorded episode; raises ``ValueError`` where an observation of it is none."""
        opening, *seen = (Observation.model_validate_json(text) for text in trace.observations)
        moves = [Move(action, each) for action, each in zip(trace.actions, seen, strict=True)]
        return cls(trace.episode_id, trace.metadata, opening, moves)

    @property
    def latest(self) -> Observation:
        """The last observation."""
        return self.moves[-1].seen if self.moves else self.opening

    def until(self, step: int) -> Played:
        """Return the episode after its first ``step`` moves."""
        return replace(self, moves=self.moves[:step])


def cart_of(played: Played) -> list[dict[str, Any]]:
    """Return the cart's lines as the results have shown them."""
    lines: dict[str, dict[str, Any]] = {}
    for result in _results(played):
        fields = result.result or {}
        if result.name == "cart_view":
            lines = {line["line_id"]: line for line in fields.get("lines", ())}
        elif isinstance(fields.get("line"), dict):
            lines[fields["line"]["line_id"]] = fields["line"]
        elif "removed" in fields:
            lines.pop(fields["removed"], None)
    return list(lines.values())


def orders_of(played: Played) -> list[dict[str, Any]]:
    """Return the orders that were opened, the latest first; what a list of orders shows is not repeated."""
    orders = {}
    for result in _results(played):
        if result.name == "order_get" and result.result:
            orders[result.result["order_id"]] = result.result
    return list(orders.values())[::-1]


def _results(played: Played) -> Sequence[Any]:
    return [result for move in played.moves for result in move.seen.tool_results if result.error is None]


def action_of(sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the action that the page's script describes.

    Raises:
        ValueError: it describes none.
    """
    match sent:
        case {"kind": "say", "text": str(text)}:
            return {"assistant_message": text}
        case {"kind": "raw", "text": str(text)}:
            return {"text": text}
        case {"kind": "call", "name": str(name), "args": dict(args)}:
            return {"tool_calls": [{"name": name, "args": args}]}
        case {"kind": "answer", "args": dict(args), "final": bool(final)}:
            return {"answer": {**args, "done": final}}
    raise ValueError("this is nothing that an agent can do")
