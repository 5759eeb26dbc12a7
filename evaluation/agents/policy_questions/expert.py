"""The expert for POLICY: finds and reads every section that governs the case, asks what it lacks, works it out."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any

from ecom_rlve.client import StepResult
from ecom_rlve.evaluation.agent import Action, call, one_at_a_time
from ecom_rlve.evaluation.agents.policy_questions.reading import (
    Outcome,
    base_figure,
    labels,
    outcomes,
    subject,
    unit_stated,
)
from ecom_rlve.evaluation.agents.skill import Skill
from ecom_rlve.evaluation.reading import language

_FACTS_PER_QUESTION = 3
_ASKED_AT_MOST = 2
_UNIT_WORDS = {
    "days": "days",
    "weeks": "weeks",
    "hours": "hours",
    "points": "points",
    "percent": "percent",
    "percentage": "percent",
    "dollars": "USD",
    "charge": "USD",
}
_ASKS = re.compile(r"\b(?:how (?:many|much)|what|which|within|when|until)\b", re.IGNORECASE)
_DATE = re.compile(r"\b(\d{1,2} [A-Z][a-z]+ \d{4})\b")


class PolicyExpert:
    """Plays one POLICY episode."""

    def __init__(self, skill: Skill | None = None) -> None:
        self._skill = skill or Skill()
        self._question = ""
        self._told = ""
        """What the customer has said beside the question."""
        self._found: dict[str, str] = {}
        """Titles of sections by id, best match first."""
        self._snippets: dict[str, str] = {}
        """Beginnings of texts by id."""
        self._texts: dict[str, str] = {}
        """Texts of sections read, by id."""
        self._searched: list[str] = []
        self._asked: dict[str, int] = {}
        self._has_proposed = False

    def act(self, result: StepResult) -> Action:
        """Return the next action."""
        observation = result.observation
        self._hear(observation.user_message)
        for shown in observation.tool_results:
            fields = shown.result or {}
            for found in fields.get("results", ()):
                self._found.setdefault(found["section_id"], found["title"])
                self._snippets.setdefault(found["section_id"], found["snippet"])
            if "text" in fields:
                self._texts[fields["section_id"]] = fields["text"]
        action = self._decide(observation.tool_calls_left, observation.turns_left)
        return one_at_a_time(action, result.metadata.style)

    def _hear(self, message: str) -> None:
        for sentence in language.sentences(message):
            if not self._question and _ASKS.search(sentence):
                self._question = sentence
            else:
                self._told += f"\n{sentence}"

    def _decide(self, room: int, turns_left: int) -> Action:
        if not self._found and not self._searched:
            return self._search(self._question or self._told)
        if not self._found or turns_left <= 1:
            self._has_proposed = True
            return self._answer()
        if not self._skill.compares:
            first = next(iter(self._found))
            return self._answer() if first in self._texts else {"tool_calls": [call("policy_get", section_id=first)]}
        unread = [section_id for section_id in self._sections() if section_id not in self._texts]
        if unread:
            return {"tool_calls": [call("policy_get", section_id=section_id) for section_id in unread[:room]]}
        missing = self._unfound()
        if missing:
            return self._search(missing)
        unknown = [label for label in self._unknown() if self._asked.get(label, 0) < _ASKED_AT_MOST]
        if unknown and self._skill.asks and turns_left > 1:
            for label in unknown[:_FACTS_PER_QUESTION]:
                self._asked[label] = self._asked.get(label, 0) + 1
            return {"assistant_message": " ".join(f"What is the {label}?" for label in unknown[:_FACTS_PER_QUESTION])}
        return self._answer()

    def _search(self, query: str) -> Action:
        self._searched.append(query)
        return {"tool_calls": [call("policy_search", query=query[:400])]}

    def _topic(self) -> str:
        """Return the topic that was found first among those with a figure in a unit that answers the question."""
        units = _units_asked(self._question)
        topics: dict[str, str] = {}
        for section_id, title in self._found.items():
            about, label = subject(title)
            unit = "" if label else unit_stated(self._texts.get(section_id, self._snippets[section_id]))
            if "final sale" not in about:
                topics[about] = topics.get(about) or unit
        fitting = [about for about, unit in topics.items() if not unit or not units or unit in units]
        asked = language.words(self._question)
        named = [about for about in fitting if all(_is_among(word, asked) for word in language.words(about))]
        return max(named, key=len, default=next(iter(fitting or topics), ""))

    def _sections(self) -> list[str]:
        """Return the sections of the topic, the base first."""
        topic = self._topic()
        about = {section_id: subject(title) for section_id, title in self._found.items()}
        own = [section_id for section_id, (name, _) in about.items() if name == topic]
        own.sort(key=lambda section_id: about[section_id][1] != "")
        return own if self._skill.filters else own[:1]

    def _unfound(self) -> str:
        """Return a query for a section that the base section names and no search has shown, "" where there is none."""
        topic, about = self._topic(), [subject(self._found[section_id]) for section_id in self._sections()]
        if not self._skill.filters:
            return ""
        if all(label for _, label in about):
            queries = [topic]
        else:
            shown = {label for _, label in about}
            queries = [f"{topic} {label}" for label in self._labels() if label not in shown]
        return next((query for query in queries if query not in self._searched), "")

    def _base(self) -> str:
        """Return the text of the base section; of another one where it was not found."""
        for section_id in self._sections():
            if not subject(self._found[section_id])[1] and section_id in self._texts:
                return self._texts[section_id]
        return next(iter(self._texts.values()), "")

    def _labels(self) -> list[str]:
        return labels(self._base())

    def _conditions(self) -> dict[str, list[Outcome]]:
        read = {subject(self._found[section_id])[1]: self._texts.get(section_id) for section_id in self._sections()}
        return {label: outcomes(text) for label, text in read.items() if label and text}

    def _unknown(self) -> list[str]:
        return [label for label, found in self._conditions().items() if self._outcome(found) is None]

    def _outcome(self, found: list[Outcome]) -> Outcome | None:
        """Return what holds in the customer's case, None where they have not said."""
        amounts = language.prices(self._told)
        for outcome in found:
            if outcome.band is not None and amounts:
                least, below = outcome.band
                if least <= amounts[-1] and (below is None or amounts[-1] < below):
                    return outcome
        said = [outcome for outcome in found if outcome.value and language.is_said(outcome.value, self._told)]
        return max(said, key=lambda outcome: len(outcome.value), default=None)

    def _answer(self) -> Action:
        try:
            figure, unit = base_figure(self._base())
        except ValueError:
            return {"answer": {"done": True}}
        added = Fraction(0)
        for found in self._conditions().values():
            outcome = self._outcome(found) or (found[0] if self._skill.guesses and found else None)
            if outcome is None:
                continue
            if outcome.is_replacement:
                figure = outcome.amount
            else:
                added += outcome.amount
        is_done = self._has_proposed or not self._skill.guesses
        self._has_proposed = True
        return {"answer": {"done": is_done, **self._in_form(figure + added, unit)}}

    def _in_form(self, figure: Fraction, unit: str) -> dict[str, Any]:
        """Return the figure as the question wants it: as it is, as a date, or as a share of a price."""
        date, price = _DATE.search(self._question), language.prices(self._question)
        if date and unit == "days":
            last = datetime.strptime(date[1], "%d %B %Y").date() + timedelta(days=int(figure))
            return {"value": last.isoformat(), "unit": "date"}
        if price and unit == "percent":
            return {"value": float(figure * Fraction(str(price[0])) / 100), "unit": "USD"}
        return {"value": float(figure), "unit": unit}


def _is_among(word: str, asked: list[str]) -> bool:
    return any(language.is_slip(token, word) for token in asked)


def _units_asked(question: str) -> set[str]:
    """Return the units of rules that can answer a question; none where it does not tell."""
    tokens = language.words(question)
    named = {unit for word, unit in _UNIT_WORDS.items() if any(language.is_slip(token, word) for token in tokens)}
    if language.prices(question) and "percent" not in named and "points" not in named:
        return {"percent"}
    if _DATE.search(question):
        return {"days"}
    return named
