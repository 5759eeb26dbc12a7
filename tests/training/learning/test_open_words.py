"""Words that are read as values before any card has shown them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.language.phrases import LABELS
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.training.learning.skills.cards import WORDS
from ecom_rlve.training.learning.skills.open_words import open_words_in

PAIRS = tuple(sorted(LABELS.items()))
EPISODES = 60


def read(text: str) -> list[tuple[str, object]]:
    return [(each.kind, each.value) for each in open_words_in(text, WORDS, PAIRS)]


def test_a_frame_tells_where_a_value_ends() -> None:
    assert read("I want the backpack in the matte finish.") == [("finish_type", "matte")]
    assert ("model", "Larkin") in read("It should have the model name Larkin and weigh 1 kg.")


def test_what_points_elsewhere_is_no_value() -> None:
    assert read("The yoga mat should be from that brand.") == []
    assert read("Tell me the finish of the keyboard.") == []


def test_words_of_openings_are_read_rightly(shop: Shop) -> None:
    right = wrong = 0
    for number in range(EPISODES):
        episode = Episode(shop, EpisodeSpec("CART", 0, number), "reading", include=())
        facts = [fact for act in episode.acts for mention in act.mentions for fact in mention.facts]
        said = {(fact.constraint.attribute, str(fact.constraint.value).casefold()) for fact in facts}
        found = {(kind, str(value).casefold()) for kind, value in read(episode.opening.user_message)}
        right, wrong = right + len(found & said), wrong + len(found - said)
    assert right >= EPISODES
    assert wrong <= 0.05 * right


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    for each in open_words_in(text, WORDS, PAIRS):
        assert 0 <= each.start < each.end <= len(text)
    assert open_words_in(text, WORDS, PAIRS) == open_words_in(text, WORDS, PAIRS)
