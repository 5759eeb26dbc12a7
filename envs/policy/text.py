"""Policies in words: the text of each section, made from its rule in one of several phrasings.

The text holds every figure of the rule, in the rule's unit, and no other figure.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from ecom_rlve.envs.language.speaker import joined
from ecom_rlve.envs.policy.rules import Adjustment, Case, FinalSale, Rule
from ecom_rlve.envs.policy.topics import Topic
from ecom_rlve.streams import Draws

_BASE_TITLES = ("%s", "%s: the base", "Our %s", "The %s in general")
_CONDITION_TITLES = (
    "{topic} and {label}",
    "{topic} by {label}",
    "How the {label} changes the {topic}",
    "{topic}: {label}",
)
_LEADS = (
    "The {topic} depends on the {label}.",
    "The {topic} varies with the {label}.",
    "The {label} counts for the {topic}.",
)
_CHANGES = (
    "This base changes with the {labels}: look there too.",
    "It is only the base: what else counts is the {labels}, each in a section of its own.",
    "How the {labels} may change it stands elsewhere in this book.",
)
_COMBINE = (
    "Where a section gives another figure instead of the base, that figure takes its place; then all additions and "
    "deductions that fit are made.",
    "A figure given instead of the base replaces it; everything that is added or taken off then applies as well.",
)
_COUNTING = (
    "Days are counted from the day of {start}: the last day is the date of {start} plus the whole number of days.",
    "The period runs from the date of {start}, and its last day is that date plus the full number of days.",
)
_ADDED = ("%s more", "plus %s", "add %s")
_TAKEN = ("%s less", "minus %s", "take off %s")
_REPLACED = ("%s instead of the base", "instead of the base %s")
_UNCHANGED = ("no change", "the base stays as it is", "nothing changes")


@dataclass(frozen=True, slots=True)
class SectionText:
    """Title and body of a section."""

    title: str
    body: str


def spelled(amount: Fraction, unit: str, *, is_change: bool = False) -> str:
    """Return an amount in words: ``90 days``, ``$8.35``, ``12.4 percent``; for a change ``1.2 percentage points``.

    >>> spelled(Fraction(62, 5), "percent"), spelled(Fraction(167, 20), "USD"), spelled(Fraction(1), "days")
    ('12.4 percent', '$8.35', '1 day')
    """
    if unit == "USD":
        return f"${float(amount):.2f}"
    number = f"{float(amount):.1f}".removesuffix(".0")
    if unit == "percent":
        name = ("percentage point" if amount == 1 else "percentage points") if is_change else "percent"
        return f"{number} {name}"
    return f"{number} {unit.removesuffix('s') if amount == 1 else unit}"


def base_text(rule: Rule, draws: Draws) -> SectionText:
    """Return the section that states the base, names its conditions, and says how these combine."""
    topic = rule.topic
    labels = [adjustment.condition.label for adjustment in rule.adjustments]
    parts = [draws.pick(topic.says) % _steps_spelled(rule.base, topic)]
    parts.append(draws.pick(_CHANGES).format(labels=joined(labels, last=" and the ", comma=", the ")))
    parts.append(draws.pick(_COMBINE))
    if topic.counted_from:
        parts.append(draws.pick(_COUNTING).format(start=topic.counted_from))
    return SectionText(_capital(draws.pick(_BASE_TITLES) % topic.title), " ".join(parts))


def adjustment_text(rule: Rule, adjustment: Adjustment, draws: Draws) -> SectionText:
    """Return the section that says for each value of a condition what it does to the base."""
    topic, label = rule.topic, adjustment.condition.label
    clause, is_effect_first = draws.pick(adjustment.condition.clauses), draws.uniform() < 0.4
    wordings = {form: draws.pick(forms) for form, forms in _FORMS.items()}
    entries = []
    for case in draws.shuffled(adjustment.cases):
        effect, where = _effect(topic, case, wordings), clause % case.value
        entries.append(f"{effect} {where}" if is_effect_first else f"{where}: {effect}")
    lead = _capital(draws.pick(_LEADS).format(topic=topic.title, label=label))
    if draws.uniform() < 0.5:
        body = " ".join(f"{_capital(entry)}." for entry in entries)
    else:
        body = f"{_capital('; '.join(entries))}."
    return SectionText(_capital(draws.pick(_CONDITION_TITLES).format(topic=topic.title, label=label)), f"{lead} {body}")


def final_sale_text(rule: FinalSale, draws: Draws) -> SectionText:
    """Return the section on items sold online as final sale."""
    title = draws.pick(("Final sale", "Items sold as final sale", "Final sale items bought online"))
    body = draws.pick(
        (
            "An item that was ordered online as final sale can be neither returned nor exchanged.",
            "Final sale means that an item ordered online cannot be returned or exchanged.",
        )
    )
    if rule.department is not None:
        days = spelled(Fraction(rule.days), "days")
        body += draws.pick(
            (
                f" The one exception is the {rule.department} department, whose final sale items can be sent back "
                f"within {days} of delivery.",
                f" Only in the {rule.department} department are they taken back, for {days} from delivery.",
            )
        )
    return SectionText(title, body)


_FORMS = {"added": _ADDED, "taken": _TAKEN, "replaced": _REPLACED, "unchanged": _UNCHANGED}


def _effect(topic: Topic, case: Case, wordings: dict[str, str]) -> str:
    if case.replaces:
        return wordings["replaced"] % _steps_spelled(case.steps, topic)
    if not case.steps:
        return wordings["unchanged"]
    form = wordings["added" if case.steps > 0 else "taken"]
    return form % _steps_spelled(abs(case.steps), topic, is_change=True)


def _steps_spelled(steps: int, topic: Topic, *, is_change: bool = False) -> str:
    step = topic.step
    return _ratio_spelled(steps * step.numerator, step.denominator, topic.unit, is_change=is_change)


@lru_cache(maxsize=1 << 13)
def _ratio_spelled(numerator: int, denominator: int, unit: str, *, is_change: bool) -> str:
    """Spell an amount; a book has hundreds, of a few thousand that there are. Fractions are slow to make."""
    return spelled(Fraction(numerator, denominator), unit, is_change=is_change)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
