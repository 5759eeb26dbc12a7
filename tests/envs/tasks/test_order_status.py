"""STATUS against the contract (SPEC §3, §4, §6): identifiable, solvable, drawn as stated, scored exactly."""

from __future__ import annotations

from collections import Counter
from datetime import date
from math import exp, sqrt
from typing import Any

import pytest
from scipy.stats import chisquare

from ecom_rlve.client import StepResult
from ecom_rlve.envs.customer.customer import Customer
from ecom_rlve.envs.difficulty import axes_of
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import ActKind
from ecom_rlve.envs.language.phrases import spellings
from ecom_rlve.envs.language.said import said_acts, with_acts
from ecom_rlve.envs.parts.remembered import MONTHS, spelled_money
from ecom_rlve.envs.tasks.order_status.environment import ENVIRONMENT as STATUS
from ecom_rlve.envs.tasks.order_status.environment import StatusAnswer
from ecom_rlve.envs.tasks.order_status.goal import StatusGoal
from ecom_rlve.envs.tools.registry import TOOLS
from ecom_rlve.envs.world.orders import OrderStatus
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.evaluation.agent import Agent, one_at_a_time
from ecom_rlve.evaluation.agents.idle import AnswerAtOnce, AskForever, InjectPrompt, RepeatCustomer, SayNothing
from ecom_rlve.evaluation.agents.order_status.blind import BlindOrder
from ecom_rlve.evaluation.agents.order_status.expert import StatusExpert
from ecom_rlve.evaluation.agents.order_status.lazy import GuessesDelivered
from ecom_rlve.models import EpisodeResult, Split, Style
from ecom_rlve.streams import Streams, stream

LEVELS = (0, 3, 6, 9, 12)
SEEDS = 120


@pytest.fixture(scope="module")
def store(wide_shop: Shop) -> Shop:
    return wide_shop


def draw(store: Shop, d: int, seed: int, split: Split = "train") -> tuple[Intent[StatusGoal], Streams]:
    streams = Streams("episode", "STATUS", split, seed)
    (intent,) = STATUS.draw(World(store, axes_of(d), streams, split), streams).intents
    return intent, streams


def start(store: Shop, d: int = 0, seed: int = 0, style: Style = "turn", **axes: float) -> Episode:
    return Episode(store, EpisodeSpec("STATUS", d, seed, style=style, axes=tuple(axes.items())), "status")


def run(intent: Intent[StatusGoal], name: str, **args: Any) -> dict[str, Any]:
    tool = TOOLS[name]
    return tool.run(intent.world, tool.args.model_validate(args))


def play(episode: Episode, agent: Agent) -> EpisodeResult:
    step = StepResult(episode.opening, None, False, with_acts(episode.metadata, episode.acts))
    while not step.done:
        seen = episode.step(agent.act(step))
        step = StepResult(seen, seen.reward, seen.done, with_acts(episode.metadata, episode.acts))
    assert step.observation.result is not None
    return step.observation.result


class Solver:
    """Plays the environment's own solution."""

    def __init__(self, episode: Episode) -> None:
        self._episode = episode

    def act(self, result: StepResult) -> dict[str, Any]:
        return one_at_a_time(STATUS.solve(self._episode.intent), result.metadata.style)


def right_answer(intent: Intent[StatusGoal], **changes: Any) -> dict[str, Any]:
    answer = STATUS.solve(intent)["answer"]
    return {**answer, **changes}


# --- Identifiability --------------------------------------------------------------------------------------------------


def is_told(slot: Slot, listed: dict[str, Any], kinds: set[str]) -> bool:
    """Tell whether what a slot says is true of an order as the tools show it; ``kinds`` are those of its products."""
    value = slot.fact.constraint.value
    if slot.name == "order_date":
        return bool(date.fromisoformat(listed["date"]).toordinal() == value)
    if slot.name == "order_total":
        return bool(round(listed["total"] * 100) == value)
    return str(value) in kinds


