"""Keeping observations within their size, and telling a conversation from its log."""

from __future__ import annotations

from pydantic_core import to_json

from ecom_rlve.models import MAX_OBSERVATION_BYTES, Observation, ToolResult

_CARD_LISTS = ("results", "lines", "orders")
_SURELY_FITS = 40
"""So few cards are within the greatest limit, whatever stands around them."""


def fitted(observation: Observation, limit: int = MAX_OBSERVATION_BYTES) -> Observation:
    """Return the observation, whole product cards dropped from the end until it has at most ``limit`` bytes."""
    if limit == MAX_OBSERVATION_BYTES and sum(map(_cards, observation.tool_results)) < _SURELY_FITS:
        return observation
    size = len(observation.model_dump_json(exclude_unset=True).encode())
    dropped = 0
    for result in reversed(observation.tool_results):
        for name in _CARD_LISTS:
            cards = (result.result or {}).get(name)
            while isinstance(cards, list) and cards and size > limit - 100:
                size -= len(to_json(cards.pop()))
                dropped += 1
    if dropped:
        observation.truncated = dropped
    return observation


def _cards(result: ToolResult) -> int:
    found = result.result
    return sum([len(found.get(name, ())) for name in _CARD_LISTS]) if found else 0
