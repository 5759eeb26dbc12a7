"""Sentences mean the goal: a reader of its own takes attribute, direction and value out of the customer's words.

What is read is compared with the slots (FINDINGS §5, T5), and what can be said with what the tools show (T6). The
reader knows English and the values of the kinds of things in the shop, and none of the tables that sentences are made
from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

import pytest

from ecom_rlve.catalog.constraints import Op, ends
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.phrases import LABELS
from ecom_rlve.envs.tools.registry import TOOLS
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agents.policy_questions.reading import Outcome, base_figure, outcomes, subject

READABLE = ("BUNDLE", "CART", "PD", "POLICY", "RETURN", "STATUS", "SUB")
SEEDS = 10
"""At each difficulty from 0 to 12."""
QUIET = (("p_noise", 0.0), ("p_oos", 0.0), ("p_switch", 0.0), ("t_max", 60.0))

Value = str | float | tuple[str, ...] | tuple[float, float]


class Read(NamedTuple):
    """What one phrase says: of which item (by its noun), which attribute, in which direction, what."""

    noun: str
    attribute: str
    op: Op
    value: Value


# Reading words: where in a sentence the values of each attribute stand.

FRAMES: Mapping[str, tuple[str, ...]] = {
    "brand": ("by {}", "from {}", "brand {}"),
    "color": ("in the colou?r {}", "in {}", "colour {}"),
    "size": ("size {}", "sized {}"),
    "material": ("made (?:of|from) {}", "(?:with|have) {} as the material", "material {}"),
    "style": ("in {} style", "style {}"),
    "pattern": ("the {} pattern", "(?:with|have) {} as the pattern", "pattern {}"),
    "connector_type": ("(?:with|have) {} as the connector", "connector {}", "with {}"),
    "item_form": ("in {} form", "form {}"),
    "finish_type": ("finished in {}", "(?:with|have) {} as the finish", "finish {}"),
    "skin_type": ("skin type {}",),
    "age_range": ("age range {}",),
    "scent": ("(?:with|have) {} as the scent", "scent {}"),
    "flavor": ("in {} flavour", "(?:with|have) {} as the flavour", "flavour {}"),
    "model": ("the {} model", "the {} line", "model {}"),
}
MEASURES = (
    ("screen_size", r"\bscreen\b"),
    ("ship_days", r"delivery time|\barriv"),
    ("battery_life", r"\bbattery\b"),
    ("wattage", r"\bwattage\b|\bpower of\b"),
    ("weight", r"\bweigh"),
    ("capacity", r"\bcapacity\b|\bhold"),
    ("length", r"\blength\b"),
    ("rating", r"\brat(?:ed|ing)\b"),
    ("price", r"\bpriced?\b|\bcost|\bfor (?:[a-z ]+)?\$"),
)
UNITS = {
    **dict.fromkeys(("kg", "kilo", "kilos", "l", "litre", "litres"), 1000),
    **dict.fromkeys(("g", "gram", "grams", "ml", "w", "watt", "watts", "h", "hour", "hours", "cm"), 1),
    **dict.fromkeys(("day", "days", "stars", "out of 5"), 1),
}
_AT_MOST = "(?:at most|no more than|not more than|up to)"
_LEADS = {
    _AT_MOST: Op.AT_MOST,
    r"at least|no less than|not less than": Op.AT_LEAST,
    r"exactly": Op.EQ,
}
_TAILS = {r"or less": Op.AT_MOST, r"or more|and up": Op.AT_LEAST}
NUMBER = re.compile(
    rf"(?:\b(?P<lead>{'|'.join(_LEADS)}) )?(?P<dollar>\$)?(?<![\w.-])(?P<digits>\d+(?:\.\d+)?)(?![\w]|\.\d|-\w)"
    rf"(?: (?P<unit>{'|'.join(sorted(UNITS, key=len, reverse=True))})\b)?(?: (?P<tail>{'|'.join(_TAILS)})\b)?",
    re.IGNORECASE,
)
CUT = re.compile(r"[,;:!?()]|(?<!\d)\.|\.(?!\d)|\band (?!up\b)")
COUNTS = {word: at for at, word in enumerate(("a single", "two", "three", "four"), 1)} | {"one": 1}


_EXCLUDING = r"(?:(?:any(?:thing|one)?(?: [a-z]+)? )?(?:but|except) |not )"
"""What stands before a value that is excluded."""
RANGE = re.compile(r"\b(?:between|from) [^,;]*?\d[^,;]*? (?:and|to) (?=\$?\d)")


class Kind(NamedTuple):
    """A kind of thing: what it is called and the values that its attributes have in the shop."""

    nouns: tuple[str, ...]
    words: Mapping[str, tuple[str, ...]]


@cache
def kind_of(shop: Shop, category: str, name: str = "") -> Kind:
    """Return a kind of thing; ``name`` is what it is called, where not as its category says."""
    catalog = shop.catalog
    kind = catalog.categories[catalog.category_index[category]]
    rows = catalog.rows_of_category(category).tolist()
    words: dict[str, tuple[str, ...]] = {}
    for attribute in FRAMES:
        values = {catalog.value(row, attribute) for row in rows} - {None}
        if attribute == kind.variant_attribute:
            values |= set(shop.variant_pool(shop.catalog.categories[shop.catalog.category_index[category]]))
        words[attribute] = tuple(sorted((str(value) for value in values), key=lambda value: (-len(value), value)))
    return Kind((name, name) if name else (kind.singular, kind.plural), words)


@cache
def framed(shop: Shop, category: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Return for each attribute the patterns of its values, one value or "A or B"."""
    patterns = []
    for attribute, values in kind_of(shop, category).words.items():
        if values:
            one = "|".join(map(re.escape, values))
            group = f"(?P<but>{_EXCLUDING})?(?P<one>{one})(?: or (?P<other>{one}))?"
            frames = (*FRAMES[attribute], f"any {LABELS[attribute]} {{}}")
            patterns += [
                (attribute, re.compile(rf"\b{frame.format(group)}(?![\w-])", re.IGNORECASE)) for frame in frames
            ]
    return tuple(patterns)


