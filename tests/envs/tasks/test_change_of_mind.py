"""Changes of mind in CART and PD (SPEC §6): two goals with the same guarantees, and when the second counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import sqrt
from typing import Any

import pytest

from ecom_rlve.catalog.constraints import Constraint, Op, all_satisfied
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.errand import Change, Intent, Revision
from ecom_rlve.envs.language.acts import ActKind
from ecom_rlve.envs.language.phrases import LABELS
from ecom_rlve.envs.parts.recommendation import RecommendationAnswer, fewest_fitting
from ecom_rlve.envs.registry import environment
from ecom_rlve.envs.tasks.cart.stockout import VariantStockout
from ecom_rlve.envs.tasks.product_discovery.environment import ENVIRONMENT as PD
from ecom_rlve.envs.tasks.product_discovery.preferences import DIMENSIONS
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.stockout import ProductCoins, standing_variants
from ecom_rlve.evaluation.agent import one_at_a_time
from ecom_rlve.models import Style

BOTH = ("CART", "PD")
LEVELS = (0, 3, 6, 9, 12, 18)
MOVED = {"p_switch": 1.0}
QUIET = {"p_missing": 0.0, "p_noise": 0.0, "p_oos": 0.0}


@pytest.fixture(scope="module")
def shop(wide_shop: Shop) -> Shop:
    return wide_shop


def start(
    shop: Shop, env_id: str, d: int, seed: int, axes: Mapping[str, float] = MOVED, style: Style = "turn"
) -> Episode:
    """Return an episode whose customer will change their mind, unless ``axes`` say otherwise."""
    spec = EpisodeSpec(env_id, d, seed, style=style, axes=tuple(sorted({**MOVED, **axes}.items())))
    return Episode(shop, spec, "episode", include=())


def drawn(episode: Episode) -> tuple[Intent[Any], Revision[Any], Change]:
    """Return an episode's intent, its revision and what it changes now."""
    intent = episode.intent
    assert intent.revision is not None
    change = intent.revision.change(intent)
    assert change is not None
    return intent, intent.revision, change


def revises(episode: Episode) -> bool:
    return any(act.kind is ActKind.REVISE for act in episode.acts)


def due(shop: Shop, env_id: str, turn: int, d: int = 3, **axes: float) -> Episode:
    """Return an episode whose customer will change their mind in the reply to the given turn."""
    for seed in range(100):
        episode = start(shop, env_id, d, seed, {**QUIET, **axes})
        if drawn(episode)[1].turn == turn:
            return episode
    raise AssertionError(f"no change of mind in turn {turn}")


@pytest.mark.parametrize("env_id", BOTH)
def test_as_many_change_their_mind_as_the_axis_says(shop: Shop, env_id: str) -> None:
    for p_switch in (0.1, 0.5, 0.9):
        flags = [start(shop, env_id, 3, seed, {"p_switch": p_switch}).intent.revision for seed in range(200)]
        share = sum(flag is not None for flag in flags) / len(flags)
        assert abs(share - p_switch) <= 3 * sqrt(p_switch * (1 - p_switch) / len(flags))
        turns = Counter(flag.turn for flag in flags if flag is not None)
        assert set(turns) == {1, 2}
        assert abs(turns[1] - turns[2]) <= 3 * sqrt(turns.total())


@pytest.mark.parametrize("env_id", BOTH)
def test_nobody_does_where_the_axis_is_nought(shop: Shop, env_id: str) -> None:
    assert all(start(shop, env_id, 12, seed, {"p_switch": 0.0}).intent.revision is None for seed in range(30))


@pytest.mark.parametrize("d", LEVELS)
@pytest.mark.parametrize("env_id", BOTH)
def test_one_slot_changes_and_nothing_else(shop: Shop, env_id: str, d: int) -> None:
    for seed in range(12):
        intent, revision, change = drawn(start(shop, env_id, d, seed))
        pairs = list(zip(intent.slots, change.slots, strict=True))
        assert [old for old, new in pairs if old != new] == [revision.slot]
        (new,) = [new for old, new in pairs if old != new]
        assert (new.name, new.item, new.fact.constraint.attribute) == (
            revision.slot.name, revision.slot.item, revision.slot.fact.constraint.attribute,
        )  # fmt: skip
        assert change.act.kind is ActKind.REVISE
        assert [fact for mention in change.act.mentions for fact in mention.facts] == [new.fact]
        assert revision.slot.name != "priority"


