"""The words in which an agent asks for something, and what they ask for.

Words for attributes come from the catalog's attributes; the others are about things that every shop deals with. Phrases
are matched as whole words, longest first, in singular and plural.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from ecom_rlve.catalog.attributes import ATTRIBUTES, NUMERIC
from ecom_rlve.envs.language.acts import SlotKind


@dataclass(frozen=True, slots=True)
class Phrase:
    """One way to name what is asked for."""

    words: tuple[str, ...]
    name: str
    """Name of the attribute, or of a thing that no customer knows."""
    is_unknowable: bool = False
    """No customer knows it."""
    yields_to: frozenset[str] = frozenset()
    """Attributes whose name after the phrase changes its meaning: "how much power" does not ask for the price."""
    reach: int = 0
    """Most words between the phrase and such an attribute."""
    others: tuple[str, ...] = ()
    """What else it may mean, likeliest first."""
    is_label: bool = False
    """It is what a kind of fact is called: nothing else is meant."""

    @property
    def is_vague(self) -> bool:
        """Whether it names no topic rather than another of its set: "how big", not "size"."""
        return bool(self.others) and self.words[0] in _VAGUE_STARTS


_VAGUE_STARTS = frozenset(("how", "what", "when", "did", "it", "paid", "pay", "thing", "item", "product", "amount"))

_SHOP_WORDS: dict[str, tuple[str, ...]] = {
    "brand": ("brand", "brand name", "make", "maker", "manufacturer", "label", "who makes"),
    "price": ("price", "price range", "cost", "budget", "how much", "spend", "spending", "price limit", "expensive"),
    "quantity": ("how many", "quantity", "number of", "how much of", "amount", "units", "pieces", "qty"),
    "variant": ("variant", "option", "version", "variation"),
    "model": ("edition",),
    "scent": ("aroma",),
    "pattern": ("motif",),
    "rating": ("rating", "star rating", "customer rating", "stars", "reviews", "how well rated"),
    "ship_days": (
        "delivery time", "shipping time", "delivery speed", "shipping speed", "how fast", "how soon", "how quickly",
        "when do you need", "when would you need", "by when",
    ),
    "size": ("how big", "how large"),
    "material": ("what is it made of",),
    "weight": ("how heavy",),
}  # fmt: skip

_UNKNOWABLE_WORDS: dict[str, tuple[str, ...]] = {
    "id": (
        "id", "product id", "item id", "variant id", "sku", "asin", "product number", "item number", "article number",
        "product code", "barcode",
    ),
    "order_number": (
        "order number", "order id", "line id", "tracking number", "confirmation number", "order reference",
        "reference number",
    ),
    "stock": (
        "stock", "in stock", "stock level", "stock status", "availability", "inventory", "out of stock", "sold out",
        "still available", "currently available", "available right now",
    ),
    "delivery_date": (
        "delivery date", "arrival date", "shipping date", "ship date", "eta", "when will it arrive",
        "when will it be delivered", "when it will arrive", "when does it arrive",
    ),
}  # fmt: skip

_YIELDING: dict[str, tuple[frozenset[str], int]] = {
    "how many": (frozenset(NUMERIC), 0),
    "number of": (frozenset(NUMERIC), 0),
    "how much": (frozenset(NUMERIC) | {"quantity"}, 4),
    "how long": (frozenset({"battery_life", "ship_days"}), 5),
}
_COUNTED_UNITS: dict[str, str] = {
    "how many hours": "battery_life", "how many days": "ship_days",
    **dict.fromkeys(("how many litres", "how many liters", "how many ml", "how many millilitres",
                     "how many milliliters", "how many cups", "how many gallons", "how many pints", "how many quarts",
                     "how many ounces", "how many oz", "how many fluid ounces", "how many gb", "how many gig",
                     "how many gigabytes", "how many terabytes", "how many tb", "how many servings",
                     "how many portions"), "capacity"),
    **dict.fromkeys(("how many kilos", "how many kg", "how many pounds", "how many grams", "how many g",
                     "how many kilograms"), "weight"),
    **dict.fromkeys(("how many cm", "how many centimetres", "how many centimeters", "how many metres",
                     "how many meters", "how many feet", "how many foot", "how many ft", "how many yards"), "length"),
    "how many inches": "screen_size",
    **dict.fromkeys(("how many dollars", "how many bucks", "how many quid"), "price"),
    "how many stars": "rating",
}  # fmt: skip
"""What is counted in a unit is asked for, not how many things."""

_REACH_OF_MONEY = 1
"""Most words between "what do you want" and "spend" or "price"."""
_MONEY = ("price", "budget", "price_paid", "order_total", "order_amount")
_SIZES = ("size", "length", "capacity", "screen_size")
_COUNTS = ("quantity", "units_bought")
_TIMES = ("ship_days", "shipping_speed")
_MANY_MEANINGS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("price", "cost", "spend", "spending", "expensive", "paid", "pay", "did it cost", "it cost",
                     "how much did you spend", "how much did you pay", "how much was", "how much is"), _MONEY),
    **dict.fromkeys(("budget", "price limit", "price range", "in total", "total", "amount", "spending limit",
                     "total price", "total cost"), _MONEY),
    "how much": (*_MONEY, "capacity", "weight", *_COUNTS),
    **dict.fromkeys(("size", "how big", "how large"), (*_SIZES, "order_amount")),
    "how heavy": ("weight",),
    **dict.fromkeys(("how many dollars", "how many bucks", "how many quid"), _MONEY),
    **dict.fromkeys(("how many cm", "how many centimetres", "how many centimeters", "how many feet"),
                    ("length", "screen_size", "size")),
    "how many inches": ("screen_size", "length", "size"),
    **dict.fromkeys(("how many ounces", "how many oz"), ("capacity", "weight")),
    "how long": ("length", "battery_life", "ship_days"),
    **dict.fromkeys(("how many", "quantity", "number of", "units", "pieces", "qty", "how much of"), _COUNTS),
    **dict.fromkeys(("how fast", "how soon", "how quickly", "delivery time", "delivery speed", "shipping time",
                     "shipping speed", "delivery method", "shipping method", "speed"), _TIMES),
    **dict.fromkeys(("item", "product", "thing", "contents", "what did you order", "what did you buy", "what was in",
                     "what is in", "what you ordered", "what you bought"), ("items_ordered", "other_items")),
    **dict.fromkeys(("date", "day", "when"), ("order_date", "ship_days")),
    **dict.fromkeys(("version", "variation", "option"), ("variant", "model")),
    "edition": ("model", "variant"),
    **dict.fromkeys(("design", "look"), ("style", "pattern")),
    **dict.fromkeys(("delivery date", "arrival date", "eta", "when will it arrive"), _TIMES),
}  # fmt: skip
"""Words that name a set of topics (SPEC §7, Hearing): which of them is meant, what the customer has in mind decides."""

UNITS: Mapping[str, str] = {
    "w": "wattage", "watt": "wattage", "watts": "wattage", "g": "weight", "kg": "weight", "lb": "weight",
    "pounds": "weight", "kilos": "weight", "grams": "weight", "h": "battery_life", "hours": "battery_life",
    **dict.fromkeys(("ml", "l", "litre", "litres", "liter", "liters", "gallon", "gallons", "quart", "quarts", "pint",
                     "pints", "cup", "cups", "gb", "tb", "gigs", "gigabytes", "oz", "ounce", "ounces"), "capacity"),
    **dict.fromkeys(("mm", "cm", "m", "metre", "metres", "meter", "meters", "ft", "feet", "foot"), "length"),
    **dict.fromkeys(("inch", "inches"), "screen_size"),
}  # fmt: skip
"""The attribute that a number with this unit is about."""

SAME_UNITS: Mapping[str, tuple[str, ...]] = {
    "length": ("screen_size", "size"), "screen_size": ("length", "size"), "capacity": ("size", "weight"),
    "weight": (*_MONEY, "capacity", "size"), "battery_life": _TIMES, "wattage": ("size",),
}  # fmt: skip
"""What else may be measured in the unit of an attribute."""

NOT_NAMES: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    # word: (words before it, words after it) that show it names no attribute there
    "make": (
        frozenset({"to", "i", "we", "you", "me", "i'll", "let", "it", "they", "would"}),
        frozenset({"sure", "sense", "it", "any", "at", "for"}),
    ),
    "print": (frozenset({"to", "you", "please"}), frozenset({"the", "your", "out", "everything", "it", "me"})),
    "finish": (frozenset({"to", "i", "we", "you", "me"}), frozenset({"the", "your", "my", "this", "it", "up"})),
    "cost": (frozenset({"no", "any", "extra"}), frozenset()),
    "line": (frozenset({"cart", "order", "in", "on"}), frozenset({"item", "items"})),
    "lines": (frozenset({"cart", "order"}), frozenset()),
    "label": (frozenset({"shipping", "return"}), frozenset()),
    "labels": (frozenset({"shipping", "return"}), frozenset()),
    "option": (frozenset({"delivery", "shipping", "payment", "an", "other"}), frozenset()),
    "options": (frozenset({"delivery", "shipping", "payment", "my", "other"}), frozenset()),
    "plug": (frozenset({"to"}), frozenset({"in", "it"})),
    "taste": (frozenset({"great", "good", "your"}), frozenset()),
    "power": (frozenset({"to"}), frozenset({"your", "the"})),
    "units": (frozenset({"which", "what"}), frozenset()),
    "form": (frozenset({"to", "return"}), frozenset()),
}

COMMON_WORDS: frozenset[str] = frozenset(
    """
    a about add all also alright am an and another any anything are as ask at available be before best better between
    both buy but by can cart certain change check choice choose come correct could customer did do does done each
    either else ever everything exact exactly find fine first for found from further get give go going good got great
    had happy has have hello help here hey hi how i if in instead into is it item items just keep kind know last least
    let like list look looking looks love make many may me might mind more most much must my name need new next nice no
    none not now of off ok okay on once one ones only or order other others our out over particular perfect pick please
    prefer preferred product products put question ready really right same say see select shall should show so some
    something specific still sure take tell than thank thanks that the their them then there these they thing things
    think this those to today together too two try type until up us use very want wanted was way we well were what
    former latter when where which while who why will wish with within without wondering would yes yet you your yours
    """.split()
)
"""Words that are never read as a value on their own, whatever the catalog's vocabulary holds."""

