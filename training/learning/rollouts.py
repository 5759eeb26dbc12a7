"""Playing episodes with a policy, in groups."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from numpy.random import Generator

from ecom_rlve.models import EpisodeResult, Observation
from ecom_rlve.training.learning.notebook import Notebook
from ecom_rlve.training.learning.objective import Episode
from ecom_rlve.training.learning.policy import Decision, Policy, choices_of

MOST_DECISIONS = 60
"""An episode of so many decisions is given up: it goes round in circles."""


class Played(Protocol):
    """A live episode, wherever it runs."""

    @property
    def opening(self) -> Observation:
        """The first observation."""
        ...

    def step(self, action: Mapping[str, object]) -> Observation:
        """Send an action and return what follows."""
        ...

    def finish(self) -> Observation:
        """End the episode as with its budget spent."""
        ...


@dataclass(frozen=True, slots=True)
class Rollout:
    """One finished episode with what the policy decided in it."""

    decisions: tuple[Decision, ...]
    result: EpisodeResult
    skills: Counter[str] = field(default_factory=Counter)

    def learnable(self, reward: Callable[[EpisodeResult], float]) -> Episode:
        """Return the episode as learning sees it."""
        return Episode(self.decisions, reward(self.result), self.result.is_correct)


def play(played: Played, notes_of: Callable[[Observation], Notebook], policy: Policy, rng: Generator | None) -> Rollout:
    """Play an episode; ``rng`` None takes the most probable candidate each time, as held-out episodes are played."""
    seen = played.opening
    notes = notes_of(seen)
    decisions: list[Decision] = []
    skills: Counter[str] = Counter()
    while not seen.done:
        if len(decisions) >= MOST_DECISIONS:
            seen = played.finish()
            break
        offers = notes.fresh_offers()
        choices = choices_of(offers, notes.state(), notes.words())
        chosen, log = policy.draw(choices, rng) if rng is not None else (policy.best(choices), 0.0)
        decisions.append(Decision(choices, chosen, log, offers[chosen].skill))
        skills[offers[chosen].skill] += 1
        notes.note(offers[chosen])
        seen = played.step(offers[chosen].action)
        notes.read(seen)
    if seen.result is None:
        raise RuntimeError(f"an episode ended without a result: {seen.infra_error or 'no reason given'}")
    return Rollout(tuple(decisions), seen.result, skills)
