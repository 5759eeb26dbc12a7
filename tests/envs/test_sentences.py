"""Customers say the goal: each message holds the values that it is booked to say, and the tools show them.

What is said is compared with the slots (FINDINGS §5, T5), and what can be said with what the tools show (T6). That the
words around a value mean it is tested frame by frame, in ``language/test_round_trip.py``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any, NamedTuple

import pytest

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.constraints import Op
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import Fact
from ecom_rlve.envs.language.phrases import LABELS, spellings
from ecom_rlve.envs.tools.registry import TOOLS
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agents.policy_questions.reading import Outcome, base_figure, outcomes, subject

READABLE = ("BUNDLE", "CART", "PD", "POLICY", "RETURN", "STATUS", "SUB")
SEEDS = 10
"""At each difficulty from 0 to 12."""
QUIET = (("p_noise", 0.0), ("p_oos", 0.0), ("p_switch", 0.0), ("t_max", 60.0))
_QUESTIONS = 40
"""More than a customer leaves out."""
_COUNTS = frozenset(("one", "1", "a single"))
"""Too common in other senses to be looked for as a number of pieces."""

Value = str | float | tuple[str, ...] | tuple[float, float]


# What is said is what is booked (T5).


def holds_value(text: str, fact: Fact) -> bool:
    """Tell whether a text spells the value of a fact, as whole words and numbers."""
    options = (str(fact.constraint.value),) if fact.slot == "need" else spellings(fact)
    if fact.constraint.attribute == "items_ordered":
        # "The order with the lamp" tells that there was a lamp in it.
        options = tuple(re.sub(r"^an? ", "", each) for each in options)
    return any(
        re.search(rf"(?<![\w$.]){re.escape(each.casefold())}(?!\w|\.\d)", text.casefold()) is not None
        for each in options
    )


def is_quoted(slot: Slot, intent: Intent[Any], env_id: str) -> bool:
    """Tell whether a slot is said by the title of a product alone."""
    return env_id == "STATUS" and slot.is_essential and intent.goal.reference.form == "title"


def check_message(text: str, new: set[Slot], episode: Episode) -> int:
    """Require that a message spells all that is new in it, and nothing that is unsaid; returns how much was unsaid."""
    env_id, intent, said = episode.spec.env_id, episode.intent, episode.customer.said
    where = (env_id, episode.spec.difficulty, episode.spec.seed, text)
    for slot in new:
        is_title = is_quoted(slot, intent, env_id) and not episode.log.steps
        assert dict(intent.goal.reference.places)["title"] in text if is_title else holds_value(text, slot.fact), (
            where,
            slot,
        )
    # A value that another said value, a noun or a title holds is no leak.
    innocent = " ; ".join(
        (
            *(each for slot in said for each in spellings(slot.fact)),
            *(noun for subject in intent.subjects for noun in (subject.singular, subject.plural)),
            *re.findall(r'"([^"]*)"', text),
        )
    )
    unsaid = [
        slot
        for slot in intent.slots
        if slot not in said and slot.fact.kind is None and not holds_value(innocent, slot.fact)
        if slot.name != "quantity" or _COUNTS.isdisjoint(spellings(slot.fact))
    ]
    leaked = [slot for slot in unsaid if holds_value(text, slot.fact)]
    assert leaked == [], where
    return len(unsaid)


def question_about(slot: Slot, intent: Intent[Any]) -> str:
    """Return a question that names a slot by its label."""
    label = slot.fact.kind.label if slot.fact.kind else LABELS[slot.fact.constraint.attribute]
    # Its label is only how the fact is told in a list.
    label = "replacement" if slot.name == "replacement" else label
    return f"Which {label} for the {intent.subjects[slot.item].singular}?"


def check_read_back(shop: Shop, env_id: str, d: int, seed: int) -> int:
    """Ask for everything that was left out: it is told when it is asked for, and not before.

    Returns how many values the messages kept to themselves.
    """
    episode = Episode(shop, EpisodeSpec(env_id, d, seed, axes=QUIET), "read", include=())
    known = episode.customer.said
    kept = check_message(episode.opening.user_message, {*known}, episode)
    for _ in range(_QUESTIONS):
        unsaid = [slot for slot in episode.intent.slots if slot not in episode.customer.said]
        if not unsaid:
            return kept
        text = episode.step({"assistant_message": question_about(unsaid[0], episode.intent)}).user_message
        new = {*episode.customer.said} - known
        assert unsaid[0] in new or unsaid[0] not in episode.intent.slots, (env_id, d, seed, unsaid[0], text)
        kept += check_message(text, new, episode)
        known = episode.customer.said
    raise AssertionError(f"not all was told: {env_id} {d} {seed}")


@pytest.mark.parametrize("env_id", READABLE)
def test_messages_say_what_they_are_booked_to_say(wide_shop: Shop, env_id: str) -> None:
    kept = sum(check_read_back(wide_shop, env_id, d, seed) for d in range(13) for seed in range(SEEDS))
    assert kept >= (0 if env_id in ("POLICY", "RETURN", "STATUS") else 100)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", READABLE)
def test_messages_say_what_they_are_booked_to_say_on_many_seeds(wide_shop: Shop, env_id: str) -> None:
    """More than 500 seeds of each environment."""
    kept = sum(check_read_back(wide_shop, env_id, d, seed) for d in range(13) for seed in range(3000, 3040))
    assert kept >= (0 if env_id in ("POLICY", "RETURN", "STATUS") else 400)


def test_the_reader_tells_values_apart(wide_shop: Shop) -> None:
    intent = Episode(wide_shop, EpisodeSpec("CART", 0, 1), "read", include=()).intent
    fact = intent.slots[0].fact
    said = spellings(fact)[0]
    assert holds_value(f"I want {said.upper()}, please.", fact)
    assert not holds_value(f"I want {said}s, or a{said}.", fact)


# Facts as they are compared with what the tools show.


class Read(NamedTuple):
    """What a slot says: of which item (by its noun), which attribute, in which direction, what."""

    noun: str
    attribute: str
    op: Op
    value: Value


_AMOUNTS = {"budget", "order_total", "price_paid"}


def spelled(slot: Slot) -> Read:
    """Return a slot as a reader would write it down who has understood it; nouns are added by the caller."""
    fact, name = slot.fact, slot.name
    value = fact.constraint.value
    if fact.kind is None or name == "compatibility":
        value = value if isinstance(value, str | tuple) else float(value)
        return Read("", fact.constraint.attribute, fact.constraint.op, value)
    if name in _AMOUNTS or name == "order_amount":
        assert isinstance(value, int | float)
        cents = value if name in _AMOUNTS else 100 * value
        return Read("", name, fact.constraint.op, float(cents))
    if name == "order_date":
        assert isinstance(value, int | float)
        day = date.fromordinal(int(value))
        return Read("", name, Op.EQ, f"{day.day} {day:%B}")
    if name == "need":
        return Read("", name, Op.EQ, f"{'an' if str(value)[0] in 'aeiou' else 'a'} {value}")
    # Further things in an order are told in the same words as the first.
    return Read("", "items_ordered" if name == "other_items" else name, Op.EQ, str(value))


def expected(intent: Intent[Any], slots: Any) -> set[Read]:
    """Return what slots say."""
    return {
        read._replace(noun=intent.subjects[slot.item].singular if is_of_item(read) else "")
        for slot in slots
        for read in (spelled(slot),)
    }


def is_of_item(read: Read) -> bool:
    """Tell whether a fact is about a thing, not about a whole job."""
    return read.attribute in {*ATTRIBUTES, "brand", "price", "rating", "ship_days", "quantity"}


def models_of(env_id: str, intent: Intent[Any]) -> Iterator[tuple[str, int]]:
    """Yield nouns with a product of which all is true that is said of them."""
    goal, subjects = intent.goal, intent.subjects
    if env_id == "PD":
        yield from ((subjects[0].singular, row) for row in goal.fitting.tolist())
    elif env_id == "SUB":
        yield subjects[0].singular, goal.original
    elif env_id == "BUNDLE":
        yield from ((subject.singular, need.cheapest) for subject, need in zip(subjects[1:], goal.needs, strict=True))
    elif env_id == "RETURN" and goal.replacement is not None:
        yield subjects[1].singular, goal.replacement.row
    elif env_id == "CART":
        plain = (pair for pair in zip(subjects, goal.items, strict=True) if pair[1].variant is None)
        yield from ((subject.singular, item.row) for subject, item in plain)


def meets(shop: Shop, row: int, read: Read) -> bool:
    """Compare a product with what was read, without the package's own comparisons."""
    return is_true(shop.catalog.value(row, read.attribute), read)


