"""Rules of a store: a base figure, and conditions whose values change or replace it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from ecom_rlve.envs.policy.conditions import AMOUNT, CONDITIONS, DEPARTMENT, Band, Condition, Situation
from ecom_rlve.envs.policy.topics import Topic
from ecom_rlve.streams import Streams

_REPLACES = 0.65
"""Probability that a value of a replacing condition replaces the base."""
# Draws are made for at least so many cases of a condition.
_MIN_CASES = 5


class Case(NamedTuple):
    """What one value of a condition does to the base."""

    value: str | Band
    steps: int
    """Number of steps to add (negative: to subtract); if ``replaces``, the new figure in steps."""
    replaces: bool = False
    """Whether the figure replaces the base."""


@dataclass(frozen=True, slots=True)
class Adjustment:
    """What a condition does to a rule's figure: one case for each of its values."""

    condition: Condition
    cases: tuple[Case, ...]
    is_replacement: bool
    """True: cases replace the base or keep it. False: they add to it or subtract from it."""

    def case_of(self, value: str | int) -> Case:
        """Return the case of a value; raises ``KeyError`` for one that the condition does not have."""
        for case in self.cases:
            if case.value.holds(float(value)) if isinstance(case.value, Band) else case.value == value:
                return case
        raise KeyError(f"{self.condition.name} has no value {value!r}")


@dataclass(frozen=True, slots=True)
class Rule:
    """One topic's rule in one book."""

    topic: Topic
    base: int
    """In steps of the topic's unit."""
    adjustments: tuple[Adjustment, ...]

    def figure(self, situation: Situation) -> Fraction:
        """Return the exact figure, in the topic's unit, for a situation that has a value for every condition."""
        base, added = self.base, 0
        for adjustment in self.adjustments:
            case = adjustment.case_of(situation[adjustment.condition.name])
            if case.replaces:
                base = case.steps
            else:
                added += case.steps
        return (base + added) * self.topic.step


@dataclass(frozen=True, slots=True)
class FinalSale:
    """The rule for items sold online as final sale: they cannot be returned, with at most one department excepted."""

    department: str | None
    """The department that takes them back; None if there is none."""
    days: int
    """That department's return window, in days from delivery."""


def live_conditions(topic: Topic, departments: Sequence[str]) -> list[str]:
    """Return the conditions that a topic can have: the department only if there are several."""
    return [name for name in topic.conditions if name != DEPARTMENT or len(departments) > 1]


def draw_rule(topic: Topic, streams: Streams, departments: Sequence[str], branching: int) -> Rule:
    """Draw the rule of a topic, with at most ``branching`` of the topic's conditions."""
    pool = live_conditions(topic, departments)
    rng = streams.stream("policy rule", topic.key)
    base, replacing, *keys = rng.random(2 + len(topic.conditions)).tolist()
    width = 2 * max(len(departments), _MIN_CASES)
    draws = dict(zip(topic.conditions, rng.random((len(topic.conditions), width)).tolist(), strict=True))
    if not topic.is_ordered:
        rank = dict(zip(topic.conditions, keys, strict=True))
        pool.sort(key=rank.__getitem__)
    # Chosen among all conditions, not only those that the rule has: so a higher branching leaves the others unchanged.
    replacement = None if topic.is_ordered else pool[int(replacing * len(pool))]
    return Rule(
        topic,
        _between(topic.low, topic.high, base),
        tuple(
            _draw_adjustment(topic, name, departments, draws[name], is_replacement=name == replacement)
            for name in pool[:branching]
        ),
    )


def _between(low: int, high: int, draw: float) -> int:
    return low + int(draw * (high - low + 1))


def _draw_adjustment(
    topic: Topic, name: str, departments: Sequence[str], draws: list[float], *, is_replacement: bool
) -> Adjustment:
    values = _values(name, departments, draws)
    cases = _replacements(topic, values, draws) if is_replacement else _additions(topic, values, draws)
    return Adjustment(CONDITIONS[name], cases, is_replacement)


def _replacements(topic: Topic, values: Sequence[str | Band], draws: list[float]) -> tuple[Case, ...]:
    """Return cases that replace the base or keep it; at least one replaces it."""
    figures = draws[: 2 * len(values)]
    taken = [draw < _REPLACES for draw in figures[1::2]]
    taken[0] |= not any(taken)
    return tuple(
        Case(value, _between(topic.low, topic.high, draw), replaces=True) if is_taken else Case(value, 0)
        for value, draw, is_taken in zip(values, figures[::2], taken, strict=True)
    )


def _additions(topic: Topic, values: Sequence[str | Band], draws: list[float]) -> tuple[Case, ...]:
    """Return cases that add or subtract. All figures differ, unless there are more cases than the span has figures."""
    left: list[int] = []
    cases = []
    for value, draw in zip(values, draws, strict=False):
        left = left or list(range(-topic.span, topic.span + 1))
        cases.append(Case(value, left.pop(int(draw * len(left)))))
    return tuple(cases)


def _values(name: str, departments: Sequence[str], draws: list[float]) -> tuple[str | Band, ...]:
    if name == DEPARTMENT:
        return tuple(departments)
    if name != AMOUNT:
        return CONDITIONS[name].values
    first = 10 * _between(4, 15, draws[-1])
    second = first + 10 * _between(5, 30, draws[-2])
    return (Band(0, first), Band(first, second), Band(second, None))