def left_over(intent: Intent[StatusGoal]) -> list[str]:
    """Return the orders of which all is true that the customer says and can tell, read off the tools' results."""
    catalog, reference = intent.world.shop.catalog, intent.goal.reference
    left = []
    for listed, order in zip(run(intent, "order_list", limit=50)["orders"], intent.world.orders, strict=False):
        nouns = (catalog.category_of(line.row).singular for line in order.lines)
        kinds = {f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}" for noun in nouns}
        named = dict(reference.places)
        if "title" in named and named["title"] not in listed["titles"]:
            continue
        month = f"{date.fromisoformat(listed['date']):%B}"
        if reference.form == "indirect" and named.get("date", month) != month:
            continue
        if all(is_told(slot, listed, kinds) for slot in intent.slots if not slot.is_on_request):
            left.append(listed["order_id"])
    return left


@pytest.mark.parametrize("d", LEVELS)
def test_words_and_what_is_told_single_out_one_order(store: Shop, d: int) -> None:
    for seed in range(SEEDS):
        intent, _ = draw(store, d, seed)
        assert left_over(intent) == [intent.goal.order.order_id], seed


def test_no_fact_that_the_customer_remembers_could_be_spared(store: Shop) -> None:
    spared = 0
    for seed in range(100):
        intent, _ = draw(store, 6, seed)
        slots = intent.slots
        for slot in slots[:-1]:
            intent.slots = tuple(other for other in slots if other is not slot)
            assert (len(left_over(intent)) > 1) == (not slot.is_on_request)
            spared += 1
        intent.slots = slots
    assert spared >= 80


def test_kinds_of_facts_are_told_or_not_remembered(store: Shop) -> None:
    for seed in range(100):
        intent, _ = draw(store, 3, seed)
        told = {slot.name for slot in intent.slots}
        forgotten = {kind.name for kind in intent.unknown}
        assert not told & forgotten
        assert (told | forgotten) - {"items_ordered", "other_items"} == {"order_date", "order_total"}


def things(intent: Intent[StatusGoal]) -> list[str]:
    return [store_noun(intent, line.row) for line in intent.goal.order.lines]


def store_noun(intent: Intent[StatusGoal], row: int) -> str:
    return intent.world.shop.catalog.category_of(row).singular


def test_everything_in_the_order_can_be_named(store: Shop) -> None:
    told_later = 0
    for seed in range(100):
        intent, _ = draw(store, 6, seed)
        named = [
            slot.fact.constraint.value for slot in intent.slots if slot.fact.constraint.attribute == "items_ordered"
        ]
        assert sorted(str(noun).split(" ", 1)[1] for noun in named) == sorted(things(intent))
        told_later += sum(slot.is_on_request for slot in intent.slots)
        opened = Customer(intent).open()[0].mentions[0].facts
        assert not any(slot.fact in opened for slot in intent.slots if slot.is_on_request)
    assert told_later > 50


# --- Shares of section 3 ----------------------------------------------------------------------------------------------


def is_near(measured: float, stated: float, trials: int) -> bool:
    return abs(measured - stated) <= max(0.1 * stated, 3 * sqrt(stated * (1 - stated) / trials))


@pytest.mark.parametrize("d", LEVELS)
def test_measured_shares_are_those_of_the_contract(store: Shop, d: int) -> None:
    indirect = left_out = free = 0
    forms: Counter[str] = Counter()
    for seed in range(400):
        intent, _streams = draw(store, d, seed)
        assert len(intent.world.orders) == 12 + 2 * d
        assert intent.redraws == 0
        forms[intent.goal.reference.form] += 1
        indirect += intent.goal.reference.form == "indirect"
        left_out += Customer(intent).left_out
        free += sum(not slot.is_on_request for slot in intent.slots) - 1
    assert is_near(indirect / 400, 1 / (1 + exp(-(d - 2) / 1.5)), 400)
    assert is_near(left_out / free, 0.8 / (1 + exp(-(d - 3.5) / 1.3)), free)
    direct = [forms[form] for form in ("day", "total", "title")]
    if sum(direct) > 60:
        assert chisquare(direct).pvalue > 0.001