def is_true(value: Any, read: Read) -> bool:
    """Compare a known value with what was read."""
    wanted: Any = read.value
    if read.op is Op.AT_MOST:
        return bool(value <= wanted)
    if read.op is Op.AT_LEAST:
        return bool(value >= wanted)
    if read.op is Op.BETWEEN:
        return bool(wanted[0] <= value <= wanted[1])
    if read.op is Op.NONE_OF:
        return value not in wanted
    return value in wanted if read.op is Op.ANY_OF else bool(value == wanted)


# What can be said is what the tools show (T6).


def run(intent: Intent[Any], name: str, **args: Any) -> dict[str, Any]:
    """Return the result of a tool in the world of a intent."""
    tool = TOOLS[name]
    return tool.run(intent.world, tool.args.model_validate(args))


def is_shown(card: Mapping[str, Any], read: Read) -> bool:
    """Tell whether what was said holds for a product as it is shown; prices are shown in dollars."""
    shown = card.get(read.attribute)
    if isinstance(shown, int | float) and read.attribute == "price":
        shown = round(shown * 100)
    return shown is not None and is_true(shown, read)


def check_cards(env_id: str, intent: Intent[Any]) -> None:
    """Compare the facts of each wanted thing with what is shown of all products that are accepted for it."""
    shop, goal = intent.world.shop, intent.goal
    wanted: list[tuple[str, list[int]]] = [(noun, [row]) for noun, row in models_of(env_id, intent)]
    if env_id == "BUNDLE":
        wanted = [
            (subject.singular, accepted_for(shop, need))
            for subject, need in zip(intent.subjects[1:], goal.needs, strict=True)
        ]
        assert {read.value for read in expected(intent, intent.slots) if read.attribute == "budget"} == {goal.budget}
    said = expected(intent, intent.slots)
    for noun, rows in wanted:
        for row in rows:
            card = run(intent, "catalog_get_product", product_id=shop.catalog.ids[row])["product"]
            for read in said:
                if read.noun == noun and read.attribute != "quantity":
                    assert is_shown(card, read), (env_id, noun, read, card)


