"""POLICY: one right answer, reachable within the budgets, told only by whoever reads and asks."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from ecom_rlve.client import StepResult
from ecom_rlve.envs.customer.hearing.question_words import with_kinds
from ecom_rlve.envs.customer.hearing.reading import read
from ecom_rlve.envs.customer.hearing.topics import Topics
from ecom_rlve.envs.difficulty import axes_of
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.language.phrases import spellings
from ecom_rlve.envs.language.said import said_acts, with_acts
from ecom_rlve.envs.parts.remembered import spelled_day
from ecom_rlve.envs.policy.book import MOST_CONDITIONS, draw_policy_book
from ecom_rlve.envs.policy.conditions import CONDITIONS, TIERS, Band
from ecom_rlve.envs.policy.topics import TOPICS
from ecom_rlve.envs.tasks.policy_questions.answer import PolicyAnswer, closeness, score
from ecom_rlve.envs.tasks.policy_questions.asking import OPENING, QUESTIONS, Question
from ecom_rlve.envs.tasks.policy_questions.cases import dates_of, draw_situation, posed
from ecom_rlve.envs.tasks.policy_questions.environment import ENVIRONMENT
from ecom_rlve.envs.tasks.policy_questions.facts import kind_of
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agent import Agent, one_at_a_time
from ecom_rlve.evaluation.agents.idle import AnswerAtOnce, AskForever, Decline, InjectPrompt, RepeatCustomer
from ecom_rlve.evaluation.agents.policy_questions.blind import BlindReader
from ecom_rlve.evaluation.statistics import clopper_pearson
from ecom_rlve.models import EpisodeResult, Style, Termination
from ecom_rlve.streams import Streams, stream

LEVELS = (0, 3, 6, 9, 12)
SEEDS = 3000
DEPARTMENTS = ("Beauty", "Clothing", "Electronics", "Home", "Kitchen", "Office & Tools", "Toys")


@pytest.fixture(scope="module")
def begin(shop: Shop) -> Callable[..., Episode]:
    """Return a maker of POLICY episodes: ``begin(difficulty, seed, style=…, p_missing=1.0)``."""

    def begun(difficulty: int, seed: int, style: Style = "turn", **axes: float) -> Episode:
        return Episode(shop, EpisodeSpec("POLICY", difficulty, seed, style=style, axes=tuple(axes.items())), "e")

    return begun


def play(episode: Episode, agent: Agent) -> EpisodeResult:
    """Play an agent to the end."""
    result = StepResult(episode.opening, None, done=False, metadata=with_acts(episode.metadata, episode.acts))
    while not result.done:
        observation = episode.step(agent.act(result))
        result = StepResult(
            observation, observation.reward, observation.done, with_acts(episode.metadata, episode.acts)
        )
    assert result.observation.result is not None
    return result.observation.result


def solve(episode: Episode) -> EpisodeResult:
    """Play the environment's own solution to the end."""
    while True:
        action = one_at_a_time(ENVIRONMENT.solve(episode.intent), episode.spec.style)
        observation = episode.step(action)
        if observation.result is not None:
            return observation.result


def read_all(episode: Episode) -> None:
    """Read every governing section without playing."""
    episode.intent.world.sections_read.update(episode.intent.goal.section_ids)


def submit(episode: Episode, **answer: Any) -> EpisodeResult:
    """Submit an answer."""
    result = episode.step({"answer": {"done": True, **answer}}).result
    assert result is not None
    return result


@pytest.mark.parametrize("style", ["turn", "tool"])
def test_the_oracle_scores_exactly_one(begin: Callable[..., Episode], style: Style) -> None:
    for d in range(21):
        for seed in range(10):
            episode = begin(d, seed, style)
            result = solve(episode)
            assert result.r_task == 1.0
            assert result.is_correct
            assert result.turns <= axes_of(d).t_max


def test_facts_determine_the_answer_and_every_one_is_needed(begin: Callable[..., Episode]) -> None:
    for number in range(520):
        d = number % 13
        intent = begin(d, number).intent
        goal, rule = intent.goal, intent.world.book.rule(intent.goal.question.topic)
        situation = dict(goal.situation)
        assert len(situation) == axes_of(d).b_branch
        assert tuple(slot.name for slot in intent.slots) == tuple(situation)
        assert goal.section_ids == intent.world.book.governing(rule.topic.key)
        figure = rule.figure(situation)
        for adjustment in rule.adjustments:
            name = adjustment.condition.name
            values = [case.value.least if isinstance(case.value, Band) else case.value for case in adjustment.cases]
            assert {rule.figure({**situation, name: value}) for value in values} - {figure}


