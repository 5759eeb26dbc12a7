"""RETURN against the contract (SPEC §3, §4, §6): identifiable, solvable, drawn as stated, scored exactly."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from datetime import date
from fractions import Fraction
from math import sqrt
from typing import Any, get_args

import numpy as np
import pytest
from scipy.stats import chi2_contingency, chisquare

from ecom_rlve.catalog.constraints import Op, all_satisfied
from ecom_rlve.client import StepResult
from ecom_rlve.envs.customer.customer import Customer
from ecom_rlve.envs.difficulty import axes_of
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.errors import DomainError
from ecom_rlve.envs.goal import Slot, Verdict
from ecom_rlve.envs.language.acts import ActKind
from ecom_rlve.envs.language.phrases import spellings
from ecom_rlve.envs.language.said import said_acts, with_acts
from ecom_rlve.envs.splits import split_of
from ecom_rlve.envs.tasks.returns.environment import ENVIRONMENT as RETURN
from ecom_rlve.envs.tasks.returns.facts import METHODS, REASONS
from ecom_rlve.envs.tasks.returns.goal import ReturnAnswer, ReturnGoal, offered_product
from ecom_rlve.envs.tools.registry import TOOLS
from ecom_rlve.envs.tools.returns import Reason, Refund
from ecom_rlve.envs.world.eligibility import eligibility
from ecom_rlve.envs.world.orders import Order, OrderLine
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.evaluation.agent import Agent, one_at_a_time
from ecom_rlve.evaluation.agents.idle import AnswerAtOnce, AskForever, InjectPrompt, RepeatCustomer, SayNothing
from ecom_rlve.evaluation.agents.returns.blind import BlindLine, ReturnEveryLine
from ecom_rlve.evaluation.agents.returns.expert import ReturnExpert
from ecom_rlve.models import DomainCode, EpisodeResult, Split, Style
from ecom_rlve.streams import Streams, stream

LEVELS = (0, 3, 6, 9, 12)
SEEDS = 110
Drawn = Intent[ReturnGoal]
ABOUT_LINE = ("order_date", "order_total", "price_paid", "units_bought")


@pytest.fixture(scope="module")
def store(wide_shop: Shop) -> Shop:
    return wide_shop


def draw(store: Shop, d: int, seed: int, split: Split = "train") -> tuple[Drawn, Streams]:
    streams = Streams("episode", "RETURN", split, seed)
    (intent,) = RETURN.draw(World(store, axes_of(d), streams, split), streams).intents
    return intent, streams


def find(store: Shop, d: int, wanted: Callable[[Drawn], bool]) -> Drawn:
    for seed in range(600):
        intent, _ = draw(store, d, seed)
        if wanted(intent):
            return intent
    raise AssertionError("no such intent among 600 seeds")


def start(store: Shop, d: int = 0, seed: int = 0, style: Style = "turn", **axes: float) -> Episode:
    return Episode(store, EpisodeSpec("RETURN", d, seed, style=style, axes=tuple(axes.items())), "return")


def run(intent: Drawn, name: str, **args: Any) -> dict[str, Any] | DomainCode:
    """Call a tool as the episode does; a refusal gives its code."""
    tool = TOOLS[name]
    try:
        return tool.run(intent.world, tool.args.model_validate(args))
    except DomainError as refused:
        return refused.code


def ids_of(intent: Drawn) -> dict[str, str]:
    return {"order_id": intent.goal.order_id, "line_id": intent.goal.line_id}


def lines(intent: Drawn) -> list[tuple[Order, OrderLine]]:
    return [(order, line) for order in intent.world.orders for line in order.lines]


def delivered(intent: Drawn) -> list[tuple[Order, OrderLine]]:
    return [(order, line) for order, line in lines(intent) if order.delivered is not None]


def target(intent: Drawn) -> tuple[Order, OrderLine]:
    return next(pair for pair in lines(intent) if pair[1].line_id == intent.goal.line_id)


def judged(intent: Drawn, **changes: Any) -> Verdict:
    answer = {"done": True, **{f"selected_{name}": value for name, value in ids_of(intent).items()}, **changes}
    return RETURN.verify(intent, ReturnAnswer.model_validate(answer))


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
        return one_at_a_time(RETURN.solve(self._episode.intent), result.metadata.style)


# --- Identifiability --------------------------------------------------------------------------------------------------


def is_true(slot: Slot, order: dict[str, Any], line: dict[str, Any]) -> bool:
    """Tell whether what a slot says of a line is what the tools show."""
    value = slot.fact.constraint.value
    shown = {
        "order_date": date.fromisoformat(order["date"]).toordinal(),
        "order_total": round(order["total"] * 100),
        "price_paid": round(line["price_paid"] * 100),
        "units_bought": line["quantity"],
    }
    return bool(shown[slot.name] == value)


def left_over(intent: Drawn, slots: list[Slot]) -> list[tuple[str, str]]:
    """Return the lines of the kind that goes back of which the slots are true, read off the tools' results."""
    catalog, left = intent.world.shop.catalog, []
    for listed in intent.world.orders:
        order = run(intent, "order_get", order_id=listed.order_id)
        assert isinstance(order, dict)
        for line in order["lines"]:
            kind = catalog.category_of(catalog.row_of(line["product_id"])).name
            if kind == intent.subjects[0].category and all(is_true(slot, order, line) for slot in slots):
                left.append((order["order_id"], line["line_id"]))
    return left