def accepted_for(shop: Shop, need: Any) -> list[int]:
    """Return the products that a need accepts, found one by one with the reader's own comparison."""
    wishes = [Read("", wish.attribute, wish.op, wish.value) for wish in need.wishes]
    rows = shop.catalog.rows_of_category(need.category).tolist()
    known = [row for row in rows if all(shop.catalog.value(row, wish.attribute) is not None for wish in wishes)]
    return [row for row in known if all(meets(shop, row, wish) for wish in wishes)]


def check_orders(env_id: str, intent: Intent[Any]) -> None:
    """Compare the facts about the order, and about the line that goes back, with the order tools."""
    goal, catalog = intent.goal, intent.world.shop.catalog
    order_id = goal.order_id if env_id == "RETURN" else goal.order.order_id
    listed = {order["order_id"]: order for order in run(intent, "order_list", limit=50)["orders"]}
    order, row = run(intent, "order_get", order_id=order_id), listed.get(order_id)
    assert row is None or (row["date"], row["total"]) == (order["date"], order["total"])
    assert row is None or row["titles"] == [line["title"] for line in order["lines"]]
    day = date.fromisoformat(order["date"])
    singulars = [catalog.category_of(catalog.row_of(line["product_id"])).singular for line in order["lines"]]
    truths: dict[str, list[Value]] = {
        "order_date": [f"{day.day} {day:%B}"],
        "order_total": [float(round(order["total"] * 100))],
        "items_ordered": [f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}" for noun in singulars],
    }
    if env_id == "RETURN":
        line = next(line for line in order["lines"] if line["line_id"] == goal.line_id)
        truths |= {
            "price_paid": [float(round(line["price_paid"] * 100))],
            "units_bought": [str(line["quantity"])],
        }
    for read in expected(intent, intent.slots):
        if read.attribute in truths:
            assert read.value in truths[read.attribute], (env_id, read, order)
    if env_id == "STATUS":
        assert dict(goal.reference.places).get("title", "") in ["", *(line["title"] for line in order["lines"])]


