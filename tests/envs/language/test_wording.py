"""Wording says every fact of an act, each beside its item, and nothing else: no other value, no count, no debris."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest
from numpy.random import Generator

from ecom_rlve.catalog.attributes import ATTRIBUTES, DISCRETE
from ecom_rlve.catalog.constraints import Constraint, Op
from ecom_rlve.envs.language.acts import Act, ActKind, Fact, Mention
from ecom_rlve.envs.language.frames import Frame, Frames, acts_in_bank, facts_in_bank
from ecom_rlve.envs.language.noise import NEGATION
from ecom_rlve.envs.language.persona import PERSONAS, Persona, draw_persona
from ecom_rlve.envs.language.phrases import LABELS, limit_of, spellings
from ecom_rlve.envs.language.wording import word
from ecom_rlve.streams import stream

PLAIN = PERSONAS[0]
NOUNS = (
    ("desk lamp", "desk lamps"),
    ("throw blanket", "throw blankets"),
    ("air fryer", "air fryers"),
    ("pair of scissors", "pairs of scissors"),
    ("umbrella", "umbrellas"),
    ("charger", "chargers"),
)
VALUES = {
    "brand": ("Northwick", "Bell and Ash", "O'Neill", "Quarry"),
    "color": ("navy", "Black/White", "forest green"),
    "size": ("XL", "8.5", "Queen", "One Size"),
    "material": ("wool", "stainless steel", "100% cotton"),
    "style": ("Modern", "mid-century"),
    "pattern": ("striped", "polka dot"),
    "connector_type": ("USB-C", "Lightning", "3.5mm jack"),
    "item_form": ("gel", "powder"),
    "finish_type": ("brushed steel", "matte"),
    "skin_type": ("dry", "sensitive skin"),
    "age_range": ("adult", "3-5 years"),
    "scent": ("vanilla", "ocean breeze"),
    "flavor": ("hazelnut", "salted caramel"),
    "model": ("Haven", "Orbit Pro"),
}
NUMBERS = {
    "wattage": (60.0, 1.0, 7.5),
    "weight": (250.0, 1234.5, 340.194277),
    "screen_size": (35.56, 61.0),
    "capacity": (1500.0, 333.3, 750.0),
    "battery_life": (10.0, 1.0, 7.25),
    "length": (120.0, 0.1),
    "price": (2499, 30000, 5, 129900),
    "rating": (4.5, 4.0),
    "ship_days": (1.0, 3.0),
}
SLOTS = (*DISCRETE, "brand", *NUMBERS)
OPS = (Op.EQ, Op.AT_MOST, Op.AT_LEAST)
FACT_KINDS = (ActKind.OPEN, ActKind.ANSWER, ActKind.CORRECT, ActKind.REVISE)


def fact(slot: str, value: str | float | tuple[str, ...], op: Op = Op.EQ, attribute: str = "") -> Fact:
    name = attribute or slot
    return Fact(slot, Constraint(name, op, value), ATTRIBUTES[name].unit if name in ATTRIBUTES else "")


def draw_fact(slot: str, rng: Generator) -> Fact:
    if slot in NUMBERS:
        phrased = [op for op in OPS if (slot, op.value) in facts_in_bank()]
        return fact(slot, NUMBERS[slot][rng.integers(len(NUMBERS[slot]))], phrased[rng.integers(len(phrased))])
    values = VALUES[slot]
    at = int(rng.integers(len(values)))
    if rng.random() < 0.25:
        return fact(slot, (values[at], values[at - 1]), Op.ANY_OF)
    return fact(slot, values[at])


def is_said(said: Fact, text: str) -> bool:
    """Tell whether a text holds the value of a fact, or the next one beyond its bound."""
    options = (*spellings(said), *filter(None, (limit_of(said),)))
    return any(option.casefold() in text.casefold() for option in options)


def head(noun: str) -> str:
    """Return the part of a noun that nothing can stand in: "scissors" of "pair of scissors"."""
    return noun.rpartition(" of ")[2]


def draw_mentions(rng: Generator, most: int = 5) -> tuple[Mention, ...]:
    """Distinct nouns; slots never shared between items, so that a value belongs to one item only."""
    count = int(rng.integers(1, most + 1))
    nouns = [NOUNS[at] for at in rng.permutation(len(NOUNS))[:count]]
    slots = [SLOTS[at] for at in rng.permutation(len(SLOTS))]
    mentions = []
    for singular, plural in nouns:
        taken, slots = slots[: int(rng.integers(0, 5))], slots[4:]
        facts = [draw_fact(slot, rng) for slot in taken]
        if rng.random() < 0.5:
            facts.append(fact("quantity", int(rng.integers(1, 11))))
        mentions.append(Mention(singular, plural, tuple(facts)))
    return tuple(mentions)


def draw_act(rng: Generator) -> Act:
    kind = list(ActKind)[rng.integers(len(ActKind))]
    if kind in (ActKind.SWITCH, ActKind.NEXT):
        kind = ActKind.OPEN
    mentions = draw_mentions(rng)
    if kind in FACT_KINDS:
        if kind in (ActKind.CORRECT, ActKind.REVISE):
            mentions = tuple(mention for mention in mentions if mention.facts) or (
                Mention(*NOUNS[0], (fact("color", "navy"),)),
            )
        return Act(kind, mentions)
    names = tuple(list(LABELS)[at] for at in rng.permutation(len(LABELS))[: int(rng.integers(0, 3))])
    bare = tuple(Mention(mention.singular, mention.plural) for mention in mentions[:2])
    title = "Northwick Haven Lamp, 2-Pack" if rng.random() < 0.5 else ""
    return Act(kind, bare, names, title=title if kind is ActKind.STOCKOUT_FALLBACK else "")


def generated(count: int, purpose: str) -> list[tuple[Act, bool, str, tuple[str, ...]]]:
    rng = stream(11, purpose)
    made = []
    for _ in range(count):
        act, persona = draw_act(rng), draw_persona(rng)
        wording = word((act,), persona, rng)
        made.append((act, persona.is_sloppy, wording.text, wording.protected))
    return made


@pytest.fixture(scope="module")
def acts() -> list[tuple[Act, bool, str, tuple[str, ...]]]:
    return generated(6000, "acts")


def test_texts_hold_no_debris(acts: list[tuple[Act, bool, str, tuple[str, ...]]]) -> None:
    assert len(acts) == 6000
    for _, is_sloppy, text, _ in acts:
        assert not re.search(r"[{}_]|%s|\bNone\b|\bnan\b|  | [,.;:!?]|[,;:][.!?]|\.\.|\ba single \d", text), text
        assert is_sloppy or not text[0].islower(), text
        assert text == text.strip(), text
        assert text[-1] in ".!?", text
        assert not any(name in text for name in ATTRIBUTES if "_" in name), text
        assert is_sloppy or not re.search(r"[.!?] [a-z]", re.sub(r'"[^"]*"', "", text)), text


def test_every_fact_is_said(acts: list[tuple[Act, bool, str, tuple[str, ...]]]) -> None:
    assert sum(len(mention.facts) for act, *_ in acts for mention in act.mentions) >= 12_000
    for act, _, text, _ in acts:
        for mention in act.mentions:
            for said in mention.facts:
                assert is_said(said, text), (said, text)


def test_no_count_is_implied_without_a_quantity(acts: list[tuple[Act, bool, str, tuple[str, ...]]]) -> None:
    counts = r"(?:one|two|three|four|five|six|seven|eight|nine|ten|several|few|many|single|\d+)"
    without = 0
    for act, _, text, _ in acts:
        for mention in act.mentions:
            if mention.quantity:
                continue
            assert not re.search(rf"\b(?:{counts}|an?|some|any|each) {mention.singular}\b", text, re.IGNORECASE), text
            assert not re.search(rf"\b{counts} {mention.plural}\b", text, re.IGNORECASE), text
            without += 1
    assert without >= 9000


def test_a_quantity_is_said_with_the_right_noun(acts: list[tuple[Act, bool, str, tuple[str, ...]]]) -> None:
    quantities = 0
    for act, _, text, _ in acts:
        for mention in act.mentions:
            for said in mention.facts:
                if said.slot == "quantity":
                    noun = head(mention.singular if said.constraint.value == 1 else mention.plural)
                    counted = "|".join(spellings(said))
                    # Up to three words of facts may stand before a noun, and "pairs of".
                    assert re.search(rf"\b(?:{counted})(?: [^\s.,]+){{0,5}}? {noun}\b", text, re.IGNORECASE), text
                    quantities += 1
    assert quantities >= 2400


@pytest.mark.parametrize("has_frame", [False, True])
def test_each_fact_of_an_opening_stands_beside_its_item(has_frame: bool) -> None:
    """In some sentence that names the item, and with no other item between it and its fact."""
    frames = Frames("test", "", ("goods",), (), {"any": ("I need {goods}.",)}) if has_frame else None
    rng = stream(5, "attribution", has_frame)
    count = 0
    for _ in range(1500):
        mentions = draw_mentions(rng)
        text = word((Act(ActKind.OPEN, mentions, frames=frames),), draw_persona(rng), rng).text.casefold()
        parts = re.split(r"(?<=[.!?;]) ", text)
        for mention in mentions:
            others = [each for each in mentions if each is not mention]
            for said in mention.features:
                count += 1
                assert any(is_said(said, near) for part in parts for near in beside(part, mention, others)), (
                    said,
                    text,
                )
    assert count >= 5000


def beside(part: str, mention: Mention, others: Sequence[Mention]) -> Iterator[str]:
    """Yield what stands around an item in a part of a sentence, up to the items before and after it."""
    own = re.search(rf"\b(?:{head(mention.singular)}|{head(mention.plural)})\b", part)
    if own is None:
        return
    nouns = "|".join(head(noun) for each in others for noun in (each.singular, each.plural))
    marks = [found.span() for found in re.finditer(rf"\b(?:{nouns})\b", part)] if nouns else []
    start = max((stop for _, stop in marks if stop <= own.start()), default=0)
    yield part[start : min((begin for begin, _ in marks if begin >= own.end()), default=len(part))]


def test_protected_passages_are_in_the_text_and_cover_every_number() -> None:
    rng = stream(6, "protected")
    for _ in range(2000):
        facts = (*(draw_fact(slot, rng) for slot in NUMBERS), fact("quantity", int(rng.integers(1, 11))))
        kind = FACT_KINDS[rng.integers(len(FACT_KINDS))]
        said = word((Act(kind, (Mention("desk lamp", "desk lamps", facts),)),), draw_persona(rng), rng)
        rest = said.text
        for passage in sorted(said.protected, key=len, reverse=True):
            assert passage in said.text
            rest = rest.replace(passage, "")
        assert not re.search(r"\d", rest), said
        for each in facts:
            assert any(is_said(each, passage) for passage in said.protected), (each, said)


def test_a_bound_is_protected_with_its_direction() -> None:
    rng = stream(7, "direction")
    for op in (Op.AT_MOST, Op.AT_LEAST):
        for slot in NUMBERS:
            if (slot, op.value) not in facts_in_bank():
                continue
            for _ in range(200):
                bound = fact(slot, NUMBERS[slot][0], op)
                act = Act(ActKind.ANSWER, (Mention("desk lamp", "desk lamps", (bound,)),))
                said = word((act,), draw_persona(rng), rng)
                passages = [each for each in said.protected if is_said(bound, each)]
                assert any(each not in spellings(bound) for each in passages), said


def test_negations_are_protected() -> None:
    rng = stream(8, "negations")
    for kind in (ActKind.REJECT, ActKind.DONT_KNOW, ActKind.NO_PREFERENCE, ActKind.NOTHING_LEFT):
        for _ in range(200):
            said = word((Act(kind, attributes=("color",)),), draw_persona(rng), rng)
            assert {*NEGATION.findall(said.text)} <= {*said.protected}, said


def test_each_register_has_frames_of_its_own() -> None:
    act = Act(ActKind.CONFIRM, (Mention("desk lamp", "desk lamps"),))
    for persona in PERSONAS:
        others = {each.text for other in PERSONAS if other.register != persona.register for each in said_by(other)}
        own = {each.text for each in said_by(persona)} - others
        rng = stream(9, "register", persona.name)
        spoken = {frame for _ in range(300) for frame in word((act,), persona, rng).frames}
        assert spoken & own, persona.name
        assert not spoken & (others - {each.text for each in said_by(persona)}), persona.name


def said_by(persona: Persona) -> tuple[Frame, ...]:
    return acts_in_bank()["confirm"].of(persona).frames


def test_a_customer_keeps_to_one_spelling() -> None:
    act = Act(ActKind.NO_PREFERENCE, attributes=("color", "flavor"))
    for is_american, wrong in ((True, r"colour|flavour|favourite"), (False, r"\b(?:color|flavor|favorite)\b")):
        rng = stream(10, "spelling", is_american)
        for _ in range(500):
            text = word((act,), draw_persona(rng), rng, is_american=is_american).text
            assert not re.search(wrong, text, re.IGNORECASE), text


def test_numbers_are_spelled_exactly() -> None:
    assert spellings(fact("price", 2499))[0] == "$24.99"
    assert spellings(fact("price", 129900))[0] == "$1299.00"
    assert spellings(fact("capacity", 1500.0))[0] == "1500 ml"
    assert "1.5 l" in spellings(fact("capacity", 1500.0))
    assert spellings(fact("wattage", 1.0)) == ("1 W", "1 watt")
    assert spellings(fact("length", 0.1))[0] == "0.1 cm"
    assert spellings(fact("weight", 340.194277))[0] == "340.194277 g"
    assert spellings(fact("quantity", 3)) == ("three", "3")
    assert spellings(fact("variant", "XL", attribute="size"))[0] == "XL"
    assert spellings(fact("color", ("navy", "grey"), Op.ANY_OF))[0] == "navy or grey"
    for value in (2.5, 10.25):
        with pytest.raises(ValueError, match="whole number"):
            spellings(fact("price", value))[0]


@pytest.mark.slow
def test_one_act_has_thousands_of_texts() -> None:
    lamp = Mention(*NOUNS[0], (fact("quantity", 1), fact("brand", "Northwick"), fact("price", 2499)))
    blanket = Mention(*NOUNS[1], (fact("material", "wool"), fact("color", "navy")))
    rng = stream(4, "variety")
    act = Act(ActKind.OPEN, (lamp, blanket))
    texts = {word((act,), draw_persona(rng), rng).text for _ in range(5000)}
    assert len(texts) >= 2000
    assert len({word((act,), PLAIN, rng).text for _ in range(5000)}) >= 2000


def test_the_text_is_a_function_of_act_persona_and_seed() -> None:
    act = Act(ActKind.OPEN, draw_mentions(stream(8, "mentions")))
    for persona in PERSONAS:
        assert word((act,), persona, stream(9, "word")) == word((act,), persona, stream(9, "word"))


def test_several_acts_are_said_in_order() -> None:
    acts = (
        Act(ActKind.ANSWER, (Mention(*NOUNS[0], (fact("color", "navy"),)),)),
        Act(ActKind.DONT_KNOW, attributes=("stock",)),
    )
    for seed in range(100):
        text = word(acts, PLAIN, stream(seed, "word")).text.casefold()
        assert -1 < text.index("navy") < min(text.index(name) for name in names_of("stock") if name in text)


def names_of(attribute: str) -> list[str]:
    """Return what customers call an attribute, each with its article, the longest first."""
    names = acts_in_bank()[f"label_{attribute}"].of(PLAIN)
    return sorted((f"the {each.text}" for each in names), key=lambda name: (-len(name), name))


def texts_of(act: Act, count: int = 200) -> set[str]:
    rng = stream(2, "texts", act.kind)
    return {word((act,), draw_persona(rng), rng).text for _ in range(count)}


def test_a_bare_answer_needs_no_noun_and_gives_no_count() -> None:
    colours = texts_of(Act(ActKind.ANSWER, (Mention("", "", (fact("color", "navy"),)),)))
    assert len(colours) >= 30
    for text in colours:
        assert "navy" in text.casefold()
        assert not re.search(r"\b(?:two|three|four|several|\d+)\b", text, re.IGNORECASE), text
    for text in texts_of(Act(ActKind.ANSWER, (Mention("", "", (fact("quantity", 1),)),))):
        assert re.search(r"\b(?:one|1)\b", text, re.IGNORECASE), text
        assert "single" not in text


SOFT = re.compile(r"\bideally\b|if possible|bonus|optional|nice to have|as an extra|prefer", re.IGNORECASE)
HARD = re.compile(r"\b(?:must|has to|have to|has got to|needs?|required?|essential|insist)\b", re.IGNORECASE)
WISHES = ("wish_follow_up", "wish_item", "wish_bare")
DEMANDS = (
    "follow_up", "follow_up_fact", "answer_fact", "answer_item", "answer_bare", "correct_item", "revise_fact",
    "revise_item", "revise_bare",
)  # fmt: skip


def test_no_wish_sounds_like_a_requirement_or_the_other_way_round() -> None:
    def texts(names: Sequence[str]) -> list[str]:
        return [text for name in names for texts in acts_in_bank()[name].lists.values() for text in texts]

    assert len(texts(WISHES)) >= 100
    assert [text for text in texts(WISHES) if HARD.search(text)] == []
    assert [text for text in texts(DEMANDS) if SOFT.search(text)] == []


@pytest.mark.parametrize("kind", [ActKind.OPEN, ActKind.ANSWER])
@pytest.mark.parametrize("noun", ["desk lamp", ""])
def test_wishes_and_requirements_stand_in_sentences_of_their_own(kind: ActKind, noun: str) -> None:
    wish = replace(fact("material", "wool"), is_wish=True)
    frames = Frames("test", "", ("title",), (), {"any": ('The "{title}" is sold out.',)})
    told = 0
    for seed in range(400):
        rng = stream(seed, "wishes")
        act = Act(
            kind,
            (Mention(noun, f"{noun}s", (wish, fact("color", "navy"))),),
            frames=frames if kind is ActKind.OPEN else None,
            places=(("title", "Lamp"),),
        )
        text = word((act,), draw_persona(rng), rng).text.casefold()
        for sentence in re.split(r"(?<=[.!?]) ", text):
            assert not ("wool" in sentence and "navy" in sentence), text
        told += "wool" in text and "navy" in text
    assert told == 400


def test_fallbacks_take_three_forms() -> None:
    top = ("tank top", "tank tops")
    other = Act(ActKind.STOCKOUT_FALLBACK, (Mention(*top, (fact("variant", "L", attribute="size"),)),))
    assert len(texts_of(other)) >= 20
    assert all(re.search(r"tank top", text) and re.search(r"\bL\b", text) for text in texts_of(other))
    titled = Act(ActKind.STOCKOUT_FALLBACK, (Mention(*top),), title="Haven Top, Navy")
    for text in texts_of(titled):
        assert '"Haven Top, Navy"' in text
        assert "the tank top" in text
    left = Act(ActKind.STOCKOUT_FALLBACK, (Mention(*top),))
    assert len(texts_of(left)) >= 20
    assert all("the tank top" in text.casefold() for text in texts_of(left))


def test_a_correction_without_facts_gives_no_value() -> None:
    act = Act(ActKind.CORRECT, (Mention("tank top", "tank tops"),), ("size",))
    assert len(texts_of(act)) >= 10
    for text in texts_of(act):
        assert any(name in text.casefold() for name in names_of("size"))
        assert "tank top" in text


def test_only_leaving_says_goodbye() -> None:
    mention = Mention("desk lamp", "desk lamps", (fact("color", "navy"),))
    goodbye = re.compile(r"(?<!-)\b(?:good)?bye\b(?!-)|leaving now", re.IGNORECASE)
    assert any(goodbye.search(text) for text in texts_of(Act(ActKind.CLOSE, (mention,))))
    for kind in ActKind:
        if kind not in (ActKind.SWITCH, ActKind.NEXT, ActKind.GIVE_UP, ActKind.CLOSE, ActKind.OPEN):
            for text in texts_of(Act(kind, (mention,), ("size",))):
                assert not goodbye.search(text), text


@pytest.mark.parametrize("kind", [ActKind.SWITCH, ActKind.NEXT, ActKind.OPEN])
def test_acts_about_nothing_are_refused(kind: ActKind) -> None:
    with pytest.raises(ValueError, match="at least one wanted item"):
        word((Act(kind),), PLAIN, stream(1, "word"))


def test_a_correction_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="needs facts or attributes"):
        word((Act(ActKind.CORRECT, (Mention(*NOUNS[0]),)),), PLAIN, stream(1, "word"))


def test_a_name_without_a_label_is_said_as_it_is() -> None:
    act = Act(ActKind.NO_PREFERENCE, attributes=("refund_method",))
    assert "the refund method" in word((act,), PLAIN, stream(1, "word")).text.casefold()


def test_personas_are_all_drawn() -> None:
    rng = stream(1, "personas")
    assert len(PERSONAS) >= 6
    assert {draw_persona(rng).name for _ in range(300)} == {persona.name for persona in PERSONAS}


@pytest.mark.parametrize("value", ["oven-style", ("basket", "oven-style")])
def test_the_last_word_of_a_value_is_not_said_twice(value: str | tuple[str, ...]) -> None:
    op = Op.ANY_OF if isinstance(value, tuple) else Op.EQ
    texts = texts_of(Act(ActKind.ANSWER, (Mention("desk lamp", "desk lamps", (fact("style", value, op),)),)), 400)
    assert len(texts) >= 100
    assert [text for text in texts if "style style" in text.casefold()] == []


def test_the_first_word_of_a_value_is_not_said_twice() -> None:
    texts = texts_of(Act(ActKind.ANSWER, (Mention("shirt", "shirts", (fact("size", "Size 8"),)),)), 400)
    assert len(texts) >= 50
    assert [text for text in texts if "size size" in text.casefold()] == []


def test_short_names_share_an_article_as_often_as_not() -> None:
    act = Act(ActKind.NO_PREFERENCE, attributes=("color", "size"))
    texts = [word((act,), PLAIN, stream(number, "names")).text for number in range(200)]
    apart = [text for text in texts if re.search(r"[Tt]he \w+ and the \w+", text)]
    together = [text for text in texts if re.search(r"[Tt]he (?:colour|shade) and (?!the)\w+", text)]
    assert len(apart) + len(together) == 200
    assert 50 <= len(apart) <= 110