@pytest.mark.parametrize("d", LEVELS)
def test_words_and_what_is_told_single_out_one_line(store: Shop, d: int) -> None:
    for seed in range(SEEDS):
        intent, _ = draw(store, d, seed)
        told = [slot for slot in intent.slots if slot.name in ABOUT_LINE]
        assert left_over(intent, told) == [(intent.goal.order_id, intent.goal.line_id)], seed
        listed = [slot for slot in told if slot.name in ("order_date", "order_total")]
        # Reading them leaves a call for the check of the line.
        assert len({order for order, _ in left_over(intent, listed)}) <= axes_of(d).b_tool - 1
        assert len(told) == len({slot.name for slot in told})
        forgotten = {kind.name for kind in intent.unknown}
        assert {slot.name for slot in told} ^ forgotten == set(ABOUT_LINE)


@pytest.mark.parametrize("d", LEVELS)
def test_what_shall_become_of_it_is_told_in_words_that_mean_one_thing(store: Shop, d: int) -> None:
    for seed in range(SEEDS):
        intent, _ = draw(store, d, seed)
        goal, facts = intent.goal, {slot.name: slot.fact for slot in intent.slots if slot.item == 0}
        assert facts["reason"].constraint.value == REASONS[goal.reason]
        assert facts["method"].constraint.value == METHODS[goal.method]
        wants_new = goal.replacement is not None
        assert str(facts["replacement"].constraint.value).startswith("a" if wants_new else "no ")
        assert len(intent.subjects) == 1 + wants_new
        assert wants_new or goal.method != "exchange"
    assert len(set(REASONS.values())) == len(REASONS) == len(get_args(Reason))
    assert set(METHODS) - {"exchange"} == set(get_args(Refund))


def test_a_replacement_is_wanted_that_exists_and_that_the_returned_thing_is_not(store: Shop) -> None:
    catalog = store.catalog
    for d in (3, 6, 12):
        for seed in range(SEEDS):
            intent, _ = draw(store, d, seed)
            new = intent.goal.replacement
            if new is None:
                continue
            _, line = target(intent)
            assert len(new.constraints) == axes_of(d).m == len({each.attribute for each in new.constraints})
            told = [slot.fact.constraint for slot in intent.slots if slot.item == 1]
            assert tuple(told) == new.constraints
            rows = all_satisfied(catalog, new.constraints, catalog.rows_of_category(intent.subjects[1].category))
            assert new.row in rows
            assert line.row not in rows
            assert intent.world.stock(new.row) > 0
            variant = catalog.category_of(new.row).variant_attribute
            assert variant not in {constraint.attribute for constraint in new.constraints}
            assert split_of(catalog.titles[new.row]) == "train"


# --- Shares of section 3 ----------------------------------------------------------------------------------------------


def is_near(measured: float, stated: float, trials: int) -> bool:
    return abs(measured - stated) <= max(0.1 * stated, 3 * sqrt(stated * (1 - stated) / trials))


@pytest.mark.parametrize("d", LEVELS)
def test_measured_shares_are_those_of_the_contract(store: Shop, d: int) -> None:
    wanted = left_out = slots = redraws = eligible = wanted_of_eligible = 0
    for seed in range(400):
        intent, _streams = draw(store, d, seed)
        redraws += intent.redraws
        wanted += intent.goal.replacement is not None
        eligible += intent.goal.is_eligible
        wanted_of_eligible += intent.goal.is_eligible and intent.goal.replacement is not None
        left_out += Customer(intent).left_out
        slots += len(intent.slots)
    assert is_near(wanted / 400, min(0.5, 0.1 * d), 400)
    assert is_near(wanted_of_eligible / eligible, min(0.5, 0.1 * d), eligible)
    assert is_near(left_out / slots, axes_of(d).p_missing, slots)
    assert redraws <= 8


@pytest.mark.slow
@pytest.mark.parametrize("d", [*LEVELS, 20])
def test_between_a_quarter_and_two_fifths_of_the_targets_cannot_be_returned(store: Shop, d: int) -> None:
    """As many as of all lines that were delivered (SPEC §6)."""
    count, refused, expected = 800, 0, 0.0
    for seed in range(count):
        intent, _ = draw(store, min(d, RETURN.max_difficulty(store)), seed)
        refused += not intent.goal.is_eligible
        pairs = delivered(intent)
        expected += sum(not eligibility(intent.world, *pair).is_eligible for pair in pairs) / len(pairs)
    spread = sqrt(0.33 * 0.67 / count)
    assert 0.25 - 2 * spread <= refused / count <= 0.4 + 2 * spread
    assert abs(refused - expected) / count <= 3 * spread


def test_what_decides_eligibility_decides_no_word(store: Shop) -> None:
    """The same wishes for what cannot go back as for what can: reason, method, replacement, and slots to tell."""
    told: dict[bool, Counter[str]] = {True: Counter(), False: Counter()}
    for seed in range(900):
        goal = (intent := draw(store, 6, seed)[0]).goal
        told[goal.is_eligible].update([goal.reason, goal.method, f"replaced: {goal.replacement is not None}"])
        told[goal.is_eligible].update(slot.name for slot in intent.slots if slot.name in ABOUT_LINE)
    traits = sorted(told[True] | told[False])
    assert len(traits) == len(REASONS) + len(METHODS) + 2 + len(ABOUT_LINE)
    goals = {key: sum(told[key][name] for name in METHODS) for key in told}
    for trait in traits:
        table = [[told[key][trait], goals[key] - told[key][trait]] for key in (True, False)]
        assert chi2_contingency(table).pvalue > 0.001, trait


def test_a_reason_fits_the_thing(store: Shop) -> None:
    sized, others = Counter[bool](), Counter[bool]()
    for seed in range(600):
        intent, _ = draw(store, 0, seed)
        kind = store.catalog.category_of(target(intent)[1].row)
        (sized if kind.variant_attribute == "size" else others)[intent.goal.reason == "does_not_fit"] += 1
    assert others[True] == 0 < others[False]
    assert sized[True] > 0.05 * sized.total()


