"""A small linear classifier of questions: which of the facts that a customer has in mind a sentence asks for (SPEC §7).

Its integer weights are made by ``evaluation/customer/train_hearing.py`` from a corpus of questions. So its verdicts are
the same on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.envs.customer.hearing.features import features
from ecom_rlve.envs.customer.hearing.spelling import Speller

SCALE = 24
"""Weights are log odds times this, rounded; they fit into eight bits."""
CHECK, STATEMENT, OPEN, UNKNOWABLE = "check_work", "no_question", "none_open", "unknowable"
NO_TOPICS = (CHECK, STATEMENT, OPEN, UNKNOWABLE)
"""Classes of texts that ask for no fact: whether all is right, nothing, for anything else, what no customer knows."""


@dataclass(frozen=True, eq=False, slots=True)
class Classifier:
    """A weight for each feature and class."""

    places: Mapping[str, int]
    weights: NDArray[np.int8]
    """By feature and class."""
    bias: NDArray[np.int32]
    labels: tuple[str, ...]
    asks_weights: NDArray[np.int16]
    """By feature: how much it speaks for a statement that asks for something ("I'd still need the size")."""
    asks_bias: int
    speller: Speller
    """Knows the words of the corpus."""

    def scores(self, folded: str) -> dict[str, int]:
        """Return how likely a casefolded text asks for each topic, or is of each class that asks for none."""
        known = [self.places[each] for each in features(folded) if each in self.places]
        total = self.bias + self.weights[known].sum(axis=0, dtype=np.int32)
        return dict(zip(self.labels, total.tolist(), strict=True))

    def asks(self, folded: str) -> int:
        """Return how likely a casefolded statement asks for something; 0 is even odds."""
        known = [self.places[each] for each in features(folded) if each in self.places]
        return self.asks_bias + int(self.asks_weights[known].sum(dtype=np.int32))


@cache
def classifier() -> Classifier:
    """Return the classifier that was trained; read from the package once."""
    path = resources.files("ecom_rlve.envs.customer.hearing.data").joinpath("topics.npz")
    with path.open("rb") as file, np.load(file) as stored:
        names = stored["features"].tobytes().decode().split("\n")
        labels = stored["labels"].tobytes().decode().split("\n")
        places = {name: at for at, name in enumerate(names)}
        return Classifier(
            places,
            stored["weights"],
            stored["bias"],
            tuple(labels),
            stored["asks_weights"],
            int(stored["asks_bias"][0]),
            Speller(*(stored[name].tobytes().decode().split("\n") for name in ("vocabulary", "rare"))),
        )