@pytest.mark.parametrize("d", [*LEVELS, 20])
def test_at_most_half_of_the_orders_meant_have_arrived(store: Shop, d: int) -> None:
    count = 300
    statuses = Counter(draw(store, d, seed)[0].goal.order.status for seed in range(count))
    assert is_near(statuses[OrderStatus.DELIVERED] / count, 0.5, count)
    assert set(statuses) == set(OrderStatus)


@pytest.mark.slow
def test_the_target_is_uniform_over_places_and_statuses(store: Shop) -> None:
    places: Counter[int] = Counter()
    statuses, expected = Counter[OrderStatus](), Counter[OrderStatus]()
    for seed in range(600):
        intent, _ = draw(store, 0, seed)
        orders = intent.world.orders
        places[orders.index(intent.goal.order)] += 1
        statuses[intent.goal.order.status] += 1
        for order in orders:
            expected[order.status] += 1 / len(orders)  # type: ignore[assignment]  # a Counter of expectations, which are fractions
    assert chisquare([places[at] for at in range(12)]).pvalue > 0.001
    found = [statuses[status] for status in OrderStatus]
    assert chisquare(found, [expected[status] for status in OrderStatus]).pvalue > 0.001


def _facts_said(episode: Episode) -> int:
    intent = episode.intent
    return sum(not slot.is_on_request for slot in intent.slots) - 1 - Customer(intent).left_out


def test_axes_move_only_their_own_thing(store: Shop) -> None:
    first = start(store, 6, 3)
    for axes in ({"p_missing": 0.0}, {"p_noise": 0.0}, {"b_tool": 1}, {"t_max": 12}):
        moved = start(store, 6, 3, **axes)
        assert moved.goal_json() == first.goal_json()
        assert moved.intent.world.orders == first.intent.world.orders
    said = [sum(_facts_said(start(store, 6, seed, p_missing=share)) for seed in range(30)) for share in (1.0, 0.5, 0.0)]
    assert said[0] == 0 < said[1] < said[2]
    assert start(store, 6, 3, t_max=12).opening.turns_left == 12
    assert start(store, 6, 3, b_tool=1).opening.tool_calls_left == 1
    assert len(start(store, 6, 3, h_orders=30).intent.world.orders) == 30


# --- Solvability ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", ["turn", "tool"])
@pytest.mark.every_difficulty
@pytest.mark.parametrize("d", range(21))
def test_who_knows_the_goal_scores_exactly_one(store: Shop, style: Style, d: int) -> None:
    for seed in range(10):
        episode = start(store, d, seed, style)
        result = play(episode, Solver(episode))
        assert (result.r_task, result.is_correct, result.r_hall) == (1.0, True, 0.0), seed
        assert result.effective_turns <= episode.axes.t_max


def test_splits_draw_different_orders(store: Shop) -> None:
    for split in ("train", "eval", "test"):
        for seed in range(10):
            episode = Episode(store, EpisodeSpec("STATUS", 9, seed, split), "x")
            assert play(episode, Solver(episode)).is_correct
    assert draw(store, 6, 1, "eval")[0].goal.order != draw(store, 6, 1)[0].goal.order


# --- Reward -----------------------------------------------------------------------------------------------------------


def judged(intent: Intent[StatusGoal], **changes: Any) -> tuple[float, bool]:
    verdict = STATUS.verify(intent, StatusAnswer.model_validate(right_answer(intent, **changes)))
    assert verdict.output_ids == ()
    return float(verdict.r_task), verdict.correct


def scenario_where(store: Shop, *, wants_arrival: bool, status: str = "delivered") -> Intent[StatusGoal]:
    for seed in range(500):
        intent, _ = draw(store, 0, seed)
        if intent.goal.wants_arrival == wants_arrival and intent.goal.order.status == status:
            return intent
    raise AssertionError("no such order among 500 seeds")


