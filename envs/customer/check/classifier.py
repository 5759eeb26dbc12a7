"""A linear classifier of wordings: how much the words between the places look like those of a lie (SPEC §7).

Its integer weights are made by ``evaluation/customer/train_check.py`` from wordings and lies. So its verdicts are the
same on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple

import numpy as np

from ecom_rlve.envs.customer.check.features import features

SCALE = 32
"""Weights are log odds times this, rounded; they fit into eight bits."""


class Classifier(NamedTuple):
    """A weight for each feature."""

    weights: Mapping[str, int]
    bias: int

    def score(self, labels: Sequence[str], text: str) -> int:
        """Return the log odds, times :data:`SCALE`, that a folded and spelled out text is a lie."""
        return self.bias + sum(self.weights.get(each, 0) for each in features(labels, text))


@cache
def classifier() -> Classifier:
    """Return the classifier that was trained; read from the package once."""
    path = resources.files("ecom_rlve.envs.customer.check.data").joinpath("weights.npz")
    with path.open("rb") as file, np.load(file) as stored:
        names = stored["features"].tobytes().decode().split("\n")
        return Classifier(dict(zip(names, stored["weights"].tolist(), strict=True)), int(stored["bias"]))