def words_in(text: str, shop: Shop, category: str) -> Iterator[tuple[int, str, Op, Value]]:
    """Yield where which values stand; of readings that overlap the longest counts."""
    known = kind_of(shop, category).words
    found = []
    for attribute, pattern in framed(shop, category):
        for match in pattern.finditer(text):
            said = tuple(part.casefold() for part in (match["one"], match["other"]) if part)
            values = tuple(next(value for value in known[attribute] if value.casefold() == part) for part in said)
            found.append((match.start(), match.end(), attribute, values, match["but"]))
    taken: list[range] = []
    for start, end, attribute, values, is_excluded in sorted(found, key=lambda each: (each[0] - each[1], each[0])):
        if not any(start < span.stop and span.start < end for span in taken):
            taken.append(range(start, end))
            if is_excluded:
                yield start, attribute, Op.NONE_OF, tuple(sorted(values))
            elif len(values) > 1:
                yield start, attribute, Op.ANY_OF, tuple(sorted(values))
            else:
                yield start, attribute, Op.EQ, values[0]


def measures_in(text: str) -> Iterator[tuple[int, str, Op, Value]]:
    """Yield where which numbers stand: with what they measure, in which direction, in canonical units and cents."""
    ranges = [match.span() for match in RANGE.finditer(text)]
    inside = [cut.end() for cut in CUT.finditer(text) if not any(a < cut.start() < b for a, b in ranges)]
    cuts = [0, *inside, len(text)]
    low: re.Match[str] | None = None
    for match in NUMBER.finditer(text):
        if any(start < match.start() < end for start, end in ranges):
            low = match
            continue
        start = max(cut for cut in cuts if cut <= match.start())
        end = min(cut for cut in cuts if cut >= match.end())
        named = [name for name, pattern in MEASURES if re.search(pattern, text[start:end], re.IGNORECASE)]
        if named and low is not None:
            # A unit that is said once is that of both numbers.
            unit = (low["unit"] or match["unit"] or "g").casefold()
            least = float(Decimal(low["digits"]) * (100 if low["dollar"] else UNITS[unit]))
            yield low.start(), named[0], Op.BETWEEN, (least, amount(match))
        elif named:
            yield match.start(), named[0], *bound(match)
        low = None


def bound(match: re.Match[str]) -> tuple[Op, float]:
    """Return the direction and the value of a number."""
    for said, ops in ((match["lead"], _LEADS), (match["tail"], _TAILS)):
        for pattern, op in ops.items():
            if said and re.fullmatch(pattern, said, re.IGNORECASE):
                return op, amount(match)
    return Op.EQ, amount(match)


