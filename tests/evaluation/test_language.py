"""The expert's reading of customers' sentences."""

import pytest

from ecom_rlve.evaluation.reading import language
from ecom_rlve.evaluation.reading.item_notes import variant_said


def test_sentences_keep_prices_and_quoted_titles_whole() -> None:
    text = 'Hi. I need one lamp for $24.99; and two mugs. Then please take "Mug, Blue. 300 ml" instead.'
    assert language.sentences(text) == [
        "Hi.",
        "I need one lamp for $24.99;",
        "two mugs.",
        'Then please take "Mug, Blue. 300 ml" instead.',
    ]


@pytest.mark.parametrize(
    ("value", "text", "is_said"),
    [
        ("Northwick", "a lamp from Nortwhick, please", True),
        ("brushed steel", "made of brushed steel", True),
        ("brushed steel", "made of steel", False),
        ("linen", "from the Eskdale line", False),
        ("matte", "it doesn't matter to me", False),
        ("xl", "in size xl", True),
    ],
)
def test_likeness_forgives_slips_but_not_other_words(value: str, text: str, is_said: bool) -> None:
    assert bool(language.likeness(value, text)) is is_said


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("I need three desk lamps.", 3),
        ("the desk lamp from Northwick", None),
        ("a single desk lamp", 1),
        ("4 pairs of desk lamps", 4),
        ("one dsek lamp", 1),
    ],
)
def test_counts_are_read_before_the_noun(text: str, count: int | None) -> None:
    assert language.count_before(language.noun_forms("desk lamps"), text) == count


def test_measures_are_read_in_canonical_units() -> None:
    read = language.measures_with_units("holding 0.7 litres, weighing 1.2 kg, 60 watts, 12 hours and 29 cm")
    assert read == [(700.0, "ml"), (1200.0, "g"), (60.0, "w"), (12.0, "h"), (29.0, "cm")]
    assert language.prices("for $1,299.00 or $5") == [1299.0, 5.0]


@pytest.mark.parametrize(
    ("plural", "form"), [("scarves", "scarf"), ("watches", "watch"), ("dresses", "dress"), ("area rugs", "area rug")]
)
def test_noun_forms_hold_the_singular(plural: str, form: str) -> None:
    assert form in language.noun_forms(plural)


@pytest.mark.parametrize(
    ("values", "attribute", "sentence", "said"),
    [
        (["xs", "xl", "xxl"], "size", "the tank top in size xl", "xl"),
        (["xs", "xl"], "size", "I need one tank top", None),
        (["45 W", "60 W"], "wattage", "with a power of 60 watts", "60 W"),
        (["navy", "black"], "color", "I want it in navy", "navy"),
    ],
)
def test_variants_are_recognised(values: list[str], attribute: str, sentence: str, said: str | None) -> None:
    assert variant_said(values, attribute, sentence) == said