ORDER_ALONE = -0.5
"""What the right order is worth without the facts: 2·¼ - 1. A guess is nothing to rest on (SPEC §6)."""


def test_scores_of_answers(store: Shop) -> None:
    intent = scenario_where(store, wants_arrival=True)
    assert judged(intent) == (ORDER_ALONE, False), "facts count only if a result showed them"
    other = next(order for order in intent.world.orders if order is not intent.goal.order)
    run(intent, "order_get", order_id=other.order_id)
    run(intent, "order_list", limit=50)
    assert judged(intent) == (ORDER_ALONE, False), "neither the list nor another order shows anything of this one"
    run(intent, "order_get", order_id=intent.goal.order.order_id)
    assert judged(intent) == (1.0, True)
    for wrong in ({"order_status": "shipped"}, {"order_status": None}, {"eta_date": "2024-01-01"}, {"eta_date": None}):
        assert judged(intent, **wrong) == (ORDER_ALONE, False)
    for order_id in (other.order_id, None, "", "nope"):
        assert judged(intent, selected_order_id=order_id) == (-1.0, False)
    assert STATUS.verify(intent, None).r_task == -1


def test_facts_of_another_order_are_worth_nothing(store: Shop) -> None:
    """Not even where they are the same as those of the order that is meant."""
    intent = scenario_where(store, wants_arrival=False)
    goal = intent.goal.order
    twin = next(order for order in intent.world.orders if order is not goal and order.status is goal.status)
    for order in (goal, twin):
        run(intent, "order_get", order_id=order.order_id)
    assert judged(intent, selected_order_id=twin.order_id) == (-1.0, False)


def test_who_guesses_that_it_was_delivered_is_paid_less_than_nothing(store: Shop) -> None:
    results = [play(start(store, 0, seed), GuessesDelivered()) for seed in range(40)]
    assert {result.r_task for result in results} == {ORDER_ALONE}
    assert {result.r_eff for result in results} == {-1.0}


def test_a_date_counts_only_where_it_was_asked_for(store: Shop) -> None:
    intent = scenario_where(store, wants_arrival=False)
    run(intent, "order_get", order_id=intent.goal.order.order_id)
    for eta in (None, "2024-01-01", "soon"):
        assert judged(intent, eta_date=eta) == (1.0, True)


def test_a_cancelled_order_never_arrives(store: Shop) -> None:
    intent = scenario_where(store, wants_arrival=True, status="cancelled")
    run(intent, "order_get", order_id=intent.goal.order.order_id)
    assert "eta_date" not in right_answer(intent)
    assert judged(intent) == (1.0, True)
    assert judged(intent, eta_date=intent.world.today.isoformat()) == (ORDER_ALONE, False)


@pytest.mark.parametrize(
    "answer",
    [
        {"done": True, "order_status": "lost"},
        {"done": True, "order_status": 3},
        {"done": True, "eta_date": 20250101},
        {"done": True, "eta_date": "2025-01-01" * 100},
        {"done": True, "selected_order_id": "x" * 65},
        {"done": True, "selected_order_id": 1e308},
        {"done": True, "recommended_product_ids": []},
        {"done": "yes"},
    ],
)
def test_malformed_answers_are_format_failures(store: Shop, answer: dict[str, Any]) -> None:
    seen = start(store).step({"answer": answer})
    assert seen.result is not None
    assert (seen.result.termination, seen.result.r_total) == ("format_failure", -1.0)


# --- The customer -----------------------------------------------------------------------------------------------------


def said_by(text: str, slot: Slot) -> bool:
    return any(f" {spelled.casefold()} " in f" {_plain(text)} " for spelled in spellings(slot.fact))


def _plain(text: str) -> str:
    return " ".join(
        text.casefold().replace(",", " ").replace("!", " ").replace(";", " ").replace(". ", " ").split()
    ).strip(".?")