def amount(match: re.Match[str]) -> float:
    """Return a number in canonical units, money in cents."""
    scale = 100 if match["dollar"] else UNITS[(match["unit"] or "g").casefold()]
    return float(Decimal(match["digits"]) * scale)


# Reading what belongs to one job: how the customer tells things that no attribute of the catalog knows.

_MONEY = r"\$(\d+(?:\.\d\d)?)"
_DAY = r"(\d{1,2} [A-Z][a-z]+)"
_CONDITIONS: Mapping[str, tuple[str, ...]] = {
    "department": (r"the ((?-i:[A-Z])[\w &]+) department", r"(?<!\w )department ((?-i:[A-Z])[\w &]+)"),
    "membership_tier": (r"a (\w+) membership", r"a (\w+) member\b", r"(?<!\w )membership tier (\w+)"),
    "item_condition": (r"the item is (\w+)", r"the thing is (\w+) now", r"(?<!\w )condition of the item (\w+)"),
    "reason": (r"the reason is ([a-z ]+)", r"it is because of ([a-z ]+)", r"(?<!\w )reason ([a-z ]+)"),
    "payment_method": (r"paid by ([a-z ]+)", r"payment was by ([a-z ]+)", r"(?<!\w )payment method ([a-z ]+)"),
    "delivery_region": (r"address is in ([\w ]+)", r"I live in ([\w ]+)", r"(?<!\w )delivery region ([\w ]+)"),
    "season": (r"bought it in the ([a-z ]+)", r"purchase was in the ([a-z ]+)", r"(?<!\w )season ([a-z ]+)"),
    "sales_channel": (r"I used the ([a-z ]+)", r"bought it through the ([a-z ]+)", r"(?<!\w )sales channel ([a-z ]+)"),
    "shipping_speed": (r"(\w+) shipping\b", r"(?<!\w )shipping speed (\w+)"),
    "account_type": (r"an? (\w+) account", r"(?<!\w )account type (\w+)"),
    "order_amount": (rf"order (?:comes to|amounts to|amount) {_MONEY}",),
}
TOLD: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "BUNDLE": {
        "need": (r"(?:with|including|include|that has|have|on the list) (an? {thing})\b",),
        "budget": (
            rf"{_AT_MOST} {_MONEY}(?= in total| all together)", rf"{_MONEY} or less(?= in total| all together)",
            rf"(?:total price of|budget) {_AT_MOST} {_MONEY}", rf"(?:total price of|budget) {_MONEY} or less",
        ),
    },
    "PD": {
        "priority": (
            r"the ([a-z ]+) matters most to me",
            r"the ([a-z ]+) is what I look at first",
            r"counts most for me is the ([a-z ]+)",
            r"top priority ([a-z ]+)",
        )
    },
    "POLICY": _CONDITIONS,
    "RETURN": {
        "order_date": (rf"ordered it on {_DAY}", rf"my order of {_DAY}", rf"order date {_DAY}"),
        "order_total": (rf"order came to {_MONEY}", rf"an order for {_MONEY}", rf"order total {_MONEY}"),
        "price_paid": (rf"one of it was {_MONEY}", rf"paid {_MONEY} for each", rf"price paid {_MONEY}"),
        "units_bought": (r"the quantity was (\d)", r"ordered (\d) of them", r"quantity bought (\d)"),
        "reason": (r"it goes back because of ([a-z ]+)", r"my reason is ([a-z ]+)", r"(?<!\w )reason ([a-z ]+)"),
        "method": (r"I want ([a-z ]+) in return", r"what I want for it is ([a-z ]+)", r"compensation ([a-z ]+)"),
        "replacement": (r"I (?:will )?need ((?:an?|no) {thing})", r"after that ((?:an?|no) {thing})"),
    },
    "STATUS": {
        "order_date": (rf"placed it on {_DAY}", rf"it is from {_DAY}", rf"my order of {_DAY}", rf"order date {_DAY}"),
        "order_total": (
            rf"it came to {_MONEY}", rf"paid {_MONEY} in all", rf"my order for {_MONEY}", rf"order total {_MONEY}",
        ),
        "items_ordered": (
            r"it had (an? {thing}) in it", r"it included (an? {thing})", r"items? ordered (an? {thing})",
            r"there was (an? {thing}) in it", r"also in it (an? {thing})", r"order with the {noun}",
        ),
    },
}  # fmt: skip
_AMOUNTS = {"budget", "order_total", "price_paid"}


