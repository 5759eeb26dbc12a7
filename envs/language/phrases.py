"""How a single fact is said: its value, its direction ("at most"), and the phrase around both.

Values are spelled exactly, in their own unit or converted to another without rounding, so that a spoken bound equals
the bound of the goal. A phrase has three forms: after a noun ("made of wool"), after "should" ("be made of wool") and
with a label ("material wool").
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.constraints import Op
from ecom_rlve.envs.language.acts import Fact
from ecom_rlve.streams import Draws

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

_BOUNDS: dict[Op, tuple[str, ...]] = {
    Op.EQ: ("%s", "%s", "exactly %s"),
    Op.AT_MOST: ("at most %s", "no more than %s", "not more than %s", "up to %s", "%s or less"),
    Op.AT_LEAST: ("at least %s", "no less than %s", "not less than %s", "%s or more", "%s and up"),
}

Forms = tuple[tuple[str, str], ...]
"""Pairs of phrases: one after a noun, one after "should"."""

_FORMS: dict[str, Forms] = {
    "brand": (
        ("from %s", "be from %s"),
        ("by %s", "be by %s"),
        ("made by %s", "be made by %s"),
        ("of the brand %s", "be of the brand %s"),
    ),
    "price": (
        ("costing %s", "cost %s"),
        ("for %s", "cost %s"),
        ("with a price of %s", "have a price of %s"),
    ),
    "color": (
        ("in %s", "be in %s"),
        ("in the colour %s", "be in the colour %s"),
        ("in the color %s", "come in the color %s"),
    ),
    "size": (
        ("in size %s", "be in size %s"),
        ("of size %s", "be of size %s"),
        ("sized %s", "come in size %s"),
    ),
    "material": (
        ("made of %s", "be made of %s"),
        ("made from %s", "be made from %s"),
        ("with %s as the material", "have %s as the material"),
    ),
    "style": (
        ("in %s style", "be in %s style"),
        ("in the style %s", "be in the style %s"),
    ),
    "pattern": (
        ("in the %s pattern", "have the %s pattern"),
        ("with %s as the pattern", "have %s as the pattern"),
    ),
    "connector_type": (
        ("with %s", "come with %s"),
        ("with %s as the connector", "have %s as the connector"),
        ("with the connector %s", "have the connector %s"),
    ),
    "item_form": (
        ("in %s form", "come in %s form"),
        ("in the form %s", "come in the form %s"),
    ),
    "finish_type": (
        ("finished in %s", "be finished in %s"),
        ("with %s as the finish", "have %s as the finish"),
    ),
    "skin_type": (
        ("for skin type %s", "be for skin type %s"),
        ("suited to skin type %s", "suit skin type %s"),
    ),
    "age_range": (
        ("for the age range %s", "be for the age range %s"),
        ("suited to the age range %s", "suit the age range %s"),
    ),
    "scent": (
        ("in the scent %s", "come in the scent %s"),
        ("with %s as the scent", "have %s as the scent"),
    ),
    "flavor": (
        ("in %s flavour", "come in %s flavour"),
        ("with %s as the flavour", "have %s as the flavour"),
    ),
    "model": (
        ("in the %s model", "be the %s model"),
        ("from the %s line", "be from the %s line"),
    ),
    "wattage": (
        ("with a wattage of %s", "have a wattage of %s"),
        ("with a power of %s", "have a power of %s"),
    ),
    "weight": (
        ("weighing %s", "weigh %s"),
        ("with a weight of %s", "have a weight of %s"),
    ),
    "screen_size": (
        ("with a screen size of %s", "have a screen size of %s"),
        ("with a screen of %s", "have a screen of %s"),
    ),
    "capacity": (
        ("with a capacity of %s", "have a capacity of %s"),
        ("holding %s", "hold %s"),
    ),
    "battery_life": (
        ("with a battery life of %s", "have a battery life of %s"),
        ("with a battery that lasts %s", "have a battery that lasts %s"),
    ),
    "length": (
        ("with a length of %s", "have a length of %s"),
        ("measuring %s in length", "measure %s in length"),
    ),
    "rating": (
        ("with a rating of %s", "have a rating of %s"),
        ("rated %s", "be rated %s"),
    ),
    "ship_days": (
        ("with a delivery time of %s", "have a delivery time of %s"),
        ("arriving in %s", "arrive in %s"),
    ),
}
# Only for an exact price: "priced at" cannot stand before "at most".
_EXACT_PRICE: Forms = (("priced at %s", "be priced at %s"), *_FORMS["price"])


def _with_label(name: str) -> Forms:
    return ((f"with {LABELS[name]} %s", f"have {LABELS[name]} %s"),)


_ALL_FORMS: dict[str, Forms] = {
    name: _FORMS.get(name) or _with_label(name) for name in (*ATTRIBUTES, "brand", "price", "rating", "ship_days")
}


def spellings(fact: Fact) -> tuple[str, ...]:
    """Return every spelling of the fact's value that a sentence may use, the plain one first: ``$24.99``, ``A or B``.

    Raises :class:`ValueError` if a price (in cents) or a quantity is no whole number.
    """
    if fact.spelled:
        return (fact.spelled,)
    value, attribute = fact.constraint.value, fact.constraint.attribute
    if isinstance(value, tuple):
        return (" or ".join(value),)
    if isinstance(value, str):
        return (value,)
    return _number_spellings(attribute, float(value), fact.unit or _UNITS.get(attribute, ""))


@lru_cache(maxsize=1 << 16)
def _number_spellings(attribute: str, value: float, unit: str) -> tuple[str, ...]:
    if attribute in ("price", "quantity") and not value.is_integer():
        raise ValueError(f"{attribute} must be a whole number to be said exactly, not {value!r}")
    if attribute == "quantity":
        words = ("one", "1", "a single") if value == 1 else (str(int(value)),)
        return (NUMBER_WORDS[int(value)], *words) if 2 <= value <= 10 else words
    if attribute == "price":
        dollars, cents = divmod(int(value), 100)
        return (f"${dollars}.{cents:02d}",) if cents else (f"${dollars}.00", f"${dollars}")
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


def counted(quantity: float, singular: str, plural: str, draws: Draws, protected: list[str]) -> str:
    """Return "three throw blankets", or only the count if the noun is empty; the count is added to ``protected``."""
    count = draws.pick(_number_spellings("quantity", float(quantity), ""))
    if not singular and count == "a single":
        count = "one"
    protected.append(count)
    noun = singular if quantity == 1 else plural
    return f"{count} {noun}" if noun else count


def after_noun(fact: Fact, draws: Draws, protected: list[str]) -> str:
    """Return the fact as a phrase that follows a noun: ``made of wool``, ``costing at most $30.00``."""
    return draws.pick(forms_of(fact))[0] % _bounded(fact, draws, protected)


def after_should(fact: Fact, draws: Draws, protected: list[str]) -> str:
    """Return the fact as a phrase that follows "should": ``be made of wool``, ``cost at most $30.00``."""
    return draws.pick(forms_of(fact))[1] % _bounded(fact, draws, protected)


def labelled(fact: Fact, draws: Draws, protected: list[str]) -> str:
    """Return the fact as a label and a value: ``material wool``, ``price at most $30.00``."""
    label = fact.kind.label if fact.kind else LABELS[fact.constraint.attribute]
    return f"{label} {_bounded(fact, draws, protected)}"


def forms_of(fact: Fact) -> Forms:
    """Return the phrases for a fact, with ``%s`` for the value and its direction."""
    if fact.kind is not None:
        return fact.kind.forms
    attribute = fact.constraint.attribute
    if attribute == "price" and fact.constraint.op is Op.EQ:
        return _EXACT_PRICE
    return _ALL_FORMS[attribute]


def _bounded(fact: Fact, draws: Draws, protected: list[str]) -> str:
    """Return the value with its direction; a number is added to ``protected`` together with its direction."""
    value = draws.pick(spellings(fact))
    if fact.spelled:
        protected.append(value)
        return value
    if isinstance(fact.constraint.value, str | tuple):
        return value
    bounded = draws.pick(_BOUNDS[fact.constraint.op]) % value
    protected.append(bounded)
    return bounded
