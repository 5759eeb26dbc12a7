"""The store's policy book, drawn for each episode (SPEC §6): the one source of texts, tools and verifier.

The branching axis says how many conditions of a topic its rule has. A higher branching keeps the conditions of a lower
one and adds others. A rule is drawn when it is first asked for, from a stream of its own, so that a book costs little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property

from ecom_rlve.envs.policy.conditions import DEPARTMENT, TIER, TIERS
from ecom_rlve.envs.policy.money import PLAIN_DOLLARS, StoreMoney
from ecom_rlve.envs.policy.rules import FinalSale, Rule, draw_rule, live_conditions
from ecom_rlve.envs.policy.text import SectionText, adjustment_text, base_text, final_sale_text
from ecom_rlve.envs.policy.topics import ONLINE_RETURN, RESTOCKING, TOPICS
from ecom_rlve.streams import Draws, Streams

LEAST_FIGURES = 12
"""Every book holds at least this many different figures, so that a guess among them is right at most 1 in 12 times
(SPEC §11)."""
MOST_CONDITIONS = 7
"""Most conditions of a rule: B_branch(20). Every topic has as many, except for those of online returns."""
_EXCEPTIONS_FROM = 3
"""From this branching on, one department takes final-sale items back as an exception."""


@dataclass(frozen=True, slots=True)
class ReturnTerms:
    """What the return tools need to know of one line of an online order."""

    window_days: int
    """Days after delivery in which it can be returned; 0 if it cannot be returned at all."""
    is_returnable: bool
    restocking_percent: int
    """Percent of the price that is kept."""
    section_ids: tuple[str, ...]
    """Ids of the sections with these terms."""


@dataclass(frozen=True, slots=True)
class Section:
    """One section of the book, as agents read it."""

    id: str
    title: str
    text: str


@dataclass(frozen=True)
class PolicyBook:
    """A store's rules in one episode."""

    streams: Streams = field(repr=False)
    departments: tuple[str, ...]
    branching: int
    """Number of conditions of a rule, if its topic has so many."""
    money: StoreMoney = PLAIN_DOLLARS
    """The store's currency; rules are in dollars."""
    _rules: dict[str, Rule] = field(default_factory=dict, repr=False, compare=False)

    @property
    def tiers(self) -> tuple[str, ...]:
        """Membership tiers, lowest first."""
        return TIERS

    def rule(self, key: str) -> Rule:
        """Return the rule of a topic."""
        if key not in self._rules:
            self._rules[key] = draw_rule(TOPICS[key], self.streams, self.departments, self.branching)
        return self._rules[key]

    def reach(self, key: str) -> int:
        """Return how many conditions a topic can have in a store with these departments."""
        return len(live_conditions(TOPICS[key], self.departments))

    def section_id(self, topic: str, condition: str = "") -> str:
        """Return the id of a topic's base section, or of its section on a condition.

        Ids are hashes, so that they tell nothing about the sections.
        """
        return "S" + self.streams.digest("policy section", topic, condition)[:5].hex()

    def governing(self, key: str) -> tuple[str, ...]:
        """Return the ids of the sections that one must read for a figure: the base, and one for each condition."""
        names = (adjustment.condition.name for adjustment in self.rule(key).adjustments)
        return (self.section_id(key), *(self.section_id(key, name) for name in names))

    @cached_property
    def final_sale(self) -> FinalSale:
        """The rule for final-sale items."""
        draws = self.streams.stream("policy rule", "final_sale").random(2).tolist()
        has_exception = self.branching >= _EXCEPTIONS_FROM and len(self.departments) > 1
        department = self.departments[int(draws[0] * len(self.departments))] if has_exception else None
        return FinalSale(department, 3 + int(draws[1] * 12))

    def return_terms(self, department: str, *, tier: str, is_final_sale: bool) -> ReturnTerms:
        """Return the terms for a line of an online order; raises ``KeyError`` for an unknown department or tier."""
        situation = {DEPARTMENT: department, TIER: tier}
        window = self.rule(ONLINE_RETURN).figure(situation)
        percent = self.rule(RESTOCKING).figure(situation)
        sections = (*self.governing(ONLINE_RETURN), *self.governing(RESTOCKING))
        is_returnable = True
        if is_final_sale:
            is_returnable = department == self.final_sale.department
            window = Fraction(self.final_sale.days if is_returnable else 0)
            sections = (self.section_id("final_sale"), *self.governing(RESTOCKING))
        return ReturnTerms(int(window), is_returnable, int(percent), sections)

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        """All sections, in the order of the book."""
        draws = self.streams.stream("policy wording")
        sections = [self._section("final_sale", "", final_sale_text(self.final_sale, Draws(draws)))]
        for key in TOPICS:
            rule = self.rule(key)
            sections.append(self._section(key, "", base_text(rule, Draws(draws))))
            for adjustment in rule.adjustments:
                text = adjustment_text(rule, adjustment, Draws(draws))
                sections.append(self._section(key, adjustment.condition.name, text))
        order = self.streams.stream("policy order").permutation(len(sections)).tolist()
        return tuple(sections[at] for at in order)

    def _section(self, topic: str, condition: str, text: SectionText) -> Section:
        return Section(self.section_id(topic, condition), text.title, self.money.spelled(text.body))

    @cached_property
    def section_by_id(self) -> Mapping[str, Section]:
        """All sections by id."""
        return {section.id: section for section in self.sections}


def draw_policy_book(
    streams: Streams,
    departments: Sequence[str],
    branching: int = MOST_CONDITIONS,
    money: StoreMoney = PLAIN_DOLLARS,
) -> PolicyBook:
    """Return the policy book of an episode; ``departments`` are the catalog's, ``branching`` is B_branch."""
    return PolicyBook(streams, tuple(departments), branching, money)
