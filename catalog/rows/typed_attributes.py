"""The discrete attributes of a product, read from its details and its own text.

What an option, a column or a detail states is known, unless the title contradicts it. A form is kept only if the
product's text names it too: details call a brush a "Cream". If no detail states a colour or a material, it is taken
from the words of the title that say how the thing is, or from a feature, provided that they name exactly one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ecom_rlve.catalog.kinds.title_descriptions import describing_words
from ecom_rlve.catalog.rows.provenance import Details, Stated, agreed
from ecom_rlve.catalog.rows.text import clean_text, is_latin, is_mojibake
from ecom_rlve.catalog.shop_words.attribute_words import only_where_stated, parts, phrases, vocabulary
from ecom_rlve.catalog.shop_words.phrases import Found, fold_words

MAX_VALUE = 40
"""A stated value of more characters is a sentence and not read."""
KEYS: dict[str, tuple[str, ...]] = {
    "color": ("color", "colour"),
    "size": ("size",),
    "material": ("material", "fabric type", "material type", "outer material", "metal type", "frame material"),
    "style": ("style",),
    "pattern": ("pattern",),
    "connector_type": ("connector type",),
    "item_form": ("item form",),
    "finish_type": ("finish type", "finish"),
    "skin_type": ("skin type",),
    "age_range": ("age range (description)", "age range description", "age range"),
    "scent": ("scent",),
    "flavor": ("flavor", "flavour"),
    "model": ("model name", "series"),
}
"""Which details state an attribute, in lower case."""

_CLOSED = ("color", "size", "material", "style", "pattern", "age_range", "connector_type")
"""Attributes whose values all come from the vocabulary; the others take any short value."""
_TITLED = ("color", "material", "size")
"""Attributes that a title may state, or contradict."""
_DOUBTED = ("item_form",)
"""Attributes of which details are often filled in carelessly, so that the product's own text must name the value."""
_CONSUMED = ("Food", "Health", "Beauty", "Cleaning", "Books", "Media", "other")
"""Families in which a title's colours and materials are flavours, ingredients, shades or names, or may be."""
_WORN = ("Clothing", "Costumes", "Shoes", "Gloves", "Hats")
_PLACEHOLDERS = frozenset(
    ("other", "others", "none", "unknown", "generic", "n a", "na", "does not apply", "not applicable", "assorted")
)
_SEVERAL = re.compile(r"[{}<>\[\]|;,/]")
_PARENTHESIS = re.compile(r"\([^()]*\)")
_INCH = re.compile(r"(?<=\d)\s*(?:inch(?:es)?\b|in\b\.?|[\"”″])", re.IGNORECASE)
_SHOE_SIZE = re.compile(r"(eu|us|uk) ?(\d{1,2}(?:\.5)?)")
_MEASURED = re.compile(r"\d+(?:\.\d+)?(?: (?:inch|cm|mm))?")
_COLOR_FEATURE = re.compile(r"colou?r\s*[:：]\s*(.*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ProductText:
    """What a product's own text says about it."""

    raw_title: str
    title: Sequence[Sequence[str]]
    """The words of the title that say how the product is, in runs."""
    features: Sequence[str]
    """Raw features."""
    everything: str
    """Title, features and description."""
    is_consumed: bool
    """Whether words for colours and materials name an ingredient or a work: green tea, zinc tablets."""
    is_worn: bool
    """Whether "large" or "XL" after its noun is the size in which it is sold."""

    @classmethod
    def of(
        cls, title: str, features: Sequence[str], description: str, brand: str | None = None, family: str = ""
    ) -> ProductText:
        """Read a product's text, but not a brand at the start of its title ("White Mountain" names no colour)."""
        own = title[: len(brand or "")].casefold() == (brand or "").casefold()
        return cls(
            raw_title=title,
            title=describing_words(title[len(brand or "") :] if own else title),
            features=tuple(features),
            everything=". ".join([title, *features, description]),
            is_consumed=family in _CONSUMED,
            is_worn=family in _WORN,
        )


def discrete_attributes(details: Details, text: ProductText) -> dict[str, Stated[str]]:
    """Return canonical lower-case values by attribute, each with its origin."""
    values: dict[str, Stated[str]] = {}
    for name, keys in KEYS.items():
        stated = agreed(_read(name, details.stated(keys)))
        if name in _TITLED:
            stated = _reconciled(name, stated, text)
        if stated is not None and (name not in _DOUBTED or _is_named(name, stated.value, _words(text.everything))):
            values[name] = stated
    return values


def _reconciled(name: str, stated: Stated[str] | None, text: ProductText) -> Stated[str] | None:
    """Return what details and text agree on; one of them if the other names nothing, None if they differ."""
    titled = [Stated(value, "title", text.raw_title) for value in _titled_values(name, text)]
    if titled:
        return agreed([*([stated] if stated else ()), *titled])
    if stated is not None or name == "size" or text.is_consumed:
        return stated
    if name == "material":
        lines = [(feature, _materials_of_whole(_words(feature))) for feature in text.features]
    else:
        colors = [(feature, _COLOR_FEATURE.match(feature)) for feature in text.features]
        lines = [(feature, _values(name, _words(match[1]))) for feature, match in colors if match]
    return agreed(Stated(value, "features", feature) for feature, values in lines for value in values)


def _titled_values(name: str, text: ProductText) -> list[str]:
    if name == "size":
        # Before the noun "large" is no size of clothes: a large tote.
        return [value for run in text.title[1:] for value in _clear_values(name, run)] if text.is_worn else []
    return [] if text.is_consumed else [value for run in text.title for value in _clear_values(name, run)]


def _read(name: str, statements: Iterable[Stated[object]]) -> Iterator[Stated[str]]:
    for stated in statements:
        value = _canonical(name, stated.value)
        if value is not None:
            yield Stated(value, stated.key, stated.raw)


def _canonical(name: str, raw: object) -> str | None:
    if isinstance(raw, list) and len(raw) == 1:
        raw = raw[0]
    if not isinstance(raw, str) or len(raw) > MAX_VALUE or is_mojibake(raw) or not is_latin(raw):
        return None
    value = clean_text(raw).casefold()
    if " ".join(fold_words(value)) in _PLACEHOLDERS or "<" in raw or "{" in raw:
        return None
    if name == "size":
        return _size(value)
    if name in _CLOSED:
        return _only(_values(name, _words(value)))
    return None if not fold_words(value) or _SEVERAL.search(value) else value


def _size(value: str) -> str | None:
    shoe = _shoe_size(value)
    if shoe:
        return shoe
    value = _INCH.sub(" inch", _PARENTHESIS.sub(" ", value)).strip()
    words = fold_words(value)
    found = phrases("size").find(words)
    if len(found) == 1 and found[0].words == len(words):
        return found[0].value
    return value if _MEASURED.fullmatch(value) else None


def _shoe_size(value: str) -> str | None:
    """Return one of the sizes of "US 6 | EU 36", in either order: the European one if there is one."""
    sides = [_SHOE_SIZE.fullmatch(side.strip()) for side in re.split(r"[|/]", value)]
    sizes = {side[1]: f"{side[1]} {side[2]}" for side in sides if side}
    return sizes[min(sizes)] if len(sizes) == len(sides) else None


def _is_named(name: str, value: str, words: Sequence[str]) -> bool:
    if value in vocabulary(name):
        return value in _values(name, words)
    wanted = fold_words(value)
    if name == "size" and all(map(str.isdecimal, wanted)):
        wanted = ["size", *wanted]
    return any(list(words[at : at + len(wanted)]) == wanted for at in range(len(words) - len(wanted) + 1))


def _values(name: str, words: Sequence[str]) -> list[str]:
    if name == "color":
        # "Rose gold plated" and "sterling silver" name what a thing is made of, not its colour.
        metal = {at for found in phrases("material").find(words) if found.words > 1 for at in found.places}
        words = ["" if at in metal else word for at, word in enumerate(words)]
    return [found.value for found in phrases(name).find(words) if found.value and not _is_letter(found, words)]


def _is_letter(found: Found[str], words: Sequence[str]) -> bool:
    """Say whether a value was found as a single letter ("M", "L"), which any text may contain by chance."""
    return found.words == 1 and len(words[found.at]) == 1


def _clear_values(name: str, words: Sequence[str]) -> list[str]:
    """Return the values that a text surely means: "cream" in a title need not be a colour."""
    unclear = only_where_stated(name)
    return [value for value in _values(name, words) if value not in unclear]


def _materials_of_whole(words: Sequence[str]) -> list[str]:
    """Return the materials named, except right before a part: a "rubber sole" does not make the product rubber."""
    unclear = {"", *only_where_stated("material")}
    named = [found for found in phrases("material").find(words) if found.value not in unclear]
    return [found.value for found in named if (*words, "")[found.places.stop] not in parts()]


def _only(values: Iterable[str | None]) -> str | None:
    distinct = {value for value in values if value is not None}
    return distinct.pop() if len(distinct) == 1 else None


def _words(text: str) -> list[str]:
    return fold_words(_INCH.sub(" inch", text))