@pytest.mark.parametrize("d", LEVELS)
def test_both_goals_of_pd_meet_every_guarantee(shop: Shop, d: int) -> None:
    for seed in range(12):
        intent, _, change = drawn(start(shop, "PD", d, seed))
        for goal, slots in ((intent.goal, intent.slots), (change.goal, change.slots)):
            constraints = [slot.fact.constraint for slot in slots if slot.name != "priority"]
            assert list(goal.constraints) == constraints
            family = shop.catalog.rows_of_category(goal.category)
            stock = shop.catalog.column("stock").values
            fitting = [row for row in all_satisfied(shop.catalog, constraints, family).tolist() if stock[row] > 0]
            assert len(fitting) >= fewest_fitting(intent.world.axes)
            standing = ProductCoins(intent.world, goal.category).standing(family[[row in fitting for row in family]])
            assert goal.fitting.tolist() == standing.tolist()
            assert len(standing) >= 1
            assert goal.priority in DIMENSIONS
        first = PD.gains_now(intent).best_rows(intent.world.axes.k_rec)
        intent.world.shown.update(dict.fromkeys(first))
        ids = [shop.catalog.ids[row] for row in first]
        answer = RecommendationAnswer(done=True, recommended_product_ids=ids)
        assert PD.verify(intent, answer).correct
        intent.apply(change)
        assert not PD.verify(intent, answer).correct, "the list that was best is still right"


@pytest.mark.parametrize("d", LEVELS)
def test_both_goals_of_cart_meet_every_guarantee(shop: Shop, d: int) -> None:
    seen = Counter[str]()
    for seed in range(30):
        intent, revision, change = drawn(start(shop, "CART", d, seed))
        at = revision.slot.item
        before, after = intent.goal.items[at], change.goal.items[at]
        assert before.row == after.row
        seen[revision.slot.name] += 1
        if revision.slot.name == "quantity":
            assert after.quantity in {1, 2, 3, 4} - {before.quantity}
            assert after.variant == before.variant
        else:
            assert after.variant != before.variant
            assert after.variant in intent.world.variants(after.row)
            if isinstance(intent.stockout, VariantStockout) and intent.stockout.item == at:
                assert set(standing_variants(intent.world, after.row)) - {after.variant}
    assert seen["quantity"]
    assert d == 0 or seen["variant"]


@pytest.mark.parametrize("style", ["turn", "tool"])
@pytest.mark.parametrize("env_id", BOTH)
def test_who_knows_the_goal_scores_exactly_one(shop: Shop, env_id: str, style: Style) -> None:
    fell = 0
    for d in range(environment(env_id).max_difficulty(shop) + 1):
        for seed in range(3):
            episode = start(shop, env_id, d, seed, style=style)
            while not episode.done:
                episode.step(one_at_a_time(episode.solve(), style))
                fell += revises(episode)
            assert episode.result is not None
            assert episode.result.r_task == 1.0, (env_id, d, seed)
            assert episode.result.is_correct
    assert fell >= 5


@pytest.mark.parametrize("turn", [1, 2])
@pytest.mark.parametrize("env_id", BOTH)
def test_it_falls_in_the_reply_to_its_turn_unasked_and_excused_once(shop: Shop, env_id: str, turn: int) -> None:
    episode = due(shop, env_id, turn)
    goal = episode.goal_json()
    for at in range(1, 4):
        caused = episode.customer_caused
        episode.step({"tool_calls": [{"name": "catalog_search", "args": {"query": f"something {at}"}}]})
        assert revises(episode) is (at == turn)
        assert episode.customer_caused - caused == (at == turn)
        assert bool(episode.log.latest.user_message) is (at == turn)
        assert (episode.goal_json() != goal) is (at >= turn)


@pytest.mark.parametrize("env_id", BOTH)
def test_what_was_not_said_is_not_revised(shop: Shop, env_id: str) -> None:
    """It waits for the reply after the first that says it."""
    episode = due(shop, env_id, 1, d=9, p_missing=1.0)
    intent, revision, _ = drawn(episode)
    for _ in range(3):
        episode.step({})
        assert not revises(episode)
    label = LABELS[revision.slot.fact.constraint.attribute]
    episode.step({"assistant_message": f"Which {label} for the {intent.subjects[revision.slot.item].singular}?"})
    assert revision.slot in episode.customer.said
    assert not revises(episode)
    episode.step({})
    assert revises(episode)