FOREIGN_WORDS: frozenset[str] = frozenset(
    """
    aber auch auf bitte das dem den der des die ein eine einen einer es für haben hätten ich ihnen ihr ihre ist kann
    können mit möchten nicht oder sagen sie sind soll und von was welche welchem welchen welcher welches wie wieviel
    wollen wünschen zu
    al como con cual cuál cuanto cuantos cuánto cuántos de del desea el ella en es esta está favor la las lo los mi
    para por prefiere puede qué que quiere sería su sus un una usted y
    au aux avec avez ce ces combien comment d'une dans de des du est et êtes il le les ou où pour pouvez préférez quel
    quelle quelles quels qu'est-ce s'il sa ses son souhaitez sur une vous votre voulez
    che come cosa di gli il quale quali quanti per preferisce si sono una vuole
    da do dos e em não o os qual quais quer você voce
    een en het hoeveel ik je u van voor wat welk wilt
    """.split()
) - {"do", "as", "come", "on", "me", "an", "was", "no"}
"""Function words of other languages; a sentence with at least as many of them as common English words is not read."""

ALSO_ENGLISH: frozenset[str] = frozenset("wat u oder per van pour comment son".split())
"""Words of other languages that are English too, or that English chats write ("wat do u like", "oder total?")."""


def _plurals(word: str) -> tuple[str, ...]:
    if word.endswith("s"):
        return (word,)
    if word.endswith(("x", "ch", "sh")):
        return (word, f"{word}es")
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return (word, f"{word[:-1]}ies")
    return (word, f"{word}s")


