"""The built-in agents by name, grouped as the soundness table judges them (SPEC §11)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from numpy.random import Generator

from ecom_rlve.evaluation.agents import empty
from ecom_rlve.evaluation.agents.agent import Agent
from ecom_rlve.evaluation.agents.blind import BlindCart
from ecom_rlve.evaluation.agents.expert import (
    BundleExpert,
    CartExpert,
    DiscoveryExpert,
    ReturnExpert,
    Skill,
    StatusExpert,
    SubstitutionExpert,
)
from ecom_rlve.streams import stream

_EXPERTS: Mapping[str, Callable[[Skill], Agent]] = {
    "BUNDLE": BundleExpert,
    "CART": CartExpert,
    "PD": DiscoveryExpert,
    "RETURN": ReturnExpert,
    "STATUS": StatusExpert,
    "SUB": SubstitutionExpert,
}

LAZY: Mapping[str, Skill] = {
    "first_hit": Skill(compares=False),
    "never_asks": Skill(asks=False),
    "guess_and_wait": Skill(asks=False, guesses=True),
    "ignores_stock": Skill(minds_stock=False),
    "ignores_filters": Skill(filters=False),
}
"""Policies that do the job badly: rungs of the expert."""

EMPTY: Mapping[str, Callable[[Generator], Agent]] = {
    "say_nothing": lambda _: empty.SayNothing(),
    "answer_at_once": lambda _: empty.AnswerAtOnce(),
    "decline": lambda _: empty.Decline(),
    "random_ids": empty.RandomIds,
    "add_everything_shown": lambda _: empty.AddEverythingShown("catalog_search"),
    "add_whole_history": lambda _: empty.AddEverythingShown("user_get_visit_history"),
    "ask_forever": lambda _: empty.AskForever(),
    "ask_in_answer": lambda _: empty.AskInAnswer(),
    "repeat_customer": lambda _: empty.RepeatCustomer(),
    "inject_prompt": lambda _: empty.InjectPrompt(),
}
"""Policies that never do the job."""

BLIND: Mapping[str, Callable[[Generator], Agent]] = {
    "first_shown": lambda _: BlindCart("catalog_search", None),
    "random_shown": lambda rng: BlindCart("catalog_search", rng),
    "first_of_history": lambda _: BlindCart("user_get_visit_history", None),
    "random_of_history": lambda rng: BlindCart("user_get_visit_history", rng),
}
"""Policies that choose without reading the customer."""


def agent_names() -> tuple[str, ...]:
    """Return the names that :func:`make_agent` takes."""
    return ("expert", *LAZY, *EMPTY, *BLIND)


def make_agent(name: str, env_id: str = "CART", seed: int = 0) -> Agent:
    """Return a new built-in agent for one episode of an environment.

    ``seed`` feeds the agents that draw. Raises ``ValueError`` for an unknown agent, or an environment without an
    expert.
    """
    rng = stream(seed, "agent", name)
    if name in EMPTY:
        return EMPTY[name](rng)
    if name in BLIND:
        return BLIND[name](rng)
    if name != "expert" and name not in LAZY:
        raise ValueError(f"no built-in agent {name!r}; there are {', '.join(agent_names())}")
    if env_id not in _EXPERTS:
        raise ValueError(f"no expert for {env_id}; there is one for {', '.join(_EXPERTS)}")
    return _EXPERTS[env_id](LAZY.get(name, Skill()))