def test_the_target_is_uniform_over_places_sizes_and_eligibility(store: Shop) -> None:
    """Nothing about a delivered line tells whether it is the one meant."""
    count, places = 500, []
    found, expected = Counter[str](), Counter[str]()
    for seed in range(count):
        intent, _ = draw(store, 6, seed)
        pairs = delivered(intent)
        places.append(pairs.index(target(intent)) / len(pairs))
        for pair in pairs:
            order, line = pair
            code = eligibility(intent.world, order, line).code
            for trait in (f"{code}", f"{len(order.lines)} lines", line.sale_class, f"{line.quantity} units"):
                found[trait] += pair == target(intent)
                expected[trait] += 1 / len(pairs)  # type: ignore[assignment]  # a Counter of expectations, which are fractions
    assert chisquare(np.histogram(places, 10, (0, 1))[0]).pvalue > 0.001
    for trait, number in expected.items():
        assert abs(found[trait] - number) < 4 * number**0.5 + 1, (trait, found[trait], number)


def test_axes_move_only_their_own_thing(store: Shop) -> None:
    seed = next(seed for seed in range(100) if draw(store, 6, seed)[0].goal.replacement is not None)
    first = start(store, 6, seed)
    lines_first = first.intent.world.orders
    for axes in ({"p_missing": 0.0}, {"p_noise": 0.0}, {"eps_rank": 0.0}, {"t_max": 12}, {"top_k": 30}):
        moved = start(store, 6, seed, **axes)
        assert moved.goal_json() == first.goal_json()
        assert moved.intent.world.orders == lines_first
    for m in (2, 4, 8):
        moved = start(store, 6, seed, m=m)
        assert moved.intent.world.orders == lines_first
        assert len(moved.intent.goal.replacement.constraints) == m
        assert moved.intent.goal.line_id == first.intent.goal.line_id
    terms = [start(store, 6, seed, b_branch=b).intent.world.return_terms("Home", is_final_sale=False) for b in (1, 3)]
    assert len(terms[0].section_ids) < len(terms[1].section_ids)
    assert len(start(store, 6, seed, h_orders=30).intent.world.orders) == 30
    to_read = []
    for b_tool in (1, 6):
        number = 0
        for each in range(40):
            intent = start(store, 6, each, b_tool=b_tool).intent
            number += len(left_over(intent, [s for s in intent.slots if s.name in ("order_date", "order_total")]))
        to_read.append(number)
    assert to_read[0] == 40 < to_read[1]


# --- Solvability ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("style", ["turn", "tool"])
@pytest.mark.every_difficulty
@pytest.mark.parametrize("d", range(21))
def test_who_knows_the_goal_scores_exactly_one(store: Shop, style: Style, d: int) -> None:
    if d > RETURN.max_difficulty(store):
        pytest.skip(f"this catalog has too few attributes for {axes_of(d).m} wishes")
    for seed in range(10):
        episode = start(store, d, seed, style)
        result = play(episode, Solver(episode))
        assert (result.r_task, result.is_correct, result.r_hall) == (1.0, True, 0.0), seed
        assert result.effective_turns <= episode.axes.t_max


def test_the_catalog_decides_how_difficult_it_gets(store: Shop) -> None:
    assert RETURN.max_difficulty(store) >= 14
    assert -1 <= RETURN.max_difficulty(Shop.open("synthetic:40:0")) <= RETURN.max_difficulty(store)


def test_every_split_is_served(store: Shop) -> None:
    for split in ("train", "eval", "test"):
        for seed in range(10):
            episode = Episode(store, EpisodeSpec("RETURN", 6, seed, split), "x")
            assert play(episode, Solver(episode)).is_correct
            assert all(split_of(store.catalog.titles[line.row]) == split for _, line in lines(episode.intent))


# --- Reward -----------------------------------------------------------------------------------------------------------


def plain(intent: Drawn) -> bool:
    return intent.goal.is_eligible and intent.goal.replacement is None


def initiate(intent: Drawn, **changes: str) -> dict[str, Any] | DomainCode:
    goal = intent.goal
    args = {**ids_of(intent), "reason": goal.reason, "method": goal.method, **changes}
    return run(intent, "return_initiate", **args)


def test_the_right_return(store: Shop) -> None:
    intent = find(store, 0, plain)
    assert judged(intent, resolution="returned").r_task == Fraction(-1, 10), "nothing was done yet"
    initiate(intent)
    assert judged(intent, resolution="returned") == Verdict(Fraction(1), correct=True)
    assert judged(intent, resolution="returned", recommended_product_ids=["X"]).correct
    for resolution in (None, "exchanged", "not_eligible"):
        assert judged(intent, resolution=resolution).r_task == Fraction(-1, 10), "a false report"
    assert RETURN.verify(intent, None).r_task == -1


@pytest.mark.parametrize("field", ["selected_order_id", "selected_line_id"])
def test_the_right_return_with_a_wrong_selection(store: Shop, field: str) -> None:
    intent = find(store, 0, plain)
    initiate(intent)
    for wrong in (None, "", "nope"):
        verdict = judged(intent, resolution="returned", **{field: wrong})
        assert (verdict.r_task, verdict.correct) == (Fraction(-1, 10), False)