@cache
def teller(shop: Shop, env_id: str, name: str) -> tuple[re.Pattern[str], ...]:
    """Return the patterns by which one environment's fact is told; a thing is any kind in the shop."""
    singulars = sorted((kind.singular for kind in shop.catalog.categories), key=len, reverse=True)
    thing = f"(?:new )?(?:{'|'.join(map(re.escape, singulars))}|replacement)"
    noun = f"(?P<noun>{'|'.join(map(re.escape, singulars))})"
    frames = TOLD[env_id][name]
    return tuple(
        re.compile(rf"(?<!\w){frame.replace('{thing}', thing).replace('{noun}', noun)}", re.IGNORECASE)
        for frame in frames
    )


def told_in(text: str, shop: Shop, env_id: str) -> Iterator[tuple[int, int, str, str]]:
    """Yield from where to where which of the environment's own facts is told, and its value as it is spelled."""
    for name in TOLD.get(env_id, {}):
        for pattern in teller(shop, env_id, name):
            for match in pattern.finditer(text):
                value = next(group for group in match.groups() if group)
                if "noun" in pattern.groupindex:
                    value = f"{'an' if value[0] in 'aeiou' else 'a'} {value}"
                yield match.start(), match.end(), name, re.sub(r" and$| and .*$", "", value).strip()


# Comparing with the slots.


def spelled(slot: Slot) -> Read:
    """Return a slot as a reader would write it down who has understood it; nouns are added by the caller."""
    fact, name = slot.fact, slot.name
    value = fact.constraint.value
    if fact.kind is None or name == "compatibility":
        if fact.constraint.op is Op.BETWEEN:
            least, most = ends(fact.constraint)
            return Read("", fact.constraint.attribute, Op.BETWEEN, (float(least), float(most)))
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
    """Tell whether a reading is about a thing, not about a whole job."""
    return read.attribute in FRAMES or read.attribute in {name for name, _ in MEASURES} | {"quantity"}


def read_text(text: str, intent: Intent[Any], env_id: str) -> set[Read]:
    """Return all that a message says."""
    shop = intent.world.shop
    text = re.sub(r'"[^"]*"', "#", text)
    found: set[Read] = set()
    for start, end, name, value in list(told_in(text, shop, env_id)):
        is_money = name in _AMOUNTS or name == "order_amount"
        op = Op.AT_MOST if name == "budget" else Op.EQ
        found.add(Read("", name, op, float(Decimal(value) * 100) if is_money else value))
        text = text[:start] + "#" * (end - start) + text[end:]
    if env_id in ("POLICY", "STATUS"):
        return found
    subjects = [subject for subject in intent.subjects if subject.category]
    items = subjects[1:] if env_id == "BUNDLE" else subjects
    places = sorted(places_of(text, [(item.singular, item.plural) for item in items]))
    ends = [*(start for start, *_ in places[1:]), len(text)]
    for (_, noun_end, at, counted), end in zip(places, ends, strict=False):
        part, noun = text[noun_end:end], items[at].singular
        if counted:
            found.add(Read(noun, "quantity", Op.EQ, float(counted)))
        said = [*words_in(part, shop, items[at].category), *measures_in(part)]
        found.update(Read(noun, attribute, op, value) for _, attribute, op, value in said)
    return found


def places_of(text: str, nouns: list[tuple[str, str]]) -> Iterator[tuple[int, int, int, int]]:
    """Yield where nouns stand: from, to, which, and how many of them are said to be wanted (0: nothing is said).

    Before the first noun of a text that names none the only thing there is meant.
    """
    names = sorted(((name, at) for at, pair in enumerate(nouns) for name in set(pair)), key=lambda each: -len(each[0]))
    taken: list[range] = []
    for name, at in names:
        for match in re.finditer(
            rf"\b(?:(a single|one|two|three|four|[1-9]) )?{re.escape(name)}\b", text, re.IGNORECASE
        ):
            if not any(match.start() < span.stop and span.start < match.end() for span in taken):
                taken.append(range(match.start(), match.end()))
                count = (match[1] or "").casefold()
                yield match.start(), match.end(), at, int(count) if count.isdigit() else COUNTS.get(count, 0)
    if not taken and len(nouns) == 1:
        yield 0, 0, 0, 0


