"""A small linear classifier of questions: which of the facts that a customer has in mind a sentence asks for (SPEC §7).

Its integer weights are made by ``evaluation/customer/train_hearing.py`` from a corpus of questions. So its verdicts are
the same on every machine.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.envs.customer.hearing.features import features

SCALE = 24
"""Weights are log odds times this, rounded; they fit into eight bits."""
CHECK = "check_work"
NO_TOPICS = (CHECK, "no_question", "none_open", "unknowable")
"""Classes of texts that ask for no fact."""
_NEAR_ENOUGH = 2 * SCALE
"""So far a topic in mind may be behind the likeliest of all topics and be meant: "how big?" may mean a length."""
_SURE = SCALE
"""So far ahead of all that asks for nothing must be what a text surely asks for."""


@dataclass(frozen=True, eq=False, slots=True)
class Classifier:
    """A weight for each feature and class."""

    places: Mapping[str, int]
    weights: NDArray[np.int8]
    """By feature and class."""
    bias: NDArray[np.int32]
    labels: tuple[str, ...]

    def scores(self, folded: str) -> dict[str, int]:
        """Return how likely a casefolded text asks for each topic, or is of each class that asks for none."""
        known = [self.places[each] for each in features(folded) if each in self.places]
        total = self.bias + self.weights[known].sum(axis=0, dtype=np.int32)
        return dict(zip(self.labels, total.tolist(), strict=True))

    def is_check(self, folded: str) -> bool:
        """Tell whether a text surely asks if everything is right as it is."""
        scores = self.scores(folded)
        return scores.pop(CHECK) > max(scores.values()) + _SURE

    def topic_in(self, folded: str, in_mind: Collection[str], *, surely: bool = False) -> str | None:
        """Return the topic in mind that a text asks for; None if it does not surely ask for something, or for another.

        ``surely``: only if it is the likeliest of all topics.
        """
        scores = self.scores(folded)
        possible = [topic for topic in self.labels if topic in in_mind]
        if not possible:
            return None
        best = max(possible, key=scores.__getitem__)
        nothing, highest = max(scores[name] for name in NO_TOPICS), max(scores.values())
        if highest <= nothing + _SURE:
            return None
        return best if scores[best] >= highest - (0 if surely else _NEAR_ENOUGH) and scores[best] > nothing else None


@cache
def classifier() -> Classifier:
    """Return the classifier that was trained; read from the package once."""
    path = resources.files("ecom_rlve.envs.customer.hearing.data").joinpath("topics.npz")
    with path.open("rb") as file, np.load(file) as stored:
        names = stored["features"].tobytes().decode().split("\n")
        labels = stored["labels"].tobytes().decode().split("\n")
        places = {name: at for at, name in enumerate(names)}
        return Classifier(places, stored["weights"], stored["bias"], tuple(labels))
