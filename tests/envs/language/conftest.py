"""What customers of many episodes have in mind, and what they say to the built-in experts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import pytest

from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.language.acts import Act, Fact
from ecom_rlve.envs.language.persona import Persona
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agents import make_expert
from ecom_rlve.evaluation.in_process import told

_HARDEST = 20
_EPISODES = 6
"""Resets of each environment at each difficulty; with four of them a kind of fact is already missing."""
_LEVELS = (0, 3, 6, 9, 12)

Key = tuple[str, str]
"""A kind of fact as the bank names it, and an operator."""


class Message(NamedTuple):
    """Something that a customer said without typing noise."""

    env_id: str
    seed: int
    persona: Persona
    text: str
    acts: tuple[Act, ...]
    frames: tuple[str, ...]
    is_first: bool


@pytest.fixture(scope="session")
def drawn(wide_shop: Shop) -> Mapping[str, Mapping[Key, tuple[Fact, ...]]]:
    """Return the facts that the customers of each environment have in mind, by kind and operator."""
    found: dict[str, dict[Key, list[Fact]]] = defaultdict(lambda: defaultdict(list))
    for env_id, each in environments().items():
        for d in range(min(_HARDEST, each.max_difficulty(wide_shop)) + 1):
            for seed in range(_EPISODES):
                episode = Episode(wide_shop, EpisodeSpec(env_id, d, 7000 + seed), "episode")
                for intent in episode.conversation.intents:
                    for slot in intent.slots:
                        found[intent.errand.about.id][_key(slot.fact)].append(slot.fact)
    return {env_id: {key: tuple(facts) for key, facts in by_key.items()} for env_id, by_key in found.items()}


def _key(fact: Fact) -> Key:
    """Return the kind of a fact as the bank names it, and the operator; "A or B" is said like a single value."""
    name = (fact.kind.phrased_as or fact.kind.name) if fact.kind else fact.constraint.attribute
    op = fact.constraint.op.value
    return name, "eq" if op == "any_of" else op


@pytest.fixture(scope="session")
def messages_of(wide_shop: Shop) -> Callable[[int], Iterator[Message]]:
    """Return what plays so many episodes with the experts, and yields what the customers say without noise."""
    ids = list(environments())

    def messages(count: int) -> Iterator[Message]:
        for number in range(count):
            env_id, level = ids[number % len(ids)], _LEVELS[number // len(ids) % len(_LEVELS)]
            level = min(level, environments()[env_id].max_difficulty(wide_shop))
            spec = EpisodeSpec(env_id, level, 5000 + number, axes=(("p_noise", 0.0),))
            episode, expert = Episode(wide_shop, spec, "episode"), make_expert(env_id)
            seen = episode.opening
            is_first = True
            while True:
                if episode.has_spoken:
                    for each in episode.utterances:
                        yield Message(
                            env_id, spec.seed, each.persona, each.template_text, each.acts, each.frames, is_first
                        )
                        is_first = False
                if seen.done:
                    break
                seen = episode.step(expert.act(told(episode, seen)))

    return messages
