"""Plays fifty episodes and prints one hash of every byte that agents saw; run as a program by ``test_determinism``.

``--a-year-later`` moves the clock of the process first.
"""

from __future__ import annotations

import datetime
import json
import sys
import time
from hashlib import blake2b
from typing import Any

YEAR_S = 365 * 24 * 3600.0
EPISODES = 50


def move_clock() -> None:
    """Put this process's clock a year ahead."""
    real_time, real_datetime = time.time, datetime.datetime

    class Later(real_datetime):  # type: ignore[misc,valid-type]
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return real_datetime.now(tz) + datetime.timedelta(seconds=YEAR_S)

    class LaterDay(datetime.date):
        @classmethod
        def today(cls) -> Any:
            return real_datetime.now().date() + datetime.timedelta(seconds=YEAR_S)

    time.time = lambda: real_time() + YEAR_S
    datetime.datetime, datetime.date = Later, LaterDay  # type: ignore[misc]


def transcript(number: int, shop: Any) -> bytes:
    """Return what an agent saw and did in one episode."""
    from ecom_rlve.client import StepResult
    from ecom_rlve.envs.episode import Episode, EpisodeSpec
    from ecom_rlve.evaluation.agents import make_agent
    from ecom_rlve.evaluation.agents.oracle import Oracle

    style = "tool" if number % 5 == 4 else "turn"
    spec = EpisodeSpec("CART", difficulty=number % 13, seed=number, style=style)
    episode = Episode(shop, spec, f"episode-{number}")
    agent = Oracle(shop) if number % 3 == 2 else make_agent("expert", "CART", number)
    seen = [episode.opening.model_dump_json(exclude_unset=True)]
    step = StepResult(episode.opening, None, False, episode.metadata)
    while not step.done:
        action = agent.act(step)
        observation = episode.step(action)
        seen += [json.dumps(action, sort_keys=True), observation.model_dump_json(exclude_unset=True)]
        step = StepResult(observation, observation.reward, observation.done, episode.metadata)
    return "\n".join(seen).encode()


def main() -> None:
    """Print the hash."""
    if "--a-year-later" in sys.argv:
        move_clock()
    from ecom_rlve.envs.shop import Shop

    shop = Shop.open("synthetic:400:0")
    hasher = blake2b(digest_size=16)
    for number in range(EPISODES):
        hasher.update(transcript(number, shop))
    print(hasher.hexdigest())


if __name__ == "__main__":
    main()
