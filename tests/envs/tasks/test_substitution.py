"""SUB: the sold-out product is one of many, what must stay is told from what is wished, the formula is the brief's."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.constraints import Op, all_satisfied, is_satisfied, satisfied
from ecom_rlve.envs.difficulty import axes_of
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import ActKind
from ecom_rlve.envs.language.frames import DEFAULT_BANK
from ecom_rlve.envs.language.phrases import spellings
from ecom_rlve.envs.parts.recommendation import RecommendationAnswer, fitting_now, most_fitting
from ecom_rlve.envs.parts.scores import discount
from ecom_rlve.envs.tasks.substitution.environment import ENVIRONMENT
from ecom_rlve.envs.tasks.substitution.goal import COMPATIBILITY, SubstitutionGoal, similarity_weight
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.similarity import measures_of
from ecom_rlve.envs.world.stockout import ProductCoins
from ecom_rlve.models import Observation, Split

Play = Callable[[Episode, Observation], dict[str, Any]]
QUIET = {"p_missing": 0.0, "p_noise": 0.0}


@pytest.fixture(scope="module")
def shop() -> Shop:
    return Shop.open("synthetic:4000:0")


def start(shop: Shop, d: int, seed: int, style: str = "turn", split: Split = "train", **axes: float) -> Episode:
    spec = EpisodeSpec("SUB", d, seed, split, style, tuple(axes.items()))  # type: ignore[arg-type]  # a style comes as a plain string
    return Episode(shop, spec, "episode")


def play(episode: Episode, policy: Play) -> Observation:
    observation = episode.opening
    while not observation.done:
        observation = episode.step(policy(episode, observation))
    return observation


def solve(episode: Episode, _: Observation) -> dict[str, Any]:
    action = ENVIRONMENT.solve(episode.intent)
    calls = action.get("tool_calls", [])
    if episode.spec.style == "tool" and len(calls) > 1:
        return {"tool_calls": calls[:1], "end_turn": False}
    return action


def judged(intent: Intent[SubstitutionGoal], ids: list[str]) -> tuple[Any, bool]:
    """Return the score of products that were shown, compared with whole numbers too, and whether it is right.

    Ids of no product stay what they are.
    """
    catalog = intent.world.shop.catalog
    intent.world.shown.update(dict.fromkeys(catalog.row_of(each) for each in ids if each != "nothing"))
    verdict = ENVIRONMENT.verify(intent, RecommendationAnswer(done=True, recommended_product_ids=ids))
    assert verdict.output_ids == tuple(ids)
    return verdict.r_task, verdict.correct


def best_ids(intent: Intent[SubstitutionGoal], k: int = 1000) -> list[str]:
    ids = intent.world.shop.catalog.ids
    return [ids[row] for row in ENVIRONMENT.gains_now(intent).best_rows(k)]


def family_of(shop: Shop, goal: SubstitutionGoal) -> list[int]:
    rows: list[int] = shop.catalog.rows_of_category(shop.catalog.category_of(goal.original).name).tolist()
    return rows


def test_goals_are_what_the_contract_says(shop: Shop) -> None:
    catalog = shop.catalog
    too_many = 0
    for d in range(13):
        for seed in range(40):
            intent = start(shop, d, seed).intent
            goal, axes, world = intent.goal, axes_of(d), intent.world
            assert 1 <= len(goal.required) <= axes.m - 1
            assert len(goal.required) + len(goal.wished) == axes.m
            names = [constraint.attribute for constraint in (*goal.required, *goal.wished)]
            assert len(set(names)) == axes.m
            assert catalog.category_of(goal.original).variant_attribute not in names
            for constraint in goal.required:
                assert constraint.attribute in COMPATIBILITY
                assert (constraint.op, constraint.value) == (
                    Op.EQ,
                    catalog.value(goal.original, constraint.attribute),
                )
            assert all(is_satisfied(catalog, constraint, goal.original) for constraint in goal.wished)
            rows = all_satisfied(catalog, goal.required, np.array(family_of(shop, goal), dtype=np.int32))
            pool = np.array([row for row in rows.tolist() if world.stock(row) > 0], dtype=np.int32)
            kind = catalog.category_of(goal.original).name
            assert ProductCoins(world, kind).standing(pool).tolist() == goal.fitting.tolist()
            assert goal.original not in goal.fitting
            assert len(pool) >= max(axes.k_rec, 6 if d else 0)
            assert len(goal.fitting) >= 1
            too_many += len(goal.fitting) > most_fitting(axes)
            assert ENVIRONMENT.gains_now(intent).best_rows(1) == [goal.wanted]
    assert too_many < 10


def test_the_original_is_one_of_twelve(shop: Shop) -> None:
    """All were on the shelf, are of its category, and could have been meant: by title, price and attributes."""
    for seed in range(60):
        intent = start(shop, 6, seed).intent
        goal, sold_out = intent.goal, intent.world.sold_out
        assert goal.original in sold_out
        assert len(sold_out) == 12
        assert sold_out <= set(family_of(shop, goal))
        titles = [str(shop.full_card(row)["title"]) for row in family_of(shop, goal)]
        for row in sold_out:
            assert shop.catalog.column("stock").values[row] > 0
            assert shop.catalog.value(row, "price") is not None
        assert titles.count(str(shop.full_card(goal.original)["title"])) == 1


@pytest.mark.parametrize("split", ["train", "eval", "test"])
def test_originals_are_of_the_split(shop: Shop, split: Split) -> None:
    for seed in range(20):
        assert shop.split(start(shop, 3, seed, split=split).intent.goal.original) == split


def test_the_opening_quotes_the_title(shop: Shop) -> None:
    for seed in range(20):
        episode = start(shop, 6, seed, "turn", "train", **QUIET)
        card = shop.full_card(episode.intent.goal.original)
        assert f'"{card["title"]}"' in episode.opening.user_message


def says(text: str, slot: Slot) -> bool:
    """Tell whether a text says a fact, in the middle of a sentence or at its start."""
    return any(spelled.casefold() in text.casefold() for spelled in spellings(slot.fact))


def test_everything_can_be_had_by_asking(shop: Shop) -> None:
    for seed in range(20):
        episode = start(shop, 6, seed, p_missing=1.0, p_noise=0.0, t_max=40)
        assert episode.opening.user_message.count('"') == 2
        kept = [slot for slot in episode.intent.slots if slot.name == "compatibility"]
        said = episode.step({"assistant_message": "What must stay the same?"}).user_message
        assert all(says(said, slot) for slot in kept[:3]), said
        for slot in episode.intent.slots:
            label = slot.fact.constraint.attribute.replace("_", " ")
            said = episode.step({"assistant_message": f"Which {label} do you want?"}).user_message
            assert says(said, slot), (said, slot)


def test_the_brief_states_the_formula(shop: Shop) -> None:
    for d in (0, 4, 12):
        text = start(shop, d, 0).opening.instructions or ""
        share = similarity_weight(d)
        assert f"{float(share):g}·similarity + {float(1 - share):g}·(share of preferences met)" in text
    assert [similarity_weight(d) for d in (0, 4, 8, 20)] == [Fraction(n, 10) for n in (4, 6, 8, 8)]


def test_gains_can_be_computed_from_what_an_agent_sees(shop: Shop) -> None:
    compared = 0
    for seed in range(60):
        intent = start(shop, 3 + seed % 6, seed).intent
        goal, catalog = intent.goal, shop.catalog
        facets = measures_of(shop, catalog.category_of(goal.original).name).shown()
        original = intent.world.card(goal.original)
        cards = [intent.world.card(row) for row in goal.fitting.tolist()]
        names = [name for name in (*facets["attributes"], *facets["ranges"]) if name in original]
        rows = goal.fitting.tolist()
        if any(
            name not in card and _has(shop, row, name) for card, row in zip(cards, rows, strict=True) for name in names
        ):
            continue
        alike = [sum(_alike(original, card, name, facets["ranges"]) for name in names) for card in cards]
        low, high = min(alike), max(alike)
        share = float(similarity_weight(intent.world.axes.d))
        met = np.sum([satisfied(catalog, constraint, goal.fitting) for constraint in goal.wished], axis=0)
        gains = ENVIRONMENT.gains_now(intent)
        for at, row in enumerate(rows):
            similar = (alike[at] - low) / (high - low) if high > low else 1.0
            expected = share * similar + (1 - share) * met[at] / len(goal.wished)
            assert float(gains.of(row)) == pytest.approx(expected, abs=1e-4)
        compared += 1
    assert compared > 50


def _has(shop: Shop, row: int, name: str) -> bool:
    floors = shop.catalog.column("price").is_floor
    return shop.catalog.value(row, name) is not None and not (name == "price" and floors is not None and floors[row])


def _alike(original: dict[str, Any], card: dict[str, Any], name: str, ranges: dict[str, list[float]]) -> float:
    if name not in card:
        return 0.0
    if name not in ranges:
        return float(original[name] == card[name])
    low, high = ranges[name]
    return 1 - abs(original[name] - card[name]) / (high - low) if high > low else 1.0


@pytest.mark.parametrize("style", ["turn", "tool"])
def test_the_solution_scores_exactly_one(shop: Shop, style: str) -> None:
    assert ENVIRONMENT.max_difficulty(shop) >= 12
    for d in range(ENVIRONMENT.max_difficulty(shop) + 1):
        for seed in range(10):
            result = play(start(shop, d, seed, style), solve).result
            assert result is not None
            assert (result.r_task, result.is_correct) == (1.0, True), (d, seed)


def test_reward_by_hand(shop: Shop) -> None:
    intent = start(shop, 6, 0).intent
    gains, k = ENVIRONMENT.gains_now(intent), intent.world.axes.k_rec
    rows, ids = gains.best_rows(1000), best_ids(intent)
    ideal = sum(gains.of(row) * discount(at) for at, row in enumerate(rows[:k]))
    order = [rows[2], rows[0], *rows[3 : k + 1]]
    ndcg = sum(gains.of(row) * discount(at) for at, row in enumerate(order)) / ideal
    given = [intent.world.shop.catalog.ids[row] for row in order]
    assert judged(intent, given) == (2 * ndcg - 1, ndcg >= Fraction(85, 100))
    original = intent.world.shop.catalog.ids[intent.goal.original]
    spoiled = [*ids[: k - 1], original]
    ndcg = gains.score([*rows[: k - 1], intent.goal.original], k)
    assert judged(intent, spoiled)[0] == 2 * ndcg - 1 - Fraction(20, 100) / k
    assert judged(intent, [original, *ids[: k - 1]])[1] is False
    assert judged(intent, [original]) == (-1, False)


def test_odd_answers_are_scored(shop: Shop) -> None:
    intent = start(shop, 3, 1).intent
    k, ids = intent.world.axes.k_rec, best_ids(intent)
    assert judged(intent, []) == (-1, False)
    assert judged(intent, [*ids[:k], ids[0], "nothing"]) == (1, True)
    assert judged(intent, [ids[0]] * 9) == judged(intent, ids[:1])
    assert judged(intent, ["nothing"] * 10_000) == (-1, False)


@pytest.mark.parametrize("p_oos", [0.0, 0.6])
def test_stock_outs(shop: Shop, p_oos: float) -> None:
    """What has sold out is no answer any more, and what stays is all that counts."""
    fallen = 0
    for seed in range(20):
        episode = start(shop, 6, seed, p_oos=p_oos, t_max=200)
        intent = episode.intent
        world, goal = intent.world, intent.goal
        best, gone = best_ids(intent, world.axes.k_rec), set(world.sold_out)
        for row in family_of(shop, goal):
            world.show(row)
        episode.conversation.sell()
        fallen += len(world.sold_out - gone)
        assert goal.fitting.tolist() == fitting_now(intent).tolist()
        assert judged(intent, best) == (1, True)
        pool = all_satisfied(shop.catalog, goal.required, np.array(sorted(world.sold_out), np.int32))
        for row in pool.tolist():
            assert judged(intent, [shop.catalog.ids[row], *best[1:]])[1] is False
        result = play(episode, solve).result
        assert result is not None
        assert (result.r_task, result.is_correct) == (1.0, True)
    assert (fallen == 0) == (p_oos == 0)


def test_a_product_that_was_never_shown_earns_nothing(shop: Shop) -> None:
    for seed in range(20):
        intent = start(shop, 3, seed).intent
        best = best_ids(intent, intent.world.axes.k_rec)
        unseen = ENVIRONMENT.verify(intent, RecommendationAnswer(done=True, recommended_product_ids=best))
        assert unseen.r_task == -1
        assert not unseen.correct
        assert judged(intent, best) == (1, True)


def test_a_stock_out_the_agent_reports_is_no_news(shop: Shop) -> None:
    """The customer knows that their product is sold out; they neither deny it nor excuse a turn for it."""
    for seed in range(20):
        episode = start(shop, 3, seed)
        noun = episode.intent.subjects[0].singular
        said = episode.step({"assistant_message": f"The {noun} is sold out."}).user_message
        assert said
        assert [act.kind for act in episode.acts] == [ActKind.CONTINUE]
        assert episode.customer_caused == 0


def test_reactions_to_proposals(shop: Shop) -> None:
    ids = shop.catalog.ids
    for seed in range(30):
        episode = start(shop, 6, seed, p_noise=0.0, t_max=50)
        intent, customer = episode.intent, episode.customer
        for row in family_of(shop, intent.goal):
            intent.world.show(row)
        unfit = [row for row in family_of(shop, intent.goal) if row not in intent.goal.fitting][:3]
        unsaid = [slot for slot in intent.slots if slot not in customer._said]
        wrong = {"done": False, "recommended_product_ids": [ids[row] for row in unfit]}
        reply = episode.step({"answer": wrong}).user_message
        assert ActKind.CONFIRM not in {act.kind for act in episode.acts}
        assert reply
        assert not any(_says(reply, text) for slot in unsaid for text in spellings(slot.fact)), reply
        fitting = [ids[row] for row in intent.goal.fitting[:3].tolist()]
        reply = episode.step({"answer": {"done": False, "recommended_product_ids": fitting}}).user_message
        assert [act.kind for act in episode.acts] == [ActKind.CONFIRM]
        assert reply


def _says(message: str, text: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(text.casefold())}(?![\w-])", message.casefold()) is not None


def test_nothing_unsaid_slips_out(shop: Shop) -> None:
    unsaid = 0
    for seed in range(60):
        episode = start(shop, seed % 13, seed, p_noise=0.0)
        customer = episode.customer
        hidden = [slot for slot in episode.intent.slots if slot not in customer._said]
        texts = [text for slot in hidden for text in spellings(slot.fact)]
        opening = re.sub(r"\".+?\"", " ", episode.opening.user_message)
        assert not any(_says(opening, text) for text in texts), (opening, texts)
        said = episode.step({"assistant_message": "I found something. Does this look right?"}).user_message
        assert not any(_says(said, text) for text in texts), (said, texts)
        unsaid += len(texts)
    assert unsaid >= 180


def test_axes_are_live_and_separate(shop: Shop) -> None:
    for seed in range(10):
        base = start(shop, 6, seed)
        goal = base.goal_json()
        for axis, value in (
            ("p_missing", 0.0), ("p_noise", 0.1), ("eps_rank", 0.4), ("t_max", 20), ("top_k", 20),
            ("p_switch", 1.0), ("h_orders", 5), ("b_branch", 5),
        ):  # fmt: skip
            moved = start(shop, 6, seed, "turn", "train", **{axis: value})
            assert moved.goal_json() == goal, axis
            assert (moved.opening.user_message == base.opening.user_message) or axis in ("p_missing", "p_noise")
        for k in (2, 4, 6):
            moved = start(shop, 6, seed, k_rec=k)
            most = min(k, len(moved.intent.goal.fitting))
            assert len(moved.goal_json()["recommended_product_ids"]) == most
        for m in (2, 4, 7):
            goals = start(shop, 6, seed, m=m).intent.goal
            assert len(goals.required) + len(goals.wished) == m


def test_one_constraint_is_a_required_one(shop: Shop) -> None:
    intent = start(shop, 0, 0, m=1).intent
    assert (len(intent.goal.required), len(intent.goal.wished)) == (1, 0)
    assert judged(intent, best_ids(intent, 3)) == (1, True)


def test_searches_with_a_category_tell_ranges(shop: Shop) -> None:
    episode = start(shop, 0, 0)
    category = episode.intent.subjects[0].category
    call = {"name": "catalog_search", "args": {"query": "anything", "category": category}}
    result = episode.step({"tool_calls": [call]}).tool_results[0].result
    assert result is not None
    low, high = result["facets"]["ranges"]["price"]
    assert all(low <= card["price"] <= high for card in result["results"] if "price" in card)
    assert all(card["category"] == category for card in result["results"])


WISHES = [
    text
    for name in ("wish_item", "wish_bare", "wish_follow_up")
    for texts in DEFAULT_BANK.act(name).lists.values()
    for text in texts
]
"""The frames that say what is a wish."""


SOFT = re.compile(
    r"\b(?:ideally|prefer|preferably|if possible|if i could choose|would be (?:nice|good|lovely)|might)\b"
)


@pytest.mark.parametrize("p_missing", [0.0, 0.7])
def test_what_is_a_wish_sounds_like_one_and_what_is_required_does_not(shop: Shop, p_missing: float) -> None:
    """Before, "It has to be the Elara model" was a preference."""
    wishes = requirements = 0
    for seed in range(120):
        episode = start(shop, 6, seed, p_missing=p_missing, p_noise=0.0, t_max=40)
        goal = episode.intent.goal
        said = list(episode.utterances)
        for each in ("the price, the brand, the rating", "the delivery time", *(a.label for a in ATTRIBUTES.values())):
            episode.step({"assistant_message": f"Tell me about {each}?"})
            said += episode.utterances
            if episode.done:
                break
        for utterance in said:
            facts = [fact for act in utterance.acts for mention in act.mentions for fact in mention.facts]
            assert all(fact.is_wish == (fact.constraint in goal.wished) for fact in facts)
            assert all(fact.is_wish != (fact.constraint in goal.required) for fact in facts)
            text = utterance.template_text.casefold()
            assert all(any(each.casefold() in text for each in spellings(fact)) for fact in facts), text
            softened = [frame for frame in utterance.frames if frame in WISHES]
            assert bool(softened) == any(fact.is_wish for fact in facts), text
            wishes += bool(softened)
            required = [fact for fact in facts if not fact.is_wish]
            requirements += bool(required)
            if required and not softened and utterance.turn:
                assert not SOFT.search(text), text
    assert wishes > 60
    assert requirements > 60


def test_no_frame_for_a_wish_demands() -> None:
    demanding = re.compile(r"\b(?:must|has to|have to|needs? to)\b|\} should\b")
    assert len(WISHES) > 100
    assert not [frame for frame in WISHES if demanding.search(frame)]
