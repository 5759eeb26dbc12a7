"""The policy book: rules and texts say the same, ids tell nothing, the search finds, the tools refuse and remember."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.envs.errors import DomainError
from ecom_rlve.envs.policy.book import LEAST_FIGURES, MOST_CONDITIONS, PolicyBook, draw_policy_book
from ecom_rlve.envs.policy.conditions import CONDITIONS, DEPARTMENT, TIER, TIERS, Band
from ecom_rlve.envs.policy.rules import Rule
from ecom_rlve.envs.policy.search import ranked_sections
from ecom_rlve.envs.policy.text import spelled
from ecom_rlve.envs.policy.topics import ONLINE_RETURN, RESTOCKING, TOPICS
from ecom_rlve.envs.tasks.policy_questions.cases import draw_situation
from ecom_rlve.envs.tools.policy_book import GetSectionArgs, NowArgs, SearchPoliciesArgs
from ecom_rlve.envs.tools.registry import TOOLS
from ecom_rlve.envs.world.world import World
from ecom_rlve.evaluation.agents.policy_questions.reading import Outcome, base_figure, labels, outcomes, subject
from ecom_rlve.models import DomainCode
from ecom_rlve.streams import Streams, stream

DEPARTMENTS = ("Clothing, Shoes & Jewelry", "Electronics", "Home", "Home & Kitchen", "Office & Tools", "Toys")
BRANCHINGS = (1, 2, 4, MOST_CONDITIONS)
_AMOUNT = re.compile(r"\$?\d+(?:\.\d+)?")


def book_of(seed: int, branching: int = 3, departments: tuple[str, ...] = DEPARTMENTS) -> PolicyBook:
    """Return a book of its own."""
    return draw_policy_book(Streams("book", seed), departments, branching)


def read_figure(book: PolicyBook, rule: Rule, situation: dict[str, str | int]) -> tuple[Fraction, str]:
    """Return what the texts of a rule come to in a situation: read as an agent reads them, no rule looked at."""
    base_id, *others = book.governing(rule.topic.key)
    figure, unit = base_figure(book.section_by_id[base_id].text)
    added = Fraction(0)
    by_label = {condition.label: condition.name for condition in CONDITIONS.values()}
    for section_id in others:
        section = book.section_by_id[section_id]
        value = situation[by_label[subject(section.title)[1]]]
        outcome = held(outcomes(section.text), value)
        if outcome.is_replacement:
            figure = outcome.amount
        else:
            added += outcome.amount
    return figure + added, unit


def held(read: list[Outcome], value: str | int) -> Outcome:
    """Return the one outcome that a value has."""
    if isinstance(value, int):
        found = [o for o in read if o.band and o.band[0] <= value and (o.band[1] is None or value < o.band[1])]
    else:
        found = [outcome for outcome in read if outcome.value == value]
    assert len(found) == 1, (value, read)
    return found[0]


@pytest.mark.parametrize("branching", BRANCHINGS)
def test_what_the_texts_say_is_what_the_rules_do(branching: int) -> None:
    assert len(TOPICS) >= 15
    for seed in range(8):
        book = book_of(seed, branching)
        for key in TOPICS:
            rule = book.rule(key)
            for number in range(3):
                situation = draw_situation(rule, TIERS[number], stream(number, "situation", key))
                assert read_figure(book, rule, situation) == (rule.figure(situation), rule.topic.unit)


@pytest.mark.parametrize("branching", BRANCHINGS)
def test_a_section_holds_the_numbers_of_its_rule_and_no_others(branching: int) -> None:
    assert len(TOPICS) >= 15
    for seed in range(4):
        book = book_of(seed, branching)
        for key, topic in TOPICS.items():
            rule = book.rule(key)
            base_text = book.section_by_id[book.section_id(key)].text
            stated = {Fraction(found.strip("$")) for found in _AMOUNT.findall(base_text)}
            assert stated - {rule.base * topic.step} <= ({Fraction(100)} if key == "loyalty" else set())
            for adjustment in rule.adjustments:
                text = book.section_by_id[book.section_id(key, adjustment.condition.name)].text
                expected = [abs(case.steps) * topic.step for case in adjustment.cases if case.replaces or case.steps]
                for case in adjustment.cases:
                    ends = (case.value.least, case.value.below) if isinstance(case.value, Band) else ()
                    expected += [Fraction(end) for end in ends if end]
                found = [Fraction(number.strip("$")) for number in _AMOUNT.findall(text)]
                assert Counter(found) == Counter(expected), text


def test_final_sale_is_stated_as_it_is_applied() -> None:
    for seed in range(30):
        for branching in (1, 3):
            book = book_of(seed, branching)
            text = book.section_by_id[book.section_id("final_sale")].text
            named = [name for name in DEPARTMENTS if f"the {name} department" in text]
            for department in DEPARTMENTS:
                terms = book.return_terms(department, tier="gold", is_final_sale=True)
                assert terms.is_returnable == (department in named)
                days = _AMOUNT.findall(text)
                assert terms.window_days == (int(days[0]) if department in named else 0)
            assert bool(named) == (branching >= 3)


def test_return_terms_are_the_rules_of_online_returns() -> None:
    book = book_of(5)
    for department in DEPARTMENTS:
        for tier in book.tiers:
            terms = book.return_terms(department, tier=tier, is_final_sale=False)
            situation: dict[str, str | int] = {DEPARTMENT: department, TIER: tier}
            assert terms.window_days == read_figure(book, book.rule(ONLINE_RETURN), situation)[0]
            assert terms.restocking_percent == read_figure(book, book.rule(RESTOCKING), situation)[0]
            assert set(terms.section_ids) <= book.section_by_id.keys()
            assert terms.is_returnable
    with pytest.raises(KeyError):
        book.return_terms("Nowhere", tier="gold", is_final_sale=False)


def test_figures_are_positive_and_every_condition_matters() -> None:
    assert len(TOPICS) >= 15
    for seed in range(40):
        book = book_of(seed, MOST_CONDITIONS)
        for key, topic in TOPICS.items():
            rule = book.rule(key)
            least = [min(case.steps for case in adjustment.cases if not case.replaces) if any(
                not case.replaces for case in adjustment.cases) else 0 for adjustment in rule.adjustments]  # fmt: skip
            assert topic.low + sum(least) > 0
            assert len(rule.adjustments) == min(MOST_CONDITIONS, len(topic.conditions))
            for adjustment in rule.adjustments:
                effects = {(case.steps, case.replaces) for case in adjustment.cases}
                assert len(effects) > 1


def test_a_book_has_many_sections_figures_and_ids_that_tell_nothing() -> None:
    starts: Counter[str] = Counter()
    for seed in range(30):
        book = book_of(seed, 1)
        sections = book.sections
        assert len(sections) >= 12
        assert len({number for section in sections for number in _AMOUNT.findall(section.text)}) >= LEAST_FIGURES
        assert len({section.id for section in sections}) == len(sections)
        assert not any(mark in section.title + section.text for section in sections for mark in "{}")
        starts.update(section.id[1] for section in sections)
        assert [section.id for section in sections] != sorted(section.id for section in sections)
    assert len(starts) == 16
    assert max(starts.values()) < 3 * min(starts.values())
    assert book_of(1).section_id("warranty") != book_of(2).section_id("warranty")


def test_base_sections_name_their_conditions() -> None:
    assert len(TOPICS) >= 15
    book = book_of(3, 4)
    for key in TOPICS:
        rule = book.rule(key)
        named = labels(book.section_by_id[book.section_id(key)].text)
        assert named == [adjustment.condition.label for adjustment in rule.adjustments]


COMBINING = (
    "Where a section gives another figure instead of the base, that figure takes its place; then all additions and "
    "deductions that fit are made.",
    "A figure given instead of the base replaces it; everything that is added or taken off then applies as well.",
)
COUNTING = (
    "Days are counted from the day of {start}: the last day is the date of {start} plus the whole number of days.",
    "The period runs from the date of {start}, and its last day is that date plus the full number of days.",
)


def test_every_base_says_how_figures_combine_and_from_which_day_a_period_is_counted() -> None:
    combining, counting = Counter[int](), Counter[int]()
    for seed in range(12):
        book = book_of(seed)
        for topic in TOPICS.values():
            text = book.section_by_id[book.governing(topic.key)[0]].text
            said = [number for number, sentence in enumerate(COMBINING) if sentence in text]
            assert len(said) == 1, text
            combining.update(said)
            said = [number for number, form in enumerate(COUNTING) if form.format(start=topic.counted_from) in text]
            assert len(said) == bool(topic.counted_from), text
            assert ("last day" in text) == bool(topic.counted_from)
            counting.update(said)
    assert combining.keys() == counting.keys() == {0, 1}


def test_the_sections_of_conditions_say_neither() -> None:
    read = 0
    for seed in range(4):
        book = book_of(seed)
        for key in TOPICS:
            for section_id in book.governing(key)[1:]:
                text = book.section_by_id[section_id].text
                assert not any(sentence in text for sentence in COMBINING)
                assert "last day" not in text
                read += 1
    assert read > 100


@pytest.mark.parametrize(
    ("amount", "unit", "is_change", "words"),
    [
        (Fraction(1), "percent", False, "1 percent"),
        (Fraction(1), "percent", True, "1 percentage point"),
        (Fraction(62, 5), "percent", False, "12.4 percent"),
        (Fraction(6, 5), "percent", True, "1.2 percentage points"),
        (Fraction(1), "days", True, "1 day"),
        (Fraction(2), "days", True, "2 days"),
        (Fraction(1), "points", False, "1 point"),
        (Fraction(30), "weeks", False, "30 weeks"),
        (Fraction(1), "USD", True, "$1.00"),
        (Fraction(167, 20), "USD", False, "$8.35"),
    ],
)
def test_amounts_in_words(amount: Fraction, unit: str, is_change: bool, words: str) -> None:
    assert spelled(amount, unit, is_change=is_change) == words


def test_what_is_added_to_a_percentage_are_points_and_what_replaces_it_are_percent() -> None:
    """Five percent more than ten percent could be ten and a half."""
    changes = replacements = 0
    for seed in range(20):
        book = book_of(seed)
        for topic in (each for each in TOPICS.values() if each.unit == "percent"):
            rule, (base_id, *others) = book.rule(topic.key), book.governing(topic.key)
            base = book.section_by_id[base_id].text
            assert "percentage point" not in base
            assert f"{spelled(rule.base * topic.step, 'percent')}" in base
            for section_id in others:
                text = book.section_by_id[section_id].text
                name = {each.label: each.name for each in CONDITIONS.values()}[
                    subject(book.section_by_id[section_id].title)[1]
                ]
                (adjustment,) = (each for each in rule.adjustments if each.condition.name == name)
                cases = [case for case in adjustment.cases if case.steps or case.replaces]
                found = len(re.findall(r"percentage points?\b", text)), len(re.findall(r"\bpercent\b", text))
                assert found == ((0, len(cases)) if adjustment.is_replacement else (len(cases), 0)), text
                changes += found[0]
                replacements += found[1]
    assert min(changes, replacements) > 20


@pytest.mark.parametrize("branching", BRANCHINGS)
def test_search_finds_each_governing_section_by_topic_and_condition(branching: int) -> None:
    assert len(TOPICS) >= 15
    for seed in range(6):
        book = book_of(seed, branching)
        for key, topic in TOPICS.items():
            base = book.section_id(key)
            assert base in [section.id for section in ranked_sections(book, topic.title)[: MOST_CONDITIONS + 1]]
            for adjustment in book.rule(key).adjustments:
                found = ranked_sections(book, f"{topic.title} {adjustment.condition.label}")[:5]
                wanted = book.section_id(key, adjustment.condition.name)
                assert wanted in [section.id for section in found], (topic.title, adjustment.condition.label)
            if branching <= 4:
                found = ranked_sections(book, topic.title)[: branching + 3]
                assert set(book.governing(key)) <= {section.id for section in found}


@given(st.text(min_size=1, max_size=400))
def test_search_takes_any_text(query: str) -> None:
    book = book_of(1, 1)
    found = ranked_sections(book, query)
    assert len(set(found)) == len(found)
    assert found == ranked_sections(book, query)


def test_equal_streams_give_equal_books_and_branching_only_adds() -> None:
    for seed in range(10):
        assert book_of(seed).sections == book_of(seed).sections
        for key in TOPICS:
            fewer, more = book_of(seed, 2).rule(key), book_of(seed, 5).rule(key)
            assert fewer.base == more.base
            assert fewer.adjustments == more.adjustments[: len(fewer.adjustments)]
    assert book_of(1).sections != book_of(2).sections


def test_one_department_is_no_condition() -> None:
    book = book_of(1, MOST_CONDITIONS, ("Everything",))
    for key, topic in TOPICS.items():
        names = [adjustment.condition.name for adjustment in book.rule(key).adjustments]
        assert DEPARTMENT not in names
        assert len(names) == min(MOST_CONDITIONS, len(topic.conditions) - (DEPARTMENT in topic.conditions))
    assert book.return_terms("Everything", tier="gold", is_final_sale=False).window_days > 0


def test_many_departments_are_all_covered() -> None:
    departments = tuple(f"Department {number}" for number in range(45))
    book = book_of(1, MOST_CONDITIONS, departments)
    windows = {book.return_terms(name, tier="gold", is_final_sale=False).window_days for name in departments}
    assert len(windows) >= 20


def test_tools_show_and_remember_what_was_read(world_of: Callable[..., World]) -> None:
    world = world_of(4)
    found = TOOLS["policy_search"].run(world, SearchPoliciesArgs(query="store warranty"))["results"]
    assert 0 < len(found) <= 10
    assert found[0].keys() == {"section_id", "title", "snippet"}
    assert not world.sections_read
    read = TOOLS["policy_get"].run(world, GetSectionArgs(section_id=found[0]["section_id"]))
    assert read["title"] == found[0]["title"]
    assert world.sections_read == {found[0]["section_id"]}
    assert TOOLS["policy_search"].run(world, SearchPoliciesArgs(query="zzz"))["results"] == []
    assert world.changes == 0
    assert TOOLS["datetime_now"].run(world, NowArgs())["date"] == world.today.isoformat()


@pytest.mark.parametrize(
    ("tool", "args", "code"),
    [
        ("policy_get", GetSectionArgs(section_id="S0"), DomainCode.UNKNOWN_SECTION),
        ("policy_search", SearchPoliciesArgs(query="  "), DomainCode.EMPTY_QUERY),
    ],
)
def test_tools_refuse_what_is_not_there(world_of: Callable[..., World], tool: str, args: object, code: str) -> None:
    with pytest.raises(DomainError) as refused:
        TOOLS[tool].run(world_of(4), args)
    assert refused.value.code == code
