"""How a single fact is said: its value, exactly, in the frames of its kind and operator.

Values are spelled in their own unit or converted to another without rounding, so that a spoken bound equals the bound
of the goal. "Under" and its like are said only of the next value beyond a bound, where there is one: a bound of $24.99
is "under $25".
"""

from __future__ import annotations

from decimal import Decimal
from functools import cache, lru_cache

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.constraints import Op, ends
from ecom_rlve.catalog.shop_words.currencies import spelled_amount
from ecom_rlve.envs.language.acts import Fact, SlotKind
from ecom_rlve.envs.language.frames import DEFAULT_BANK, Bank, Forms, Pool, pool_of
from ecom_rlve.envs.language.spelling import with_capitals

NUMBER_WORDS: tuple[str, ...] = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
)  # fmt: skip
"""Number words; the position of a word is its value."""

LABELS: dict[str, str] = {name: attribute.label for name, attribute in ATTRIBUTES.items()} | {
    "brand": "brand",
    "price": "price",
    "quantity": "quantity",
    "variant": "version",
    "rating": "rating",
    "ship_days": "delivery time",
    "id": "product number",
    "order_number": "order number",
    "stock": "stock",
    "delivery_date": "delivery date",
}
"""What a person calls each thing that a question may name, including things that no customer knows."""

_UNITS = {name: attribute.unit for name, attribute in ATTRIBUTES.items()} | {"ship_days": "days"}
_UNIT_WORDS = {"W": "watts", "h": "hours", "g": "grams", "l": "litres", "kg": "kilos"}
# Larger unit, the number of small units from which on it is used, and the power of ten between them. Only the decimal
# point moves, so the conversion is exact.
_LARGER = {"ml": ("l", 500, 3), "g": ("kg", 500, 3)}


def spellings(fact: Fact) -> tuple[str, ...]:
    """Return every text by which a sentence may state the fact's value, the plain one first: ``$24.99``, ``A or B``.

    A range is spelled without what says that it is one: ``$20 and $30``, ``$20 to $30``. The last one may be the next
    value beyond a bound, of which "under" is said: ``$25``.
    Raises :class:`ValueError` if a price (in cents) or a quantity is no whole number.
    """
    if fact.constraint.op is Op.BETWEEN:
        return tuple(f"{low} {word} {high}" for word in ("and", "to") for low, high in ranges(fact))
    limit = limit_of(fact)
    return (*own_spellings(fact), limit) if limit else own_spellings(fact)


def own_spellings(fact: Fact) -> tuple[str, ...]:
    """Return the spellings of the value itself, of a fact that is no range."""
    if fact.spelled:
        return (fact.spelled,)
    value, attribute = fact.constraint.value, fact.constraint.attribute
    if isinstance(value, tuple):
        return (" or ".join(with_capitals(str(each)) for each in value),)
    if isinstance(value, str):
        return (with_capitals(value),)
    return _number_spellings(attribute, float(value), fact.unit or _UNITS.get(attribute, ""))


@lru_cache(maxsize=1 << 16)
def _number_spellings(attribute: str, value: float, unit: str) -> tuple[str, ...]:
    if attribute in ("price", "quantity") and not value.is_integer():
        raise ValueError(f"{attribute} must be a whole number to be said exactly, not {value!r}")
    if attribute == "quantity":
        words = ("one", "1", "a single") if value == 1 else (str(int(value)),)
        return (NUMBER_WORDS[int(value)], *words) if 2 <= value <= 10 else words
    if attribute == "price":
        return tuple(dict.fromkeys(spelled_amount(int(value), unit or None, is_short=short) for short in (False, True)))
    exact = Decimal(repr(value))
    if attribute == "rating":
        return (_digits(exact), f"{_digits(exact)} stars", f"{_digits(exact)} out of 5")
    found = list(_with_unit(exact, unit))
    if unit in _LARGER and exact >= _LARGER[unit][1]:
        larger, _, digits = _LARGER[unit]
        found += _with_unit(exact.scaleb(-digits), larger)
    return tuple(found)


def _with_unit(number: Decimal, unit: str) -> tuple[str, ...]:
    text = _digits(number)
    if unit == "days":
        return (f"{text} day",) if number == 1 else (f"{text} days",)
    if not unit:
        return (text,)
    word = _UNIT_WORDS.get(unit)
    if word is None:
        return (f"{text} {unit}",)
    return (f"{text} {unit}", f"{text} {word.removesuffix('s') if number == 1 else word}")