def expected_of(intent: Intent[Any], slots: Any, env_id: str) -> set[Read]:
    """Return what slots say in words that are no quotation: an order that a title names is named by nothing else."""
    is_quoted = env_id == "STATUS" and intent.goal.reference.form == "title"
    return expected(intent, [slot for slot in slots if not (is_quoted and slot.is_essential)])


def question_about(slot: Slot, intent: Intent[Any]) -> str:
    """Return a question that names a slot by its label."""
    label = slot.fact.kind.label if slot.fact.kind else LABELS[slot.fact.constraint.attribute]
    return f"Which {label} for the {intent.subjects[slot.item].singular}?"


def read_back(shop: Shop, env_id: str, d: int, seed: int) -> tuple[Episode, set[Read]]:
    """Ask for everything that was left out; returns the episode and what all sentences together say.

    The first message must say what it is booked to say, and nothing else.
    """
    episode = Episode(shop, EpisodeSpec(env_id, d, seed, axes=QUIET), "read", include=())
    intent, text = episode.intent, episode.opening.user_message
    found = read_text(text, intent, env_id)
    assert found == expected_of(intent, episode.customer._said, env_id), (env_id, d, seed, text)
    for slot in intent.slots:
        if slot not in episode.customer._said:
            before = set(episode.customer._said)
            text = episode.step({"assistant_message": question_about(slot, intent)}).user_message
            told = read_text(text, intent, env_id)
            new = expected_of(intent, episode.customer._said - before, env_id)
            assert new, (env_id, d, seed, slot, text)
            # A wish for a thing of a project tells that it is needed; an answer may repeat what was said.
            assert told >= {read for read in new if read.attribute != "need"}, (env_id, d, seed, text)
            assert told <= expected_of(intent, episode.customer._said, env_id), (env_id, d, seed, text)
            found |= told
    return episode, found


def check_read_back(shop: Shop, env_id: str, d: int, seed: int) -> None:
    """Require that the sentences of an episode say the goal: each fact, its direction, its number to the last digit."""
    episode, found = read_back(shop, env_id, d, seed)
    intent, where = episode.intent, (env_id, d, seed)
    needs = {read for read in expected_of(intent, intent.slots, env_id) if read.attribute == "need"}
    assert found | needs == expected_of(intent, intent.slots, env_id), where
    for noun, row in models_of(env_id, intent):
        for read in found:
            if read.noun == noun and read.attribute != "quantity":
                assert meets(shop, row, read), (where, read, row)


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
    return is_so(shop.catalog.value(row, read.attribute), read)


def is_so(value: Any, read: Read) -> bool:
    """Tell whether a value that is known is as was read."""
    if read.op is Op.AT_MOST:
        return bool(value <= read.value)
    if read.op is Op.AT_LEAST:
        return bool(value >= read.value)
    if not isinstance(read.value, tuple):
        return bool(value == read.value)
    if read.op is Op.BETWEEN:
        return bool(read.value[0] <= value <= read.value[1])
    return (value in read.value) is (read.op is Op.ANY_OF)


@pytest.mark.parametrize("env_id", READABLE)
def test_sentences_say_the_goal(wide_shop: Shop, env_id: str) -> None:
    for d in range(13):
        for seed in range(SEEDS):
            check_read_back(wide_shop, env_id, d, seed)


@pytest.mark.slow
@pytest.mark.parametrize("env_id", READABLE)
def test_sentences_say_the_goal_on_many_seeds(wide_shop: Shop, env_id: str) -> None:
    """More than 500 seeds of each environment."""
    for d in range(13):
        for seed in range(3000, 3000 + 40):
            check_read_back(wide_shop, env_id, d, seed)


def test_the_reader_tells_directions_and_numbers_apart() -> None:
    text = "It should cost at most $24.99, weigh 1.5 kilos or less and hold no less than 2 litres."
    assert [(name, op, value) for _, name, op, value in measures_in(text)] == [
        ("price", Op.AT_MOST, 2499.0), ("weight", Op.AT_MOST, 1500.0), ("capacity", Op.AT_LEAST, 2000.0),
    ]  # fmt: skip
    assert [op for *_, op, _ in measures_in("rated 4.5 and up; costing $20.00")] == [Op.AT_LEAST, Op.EQ]


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
    if shown is None:
        return False
    return is_so(shown, read)


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
        places = dict(goal.reference.protected)
        assert places.get("title", "").strip('"') in ["", *(line["title"] for line in order["lines"])]


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