def test_the_opening_says_what_is_said_and_no_unsaid_value(store: Shop) -> None:
    for seed in range(150):
        d = LEVELS[seed % 5]
        intent, _streams = draw(store, d, seed)
        customer = Customer(intent)
        act = customer.open()[0]
        told = {fact for mention in act.mentions for fact in mention.facts}
        episode = start(store, d, seed, p_noise=0)
        text = episode.opening.user_message
        assert intent.goal.order.order_id not in text
        for slot in intent.slots:
            if not slot.is_essential:
                assert said_by(text, slot) == (slot.fact in told), (text, slot.fact)
        assert all(passage in text for _, passage in intent.goal.reference.places)


def test_every_fact_can_be_had_by_asking_and_what_is_forgotten_is_said_to_be(store: Shop) -> None:
    question = "On which date did you place the order, what was the order total, and which other items were in it?"
    told = forgotten = 0
    for seed in range(60):
        episode = start(store, 9, seed, p_missing=1.0, p_noise=0)
        slots = [slot for slot in episode.intent.slots if not slot.is_essential]
        heard, not_known = "", set()
        for _ in range(2):
            heard += f" {episode.step({'assistant_message': question}).user_message}"
            not_known |= {name for act in episode.acts if act.kind is ActKind.DONT_KNOW for name in act.attributes}
        assert all(said_by(heard, slot) for slot in slots), (heard, slots)
        assert not_known == {kind.name for kind in episode.intent.unknown}
        told, forgotten = told + len(slots), forgotten + len(episode.intent.unknown)
    assert min(told, forgotten) >= 50


ELSE = "What else was in that order?"


@pytest.mark.parametrize("p_missing", [0.0, 1.0])
@pytest.mark.parametrize("d", [0, 9])
def test_what_else_was_in_it_names_another_thing_or_nothing(store: Shop, d: int, p_missing: float) -> None:
    """Never what was said before: not in the first message, nor in the answer to the same question."""
    outcomes = Counter[str]()
    for seed in range(80):
        episode = start(store, d, seed, p_missing=p_missing, p_noise=0)
        said = {noun for noun in things(episode.intent) if noun in episode.opening.user_message}
        if episode.intent.goal.reference.form == "title":
            said.add(str(episode.intent.slots[-1].fact.constraint.value).split(" ", 1)[1])
        rest = set(things(episode.intent)) - said
        for _ in range(3):
            reply = episode.step({"assistant_message": ELSE}).user_message
            named = {noun for noun in things(episode.intent) if f" {noun} " in f" {_plain(reply)} "}
            assert named <= rest, (reply, said)
            assert bool(named) == bool(rest), (reply, rest)
            assert ("nothing else" in reply.casefold()) == (not rest), reply
            outcomes["more" if named else "none"] += 1
            rest -= named
    assert min(outcomes["more"], outcomes["none"]) > 20


def test_word_that_nothing_else_was_in_it_excuses_no_turn_and_tires_when_repeated(store: Shop) -> None:
    seed = next(seed for seed in range(200) if len(draw(store, 6, seed)[0].goal.order.lines) == 1)
    episode = start(store, 6, seed, p_missing=0.0, p_noise=0)
    if things(episode.intent)[0] not in episode.opening.user_message:
        episode.step({"assistant_message": ELSE})
    before = episode.customer_caused
    for _ in range(4):
        seen = episode.step({"assistant_message": ELSE})
    assert episode.customer_caused == before
    assert seen.result is not None
    assert seen.result.termination == "customer_left"


def test_what_was_in_it_is_told_whether_it_was_said_or_not(store: Shop) -> None:
    asked = 0
    for seed in range(40):
        episode = start(store, 0, seed, p_missing=0.0, p_noise=0)
        nouns = things(episode.intent)
        if len(nouns) <= 3:
            asked += 1
            heard = " ".join(episode.step({"assistant_message": "What was in the order?"}).user_message for _ in (1, 2))
            assert all(noun in heard for noun in nouns), (heard, nouns)
    assert asked > 10


