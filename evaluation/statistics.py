"""Intervals, paired tests and pass^k: what tables of soundness and of judging are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb, inf, sqrt
from statistics import fmean

import numpy as np
from numpy.typing import NDArray
from scipy.stats import beta, norm, t, ttest_1samp

from ecom_rlve.streams import stream

_SIGNS = 10_000
"""Random assignments of signs, where there are too many to try all: the error of a p-value of 0.05 is 0.002."""
_ALL_SIGNS = 13
"""For at most so many pairs that differ all assignments are tried: 2^13 is below ``_SIGNS``."""


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


def pass_hat_k(trials: int, successes: int, k: int) -> float:
    """Return pass^k of one episode: the probability that k of its trials, drawn without replacement, all succeed.

    This is C(successes, k) / C(trials, k) (SPEC §10), an unbiased estimate of the k-th power of the success rate.
    Raises ``ValueError`` unless 1 ≤ k ≤ trials and 0 ≤ successes ≤ trials.

    >>> pass_hat_k(4, 3, 2)
    0.5
    """
    if not (1 <= k <= trials and 0 <= successes <= trials):
        raise ValueError(f"no pass^{k} of {successes} successes in {trials} trials")
    return comb(successes, k) / comb(trials, k)


def wilson(share: float, trials: float, confidence: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of a proportion that was observed as ``share`` in ``trials`` (E. B. Wilson, 1927).

    ``trials`` may be an effective number, and need not be whole. Without any trial everything is possible.

    >>> [round(bound, 3) for bound in wilson(0.5, 10)]
    [0.237, 0.763]
    """
    if trials <= 0:
        return 0.0, 1.0
    z = float(norm.ppf((1 + confidence) / 2))
    centre = (share + z * z / (2 * trials)) / (1 + z * z / trials)
    half = z / (1 + z * z / trials) * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    # At the ends the bound is the end itself, but for rounding.
    return (0.0 if share == 0 else centre - half), (1.0 if share == 1 else centre + half)


@dataclass(frozen=True, slots=True)
class Proportion:
    """A success rate with its interval."""

    share: float
    low: float
    high: float


def proportion(episodes: Iterable[tuple[int, int]], confidence: float = 0.95) -> Proportion:
    """Return the success rate over episodes, each given as its successes and trials.

    Trials of one episode are more alike than trials of different ones. So the interval is Wilson's with the effective
    number of trials: what the variance between episodes leaves of them, never less than there are episodes.
    """
    pairs = list(episodes)
    trials = sum(each for _, each in pairs)
    if not trials:
        return Proportion(0.0, 0.0, 1.0)
    share = sum(each for each, _ in pairs) / trials
    return Proportion(share, *wilson(share, _effective(pairs, share, trials), confidence))


def _effective(pairs: Sequence[tuple[int, int]], share: float, trials: int) -> float:
    """Return the number of independent trials that would leave the mean as uncertain (Kish's design effect)."""
    episodes = len(pairs)
    if episodes == trials or share in (0, 1) or episodes < 2:
        return episodes
    residuals = sum((successes - share * each) ** 2 for successes, each in pairs)
    variance = residuals / trials**2 * episodes / (episodes - 1)
    return max(episodes, min(trials, share * (1 - share) / variance)) if variance else trials


@dataclass(frozen=True, slots=True)
class Difference:
    """By how much the second of two paired samples lies above the first."""

    pairs: int
    mean: float
    low: float
    high: float
    """Bounds of the interval of the mean, by Student's t; both the mean where there is one pair."""
    p: float
    """Two-sided p-value that the difference has mean zero, by random signs."""


def paired_difference(
    first: Sequence[float], second: Sequence[float], most: float = inf, confidence: float = 0.95
) -> Difference:
    """Compare two samples over pairs, such as two agents in the same episodes; raises ``ValueError`` without pairs.

    No difference can be greater than ``most``, so neither are the bounds of the interval.

    The p-value is that of the sign-flip test (R. A. Fisher, 1935): were there no difference, each pair might as well
    have been the other way round. With outcomes of 0 and 1 it is McNemar's exact test.
    """
    differences = np.subtract(second, first)
    count = len(differences)
    if not count:
        raise ValueError("two runs without an episode in common cannot be compared")
    mean = fmean(differences.tolist())
    error = float(np.std(differences, ddof=1)) / sqrt(count) if count > 1 else 0.0
    reach = float(t.ppf((1 + confidence) / 2, count - 1)) * error if count > 1 else 0.0
    return Difference(
        count, mean, max(mean - reach, -most), min(mean + reach, most), _sign_flips(differences[differences != 0])
    )


def _sign_flips(differences: NDArray[np.float64]) -> float:
    """Return the share of assignments of signs whose sum is at least as far from zero."""
    count = len(differences)
    if not count:
        return 1.0
    if count <= _ALL_SIGNS:
        bits = np.arange(2**count)[:, np.newaxis] >> np.arange(count) & 1
    else:
        bits = stream(0, "judging", "signs").integers(2, size=(_SIGNS, count))
    observed = abs(float(differences.sum()))
    # What equals the observed sum but for rounding counts as far.
    beyond = int(np.count_nonzero(np.abs((1 - 2 * bits) @ differences) >= observed - 1e-9))
    return beyond / len(bits) if count <= _ALL_SIGNS else (beyond + 1) / (len(bits) + 1)
