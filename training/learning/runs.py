"""One training run of the small policy: groups of episodes, the objective, what is noted; and how it is judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from numpy.random import Generator

from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import EpisodeResult, Observation, Split
from ecom_rlve.streams import stream
from ecom_rlve.training.learning.arena import Arena, held_out
from ecom_rlve.training.learning.notebook import Notebook
from ecom_rlve.training.learning.objective import GROUP, Episode, Learner, Rates, is_mixed
from ecom_rlve.training.learning.policy import Candidate, Floats, Policy
from ecom_rlve.training.learning.rollouts import Rollout, play
from ecom_rlve.training.learning.skills.cart import CartNotes
from ecom_rlve.training.learning.skills.order_status import StatusNotes
from ecom_rlve.training.learning.skills.policy_questions import PolicyNotes
from ecom_rlve.training.learning.skills.product_discovery import DiscoveryNotes
from ecom_rlve.training.learning.skills.returns import ReturnNotes

NOTES: Mapping[str, Callable[[Observation], Notebook]] = {
    "STATUS": StatusNotes,
    "POLICY": PolicyNotes,
    "CART": CartNotes,
    "RETURN": ReturnNotes,
    "PD": DiscoveryNotes,
}
"""The environments that have skills."""
RATES: Mapping[str, Rates] = {
    "STATUS": Rates(step=0.02, entropy=0.1),
    "PD": Rates(step=0.02, entropy=0.1, last_entropy=0.03),
    "CART": Rates(step=0.02, entropy=0.06, last_entropy=0.01),
    "POLICY": Rates(step=0.03, entropy=0.15, last_entropy=0.02),
    # A random policy is right once in some hundred episodes: it takes longer until one way is worth keeping to.
    "RETURN": Rates(step=0.02, entropy=0.2, last_entropy=0.03),
}
"""How fast is learnt in each environment; a mixture learns as its first one."""
PROMPTS = 8
"""Groups of one batch."""
Reward = Literal["total", "shuffled", "no hallucination term"]
_HARDEST = 12
"""Of the uniform control."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run does."""

    env_ids: tuple[str, ...]
    """Each group is of one of them, in turn."""
    episodes: int
    seed: int
    difficulty: Literal["adaptive", "uniform"] | int = "adaptive"
    reward: Reward = "total"
    asks: bool = True
    """False takes every question away from the policy."""


@dataclass(slots=True)
class Progress:
    """What was noted batch by batch."""

    frontier: list[int] = field(default_factory=list)
    """The highest difficulty drawn so far."""
    correct: list[float] = field(default_factory=list)
    """Share of correct episodes."""
    mixed: list[float] = field(default_factory=list)
    """Share of groups that passed both filters."""


@dataclass(frozen=True, slots=True)
class Trained:
    """A finished run."""

    plan: Plan
    weights: Floats
    progress: Progress


def train(arena: Arena, plan: Plan, start: Floats | None = None) -> Trained:
    """Train a policy; ``start`` are weights to begin with."""
    policy = Policy(start)
    learner, progress = Learner(policy, RATES[plan.env_ids[0]]), Progress()
    rng = stream(plan.seed, "learning", "actions")
    number = 0
    while number * GROUP < plan.episodes:
        groups: list[list[Episode]] = []
        for _ in range(PROMPTS):
            env_id = plan.env_ids[number % len(plan.env_ids)]
            prompt = arena.group(env_id, number, _difficulty(plan, number))
            number += 1
            rollouts = [play(each, notes_of(env_id, asks=plan.asks), policy, rng) for each in prompt.episodes]
            groups.append(_rewarded(rollouts, plan.reward, rng))
            progress.frontier.append(max(prompt.difficulty, progress.frontier[-1] if progress.frontier else 0))
        learner.learn(groups, rng, min(1.0, number * GROUP / plan.episodes))
        everyone = [each for group in groups for each in group]
        progress.correct.append(sum(each.is_correct for each in everyone) / len(everyone))
        progress.mixed.append(sum(map(is_mixed, groups)) / len(groups))
    return Trained(plan, policy.weights, progress)


def _difficulty(plan: Plan, number: int) -> int | None:
    if plan.difficulty == "adaptive":
        return None
    if plan.difficulty == "uniform":
        return int(stream(plan.seed, "learning", "uniform", number).integers(_HARDEST + 1))
    return plan.difficulty


def _rewarded(rollouts: Sequence[Rollout], reward: Reward, rng: Generator) -> list[Episode]:
    if reward == "shuffled":
        # What was decided in one episode is paid for by another of its group.
        order = rng.permutation(len(rollouts))
        paid = [rollouts[at].learnable(_total) for at in order]
        return [replace(each, decisions=rollout.decisions) for each, rollout in zip(paid, rollouts, strict=True)]
    return [each.learnable(_total if reward == "total" else _without_hallucination) for each in rollouts]


def _total(result: EpisodeResult) -> float:
    return result.r_total


def _without_hallucination(result: EpisodeResult) -> float:
    return 0.75 * result.r_task + 0.15 * result.r_eff


def notes_of(env_id: str, *, asks: bool = True) -> Callable[[Observation], Notebook]:
    """Return what makes the notes of an episode; without ``asks`` no question is ever offered."""
    made = NOTES[env_id]
    return made if asks else lambda opening: _Silent(made(opening))


class _Silent(Notebook):
    """Notes of an episode in which no question can be asked."""

    def __init__(self, notes: Notebook) -> None:
        self._notes = notes

    def read(self, seen: Observation) -> None:
        self._notes.read(seen)

    def note(self, chosen: Candidate) -> None:
        self._notes.note(chosen)

    def offers(self) -> list[Candidate]:
        return [each for each in self._notes.fresh_offers() if not each.skill.startswith("ask")] or self._notes.offers()

    def fresh_offers(self) -> list[Candidate]:
        return self.offers()

    def state(self) -> tuple[str, ...]:
        return self._notes.state()

    def words(self) -> tuple[str, ...]:
        return self._notes.words()


@dataclass(frozen=True, slots=True)
class Judged:
    """How a policy did on held-out episodes of one environment and difficulty."""

    episodes: int
    correct: int
    mean_reward: float
    skills: Counter[str]

    @property
    def success(self) -> float:
        """Share of correct episodes."""
        return self.correct / self.episodes


def judge(
    shop: Shop,
    env_id: str,
    difficulty: int,
    weights: Floats | None,
    episodes: int,
    *,
    split: Split = "eval",
    asks: bool = True,
) -> Judged:
    """Play held-out episodes with the most probable candidates; ``weights`` None draws candidates at random."""
    policy = Policy(weights)
    rng = stream(difficulty, "learning", "random policy") if weights is None else None
    played = [
        play(held_out(shop, env_id, difficulty, number, split), notes_of(env_id, asks=asks), policy, rng)
        for number in range(episodes)
    ]
    skills: Counter[str] = Counter()
    for each in played:
        skills.update(each.skills)
    correct = sum(each.result.is_correct for each in played)
    return Judged(episodes, correct, sum(each.result.r_total for each in played) / episodes, skills)
