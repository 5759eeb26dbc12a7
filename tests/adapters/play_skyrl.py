"""Play the environment with the real SkyRL-Gym; run by test_libraries.py in an environment that holds it.

python tests/adapters/play_skyrl.py SERVER EPISODES

``EPISODES`` is a JSON list: a dataset's row each, a policy's outputs, and the reward that they get.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import skyrl_gym
from skyrl_gym.metrics import aggregate_for_environment

from ecom_rlve.client import EcomEnvError, EpisodeLostError, InvalidRequestError
from ecom_rlve.client.adapters.skyrl import ID, register_shopping

PROMPT = [{"role": "system", "content": "You help customers."}]


def play(episode: dict[str, Any]) -> dict[str, Any]:
    """Play one episode as SkyRL's generator does; return its metrics."""
    env = skyrl_gym.make(ID, env_config={}, extras=episode["row"])
    try:
        messages, metadata = env.init(PROMPT)
        assert messages[0] is PROMPT[0]
        assert "Tools:" in messages[1]["content"], messages
        assert metadata["env_id"] == episode["row"]["env_id"]
        rewards = []
        for output in episode["outputs"]:
            step = env.step(output)
            rewards.append(step["reward"])
            assert step["done"] == (not step["observations"])
            assert all(each["role"] == "user" and each["content"] for each in step["observations"])
        assert step["done"], "the last output ends the episode"
        assert rewards[:-1] == [0.0] * (len(rewards) - 1)
        assert rewards[-1] == episode["reward"], (rewards, episode["reward"])
        return dict(env.get_metrics())
    finally:
        env.close()


def refused(row: dict[str, Any], error: type[EcomEnvError], server: str) -> None:
    """Require that an episode which is lost, or never was, is no reward but an error."""
    env = skyrl_gym.make(ID, env_config={}, extras=row)
    try:
        env.init(PROMPT)
        httpx.delete(f"{server}/episodes", params={"run_id": row["run_id"]}).raise_for_status()
        env.step('{"tool_calls": [{"name": "cart_view"}]}')
    except error as met:
        print(f"  {type(met).__name__}: {str(met)[:60]}")
    else:
        raise AssertionError(f"{error.__name__} is not raised")
    assert env.get_metrics() == {}
    env.close()


def main(server: str, episodes: list[dict[str, Any]]) -> None:
    """Check episodes that are won, broken off, lost and refused."""
    assert episodes, "no episodes"
    register_shopping(server)
    with ThreadPoolExecutor(4) as pool:
        metrics = list(pool.map(play, episodes))
    assert aggregate_for_environment(ID, metrics)["is_correct"] == 1.0
    print(f"  {len(metrics)} episodes won")
    row = {"env_id": "CART", "run_id": "broken off", "extra": object()}
    left = skyrl_gym.make(ID, env_config={}, extras=row)
    left.init(PROMPT)
    left.close()
    assert httpx.get(f"{server}/episodes", params={"run_id": "broken off"}).json() == []
    refused({**row, "run_id": "lost"}, EpisodeLostError, server)
    refused({**row, "env_id": "KART"}, InvalidRequestError, server)


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