def test_the_customers_tier_is_the_one_they_order_with(begin: Callable[..., Episode]) -> None:
    told = [
        (dict(intent.goal.situation)["membership_tier"], intent.world.tier)
        for intent in (begin(9, seed).intent for seed in range(40))
        if "membership_tier" in dict(intent.goal.situation)
    ]
    assert told
    assert all(said == tier for said, tier in told)


def test_every_fact_can_be_had_by_asking_for_it(begin: Callable[..., Episode]) -> None:
    seen: set[str] = set()
    for seed in range(120):
        episode = begin(9, seed, p_missing=1.0, p_noise=0.0)
        for slot in episode.intent.slots:
            assert slot.fact.kind is not None
            seen.add(slot.name)
            reply = episode.step({"assistant_message": f"What is the {slot.fact.kind.label}?"}).user_message
            assert spellings(slot.fact)[0].casefold() in reply.casefold()
        assert episode.customer_caused == -(-len(episode.intent.slots) // 3)
    assert seen == set(CONDITIONS)


@pytest.mark.parametrize("name", CONDITIONS)
def test_every_name_of_a_fact_asks_for_it_and_nothing_else_of_the_customer(name: str) -> None:
    kinds = tuple(kind_of(condition, DEPARTMENTS) for condition in CONDITIONS)
    topics = Topics((("inquiry", "inquiries"),), {}, {}, with_kinds(kinds))
    kind = kind_of(name, DEPARTMENTS)
    for word in (kind.label, *kind.words):
        asked = read(f"And what about this: {word}?", topics).asked
        assert [attribute for _, attribute in asked] == [name], word


def test_no_message_tells_an_unsaid_fact(begin: Callable[..., Episode]) -> None:
    unsaid = 0
    for seed in range(60):
        for d in (0, 9):
            episode = begin(d, seed, p_missing=1.0, p_noise=0.0)
            told = list(episode.utterances)
            for action in (
                {"answer": {"done": False, "value": 30, "unit": "days"}},
                {"assistant_message": "I have checked everything, it is done."},
            ):
                episode.step(action)
                told += episode.utterances
            text = " ".join(each.template_text for each in told)
            frames = " ".join(frame for each in told for frame in each.frames)
            assert not [fact for each in told for act in each.acts for m in act.mentions for fact in m.facts]
            for slot in episode.intent.slots:
                value = spellings(slot.fact)[0]
                # A word of a sentence around the facts ("I have a bit of business with you") tells nothing.
                assert value not in text or value in frames, text
                unsaid += 1
    assert unsaid >= 250


def test_no_opening_of_its_own_names_a_value() -> None:
    """A customer who "looked on your website" would seem to say where it was bought."""
    values = {value for name in CONDITIONS for value in kind_of(name, DEPARTMENTS).values}
    texts = [text for texts in OPENING.lists.values() for text in texts]
    assert len(texts) >= 200
    for text in texts:
        assert not [value for value in values if re.search(rf"(?<![\w-]){re.escape(value)}(?![\w-])", text)], text


@pytest.mark.nightly
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.key)
def test_no_answer_to_a_template_is_right_more_often_than_one_time_in_a_hundred(question: Question) -> None:
    topic = TOPICS[question.topic]
    # A uniform base plus anything drawn apart from it has no likelier value than the base has.
    assert topic.high - topic.low >= 120 or question.form == "share"
    truths: Counter[Fraction | date] = Counter()
    for seed in range(SEEDS):
        streams = Streams("spread", seed)
        # With one condition the figures spread least.
        book = draw_policy_book(streams, DEPARTMENTS, branching=1)
        today = date(2025, 1, 1) + timedelta(days=seed % 365)
        rule, dates = book.rule(question.topic), dates_of(question, today)
        situation = draw_situation(rule, TIERS[seed % 4], streams.stream("situation"), dates)
        truths[posed(book, question, situation, today, streams.stream("asking")).truth] += 1
    least, _ = clopper_pearson(max(truths.values()), SEEDS, 1 - 0.05 / len(truths))
    assert least <= 0.01
    assert max(truths.values()) <= 0.012 * SEEDS


MONTHS_OF = {"spring sale": (3, 4, 5), "summer sale": (6, 7, 8), "holiday sale": (11, 12)}


