"""JOURNEY against the contract (SPEC §2.3, §4, §6): solvable, each errand judged by itself, interrupted and resumed."""

from __future__ import annotations

import re
from collections import Counter
from math import inf, nan, sqrt
from typing import Any

import pytest

from ecom_rlve.client import StepResult
from ecom_rlve.envs.customer.conversation import Begun, Conversation
from ecom_rlve.envs.difficulty import axes_of
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.language.acts import ActKind
from ecom_rlve.envs.language.said import with_acts
from ecom_rlve.envs.registry import environment, environments
from ecom_rlve.envs.tasks.cart.goal import CartGoal
from ecom_rlve.envs.tasks.journey.environment import intents_at
from ecom_rlve.envs.tasks.journey.members import MEMBERS
from ecom_rlve.envs.world.eligibility import eligibility
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agent import Action, one_at_a_time
from ecom_rlve.evaluation.agents import policies_of
from ecom_rlve.models import MAX_DIFFICULTY, EpisodeResult, Observation, Style, Termination

JOURNEY = environment("JOURNEY")
POLICIES = policies_of("JOURNEY", {name: each.about.info(MAX_DIFFICULTY) for name, each in environments().items()})
SEEDS = 10
DEBRIS = re.compile(
    r"[{}<>\\_]|%s|\bNone\b|\bnan\b|\binf\b|\bTrue\b|\bFalse\b|  |\s[,.;!?]|\.\.|,,|;;|\(\)|\bthe the\b"
)
_MANY_QUESTIONS = {"assistant_message": "Which brand, which price and which date is it about?"}


@pytest.fixture(scope="module")
def store(wide_shop: Shop) -> Shop:
    return wide_shop


def start(store: Shop, d: int = 0, seed: int = 0, style: Style = "turn", **axes: float) -> Episode:
    return Episode(store, EpisodeSpec("JOURNEY", d, seed, style=style, axes=tuple(axes.items())), "journey")


def talk_of(episode: Episode) -> Conversation:
    return episode.conversation


def ids_of(episode: Episode) -> list[str]:
    return [intent.errand.about.id for intent in episode.scenario.intents]


def solution(episode: Episode) -> Action:
    return one_at_a_time(episode.solve(), episode.spec.style)


def solve(episode: Episode) -> list[str]:
    """Play the environment's own solution to the end; return what the customer said."""
    said = [episode.opening.user_message]
    while not episode.done:
        said.append(episode.step(solution(episode)).user_message)
    return said


def settle(episode: Episode, instead: dict[str, Any] | None = None, **changes: Any) -> Begun:
    """Play the own solution until the errand spoken of is closed, with a changed or another answer; return it."""
    begun = talk_of(episode).current
    while begun.verdict is None:
        action = solution(episode)
        if action.get("answer"):
            action["answer"] = {**action["answer"], **changes} if instead is None else instead
        episode.step(action)
    return begun


def ended(episode: Episode) -> EpisodeResult:
    assert episode.result is not None
    return episode.result


def starting_with(store: Shop, name: str, d: int, **axes: float) -> Episode:
    """Return the first episode whose first errand is of the named environment."""
    return next(
        episode
        for seed in range(200)
        for episode in (start(store, d, seed, "turn", **axes),)
        if ids_of(episode)[0] == name
    )


# --- Solvable, drawn as stated ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", ["turn", "tool"])
def test_the_own_solution_scores_one_in_every_errand(store: Shop, style: Style) -> None:
    assert JOURNEY.max_difficulty(store) >= 12
    for d in range(JOURNEY.max_difficulty(store) + 1):
        for seed in range(4):
            episode = start(store, d, seed, style)
            solve(episode)
            result = ended(episode)
            assert (result.r_task, result.is_correct, result.correct_share) == (1.0, True, 1.0), (d, seed)
            assert result.termination is Termination.ANSWERED


def test_the_catalog_bounds_the_difficulty(store: Shop) -> None:
    most = JOURNEY.max_difficulty(store)
    able = [each for each in MEMBERS if each.max_difficulty(store) >= most]
    assert len(able) >= intents_at(most)
    assert most <= max(each.max_difficulty(store) for each in MEMBERS)


