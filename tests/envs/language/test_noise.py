"""Noise touches the words it may, as often as it should, and never what was said."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.language.noise import _GRAMMAR, _SLANG, add_noise
from ecom_rlve.envs.language.persona import PERSONAS
from ecom_rlve.envs.world.shop import Shop
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


def test_slang_is_only_for_those_who_use_it() -> None:
    # "lookin" is also a typing error.
    text, slang = " ".join(_SLANG), set(_SLANG.values()) - {"lookin"}
    rng = stream(10, "slang")
    for is_careless in (False, True):
        seen = {
            uses_slang: {
                word
                for _ in range(300)
                for word in add_noise(text, (), {}, 1.0, rng, uses_slang=uses_slang, is_careless=is_careless).split()
            }
            for uses_slang in (False, True)
        }
        assert seen[True] & slang
        assert not seen[False] & slang


def test_careless_slips_are_only_for_the_careless() -> None:
    text = "Curtain their friend with that lantern garden which they have"
    rng = stream(11, "careless")
    noisy = {is_careless: {add_noise(text, (), {}, 1.0, rng, is_careless=is_careless) for _ in range(500)}
             for is_careless in (False, True)}  # fmt: skip
    slips = {"there", "freind", "wiht", "taht", "wich", "ahve"}
    assert {word for line in noisy[True] for word in line.split()} >= slips
    assert any(len(line.split()) < 10 for line in noisy[True])
    assert any(line[0] == "c" for line in noisy[True])
    for line in noisy[False]:
        assert len(line.split()) == 10
        assert line.startswith("C")
        assert not {"wiht", "taht", "ahve"} & {*line.split()}


def test_words_are_never_run_into_what_was_said() -> None:
    text = "lantern navy lantern not lantern seven lantern at least $24.99 lantern golden kettle lantern soft"
    protected, confusable = ("at least $24.99", "golden kettle"), {"navy": ("navy", "ivory")}
    rng = stream(12, "joined")
    joined = 0
    for _ in range(2000):
        noisy = add_noise(text, protected, confusable, 1.0, rng, is_careless=True)
        for kept in ("navy", "not", "seven", *protected):
            assert re.search(rf"(?<![\w]){re.escape(kept)}(?![\w])", noisy), noisy
        joined += len(noisy.split()) < len(text.split())
    assert joined == 0
    runs = {add_noise("lantern garden soft", (), {}, 1.0, rng, is_careless=True) for _ in range(200)}
    assert any(len(run.split()) < 3 for run in runs)


def test_grammar_slips_change_no_value_negation_or_number() -> None:
    for word, slip in _GRAMMAR.items():
        assert word != slip
        assert not re.search(r"\b(?:not|no|never|without|one|two|ten)\b", f"{word} {slip}")
        kept = add_noise(f"x {word} x", (), {word: (word, "other")}, 1.0, stream(13, word), is_careless=True)
        assert slip not in kept.split()
        kept = add_noise(f"x {word} x", (f"{word} x",), {}, 1.0, stream(13, word), is_careless=True)
        assert kept == f"x {word} x"


def test_formal_customers_are_neither_careless_nor_slangy() -> None:
    formal = [each for each in PERSONAS if each.register == "formal"]
    assert len(formal) >= 2
    assert not any(each.uses_slang or each.is_careless for each in formal)
    assert any(each.uses_slang for each in PERSONAS)
    assert any(each.is_careless and not each.uses_slang for each in PERSONAS)


def test_a_customers_noise_is_that_of_the_persona(wide_shop: Shop) -> None:
    slang = set(_SLANG.values())
    seen: dict[str, list[int]] = {each.name: [0, 0] for each in PERSONAS}
    for seed in range(400):
        (said,), (plain,) = (
            Episode(wide_shop, EpisodeSpec("CART", 3, seed, axes=(("p_noise", p_noise),)), "episode").utterances
            for p_noise in (0.12, 0.0)
        )
        assert said.frames == plain.frames
        added = {*said.template_text.casefold().split()} - {*plain.template_text.casefold().split()}
        seen[said.persona.name][0] += len(slang & {word.strip(".,!?:;") for word in added})
        seen[said.persona.name][1] += len(plain.template_text.split()) - len(said.template_text.split())
    for persona in PERSONAS:
        slangs, gaps = seen[persona.name]
        assert (slangs > 0) <= persona.uses_slang, persona.name
        assert (gaps > 0) == persona.is_careless, persona.name
    assert sum(slangs for slangs, _ in seen.values()) > 0
