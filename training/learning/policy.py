"""A linear softmax policy over candidate actions, with hashed features (numpy only).

A decision offers candidates; each is described by features. The policy holds one weight per hashed feature, a
candidate's logit is the sum of the weights of its features less the logarithm of the number of candidates of its skill,
and the policy draws from the softmax over the candidates. So a policy that knows nothing draws a skill first: otherwise
it would ask all the time where there are many questions, and hardly ever come to an answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]

BITS = 15
"""Weights of one kind are 2 to this power: some thousand features occur, so few of them share a weight."""
_HALF = 1 << BITS
SIZE = 2 * _HALF
"""The first half is for what was read, the second for the words of the first message."""


class Candidate(NamedTuple):
    """One action that the policy can take now."""

    skill: str
    """What kind of action it is; every feature is a feature of its skill."""
    action: Mapping[str, Any]
    """As it is sent to the environment."""
    features: tuple[str, ...] = ()
    """What sets it apart from other candidates of the skill."""
    asks: tuple[str, ...] = ()
    """What a question asks for, to be remembered; no feature."""


class Choices(NamedTuple):
    """The candidates of one decision as the policy sees them: hashed features, candidate after candidate."""

    features: Indices
    starts: Indices
    """Where the features of each candidate begin; each has at least one."""
    shares: Floats
    """Logarithm of one by the number of candidates of the same skill."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision that was made."""

    choices: Choices
    chosen: int
    log_probability: float
    """Of the chosen candidate, under the policy that chose."""
    skill: str


@lru_cache(maxsize=1 << 18)
def _place(skill: str, feature: str) -> int:
    return crc32(f"{skill}\x1f{feature}".encode()) % _HALF


@lru_cache(maxsize=1 << 15)
def _places(skill: str, features: tuple[str, ...], first: int = 0) -> tuple[int, ...]:
    return tuple(first + _place(skill, feature) for feature in features)


def choices_of(candidates: Sequence[Candidate], state: tuple[str, ...], words: tuple[str, ...]) -> Choices:
    """Return the hashed features of candidates.

    ``state`` are features of the situation and ``words`` those of the customer's first message as a bag of words; both
    are taken together with each candidate's skill.
    """
    features: list[int] = []
    starts: list[int] = []
    for skill, _, own, _ in candidates:
        starts.append(len(features))
        features += _places(skill, ("", *own))
        features += _places(skill, state)
        features += _places(skill, words, _HALF)
    counts = Counter(each.skill for each in candidates)
    shares = -np.log([counts[each.skill] for each in candidates])
    return Choices(np.array(features, np.int32), np.array(starts, np.int32), shares)


class Policy:
    """The weights, and what follows from them."""

    def __init__(self, weights: Floats | None = None) -> None:
        """``weights`` None: all zero, so that every candidate is as likely as any other."""
        self.weights: Floats = np.zeros(SIZE) if weights is None else weights.copy()

    def log_probabilities(self, choices: Choices) -> Floats:
        """Return the logarithm of each candidate's probability."""
        logits = self._logits(choices)
        logits -= logits.max()
        return np.asarray(logits - np.log(np.exp(logits).sum()))

    def draw(self, choices: Choices, rng: Generator) -> tuple[int, float]:
        """Return a drawn candidate, and the logarithm of its probability."""
        logs = self.log_probabilities(choices)
        edges = np.cumsum(np.exp(logs))
        drawn = min(int(np.searchsorted(edges, rng.random() * edges[-1], side="right")), len(logs) - 1)
        return drawn, float(logs[drawn])

    def best(self, choices: Choices) -> int:
        """Return the most probable candidate, the first of several."""
        return int(np.argmax(self._logits(choices)))

    def _logits(self, choices: Choices) -> Floats:
        return np.asarray(np.add.reduceat(self.weights[choices.features], choices.starts) + choices.shares)


class Batch:
    """Many decisions, laid out so that all their probabilities are computed at once."""

    def __init__(self, decisions: Sequence[Decision]) -> None:
        counts = [len(each.choices.starts) for each in decisions]
        sizes = np.cumsum([0, *(len(each.choices.features) for each in decisions)])
        self.features = np.concatenate([each.choices.features for each in decisions])
        self.starts = np.concatenate([each.choices.starts + at for each, at in zip(decisions, sizes, strict=False)])
        self.firsts = np.cumsum([0, *counts[:-1]])
        """Number of the first candidate of each decision."""
        self.decision_of = np.repeat(np.arange(len(decisions)), counts)
        self.chosen = self.firsts + np.array([each.chosen for each in decisions])
        self.old = np.array([each.log_probability for each in decisions])
        self._shares = np.concatenate([each.choices.shares for each in decisions])
        self._lengths = np.diff(np.append(self.starts, len(self.features)))

    def log_probabilities(self, weights: Floats) -> Floats:
        """Return the logarithm of every candidate's probability within its decision."""
        logits = np.add.reduceat(weights[self.features], self.starts) + self._shares
        logits -= np.maximum.reduceat(logits, self.firsts)[self.decision_of]
        sums = np.add.reduceat(np.exp(logits), self.firsts)
        return np.asarray(logits - np.log(sums)[self.decision_of])

    def gradient(self, by_candidate: Floats) -> Floats:
        """Return the gradient by the weights of something whose gradient by every candidate's logit is given."""
        found: Floats = np.bincount(self.features, np.repeat(by_candidate, self._lengths), minlength=SIZE).astype(float)
        return found


def bag_of_words(words: Iterable[str]) -> tuple[str, ...]:
    """Return the features of a text as a bag of its words: each once, in their order."""
    return tuple(dict.fromkeys(f"w:{word}" for word in words))
