"""How varied texts are, by hand on small texts, and how often the same opening frame is met in real episodes."""

from __future__ import annotations

import tomllib
from collections import defaultdict
from fractions import Fraction
from math import exp, isclose
from pathlib import Path

import pytest

from ecom_rlve.catalog.constraints import Constraint, Op
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.language.acts import Act, ActKind, Fact, Mention
from ecom_rlve.envs.language.persona import PERSONAS
from ecom_rlve.envs.registry import environments, known_tables
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.customer.variety import (
    most_frequent_share,
    repeated,
    self_bleu,
    without_values,
    word_types,
)

_LEVELS = (0, 3, 6, 9, 12)
ROOT = Path(__file__).parents[3]


def test_equal_texts_have_a_self_bleu_of_one() -> None:
    assert isclose(self_bleu(["I need a red lamp for my desk."] * 3), 1.0)


def test_texts_without_a_word_in_common_have_next_to_none() -> None:
    # Of 5 words no n-gram is met; each of the four precisions counts a tenth of a match: 0.1 of 5, 4, 3 and 2.
    wanted = (0.1**4 / (5 * 4 * 3 * 2)) ** 0.25
    assert isclose(self_bleu(["one two three four five", "six seven eight nine ten"]), wanted)
    assert wanted < 0.04


def test_shared_words_are_counted_as_often_as_another_text_has_them() -> None:
    # "a a b c" has 3 of its 4 words in "a b c d" (one "a" only), 2 of 3 pairs, 1 of 2 triples and no run of four;
    # "a b c d" has 3 of 4, 2 of 3, 1 of 2 and none as well.
    wanted = (3 / 4 * 2 / 3 * 1 / 2 * 0.1) ** 0.25
    assert isclose(self_bleu(["a a b c", "a b c d"]), wanted)


def test_a_text_that_is_shorter_than_all_others_is_marked_down() -> None:
    # "a b c d" is all in the longer text, whose length is one and a half of its own: exp(1 - 6 / 4). The longer one has
    # 4 of 6 words, 3 of 5 pairs, 2 of 4 triples and 1 of 3 runs of four.
    shorter, longer = exp(1 - 6 / 4), (4 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25
    assert isclose(self_bleu(["a b c d", "a b c d e f"]), (shorter + longer) / 2)


def test_a_single_text_repeats_nothing() -> None:
    assert self_bleu(["All alone."]) == 0.0
    assert self_bleu([]) == 0.0


def test_repeated_counts_long_texts_that_were_said_before() -> None:
    assert repeated(["One two three.", "one, two three", "ONE two three!", "four five six"], least=3) == 0.5
    assert repeated(["one two", "one two"], least=3) == 0.0
    ten = "a b c d e f g h i j"
    assert repeated([ten, ten, "a b", "a b"]) == 0.5


def test_word_types_are_counted_whatever_their_case() -> None:
    assert word_types(["I'd like a lamp.", "A LAMP, I'd say!"]) == 5


def test_the_most_frequent_name_of_all_lists_is_found() -> None:
    assert most_frequent_share({"one": ["a", "b", "c", "d"], "two": ["a", "a", "b"], "none": []}) == 2 / 3
    assert most_frequent_share({}) == 0.0


def said() -> Act:
    """Return an act about a navy XL shirt for at most $24.99."""
    facts = (
        Fact("color", Constraint("color", Op.EQ, "navy")),
        Fact("size", Constraint("size", Op.EQ, "XL")),
        Fact("price", Constraint("price", Op.AT_MOST, 2499)),
    )
    return Act(ActKind.ANSWER, (Mention("shirt", "shirts", facts),), title="Haven Shirt", places=(("date", "3 May"),))


def test_values_titles_and_numbers_are_taken_out_and_nothing_else() -> None:
    text = 'The Navy shirt, XL, under $25 or $24.99, 2 kg, like "Haven Shirt" of 3 May; an XLR cable in navyish.'
    left = without_values(text, [said()]).split()
    assert left == ["The", "shirt,", ",", "under", "or", ",", ",", "like", '"', '"', "of", ";", "an", "XLR", "cable",
                    "in", "navyish."]  # fmt: skip


def test_only_the_values_that_were_said_are_taken_out() -> None:
    assert without_values("A navy shirt.", []) == "A navy shirt."


def frames_of_openings(shop: Shop, count: int) -> dict[str, list[str]]:
    """Return the frames of the first messages of each environment, each as often as it was said, greetings too."""
    found: dict[str, list[str]] = {}
    for env_id, each in environments().items():
        most = each.max_difficulty(shop)
        for seed in range(count):
            level = min(_LEVELS[seed % len(_LEVELS)], most)
            episode = Episode(shop, EpisodeSpec(env_id, level, 10_000 + seed, axes=(("p_noise", 0.0),)), "episode")
            found.setdefault(env_id, []).append(opening_frame(episode))
    return found


def opening_frame(episode: Episode) -> str:
    """Return the first frame of an episode's first message that is of the environment itself."""
    (said,) = episode.utterances
    own = {text for act in said.acts if act.frames for texts in act.frames.lists.values() for text in texts}
    return next((text for text in said.frames if text in own), said.frames[0])


def test_no_opening_frame_is_likely() -> None:
    """Of all customers of an environment, no more than one in a hundred begins with the same frame."""
    # A test of an environment of its own may have made its frames known in this process.
    shipped = {name for path in (ROOT / "envs").rglob("*.toml") for name in tomllib.loads(path.read_text())}
    openings = [each for name, each in known_tables().items() if name.startswith("open_") and not each.is_phrase]
    openings = [each for each in openings if each.name in shipped]
    assert len(openings) >= 7
    shares: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
    for each in openings:
        for persona in PERSONAS:
            pool = each.of(persona)
            for made in pool:
                shares[each.name, made.text] += Fraction(1, len(pool) * len(PERSONAS))
    assert len(shares) >= 1000
    likely = {frame: float(share) for frame, share in shares.items() if share > Fraction(1, 100)}
    assert likely == {}


@pytest.mark.slow
def test_no_opening_frame_is_met_often(wide_shop: Shop) -> None:
    """A frame of everybody is one of 200: chance brings one of a thousand such frames up to 6 times in 200 episodes."""
    found = frames_of_openings(wide_shop, 200)
    assert {len(frames) for frames in found.values()} == {200}
    assert most_frequent_share(found) <= 0.03


@pytest.mark.slow
def test_no_opening_frame_is_met_often_in_many_episodes(wide_shop: Shop) -> None:
    """Chance brings one of a thousand such frames up to 15 times in 1,000 episodes."""
    found = frames_of_openings(wide_shop, 1000)
    assert {len(frames) for frames in found.values()} == {1000}
    assert most_frequent_share(found) <= 0.015