def test_what_the_opening_said_is_told_again(store: Shop) -> None:
    questions = {"order_date": "When did you order?", "order_total": "What was the order total?"}
    again = 0
    for seed in range(60):
        episode = start(store, 0, seed, p_missing=0, p_noise=0)
        essential = episode.intent.slots[-1]
        if essential.name in questions:
            assert said_by(episode.step({"assistant_message": questions[essential.name]}).user_message, essential)
            again += 1
    assert again >= 30


@pytest.mark.parametrize("d", [0, 6])
def test_the_reference_is_disclosed_as_it_is_said(store: Shop, d: int) -> None:
    forms = set()
    for seed in range(60):
        episode = start(store, d, seed, p_noise=0)
        said, goal, text = said_acts(episode.acts)[0].says, episode.intent.goal, episode.opening.user_message
        forms.add(goal.reference.form)
        assert ("arrival" in said["asks"]) == goal.wants_arrival
        spelled = [said[name] for name in ("title", "item", "day") if name in said]
        spelled += [MONTHS[int(said["month"]) - 1]] if "month" in said else []
        spelled += [spelled_money(int(said["total"]))] if "total" in said else []
        assert spelled
        assert all(each in text for each in spelled), (said, text)
    assert len(forms) >= (3 if d == 0 else 2)


def test_an_order_number_is_nothing_a_customer_knows(store: Shop) -> None:
    episode = start(store, 6, 2, p_noise=0)
    reply = episode.step({"assistant_message": "What is the order number?"}).user_message
    assert [(act.kind, act.attributes) for act in episode.acts] == [(ActKind.DONT_KNOW, ("order_number",))]
    assert "order" in reply
    assert episode.intent.goal.order.order_id not in reply


def test_the_customer_confirms_no_guess(store: Shop) -> None:
    """They know neither ids nor how the order stands: right and wrong proposals get the same answer."""
    replies = []
    for is_right in (True, False):
        episode = start(store, 3, 5)
        answer = right_answer(episode.intent, done=False)
        if not is_right:
            others = (order.order_id for order in episode.intent.world.orders)
            answer["selected_order_id"] = next(each for each in others if each != answer["selected_order_id"])
        replies.append(episode.step({"answer": answer, "assistant_message": "Is it this one?"}).user_message)
    assert replies[0] == replies[1]


def test_equal_specs_are_equal_episodes(store: Shop) -> None:
    one, other = (play_transcript(start(store, 9, 4)) for _ in range(2))
    assert one == other


def play_transcript(episode: Episode) -> list[str]:
    agent, step = StatusExpert(), StepResult(episode.opening, None, False, with_acts(episode.metadata, episode.acts))
    seen = [episode.opening.model_dump_json()]
    while not step.done:
        observation = episode.step(agent.act(step))
        seen.append(observation.model_dump_json())
        step = StepResult(observation, observation.reward, observation.done, with_acts(episode.metadata, episode.acts))
    return seen


# --- Policies ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [SayNothing, AnswerAtOnce, AskForever, RepeatCustomer, InjectPrompt])
@pytest.mark.parametrize("d", [0, 6, 12])
def test_empty_policies_are_never_right(store: Shop, make: type[Agent], d: int) -> None:
    assert not any(play(start(store, d, seed), make()).is_correct for seed in range(25))


@pytest.mark.parametrize("d", [0, 12])
def test_blind_policies_are_bounded_by_chance(store: Shop, d: int) -> None:
    trials, chance = 120, 1 / (12 + 2 * d)
    for rng in (None, stream(7, "blind")):
        right = sum(play(start(store, d, seed), BlindOrder(rng)).is_correct for seed in range(trials))
        assert right / trials <= 1.5 * chance + 3 * (chance / trials) ** 0.5