def _phrases() -> Iterable[Phrase]:
    named = [(text, name) for name, texts in _SHOP_WORDS.items() for text in texts]
    for attribute in ATTRIBUTES.values():
        named += [(text, attribute.name) for text in (attribute.label, *attribute.words)]
    named += _COUNTED_UNITS.items()
    unknowable = [(text, name) for name, texts in _UNKNOWABLE_WORDS.items() for text in texts]
    for is_unknowable, texts in ((False, named), (True, unknowable)):
        for text, name in texts:
            *first, last = text.casefold().split()
            yields_to, reach = _YIELDING.get(text, (frozenset(), 0))
            for ending in _plurals(last):
                yield Phrase((*first, ending), name, is_unknowable, yields_to, reach, _others(text, name))


def _others(text: str, name: str, *more: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(other for other in (*_MANY_MEANINGS.get(text.casefold(), ()), *more) if other != name))


Phrases = Mapping[str, tuple[Phrase, ...]]
"""Phrases by their first word, longest first."""


def by_first_word(phrases: Iterable[Phrase]) -> Phrases:
    """Return the phrases as :data:`Phrases`."""
    grouped: dict[str, list[Phrase]] = {}
    for phrase in phrases:
        grouped.setdefault(phrase.words[0], []).append(phrase)
    return MappingProxyType(
        {word: tuple(sorted(found, key=lambda phrase: -len(phrase.words))) for word, found in grouped.items()}
    )


PHRASES: Phrases = by_first_word(_phrases())
"""The phrases of questions about the goods of any shop."""


@lru_cache(maxsize=256)
def choices_of(kinds: tuple[SlotKind, ...]) -> Mapping[str, frozenset[str]]:
    """Return the kinds whose values are names of topics ("price", as what matters most), with these topics."""
    named = {" ".join(phrase.words): phrase.name for phrases in PHRASES.values() for phrase in phrases}
    found = {kind.name: frozenset(named[value] for value in kind.values if value in named) for kind in kinds}
    return MappingProxyType({name: topics for name, topics in found.items() if len(topics) > 1})


@lru_cache(maxsize=256)
def with_kinds(kinds: tuple[SlotKind, ...]) -> Phrases:
    """Return :data:`PHRASES` with the names and values of further kinds of facts, which are tried first.

    A value that is also a name in :data:`PHRASES` ("price", as what matters most) keeps its meaning as a name.
    """
    named = {" ".join(phrase.words) for phrases in PHRASES.values() for phrase in phrases}
    # "What do you want to spend" asks for no things.
    money = frozenset(_MONEY)
    owners: dict[str, dict[str, None]] = {}
    for kind in kinds:
        for value in kind.values:
            owners.setdefault(value, {})[kind.name] = None
    added = [
        Phrase(
            (*first, ending),
            kind.name,
            yields_to=money if first and kind.name not in money else frozenset(),
            reach=_REACH_OF_MONEY,
            others=_others(text, kind.name, *owners.get(text, ())),
            is_label=text == kind.label,
        )
        for kind in kinds
        for text in (kind.label, *kind.words, *(value for value in kind.values if value.casefold() not in named))
        for *first, last in (text.casefold().split(),)
        for ending in _plurals(last)
    ]
    return by_first_word((*added, *(phrase for phrases in PHRASES.values() for phrase in phrases)))