@pytest.mark.parametrize("field", ["reason", "method"])
def test_a_wrong_reason_or_method_is_worth_half_way(store: Shop, field: str) -> None:
    intent = find(store, 0, plain)
    others = {"reason": REASONS, "method": {"original_payment", "store_credit"}}[field]
    initiate(intent, **{field: next(name for name in sorted(others) if name != getattr(intent.goal, field))})
    verdict = judged(intent, resolution="returned")
    assert (verdict.r_task, verdict.correct) == (Fraction(35, 100), False)


def other_eligible(intent: Drawn) -> dict[str, str] | None:
    for order, line in lines(intent):
        if line.line_id != intent.goal.line_id and eligibility(intent.world, order, line).is_eligible:
            return {"order_id": order.order_id, "line_id": line.line_id}
    return None


def test_a_wrong_line(store: Shop) -> None:
    intent = find(store, 3, plain)
    wrong = other_eligible(intent)
    assert wrong is not None
    initiate(intent, **wrong)
    assert judged(intent, resolution="returned").r_task == Fraction(-1, 10)
    as_done = {f"selected_{name}": value for name, value in wrong.items()}
    assert judged(intent, resolution="returned", **as_done).r_task == -1
    initiate(intent)
    assert judged(intent, resolution="returned").r_task == Fraction(-1, 10), "one return too many"


def test_initiating_twice_is_refused_and_changes_nothing(store: Shop) -> None:
    intent = find(store, 0, plain)
    initiate(intent)
    assert initiate(intent) is DomainCode.ALREADY_RETURNED
    assert judged(intent, resolution="returned").correct


def test_the_same_product_in_two_orders_is_told_apart(store: Shop) -> None:
    def has_twin(intent: Drawn) -> bool:
        return plain(intent) and twin(intent) is not None

    def twin(intent: Drawn) -> dict[str, str] | None:
        order, line = target(intent)
        for other, same in lines(intent):
            if same.row == line.row and other is not order and eligibility(intent.world, other, same).is_eligible:
                return {"order_id": other.order_id, "line_id": same.line_id}
        return None

    intent = find(store, 3, has_twin)
    told = [slot for slot in intent.slots if slot.name in ABOUT_LINE]
    assert left_over(intent, told) == [(intent.goal.order_id, intent.goal.line_id)]
    other = twin(intent)
    assert other is not None
    initiate(intent, **other)
    assert judged(intent, resolution="returned").r_task == Fraction(-1, 10)


REFUSALS = (DomainCode.WINDOW_CLOSED, DomainCode.FINAL_SALE, DomainCode.ALREADY_RETURNED)


def refused_for(code: DomainCode) -> Callable[[Drawn], bool]:
    return lambda intent: eligibility(intent.world, *target(intent)).code is code


@pytest.mark.parametrize("code", REFUSALS)
def test_what_is_not_eligible_is_told_after_a_check(store: Shop, code: DomainCode) -> None:
    intent = find(store, 6, refused_for(code))
    assert not intent.goal.is_eligible
    assert judged(intent, resolution="not_eligible").r_task == Fraction(-1, 10), "nobody looked"
    run(intent, "return_check_eligibility", **ids_of(intent))
    assert judged(intent, resolution="not_eligible") == Verdict(Fraction(1), correct=True)
    for resolution in (None, "returned", "exchanged"):
        assert judged(intent, resolution=resolution).r_task == Fraction(-1, 10)
    wrong = other_eligible(intent)
    assert wrong is not None
    initiate(intent, **wrong, method="store_credit")
    assert judged(intent, resolution="not_eligible").r_task == Fraction(-1, 10), "something was initiated"


@pytest.mark.parametrize("tool", ["return_initiate", "return_exchange"])
@pytest.mark.parametrize("code", REFUSALS)
def test_who_lets_the_store_refuse_is_never_right(store: Shop, code: DomainCode, tool: str) -> None:
    """What cannot be undone was attempted: half of it with a check, nothing without one (SPEC §6)."""
    more = {"return_initiate": {"method": "store_credit"}, "return_exchange": {"new_product_id": store.catalog.ids[0]}}
    for checks in ((), ("before",), ("after",)):
        intent = find(store, 6, refused_for(code))
        if checks == ("before",):
            run(intent, "return_check_eligibility", **ids_of(intent))
        assert run(intent, tool, **ids_of(intent), reason="damaged", **more[tool]) is code
        if checks == ("after",):
            run(intent, "return_check_eligibility", **ids_of(intent))
        r_ret = 0 if checks else -1
        expected = Verdict(Fraction(45, 100) * (1 + r_ret) - Fraction(1, 10), correct=False)
        assert judged(intent, resolution="not_eligible") == expected, checks
        assert judged(intent, resolution="returned").r_task == Fraction(-1, 10)


def test_the_refusal_of_another_line_costs_only_the_call(store: Shop) -> None:
    def has_other(intent: Drawn) -> bool:
        return not intent.goal.is_eligible and len(refusable(intent)) > 1

    def refusable(intent: Drawn) -> list[dict[str, str]]:
        bad = [pair for pair in lines(intent) if not eligibility(intent.world, *pair).is_eligible]
        return [{"order_id": order.order_id, "line_id": line.line_id} for order, line in bad]

    intent = find(store, 6, has_other)
    other = next(each for each in refusable(intent) if each["line_id"] != intent.goal.line_id)
    assert isinstance(run(intent, "return_initiate", **other, reason="damaged", method="store_credit"), DomainCode)
    assert run(intent, "return_initiate", order_id="nope", line_id="L", reason="damaged", method="store_credit") is (
        DomainCode.UNKNOWN_ORDER
    )
    run(intent, "return_check_eligibility", **ids_of(intent))
    assert judged(intent, resolution="not_eligible").correct


