"""How words are spelt: articles, acronyms, and British or American spelling."""

from __future__ import annotations

import re
from functools import lru_cache

# Begin with a vowel letter but are spoken with a consonant, or the other way round.
_SPOKEN_WITH_CONSONANT = re.compile(
    r"(?:uni(?![nm])|us[aeb]|usu|eu|ewe|uti|ura|uk|ones?\b|onesie|once\b)", re.IGNORECASE
)
_SPOKEN_WITH_VOWEL = re.compile(r"(?:hour|honest|heir|honou?r|8|11(?!\d)|18(?!\d))", re.IGNORECASE)
_LETTERS = re.compile(r"(?:[AEFHILMNORSX](?![a-z])[A-Z0-9]*\b|[AEFHILMNORSX](?=-))")
"""Acronyms whose first letter is spoken with a vowel: "an LED lamp", "an XL dress"."""
_ACRONYM = re.compile(r"\b[A-Z](?:[A-Z0-9]+\b|\b)")

_ACRONYMS = frozenset(
    """
    usb hdmi vga dvi led lcd oled tv pc abs pvc tpe tpu eva pu xs xxs xl xxl xxxl 2xl 3xl spf uv ac dc rgb nfc bpa
    """.split()
)
_WORD = re.compile(r"[a-z0-9]+")

_AMERICAN = {
    "colour": "color", "colours": "colors", "coloured": "colored", "totalled": "totaled",
    "favourite": "favorite", "favourites": "favorites", "flavour": "flavor",
    "flavours": "flavors", "centre": "center", "organise": "organize", "organised": "organized",
    "organising": "organizing", "apologise": "apologize", "realise": "realize",
    "realised": "realized", "neighbour": "neighbor", "neighbours": "neighbors", "neighbour's": "neighbor's",
    "neighbours'": "neighbors'", "neighbourhood": "neighborhood", "cosy": "cozy",
    "travelling": "traveling", "travelled": "traveled", "traveller": "traveler", "honour": "honor",
    "labour": "labor", "behaviour": "behavior", "recognise": "recognize", "mum": "mom",
    "mum's": "mom's", "whilst": "while", "towards": "toward", "learnt": "learned", "spoilt": "spoiled",
    "cheque": "check", "catalogue": "catalog", "catalogues": "catalogs", "programme": "program", "practise": "practice",
    "practising": "practicing", "theatre": "theater", "harbour": "harbor", "humour": "humor", "odour": "odor",
    "parlour": "parlor", "rumour": "rumor", "savour": "savor", "savoury": "savory", "favour": "favor",
    "favours": "favors", "jewellery": "jewelry", "licence": "license", "mould": "mold", "mouldy": "moldy",
    "moustache": "mustache", "pyjamas": "pajamas", "sceptical": "skeptical", "tyre": "tire", "tyres": "tires",
    "doughnut": "donut", "aeroplane": "airplane",  "specialise": "specialize", "prioritise": "prioritize",
    "summarise": "summarize", "finalise": "finalize", "finalised": "finalized", "modernise": "modernize",
    "modernising": "modernizing", "memorise": "memorize", "emphasise": "emphasize", "minimise": "minimize",
    "customise": "customize", "personalise": "personalize", "analyse": "analyze", "marvellous": "marvelous",
    "woollen": "woolen", "cancelled": "canceled", "labelled": "labeled", "modelling": "modeling",
    "reorganise": "reorganize", "reorganising": "reorganizing", "reorganised": "reorganized", "socialise": "socialize",
}  # fmt: skip
_AMERICAN_WORD = re.compile(r"\b(?:" + "|".join(sorted(_AMERICAN, key=len, reverse=True)) + r")\b", re.IGNORECASE)


@lru_cache(maxsize=4096)
def with_article(phrase: str) -> str:
    """Return the phrase after "a" or "an", as it is spoken.

    >>> with_article("area rug"), with_article("USB-C charger"), with_article("LED lamp"), with_article("8 cm ring")
    ('an area rug', 'a USB-C charger', 'an LED lamp', 'an 8 cm ring')
    """
    if _ACRONYM.match(phrase):
        is_vowel = _LETTERS.match(phrase) is not None
    elif _SPOKEN_WITH_VOWEL.match(phrase):
        is_vowel = True
    else:
        is_vowel = phrase[:1].casefold() in tuple("aeiou") and not _SPOKEN_WITH_CONSONANT.match(phrase)
    return f"{'an' if is_vowel else 'a'} {phrase}"


@lru_cache(maxsize=4096)
def with_capitals(value: str) -> str:
    """Return a value of the catalog with its acronyms in capitals.

    >>> with_capitals("usb-c"), with_capitals("stainless steel"), with_capitals("xxl")
    ('USB-C', 'stainless steel', 'XXL')
    """
    if not value.islower():
        return value
    return _WORD.sub(lambda found: found[0].upper() if _is_acronym(found[0], value) else found[0], value)


def _is_acronym(word: str, value: str) -> bool:
    return word in _ACRONYMS or (len(word) == 1 and "usb" in value)


@lru_cache(maxsize=1 << 15)
def american(text: str) -> str:
    """Return a British text in American spelling.

    >>> american("My favourite colour.")
    'My favorite color.'
    """
    return _AMERICAN_WORD.sub(_respelled, text)


def _respelled(found: re.Match[str]) -> str:
    word = _AMERICAN[found[0].casefold()]
    return word.capitalize() if found[0][0].isupper() else word
