"""The expert for JOURNEY: one expert per errand, each hearing only what is said about its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ecom_rlve.client import StepResult
from ecom_rlve.evaluation.agent import Action, Agent
from ecom_rlve.evaluation.agents.bundle.expert import BundleExpert
from ecom_rlve.evaluation.agents.cart.expert import CartExpert
from ecom_rlve.evaluation.agents.journey.errands import (
    after_first_sentence,
    comes_back,
    errand_of,
    split_at_interruption,
)
from ecom_rlve.evaluation.agents.order_status.expert import StatusExpert
from ecom_rlve.evaluation.agents.policy_questions.expert import PolicyExpert
from ecom_rlve.evaluation.agents.product_discovery.expert import DiscoveryExpert
from ecom_rlve.evaluation.agents.returns.expert import ReturnExpert
from ecom_rlve.evaluation.agents.skill import Skill
from ecom_rlve.evaluation.agents.substitution.expert import SubstitutionExpert
from ecom_rlve.models import Observation

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
    unheard: Observation | None = None
    """The answer to its last action, where the customer interrupted it."""


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
        self._begun: list[str] = []
        self._open: list[_Errand] = []
        """Begun and unsettled; the last is the one that is spoken of."""
        self._is_settled = True
        """The last action settled the errand that it was about, or there was none."""
        self._turns_left = 0

    def act(self, result: StepResult) -> Action:
        """Return the next action."""
        seen = result.observation
        if self._reset is None:
            self._take_up(seen)
            heard = self._begin(seen.user_message, seen)
        else:
            if not self._is_settled:
                self._open[-1].turns += self._turns_left - seen.turns_left
            heard = self._after_settling(seen) if self._is_settled else self._after_action(seen)
        self._turns_left = seen.turns_left
        errand = self._open[-1]
        heard = heard.model_copy(update={"turns_left": self._turns_for_current(seen.turns_left)})
        action = errand.agent.act(replace(result, observation=heard))
        answer = action.get("answer")
        self._is_settled = bool(answer and answer.get("done"))
        if answer:
            action = {**action, "answer": {"intent": errand.name, **answer}}
        if self._is_settled:
            self._open.pop()
        return action

    def _take_up(self, reset: Observation) -> None:
        """Read how long the conversation may be, and what each errand's job is."""
        self._reset = reset
        most, calls = reset.max_turns or 1, reset.tool_budget or 1
        self._errands = max(1, min(_MOST_ERRANDS, most // (calls + _TURNS_BESIDE_CALLS)))
        self._turns = most // self._errands
        _, *parts = _BRIEF.split((reset.instructions or "").partition("\n")[0])
        self._briefs = dict(zip(parts[::2], parts[1::2], strict=True))

    def _after_action(self, seen: Observation) -> Observation:
        """Return what the errand that is spoken of now hears; one that is interrupted hears its share later."""
        turned = split_at_interruption(seen.user_message)
        if turned is None:
            return seen
        before, after = turned
        self._open[-1].unheard = seen.model_copy(update={"user_message": before})
        return self._begin(after, seen)

    def _after_settling(self, seen: Observation) -> Observation:
        text = seen.user_message
        if not self._open or not comes_back(text):
            return self._begin(after_first_sentence(text), seen)
        errand = self._open[-1]
        unheard, errand.unheard = errand.unheard, None
        missed = {} if unheard is None else {name: getattr(unheard, name) for name in ("user_message", "tool_results")}
        return seen.model_copy(update=missed)

    def _begin(self, text: str, seen: Observation) -> Observation:
        """Begin an errand; return what a conversation about nothing else would begin with."""
        assert self._reset is not None
        name = errand_of(text, self._begun)
        self._begun.append(name)
        self._open.append(_Errand(name, _EXPERTS[name](self._skill)))
        opening = {
            "user_message": text,
            "tool_results": [],
            "tool_calls_left": seen.tool_calls_left,
            "max_turns": self._turns,
            "instructions": self._briefs.get(name),
        }
        return self._reset.model_copy(update=opening)

    def _turns_for_current(self, turns_left: int) -> int:
        """Return what is left for the errand that is spoken of when every other one gets the turns that it adds."""
        others = self._open[:-1]
        to_come = max(0, self._errands - len(self._begun))
        kept = sum(max(1, self._turns - other.turns) for other in others) + self._turns * to_come
        return max(min(1, turns_left), turns_left - kept)