def test_an_eligible_line_is_not_called_ineligible(store: Shop) -> None:
    intent = find(store, 0, plain)
    run(intent, "return_check_eligibility", **ids_of(intent))
    assert judged(intent, resolution="not_eligible").r_task == Fraction(-1, 10)


# --- Replacement ------------------------------------------------------------------------------------------------------


def wants(method: str) -> Callable[[Drawn], bool]:
    def is_wanted(intent: Drawn) -> bool:
        goal = intent.goal
        is_exchange = goal.method == "exchange"
        return goal.is_eligible and goal.replacement is not None and is_exchange == (method == "exchange")

    return is_wanted


def by_share(intent: Drawn) -> dict[Fraction, int]:
    """Return a product on the shelf for each share of the wishes that some product of the kind meets; all are shown."""
    catalog, new, found = intent.world.shop.catalog, intent.goal.replacement, {}
    assert new is not None
    for row in catalog.rows_of_category(intent.subjects[1].category).tolist():
        met = sum(len(all_satisfied(catalog, [each], np.array([row], dtype=np.int32))) for each in new.constraints)
        if intent.world.stock(row) and row != target(intent)[1].row:
            found[Fraction(met, len(new.constraints))] = row
    for row in found.values():
        intent.world.show(row)
    return found


def test_an_exchange_is_scored_by_what_the_new_product_meets(store: Shop) -> None:
    shares = by_share(find(store, 6, wants("exchange")))
    assert len(shares) > 2
    for share, row in shares.items():
        intent = find(store, 6, wants("exchange"))
        intent.world.show(row)
        product_id = intent.world.shop.catalog.ids[row]
        run(intent, "return_exchange", **ids_of(intent), reason=intent.goal.reason, new_product_id=product_id)
        verdict = judged(intent, resolution="exchanged")
        assert verdict.r_task == Fraction(9, 10) + (2 * share**4 - 1) / 10
        assert verdict.correct == (share == 1)
        assert verdict.output_ids == (product_id,)
        assert judged(intent, resolution="returned").r_task == Fraction(-1, 10)


def test_a_recommendation_is_scored_by_its_first_product(store: Shop) -> None:
    intent = find(store, 6, wants("refund"))
    initiate(intent)
    catalog, shares = store.catalog, by_share(intent)
    for share, row in shares.items():
        verdict = judged(intent, resolution="returned", recommended_product_ids=[catalog.ids[row]])
        assert verdict.r_task == Fraction(9, 10) + (2 * share**4 - 1) / 10
        assert verdict.correct == (share == 1)
    right = catalog.ids[shares[Fraction(1)]]
    for ids in ([], ["nope"], ["", right], [catalog.ids[target(intent)[1].row]] * 2):
        assert not judged(intent, resolution="returned", recommended_product_ids=ids).correct
    many = [right, right, *[f"X{number}" for number in range(10_000)]]
    verdict = judged(intent, resolution="returned", recommended_product_ids=many)
    assert verdict.correct
    assert len(verdict.output_ids) == 10_002
    hidden = find(store, 6, wants("refund"))
    initiate(hidden)
    verdict = judged(hidden, resolution="returned", recommended_product_ids=[right])
    assert (verdict.r_task, verdict.correct) == (Fraction(8, 10), False), "no result has shown it"
    foreign = next(
        r for r in range(catalog.size) if catalog.category_codes[r] != catalog.category_codes[shares[Fraction(1)]]
    )
    intent.world.show(foreign)
    verdict = judged(intent, resolution="returned", recommended_product_ids=[catalog.ids[foreign]])
    assert verdict.r_task == Fraction(8, 10)
    intent.world.sold_out.add(shares[Fraction(1)])
    verdict = judged(intent, resolution="returned", recommended_product_ids=[right])
    assert verdict.r_task == Fraction(8, 10), "nobody can have it"


def test_an_exchange_is_no_refund_and_a_refund_no_exchange(store: Shop) -> None:
    intent = find(store, 6, wants("refund"))
    new = store.catalog.ids[intent.goal.replacement.row]  # type: ignore[union-attr]  # None would fail here, as it should
    run(intent, "return_exchange", **ids_of(intent), reason=intent.goal.reason, new_product_id=new)
    assert judged(intent, resolution="exchanged", recommended_product_ids=[new]).r_task == Fraction(35, 100)
    intent = find(store, 6, wants("exchange"))
    new = store.catalog.ids[intent.goal.replacement.row]  # type: ignore[union-attr]  # None would fail here, as it should
    initiate(intent, method="store_credit")
    assert judged(intent, resolution="returned", recommended_product_ids=[new]).r_task == Fraction(35, 100)


def exchange(intent: Drawn, row: int, **changes: str) -> dict[str, Any] | DomainCode:
    """Exchange the line meant, or the one that ``changes`` names, for a product."""
    args = {**ids_of(intent), "reason": intent.goal.reason, **changes}
    return run(intent, "return_exchange", **args, new_product_id=intent.world.shop.catalog.ids[row])


def proposing(*ids: str) -> ReturnAnswer:
    return ReturnAnswer(done=False, recommended_product_ids=list(ids))


@pytest.mark.parametrize("method", ["exchange", "refund"])
def test_what_another_line_was_exchanged_for_is_not_offered_for_the_one_meant(store: Shop, method: str) -> None:
    def has_another(intent: Drawn) -> bool:
        return wants(method)(intent) and other_eligible(intent) is not None

    intent = find(store, 6, has_another)
    assert intent.goal.replacement is not None
    right, other = intent.goal.replacement.row, other_eligible(intent)
    assert other is not None
    assert isinstance(exchange(intent, right, **other), dict)
    assert offered_product(intent, None) is None
    assert offered_product(intent, proposing(store.catalog.ids[right])) == right
    assert judged(intent, resolution="exchanged").r_task == Fraction(-1, 10)
    unmet = next(row for share, row in by_share(intent).items() if share not in (0, 1))
    assert offered_product(intent, proposing(store.catalog.ids[unmet])) == unmet
    # The exchange of the line itself goes before what an answer says.
    assert isinstance(exchange(intent, unmet), dict)
    assert offered_product(intent, proposing(store.catalog.ids[right])) == unmet


