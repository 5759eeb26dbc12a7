"""Play a CART episode with the stock client of openenv 0.10, which knows nothing of this project.

python tests/openenv/play_generic.py http://127.0.0.1:8000
"""

from __future__ import annotations

import sys

from openenv import GenericEnvClient

RESET = {"env_id": "CART", "difficulty": 0, "seed": 7}


def play(base_url: str) -> float:
    """Search once, answer with an empty cart, and return the reward; any broken promise is an AssertionError."""
    with GenericEnvClient(base_url=base_url) as env:
        start = env.reset(**RESET)
        assert start.reward is None, start.reward
        assert start.done is False
        opening = start.observation["user_message"]
        assert opening, "the customer speaks first"
        assert env.reset(**RESET).observation["user_message"] == opening, "the same seed is the same episode"

        search = env.step({"tool_calls": [{"name": "catalog_search", "args": {"query": opening}}]})
        assert search.reward == 0.0, search.reward
        assert search.done is False
        (found,) = search.observation["tool_results"]
        assert found["name"] == "catalog_search"
        assert found.get("result"), found
        assert env.state()["step_count"] == 1

        end = env.step({"answer": {"done": True}})
        assert end.done is True
        assert isinstance(end.reward, float)
        assert -1.0 <= end.reward < 0.0, f"an empty cart earned {end.reward}"
        assert end.observation["result"]["is_correct"] is False
        return end.reward


if __name__ == "__main__":
    print(f"played CART over /ws with the stock client: reward {play(sys.argv[1])}")
