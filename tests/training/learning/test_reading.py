"""The reader of facts within a text, on what customers really say."""

from __future__ import annotations

from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.reading.facts import FactReader
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.training.learning.matching import mentions_in, names_in
from ecom_rlve.training.learning.skills.cards import WORDS
from ecom_rlve.training.learning.skills.shelf import KINDS

LEAST_READ = 0.85
EPISODES = 60


def test_facts_of_openings_are_read(shop: Shop) -> None:
    words = {name: {word: word for word in shop.catalog.column(name).vocabulary or ()} for name in WORDS}
    words["priority"] = {name: name for name in ("price", "rating", "delivery time", "brand")}
    reader = FactReader(words, {"priority": "top priority"})
    said = right = invented = 0
    for number in range(EPISODES):
        episode = Episode(shop, EpisodeSpec("PD" if number % 2 else "CART", 0, number), "reading", include=())
        facts = [fact for act in episode.acts for mention in act.mentions for fact in mention.facts]
        meant = {fact.kind.name if fact.kind else fact.constraint.attribute for fact in facts} - {"quantity", "variant"}
        found = {fact.kind for fact in reader.facts_in(episode.opening.user_message, KINDS)}
        said, right, invented = said + len(meant), right + len(meant & found), invented + len(found - meant)
    assert said >= 2 * EPISODES
    assert right >= LEAST_READ * said
    assert invented <= 0.05 * said


def test_overlapping_statements_are_read_once() -> None:
    reader = FactReader({"color": {"black": "black"}})
    found = reader.facts_in("It should go for $11.50 to $25.99 and be black.", ("price", "color"))
    assert [(each.kind, each.op, each.value) for each in found if each.kind == "price"] == [
        ("price", "between", (1150.0, 2599.0))
    ]


def test_words_before_a_noun_are_read() -> None:
    reader = FactReader({"brand": {"Vandelle": "Vandelle"}, "pattern": {"plain": "plain"}})
    found = reader.facts_in("Please find me two Vandelle plain dresses.", ("brand", "pattern"), ("dresses",))
    assert [(each.kind, each.value) for each in found] == [("brand", "Vandelle"), ("pattern", "plain")]


def test_longer_names_hide_shorter_ones() -> None:
    assert names_in("A dress shirt, please", ("dresses", "dress shirts")) == ("dress shirts",)
    assert [each.name for each in mentions_in("a poeer bank and a lamp", ("lamps", "power banks"))] == [
        "power banks",
        "lamps",
    ]
