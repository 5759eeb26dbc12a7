"""Articles as they are spoken, acronyms in capitals, and British or American words."""

from __future__ import annotations

import re

import pytest

from ecom_rlve.envs.language.frames import Agreement, acts_in_bank, facts_in_bank, frame, known_frames
from ecom_rlve.envs.language.spelling import _AMERICAN, american, with_article, with_capitals
from ecom_rlve.envs.registry import environments

AN = """
    area rug, umbrella, hourglass, heirloom mug, LED lamp, XL dress, HDMI cable, 8 cm ring, 80 l pack, 11-piece set,
    ice tray, 18 g tin, M8 bolt, S-shaped hook, X-ray apron, uninsulated tent, Ashenholt mug, F1 cap, eight-way hose,
    unassembled desk, Area rug
"""
A = """
    desk lamp, USB-C charger, unicorn mug, unisex shirt, used desk, European plug, one-piece suit, onesie, ukulele,
    ewer, utility knife, U-shaped pillow, TV stand, 110 g tin, 180 g tin, 1 l bottle, honey jar, house plant,
    Northwick lamp, pair of scissors, DVI cable, T-shirt, Usual Suspects mug
"""


@pytest.mark.parametrize("phrase", re.split(r",\s+", AN.strip()))
def test_an_stands_before_what_is_spoken_with_a_vowel(phrase: str) -> None:
    assert with_article(phrase) == f"an {phrase}"


@pytest.mark.parametrize("phrase", re.split(r",\s+", A.strip()))
def test_a_stands_before_the_others(phrase: str) -> None:
    assert with_article(phrase) == f"a {phrase}"


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ("usb-c", "USB-C"),
        ("usb-a to usb-c", "USB-A to USB-C"),
        ("xxl", "XXL"),
        ("abs plastic", "ABS plastic"),
        ("stainless steel", "stainless steel"),
        ("Northwick", "Northwick"),
        ("vegan", "vegan"),
    ],
)
def test_acronyms_are_written_in_capitals(value: str, wanted: str) -> None:
    assert with_capitals(value) == wanted


def test_british_words_have_an_american_spelling_each() -> None:
    for british, other in _AMERICAN.items():
        assert american(f"My {british}.") == f"My {other}."
        assert american(f"{british.capitalize()}.") == f"{other.capitalize()}."
        assert american(other) == other
    assert american("A colourful, favoured flavouring") == "A colourful, favoured flavouring"
    assert american("{colour}-fast colour") == "{color}-fast color"


def test_no_frame_that_an_american_says_is_british() -> None:
    environments()
    acts_in_bank()
    texts = [text for each in known_frames().values() for some in each.lists.values() for text in some]
    texts += [each.text for forms in facts_in_bank().values() for frames in forms.values() for each in frames]
    british = re.compile(rf"\b(?:{'|'.join(_AMERICAN)})\b", re.IGNORECASE)
    assert any(british.search(text) for text in texts)
    for text in texts:
        for part in frame(text).american_parts:
            words = part if isinstance(part, tuple) and not isinstance(part, Agreement) else (str(part),)
            assert not any(british.search(word) for word in words), text


def test_frames_are_written_in_british_english() -> None:
    """Code makes them American; a word that is American already would be so for everyone."""
    environments()
    acts_in_bank()
    # These are British words too.
    shared = {"while", "toward", "check", "practice", "program", "license", "mold", "tire", "learned", "spoiled", "mom"}
    wrong = re.compile(rf"\b(?:{'|'.join(set(_AMERICAN.values()) - shared)})\b", re.IGNORECASE)
    texts = [text for each in known_frames().values() for some in each.lists.values() for text in some]
    texts += [each.text for forms in facts_in_bank().values() for frames in forms.values() for each in frames]
    assert len(texts) >= 5000
    assert [text for text in texts if wrong.search(text)] == []
