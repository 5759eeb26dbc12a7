"""A packed log tells the same as one that is not."""

from __future__ import annotations

from typing import Any

import pytest

from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.episode.trace import play_again, trace_of
from ecom_rlve.envs.world.shop import Shop

TALK: dict[str, Any] = {"assistant_message": "Hello – how can I help? 🛒"}
RAW = {"text": '{"assistant_message": "Which size?"}'}
BETWEEN: dict[str, list[dict[str, Any]]] = {
    "CART": [RAW, {"tool_calls": [{"name": "cart_add", "args": {"product_id": "none such"}}]}],
    "BUNDLE": [{"tool_calls": [{"name": "catalog_search", "args": {"query": "lamp"}}]}, TALK],
}
"""What is done beside talking, after which a customer would leave: a mistake, or what they need not answer."""


@pytest.mark.parametrize("env_id", ["BUNDLE", "CART", "JOURNEY", "PD", "POLICY", "RETURN", "STATUS"])
def test_a_packed_log_tells_the_same(shop: Shop, env_id: str) -> None:
    def build() -> Episode:
        return Episode(shop, EpisodeSpec(env_id, 1, 5, axes=(("t_max", 20),)), "E", include=())

    episode, packed = build(), build()
    before = [TALK, RAW, TALK, *BETWEEN.get(env_id, ()), RAW]
    while not episode.done:
        action = before.pop(0) if before else episode.solve()
        episode.step(action)
        packed.step(action)
        packed.log.pack()
    assert len(packed.log.steps) > 4
    assert packed.state() == episode.state()
    assert trace_of(packed).dump() == trace_of(episode).dump()
    assert packed.log.tool_errors() == episode.log.tool_errors()
    assert bool(episode.log.tool_errors()) == (env_id == "CART")
    assert trace_of(play_again(build, packed.log)).dump() == trace_of(episode).dump()
    assert [step.action for step in packed.log.steps] == [step.action for step in episode.log.steps]