def test_a_date_and_its_season_agree(begin: Callable[..., Episode]) -> None:
    """What was bought on 9 October was not bought in the summer sale."""
    seasons = Counter[str]()
    for seed in range(1500):
        goal = begin(18, seed).intent.goal
        season, said = dict(goal.situation).get("season"), dict(goal.says)
        if season is not None and goal.question.form == "deadline":
            day = date.fromisoformat(said["date"])
            assert day.month in MONTHS_OF.get(str(season), range(1, 13)), (day, season)
            seasons[str(season)] += 1
    assert seasons.keys() == {*MONTHS_OF, "regular season"}
    assert min(seasons.values()) > 5


def test_facts_of_one_purchase_do_not_contradict_each_other(begin: Callable[..., Episode]) -> None:
    told = Counter[str]()
    for seed in range(1500):
        goal = begin(18, seed).intent.goal
        facts = dict(goal.situation)
        told.update(f"{name}: {value}" for name, value in facts.items())
        assert (facts.get("item_condition"), facts.get("reason")) != ("sealed", "manufacturing defect")
        assert goal.question.topic != "shop_return" or facts.get("reason") != "late arrival"
    for trait in ("item_condition: sealed", "reason: manufacturing defect", "reason: late arrival"):
        assert told[trait] > 10, trait


@pytest.mark.slow
def test_templates_are_drawn_evenly_and_many(begin: Callable[..., Episode]) -> None:
    drawn = Counter(begin(0, seed).intent.goal.question.key for seed in range(1000))
    assert len(drawn) == len(QUESTIONS)
    assert min(drawn.values()) > 1000 / len(QUESTIONS) / 3


# ---- the reward


@given(
    st.fractions(min_value=-1000, max_value=1000, max_denominator=100),
    st.fractions(min_value=-1000, max_value=1000, max_denominator=100),
)
def test_closeness_is_symmetric_and_one_only_for_equals(given_number: Fraction, truth: Fraction) -> None:
    found = closeness(given_number, truth)
    assert -1 <= found <= 1
    assert found == closeness(truth, given_number)
    assert (found == 1) == (given_number == truth)


def answer(**fields: Any) -> PolicyAnswer:
    """Return a final answer."""
    return PolicyAnswer.model_validate({"done": True, **fields})


@pytest.mark.parametrize(
    ("fields", "truth", "unit", "expected"),
    [
        ({"value": 45, "unit": "days"}, Fraction(45), "days", Fraction(1)),
        ({"value": 45.0, "unit": " Day "}, Fraction(45), "days", Fraction(1)),
        ({"value": 12.4, "unit": "%"}, Fraction(62, 5), "percent", Fraction(1)),
        ({"value": 8.35, "unit": "$"}, Fraction(167, 20), "USD", Fraction(1)),
        ({"value": 8.35, "unit": "Dollars"}, Fraction(167, 20), "USD", Fraction(1)),
        ({"value": 90, "unit": "days"}, Fraction(45), "days", Fraction(-7, 8)),
        ({"value": -45, "unit": "days"}, Fraction(45), "days", Fraction(-1)),
        ({"value": 0, "unit": "days"}, Fraction(0), "days", Fraction(1)),
        ({"value": 0, "unit": "days"}, Fraction(45), "days", Fraction(-1)),
        ({"value": 45, "unit": "weeks"}, Fraction(45), "days", Fraction(-1)),
        ({"value": 45, "unit": "fortnights"}, Fraction(45), "days", Fraction(-1)),
        ({"value": 45}, Fraction(45), "days", Fraction(-1)),
        ({"unit": "days"}, Fraction(45), "days", Fraction(-1)),
        ({}, Fraction(45), "days", Fraction(-1)),
        ({"value": "2025-03-04", "unit": "days"}, Fraction(45), "days", Fraction(-1)),
        ({"value": "2025-03-04", "unit": "date"}, date(2025, 3, 4), "date", Fraction(1)),
        ({"value": "2025-03-04"}, date(2025, 3, 4), "date", Fraction(1)),
        ({"value": "2025-03-04", "unit": "days"}, date(2025, 3, 4), "date", Fraction(-1)),
        ({"value": "2025-03-05", "unit": "date"}, date(2025, 3, 4), "date", Fraction(-1)),
        ({"value": 45, "unit": "date"}, date(2025, 3, 4), "date", Fraction(-1)),
        ({"value": "45", "unit": "days"}, Fraction(45), "days", Fraction(1)),
        ({"value": " 12.40 ", "unit": "%"}, Fraction(62, 5), "percent", Fraction(1)),
        ({"value": "20250304", "unit": "date"}, date(2025, 3, 4), "date", Fraction(-1)),
    ],
)
def test_answers_are_scored_by_value_and_unit(
    fields: dict[str, Any], truth: Fraction | date, unit: str, expected: Fraction
) -> None:
    assert score(answer(**fields), truth, unit) == expected


