"""Plays episodes and prints hashes of every byte that agents saw; run as a program by ``test_determinism``.

The first line is the hash of fifty CART episodes of the built-in agents, then comes one line per environment: thirteen
episodes at d = 0 to 12 in both styles, played by the environment's own solution and by one who does everything wrong.
``--a-year-later`` moves the clock of the process first, ``--write`` writes the lines into ``tests/goldens``.
"""

from __future__ import annotations

import datetime
import json
import sys
import time
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.parts.solving import in_style
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agents import make_expert
from ecom_rlve.evaluation.in_process import told
from ecom_rlve.evaluation.oracle import Oracle
from ecom_rlve.models import Style

GOLDENS = Path(__file__).resolve().parent.parent / "goldens"
YEAR = datetime.timedelta(days=365)
EPISODES = 50
LEVELS = 13
READS: dict[str, dict[str, Any]] = {
    "catalog_search": {"query": "gift", "limit": 10},
    "user_get_visit_history": {},
    "order_list": {"limit": 50},
    "policy_search": {"query": "fee for delivery by membership tier"},
    "cart_view": {},
}
MISTAKES = (
    "Which price, which brand and which date is it? And why?",
    "You told me that you want three of them for $12.34.",
    "Everything is sold out. What should I take instead?",
    "I have added everything to your cart. Is everything right?",
)

Player = Callable[[Episode], Iterator[dict[str, Any]]]


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
    agent = Oracle(shop) if number % 3 == 2 else make_expert("CART")
    seen = [episode.opening.model_dump_json(exclude_unset=True)]
    observation = episode.opening
    while not observation.done:
        action = agent.act(told(episode, observation))
        observation = episode.step(action)
        seen += [json.dumps(action, sort_keys=True), observation.model_dump_json(exclude_unset=True)]
    return "\n".join(seen).encode()


def solves(episode: Episode) -> Iterator[dict[str, Any]]:
    """Yield the actions of the environment's own solution."""
    while True:
        yield in_style(episode.solve(), episode.spec.style)


def errs(episode: Episode) -> Iterator[dict[str, Any]]:
    """Yield the actions of one who reads, says and proposes what is beside the point, then answers wrongly."""
    environment = episode.environment
    for name, args in READS.items():
        if name in environment.about.tools:
            yield {"tool_calls": [{"name": name, "args": args}, {"name": "ask_user", "args": {"question": "Why?"}}]}
    for message in MISTAKES:
        yield {"assistant_message": message}
    answer: dict[str, Any] = {"intent": "PD"} if environment.about.members else {}
    if any("recommended_product_ids" in form.model_fields for form in environment.about.answer.forms()):
        shown = sorted(episode.intent.world.shown_ids())
        answer["recommended_product_ids"] = [*shown[:3], "nothing"]
    yield {"answer": {**answer, "done": False}}
    while True:
        yield {"answer": {**answer, "done": True}}


def played(spec: EpisodeSpec, shop: Shop, player: Player) -> bytes:
    """Return what was seen and done in one episode."""
    episode = Episode(shop, spec, f"episode-{spec.seed}")
    seen = [episode.opening.model_dump_json(exclude_unset=True)]
    for action in player(episode):
        seen += [
            json.dumps(action, sort_keys=True),
            episode.step(action).model_dump_json(exclude_unset=True),
        ]
        if episode.done:
            break
    return "\n".join(seen).encode()


def lines() -> Iterator[str]:
    """Yield the hash of the built-in agents' episodes, then each environment with its hash."""
    shop = Shop.open("synthetic:400:0")
    hasher = blake2b(digest_size=16)
    for number in range(EPISODES):
        hasher.update(transcript(number, shop))
    yield hasher.hexdigest()
    wide_shop = Shop.open("synthetic:2000:0")
    for env_id in environments():
        hasher = blake2b(digest_size=16)
        for d in range(LEVELS):
            style: Style = "tool" if d % 2 else "turn"
            player = errs if d // 2 % 2 else solves
            hasher.update(played(EpisodeSpec(env_id, d, seed=100 + d, style=style), wide_shop, player))
        yield f"{env_id} {hasher.hexdigest()}"


def main() -> None:
    """Print the hashes, and write them where that was asked for."""
    if "--a-year-later" in sys.argv:
        move_clock()
    first, *others = lines()
    print(first, *others, sep="\n")
    if "--write" in sys.argv:
        (GOLDENS / "cart_transcripts.txt").write_text(f"{first}\n")
        (GOLDENS / "transcripts.txt").write_text("".join(f"{line}\n" for line in others))


if __name__ == "__main__":
    main()