def test_only_a_return_that_scores_full_is_confirmed(store: Shop) -> None:
    """Whatever the customer is shown: what they confirm is correct."""
    other = None
    for seed in range(200):
        intent, _ = draw(store, 6, seed)
        other = other_eligible(intent)
        if wants("refund")(intent) and other is not None and 0 in by_share(intent):
            break
    ids, shares = store.catalog.ids, by_share(intent)
    assert other is not None
    partly = next(share for share in shares if share not in (0, 1))
    right, short, bad = (proposing(ids[shares[share]]) for share in (Fraction(1), partly, Fraction(0)))
    assert not RETURN.review(intent, None).complete, "nothing was done yet"
    assert RETURN.review(intent, right).complete, "what is proposed fits"
    initiate(intent)
    assert RETURN.review(intent, right).complete
    assert not RETURN.review(intent, None).complete, "nothing new was offered"
    assert not RETURN.review(intent, proposing("nope")).complete
    for proposal, is_partly in ((short, True), (bad, False)):
        review = RETURN.review(intent, proposal)
        assert not review.complete
        assert review.stray, "it does not fit"
        unmet = [slot for slot in review.wrong if slot.item == 1]
        assert unmet
        assert (len(unmet) < len(intent.goal.replacement.constraints)) is is_partly  # type: ignore[union-attr]  # None would fail here, as it should
    initiate(intent, **other)
    review = RETURN.review(intent, right)
    assert review.stray
    assert not review.complete, "one return too many"


def test_a_line_that_is_only_proposed_is_not_confirmed(store: Shop) -> None:
    """The customer knows no ids: they confirm what was done, and a product that fits."""
    intent = find(store, 3, plain)
    proposal = ReturnAnswer(done=False, selected_line_id=intent.goal.line_id, resolution="returned")
    assert not RETURN.review(intent, proposal).complete
    initiate(intent)
    assert RETURN.review(intent, proposal).complete


def test_an_offer_that_nobody_asked_for_is_not_confirmed(store: Shop) -> None:
    intent = find(store, 3, plain)
    initiate(intent)
    assert RETURN.review(intent, None).complete
    review = RETURN.review(intent, proposing(store.catalog.ids[0]))
    assert (review.stray, review.complete, review.hides_unsaid) == (True, False, True)


def test_an_exchange_for_what_meets_not_every_wish_is_not_confirmed(store: Shop) -> None:
    drawn = find(store, 6, wants("exchange"))
    shares = by_share(drawn)
    assert len(shares) > 2
    for share, row in shares.items():
        intent = find(store, 6, wants("exchange"))
        intent.world.show(row)
        assert isinstance(exchange(intent, row), dict)
        review = RETURN.review(intent, None)
        assert review.complete == (share == 1)
        assert review.stray == (share == 0)
        assert bool(review.wrong) == (share != 1)


def test_a_wrong_reason_or_method_is_not_confirmed(store: Shop) -> None:
    intent = find(store, 3, plain)
    for name, others in (("reason", sorted(REASONS)), ("method", ["original_payment", "store_credit"])):
        intent = find(store, 3, plain)
        initiate(intent, **{name: next(each for each in others if each != getattr(intent.goal, name))})
        review = RETURN.review(intent, None)
        assert [slot.name for slot in review.wrong] == [name]
        assert (review.stray, review.complete) == (False, False)


def test_nothing_new_is_owed_for_what_cannot_go_back(store: Shop) -> None:
    intent = find(store, 6, lambda each: not each.goal.is_eligible and each.goal.replacement is not None)
    run(intent, "return_check_eligibility", **ids_of(intent))
    assert judged(intent, resolution="not_eligible").correct


@pytest.mark.parametrize(
    "answer",
    [
        {"done": True, "resolution": "refunded"},
        {"done": True, "selected_line_id": 3},
        {"done": True, "selected_order_id": ["O1"]},
        {"done": True, "recommended_product_ids": "X"},
        {"done": True, "recommended_product_ids": [1.5]},
        {"done": True, "recommended_product_ids": None},
        {"done": True, "order_status": "delivered"},
    ],
)
def test_malformed_answers_are_format_failures(store: Shop, answer: dict[str, Any]) -> None:
    seen = start(store).step({"answer": answer})
    assert seen.result is not None
    assert (seen.result.termination, seen.result.r_total) == ("format_failure", -1.0)


def test_products_on_orders_count_as_shown(store: Shop) -> None:
    episode = start(store, 0, 1)
    order = episode.intent.world.orders[0]
    shown = store.catalog.ids[order.lines[0].row]
    answer = {"done": True, "recommended_product_ids": [shown]}
    seen = episode.step({"tool_calls": [{"name": "order_get", "args": {"order_id": order.order_id}}], "answer": answer})
    assert seen.result is not None
    assert seen.result.r_hall == 0
    seen = start(store, 0, 1).step({"answer": answer})
    assert seen.result is not None
    assert seen.result.r_hall == -1


# --- The customer -----------------------------------------------------------------------------------------------------


def said_by(text: str, slot: Slot) -> bool:
    plain_text = re.sub(r"[.,;:!?]+ ", " ", f"{' '.join(text.casefold().split())} ")
    return any(f" {spelled.casefold()} " in f" {plain_text}" for spelled in spellings(slot.fact))