@pytest.mark.parametrize("env_id", BOTH)
def test_it_never_falls_where_too_few_turns_are_left(shop: Shop, env_id: str) -> None:
    fell = dict.fromkeys((2, 40), 0)
    for t_max in fell:
        for seed in range(20):
            episode = start(shop, env_id, 3, seed, {**QUIET, "t_max": t_max})
            while not episode.done:
                episode.step({})
                fell[t_max] += revises(episode)
    assert fell[40] == 20
    assert fell[2] < 20
    assert env_id != "PD" or not fell[2]


@pytest.mark.parametrize("env_id", BOTH)
def test_who_answers_before_is_judged_by_what_was_wanted_then(shop: Shop, env_id: str) -> None:
    episode = due(shop, env_id, 2)
    intent = episode.intent
    _, _, change = drawn(episode)
    first = intent.goal
    episode.step(episode.solve())
    while not episode.done and episode.turns < 1:
        episode.step(episode.solve())
    if not episode.done:
        action = episode.solve()
        if action.get("answer"):
            episode.step(action)
            assert episode.result is not None
            assert episode.result.is_correct
            assert intent.goal is first
            assert intent.goal is not change.goal


def test_what_they_say_last_is_what_is_told_reviewed_and_judged(shop: Shop) -> None:
    """In CART: a question gets the new value, a cart for the old one is corrected with it, the new one is confirmed."""
    for seed in range(60):
        episode = start(shop, "CART", 0, seed, {**QUIET, "t_max": 40})
        intent, revision, change = drawn(episode)
        if revision.slot.name == "quantity":
            break
    wanted, after = intent.goal.items[0], change.goal.items[0]
    while not revises(episode):
        episode.step({"tool_calls": [{"name": "catalog_search", "args": _search(episode, wanted.row)}]})
    noun, value = intent.subjects[0].plural, after.quantity
    episode.step({"assistant_message": f"How many {noun} do you want?"})
    told = [fact.constraint.value for act in episode.acts for mention in act.mentions for fact in mention.facts]
    assert told == [value]
    args: dict[str, Any] = {"product_id": shop.catalog.ids[wanted.row], "quantity": wanted.quantity}
    args |= {"variant_id": wanted.variant.id} if wanted.variant else {}
    episode.step({"tool_calls": [{"name": "cart_add", "args": args}]})
    assert [act.kind for act in episode.acts] == [ActKind.CORRECT]
    assert [fact.constraint.value for fact in episode.acts[0].mentions[0].facts] == [value]
    line = intent.world.cart[0].line_id
    episode.step({"tool_calls": [{"name": "cart_set_quantity", "args": {"line_id": line, "quantity": value}}]})
    assert [act.kind for act in episode.acts] == [ActKind.CONFIRM]
    episode.step({"answer": {"done": True}})
    assert episode.result is not None
    assert episode.result.is_correct


def _search(episode: Episode, row: int) -> dict[str, Any]:
    return {"query": episode.world.shop.catalog.titles[row], "limit": 10}


def test_in_the_turn_itself_nothing_done_for_the_old_wish_is_blamed(shop: Shop) -> None:
    blamed = {ActKind.CORRECT, ActKind.REJECT, ActKind.SKIP, ActKind.CONFIRM}
    seen = 0
    for seed in range(30):
        episode = start(shop, "CART", 3, seed, {**QUIET, "t_max": 40})
        while not episode.done and not revises(episode):
            row = episode.intent.goal.items[0].row
            search = {"name": "catalog_search", "args": _search(episode, row)}
            add = {"name": "cart_add", "args": {"product_id": shop.catalog.ids[row], "quantity": 1}}
            episode.step({"tool_calls": [search, add]})
        kinds = {act.kind for act in episode.acts}
        assert not kinds & blamed
        seen += kinds == {ActKind.REVISE}
    assert seen == 30


def test_an_action_that_goes_on_is_not_revised_in_its_middle(shop: Shop) -> None:
    """In style tool a call too many closes the turn: an answer beside it was written before anything could be heard."""
    checked = 0
    for seed in range(60):
        episode = start(shop, "CART", 0, seed, QUIET, style="tool")
        _, revision, _ = drawn(episode)
        if revision.turn != 1:
            continue
        row = episode.intent.goal.items[0].row
        search = {"name": "catalog_search", "args": _search(episode, row)}
        episode.step({"tool_calls": [search, search], "end_turn": False})
        episode.step({"tool_calls": [search], "answer": {"done": True}})
        assert episode.done
        assert intact(episode, revision)
        checked += 1
    assert checked >= 10


def intact(episode: Episode, revision: Revision[Any]) -> bool:
    return revision.slot in episode.intent.slots


