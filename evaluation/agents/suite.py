"""Which policies an environment is tried with, and what they may reach (SPEC §11)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from numpy.random import Generator

from ecom_rlve.evaluation.agent import Agent
from ecom_rlve.evaluation.agents import idle as empty
from ecom_rlve.evaluation.agents.blind import BlindRecommender
from ecom_rlve.evaluation.agents.cart.blind import BlindCart
from ecom_rlve.evaluation.agents.order_status.blind import BlindOrder
from ecom_rlve.evaluation.agents.policy_questions.blind import BlindReader
from ecom_rlve.evaluation.agents.returns.blind import BlindLine, ReturnEveryLine
from ecom_rlve.evaluation.agents.skill import Skill

Maker = Callable[[Generator], Agent]

SKILLS: Mapping[str, Skill] = {
    "first_hit": Skill(compares=False),
    "never_asks": Skill(asks=False),
    "guess_and_wait": Skill(asks=False, guesses=True),
    "ignores_stock": Skill(minds_stock=False),
    "ignores_filters": Skill(filters=False),
}
"""What the lazy policies leave undone: rungs of the expert."""


@dataclass(frozen=True, slots=True)
class Blind:
    """A policy that chooses without reading the customer."""

    make: Maker
    chance: Callable[[int], float] = lambda _: 0.0
    """Its chance by difficulty: 1 / (candidates of the right kind in the world) where it has some."""


@dataclass(frozen=True, slots=True)
class Suite:
    """The policies of one environment."""

    lazy: tuple[str, ...]
    """Names of :data:`SKILLS` that leave something undone here."""
    empty: Mapping[str, Maker]
    """Policies that never do the job."""
    blind: Mapping[str, Blind] = field(default_factory=dict)


def _empty(constants: dict[str, Any], **more: Maker) -> dict[str, Maker]:
    """Return the empty policies of an environment; ``constants`` is its answer with constants of the right type."""
    done = {"done": True, **({"intent": constants["intent"]} if "intent" in constants else {})}
    return {
        "say_nothing": lambda _: empty.SayNothing(),
        "answer_at_once": lambda _: empty.AnswerAtOnce(done),
        "answer_constants": lambda _: empty.AnswerAtOnce({**done, **constants}),
        "decline": lambda _: empty.Decline(done),
        "ask_forever": lambda _: empty.AskForever(),
        "ask_in_answer": lambda _: empty.AskInAnswer({**done, **constants}),
        "repeat_customer": lambda _: empty.RepeatCustomer({**done, **constants}),
        "inject_prompt": lambda _: empty.InjectPrompt({**done, **constants}),
        **more,
    }


def _in_turn(make: Callable[[Generator, str], Agent]) -> Maker:
    """Return a maker of a policy that treats each errand of a journey alike, whatever it is."""
    return lambda rng: empty.NamingIntents(lambda intent: make(rng, intent), list(_CONSTANTS))


def _orders_at(d: int) -> int:
    return 12 + 2 * d


def _of_history(d: int) -> float:
    """Half of the families of three hold a target (SPEC §6, CART)."""
    items = min(5, 1 + d // 3)
    return 1 / (2 * 3 * max(4, 2 * items + 2))


_RECOMMEND: dict[str, Any] = {"recommended_product_ids": []}
_CONSTANTS: Mapping[str, dict[str, Any]] = {
    "BUNDLE": _RECOMMEND,
    "CART": {},
    "PD": _RECOMMEND,
    "POLICY": {"value": 30, "unit": "days"},
    "RETURN": {"resolution": "not_eligible"},
    "STATUS": {"order_status": "delivered"},
    "SUB": _RECOMMEND,
}
"""Answers that know nothing, by environment."""
_ALL_LAZY = tuple(SKILLS)
_NO_STOCK = tuple(name for name in SKILLS if name != "ignores_stock")
_RECOMMENDING: dict[str, Maker] = {
    "random_ids": lambda rng: empty.RecommendRandomIds(rng),
    "recommend_everything_shown": lambda _: empty.RecommendEverythingShown(),
}
_BLIND_RECOMMENDING = {
    "first_shown": Blind(lambda _: BlindRecommender(None)),
    "random_shown": Blind(BlindRecommender),
}

SUITES: Mapping[str, Suite] = {
    "BUNDLE": Suite(_ALL_LAZY, _empty(_RECOMMEND, **_RECOMMENDING), _BLIND_RECOMMENDING),
    "CART": Suite(
        _ALL_LAZY,
        _empty(
            {},
            random_ids=empty.AddRandomIds,
            add_everything_shown=lambda _: empty.AddEverythingShown("catalog_search"),
            add_whole_history=lambda _: empty.AddEverythingShown("user_get_visit_history"),
        ),
        {
            "first_shown": Blind(lambda _: BlindCart("catalog_search", None)),
            "random_shown": Blind(lambda rng: BlindCart("catalog_search", rng)),
            "first_of_history": Blind(lambda _: BlindCart("user_get_visit_history", None), _of_history),
            "random_of_history": Blind(lambda rng: BlindCart("user_get_visit_history", rng), _of_history),
        },
    ),
    "JOURNEY": Suite(
        _ALL_LAZY,
        _empty(
            {"intent": "CART", **_RECOMMEND},
            answer_constants=_in_turn(lambda _, intent: empty.AnswerAtOnce({"done": True, **_CONSTANTS[intent]})),
            random_ids=_in_turn(lambda rng, _: empty.RecommendRandomIds(rng)),
            recommend_everything_shown=_in_turn(lambda *_: empty.RecommendEverythingShown()),
            add_whole_history=_in_turn(lambda *_: empty.AddEverythingShown("user_get_visit_history")),
            return_every_line=_in_turn(lambda *_: ReturnEveryLine()),
        ),
    ),
    "PD": Suite(_ALL_LAZY, _empty(_RECOMMEND, **_RECOMMENDING), _BLIND_RECOMMENDING),
    "POLICY": Suite(
        _NO_STOCK,
        _empty(_CONSTANTS["POLICY"]),
        {
            "read_then_first": Blind(lambda _: BlindReader(None), lambda _: 1 / 12),
            "read_then_random": Blind(BlindReader, lambda _: 1 / 12),
        },
    ),
    "RETURN": Suite(
        _NO_STOCK,
        _empty(_CONSTANTS["RETURN"], return_every_line=lambda _: ReturnEveryLine()),
        {
            # An order has 1 to 4 lines, 2.5 on average.
            "first_line": Blind(lambda _: BlindLine(None), lambda d: 1 / (2.5 * _orders_at(d))),
            "random_line": Blind(BlindLine, lambda d: 1 / (2.5 * _orders_at(d))),
            "never_eligible": Blind(lambda rng: BlindLine(rng, "not_eligible"), lambda d: 1 / (2.5 * _orders_at(d))),
        },
    ),
    "STATUS": Suite(
        _NO_STOCK,
        _empty(_CONSTANTS["STATUS"]),
        {
            "first_order": Blind(lambda _: BlindOrder(None), lambda d: 1 / _orders_at(d)),
            "random_order": Blind(BlindOrder, lambda d: 1 / _orders_at(d)),
        },
    ),
    "SUB": Suite(_ALL_LAZY, _empty(_RECOMMEND, **_RECOMMENDING), _BLIND_RECOMMENDING),
}
"""The policies of every environment, by id."""
