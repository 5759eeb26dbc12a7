"""Composition of an episode's reward from its parts, in exact arithmetic (SPEC §4)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from ecom_rlve.envs.goal import Verdict
from ecom_rlve.models import DEFAULT_PROFILE, EpisodeResult, Format, RewardProfile, Style, Termination

FINISHED = "the client finished the episode"
"""``reason`` in the result of an episode that a client ended before its time."""


@dataclass(frozen=True, slots=True)
class Turns:
    """Turn counts of a finished episode."""

    total: int
    customer_caused: int
    t_max: int
    is_cut_short: bool = False
    """The client ended the episode: the turns that were left count as spent."""

    @property
    def effective(self) -> int:
        """Turns the agent answers for, at least 1."""
        return max(1, self.total - self.customer_caused)


def efficiency(turns: Turns) -> Fraction:
    """Return 1 - 2·(T_eff - 1)/(T_max - 1) clipped to [-1, 1]; -1 where the episode was cut short.

    >>> efficiency(Turns(total=3, customer_caused=1, t_max=4))
    Fraction(1, 3)
    """
    effective = turns.t_max if turns.is_cut_short else turns.effective
    return max(Fraction(-1), min(Fraction(1), 1 - Fraction(2 * (effective - 1), turns.t_max - 1)))


def hallucination(output_ids: Collection[str], shown_ids: Collection[str]) -> Fraction:
    """Return the negative share of distinct output ids that were never shown; 0 without ids."""
    distinct = set(output_ids)
    if not distinct:
        return Fraction(0)
    return -Fraction(len(distinct.difference(shown_ids)), len(distinct))


@lru_cache(maxsize=256)
def weights_of(profile: RewardProfile) -> tuple[Fraction, Fraction, Fraction]:
    """Return the weights of task, efficiency and hallucination as the decimals that were written."""
    return Fraction(str(profile.task)), Fraction(str(profile.eff)), Fraction(str(profile.hall))


def compose(
    verdict: Verdict,
    turns: Turns,
    shown_ids: Collection[str],
    termination: Termination,
    style: Style,
    format: Format = "strict",
    reason: str | None = None,
    profile: RewardProfile = DEFAULT_PROFILE,
) -> EpisodeResult:
    """Return the result of an episode; ``profile`` weighs the parts of its total.

    ``verdict`` is the verifier's finding on the state at the end. A format failure scores -1, whatever was done.
    ``reason`` says why the format was broken, or that the client finished the episode.
    """
    r_hall = hallucination(verdict.output_ids, shown_ids)
    correct = verdict.correct and r_hall == 0
    r_eff = efficiency(turns)
    if verdict.r_task < 0:
        r_eff = Fraction(-1)
    elif not correct:
        r_eff = min(r_eff, Fraction(0))
    task, eff, hall = weights_of(profile)
    total = task * verdict.r_task + eff * r_eff + hall * r_hall
    if termination is Termination.FORMAT_FAILURE:
        total = Fraction(-1)
    return EpisodeResult(
        r_task=float(verdict.r_task),
        r_eff=float(r_eff),
        r_hall=float(r_hall),
        r_total=float(max(Fraction(-1), min(Fraction(1), total))),
        is_correct=correct,
        correct_share=float(correct if verdict.share is None else verdict.share),
        termination=termination,
        turns=turns.total,
        effective_turns=turns.effective,
        style=style,
        format=format,
        reward_profile=profile,
        **({} if reason is None else {"reason": reason}),
    )