def _digits(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def counts(quantity: float) -> tuple[str, ...]:
    """Return the spellings of a number of pieces."""
    return _number_spellings("quantity", float(quantity), "")


def ranges(fact: Fact) -> tuple[tuple[str, str], ...]:
    """Return the spellings of a range's ends, both in the same unit, which stands once or twice: ``2``, ``5 kg``."""
    low, high = ends(fact.constraint)
    return _range_spellings(
        fact.constraint.attribute, low, high, fact.unit or _UNITS.get(fact.constraint.attribute, "")
    )


@lru_cache(maxsize=1 << 12)
def _range_spellings(attribute: str, low: float, high: float, unit: str) -> tuple[tuple[str, str], ...]:
    found: list[tuple[str, str]] = []
    numbers = (_number_spellings(attribute, float(each), unit) for each in (low, high))
    for least, most in zip(*numbers, strict=False):
        number, *rest = least.split(" ", 1)
        short = number if rest and most.endswith(f" {rest[0]}") else least
        found += ((each, most) for each in dict.fromkeys((short, least)))
    return tuple(found)


def limit_of(fact: Fact) -> str:
    """Return the next value beyond a fact's bound, which "under" may be said of; empty if there is none to be said."""
    constraint = fact.constraint
    if constraint.op is not Op.AT_MOST or fact.spelled or not isinstance(constraint.value, int | float):
        return ""
    beyond = constraint.value + 1
    if constraint.attribute == "price":
        return spelled_amount(int(beyond), fact.unit or None, is_short=True) if beyond % 100 == 0 else ""
    return f"{int(beyond)} days" if constraint.attribute == "ship_days" and beyond == int(beyond) else ""


@cache
def _own_forms(kind: SlotKind) -> Forms:
    """Return the phrases that an environment brings for a kind of fact that the bank does not know."""
    nouns, shoulds = zip(*kind.forms, strict=True)
    filled = {"noun": nouns, "should": shoulds, "clause": shoulds if kind.is_circumstance else ()}
    return {form: pool_of(text.replace("%s", "{bound}") for text in texts) for form, texts in filled.items()}


ANY_KIND = "any"
"""Name of the phrases for attributes that have none of their own with an operator."""


def frames_of(fact: Fact, form: str, bank: Bank = DEFAULT_BANK) -> Pool:
    """Return the frames that a fact can be said with in a form: ``before``, ``noun``, ``should`` or ``clause``."""
    name = (fact.kind.phrased_as or fact.kind.name) if fact.kind else fact.constraint.attribute
    forms = bank.forms(name, _operator(fact))
    if not forms and fact.kind is not None and fact.kind.forms:
        forms = _own_forms(fact.kind)
    found = forms.get(form) or (bank.forms(ANY_KIND, _operator(fact)).get(form) if fact.kind is None else None) or _NONE
    return found if limit_of(fact) else found.without_limit


def bounds_of(fact: Fact, bank: Bank = DEFAULT_BANK) -> Pool:
    """Return the frames for a value with its direction: "at most 3 kg". A word or a given spelling stands alone."""
    is_word = bool(fact.spelled) or isinstance(fact.constraint.value, str)
    if is_word or _operator(fact) == Op.EQ:
        return _ALONE
    found = bank.forms("bound", _operator(fact))["bound"]
    return found if limit_of(fact) else found.without_limit


def _operator(fact: Fact) -> str:
    """Return the operator as the bank names it: "A or B" is said like a single value."""
    return Op.EQ.value if fact.constraint.op is Op.ANY_OF else fact.constraint.op.value


_NONE, _ALONE = Pool(), pool_of(["{value}"])


def is_exact(fact: Fact) -> bool:
    """Tell whether noise must leave the whole phrase alone: a number with its direction, a date, an exclusion."""
    return bool(fact.spelled) or (not isinstance(fact.constraint.value, str) and fact.constraint.op is not Op.ANY_OF)


def label_of(fact: Fact) -> str:
    """Return what a person calls a fact's kind."""
    return fact.kind.label if fact.kind else LABELS[fact.constraint.attribute]
