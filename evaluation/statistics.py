"""Exact intervals and paired tests for the soundness table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.stats import beta, ttest_1samp


def clopper_pearson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Return the exact two-sided interval of a proportion.

    >>> [round(bound, 3) for bound in clopper_pearson(0, 200)]
    [0.0, 0.018]
    """
    tail = (1 - confidence) / 2
    low = 0.0 if successes == 0 else float(beta.ppf(tail, successes, trials - successes + 1))
    high = 1.0 if successes == trials else float(beta.ppf(1 - tail, successes + 1, trials - successes))
    return low, high


def paired_p_value(lower: Sequence[float], higher: Sequence[float]) -> float:
    """Return the one-sided p-value of "``lower`` has the smaller mean" over pairs (same seeds); 1 if all are equal.

    This is a paired t-test: rewards are bounded, and there are hundreds of pairs.
    """
    differences = np.subtract(higher, lower)
    if len(differences) < 2 or np.ptp(differences) == 0:
        return 0.0 if len(differences) > 1 and differences[0] > 0 else 1.0
    return float(ttest_1samp(differences, 0.0, alternative="greater").pvalue)