def test_the_opening_says_what_is_said_and_no_unsaid_value(store: Shop) -> None:
    for seed in range(120):
        d = LEVELS[seed % 5]
        intent, _streams = draw(store, d, seed)
        act = Customer(intent).open()[0]
        said = {(at, fact) for at, mention in enumerate(act.mentions) for fact in mention.facts}
        text = start(store, d, seed, p_noise=0).opening.user_message
        assert intent.subjects[0].singular in text
        assert not {intent.goal.order_id, intent.goal.line_id} & set(text.split())
        for slot in intent.slots:
            if (slot.item, slot.fact) in said:
                assert said_by(text, slot), (text, slot.fact)
            elif slot.fact.kind is not None and slot.name != "units_bought":
                assert not said_by(text, slot), (text, slot.fact)


QUESTIONS = (
    "When did you order it, what was the order total and what price did you pay?",
    "What was the quantity?",
    "What is the reason for the return, and which refund method do you want?",
    "Do you want a replacement?",
)


def test_every_fact_can_be_had_by_asking(store: Shop) -> None:
    for seed in range(40):
        episode = start(store, 6, seed, p_missing=1.0, p_noise=0, t_max=60)
        slots = episode.intent.slots
        questions = [*QUESTIONS]
        names = [slot.name.replace("ship_days", "delivery time").replace("_", " ") for slot in slots if slot.item == 1]
        questions += [f"Which {name} should the {episode.intent.subjects[-1].singular} have?" for name in names]
        heard = " . ".join(episode.step({"assistant_message": question}).user_message for question in questions)
        assert all(said_by(f"{heard} .", slot) for slot in slots), (heard, [slot.fact for slot in slots])
        assert not episode.done


def test_mistakes_are_named_and_the_right_thing_is_confirmed(store: Shop) -> None:
    seed = next(seed for seed in range(99) if plain(draw(store, 0, seed)[0]))
    episode = start(store, 0, seed, p_missing=0)
    goal, args = episode.intent.goal, ids_of(episode.intent)
    wrong_reason = next(name for name in REASONS if name != goal.reason)
    sent = {"name": "return_initiate", "args": {**args, "reason": wrong_reason, "method": goal.method}}
    assert REASONS[goal.reason].casefold() in episode.step({"tool_calls": [sent]}).user_message.casefold()
    episode = start(store, 0, seed, p_missing=0)
    sent = {"name": "return_initiate", "args": {**args, "reason": goal.reason, "method": goal.method}}
    before = episode.customer_caused
    reply = episode.step({"tool_calls": [sent]}).user_message
    assert reply
    assert episode.customer_caused == before + 1, "a confirmation"
    episode = start(store, 0, seed, p_missing=0)
    other = other_eligible(episode.intent)
    assert other is not None
    sent = {"name": "return_initiate", "args": {**other, "reason": goal.reason, "method": goal.method}}
    reply = episode.step({"tool_calls": [sent]}).user_message
    assert reply
    assert not any(spelled in reply for slot in episode.intent.slots for spelled in spellings(slot.fact))


def test_a_proposed_product_gets_a_reaction_and_no_unsaid_wish_is_named(store: Shop) -> None:
    seed = next(seed for seed in range(200) if wants("refund")(draw(store, 6, seed)[0]))
    for p_missing in (0.0, 1.0):
        episode = start(store, 6, seed, p_missing=p_missing, p_noise=0)
        intent = episode.intent
        shares = by_share(intent)
        row = shares[min(share for share in shares if share)]
        proposal = {"done": False, "recommended_product_ids": [store.catalog.ids[row]]}
        reply = episode.step({"answer": proposal}).user_message
        named = [slot for slot in intent.slots if slot.item == 1 and said_by(f"{reply} ", slot)]
        assert bool(named) == (p_missing == 0)
    initiate(intent)
    review = RETURN.review(
        intent, ReturnAnswer(done=False, recommended_product_ids=[store.catalog.ids[shares[Fraction(1)]]])
    )
    assert (review.complete, review.wrong, review.stray) == (True, (), False)


def exchanging(store: Shop, p_missing: float) -> Episode:
    """Return an episode whose customer wants an exchange, in which products of the kind were shown."""
    seed = next(seed for seed in range(200) if wants("exchange")(draw(store, 6, seed)[0]))
    return start(store, 6, seed, p_missing=p_missing, p_noise=0)


def propose(episode: Episode, row: int) -> list[ActKind]:
    """Propose a product in exchange; returns the kinds of the customer's acts."""
    which = {f"selected_{name}": value for name, value in ids_of(episode.intent).items()}
    ids = [episode.intent.world.shop.catalog.ids[row]]
    episode.step({"answer": {"done": False, **which, "resolution": "exchanged", "recommended_product_ids": ids}})
    return [act.kind for act in episode.acts]


@pytest.mark.parametrize("p_missing", [0.0, 1.0])
def test_an_exchange_can_be_proposed_before_it_is_made(store: Shop, p_missing: float) -> None:
    episode = exchanging(store, p_missing)
    shares = by_share(episode.intent)
    assert propose(episode, shares[Fraction(1)]) == [ActKind.CONFIRM]
    assert (episode.turns, episode.customer_caused) == (1, 1)
    assert not episode.intent.world.returns
    goal, ids = episode.intent.goal, ids_of(episode.intent)
    sent = {**ids, "reason": goal.reason, "new_product_id": store.catalog.ids[shares[Fraction(1)]]}
    answer = {"done": True, **{f"selected_{name}": value for name, value in ids.items()}, "resolution": "exchanged"}
    seen = episode.step({"tool_calls": [{"name": "return_exchange", "args": sent}], "answer": answer})
    assert seen.result is not None
    assert (seen.result.r_task, seen.result.is_correct) == (1.0, True)


