"""Utterances for a voice that rewords the customer, and questions for a model that reads the agent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from ecom_rlve.catalog.attributes import DISCRETE
from ecom_rlve.envs.customer.check.check import WordingCheck
from ecom_rlve.envs.customer.check.sheet import sheet_of
from ecom_rlve.envs.customer.customer import Customer
from ecom_rlve.envs.customer.voice import Line, Utterance
from ecom_rlve.envs.episode.action import FormatFailureError, Grammar, ParsedAction, parse
from ecom_rlve.envs.episode.log import Log
from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.errors import ActionError
from ecom_rlve.envs.language.acts import Act
from ecom_rlve.envs.language.persona import Persona
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.streams import Streams

_STEPS = 3
"""How many earlier steps an utterance carries lines of."""
_SEEDS = 2**31
_ARTICLE = re.compile(r"^(?:an?|the) ")


class Question(NamedTuple):
    """A question of the agent in which the rules find no topic."""

    text: str
    topics: Mapping[str, str]
    """The topics that it may be about: name → what a person calls it."""
    seed: int
    """0 to 2**31 - 1, drawn from the episode's streams; part of the request to the model."""


class Told(NamedTuple):
    """One utterance in the template's words, as it stands in an observation."""

    acts: tuple[Act, ...]
    turn: int
    text: str


def earlier_lines(log: Log, grammar: Grammar) -> tuple[Line, ...]:
    """Return the last few lines that were said before the customer's words in the latest observation."""
    if not log.steps:
        return ()
    first = max(0, len(log.steps) - _STEPS)
    heard = log.steps[first - 1].observation if first else log.opening
    lines = [Line("customer", heard.user_message)]
    for step in log.steps[first:]:
        lines += (Line("assistant", text) for text in _said_in(step.action, grammar))
        lines.append(Line("customer", step.observation.user_message))
    return tuple(line for line in lines[:-1] if line.text)


def _said_in(action: Any, grammar: Grammar) -> Iterator[str]:
    """Yield what an action says to the customer."""
    with suppress(FormatFailureError):
        parsed = parse(action, grammar)
        yield parsed.message
        yield from questions_of(parsed)


def questions_of(parsed: ParsedAction) -> tuple[str, ...]:
    """Return the texts of an action's questions to the customer."""
    return tuple(str(getattr(call.args, "question", "")) for call in parsed.calls if call.tool.is_free)


def questions_to_read(
    customer: Customer, action: Mapping[str, Any], grammar: Grammar, asked: tuple[str, ...], turn: int, streams: Streams
) -> tuple[Question, ...]:
    """Return the questions in which the rules find no topic: those of an action, and ``asked`` earlier in its turn."""
    try:
        parsed = parse(action, grammar)
    except (FormatFailureError, ActionError):
        return ()
    if parsed.answer is not None and parsed.answer.done:
        return ()
    unclear = customer.unclear(parsed.message, (*asked, *questions_of(parsed)))
    topics = customer.topics() if unclear else {}
    return tuple(
        Question(text, topics, int(streams.stream("understanding", turn, number).integers(_SEEDS)))
        for number, text in enumerate(dict.fromkeys(unclear))
        if topics
    )


def utterances_of(
    told: Sequence[Told],
    persona: Persona,
    earlier: tuple[Line, ...],
    streams: Streams,
    intents: tuple[Intent[Any], ...],
) -> tuple[Utterance, ...]:
    """Return utterances for a voice, in spoken order; ``intents`` are all intents of the episode."""
    env_id = intents[0].errand.about.id if len(intents) == 1 else ""
    return tuple(
        Utterance(
            acts=acts,
            turn=turn,
            number=number,
            persona=persona,
            template_text=text,
            env_id=env_id,
            earlier=earlier,
            seed=int(streams.stream("model wording", turn, number).integers(_SEEDS)),
            make_check=partial(_check, acts, env_id, intents),
        )
        for number, (acts, turn, text) in enumerate(told)
    )


def _check(acts: tuple[Act, ...], env_id: str, intents: tuple[Intent[Any], ...]) -> WordingCheck:
    """Return the check of a wording. Goods and values that this customer has in mind stand only in its places."""
    subjects = [subject for intent in intents for subject in intent.subjects if subject.category]
    values = (slot.fact.constraint.value for intent in intents for slot in intent.slots)
    words = (value if isinstance(value, tuple) else (value,) for value in values)
    named = {_ARTICLE.sub("", text) for some in words for text in some if isinstance(text, str)}
    named.update(text for subject in subjects for text in (subject.singular, subject.plural))
    shop = intents[0].world.shop
    known = (shop.derive(_words_of, category) for category in dict.fromkeys(each.category for each in subjects))
    return WordingCheck(sheet_of(acts, env_id, 0), frozenset(map(str.casefold, named)), frozenset[str]().union(*known))


def _words_of(shop: Shop, category: str) -> frozenset[str]:
    """Return the words of brands and other values that products of a category have."""
    return frozenset(word for name in ("brand", *DISCRETE) for word in shop.words_in_category(category, name))
