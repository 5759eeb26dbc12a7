"""Singular and plural of the nouns that name categories of goods, in English."""

from __future__ import annotations

_IRREGULAR = {
    **{"scarves": "scarf", "knives": "knife", "shelves": "shelf", "lenses": "lens", "mice": "mouse", "loaves": "loaf"},
    **{"leaves": "leaf", "halves": "half", "wolves": "wolf", "geese": "goose", "teeth": "tooth", "feet": "foot"},
    **{"men": "man", "women": "woman", "children": "child", "potatoes": "potato", "tomatoes": "tomato"},
    **{"quizzes": "quiz", "buses": "bus", "atlases": "atlas", "canvases": "canvas", "gases": "gas", "cacti": "cactus"},
    **{"irises": "iris", "thermoses": "thermos", "trellises": "trellis"},
}
_KEPT_E = {
    **{"movies": "movie", "cookies": "cookie", "ties": "tie", "hoodies": "hoodie", "beanies": "beanie"},
    **{"onesies": "onesie", "smoothies": "smoothie", "brownies": "brownie", "selfies": "selfie", "pies": "pie"},
    **{"plushies": "plushie", "booties": "bootie", "hankies": "hankie", "axes": "axe", "koozies": "koozie"},
}
_UNCOUNTABLE = frozenset(
    (
        "equipment",
        "jewelry",
        "clothing",
        "furniture",
        "luggage",
        "hardware",
        "software",
        "electronics",
        "gps",
        "ups",
        "vhs",
    )
)
_PLURALS = {singular: plural for plural, singular in (_IRREGULAR | _KEPT_E).items()}


def looks_plural(word: str) -> bool:
    """Say whether a lower-case word can name several things, or things in general."""
    return word in _UNCOUNTABLE or word in _IRREGULAR or (word.endswith("s") and not word.endswith("ss"))


def singular(word: str) -> str:
    """Return the singular of a lower-case plural; words without one are returned as they are.

    >>> [singular(word) for word in ("dresses", "purses", "scarves", "jewelry")]
    ['dress', 'purse', 'scarf', 'jewelry']
    """
    if word in _IRREGULAR or word in _KEPT_E:
        return _IRREGULAR.get(word) or _KEPT_E[word]
    if word in _UNCOUNTABLE or not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-2] if word.endswith(("ches", "shes", "xes", "sses", "zzes")) else word[:-1]


def plural(phrase: str) -> str:
    """Return the plural of a lower-case noun phrase; a plural is returned as it is.

    >>> [plural(phrase) for phrase in ("evening dress", "scarf", "body", "shorts")]
    ['evening dresses', 'scarves', 'bodies', 'shorts']
    """
    *modifiers, head = phrase.split()
    return " ".join([*modifiers, _plural_of_one(head)])


def _plural_of_one(word: str) -> str:
    if word in _PLURALS:
        return _PLURALS[word]
    if word.endswith(("ch", "sh", "x", "ss", "z")):
        return word + "es"
    if word.endswith("y") and word[-2:-1] not in tuple("aeiou"):
        return word[:-1] + "ies"
    return word if word.endswith("s") or word in _UNCOUNTABLE else word + "s"
