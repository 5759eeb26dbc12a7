"""Questions: the customer hears what was meant, and what an answer leaves open is asked again."""

import pytest

from ecom_rlve.catalog.attributes import ATTRIBUTES
from ecom_rlve.envs.customer.hearing.question_words import with_kinds
from ecom_rlve.envs.customer.hearing.reading import Reading, read
from ecom_rlve.envs.customer.hearing.topics import Topics
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.language.acts import SlotKind
from ecom_rlve.envs.tasks.bundle.facts import WISH
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.expert.heard import Heard
from ecom_rlve.evaluation.expert.interview import ANYTHING, Interview, Topic
from ecom_rlve.models import SaidAct, SaidFact, SaidItem

NOUNS = (("desk lamp", "desk lamps"), ("pair of sneakers", "pairs of sneakers"), ("power bank", "power banks"))
NAMES = ("brand", "price", "quantity", "variant", "rating", "ship_days", *ATTRIBUTES)


def heard_by(shop: Shop, kinds: tuple[SlotKind, ...], *topics: Topic) -> Reading:
    named = tuple(sorted(kinds, key=lambda kind: kind.name))
    return read(Interview().ask(topics), Topics(NOUNS, shop.value_index, {}, with_kinds(named)))


@pytest.mark.parametrize("name", NAMES)
def test_attributes_are_heard_as_they_were_meant(shop: Shop, name: str) -> None:
    if name not in ("quantity", "variant"):
        assert heard_by(shop, (), Topic(name)).asked == ((None, name),)
    for item, nouns in enumerate(NOUNS):
        assert heard_by(shop, (), Topic(name, *nouns)).asked == ((item, name),)


@pytest.mark.parametrize(
    ("env_id", "name"), [("PD", "priority"), ("SUB", "compatibility"), ("BUNDLE", "need"), ("BUNDLE", "budget")]
)
def test_what_only_a_task_asks_is_heard_as_it_was_meant(big_shop: Shop, env_id: str, name: str) -> None:
    slots = Episode(big_shop, EpisodeSpec(env_id, 3), "episode").intent.slots
    kind = next(slot.fact.kind for slot in slots if slot.name == name)
    assert kind is not None
    assert heard_by(big_shop, (kind,), Topic(name)).asked == ((None, name),)


def test_requirements_are_heard_of_one_thing_and_of_all(shop: Shop) -> None:
    assert heard_by(shop, (WISH,), Topic("requirement")).asked == ((None, "requirement"),)
    assert heard_by(shop, (WISH,), Topic("requirement", *NOUNS[1])).asked == ((1, "requirement"),)


def test_questions_that_name_nothing_name_nothing(shop: Shop) -> None:
    for topic, items in ((ANYTHING, ()), (Topic("", *NOUNS[1]), (1,))):
        reading = heard_by(shop, (), topic)
        assert (reading.is_question, reading.asked, reading.unknowable, reading.items) == (True, (), (), items)
        assert not reading.claims_done


def answer(*values: tuple[str, str]) -> list[SaidAct]:
    facts = [SaidFact(slot="brand", attribute="brand", op="eq", value=value) for _, value in values]
    items = [SaidItem(singular=noun, plural=noun, facts=[fact]) for (noun, _), fact in zip(values, facts, strict=True)]
    return [SaidAct(kind="answer", items=items)]


def test_where_three_facts_were_told_more_may_be_left() -> None:
    interview, heard = Interview(), Heard()
    interview.ask([Topic("brand"), Topic("color")])
    three = answer(("lamp", "A"), ("fan", "B"), ("mug", "C"))
    interview.take(three, heard)
    heard.hear(three)
    assert interview.closed == set()
    interview.ask([Topic("brand"), Topic("color")])
    interview.take(answer(("top", "D")), heard)
    assert interview.closed == {Topic("brand"), Topic("color")}
    interview.ask([Topic("brand")])
    interview.take(three, heard)
    assert Topic("brand") in interview.closed


def test_what_the_answer_had_no_room_for_stays_open() -> None:
    interview = Interview()
    interview.ask([Topic("size"), Topic("style"), Topic("scent"), Topic("brand")])
    interview.take([SaidAct(kind="no_preference", attributes=["size", "style", "scent"])], Heard())
    assert interview.closed == {Topic("size"), Topic("style"), Topic("scent")}


def test_a_question_that_names_nothing_is_open_as_long_as_it_brings_news() -> None:
    interview, heard = Interview(), Heard()
    for said, is_closed in ((answer(("lamp", "A")), False), ([SaidAct(kind="nothing_left")], True)):
        interview.ask([ANYTHING])
        interview.take(said, heard)
        assert (ANYTHING in interview.closed) is is_closed