def test_a_question_in_that_turn_is_answered_too(shop: Shop) -> None:
    episode = due(shop, "PD", 1, d=6)
    _, revision, _ = drawn(episode)
    other = next(slot for slot in episode.intent.slots if slot != revision.slot and slot.name != "priority")
    episode.step({"assistant_message": f"Which {LABELS[other.fact.constraint.attribute]} do you want?"})
    assert [act.kind for act in episode.acts] == [ActKind.ANSWER, ActKind.REVISE]
    asked_for_it = due(shop, "PD", 1, d=6)
    label = LABELS[revision.slot.fact.constraint.attribute]
    asked_for_it.step({"assistant_message": f"Which {label} do you want?"})
    assert [act.kind for act in asked_for_it.acts] == [ActKind.REVISE]


@pytest.mark.parametrize("question", ["Anything else?", "What should it be like?"])
def test_a_question_that_names_nothing_is_the_agents_turn_all_the_same(shop: Shop, question: str) -> None:
    episode = due(shop, "PD", 1, d=6)
    episode.step({"assistant_message": question})
    assert revises(episode)
    assert episode.customer_caused == 0


def test_what_was_replaced_because_it_sold_out_is_not_revised(shop: Shop) -> None:
    """A change of mind never takes back what was named in place of something sold out."""
    checked = 0
    for seed in range(200):
        episode = start(shop, "CART", 6, seed, {"p_missing": 0.0, "p_noise": 0.0, "p_oos": 0.5})
        intent, revision, _ = drawn(episode)
        stockout = intent.stockout
        if revision.slot.name != "variant" or not isinstance(stockout, VariantStockout):
            continue
        wanted = intent.goal.items[revision.slot.item]
        if stockout.item != revision.slot.item or wanted.variant in standing_variants(intent.world, wanted.row):
            continue
        intent.world.variants_read.add(wanted.row)
        stockout.sell(intent)
        assert stockout.missing(intent) == revision.slot.item
        intent.apply(stockout.settled(intent, revision.slot.item))
        assert revision.change(intent) is None
        checked += 1
    assert checked >= 3


def test_a_fallback_comes_before_a_change_of_mind(shop: Shop) -> None:
    """In one reply there is one of them, and both can be said of one thing one after the other."""
    together = Counter[frozenset[ActKind]]()
    for seed in range(60):
        episode = start(shop, "CART", 9, seed, {"p_missing": 0.0, "p_oos": 0.5})
        while not episode.done:
            episode.step(episode.solve())
            kinds = frozenset(act.kind for act in episode.acts) & {ActKind.REVISE, ActKind.STOCKOUT_FALLBACK}
            together[kinds] += bool(kinds)
        assert episode.result is not None
        assert episode.result.is_correct
    assert together[frozenset({ActKind.REVISE})]
    assert together[frozenset({ActKind.STOCKOUT_FALLBACK})]
    assert not together[frozenset({ActKind.REVISE, ActKind.STOCKOUT_FALLBACK})]


@pytest.mark.parametrize("d", LEVELS)
def test_exclusions_and_ranges_leave_something_out_and_never_name_what_is_wanted(shop: Shop, d: int) -> None:
    found, biting = Counter[Op](), Counter[Op]()
    for seed in range(60):
        goal = start(shop, "PD", d, seed, {"p_switch": 0.0}).intent.goal
        family = shop.catalog.rows_of_category(goal.category)
        stock = shop.catalog.column("stock").values
        family = family[[stock[row] > 0 for row in family]]
        for each in goal.constraints:
            if each.op not in (Op.NONE_OF, Op.BETWEEN):
                continue
            found[each.op] += 1
            others = [other for other in goal.constraints if other is not each]
            biting[each.op] += len(all_satisfied(shop.catalog, others, family)) > len(goal.fitting)
            if each.op is Op.NONE_OF:
                assert isinstance(each.value, tuple)
                left = {shop.catalog.value(int(row), each.attribute) for row in family} - {None, *each.value}
                assert len(left) >= 2 or len(each.value) == 1
                assert all(
                    len(all_satisfied(shop.catalog, [Constraint(each.attribute, Op.EQ, word)], family)) > 0
                    for word in each.value
                    if isinstance(word, str)
                )
    assert found[Op.BETWEEN] >= 5
    assert found[Op.NONE_OF] >= 5 or d < 3
    assert biting[Op.NONE_OF] >= found[Op.NONE_OF] / 2
    assert biting[Op.BETWEEN] >= found[Op.BETWEEN] / 4
