"""The expert for JOURNEY: one expert per errand, each hearing only what is said about its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from ecom_rlve.client import StepResult
from ecom_rlve.evaluation.agent import Action, Agent
from ecom_rlve.evaluation.agents.bundle.expert import BundleExpert
from ecom_rlve.evaluation.agents.cart.expert import CartExpert
from ecom_rlve.evaluation.agents.heard import acts_of
from ecom_rlve.evaluation.agents.order_status.expert import StatusExpert
from ecom_rlve.evaluation.agents.policy_questions.expert import PolicyExpert
from ecom_rlve.evaluation.agents.product_discovery.expert import DiscoveryExpert
from ecom_rlve.evaluation.agents.returns.expert import ReturnExpert
from ecom_rlve.evaluation.agents.skill import Skill
from ecom_rlve.evaluation.agents.substitution.expert import SubstitutionExpert
from ecom_rlve.models import Observation, SaidAct, ToolResult

_EXPERTS: Mapping[str, Callable[[Skill], Agent]] = {
    "BUNDLE": BundleExpert,
    "CART": CartExpert,
    "PD": DiscoveryExpert,
    "POLICY": PolicyExpert,
    "RETURN": ReturnExpert,
    "STATUS": StatusExpert,
    "SUB": SubstitutionExpert,
}
_BRIEF = re.compile(rf"\b({'|'.join(_EXPERTS)}): ")
_MOST_ERRANDS = 5
_TURNS_BESIDE_CALLS = 2
"""Turns that an errand gets beyond the calls that a turn holds, in conversations of up to eight turns an errand."""


@dataclass(slots=True)
class _Errand:
    """One errand that was begun."""

    name: str
    agent: Agent
    turns: int = 0
    """Turns that it has used up."""
    unheard: list[SaidAct] = field(default_factory=list)
    """What the customer still said of it when they interrupted it."""
    unseen: list[ToolResult] = field(default_factory=list)
    """Results of its last action then."""


class JourneyExpert:
    """Plays one JOURNEY episode."""

    def __init__(self, skill: Skill | None = None) -> None:
        self._skill = skill or Skill()
        self._reset: Observation | None = None
        self._briefs: dict[str, str] = {}
        self._turns = 1
        """Turns that each errand adds to the conversation."""
        self._errands = 1
        """How many errands so many turns are for."""
        self._begun = 0
        self._open: list[_Errand] = []
        """Begun and unsettled; the last is the one that is spoken of."""
        self._acted: _Errand | None = None
        """The one that the last action was about, None where that settled it."""
        self._turns_left = 0

    def act(self, result: StepResult) -> Action:
        """Return the next action."""
        seen = result.observation
        if self._reset is None:
            self._take_up(seen)
        if self._acted:
            self._acted.turns += self._turns_left - seen.turns_left
        self._turns_left = seen.turns_left
        acts, heard = self._share(acts_of(result), seen)
        errand = self._open[-1]
        heard = heard.model_copy(update={"turns_left": self._turns_for_current(seen.turns_left)})
        metadata = result.metadata.model_copy(update={"acts": acts})
        action = errand.agent.act(replace(result, observation=heard, metadata=metadata))
        answer = action.get("answer")
        is_settled = bool(answer and answer.get("done"))
        self._acted = None if is_settled else errand
        if is_settled:
            self._open.pop()
        return {**action, "answer": {"intent": errand.name, **answer}} if answer else action

    def _take_up(self, reset: Observation) -> None:
        """Read how long the conversation may be, and what each errand's job is."""
        self._reset = reset
        most, calls = reset.max_turns or 1, reset.tool_budget or 1
        self._errands = max(1, min(_MOST_ERRANDS, most // (calls + _TURNS_BESIDE_CALLS)))
        self._turns = most // self._errands
        _, *parts = _BRIEF.split((reset.instructions or "").partition("\n")[0])
        self._briefs = dict(zip(parts[::2], parts[1::2], strict=True))

    def _share(self, acts: list[SaidAct], seen: Observation) -> tuple[list[SaidAct], Observation]:
        """Return what the errand that is now spoken of hears and sees; one that is interrupted does so later."""
        at = next((at for at, act in enumerate(acts) if act.intent), None)
        if at is None:
            return acts, seen
        if self._acted:
            self._acted.unheard, self._acted.unseen = acts[:at], seen.tool_results
        name, acts = acts[at].intent, acts[at:]
        if self._open and self._open[-1].name == name:
            errand = self._open[-1]
            return [*errand.unheard, *acts], seen.model_copy(update={"tool_results": errand.unseen})
        return acts, self._begin(name, seen)

    def _begin(self, name: str, seen: Observation) -> Observation:
        """Begin an errand; return what a conversation about nothing else would begin with."""
        assert self._reset is not None
        self._begun += 1
        self._open.append(_Errand(name, _EXPERTS[name](self._skill)))
        opening = {
            "tool_calls_left": seen.tool_calls_left,
            "max_turns": self._turns,
            "instructions": self._briefs.get(name),
        }
        return self._reset.model_copy(update=opening)

    def _turns_for_current(self, turns_left: int) -> int:
        """Return what is left for the errand that is spoken of when every other one gets the turns that it adds."""
        others = self._open[:-1]
        to_come = max(0, self._errands - self._begun)
        kept = sum(max(1, self._turns - other.turns) for other in others) + self._turns * to_come
        return max(min(1, turns_left), turns_left - kept)
