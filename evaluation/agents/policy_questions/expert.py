"""The expert for POLICY: finds and reads every section that governs the case, asks what it lacks, works it out."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction
from typing import Any

from ecom_rlve.client import StepResult
from ecom_rlve.evaluation.agent import Action, call
from ecom_rlve.evaluation.agents.policy_questions.reading import (
    Outcome,
    base_figure,
    currency_in,
    labels,
    outcomes,
    subject,
)
from ecom_rlve.evaluation.expert.heard import acts_of
from ecom_rlve.evaluation.expert.inquiry import Inquiry
from ecom_rlve.evaluation.expert.skill import Skill
from ecom_rlve.models import SaidAct, SaidFact, Style

_OTHER_SLOTS = {"condition of the item": "item_condition"}
"""Slots of conditions that the store calls otherwise than the customer's facts do."""


class PolicyExpert:
    """Plays one POLICY episode."""

    def __init__(self, skill: Skill | None = None) -> None:
        self._skill = skill or Skill()
        self._inquiry = Inquiry()
        self._says: dict[str, str] = {}
        self._currency = "USD"
        """The question: its topic, its form, and the date or the money that it names."""
        self._facts: dict[str, SaidFact] = {}
        """What was said of the customer's case, by slot."""
        self._found: dict[str, tuple[str, str]] = {}
        """Topic and condition ("" for the base) of the sections that searches have shown, by id, best match first."""
        self._texts: dict[str, str] = {}
        """Texts of sections read, by id."""
        self._searched: list[str] = []
        self._has_proposed = False

    def act(self, result: StepResult) -> Action:
        """Return the next action."""
        observation = result.observation
        self._hear(acts_of(result))
        self._currency = currency_in(observation.user_message or "") or self._currency
        for shown in observation.tool_results:
            fields = shown.result or {}
            for found in fields.get("results", ()):
                self._found.setdefault(found["section_id"], subject(found["title"]))
            if "text" in fields:
                self._texts[fields["section_id"]] = fields["text"]
        return self._decide(observation.tool_calls_left, observation.turns_left, result.metadata.style)

    def _hear(self, acts: list[SaidAct]) -> None:
        self._inquiry.hear(acts)
        for act in acts:
            self._says |= act.says
            self._facts |= {fact.slot: fact for item in act.items for fact in item.facts}

    def _decide(self, room: int, turns_left: int, style: Style) -> Action:
        # In the last turn only a tool at a time shows what it has found before the answer.
        can_look = turns_left > 1 or (style == "tool" and room > 0)
        calls = self._calls(max(1, room)) if can_look else []
        questions = self._questions() if self._skill.asks else {}
        if calls or (turns_left > 1 and self._inquiry.open(questions)):
            return self._inquiry.look(calls, questions, style)
        is_final = self._has_proposed or turns_left == 1 or not self._skill.guesses
        self._has_proposed = True
        return {"answer": {"done": is_final, **self._answer()}}

    def _calls(self, room: int) -> list[dict[str, Any]]:
        """Return what still has to be looked at: a search, or sections to read."""
        unread = [section_id for section_id in self._sections() if section_id not in self._texts]
        query = "" if unread else self._query()
        if query:
            self._searched.append(query)
            return [call("policy_search", query=query)]
        return [call("policy_get", section_id=section_id) for section_id in unread[:room]]

    def _sections(self) -> list[str]:
        """Return the sections that govern the case, the base first; a weaker agent takes one of those found."""
        if not self._skill.compares:
            return list(self._found)[:1]
        topic = self._says["topic"]
        own = [section_id for section_id, (about, _) in self._found.items() if about == topic]
        own.sort(key=lambda section_id: self._found[section_id][1] != "")
        return own if self._skill.filters else own[:1]

    def _query(self) -> str:
        """Return what to search for next: the topic, then each section that the base names and no search has shown."""
        topic = self._says["topic"]
        queries = [topic]
        if self._skill.compares and self._skill.filters:
            shown = {self._found[section_id][1] for section_id in self._sections()}
            queries += [f"{topic} {label}" for label in labels(self._base()) if label not in shown]
        return next((query for query in queries if query not in self._searched), "")

    def _base(self) -> str:
        """Return the text of the base section, of another where that was not found, "" before any was read."""
        return next((self._texts[section_id] for section_id in self._sections() if section_id in self._texts), "")

    def _questions(self) -> dict[str, str]:
        """Return a question for each condition that the sections found are about."""
        conditions = [self._found[section_id][1] for section_id in self._sections()]
        return {_slot(label): f"What is the {label}?" for label in conditions if label}

    def _answer(self) -> dict[str, Any]:
        try:
            figure, unit = base_figure(self._base())
        except ValueError:
            return {}
        added = Fraction(0)
        for section_id in self._sections():
            label = self._found[section_id][1]
            outcome = self._outcome(label, outcomes(self._texts.get(section_id, ""))) if label else None
            if outcome is None:
                continue
            if outcome.is_replacement:
                figure = outcome.amount
            else:
                added += outcome.amount
        return self._in_form(figure + added, unit)

    def _outcome(self, label: str, found: list[Outcome]) -> Outcome | None:
        """Return what holds in the customer's case, None where they have not said; a guess is the first."""
        fact = self._facts.get(_slot(label))
        if fact is None:
            return found[0] if self._skill.guesses and found else None
        return next((outcome for outcome in found if _holds(outcome, fact)), None)

    def _in_form(self, figure: Fraction, unit: str) -> dict[str, Any]:
        """Return the figure as the question wants it: as it is, as a last day, or as a share of a price."""
        form = self._says["form"]
        if form == "deadline":
            last = date.fromisoformat(self._says["date"]) + timedelta(days=int(figure))
            return {"value": last.isoformat(), "unit": "date"}
        if form == "share":
            return {"value": float(figure * int(self._says["money"]) / 10_000), "unit": self._currency}
        return {"value": float(figure), "unit": unit}


def _slot(label: str) -> str:
    return _OTHER_SLOTS.get(label, label.replace(" ", "_"))


def _holds(outcome: Outcome, fact: SaidFact) -> bool:
    """Tell whether an outcome is that of the value said; policies may leave out a word that all values share."""
    if isinstance(fact.value, float):
        least, below = outcome.band or (0, 0)
        return least <= fact.value and (below is None or fact.value < below)
    said = f" {fact.value} ".casefold()
    return bool(outcome.value) and f" {outcome.value} ".casefold() in said
