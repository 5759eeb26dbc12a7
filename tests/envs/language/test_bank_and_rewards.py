"""What agents earn does not depend on the bank: the same actions on the same seeds meet the same acts and rewards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from ecom_rlve.catalog.search.search import Search
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.language.frames import Bank, Frames, Pool, acts_in_bank, facts_in_bank, known_frames
from ecom_rlve.envs.language.said import said_acts
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agents import make_expert
from ecom_rlve.evaluation.in_process import told

LEVELS = (0, 4, 8, 12)
QUESTIONS = (
    "Which colour, which size and which price should it be?",
    "I have done everything. Is that right?",
    "It is sold out. What should I take instead?",
    "What is your order number?",
)


class Asks:
    """Asks the same questions whatever it is told, and submits nothing but the end."""

    def __init__(self) -> None:
        self._turn = 0

    def act(self, _: Any) -> dict[str, Any]:
        self._turn += 1
        if self._turn <= len(QUESTIONS):
            return {"assistant_message": QUESTIONS[self._turn - 1]}
        return {"answer": {"done": True}}


class IsSilent:
    """Lets all turns pass."""

    def act(self, _: Any) -> dict[str, Any]:
        return {}


AGENTS: dict[str, Callable[[str], Any]] = {
    "expert": make_expert,
    "asks": lambda _: Asks(),
    "is silent": lambda _: IsSilent(),
}


def small_bank() -> Bank:
    """Return a bank in which every table has a single frame, which the package's has not, for every customer."""
    environments()
    acts_in_bank()
    tables = {name: _single(frames) for name, frames in known_frames().items()}
    facts = {key: {form: _last(frames) for form, frames in forms.items()} for key, forms in facts_in_bank().items()}
    return Bank(tables, facts)


def _last(frames: Pool) -> Pool:
    """Return the last frame that every value can be said in: not every bound has a next value beyond it."""
    return Pool(frames.without_limit.frames[-1:])


def _single(frames: Frames) -> Frames:
    places = " ".join(f"{{{place}}}" for place in (*frames.places, *frames.one_of[:1]))
    text = f"So much for {frames.name.replace('_', ' ')}: {places}.".replace(": .", ".")
    return replace(frames, lists={"any": (text.rstrip(".") if frames.is_phrase else text,)})


@pytest.fixture(scope="module")
def other_shop(wide_shop: Shop) -> Shop:
    """Return the same shop, whose customers say everything in other words."""
    search: Search = wide_shop.search
    shop = Shop(wide_shop.catalog, search, wide_shop.report)
    shop.bank = small_bank()
    return shop


def played(shop: Shop, spec: EpisodeSpec, agent: Any) -> tuple[list[Any], set[str]]:
    """Return the acts of each turn with the result, and the frames of all that was said."""
    episode = Episode(shop, spec, "episode")
    seen, acts, frames = episode.opening, [], set[str]()
    while True:
        acts.append([each.model_dump() for each in said_acts(episode.acts)])
        frames.update(text for each in episode.utterances if episode.has_spoken for text in each.frames)
        if seen.done:
            break
        seen = episode.step(agent.act(told(episode, seen)))
    assert seen.result is not None
    return [*acts, seen.result.model_dump()], frames


@pytest.mark.parametrize("agent", AGENTS)
def test_rewards_and_acts_do_not_depend_on_the_bank(agent: str, wide_shop: Shop, other_shop: Shop) -> None:
    differing = 0
    for env_id in environments():
        for level in LEVELS:
            for seed in range(2):
                spec = EpisodeSpec(env_id, level, 900 + seed)
                first, frames = played(wide_shop, spec, AGENTS[agent](env_id))
                second, others = played(other_shop, spec, AGENTS[agent](env_id))
                assert first == second, (env_id, level, seed)
                differing += frames.isdisjoint(others)
    assert differing >= len(environments()) * len(LEVELS) * 2 * 0.9
