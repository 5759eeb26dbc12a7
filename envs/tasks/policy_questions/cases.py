"""Draws questions about a policy book and the customer's situation, and answers them by the book's own rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction

from numpy.random import Generator

from ecom_rlve.catalog.shop_words.currencies import DOLLARS
from ecom_rlve.envs.language.frames import DEFAULT_BANK, Bank
from ecom_rlve.envs.language.speaker import phrase
from ecom_rlve.envs.parts.remembered import spelled_day
from ecom_rlve.envs.policy.book import PolicyBook
from ecom_rlve.envs.policy.conditions import REASON, SEASON, TIER, Band, Situation, agrees, may_be_in_season
from ecom_rlve.envs.policy.rules import Case, Rule
from ecom_rlve.envs.policy.topics import TOPICS
from ecom_rlve.envs.tasks.policy_questions.asking import QUESTIONS, Question

_DAYS_AGO = 60
"""Most days since the date that a question names."""
_UNTRUE: Mapping[str, tuple[str, str]] = {"shop_return": (REASON, "late arrival")}
"""By topic: a condition's value that is true of no purchase that its questions are about."""
_MOST_SPENT = 1000
# Prices are multiples of $10: a share of one in tenths of a percent is a whole number of cents.
_PRICE_STEP, _LEAST_TENS, _MOST_TENS = 10, 2, 99


@dataclass(frozen=True, slots=True)
class PolicyGoal:
    """A question, the customer's situation, and the one right answer."""

    question: Question
    situation: tuple[tuple[str, str | int], ...]
    """Pairs of condition and value, in the rule's order of conditions; an order amount is in whole dollars."""
    given: str
    """The spelled date or price in the question; empty if there is none."""
    asked: str
    """The question in the customer's words."""
    says: tuple[tuple[str, str], ...]
    """The question as data: ``topic`` (what the store calls it), ``form``, and the given ``date`` (ISO 8601) or
    ``money`` (integer cents)."""
    truth: Fraction | date
    unit: str
    """The rule's unit, the currency's code for money and a share, ``date`` for a deadline."""
    section_ids: tuple[str, ...]
    """Ids of the sections that one must read for the answer."""


def draw_question(book: PolicyBook, branching: int, rng: Generator) -> Question:
    """Return a template whose topic can have ``branching`` conditions in this book; all are equally likely."""
    reach = {key: book.reach(key) for key in TOPICS}
    least = min(branching, max(reach.values()))
    fitting = [question for question in QUESTIONS if reach[question.topic] >= least]
    return fitting[int(rng.integers(len(fitting)))]


def dates_of(question: Question, today: date) -> tuple[date, ...]:
    """Return the dates that a question may name; none if it names no date."""
    if question.form != "deadline":
        return ()
    return tuple(today - timedelta(days=days) for days in range(1, _DAYS_AGO + 1))


def draw_situation(rule: Rule, tier: str, rng: Generator, dates: Sequence[date] = ()) -> dict[str, str | int]:
    """Return a value for each condition of the rule; the tier is the customer's own.

    All cases are equally likely that agree with the cases before them, with the topic and with one of ``dates``.
    """
    situation: dict[str, str | int] = {}
    draws = rng.random((len(rule.adjustments), 2)).tolist()
    for adjustment, (which, amount) in zip(rule.adjustments, draws, strict=True):
        name = adjustment.condition.name
        cases = [case for case in adjustment.cases if _is_possible(rule, name, case, situation, dates)]
        value = cases[int(which * len(cases))].value
        situation[name] = _amount_in(value, amount) if isinstance(value, Band) else value
    return {name: tier if name == TIER else value for name, value in situation.items()}


def _is_possible(rule: Rule, name: str, case: Case, situation: Situation, dates: Sequence[date]) -> bool:
    if _UNTRUE.get(rule.topic.key) == (name, case.value):
        return False
    if name == SEASON and dates and not any(may_be_in_season(day, str(case.value)) for day in dates):
        return False
    return agrees(name, case.value, situation)


def posed(
    book: PolicyBook, question: Question, situation: Situation, today: date, rng: Generator, bank: Bank = DEFAULT_BANK
) -> PolicyGoal:
    """Return the goal: the question as asked in a situation, with a date or price if it needs one, and its answer.

    All dates are equally likely that agree with the season, if the situation has one.
    """
    rule = book.rule(question.topic)
    figure = rule.figure(situation)
    days_ago, tens = rng.random(2).tolist()
    is_money = rule.topic.unit == DOLLARS
    truth: Fraction | date = book.money.of(figure) if is_money else figure
    unit, given = book.money.unit if is_money else rule.topic.unit, ""
    says = [("topic", rule.topic.title), ("form", question.form)]
    if question.form == "deadline":
        season = str(situation.get(SEASON, ""))
        days = [day for day in dates_of(question, today) if may_be_in_season(day, season)]
        start = days[int(days_ago * len(days))]
        truth, unit, given = start + timedelta(days=int(figure)), "date", f"{spelled_day(start)} {start.year}"
        says.append(("date", start.isoformat()))
    elif question.form == "share":
        price = _PRICE_STEP * (_LEAST_TENS + int(tens * (_MOST_TENS - _LEAST_TENS + 1)))
        truth, unit = book.money.of(price * figure / 100), book.money.unit
        given = book.money.spelled(f"${price}")
        says.append(("money", str(100 * price * book.money.scale)))
    return PolicyGoal(
        question=question,
        situation=tuple(situation.items()),
        given=given,
        asked=phrase(question.frames, rng, bank, date=given, money=given),
        says=tuple(says),
        truth=truth,
        unit=unit,
        section_ids=book.governing(question.topic),
    )


def _amount_in(band: Band, draw: float) -> int:
    least, below = max(band.least, 1), band.below or _MOST_SPENT
    return least + int(draw * (below - least))
