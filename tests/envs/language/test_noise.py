"""Noise touches the words it may, as often as it should, and never what was said."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from ecom_rlve.envs.language.noise import add_noise
from ecom_rlve.streams import stream

WORDS = "lantern", "blanket", "cushion", "kettle", "curtain", "whistle", "thanks", "please", "garden", "letter"
TEXT = " ".join(WORDS)


def touched(before: str, after: str) -> int:
    return sum(old != new for old, new in zip(before.split(), after.split(), strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("p_noise", [0.01, 0.05, 0.125, 0.5])
def test_the_share_of_touched_words_is_p_noise(p_noise: float) -> None:
    rng, rounds = stream(1, "share"), 2000
    count = sum(touched(TEXT, add_noise(TEXT, (), {}, p_noise, rng)) for _ in range(rounds))
    words = rounds * len(WORDS)
    error = (p_noise * (1 - p_noise) / words) ** 0.5
    assert abs(count / words - p_noise) < 3 * error


def test_certain_noise_touches_every_word_and_leaves_first_letters() -> None:
    rng = stream(2, "certain")
    for _ in range(500):
        noisy = add_noise(TEXT, (), {}, 1.0, rng)
        assert touched(TEXT, noisy) == len(WORDS)
        for old, new in zip(WORDS, noisy.split(), strict=True):
            assert new[0] == old[0]
            assert OSA.distance(old, new) == 1 or new in ("thx", "pls")


def test_no_noise_draws_nothing() -> None:
    rng = stream(3, "none")
    assert add_noise(TEXT, (), {}, 0.0, rng) == TEXT
    assert rng.random() == stream(3, "none").random()


def test_protected_passages_are_never_touched() -> None:
    text = 'The lantern "Golden Kettle Deluxe" costing at least $24.99 weighing no more than 1500 grams'
    protected = ("Golden Kettle Deluxe", "at least $24.99", "no more than 1500 grams")
    rng = stream(4, "protected")
    for _ in range(500):
        noisy = add_noise(text, protected, {}, 1.0, rng)
        assert all(passage in noisy for passage in protected)
        assert not noisy.startswith("The lantern ")


def test_a_word_that_overlaps_a_protected_passage_is_left_alone() -> None:
    assert add_noise("lanterns", ("ant",), {}, 1.0, stream(5, "overlap")) == "lanterns"


def test_numbers_ids_negations_and_short_words_stay() -> None:
    text = "three seven never nothing without cannot couldn't doesn’t navy 12345 B0ABCDEFGH USB-C X200Pro t-shirt 60cms"
    rng = stream(6, "stay")
    for _ in range(200):
        assert add_noise(text, (), {}, 1.0, rng) == text


def test_values_stay_nearest_to_themselves() -> None:
    colours = ("brown", "crown", "brawn", "black", "blank", "green", "greens", "orange", "violet")
    confusable = {value: tuple(other for other in colours if other != value) for value in colours}
    rng = stream(7, "nearest")
    slips = 0
    for _ in range(1500):
        noisy = add_noise(" ".join(colours), (), confusable, 1.0, rng).split()
        for value, slipped in zip(colours, noisy, strict=True):
            nearest = min(OSA.distance(slipped, other) for other in confusable[value])
            assert OSA.distance(slipped, value) < nearest
            slips += value != slipped
    assert slips > 1000


def test_casing_of_values_does_not_hide_them() -> None:
    rng = stream(8, "casing")
    for _ in range(300):
        slipped = add_noise("Brown", (), {"brown": ("BRAWN", "Crown")}, 1.0, rng).casefold()
        assert OSA.distance(slipped, "brown") < OSA.distance(slipped, "brawn")


def test_slang_is_used_now_and_then_and_keeps_its_capital() -> None:
    rng = stream(9, "slang")
    seen = {add_noise("Please", (), {}, 1.0, rng) for _ in range(200)}
    assert "Pls" in seen
    assert len(seen) > 5
    assert "Pls" not in {add_noise("Please", (), {"please": ("pleats",)}, 1.0, rng) for _ in range(200)}


@given(st.text(max_size=200), st.integers(0, 10_000))
def test_any_text_keeps_its_spacing_and_may_be_protected_as_a_whole(text: str, seed: int) -> None:
    noisy = add_noise(text, (), {}, 1.0, stream(seed, "any"))
    assert re.sub(r"[^\s]", "", noisy) == re.sub(r"[^\s]", "", text)
    assert add_noise(text, (text,), {}, 1.0, stream(seed, "any")) == text