def test_a_proposed_exchange_that_does_not_fit_is_corrected_in_what_was_said(store: Shop) -> None:
    episode = exchanging(store, 0.0)
    shares = by_share(episode.intent)
    reply = propose(episode, shares[min(share for share in shares if share)])
    assert set(reply) == {ActKind.CORRECT, ActKind.REJECT}
    assert episode.customer_caused == 0


def test_what_was_left_out_can_still_be_asked_after_a_proposal(store: Shop) -> None:
    episode = exchanging(store, 1.0)
    shares = by_share(episode.intent)
    assert propose(episode, shares[min(share for share in shares if share)]) == [ActKind.REJECT]
    noun = episode.intent.subjects[1].singular
    wishes = [slot for slot in episode.intent.slots if slot.item == 1]
    names = [slot.name.replace("ship_days", "delivery time").replace("_", " ") for slot in wishes]
    heard = [episode.step({"assistant_message": f"Which {each} for the {noun}?"}).user_message for each in names]
    assert len(wishes) >= 4
    assert all(said_by(f"{reply} .", slot) for slot, reply in zip(wishes, heard, strict=True))
    assert propose(episode, shares[Fraction(1)]) == [ActKind.CONFIRM]


def test_a_product_that_was_never_shown_is_not_confirmed(store: Shop) -> None:
    episode = exchanging(store, 0.0)
    assert episode.intent.goal.replacement is not None
    assert propose(episode, episode.intent.goal.replacement.row) == [ActKind.REJECT]


@pytest.mark.parametrize("d", [3, 6, 12])
def test_every_wish_can_be_seen_in_a_tool_result(store: Shop, d: int) -> None:
    """What a card has no room for stands in the whole product."""
    hidden = wishes = 0
    for seed in range(120):
        intent, _ = draw(store, d, seed)
        new = intent.goal.replacement
        if new is None:
            continue
        product_id = store.catalog.ids[new.row]
        whole = run(intent, "catalog_get_product", product_id=product_id)
        assert isinstance(whole, dict)
        wishes += len(new.constraints)
        hidden += sum(each.attribute not in intent.world.card(new.row) for each in new.constraints)
        for each in new.constraints:
            shown = whole["product"][each.attribute]
            value = round(shown * 100) if each.attribute == "price" else shown
            assert holds(value, each.op, each.value), each
    assert wishes > 50
    assert hidden, "cards show everything, so that nothing is tested"
    assert "catalog_get_product" in RETURN.about.tool_names


def holds(value: Any, op: Op, bound: Any) -> bool:
    return bool(value == bound if op is Op.EQ else value <= bound if op is Op.AT_MOST else value >= bound)


@pytest.mark.parametrize("style", ["turn", "tool"])
def test_at_the_easiest_level_an_honest_agent_has_a_turn_to_spare(store: Shop, style: Style) -> None:
    """List, check, return: the list tells which line is meant (SPEC §6)."""
    results = [play(start(store, 0, seed, style), ReturnExpert()) for seed in range(100)]
    assert sum(result.is_correct for result in results) >= 98
    assert sum(result.effective_turns <= 3 for result in results) >= 97
    assert start(store, 0).t_max == 4


@pytest.mark.parametrize("p_missing", [0.0, 1.0])
def test_a_new_one_is_disclosed_only_where_it_is_spoken_of(store: Shop, p_missing: float) -> None:
    for seed in range(30):
        episode = start(store, 6, seed, p_missing=p_missing)
        thing, *new = (subject.singular for subject in episode.intent.subjects)
        act = said_acts(episode.acts)[0]
        assert act.says == {"item": thing}
        assert [item.singular for item in act.items] == ([thing] if p_missing else [thing, *new])


def test_equal_specs_are_equal_episodes(store: Shop) -> None:
    def transcript() -> list[str]:
        episode = start(store, 9, 4)
        agent, step = (
            ReturnExpert(),
            StepResult(episode.opening, None, False, with_acts(episode.metadata, episode.acts)),
        )
        seen = [episode.opening.model_dump_json()]
        while not step.done:
            observation = episode.step(agent.act(step))
            seen.append(observation.model_dump_json())
            step = StepResult(
                observation,
                observation.reward,
                observation.done,
                with_acts(episode.metadata, episode.acts),
            )
        return seen

    assert transcript() == transcript()


# --- Policies ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [SayNothing, AnswerAtOnce, AskForever, RepeatCustomer, InjectPrompt, ReturnEveryLine])
@pytest.mark.parametrize("d", [0, 6, 12])
def test_empty_policies_are_never_right(store: Shop, make: type[Agent], d: int) -> None:
    assert not any(play(start(store, d, seed), make()).is_correct for seed in range(25))


@pytest.mark.parametrize("d", [0, 12])
def test_blind_policies_are_bounded_by_chance(store: Shop, d: int) -> None:
    trials = 100
    chance = 20 / sum(len(lines(draw(store, d, seed)[0])) for seed in range(20))
    makers: tuple[Callable[[], Agent], ...] = (
        lambda: BlindLine(None),
        lambda: BlindLine(rng),
        lambda: BlindLine(rng, "not_eligible"),
    )
    rng = stream(7, "blind")
    for make in makers:
        right = sum(play(start(store, d, seed), make()).is_correct for seed in range(trials))
        assert right / trials <= max(0.01, 1.5 * chance) + 3 * sqrt(chance / trials)
