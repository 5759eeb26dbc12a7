"""What the customer answers to questions of many kinds, against what they have in mind (SPEC §7, Hearing)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.envs.customer.answers import MOST_FACTS, Mind, resolved
from ecom_rlve.envs.customer.hearing.classifier import classifier
from ecom_rlve.envs.customer.hearing.events import Part
from ecom_rlve.envs.customer.hearing.meaning import torn
from ecom_rlve.envs.customer.hearing.question_words import PHRASES
from ecom_rlve.envs.customer.hearing.reading import read
from ecom_rlve.envs.customer.hearing.sentences import without_exceptions
from ecom_rlve.envs.customer.hearing.topics import InMind, Question, Topics
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.language.acts import ActKind
from ecom_rlve.envs.world.shop import Shop

HERE = Path(__file__).parent
SHOPS = ("CART", "PD", "SUB", "BUNDLE", "RETURN", "STATUS", "POLICY")
UNSAID = (("p_missing", 1.0), ("p_noise", 0.0), ("p_oos", 0.0), ("t_max", 100.0))
DENIALS = (ActKind.NO_PREFERENCE, ActKind.DONT_KNOW)
LAMP, SCARF = 0, 1


def topics(
    *in_mind: InMind, choices: Mapping[str, frozenset[str]] | None = None, offered: tuple[Question, ...] = ()
) -> Topics:
    """Return what a customer of a lamp and a scarf can be asked about."""
    items = (("desk lamp", "desk lamps"), ("scarf", "scarves"))
    possible = frozenset(classifier().labels)
    values = {
        "red": ("color",),
        "wool": ("material",),
        "mint": ("color", "scent"),
        "dot": ("pattern",),
        "gray": ("color",),
    }
    return Topics(items, values, in_mind=in_mind, possible=possible, choices=choices or {}, offered=offered)


def fact(item: int | None, name: str, *, is_said: bool = False) -> InMind:
    """Return something in mind."""
    return InMind(item, (name, name), is_said)


def talk(shop: Shop, env_id: str, seed: int, d: int = 6) -> Episode:
    """Return an episode in which nothing but the essential was said."""
    return Episode(shop, EpisodeSpec(env_id, d, seed, axes=UNSAID), "talk")


def ask(episode: Episode, words: str, *, directly: bool = False) -> list[ActKind]:
    """Send words as a message or by ``ask_user``; return the kinds of acts of the answer."""
    subject = episode.intent.subjects[-1]
    words = words.replace("{items}", subject.plural).replace("{item}", subject.singular)
    call = {"tool_calls": [{"name": "ask_user", "args": {"question": words}}]}
    episode.step(call if directly else {"assistant_message": words})
    return [act.kind for act in episode.acts]


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("How big should the desk lamp be?", "length"),
        ("How much may the desk lamp cost?", "price"),
        ("What size should the desk lamp be?", "length"),
        ("I'd still need the price of the desk lamp.", "price"),
        ("The desk lamp comes in several lengths. Which one?", "length"),
        ("waht may teh desk lamp cost", "price"),
    ],
)
def test_a_word_means_what_is_unsaid_of_its_set(text: str, asked: str) -> None:
    mind = topics(fact(LAMP, "length"), fact(LAMP, "price"), fact(LAMP, "quantity", is_said=True))
    assert [(item, names[0]) for item, names, _ in read(text, mind).questions] == [(LAMP, asked)]


def test_what_is_said_is_meant_only_where_nothing_unsaid_is() -> None:
    said = topics(fact(LAMP, "size", is_said=True), fact(LAMP, "length"))
    (question,) = read("How big should the desk lamp be?", said).questions
    assert question.topics[0] == "length"
    (question,) = read("Which size should the desk lamp be?", topics(fact(LAMP, "size", is_said=True))).questions
    assert question.topics[0] == "size"


def test_an_item_carries_on_to_the_next_fragments() -> None:
    mind = topics(fact(LAMP, "color"), fact(SCARF, "color"), fact(SCARF, "material"))
    assert read("About the scarf. Which colour? And the material?", mind).asked == (
        (SCARF, "color"),
        (SCARF, "material"),
    )


def test_what_is_excepted_is_not_asked_for() -> None:
    assert without_exceptions("other than the price, which colour?") == ", which colour?"
    mind = topics(fact(LAMP, "color"), fact(LAMP, "price"))
    assert read("Apart from the price, which colour should it be?", mind).asked == ((None, "color"),)
    assert read("What matters besides the price?", mind).asked == ()


def test_options_of_a_kind_ask_for_the_kind() -> None:
    ranks = {"priority": frozenset(("price", "rating", "ship_days", "brand"))}
    mind = topics(fact(LAMP, "price"), fact(LAMP, "rating"), fact(LAMP, "priority"), choices=ranks)
    assert read("Price or rating?", mind).asked == ((None, "priority"),)
    assert read("What price and rating?", mind).asked == ((None, "price"), (None, "rating"))


@pytest.mark.parametrize("text", ["Why?", "What?", "How come?", "Huh?", "Sorry, what?", "And so?"])
def test_a_bare_question_word_asks_for_nothing_in_particular(text: str) -> None:
    reading = read(text, topics(fact(LAMP, "color"), fact(LAMP, "brand")))
    assert (reading.questions, reading.is_unread) == ((), True)


def test_only_why_asks_for_the_reason() -> None:
    mind = topics(fact(LAMP, "reason"), fact(LAMP, "color"))
    assert read("Why?", mind).asked == ((None, "reason"),)
    assert read("How come?", mind).questions == ()


def test_a_bare_word_for_several_unsaid_topics_leaves_open_which_is_meant() -> None:
    torn = topics(fact(LAMP, "size"), fact(LAMP, "length"))
    (question,) = read("How big?", torn).questions
    assert question.is_torn
    assert set(question.topics) >= {"size", "length"}
    assert not read("How big?", topics(fact(LAMP, "length"))).questions[0].is_torn


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("Both.", ["size", "length"]),
        ("Both, please", ["size", "length"]),
        ("The first.", ["size"]),
        ("The second one", ["length"]),
        ("The latter, please.", ["length"]),
        ("The length.", ["length"]),
        ("I will look for the first lamp that costs less than ten dollars.", []),
    ],
)
def test_an_offer_is_taken_up(text: str, taken: list[str]) -> None:
    offered = (Question(LAMP, ("size",)), Question(LAMP, ("length",)))
    mind = topics(fact(LAMP, "size"), fact(LAMP, "length"), offered=offered)
    assert [name for _, name in read(text, mind).asked] == taken
    assert all(item in (None, LAMP) for item, _ in read(text, mind).asked)


def test_the_customer_offers_topics_of_the_word_and_tells_the_one_that_is_named(big_shop: Shop) -> None:
    met = 0
    for seed in range(60):
        episode = talk(big_shop, "PD", seed)
        sizes = {"size", "length", "capacity", "screen_size"}
        in_mind = {slot.fact.constraint.attribute for slot in episode.intent.slots} & sizes
        if len(in_mind) < 2:
            continue
        assert ask(episode, "How big?") == [ActKind.CLARIFY]
        (act,) = episode.acts
        assert set(act.attributes) <= in_mind
        assert episode.customer_caused == 1, "asking back is the customer's doing"
        before = episode.customer.said
        assert ask(episode, "Both.") == [ActKind.ANSWER]
        assert {slot.fact.constraint.attribute for slot in episode.customer.said - before} == set(act.attributes)
        met += 1
    assert met


def test_what_cannot_be_read_is_asked_back_once_for_nothing(big_shop: Shop) -> None:
    episode = talk(big_shop, "CART", 1)
    said = episode.customer.said
    assert ask(episode, "Blorp?") == [ActKind.CLARIFY]
    assert episode.customer_caused == 1
    assert ask(episode, "Blorp?") == [ActKind.CLARIFY]
    assert episode.customer_caused == 1
    ask(episode, "Blorp?")
    assert episode.customer.said == said
    assert ask(episode, "Blorp?") == [ActKind.GIVE_UP], "the first was no step towards leaving"


TEXTS = (
    "Which colour?",
    "How big should the {item} be?",
    "And the price?",
    "Anything else?",
    "How much?",
    "Why, and how did you pay?",
    "what size n colour",
    "Tell me more about the {item}.",
    "Blorp?",
    "Price or rating?",
)


@pytest.mark.parametrize("env_id", SHOPS)
def test_a_message_and_a_question_are_heard_alike(big_shop: Shop, env_id: str) -> None:
    for seed, text in enumerate(TEXTS):
        written, asked = talk(big_shop, env_id, seed), talk(big_shop, env_id, seed)
        ask(written, text)
        ask(asked, text, directly=True)
        assert written.acts == asked.acts, text


@pytest.mark.parametrize("env_id", SHOPS)
def test_statements_are_told_nothing(big_shop: Shop, env_id: str) -> None:
    lines = (HERE / "statements.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) >= 150
    for seed, line in enumerate(lines):
        episode = talk(big_shop, env_id, seed % 5)
        said = episode.customer.said
        kinds = ask(episode, line)
        assert episode.customer.said == said, line
        assert not {*DENIALS, ActKind.CLARIFY, ActKind.NOTHING_LEFT} & set(kinds), line


WORDS = sorted({" ".join(phrase.words) for phrases in PHRASES.values() for phrase in phrases})
LINES = [
    json.loads(line)["text"]
    for name in ("shopping", "service")
    for line in (HERE / f"corpus/train/{name}.jsonl").read_text(encoding="utf-8").splitlines()
]
PIECES = st.one_of(
    st.sampled_from(WORDS).map("Which {}?".format),
    st.sampled_from(LINES),
    st.sampled_from(("and", "or", "?", "How big?", "the {item}", "apart from", "please tell me", "red", "$20")),
    st.text(max_size=20),
)


@given(st.sampled_from(SHOPS), st.integers(0, 30), st.sampled_from((0, 3, 6, 9)), st.lists(PIECES, max_size=6))
def test_nothing_is_denied_of_whose_set_something_is_in_mind(
    wide_shop: Shop, env_id: str, seed: int, d: int, pieces: list[str]
) -> None:
    episode = talk(wide_shop, env_id, seed, d)
    subject = episode.intent.subjects[-1]
    text = " ".join(pieces).replace("{items}", subject.plural).replace("{item}", subject.singular)
    customer = episode.customer
    mind, reading = customer._mind(), read(text, customer._topics((text,)))
    ask(episode, text)
    free = {name for act in episode.acts if act.kind in DENIALS for name in act.attributes}
    unheld = {name for question in reading.questions if not mind.meant(question) for name in question.topics}
    assert free <= unheld | set(reading.unknowable), text


def test_six_questions_are_heard_and_three_facts_told_unsaid_before_said(big_shop: Shop) -> None:
    episode = talk(big_shop, "PD", 2, 12)
    slots = [slot for slot in episode.intent.slots if not slot.is_essential]
    assert len(slots) > 6
    mind = Mind(slots, slots[:2], (), (), ())
    asked = [Question(None, (slot.name,)) for slot in slots]
    assert resolved(asked, mind).told == slots[2:5]
    assert resolved(asked[:3], mind).told == [slots[2], slots[0], slots[1]]
    assert len(resolved(asked, mind).told) == MOST_FACTS
    assert resolved([*[Question(None, ("nothing",))] * 6, asked[3]], mind).told == []


@pytest.mark.parametrize("text", ["Blorp?", "Zzyx qwv?"])
def test_a_question_of_unknown_words_is_one_that_cannot_be_read(text: str) -> None:
    found = read(text, replace(topics(fact(LAMP, "reason")), possible=frozenset({"reason"})))
    assert (found.questions, found.is_open, found.is_unread) == ((), False, True)


def test_what_a_record_says_is_no_question() -> None:
    mind = topics(fact(LAMP, "scent"), fact(SCARF, "material"))
    assert read("Your account says scent amber, so amber it must be.", mind).questions == ()
    assert read("I'd still need the scent.", mind).questions == (Question(None, ("scent",)),)


def test_a_list_is_asked_for_openly() -> None:
    found = read("What is on your list?", topics(fact(LAMP, "priority", is_said=True), fact(LAMP, "price")))
    assert (found.questions, found.is_open) == ((), True)


def test_what_is_called_by_its_own_name_is_not_asked_back() -> None:
    words = "is it true that you want the budget $53.96 for the item"
    mind, asked = topics(fact(LAMP, "budget"), fact(LAMP, "price")), Question(LAMP, ("budget", "price"))
    assert not torn(asked, Part(words=words.split()), mind).is_torn


def test_what_belongs_to_another_errand_is_not_taken_for_something_likely() -> None:
    mind = replace(topics(fact(None, "budget")), possible=frozenset({"budget", "need", "requirement"}))
    found = read("Isn't the order date 13 March what you want for the cutting board?", mind)
    assert (found.questions, found.is_unread) == ((), True)


def test_a_noun_that_begins_with_a_common_word_is_a_noun() -> None:
    """The storage basket does not ask for its capacity."""
    items = (("storage basket", "storage baskets"), ("new storage basket", "new storage baskets"))
    mind = Topics(items, {}, in_mind=(fact(1, "capacity", is_said=True),), possible=frozenset(classifier().labels))
    assert read("Which style should the new storage basket have?", mind).questions == (Question(1, ("style",)),)


def test_a_value_after_its_label_asks_for_nothing_besides() -> None:
    mind = topics(fact(LAMP, "color", is_said=True), fact(LAMP, "material"))
    assert read("Do you still want the colour red for the desk lamp?", mind).questions == (Question(LAMP, ("color",)),)
    sizes = replace(topics(fact(LAMP, "size", is_said=True), fact(LAMP, "capacity")), value_index={"3xl": ("size",)})
    (question,) = read("Do you still want the size 3xl for the desk lamp?", sizes).questions
    assert question.topics[0] == "capacity"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("wat materail do u like", "material"),
        ("price per lamp?", "price"),
        ("Size/material?", "size"),
        ("Which skin_type should it be for?", "skin_type"),
        ("where shuold the scent come from, wich fragrance", "scent"),
        ("is it for dry skin", "skin_type"),
        ("Enter the material.", "material"),
        ("Kindly mention the material.", "material"),
        ("Material:", "material"),
        ("Size (required):", "size"),
        ("Is 30 cm okay?", "length"),
    ],
)
def test_a_question_is_heard_in_whatever_form_it_comes(text: str, name: str) -> None:
    mind = topics(*(fact(LAMP, each) for each in ("size", "material", "scent", "skin_type", "price", "length")))
    assert name in [question.topics[0] for question in read(text, mind).questions]


@pytest.mark.parametrize("text", ["Wat kost het?", "Give me a moment.", "Here is the list:", "State fair lamps rock."])
def test_what_only_looks_like_one_of_these_forms_names_nothing(text: str) -> None:
    assert read(text, topics(fact(LAMP, "price"), fact(LAMP, "size"))).questions == ()


def test_options_of_one_kind_are_one_question() -> None:
    mind = topics(fact(LAMP, "scent"), fact(LAMP, "material"), fact(LAMP, "size"))
    assert [question.topics[0] for question in read("Woody, floral or fruity?", mind).questions] == ["scent"]
    both = read("Which scent, and which material or wool?", mind).questions
    assert [question.topics[0] for question in both] == ["scent", "material"]


def test_a_number_of_things_is_what_is_bought_or_was_bought() -> None:
    found = read("Was it 2 scarves?", topics(fact(SCARF, "units_bought"))).questions
    assert [question.topics for question in found] == [("units_bought", "quantity")]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Are you going to need a new {item}, and would store credit be fine for the return?", "method"),
        ("Do you want a new {item}, and what was wrong with the first one?", "reason"),
    ],
)
def test_a_circumstance_is_told_whichever_thing_of_that_name_is_named(big_shop: Shop, text: str, name: str) -> None:
    told = 0
    for seed in range(12):
        episode = talk(big_shop, "RETURN", seed, 9)
        unsaid = [slot for slot in episode.intent.slots if slot.name == name and slot not in episode.customer.said]
        assert ActKind.NO_PREFERENCE not in ask(episode, text)
        told += bool(unsaid) and set(unsaid) <= episode.customer.said
    assert told >= 6


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("If you would be so kind, which scent do you have in mind?", "scent"),
        ("How many inches of screen do you want?", "screen_size"),
        ("Fragrance – rose / pine?", "scent"),
    ],
)
def test_what_stands_before_a_question_asks_for_nothing_else(text: str, name: str) -> None:
    kinds = ("style", "scent", "screen_size", "quantity", "material")
    mind = topics(*(fact(LAMP, each) for each in kinds))
    assert [question.topics[0] for question in read(text, mind).questions] == [name]


def test_what_a_substitute_must_keep_is_asked_beside_what_has_sold_out() -> None:
    mind = topics(fact(LAMP, "compatibility"), fact(LAMP, "price"))
    found = read("I'm sorry, the desk lamp is sold out. What would you like the substitute to keep, please?", mind)
    assert (found.sold_out, [question.topics[0] for question in found.questions]) == ((LAMP,), ["compatibility"])


def test_what_the_whole_list_may_cost_is_no_question_for_the_list() -> None:
    mind = topics(fact(None, "budget"), fact(LAMP, "price"))
    asked = read("What would you be comfortable spending on the entire list?", mind)
    assert "budget" in [name for question in asked.questions for name in question.topics]
    assert read("Tell me your entire list.", mind).is_open


def test_a_value_of_several_kinds_asks_for_the_one_in_mind() -> None:
    """Mint is a colour too: it was taken for the first kind that has it."""
    assert read("Mint?", topics(fact(LAMP, "scent"), fact(LAMP, "size"))).asked == ((None, "scent"),)
    assert read("Mint?", topics(fact(LAMP, "color"), fact(LAMP, "size"))).asked == ((None, "color"),)


@pytest.mark.parametrize(("text", "topic"), [("Grey?", "color"), ("Dots?", "pattern")])
def test_a_value_is_known_in_either_spelling_and_number(text: str, topic: str) -> None:
    mind = topics(fact(LAMP, topic), fact(LAMP, "size"), fact(LAMP, "brand"))
    assert read(text, mind).asked == ((None, topic),)


def test_a_version_may_be_a_model() -> None:
    """Nobody has no preference for a version who has a model in mind."""
    assert read("Which version of the desk lamp?", topics(fact(LAMP, "model"), fact(LAMP, "size"))).questions == (
        Question(LAMP, ("model", "variant")),
    )


def test_one_thing_weighed_asks_what_matters_most() -> None:
    ranks = {"priority": frozenset(("price", "rating", "ship_days", "brand"))}
    mind = topics(fact(LAMP, "price"), fact(LAMP, "rating"), fact(LAMP, "priority"), choices=ranks)
    assert read("Is the price what matters most to you?", mind).asked == ((None, "priority"),)
    assert read("What price do you have in mind?", mind).asked == ((None, "price"),)


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("How hot should it get, I mean how many watts?", ["wattage"]),
        ("What will you store on it, so how many gigabytes?", ["capacity"]),
        ("How many, which colour?", ["quantity", "color"]),
        ("Which colour do you want, and how strong should it be?", ["color", "wattage"]),
    ],
)
def test_parts_that_only_lead_to_a_question_ask_nothing_themselves(text: str, asked: list[str]) -> None:
    names = ("color", "size", "quantity", "wattage", "capacity", "material")
    found = read(text, topics(*(fact(LAMP, name) for name in names))).asked
    assert [name for _, name in found] == asked


@pytest.mark.parametrize(
    ("text", "topic"),
    [("How many oz?", "capacity"), ("64 GB?", "capacity"), ("2 m or 3 m?", "length"), ("How many yards?", "length")],
)
def test_a_unit_says_what_is_counted(text: str, topic: str) -> None:
    mind = topics(*(fact(LAMP, name) for name in ("quantity", topic, "size", "brand")))
    assert read(text, mind).asked == ((None, topic),)


def test_pieces_of_a_word_are_words() -> None:
    assert read("Fragrance-free?", topics(fact(LAMP, "scent"), fact(LAMP, "size"))).asked == ((None, "scent"),)


@pytest.mark.parametrize("text", ["How thoughtful of you!", "What a lovely colour!"])
def test_praise_asks_nothing(text: str) -> None:
    assert read(text, topics(fact(LAMP, "color"), fact(LAMP, "rating"), fact(LAMP, "size"))).questions == ()