@pytest.mark.parametrize(
    "fields",
    [
        {"value": "30 or 60 days", "unit": "days"},
        {"value": "45 days", "unit": "days"},
        {"value": "1,000", "unit": "points"},
        {"value": "1e300", "unit": "days"},
        {"value": "2025-02-30", "unit": "date"},
        {"value": "2025-W10-2", "unit": "date"},
        {"value": [30, 60], "unit": "days"},
        {"value": True, "unit": "days"},
        {"value": math.nan, "unit": "days"},
        {"value": math.inf, "unit": "days"},
        {"value": 10**400, "unit": "days"},
        {"value": 1e300, "unit": "days"},
        {"value": 45, "unit": "d" * 33},
        {"value": 45, "unit": 3},
        {"value": 45, "unit": "days", "values": [45]},
    ],
)
def test_what_is_no_number_or_date_breaks_the_format(begin: Callable[..., Episode], fields: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        answer(**fields)
    result = submit(begin(3, 1), **fields)
    assert result.termination is Termination.FORMAT_FAILURE
    assert result.r_total == -1.0


def test_the_answer_schema_states_both_types() -> None:
    schema = ENVIRONMENT.about.answer_schema
    assert schema["properties"]["value"]["type"] == ["number", "string"]
    assert schema["required"] == ["done"]


def test_an_answer_counts_only_if_every_governing_section_was_read(begin: Callable[..., Episode]) -> None:
    for seed in range(30):
        truth = begin(6, seed).goal_json()
        right = {"value": truth["value"], "unit": truth["unit"]}
        assert submit(begin(6, seed), **right).r_task == -1.0
        for missing in truth["section_ids"]:
            episode = begin(6, seed)
            read_all(episode)
            episode.intent.world.sections_read.remove(missing)
            assert submit(episode, **right).r_task == -1.0
        episode = begin(6, seed)
        read_all(episode)
        assert submit(episode, **right).is_correct


def test_near_answers_earn_part_of_the_reward_and_are_not_correct(begin: Callable[..., Episode]) -> None:
    for seed in range(30):
        episode = begin(3, seed)
        read_all(episode)
        truth = episode.goal_json()
        if truth["unit"] == "date":
            continue
        result = submit(episode, value=truth["value"] * 1.1, unit=truth["unit"])
        assert 0 < result.r_task < 1
        assert not result.is_correct


def test_an_episode_without_an_answer_forfeits(begin: Callable[..., Episode]) -> None:
    episode = begin(0, 3)
    read_all(episode)
    while not episode.done:
        observation = episode.step({})
    assert observation.result is not None
    assert observation.result.termination is Termination.TURN_BUDGET
    assert observation.result.r_task == -1.0


# ---- the axes


def test_axis_omission(begin: Callable[..., Episode]) -> None:
    shares = []
    for d in LEVELS:
        left_out = total = 0
        for seed in range(150):
            episode = begin(d, seed, p_noise=0.0)
            facts = [slot.fact for slot in episode.intent.slots]
            total += len(facts)
            left_out += sum(spellings(fact)[0].casefold() not in _after_question(episode) for fact in facts)
        expected = axes_of(d).p_missing
        assert abs(left_out / total - expected) <= max(0.1 * expected, 3 * math.sqrt(expected * (1 - expected) / total))
        shares.append(left_out / total)
    assert shares == sorted(shares)


def _after_question(episode: Episode) -> str:
    """Return what the opening says beside the question."""
    return episode.opening.user_message.replace(episode.intent.goal.asked, "").casefold()


def test_axis_branching_adds_conditions_and_moves_nothing_else(begin: Callable[..., Episode]) -> None:
    for seed in range(40):
        for b_branch in (1, 2, 3, 5, 7):
            intent = begin(6, seed, b_branch=b_branch).intent
            assert len(intent.goal.section_ids) == b_branch + 1
        fewer, more = (begin(6, seed, b_branch=b_branch).intent.goal for b_branch in (3, 4))
        if fewer.question == more.question:
            assert dict(fewer.situation).items() <= dict(more.situation).items()
            assert fewer.asked == more.asked
    assert len(begin(6, 1, b_branch=1000).intent.slots) >= MOST_CONDITIONS


@pytest.mark.parametrize("axes", [{"p_missing": 0.9}, {"p_noise": 0.1}, {"t_max": 20}, {"b_tool": 1}])
def test_other_axes_leave_the_goal_alone(begin: Callable[..., Episode], axes: dict[str, float]) -> None:
    for seed in range(20):
        assert begin(6, seed, **axes).intent.goal == begin(6, seed).intent.goal


def test_axis_noise_touches_more_words(begin: Callable[..., Episode]) -> None:
    def changed(p_noise: float) -> int:
        pairs = [(begin(9, seed, p_noise=p_noise), begin(9, seed, p_noise=0.0)) for seed in range(60)]
        return sum(
            a != b
            for noisy, clean in pairs
            for a, b in zip(noisy.opening.user_message.split(), clean.opening.user_message.split(), strict=False)
        )

    counts = [changed(p_noise) for p_noise in (0.0, 0.03, 0.06, 0.12)]
    assert counts[0] == 0
    assert counts == sorted(set(counts))


def test_noise_leaves_dates_and_sums_alone(begin: Callable[..., Episode]) -> None:
    for seed in range(150):
        episode = begin(12, seed, p_noise=1.0, p_missing=0.0)
        assert episode.intent.goal.given in episode.opening.user_message
        for slot in episode.intent.slots:
            if slot.name == "order_amount":
                assert slot.fact.spelled in episode.opening.user_message


def test_axis_turns_and_tool_budget(begin: Callable[..., Episode]) -> None:
    for d in LEVELS:
        opening = begin(d, 1).opening
        assert (opening.max_turns, opening.tool_budget) == (axes_of(d).t_max, axes_of(d).b_tool)


# ---- other agents


def test_equal_specs_are_equal_episodes(begin: Callable[..., Episode]) -> None:
    for seed in range(10):
        assert begin(9, seed).opening == begin(9, seed).opening
        actions: list[dict[str, Any]] = [
            {"tool_calls": [{"name": "policy_search", "args": {"query": "delivery fee membership tier"}}]},
            {"assistant_message": "What is the membership tier, and which payment method was it?"},
        ]
        first, second = begin(9, seed), begin(9, seed)
        assert [first.step(action) for action in actions] == [second.step(action) for action in actions]


@pytest.mark.parametrize(
    "make",
    [
        AnswerAtOnce,
        Decline,
        AskForever,
        RepeatCustomer,
        InjectPrompt,
        lambda: BlindReader(None),
        lambda: BlindReader(stream(0, "blind")),
    ],
)
def test_who_does_not_do_the_job_is_never_correct(begin: Callable[..., Episode], make: Callable[[], Agent]) -> None:
    correct = sum(play(begin(d, seed), make()).is_correct for d in LEVELS for seed in range(12))
    assert correct == 0


def test_reading_the_whole_book_and_picking_a_figure_is_no_way(begin: Callable[..., Episode]) -> None:
    correct = played = 0
    for seed in range(120):
        episode = begin(0, seed, t_max=60, b_tool=8)
        correct += play(episode, BlindReader(stream(seed, "picks"))).is_correct
        played += episode.intent.world.sections_read.issuperset(episode.intent.goal.section_ids)
    assert played > 60
    assert correct <= 2


def test_the_question_is_disclosed_as_it_is_asked(begin: Callable[..., Episode]) -> None:
    forms = set()
    for seed in range(60):
        episode = begin(3, seed, p_noise=0.0)
        said, goal, text = said_acts(episode.acts)[0].says, episode.intent.goal, episode.opening.user_message
        forms.add(said["form"])
        assert (said["topic"], said["form"]) == (TOPICS[goal.question.topic].title, goal.question.form)
        assert ("date" in said, "money" in said) == (said["form"] == "deadline", said["form"] == "share")
        if "date" in said:
            day = date.fromisoformat(said["date"])
            assert f"{spelled_day(day)} {day.year}" in text
        if "money" in said:
            assert f"${int(said['money']) // 100}" in text
    assert forms == {"figure", "deadline", "share"}


def test_a_proposal_gets_no_judgement(begin: Callable[..., Episode]) -> None:
    for seed in range(10):
        replies = set()
        truth = begin(0, seed).goal_json()
        for value, unit in ((truth["value"], truth["unit"]), (1, "hours")):
            episode = begin(0, seed)
            read_all(episode)
            replies.add(episode.step({"answer": {"done": False, "value": value, "unit": unit}}).user_message)
        assert len(replies) == 1


def test_every_opening_sentence_can_be_said(begin: Callable[..., Episode]) -> None:
    ask = partial(begin, p_noise=0.0)
    for seed in range(300):
        episode = ask(0, seed)
        text = episode.opening.user_message
        assert episode.intent.goal.asked.casefold() in text.casefold()
        assert not set("{}%") & set(text)
