"""A text as the words that a search compares: case and accents folded, plurals as singulars, numbers with their units.

"Men's USB-C cables, 1,300 watts" has the words men, usb, c, usbc, cable, 1300 and 1300w. A word in two parts of which
one is short is a word as a whole too, so that "t-shirt", "tshirt" and "t shirt" meet. A number with a unit is one word
beside the bare number, so that 65 inches are not 65 watts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal
from functools import lru_cache
from itertools import islice

from ecom_rlve.catalog.shop_words.inflection import singular

MAX_WORDS = 128
"""Only so many different words of a text count, the first ones. This bounds every sum over a text's words."""

_UNIT_SPELLINGS = {
    "inch": 'inch inches " ”',
    "ft": "ft foot feet",
    "yd": "yd yds yard yards",
    "mm": "mm millimeter millimeters millimetre millimetres",
    "cm": "cm cms centimeter centimeters centimetre centimetres",
    "m": "m meter meters metre metres",
    "mg": "mg milligram milligrams",
    "g": "g gr gm gms gram grams gramme grammes",
    "kg": "kg kgs kilo kilos kilogram kilograms",
    "oz": "oz ozs ounce ounces",
    "lb": "lb lbs pound pounds",
    "ml": "ml mls milliliter milliliters millilitre millilitres",
    "l": "l ltr liter liters litre litres",
    "gal": "gal gallon gallons",
    "qt": "qt qts quart quarts",
    "w": "w watt watts",
    "kw": "kw kilowatt kilowatts",
    "v": "v volt volts",
    "a": "amp amps ampere amperes",
    "mah": "mah",
    "hz": "hz hertz",
    "gb": "gb gigabyte gigabytes",
    "tb": "tb terabyte terabytes",
    "mp": "mp megapixel megapixels",
    "lumen": "lumen lumens lm",
    "pack": "pack packs pk pks",
    "piece": "piece pieces pc pcs",
    "count": "count counts ct cts",
    "ply": "ply",
    "h": "h hour hours hr hrs",
    "day": "day days",
    "star": "star stars",
}
_METRIC = {"mg": ("g", -3), "kg": ("g", 3), "mm": ("cm", -1), "m": ("cm", 2), "l": ("ml", 3), "kw": ("w", 3)}
"""Units of which another one is a power of ten: 22 l are 22000 ml."""
_UNITS = {spelling: unit for unit, spellings in _UNIT_SPELLINGS.items() for spelling in spellings.split()}
_ALTERNATIVES = "|".join(sorted(map(re.escape, (*_UNITS, "in")), key=len, reverse=True))
_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_TOKEN = re.compile(
    # "in" is a unit only where it is written together with its number: "65in", not "5 in 1".
    rf"(?<![^\W_])(?:{_NUMBER})(?:(?:in(?![^\W_]))|[ -]?(?:{_ALTERNATIVES.replace('|in|', '|')})(?![^\W_]))"
    rf"|(?<![^\W_])(?:{_NUMBER})(?![^\W_])"
    r"|[^\W_]+(?:[-.'’&/][^\W_]+)*"
)
_PIECE = re.compile(rf"{_TOKEN.pattern}|[.,!?;:]")
_MEASURE = re.compile(rf"({_NUMBER})(?:[ -]?({_ALTERNATIVES}))?")
_ENDING = re.compile(r"['’](?:s|m|t|d|re|ve|ll)$")
"""What is no part of the word: "men's", "I'm"."""
_JOINTS = re.compile(r"[-.'’&/]")
_SHORT_PART = 3
"""A part of a word with at most so many letters says little alone."""
_LONGEST_JOINED = 12
_SAME = {
    "grey": "gray", "colour": "color", "coloured": "colored", "multicolour": "multicolor", "jewellery": "jewelry",
    "aluminium": "aluminum", "fibre": "fiber", "moisturiser": "moisturizer", "pyjama": "pajama", "pyjamas": "pajama",
    "flavour": "flavor", "tyre": "tire", "centre": "center", "organiser": "organizer", "woollen": "woolen",
    "women": "woman", "womens": "woman", "men": "man", "mens": "man", "children": "child", "childrens": "child",
    "kids": "kid", "feet": "foot", "teeth": "tooth", "lens": "lens", "lenses": "lens", "shorts": "shorts",
    "leaves": "leaf", "loaves": "loaf", "moustache": "mustache", "cosy": "cozy",
}  # fmt: skip
"""Words with another form that means the same, and words that are no plurals."""
_SHORTEST_PLURAL = 4
_CACHED = 1 << 17


def split_words(text: str, most: int = MAX_WORDS) -> list[str]:
    """Return the different words of a text in order of appearance, at most ``most``.

    >>> split_words("Crème brûlée-dishes, CREME, 6.50 oz T-shirt")
    ['creme', 'brulee', 'dish', '6.5', '6.5oz', 't', 'shirt', 'tshirt']
    """
    return list(islice(dict.fromkeys(word for group in split_groups(text) for word in group), most))


def split_groups(text: str) -> Iterator[tuple[str, ...]]:
    """Yield the words of each part of a text between spaces: more than one where a part can be read in several ways.

    >>> list(split_groups("usb-c cable, 65in"))
    [('usb', 'c', 'usbc'), ('cable',), ('65', '65inch')]
    """
    return map(forms_of, _TOKEN.findall(folded(text)))


def split_pieces(text: str) -> list[str]:
    """Return the parts of a text, small and without accents, and the marks of punctuation between them.

    >>> split_pieces("Lamps, 12 V. Yes?")
    ['lamps', ',', '12 v', '.', 'yes', '?']
    """
    return _PIECE.findall(folded(text))


def folded(text: str) -> str:
    """Return a text in small letters without accents."""
    if not text.isascii():
        text = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    return text.casefold()


def singular_word(word: str) -> str:
    """Return the form under which a folded word is compared.

    >>> [singular_word(word) for word in ("lamps", "batteries", "women", "grey", "gas", "glass")]
    ['lamp', 'battery', 'woman', 'gray', 'gas', 'glass']
    """
    if word in _SAME:
        return _SAME[word]
    return singular(word) if len(word) >= _SHORTEST_PLURAL else word


@lru_cache(_CACHED)
def forms_of(token: str) -> tuple[str, ...]:
    """Return the words of one number, with or without its unit, or of one word, with or without joints."""
    measure = _MEASURE.fullmatch(token)
    if measure is not None:
        number, unit = measure[1].replace(",", ""), measure[2]
        plain = plain_number(Decimal(number))
        return (plain,) if unit is None else (plain, measure_word(Decimal(number), _UNITS.get(unit, "inch")))
    parts = _JOINTS.split(_ENDING.sub("", token))
    words = [singular_word(part) for part in parts]
    if len(parts) > 1 and min(map(len, parts)) <= _SHORT_PART:
        joined = "".join(parts)
        words += [singular_word(joined)] if len(joined) <= _LONGEST_JOINED else []
    return tuple(words)


def measure_word(number: Decimal, unit: str) -> str:
    """Return the word of a number with its unit.

    >>> measure_word(Decimal("1.50"), "kg"), measure_word(Decimal("15.6"), "inch")
    ('1500g', '15.6inch')
    """
    base, power = _METRIC.get(unit, (unit, 0))
    return plain_number(number.scaleb(power)) + base


def plain_number(number: Decimal) -> str:
    """Return a number without trailing zeros: "1300.50" is "1300.5"."""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
