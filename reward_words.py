"""An episode's reward in words: each part, what it was, and why (SPEC §4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ecom_rlve.models import EpisodeResult, Termination


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a reward, with its weight, and the reason for its value."""

    name: str
    value: float
    weight: float
    why: str


_ENDED = {
    Termination.ANSWERED: "A final answer was submitted.",
    Termination.FORMAT_FAILURE: "The action broke the format, which ends an episode at once.",
    Termination.TURN_BUDGET: "The turns were used up before a final answer.",
    Termination.CUSTOMER_LEFT: "The customer left: three times in a row they had to answer what helped nobody.",
}


def ending(result: EpisodeResult) -> str:
    """Return how an episode ended."""
    why = f" ({result.reason})" if result.reason else ""
    return _ENDED[result.termination].removesuffix(".") + why + "."


def parts(result: EpisodeResult, max_turns: int, never_shown: Sequence[str]) -> list[Part]:
    """Return the parts of a reward; ``max_turns`` is ``T_max``, ``never_shown`` ids that were handed in unseen."""
    weights = result.reward_profile
    return [
        Part("r_task", result.r_task, weights.task, _task(result)),
        Part("r_eff", result.r_eff, weights.eff, _efficiency(result, max_turns)),
        Part("r_hall", result.r_hall, weights.hall, _unseen(result, never_shown)),
    ]


def total(result: EpisodeResult) -> str:
    """Return how the parts add up."""
    if result.termination is Termination.FORMAT_FAILURE:
        return f"r_total = {result.r_total:+.2f}, whatever was done before: a broken format costs everything."
    weights = result.reward_profile
    terms = ((weights.task, result.r_task), (weights.eff, result.r_eff), (weights.hall, result.r_hall))
    return f"r_total = {' + '.join(f'{weight:g}·({value:+.2f})' for weight, value in terms)} = {result.r_total:+.2f}"


def _task(result: EpisodeResult) -> str:
    if result.termination in (Termination.TURN_BUDGET, Termination.CUSTOMER_LEFT) and result.r_task == -1:
        return "Nothing was handed in."
    if result.is_correct:
        return "The job is done: all that had to be right is right."
    if result.r_task == 1:
        return "The job itself is done, but an id that was never shown makes it count as not correct."
    if result.r_task == -1:
        return "Nothing of what counts is right."
    return "Partly right: 1 would be a perfect answer, -1 one with nothing right in it."


def _efficiency(result: EpisodeResult, max_turns: int) -> str:
    caused = result.turns - result.effective_turns
    took = f"{result.turns} turn{'s' if result.turns != 1 else ''}"
    counted = f"{took}, {caused} of them the customer's, so T_eff = {result.effective_turns}" if caused else took
    if result.r_task < 0:
        return f"{counted}; where the job earned less than 0, speed earns -1."
    pace = max(-1.0, min(1.0, 1 - 2 * (result.effective_turns - 1) / (max_turns - 1)))
    if pace != result.r_eff and not result.is_correct:
        return f"{counted}; speed earns nothing where the answer is not correct."
    return f"{counted}: 1 - 2·({result.effective_turns} - 1)/({max_turns} - 1) = {pace:+.2f}."


def _unseen(result: EpisodeResult, never_shown: Sequence[str]) -> str:
    if result.r_hall == 0:
        return "Every product id that was handed in had been shown."
    named = f": {', '.join(never_shown)}" if never_shown else ""
    return f"{-result.r_hall:.0%} of the product ids that were handed in had never been shown{named}."