@pytest.mark.parametrize("d", [0, 3, 4, 8, 12])
def test_errands_differ_and_are_as_many_as_stated(store: Shop, d: int) -> None:
    firsts: Counter[str] = Counter()
    for seed in range(100):
        names = ids_of(start(store, d, seed))
        assert len(names) == len(set(names)) == min(5, 2 + d // 4)
        firsts[names[0]] += 1
    assert firsts.keys() == {each.about.id for each in MEMBERS}


def test_no_two_errands_are_about_the_same_kind_of_thing(store: Shop) -> None:
    for seed in range(60):
        intents = start(store, 8, seed).scenario.intents
        kinds = [{subject.category for subject in intent.subjects} - {""} for intent in intents]
        assert sum(map(len, kinds)) == len(set().union(*kinds)), seed


@pytest.mark.parametrize("d", [0, 5, 12])
def test_the_turn_budget_is_the_sum_of_the_errands(store: Shop, d: int) -> None:
    episode = start(store, d)
    assert episode.opening.max_turns == episode.t_max == intents_at(d) * (4 + d // 2)
    assert start(store, d, t_max=3).t_max == 3 * intents_at(d)


def test_a_journey_offers_every_tool_and_tells_every_job(store: Shop) -> None:
    opening = start(store, 4).opening
    assert opening.tools is not None
    assert opening.instructions is not None
    offered = {tool["function"]["name"] for tool in opening.tools}
    for each in MEMBERS:
        assert set(each.about.tool_names) <= offered
        assert f"{each.about.id}: {each.brief(axes_of(4))}" in opening.instructions


def test_equal_specs_are_equal_journeys(store: Shop) -> None:
    for seed in range(SEEDS):
        one, other = start(store, 9, seed), start(store, 9, seed)
        assert one.goal_json() == other.goal_json()
        assert solve(one) == solve(other)
        assert ended(one) == ended(other)


# --- Judging ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [0, 4, 8])
def test_a_wrong_name_costs_its_own_errand_and_the_journey_goes_on(store: Shop, d: int) -> None:
    for seed in range(SEEDS):
        episode = start(store, d, seed)
        first, *others = ids_of(episode)
        missed = settle(episode, {"done": True, "intent": others[0]})
        assert (missed.intent.errand.about.id, episode.done) == (first, False)
        solve(episode)
        result, count = ended(episode), len(others) + 1
        assert [begun.verdict is not None and begun.verdict.r_task for begun in talk_of(episode).begun] == [
            -1,
            *[1] * len(others),
        ]
        assert result.r_task == pytest.approx((len(others) - 1) / count)
        assert result.correct_share == pytest.approx(len(others) / count)
        assert not result.is_correct


def test_the_name_may_be_written_as_on_reset(store: Shop) -> None:
    episode = start(store)
    name = ids_of(episode)[0]
    first = settle(episode, intent=f"e_{name.lower()}")
    assert first.verdict is not None
    assert first.verdict.correct


@pytest.mark.parametrize(("field", "value"), [("resolution", "refunded"), ("order_status", "lost")])
def test_a_word_that_an_errand_does_not_know_breaks_the_format_as_it_does_alone(
    store: Shop, field: str, value: str
) -> None:
    name = "RETURN" if field == "resolution" else "STATUS"
    answer = {"done": True, field: value}
    alone = Episode(store, EpisodeSpec(name), "alone")
    alone.step({"answer": answer})
    episode = starting_with(store, name, 0)
    episode.step({"answer": {**answer, "intent": name}})
    for one in (alone, episode):
        assert (ended(one).termination, ended(one).r_total) == (Termination.FORMAT_FAILURE, -1.0)


def bad_values(store: Shop, episode: Episode) -> list[Any]:
    """Return values that no right answer has, of every type: numbers, words, ids of other worlds, lists of them."""
    ids = list(store.catalog.ids)
    orders = start(store, 0, 99).intent.world.orders
    foreign = [orders[0].order_id, orders[0].lines[0].line_id, "S0000000000"]
    wanted = {row for intent in episode.scenario.intents for row in _wanted_rows(intent.goal)}
    strange = [ids[row] for row in range(0, len(ids), 13) if row not in wanted]
    return [
        nan, inf, -inf, 1e308, 10**400, -5, -0.01, True, None, "", " ", "NaN", "-5 days",
        "none of this world", "x" * 100_000, "2025-02-31", "fortnights",
        *foreign, [], [""], foreign, strange[:3], strange[:1] * 3, [None], [1], [[]], {}, {"a": 1},
        (strange * 100)[:10_000], [str(at) for at in range(10_001)],
    ]  # fmt: skip


def _wanted_rows(goal: Any) -> list[int]:
    """Return the products that a right answer of some errand could hold."""
    if hasattr(goal, "fitting"):
        return list(goal.fitting.tolist())
    if hasattr(goal, "needs"):
        return [row for need in goal.needs for row in [need.cheapest]]
    return []


FUZZED = {
    "BUNDLE": ("recommended_product_ids",),
    "PD": ("recommended_product_ids",),
    "POLICY": ("value", "unit"),
    "RETURN": ("selected_order_id", "selected_line_id", "resolution", "recommended_product_ids"),
    "STATUS": ("selected_order_id", "order_status"),
    "SUB": ("recommended_product_ids",),
}
"""Fields of the answer that closes each errand; that of CART has none."""


@pytest.mark.parametrize("name", FUZZED)
@pytest.mark.parametrize("is_ready", [False, True], ids=["at once", "with the work done"])
def test_a_bad_value_under_the_right_name_is_never_correct(store: Shop, name: str, is_ready: bool) -> None:
    """Whatever a field holds, the errand is scored as wrong or the format is broken; nothing is raised."""
    quiet = {"p_oos": 0.0, "p_switch": 0.0}
    seed = starting_with(store, name, 0, **quiet).spec.seed

    def opened() -> tuple[Episode, dict[str, Any]]:
        episode = start(store, 0, seed, "turn", **quiet)
        action = solution(episode)
        while is_ready and not action.get("answer"):
            episode.step(action)
            action = solution(episode)
        if is_ready and action.get("tool_calls"):
            episode.step({"tool_calls": action["tool_calls"]})
        return episode, {"done": True, "intent": name, **(action.get("answer") or {})}

    outcomes: Counter[str] = Counter()
    for field in FUZZED[name]:
        for value in bad_values(store, opened()[0]):
            episode, answer = opened()
            if value is None and field == "unit" and episode.intent.goal.unit == "date":
                continue  # A date needs no unit.
            if name == "RETURN" and field == "recommended_product_ids" and is_ready:
                continue  # Nothing is wanted instead at d = 0: what is recommended costs r_hall at most.
            seen = episode.step({"answer": {**answer, field: value}})
            intent = talk_of(episode).begun[0]
            outcomes["format" if seen.done else "scored"] += 1
            if seen.done:
                assert ended(episode).termination is Termination.FORMAT_FAILURE, (field, value)
                assert ended(episode).r_total == -1.0
            else:
                assert intent.verdict is not None, (field, value)
                assert not intent.verdict.correct, (field, repr(value)[:200], intent.verdict)
                assert -1 <= intent.verdict.r_task <= 1
    assert outcomes["format"] > 5 * len(FUZZED[name]) - 5
    assert outcomes["scored"] > 5


@pytest.mark.parametrize(
    "answer",
    [
        {"done": True},
        {"done": True, "intent": 7},
        {"done": True, "intent": ["PD"]},
        {"done": True, "intent": None},
        {"done": True, "intent": ""},
        {"done": True, "intent": "JOURNEY"},
        {"intent": "PD"},
        {"done": True, "intent": "PD", "x": 1},
        {"done": True, "intent": "CART", "recommended_product_ids": []},
        {"done": True, "intent": "PD", "order_status": None},
        {"done": True, "intent": "POLICY", "value": "next week"},
    ],
)
def test_an_answer_of_the_wrong_shape_is_a_format_failure(store: Shop, answer: dict[str, Any]) -> None:
    episode = start(store)
    episode.step({"answer": answer})
    assert ended(episode).termination is Termination.FORMAT_FAILURE
    assert ended(episode).r_total == -1


def test_closed_errands_keep_their_scores_when_the_turns_are_used_up(store: Shop) -> None:
    for seed in range(SEEDS):
        episode = start(store, 4, seed, p_switch=0.0)
        settle(episode)
        while not episode.done:
            episode.step({})
        result = ended(episode)
        assert result.termination is Termination.TURN_BUDGET
        assert result.r_task == pytest.approx((1 - 2) / 3)
        assert result.correct_share == pytest.approx(1 / 3)
        assert not result.is_correct


def test_who_does_nothing_loses_every_errand(store: Shop) -> None:
    episode = start(store, 4, p_switch=0.0)
    while not episode.done:
        episode.step({})
    assert (ended(episode).r_task, ended(episode).correct_share) == (-1.0, 0.0)
    assert ended(episode).turns == episode.t_max


def test_closing_an_errand_uses_up_no_turn(store: Shop) -> None:
    episode = start(store, 0, p_switch=0.0)
    left = episode.turns_left
    seen = episode.step({"answer": {"done": True, "intent": ids_of(episode)[0]}})
    assert (seen.turns_left, seen.done) == (left, False)
    assert seen.user_message


def test_what_an_earlier_errand_did_does_not_count_for_a_later_one(store: Shop) -> None:
    """Things left in the cart, and goods sent back, before the errand they would concern has begun."""
    tried = Counter[str]()
    for seed in range(80):
        episode = start(store, 4, seed, p_switch=0.0)
        first, *later = ids_of(episode)
        if first in ("CART", "RETURN") or not {"CART", "RETURN"} & set(later):
            continue
        world = episode.intent.world
        wanted = {subject.category for subject in episode.intent.subjects}
        kind = next(kind.name for kind in store.catalog.categories if kind.name not in wanted)
        search = {"name": "catalog_search", "args": {"query": kind, "category": kind, "in_stock": True}}
        cards = (episode.step({"tool_calls": [search]}).tool_results[0].result or {})["results"]
        # Something that the first errand has no use for may have sold out meanwhile.
        card = next(card for card in cards if world.stock(world.row_of(card["product_id"])) > 0)
        meant = {getattr(intent.goal, "line_id", "") for intent in episode.scenario.intents}
        order, line = next(
            (order, line)
            for order in world.orders
            for line in order.lines
            if line.line_id not in meant and eligibility(world, order, line).is_eligible
        )
        args = {"order_id": order.order_id, "line_id": line.line_id, "reason": "defective", "method": "store_credit"}
        calls = [
            {"name": "cart_add", "args": {"product_id": card["product_id"]}},
            {"name": "return_initiate", "args": args},
        ]
        episode.step({"tool_calls": calls})
        assert (len(world.cart), len(world.returns)) == (1, 1)
        solve(episode)
        assert ended(episode).is_correct, seed
        tried.update({"CART", "RETURN"} & set(later))
    assert min(tried["CART"], tried["RETURN"]) >= 5


@pytest.mark.parametrize("name", sorted(POLICIES.empty))
def test_empty_policies_are_never_correct(store: Shop, name: str) -> None:
    for d in (0, 6, 12):
        for seed in range(6):
            episode = start(store, d, seed)
            agent = POLICIES.make(name, seed)
            step = StepResult(episode.opening, None, False, with_acts(episode.metadata, episode.acts))
            while not step.done:
                seen = episode.step(agent.act(step))
                step = StepResult(seen, seen.reward, seen.done, with_acts(episode.metadata, episode.acts))
            assert not ended(episode).is_correct
            assert ended(episode).termination is not Termination.FORMAT_FAILURE, ended(episode).reason


def test_everything_at_once_with_constants_is_never_correct(store: Shop) -> None:
    constants: dict[str, Any] = {
        "recommended_product_ids": [],
        "resolution": "not_eligible",
        "order_status": "delivered",
        "value": 30,
        "unit": "days",
    }
    for seed in range(40):
        episode = start(store, 0, seed)
        while not episode.done:
            about = episode.intent.errand.about
            own = {name: value for name, value in constants.items() if name in about.answer.model_fields}
            episode.step({"answer": {"done": True, "intent": about.id, **own}})
        assert ended(episode).correct_share == 0.0


# --- Interruptions ----------------------------------------------------------------------------------------------------


def test_the_customer_interrupts_as_often_as_stated(store: Shop) -> None:
    for p_switch in (0.1, 0.5, 0.9):
        flags = [
            intent.is_interrupted
            for seed in range(200)
            for intent in start(store, 4, seed, p_switch=p_switch).scenario.intents
        ]
        error = sqrt(p_switch * (1 - p_switch) / len(flags))
        assert abs(sum(flags) / len(flags) - p_switch) <= 3 * error


def test_switches_move_nothing_else(store: Shop) -> None:
    """Only the wishes of PD are drawn with what the customer will want instead, and may be others."""
    compared = 0
    for seed in range(3 * SEEDS):
        quiet, moved = start(store, 6, seed, p_switch=0.0), start(store, 6, seed, p_switch=1.0)
        if "PD" not in ids_of(quiet):
            compared += 1
            assert quiet.goal_json() == moved.goal_json()
    assert compared >= 5


def interrupted(episode: Episode) -> Observation:
    """Ask until the customer turns to the next errand: they do not in the reply in which they change their mind."""
    seen = episode.step(_MANY_QUESTIONS)
    return episode.step(_MANY_QUESTIONS) if any(act.kind is ActKind.REVISE for act in episode.acts) else seen


@pytest.mark.parametrize("d", [0, 4, 8])
def test_an_interrupted_errand_is_come_back_to(store: Shop, d: int) -> None:
    for seed in range(SEEDS):
        episode = start(store, d, seed, p_switch=1.0, p_noise=0.0)
        talk, count = talk_of(episode), intents_at(d)
        left = episode.turns_left
        for begun in range(1, count):
            seen = interrupted(episode)
            assert len(talk.begun) == begun + 1, seen.user_message
            assert all(each.verdict is None for each in talk.begun)
            assert seen.turns_left == left
        assert len(talk.begun) == count
        for at in reversed(range(count)):
            assert settle(episode) is talk.begun[at]
            assert episode.done == (at == 0)
        assert ended(episode).is_correct, ids_of(episode)


def test_the_customer_says_what_they_come_back_to(store: Shop) -> None:
    for seed in range(SEEDS):
        episode = start(store, 0, seed, p_switch=1.0, p_noise=0.0)
        interrupted(episode)
        first, second = talk_of(episode).begun
        message = ""
        while second.verdict is None:
            message = episode.step(solution(episode)).user_message
        (back,) = [act for act in episode.acts if act.frames is not None and act.frames.name == "come_back"]
        assert dict(back.places) == {"errand": first.intent.errand.about.called}
        assert first.intent.errand.about.called.casefold() in message.casefold()


def test_nobody_is_interrupted_who_is_told_nothing(store: Shop) -> None:
    episode = start(store, 0, 1, p_switch=1.0)
    episode.step({"tool_calls": [{"name": "order_list", "args": {}}]})
    assert len(talk_of(episode).begun) == 1


def test_a_cart_that_is_interrupted_keeps_what_was_put_into_it(store: Shop) -> None:
    """Only what lay in the cart before its errand began does not count, not what did before another one began."""
    episode = starting_with(store, "CART", 0, p_switch=1.0, p_oos=0.0)
    cart = talk_of(episode).current
    assert isinstance(cart.intent.goal, CartGoal)
    while not len(talk_of(episode).begun) > 1:
        action = solution(episode)
        episode.step({"tool_calls": action["tool_calls"]})
    assert episode.intent.world.cart
    solve(episode)
    assert cart.verdict is not None
    assert cart.verdict.correct
    assert ended(episode).is_correct


@pytest.mark.parametrize("name", ["PD", "SUB", "BUNDLE"])
def test_a_proposal_is_judged_as_the_errand_judges_it(store: Shop, name: str) -> None:
    episode = starting_with(store, name, 0, p_switch=0.0, p_missing=0.0)
    action = solution(episode)
    while not action.get("answer"):
        episode.step(action)
        action = solution(episode)
    left = episode.turns_left
    right = {**action["answer"], "done": False}
    disapproved = episode.step({"answer": {**right, "recommended_product_ids": ["NONE SUCH"]}})
    assert disapproved.turns_left == left - 1
    confirmed = episode.step({"answer": right})
    assert confirmed.turns_left == left - 1, (disapproved.user_message, confirmed.user_message)
    assert not episode.done


def test_a_proposal_under_another_name_is_judged_as_the_errand_judges_it(store: Shop) -> None:
    """The customer looks at the products; what the agent calls its proposal matters to the final answer alone."""
    episode = starting_with(store, "PD", 0, p_switch=0.0, p_missing=0.0)
    action = solution(episode)
    while not action.get("answer"):
        episode.step(action)
        action = solution(episode)
    left, named = episode.turns_left, {**action["answer"], "done": False, "intent": "BUNDLE"}
    confirmed = episode.step({"answer": named})
    assert (confirmed.turns_left, confirmed.done) == (left, False), confirmed.user_message
    ignored = episode.step({"answer": {"done": False, "intent": "STATUS"}})
    assert (ignored.turns_left, ignored.done) == (left - 1, False), ignored.user_message
    missed = settle(episode, {**action["answer"], "intent": "BUNDLE"})
    assert missed.verdict is not None
    assert missed.verdict.r_task == -1


# --- Words ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [0, 6, 12])
def test_no_message_holds_debris(store: Shop, d: int) -> None:
    for seed in range(12):
        episode = start(store, d, seed, p_switch=0.7)
        said = [episode.opening.user_message]
        while not episode.done:
            said.append(episode.step(_MANY_QUESTIONS if len(said) % 2 else solution(episode)).user_message)
        assert said[0]
        for text in filter(None, said):
            assert not DEBRIS.search(text), text
            assert text.rstrip()[-1] in ".!?", text


def test_nobody_greets_in_the_middle_of_a_conversation(store: Shop) -> None:
    for seed in range(20):
        episode = start(store, 0, seed, p_switch=0.0, p_noise=0.0)
        settle(episode)
        said = next(message.content for message in reversed(episode.state().messages) if message.role == "user")
        assert not re.search(r"\b(?:hello|hi|good (?:day|morning))\b", said, re.IGNORECASE), said


def test_an_errand_settled_with_unseen_ids_is_no_share_of_success(store: Shop) -> None:
    """The curriculum must not reward what r_hall punishes."""
    met = 0
    for seed in range(30):
        episode = start(store, 0, seed)
        while not episode.done:
            action = solution(episode)
            answer = action.get("answer") or {}
            if answer.get("recommended_product_ids") and answer["intent"] in ("PD", "SUB"):
                unseen = [f"UNSEEN{number}" for number in range(3)]
                answer["recommended_product_ids"] = [*answer["recommended_product_ids"], *unseen]
                met += 1
            episode.step(action)
        result = ended(episode)
        if result.r_hall < 0:
            assert (result.is_correct, result.correct_share < 1) == (False, True), seed
    assert met >= 5


@pytest.mark.parametrize("has_cart", [True, False])
def test_a_product_in_the_cart_that_was_never_shown_spoils_the_journey(store: Shop, *, has_cart: bool) -> None:
    """Whoever's errand it was: the cart is the journey's output too."""
    met = 0
    for seed in range(60):
        episode = start(store, 0, seed, p_switch=0.0, p_oos=0.0, t_max=60)
        if ("CART" in ids_of(episode)) != has_cart or ids_of(episode)[0] == "CART":
            continue
        world = episode.intent.world
        row = next(row for row in range(store.catalog.size) if row not in world.shown and world.stock(row) > 0)
        add = {"name": "cart_add", "args": {"product_id": store.catalog.ids[row]}}
        assert episode.step({"tool_calls": [add]}).tool_results[0].result is not None
        assert row not in world.shown
        solve(episode)
        assert row not in world.shown or has_cart
        if row in world.shown:
            continue
        result = ended(episode)
        assert result.r_hall < 0
        assert not result.is_correct
        assert result.r_task == 1.0, "each errand by itself was settled"
        met += 1
        if met == 4:
            break
    assert met == 4


def kinds_of(intent: Intent[Any]) -> set[str]:
    """Return the categories that an errand is about."""
    return {subject.category for subject in intent.subjects} - {""}


def test_errands_are_about_different_kinds(store: Shop) -> None:
    for seed in range(40):
        intents = start(store, 8, seed).scenario.intents
        kinds = [kind for intent in intents for kind in sorted(kinds_of(intent))]
        assert len(kinds) == len(set(kinds)) > 0


@pytest.mark.parametrize("p_oos", [0.2, 0.5])
@pytest.mark.parametrize("d", [4, pytest.param(12, marks=pytest.mark.slow)])
def test_one_errands_stock_out_empties_no_kind_of_another(store: Shop, d: int, p_oos: float) -> None:
    """However much of the others' kinds was shown, variants and all, before anything of its own."""
    fired = 0
    for seed in range(100):
        episode = start(store, d, seed, p_switch=0.0, p_oos=p_oos, t_max=400, b_tool=6, top_k=200, eps_rank=0.0)
        world, first = episode.intent.world, episode.intent
        # SUB's original and what is like it are off the shelves from the start.
        before = set(world.sold_out)
        others = sorted(set[str]().union(*(kinds_of(each) for each in episode.scenario.intents if each is not first)))
        for kind in (*others, *sorted(kinds_of(first))):
            search = {"name": "catalog_search", "args": {"query": "", "category": kind, "limit": 10}}
            page = episode.step({"tool_calls": [search]}).tool_results[0].result
            assert page is not None
            for card in page["results"][:4]:
                read = {"name": "catalog_get_variants", "args": {"product_id": card["product_id"]}}
                episode.step({"tool_calls": [read]})
            if episode.done or episode.intent is not first:
                break
        gone = {store.catalog.category_of(row).name for row in world.sold_out - before}
        shown = {variant.id: row for row in world.shown for variant in world.variants(row)}
        gone |= {store.catalog.category_of(shown[name]).name for name in world.sold_out_variants}
        assert not gone & set(others), seed
        fired += bool(gone)
    assert fired >= 3


def test_a_correction_excuses_nothing_though_a_switch_follows(store: Shop) -> None:
    met = 0
    for seed in range(60):
        episode = starting_with_seed(store, "CART", 9, seed, p_switch=1.0, p_missing=0.0, p_oos=0.0)
        if episode is None or episode.intent.revision is None or episode.intent.revision.turn == 1:
            continue
        cart: CartGoal = episode.intent.goal
        world = episode.intent.world
        item = next((item for item in cart.items if item is not None and item.variant is not None), None)
        if item is None:
            continue
        wrong = next(variant for variant in world.variants(item.row) if variant != item.variant)
        product_id = store.catalog.ids[item.row]
        args = {"product_id": product_id, "variant_id": wrong.id, "quantity": item.quantity}
        before = episode.customer_caused
        episode.step({"tool_calls": [{"name": "cart_add", "args": args}]})
        assert len(talk_of(episode).begun) == 2
        assert episode.customer_caused == before
        met += 1
    assert met >= 3


def test_what_was_taken_out_of_the_cart_and_put_in_again_counts(store: Shop) -> None:
    met = 0
    for seed in range(120):
        episode = start(store, 0, seed, p_switch=0.0, p_oos=0.0, t_max=40)
        if ids_of(episode)[1] != "CART":
            continue
        cart: CartGoal = episode.scenario.intents[1].goal
        (item,) = cart.items
        assert item is not None
        world, args = episode.intent.world, {"product_id": store.catalog.ids[item.row], "quantity": item.quantity}
        if item.variant is not None:
            args["variant_id"] = item.variant.id
        add = {"name": "cart_add", "args": args}
        world.show(item.row)
        episode.step({"tool_calls": [add]})
        settle(episode)
        (line,) = world.cart
        episode.step({"tool_calls": [{"name": "cart_remove", "args": {"line_id": line.line_id}}, add]})
        episode.step({"answer": {"intent": "CART", "done": True}})
        begun = talk_of(episode).begun[1]
        assert begun.verdict is not None
        assert begun.verdict.correct
        met += 1
    assert met >= 3


def starting_with_seed(store: Shop, name: str, d: int, seed: int, **axes: float) -> Episode | None:
    """Return the journey of a seed where it begins with an errand, else None."""
    episode = start(store, d, seed, "turn", **axes)
    return episode if ids_of(episode)[0] == name else None
