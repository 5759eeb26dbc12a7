"""Wording says every fact of an act, each beside its item, and nothing else: no other value, no count, no debris."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal

import pytest
from numpy.random import Generator

from ecom_rlve.catalog.attributes import ATTRIBUTES, DISCRETE, NUMERIC
from ecom_rlve.catalog.constraints import Constraint, Op
from ecom_rlve.envs.language import templates
from ecom_rlve.envs.language.acts import Act, ActKind, Fact, Mention
from ecom_rlve.envs.language.persona import PERSONAS, draw_persona
from ecom_rlve.envs.language.phrases import LABELS, after_noun, after_should, labelled, spellings
from ecom_rlve.envs.language.wording import word
from ecom_rlve.streams import Draws, stream

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
FACT_KINDS = (ActKind.OPEN, ActKind.ANSWER, ActKind.CORRECT)


def fact(slot: str, value: str | float | tuple[str, ...], op: Op = Op.EQ, attribute: str = "") -> Fact:
    name = attribute or slot
    return Fact(slot, Constraint(name, op, value), ATTRIBUTES[name].unit if name in ATTRIBUTES else "")


def draw_fact(slot: str, rng: Generator) -> Fact:
    if slot in NUMBERS:
        return fact(slot, NUMBERS[slot][rng.integers(len(NUMBERS[slot]))], OPS[rng.integers(3)])
    values = VALUES[slot]
    at = int(rng.integers(len(values)))
    if rng.random() < 0.25:
        return fact(slot, (values[at], values[at - 1]), Op.ANY_OF)
    return fact(slot, values[at])


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
        if kind is ActKind.CORRECT:
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
                options = spellings(said)
                assert any(option in text or option.capitalize() in text for option in options), (said, text)


def test_no_count_is_implied_without_a_quantity(acts: list[tuple[Act, bool, str, tuple[str, ...]]]) -> None:
    counts = r"(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|some|any|several|few|many|single|each|\d+)"
    without = 0
    for act, _, text, _ in acts:
        for mention in act.mentions:
            if any(said.slot == "quantity" for said in mention.facts):
                continue
            assert not re.search(rf"\b{counts} {mention.singular}\b", text, re.IGNORECASE), text
            assert not re.search(rf"\b{mention.plural}\b", text, re.IGNORECASE), text
            without += 1
    assert without >= 9000


def test_a_quantity_is_said_with_the_right_noun(acts: list[tuple[Act, bool, str, tuple[str, ...]]]) -> None:
    quantities = 0
    for act, _, text, _ in acts:
        for mention in act.mentions:
            for said in mention.facts:
                if said.slot == "quantity":
                    noun = mention.singular if said.constraint.value == 1 else mention.plural
                    counted = "|".join(spellings(said))
                    assert re.search(rf"\b(?:{counted}) {noun}\b", text, re.IGNORECASE), text
                    quantities += 1
    assert quantities >= 2400


def test_each_fact_of_an_opening_stands_between_its_item_and_the_next() -> None:
    rng = stream(5, "attribution")
    for _ in range(1500):
        mentions = draw_mentions(rng)
        text = word((Act(ActKind.OPEN, mentions),), draw_persona(rng), rng).text.casefold()
        starts = [re.search(rf"\b(?:{m.singular}|{m.plural})\b", text).start() for m in mentions]  # type: ignore[union-attr]  # None would fail here, as it should
        assert starts == sorted(starts)
        for mention, start, end in zip(mentions, starts, [*starts[1:], len(text)], strict=True):
            for said in mention.facts:
                if said.slot != "quantity":
                    assert any(option.casefold() in text[start:end] for option in spellings(said)), (said, text)


def test_protected_passages_are_in_the_text_and_cover_every_number() -> None:
    rng = stream(6, "protected")
    mention = Mention("desk lamp", "desk lamps", ())
    for _ in range(2000):
        facts = (*(draw_fact(slot, rng) for slot in NUMBERS), fact("quantity", int(rng.integers(1, 11))))
        kind = FACT_KINDS[rng.integers(3)]
        said = word((Act(kind, (Mention(mention.singular, mention.plural, facts),)),), draw_persona(rng), rng)
        rest = said.text
        for passage in sorted(said.protected, key=len, reverse=True):
            assert passage in said.text
            rest = rest.replace(passage, "")
        assert not re.search(r"\d|\b(?:least|most|more|less|exactly|two|three|four|ten)\b", rest), said


# A reader of its own: what a shopper would understand, written without the tables that the phrases are made from.
READERS = (
    ("screen_size", r"screen size|\bscreen\b"),
    ("ship_days", r"delivery time|\barriv"),
    ("battery_life", r"\bbattery"),
    ("wattage", r"\bwattage|\bpower\b"),
    ("weight", r"\bweigh"),
    ("capacity", r"\bcapacity|\bhold"),
    ("length", r"\blength\b"),
    ("rating", r"\brat(?:ed|ing)\b"),
    ("price", r"\bpriced?\b|\bcost|^for .*\$"),
)
WORD_READERS = (
    ("skin_type", r"(?:be )?(?:for|suited to|suit) skin type (.+)"),
    ("age_range", r"(?:be )?(?:for|suited to|suit) the age range (.+)"),
    ("scent", r"(?:come )?in the scent (.+)|(?:with|have) (.+) as the scent"),
    ("flavor", r"(?:come )?in (.+) flavour|(?:with|have) (.+) as the flavour"),
    ("item_form", r"(?:come )?in the form (.+)|(?:come )?in (.+) form"),
    ("style", r"(?:be )?in the style (.+)|(?:be )?in (.+) style"),
    ("pattern", r"(?:in|have) the (.+) pattern|(?:with|have) (.+) as the pattern"),
    ("model", r"(?:in|be) the (.+) model|(?:be )?from the (.+) line"),
    ("finish_type", r"(?:be )?finished in (.+)|(?:with|have) (.+) as the finish"),
    ("size", r"(?:in|be of|of|be in|come in) size (.+)|sized (.+)"),
    ("material", r"(?:be )?made (?:of|from) (.+)|(?:with|have) (.+) as the material"),
    ("brand", r"(?:be )?(?:made )?by (.+)|(?:be )?of the brand (.+)|(?:be )?from (.+)"),
    ("connector_type", r"(?:with|have) (.+) as the connector|(?:with|have) the connector (.+)|(?:come )?with (.+)"),
    ("color", r"(?:be |come )?in the colou?r (.+)|(?:be )?in (.+)"),
)
NUMBER = re.compile(
    r"(\$)?(\d+(?:\.\d+)?)(?: (watts?|W|hours?|h|grams?|g|kilos?|kg|ml|litres?|l|cm|days?|stars|out of 5))?"
)
SCALES = {"kg": 1000, "kilo": 1000, "kilos": 1000, "l": 1000, "litre": 1000, "litres": 1000}


def understood(phrase: str) -> tuple[str, Op, str | float | tuple[str, ...]]:
    """Read a phrase back into attribute, direction and value."""
    label = next((name for name in SLOTS if phrase.startswith(f"{LABELS[name]} ")), None)
    numeric = label if label in NUMBERS else None
    if label is None:
        numeric = next((name for name, pattern in READERS if re.search(pattern, phrase)), None)
    if numeric:
        return numeric, *_bound(numeric, phrase)
    if label is not None:
        return label, *_words(phrase.removeprefix(f"{LABELS[label]} "))
    for name, pattern in WORD_READERS:
        match = re.fullmatch(pattern, phrase)
        if match:
            return name, *_words(next(filter(None, match.groups())))
    raise AssertionError(f"nothing understood in {phrase!r}")


def _words(text: str) -> tuple[Op, str | tuple[str, ...]]:
    values = tuple(text.split(" or "))
    return (Op.ANY_OF, values) if len(values) > 1 else (Op.EQ, text)


def _bound(name: str, phrase: str) -> tuple[Op, float]:
    op = Op.EQ
    if re.search(r"at most|no more than|not more than|up to|or less", phrase):
        op = Op.AT_MOST
    elif re.search(r"at least|no less than|not less than|or more|and up", phrase):
        op = Op.AT_LEAST
    matches = list(NUMBER.finditer(phrase))
    assert len(matches) == 1, phrase
    dollar, digits, unit = matches[0].groups()
    assert bool(dollar) == (name == "price"), phrase
    return op, float(Decimal(digits) * (100 if dollar else SCALES.get(unit, 1)))


def test_phrases_are_understood_as_they_were_meant() -> None:
    rng = stream(3, "round trip")
    seen = set()
    for slot in SLOTS:
        for _ in range(250):
            meant = draw_fact(slot, rng)
            for form in (after_noun, after_should, labelled):
                phrase = form(meant, Draws(rng), [])
                constraint = meant.constraint
                assert understood(phrase) == (constraint.attribute, constraint.op, constraint.value), phrase
                seen.add(phrase)
    assert len(seen) > 1000


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


def test_every_attribute_has_words() -> None:
    for name in (*DISCRETE, *NUMERIC, "brand", "price", "rating", "ship_days"):
        value = 5.0 if name in NUMBERS else "gel"
        assert after_noun(fact(name, value), Draws(stream(1, name)), [])


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
        text = word(acts, PLAIN, stream(seed, "word")).text
        assert -1 < text.index("navy") < text.index("stock")


def texts_of(act: Act, count: int = 200) -> set[str]:
    rng = stream(2, "texts", act.kind)
    return {word((act,), draw_persona(rng), rng).text for _ in range(count)}


def test_a_bare_answer_needs_no_noun_and_gives_no_count() -> None:
    colours = texts_of(Act(ActKind.ANSWER, (Mention("", "", (fact("color", "navy"),)),)))
    assert len(colours) >= 30
    for text in colours:
        assert "navy" in text
        assert not re.search(r"\b(?:it|they|one|an?)\b", text, re.IGNORECASE), text
    for text in texts_of(Act(ActKind.ANSWER, (Mention("", "", (fact("quantity", 1),)),))):
        assert re.search(r"\b(?:one|1)\b", text, re.IGNORECASE), text
        assert "single" not in text


SOFT = re.compile(r"ideally|possible|prefer|it would be (?:nice|lovely)|nice to have|if i could choose", re.IGNORECASE)
HARD = re.compile(r"\b(?:must|has to|have to|has got to|needs?|require|should|important|want)\b", re.IGNORECASE)
WISHES = (templates.WISH_FOLLOW_UP, templates.WISH_ITEM, templates.WISH_BARE)
DEMANDS = (templates.FOLLOW_UP, templates.ANSWER_ITEM, templates.ANSWER_BARE, templates.CORRECT_ITEM)


def test_every_template_of_a_wish_sounds_like_one_and_no_other_does() -> None:
    soft = [text for bank in WISHES for texts in bank.values() for text in texts]
    assert len(soft) >= 40
    assert [text for text in soft if not SOFT.search(text) or HARD.search(text)] == []
    others = [text for bank in DEMANDS for texts in bank.values() for text in texts]
    assert len(others) >= 40
    assert [text for text in others if SOFT.search(text)] == []


@pytest.mark.parametrize("kind", [ActKind.OPEN, ActKind.ANSWER])
@pytest.mark.parametrize("noun", ["desk lamp", ""])
def test_wishes_and_requirements_stand_in_sentences_of_their_own(kind: ActKind, noun: str) -> None:
    wish = replace(fact("material", "wool"), is_wish=True)
    bank = templates.bank('The "{title}" is sold out.')
    told = 0
    for seed in range(400):
        rng = stream(seed, "wishes")
        act = Act(
            kind,
            (Mention(noun, f"{noun}s", (wish, fact("color", "navy"))),),
            bank=bank if kind is ActKind.OPEN else None,
            places=(("title", "Lamp"),),
        )
        text = word((act,), draw_persona(rng), rng).text
        for sentence in re.split(r"(?<=[.!?]) ", text):
            assert not ("wool" in sentence and "navy" in sentence), text
            assert ("wool" in sentence) <= bool(SOFT.search(sentence)), text
            assert ("navy" in sentence) <= (not SOFT.search(sentence)), text
        told += "wool" in text and "navy" in text
    assert told == 400


def test_fallbacks_take_three_forms() -> None:
    top = ("tank top", "tank tops")
    other = Act(ActKind.STOCKOUT_FALLBACK, (Mention(*top, (fact("variant", "L", attribute="size"),)),))
    assert len(texts_of(other)) >= 20
    assert all(re.search(r"the tank top .*\bL\b", text, re.IGNORECASE) for text in texts_of(other))
    titled = Act(ActKind.STOCKOUT_FALLBACK, (Mention(*top),), title="Haven Top, Navy")
    for text in texts_of(titled):
        assert '"Haven Top, Navy"' in text
        assert "the tank top" in text
    left = Act(ActKind.STOCKOUT_FALLBACK, (Mention(*top),))
    assert all(re.search(r"out\b|without|skip", text, re.IGNORECASE) for text in texts_of(left))


def test_a_correction_without_facts_gives_no_value() -> None:
    act = Act(ActKind.CORRECT, (Mention("tank top", "tank tops"),), ("size",))
    assert len(texts_of(act)) >= 10
    for text in texts_of(act):
        assert "the size" in text.casefold()
        assert "tank top" in text


def test_only_a_confirmation_says_yes_and_only_leaving_says_goodbye() -> None:
    kinds = [kind for kind in ActKind if kind not in (ActKind.SWITCH, ActKind.NEXT)]
    mention = Mention("desk lamp", "desk lamps", (fact("color", "navy"),))
    assert {ActKind.CONFIRM, ActKind.GIVE_UP, ActKind.CLOSE} < set(kinds)
    for kind in kinds:
        for text in texts_of(Act(kind, (mention,), ("size",))):
            approves = re.search(r"\b(?:yes|correct|right|perfect|fits)\b", text, re.IGNORECASE)
            denies = re.search(r"\b(?:not|n't|wrong|something|haven't got)\b|n't", text, re.IGNORECASE)
            if kind is ActKind.CONFIRM:
                assert approves, text
                assert not denies, text
            elif approves:
                assert denies or kind is ActKind.CORRECT, text
            leaves = kind in (ActKind.GIVE_UP, ActKind.CLOSE)
            assert leaves or not re.search(r"bye|leaving", text, re.IGNORECASE), text


@pytest.mark.parametrize("kind", [ActKind.SWITCH, ActKind.NEXT])
def test_acts_without_words_are_refused(kind: ActKind) -> None:
    with pytest.raises(ValueError, match="needs sentences of its environment"):
        word((Act(kind),), PLAIN, stream(1, "word"))


def test_incomplete_acts_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one wanted item"):
        word((Act(ActKind.OPEN),), PLAIN, stream(1, "word"))
    with pytest.raises(ValueError, match="needs facts or attributes"):
        word((Act(ActKind.CORRECT, (Mention(*NOUNS[0]),)),), PLAIN, stream(1, "word"))


def test_a_name_without_a_label_is_said_as_it_is() -> None:
    assert (
        "the refund method"
        in word((Act(ActKind.NO_PREFERENCE, attributes=("refund_method",)),), PLAIN, stream(1, "word")).text
    )


def test_personas_are_all_drawn() -> None:
    rng = stream(1, "personas")
    assert len(PERSONAS) >= 6
    assert {draw_persona(rng).name for _ in range(300)} == {persona.name for persona in PERSONAS}
