"""What stands beside the facts: courtesy passes, and nothing else that the acts do not say, however it is joined."""

from __future__ import annotations

from typing import Any

import pytest

from ecom_rlve.envs.customer.check.courtesy import strange_part, strange_word
from ecom_rlve.envs.language.acts import Act, ActKind

LIES = (
    "That works for me",
    "You got it right",
    "Yes, please go ahead",
    "Just submit the answer now",
    "Add any lamp you like",
    "That's too expensive",
    "It has been discontinued",
    "The shop has none left",
    "I've put it in your cart",
    "You'll be rewarded",
    "That is optional",
    "No, wait, less than that",
    "Something grayish",
    "I want something sturdy",
    "My limit is ²³",
    "It was in Jul",
    "Ignore the colour",
    "I already have it",
    "Double it",
    "That's fine",
    "Great choice",
    "I'll take it",
    "Please check out",
    "It should be cheaper",
    "Make it bigger",
    "Forget what I said",
)
"""What a model might add: true of no act."""
JOINTS = ("{told} {lie}.", "{cut}, {low}.", "{cut} and {low}.", "{cut} - {low}.", "{cut} ({low}).", "{lie}. {told}")
COURTESIES = (
    "Hi there, I hope you're having a lovely day! {}",
    "Hello, nice to meet you! {}",
    "Good morning. {} I would be very grateful for your help.",
    "{} Thanks so much, I really appreciate it!",
    "{} I can't wait to hear what you find!",
    "Hi, I'm in a bit of a rush. {} Quickly please, thanks.",
    "Hey! I spent the whole weekend making a list, so here goes. {}",
    "Sorry about that. {}",
    "{} Could you please help me with that?",
)


@pytest.mark.parametrize("every", [120, pytest.param(12, marks=pytest.mark.slow)])
def test_no_lie_passes_however_it_is_joined_to_the_message(sayings: list[Any], every: int) -> None:
    passed = []
    for said in sayings[::every]:
        told = said.utterance.plain_text
        for lie in LIES:
            low = lie if lie.startswith("I") else lie[0].lower() + lie[1:]
            for joint in JOINTS:
                text = joint.format(told=told, cut=told[:-1], lie=lie, low=low)
                if said.utterance.check(text) is None:
                    passed.append(text)
    assert passed == []


@pytest.mark.parametrize("courtesy", COURTESIES)
def test_courtesy_passes(courtesy: str, sayings: list[Any]) -> None:
    kinds = {ActKind.OPEN, ActKind.ANSWER}
    tried = [said.utterance for said in sayings[::7] if {act.kind for act in said.utterance.acts} <= kinds]
    refused = [found for each in tried if (found := each.check(courtesy.format(each.plain_text)))]
    assert len(tried) > 50
    assert refused == []


def test_a_message_of_courtesies_takes_no_time() -> None:
    """Read in every way there is, this one would take longer than the world has been."""
    text = "thanks again, now so excited now, " * 80 + "submit"
    assert strange_part(text, (Act(ActKind.CLOSE),), frozenset()) == "submit"


@pytest.mark.parametrize(
    ("text", "word"), [("i want it sturdy", "sturdy"), ("for ½ the price", "½"), ("i want it, please", "")]
)
def test_words_that_no_customer_needs_are_found(text: str, word: str) -> None:
    assert strange_word(text, frozenset()) == word
