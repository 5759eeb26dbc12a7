"""Plays fifty episodes and prints one hash of every byte that agents saw; run as a program by ``test_determinism``.

``--a-year-later`` moves the clock of the process first.
"""

from __future__ import annotations

import datetime
import json
import sys
import time
from hashlib import blake2b

from ecom_rlve.client import StepResult
from ecom_rlve.envs.episode import Episode, EpisodeSpec
from ecom_rlve.envs.shop import Shop
from ecom_rlve.evaluation.agents import make_agent
from ecom_rlve.evaluation.agents.oracle import Oracle
from ecom_rlve.models import Style

YEAR = datetime.timedelta(days=365)
EPISODES = 50


class LaterMoment(datetime.datetime):
    """A clock that is a year ahead."""

    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> LaterMoment:
        """Return the moment a year from now."""
        return cls.fromtimestamp(time.time(), tz)


class LaterDay(datetime.date):
    """A calendar that is a year ahead."""

    @classmethod
    def today(cls) -> LaterDay:
        """Return the day a year from today."""
        return cls.fromtimestamp(time.time())


def move_clock() -> None:
    """Put the clocks that this package could read a year ahead.

    The types are replaced in our own modules only: extension modules hold on to the originals.
    """
    real = time.time
    time.time = lambda: real() + YEAR.total_seconds()
    ours = [module for name, module in sys.modules.items() if name.startswith("ecom_rlve")]
    for module in ours:
        for name, later in (("datetime", LaterMoment), ("date", LaterDay)):
            if isinstance(getattr(module, name, None), type):
                setattr(module, name, later)


def transcript(number: int, shop: Shop) -> bytes:
    """Return what an agent saw and did in one episode."""
    style: Style = "tool" if number % 5 == 4 else "turn"
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
    shop = Shop.open("synthetic:400:0")
    hasher = blake2b(digest_size=16)
    for number in range(EPISODES):
        hasher.update(transcript(number, shop))
    print(hasher.hexdigest())


if __name__ == "__main__":
    main()
