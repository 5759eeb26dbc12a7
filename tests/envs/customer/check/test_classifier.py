"""The classifier of wordings has the weights of its files, and decides what the lists cannot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ecom_rlve.envs.customer.check.check import WordingCheck
from ecom_rlve.envs.customer.check.classifier import classifier
from ecom_rlve.envs.customer.check.features import features, labels_of
from ecom_rlve.envs.customer.check.sheet import Part, Sheet
from ecom_rlve.envs.customer.check.words import class_of
from ecom_rlve.evaluation.customer.train_check import examples, trained

FOLDER = Path(__file__).parent
TELLS = Sheet((Part("answer", "", {"item_1": "x", "fact_1": "x"}, (("item_1", "fact_1"),), "CART"),))


@pytest.mark.slow
def test_the_weights_are_those_of_the_wordings() -> None:
    arrays, stored = trained(examples(FOLDER)), classifier()
    names = arrays["features"].tobytes().decode().split("\n")
    made = dict(zip(names, arrays["weights"].tolist(), strict=True))
    # Whether a weight just above a half is rounded up may depend on the processor.
    steps = [abs(made.get(name, 0) - stored.weights.get(name, 0)) for name in made.keys() | stored.weights.keys()]
    assert max(steps) <= 1
    assert np.mean(steps) < 0.01
    assert abs(int(arrays["bias"]) - stored.bias) <= 1


@pytest.mark.parametrize(
    ("honest", "lie"),
    [
        ("{item_1} {fact_1}, please.", "{item_1} {fact_1}, sometimes."),
        ("I'd like {item_1} {fact_1}.", "I'd like the opposite of {item_1} {fact_1}."),
        ("i need {item_1} {fact_1}", "i had {item_1} {fact_1} once"),
    ],
)
def test_a_lie_looks_more_like_one(honest: str, lie: str) -> None:
    labels = labels_of(TELLS)
    assert classifier().score(labels, honest) < classifier().score(labels, lie)


def test_a_word_on_no_list_passes_where_it_does_no_harm() -> None:
    check = WordingCheck(TELLS)
    assert check("Phew, thanks, Llandudno is calling! {item_1} {fact_1} would be lovely, please!") is None
    assert check("I'd like Llandudno {item_1} {fact_1}, please.")


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("please", "common"),
        ("seven", "quantity and order"),
        ("teal", "colours and materials"),
        ("bigger", "more"),
        ("llandudno", "other"),
    ],
)
def test_kinds_of_words_are_headings_of_the_lists(word: str, kind: str) -> None:
    assert class_of(word) == kind


def test_features_tell_on_which_side_of_a_place_a_word_stands() -> None:
    before, after = features((), "never {fact_1}."), features((), "{fact_1}, never.")
    assert "never>00" in before - after
    assert "never<11" in after - before