def check_policies(intent: Intent[Any]) -> None:
    """Work out the answer from the sections' texts and the customer's words alone."""
    goal = intent.goal
    said = {slot.fact.kind.label: slot.fact for slot in intent.slots if slot.fact.kind is not None}
    base_id, *others = goal.section_ids
    figure, _ = base_figure(run(intent, "policy_get", section_id=base_id)["text"])
    added = Fraction(0)
    for section_id in others:
        section = run(intent, "policy_get", section_id=section_id)
        fact = said.pop(subject(section["title"])[1])
        found = [each for each in outcomes(section["text"]) if holds(each, fact.spelled or str(fact.constraint.value))]
        assert len(found) == 1, (section, fact)
        figure, added = (found[0].amount, added) if found[0].is_replacement else (figure, added + found[0].amount)
    assert not said, "what the customer can tell bears on the figure"
    figure += added
    if goal.question.form == "deadline":
        start = datetime.strptime(goal.given, "%d %B %Y").date()
        assert goal.truth == start + timedelta(days=int(figure))
    else:
        assert goal.truth == (figure * int(goal.given.strip("$")) / 100 if goal.question.form == "share" else figure)


def holds(outcome: Outcome, said: str) -> bool:
    """Tell whether what a section says of a value is about the customer's own."""
    if outcome.band is None:
        return outcome.value == said
    least, below = outcome.band
    return said.startswith("$") and least <= int(said[1:]) and (below is None or int(said[1:]) < below)


def check_return(intent: Intent[Any]) -> None:
    """Require both of the order and of the product that is wanted in its place."""
    check_orders("RETURN", intent)
    check_cards("RETURN", intent)


CHECKS: Mapping[str, Callable[[Intent[Any]], None]] = {
    "BUNDLE": lambda intent: check_cards("BUNDLE", intent),
    "CART": lambda intent: check_cards("CART", intent),
    "PD": lambda intent: check_cards("PD", intent),
    "POLICY": check_policies,
    "RETURN": check_return,
    "STATUS": lambda intent: check_orders("STATUS", intent),
    "SUB": lambda intent: check_cards("SUB", intent),
}


def check_shown(shop: Shop, env_id: str, d: int, seed: int) -> None:
    """Require that the tools show what an episode's customer can say."""
    CHECKS[env_id](Episode(shop, EpisodeSpec(env_id, d, seed), "shown", include=()).intent)


@pytest.mark.parametrize("env_id", READABLE)
def test_tools_show_what_can_be_said(wide_shop: Shop, env_id: str) -> None:
    for d in range(13):
        for seed in range(6):
            check_shown(wide_shop, env_id, d, seed)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", READABLE)
def test_tools_show_what_can_be_said_on_many_seeds(wide_shop: Shop, env_id: str) -> None:
    for d in range(13):
        for seed in range(4000, 4040):
            check_shown(wide_shop, env_id, d, seed)
