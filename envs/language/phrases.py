"""How a single fact is said: its value, its direction ("at most"), and the phrase around both.

Values are spelled exactly, in their own unit or converted to another without rounding, so that a spoken bound equals
the bound of the goal. A phrase has three forms: after a noun ("made of wool"), after "should" ("be made of wool") and
with a label ("material wool").
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.catalog.constraints import Op, ends
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

_RANGES: tuple[str, ...] = ("between {low} and {high}", "from {low} to {high}")
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
# No phrase for what is excluded negates a verb: one verb may have several facts.
_ANY_BUT: Forms = (
    ("with any {label} but %s", "have any {label} but %s"),
    ("with any {label} except %s", "have any {label} except %s"),
)
_EXCLUSIONS: dict[str, Forms] = {
    "brand": (
        ("from any brand but %s", "be from any brand but %s"),
        ("by anyone but %s", "be by anyone but %s"),
    ),
    "color": (
        ("in anything but %s", "be in anything but %s"),
        ("in any colour but %s", "come in any colour but %s"),
    ),
    "material": (
        ("made of anything but %s", "be made of anything but %s"),
        ("in any material except %s", "be made of any material except %s"),
    ),
}
_LABELLED_EXCLUSIONS = ("anything but %s", "anything except %s", "not %s")
# Only for an exact price: "priced at" cannot stand before "at most".
_EXACT_PRICE: Forms = (("priced at %s", "be priced at %s"), *_FORMS["price"])


def _with_label(name: str) -> Forms:
    return ((f"with {LABELS[name]} %s", f"have {LABELS[name]} %s"),)


_ALL_FORMS: dict[str, Forms] = {
    name: _FORMS.get(name) or _with_label(name) for name in (*ATTRIBUTES, "brand", "price", "rating", "ship_days")
}


def spellings(fact: Fact) -> tuple[str, ...]:
    """Return every spelling of the fact's value that a sentence may use, the plain one first: ``$24.99``, ``A or B``.

    A range is spelled with its limits (``between $20 and $30``), an exclusion without what excludes (``A or B``).
    Raises :class:`ValueError` if a price (in cents) or a quantity is no whole number.
    """
    if fact.spelled:
        return (fact.spelled,)
    value, attribute = fact.constraint.value, fact.constraint.attribute
    unit = fact.unit or _UNITS.get(attribute, "")
    if fact.constraint.op is Op.BETWEEN:
        return _range_spellings(attribute, *ends(fact.constraint), unit)
    if isinstance(value, tuple):
        return (" or ".join(map(str, value)),)
    if isinstance(value, str):
        return (value,)
    return _number_spellings(attribute, float(value), unit)


def _range_spellings(attribute: str, low: float, high: float, unit: str) -> tuple[str, ...]:
    """Return a range in words, both numbers in the same unit, which is said once or twice."""
    found: list[str] = []
    numbers = (_number_spellings(attribute, float(each), unit) for each in (low, high))
    for least, most in zip(*numbers, strict=False):
        number, *rest = least.split(" ", 1)
        short = number if rest and most.endswith(f" {rest[0]}") else least
        found += (form.format(low=each, high=most) for form in _RANGES for each in dict.fromkeys((short, least)))
    return tuple(found)


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
    return _filled(draws.pick(forms_of(fact))[0], fact, draws, protected)


def after_should(fact: Fact, draws: Draws, protected: list[str]) -> str:
    """Return the fact as a phrase that follows "should": ``be made of wool``, ``cost at most $30.00``."""
    return _filled(draws.pick(forms_of(fact))[1], fact, draws, protected)


def labelled(fact: Fact, draws: Draws, protected: list[str]) -> str:
    """Return the fact as a label and a value: ``material wool``, ``price at most $30.00``."""
    label = fact.kind.label if fact.kind else LABELS[fact.constraint.attribute]
    form = draws.pick(_LABELLED_EXCLUSIONS) if fact.constraint.op is Op.NONE_OF else "%s"
    return f"{label} {_filled(form, fact, draws, protected)}"


def forms_of(fact: Fact) -> Forms:
    """Return the phrases for a fact, with ``%s`` for the value and its direction."""
    if fact.kind is not None:
        return fact.kind.forms
    attribute = fact.constraint.attribute
    if attribute == "price" and fact.constraint.op is Op.EQ:
        return _EXACT_PRICE
    if fact.constraint.op is Op.NONE_OF:
        label = LABELS[attribute]
        return _EXCLUSIONS.get(attribute) or tuple(
            (after.format(label=label), should.format(label=label)) for after, should in _ANY_BUT
        )
    return _ALL_FORMS[attribute]


def excluding_words(fact: Fact) -> tuple[str, ...]:
    """Return the ways to say before a value that it is excluded, longest first: "any colour but", "anything but"."""
    forms = (*_LABELLED_EXCLUSIONS, *(text for pair in forms_of(fact) for text in pair))
    return tuple(sorted(dict.fromkeys(map(_excluding, forms)), key=lambda text: -len(text)))


def _excluding(form: str) -> str:
    before = form[: form.index("%s")]
    return before[max(0, before.find("any")) :].strip()


def _filled(form: str, fact: Fact, draws: Draws, protected: list[str]) -> str:
    """Return a form with the fact's value in its place; what excludes ("anything but") is added to ``protected``."""
    if fact.constraint.op is Op.NONE_OF:
        protected.append(_excluding(form))
    return form % _bounded(fact, draws, protected)


def _bounded(fact: Fact, draws: Draws, protected: list[str]) -> str:
    """Return the value with its direction; a number is added to ``protected`` together with its direction."""
    value = draws.pick(spellings(fact))
    if fact.spelled or fact.constraint.op is Op.BETWEEN:
        protected.append(value)
        return value
    if isinstance(fact.constraint.value, str | tuple):
        return value
    bounded = draws.pick(_BOUNDS[fact.constraint.op]) % value
    protected.append(bounded)
    return bounded
