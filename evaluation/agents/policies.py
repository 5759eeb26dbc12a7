"""The policies that any environment is tried with: they follow from what a server tells of it (SPEC §11)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Any

from ecom_rlve.evaluation.agent import Agent
from ecom_rlve.evaluation.agents import idle
from ecom_rlve.evaluation.agents.blind import BlindRecommender
from ecom_rlve.evaluation.agents.suite import Blind, Maker, Suite
from ecom_rlve.evaluation.expert.skill import RUNGS, Skill
from ecom_rlve.models import EnvironmentInfo
from ecom_rlve.streams import stream

BREAK_FORMAT = "break_format"
_RECOMMENDED = "recommended_product_ids"
_NUMBER = 30
"""A number that an answer may well have: days, minutes, percent."""
_WORD = "unknown"


@dataclass(frozen=True, slots=True)
class Policies:
    """The built-in agents of one environment but for the oracle, by name."""

    info: EnvironmentInfo
    rungs: Mapping[str, Maker]
    """The expert first, then the lazy policies, those of its own suite last; nothing without an expert."""
    empty: Mapping[str, Maker]
    """Policies that never do the job."""
    blind: Mapping[str, Blind]
    """Policies that choose without reading the customer."""

    @property
    def lazy(self) -> tuple[str, ...]:
        """The expert's weaker rungs, and what else does the job badly."""
        return tuple(self.rungs)[1:]

    @property
    def names(self) -> tuple[str, ...]:
        """The names that :meth:`make` takes."""
        return (*self.rungs, *self.empty, *self.blind, BREAK_FORMAT)

    def make(self, name: str, seed: int = 0) -> Agent:
        """Return a new agent for one episode; ``seed`` feeds those that draw. Raises ``ValueError`` for no name."""
        makers = {**self.rungs, **self.empty, **{blind: each.make for blind, each in self.blind.items()}}
        if name == BREAK_FORMAT:
            return idle.BreakFormat()
        if name not in makers:
            raise ValueError(f"no built-in agent {name!r} for {self.info.env_id}; there are {', '.join(self.names)}")
        return makers[name](stream(seed, "agent", name))

    def chance(self, name: str, d: int) -> float:
        """Return the probability that a blind policy is right at a difficulty."""
        return self.info.chance[d] if self.info.chance and self.blind[name].picks else 0.0


def rungs(info: EnvironmentInfo, suite: Suite | None) -> dict[str, Maker]:
    """Return the expert, those of its weaker rungs that leave something undone, and the suite's own lazy policies."""
    if suite is None:
        return {}
    weaker = {name: rung.skill for name, rung in RUNGS.items() if not rung.axis or rung.axis in info.axes}
    return {name: _rung(suite, skill) for name, skill in {"expert": Skill(), **weaker}.items()} | dict(suite.lazy)


def _rung(suite: Suite, skill: Skill) -> Maker:
    return lambda _: suite.expert(skill)


def empty_policies(info: EnvironmentInfo, suite: Suite | None) -> dict[str, Maker]:
    """Return the policies that never do the job, those of the environment's own suite last."""
    least = {"done": True, **constants(info.answer_schema, only_required=True)}
    fullest = {"done": True, **constants(info.answer_schema), **(suite.constants if suite else {})}
    found: dict[str, Maker] = {
        "say_nothing": lambda _: idle.SayNothing(),
        "answer_at_once": lambda _: idle.AnswerAtOnce(least),
        "answer_constants": lambda _: idle.AnswerAtOnce(fullest),
        "decline": lambda _: idle.Decline(least),
        "ask_forever": lambda _: idle.AskForever(),
        "ask_in_answer": lambda _: idle.AskInAnswer(fullest),
        "repeat_customer": lambda _: idle.RepeatCustomer(fullest),
        "inject_prompt": lambda _: idle.InjectPrompt(fullest),
    }
    if _recommends(info):
        found["random_ids"] = idle.RecommendRandomIds
        if "catalog_search" in info.tools:
            found["recommend_everything_shown"] = lambda _: idle.RecommendEverythingShown()
    if "cart_add" in info.tools:
        found["random_ids"] = idle.AddRandomIds
        if "catalog_search" in info.tools:
            found["add_everything_shown"] = lambda _: idle.AddEverythingShown("catalog_search")
        if "user_get_visit_history" in info.tools:
            found["add_whole_history"] = lambda _: idle.AddEverythingShown("user_get_visit_history")
    return found | dict(suite.empty if suite else {})


def blind_policies(info: EnvironmentInfo, suite: Suite | None) -> dict[str, Blind]:
    """Return the policies that choose without reading the customer."""
    found: dict[str, Blind] = {}
    if _recommends(info) and "catalog_search" in info.tools:
        found = {"first_shown": Blind(lambda _: BlindRecommender(None)), "random_shown": Blind(BlindRecommender)}
    return found | dict(suite.blind if suite else {})


def in_turn(members: Mapping[str, Policies]) -> dict[str, Maker]:
    """Return the empty policies of a journey through the errands of its members.

    Each settles one errand after another, and takes them for those of the members in turn, whatever they are: of the
    members that have a policy of the name, for no other member takes its answers.
    """
    names = dict.fromkeys(name for each in members.values() for name in each.empty)
    return {
        name: _in_turn({env_id: each.empty[name] for env_id, each in members.items() if name in each.empty})
        for name in names
    }


def _in_turn(ways: Mapping[str, Maker]) -> Maker:
    return lambda rng: idle.NamingIntents(lambda intent: ways[intent](rng), list(ways))


def constants(schema: Mapping[str, Any], *, only_required: bool = False) -> dict[str, Any]:
    """Return an answer's fields beside ``done`` with constants of the right type.

    Optional words are left out: no constant is better than none.

    >>> constants({"properties": {"done": {"type": "boolean"}, "unit": {"enum": ["days", "USD"]}, "id": {}}})
    {'unit': 'days'}
    """
    required = schema.get("required", ())
    return {
        name: value
        for name, field in schema.get("properties", {}).items()
        if name != "done" and (name in required or not only_required)
        if (value := _constant(field, _WORD if name in required else None)) is not None
    }


def _constant(field: Mapping[str, Any], word: str | None) -> Any:
    """Return a value that a field may have; ``word`` where it may be any words."""
    if "enum" in field:
        return field["enum"][0]
    kind = field.get("type")
    match kind[0] if isinstance(kind, list) else kind:
        case "number" | "integer":
            return min(max(_NUMBER, field.get("minimum", -inf)), field.get("maximum", inf))
        case "array":
            return []
        case "boolean":
            return False
        case _:
            return word


def _recommends(info: EnvironmentInfo) -> bool:
    return _RECOMMENDED in info.answer_schema.get("properties", {})
