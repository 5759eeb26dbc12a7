"""Keeping observations within their size, and telling a conversation from its log."""

from __future__ import annotations

from pydantic_core import to_json

from ecom_rlve.models import Observation, ToolResult

MAX_BYTES = 32_000
"""Greatest size of an observation as JSON (SPEC §2.4)."""
_CARD_LISTS = ("results", "lines", "orders")
_SURELY_FITS = 40


def fitted(observation: Observation) -> Observation:
    """Return the observation, whole product cards dropped from the end as far as its size demands."""
    if sum(map(_cards, observation.tool_results)) < _SURELY_FITS:
        return observation
    size = len(observation.model_dump_json(exclude_unset=True).encode())
    dropped = 0
    for result in reversed(observation.tool_results):
        for name in _CARD_LISTS:
            cards = (result.result or {}).get(name)
            while isinstance(cards, list) and cards and size > MAX_BYTES - 100:
                size -= len(to_json(cards.pop()))
                dropped += 1
    if dropped:
        observation.truncated = dropped
    return observation


def _cards(result: ToolResult) -> int:
    found = result.result
    return sum([len(found.get(name, ())) for name in _CARD_LISTS]) if found else 0
