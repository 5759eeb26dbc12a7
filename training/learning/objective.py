"""DAPO on decisions: group-normalised advantages, both filters, the clipped surrogate without KL, an entropy bonus.

As in the recipe for language models (SPEC §12, arXiv 2503.14476), a decision standing where a token stands there:
every decision of a kept batch weighs the same, however long its episode was.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from ecom_rlve.training.learning.policy import SIZE, Batch, Decision, Floats, Policy

GROUP = 8
"""Episodes of a group (G)."""
CLIP_LOW, CLIP_HIGH = 0.2, 0.28
_WORDS = 0.1
"""Step size of the words of the first message, as a share of that of what was read. They are many, and Adam moves each
of them as far as any other weight: in full steps they outweigh everything else, and the first lucky habit stays."""


@dataclass(frozen=True, slots=True)
class Episode:
    """What learning needs to know of one episode."""

    decisions: tuple[Decision, ...]
    reward: float
    """r_total, or what an ablation puts in its place."""
    is_correct: bool


Group = Sequence[Episode]
"""The episodes of one prompt: same environment, difficulty and seed."""


def is_mixed(group: Group) -> bool:
    """Tell whether a group passes both filters: 0 < correct < G, and rewards that differ.

    Of a group that is all correct only the speed differs, and normalising would blow that up to full size.
    """
    correct = sum(each.is_correct for each in group)
    return 0 < correct < len(group) and len({each.reward for each in group}) > 1


def advantages(group: Group) -> list[float]:
    """Return (R - mean) / standard deviation of a group that :func:`is_mixed`."""
    rewards = np.array([each.reward for each in group])
    return [float(each) for each in (rewards - rewards.mean()) / rewards.std()]


@dataclass(frozen=True, slots=True)
class Rates:
    """How fast the policy learns."""

    step: float = 0.05
    """Step size of Adam."""
    entropy: float = 0.1
    """Weight of the entropy bonus at the start: without it one skill wins before others were tried."""
    last_entropy: float = 0.1
    """Its weight at the end. In between it goes down evenly: a policy that keeps trying passes no gate."""
    passes: int = 4
    """Times that each batch is gone through."""
    parts: int = 2
    """Steps of a pass, each on a part of the batch."""


class Learner:
    """A policy and the state of its optimiser (Adam)."""

    def __init__(self, policy: Policy, rates: Rates | None = None) -> None:
        self.policy = policy
        self.rates = rates or Rates()
        self._mean, self._square, self._steps = np.zeros(SIZE), np.zeros(SIZE), 0
        self._step_sizes = np.repeat([self.rates.step, self.rates.step * _WORDS], SIZE // 2)

    def learn(self, groups: Iterable[Group], rng: Generator, done: float = 0.0) -> int:
        """Learn from the mixed groups among those given, and return how many they are.

        ``done`` is the share of the training that is over, 0 to 1.
        """
        entropy = self.rates.entropy + done * (self.rates.last_entropy - self.rates.entropy)
        kept = [group for group in groups if is_mixed(group)]
        decisions: list[Decision] = []
        advantage: list[float] = []
        for group in kept:
            for episode, own in zip(group, advantages(group), strict=True):
                decisions += episode.decisions
                advantage += [own] * len(episode.decisions)
        if decisions:
            values = np.array(advantage)
            for _ in range(self.rates.passes):
                for part in np.array_split(rng.permutation(len(decisions)), self.rates.parts):
                    if len(part):
                        self._step(Batch([decisions[at] for at in part]), values[part], entropy)
        return len(kept)

    def _step(self, batch: Batch, advantage: Floats, entropy: float) -> None:
        gradient = batch.gradient(by_candidate(batch, self.policy.weights, advantage, entropy))
        self._steps += 1
        self._mean += 0.1 * (gradient - self._mean)
        self._square += 0.001 * (gradient**2 - self._square)
        mean = self._mean / (1 - 0.9**self._steps)
        square = self._square / (1 - 0.999**self._steps)
        self.policy.weights += self._step_sizes * mean / (np.sqrt(square) + 1e-8)


def by_candidate(batch: Batch, weights: Floats, advantage: Floats, entropy: float) -> Floats:
    """Return the gradient of the objective by the logit of every candidate.

    The objective is the mean over decisions of min(r A, clip(r, 1 - 0.2, 1 + 0.28) A) plus ``entropy`` times the
    entropy divided by its greatest value, the logarithm of the number of candidates.
    """
    logs = batch.log_probabilities(weights)
    probabilities = np.exp(logs)
    ratio = np.exp(logs[batch.chosen] - batch.old)
    is_clipped = np.where(advantage > 0, ratio > 1 + CLIP_HIGH, ratio < 1 - CLIP_LOW)
    weight = np.where(is_clipped, 0.0, ratio * advantage)
    found: Floats = -weight[batch.decision_of] * probabilities
    found[batch.chosen] += weight
    negative = np.add.reduceat(probabilities * logs, batch.firsts)
    counts = np.bincount(batch.decision_of)
    scale = entropy / np.log(np.maximum(counts, 2))
    found -= scale[batch.decision_of] * probabilities * (logs - negative[batch.decision_of])
    return found / len(batch.chosen)
