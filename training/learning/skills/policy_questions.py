"""Skills for POLICY: search with these words, read that section, ask for the condition, answer in this form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from ecom_rlve.evaluation.agents.policy_questions.reading import Outcome, base_figure, labels, outcomes, subject
from ecom_rlve.models import Observation, ToolResult
from ecom_rlve.training.learning.matching import MONTHS, likeness, money_in, words_in
from ecom_rlve.training.learning.notebook import Notebook, how_many, question, submit, use
from ecom_rlve.training.learning.policy import Candidate

_MOST_SECTIONS = 8
"""Sections of a search that are offered, and read sections of which an answer is offered, best match first."""
_NEARNESS = ("best top", "best", "near top", "near", "far top", "far")
"""How near a section's topic is to the question, by the words that they share and by the first search's order."""
_MOST_TOPICS = 3
"""Sections whose topics are searched for."""
_STOP = frozenset("the a an of and to for in on is by from or our how".split())
_DOLLARS = ("dollars", "money")
_PERCENT = ("percent", "percentage", "rate")
_FULL_DAY = re.compile(rf"\b(\d{{1,2}}) ({'|'.join(MONTHS)}) (\d{{4}})\b")


class Section(NamedTuple):
    """A section of the policy book as a search has shown it."""

    id: str
    title: str
    topic: str
    label: str
    """The condition that it is about; empty for a base."""
    rank: int


class PolicyNotes(Notebook):
    """Notes of one POLICY episode."""

    def __init__(self, opening: Observation) -> None:
        self.found: dict[str, Section] = {}
        self.texts: dict[str, str] = {}
        self.today = opening.today or ""
        self._asked_last = ""
        self._replies: dict[str, str] = {}
        """By condition: what the customer said when asked for it."""
        super().__init__(opening)

    def note(self, chosen: Candidate) -> None:
        super().note(chosen)
        self._asked_last = chosen.asks[0] if chosen.skill == "ask" else ""

    def read(self, seen: Observation) -> None:
        super().read(seen)
        if self._asked_last and seen.user_message:
            self._replies.setdefault(self._asked_last, seen.user_message)

    def take(self, result: ToolResult) -> None:
        fields = result.result or {}
        for rank, each in enumerate(fields.get("results", ())):
            topic, label = subject(each["title"])
            self.found.setdefault(each["section_id"], Section(each["section_id"], each["title"], topic, label, rank))
        if "text" in fields:
            self.texts[fields["section_id"]] = fields["text"]

    def offers(self) -> list[Candidate]:
        return [
            *self._searches(),
            *self._reads(),
            *self._questions(),
            # Before any section was read there is nothing to answer.
            *(self._answers() if self.texts else ()),
        ]

    def _searches(self) -> Iterator[Candidate]:
        queries = {self.first[:400]: "message"}
        for section in self._near()[:_MOST_TOPICS]:
            queries.setdefault(section.topic, f"topic,{self._nearness(section)}")
            for label in labels(self.texts.get(section.id, "")):
                is_found = any(each.topic == section.topic and each.label == label for each in self.found.values())
                queries.setdefault(f"{section.topic} {label}", f"condition,{self._nearness(section)},{is_found}")
        for query, kind in queries.items():
            yield Candidate("search", use("policy_search", query=query), (kind,))

    def _reads(self) -> Iterator[Candidate]:
        for section in self._near():
            own = (
                f"near:{self._nearness(section)},base:{not section.label}",
                f"rank:{how_many(section.rank)}",
            )
            yield Candidate("read", use("policy_get", section_id=section.id), own)

    def _questions(self) -> Iterator[Candidate]:
        yield question(self, "ask", "anything", "Is there anything else that I should know?", "anything")
        for label in dict.fromkeys(section.label for section in self._near() if section.label):
            sections = [section for section in self._near() if section.label == label]
            own = min((self._nearness(each) for each in sections), key=_NEARNESS.index)
            stated = any(self._outcome(each) is not None for each in sections if self._nearness(each) == own)
            is_read = any(each.id in self.texts for each in sections if self._nearness(each) == own)
            again = how_many(self.asked[label], 2)
            yield question(self, "ask", label, f"What is the {label}?", f"{own},{stated},{is_read},{again}")

    def _answers(self) -> Iterator[Candidate]:
        """Yield an answer of each form for every base that was read: alone, and with what holds in this case."""
        for section in self._near():
            if section.label or section.id not in self.texts:
                continue
            try:
                figure, unit = base_figure(self.texts[section.id])
            except ValueError:
                continue
            own = f"near:{self._nearness(section)}"
            whole, missing = self._worked_out(section, figure)
            for kind, value in (("base", figure), ("whole", whole)):
                for form, answer in self._forms(value, unit).items():
                    lacks = how_many(missing, 2) if kind == "whole" else ""
                    # One skill for every form: what is learnt of when to answer holds for all of them.
                    yield Candidate("submit", submit(**answer), (f"{own},{kind},{lacks}", *self._asks(form, unit)))

    def _asks(self, form: str, unit: str) -> tuple[str, ...]:
        """Return what the question holds that tells in which form the answer is wanted."""
        has_day, has_money = day_in(self.first, self.today) is not None, bool(money_in(self.first))
        speaks_of = ",".join(str(_speaks_of(self.first, *words)) for words in (_DOLLARS, _PERCENT))
        return f"asks:{form},{unit},{has_day},{has_money}", f"speaks:{form},{unit},{speaks_of}"

    def _forms(self, value: Fraction, unit: str) -> dict[str, dict[str, object]]:
        found: dict[str, dict[str, object]] = {"figure": {"value": float(value), "unit": unit}}
        day = day_in(self.first, self.today)
        if day is not None and abs(value) < 10_000:
            last = day + timedelta(days=int(value))
            found["date"] = {"value": last.isoformat(), "unit": "date"}
        for at, amount in enumerate(dict.fromkeys(money_in(self.first))):
            found[f"share {at}"] = {"value": float(value * amount / 10_000), "unit": "USD"}
        return found

    def _near(self) -> list[Section]:
        """Return the sections found, those of topics that the question speaks of first."""
        ordered = sorted(self.found.values(), key=lambda each: (-self._overlap(each.topic), each.rank, each.id))
        return ordered[:_MOST_SECTIONS]

    def _overlap(self, topic: str) -> float:
        return overlap(topic, self.first)

    def _nearness(self, section: Section) -> str:
        best = max((self._overlap(each.topic) for each in self.found.values()), default=0.0)
        own = self._overlap(section.topic)
        is_top = section.topic == next(iter(self.found.values())).topic
        return f"{'best' if own == best else 'near' if own > 0 else 'far'}{' top' if is_top else ''}"

    def _worked_out(self, base: Section, figure: Fraction) -> tuple[Fraction, int]:
        """Return the figure with all that is known of the case, and how many of the named conditions are not."""
        added, missing = Fraction(0), 0
        for label in labels(self.texts[base.id]):
            section = next((s for s in self.found.values() if s.topic == base.topic and s.label == label), None)
            outcome = self._outcome(section) if section is not None else None
            if outcome is None:
                missing += 1
            elif outcome.is_replacement:
                figure = outcome.amount
            else:
                added += outcome.amount
        return figure + added, missing

    def _outcome(self, section: Section) -> Outcome | None:
        """Return what the text of a section says of the customer's case; None where either is unknown."""
        if section.id not in self.texts:
            return None
        # What was said on one condition may hold words of another's values, so its own reply goes first.
        replies = (self._replies[section.label],) if section.label in self._replies else ()
        found = (holding(self.texts[section.id], message) for message in (*replies, *self.said))
        return next((outcome for outcome in found if outcome is not None), None)

    def state(self) -> tuple[str, ...]:
        near = [each for each in self._near() if self._nearness(each).startswith("best")]
        unread = sum(each.id not in self.texts for each in near)
        open_labels = sum(bool(each.label) and self._outcome(each) is None for each in near)
        named = {label for each in near for label in labels(self.texts.get(each.id, ""))}
        lost = len(named - {each.label for each in near})
        return (
            *super().state(),
            f"found:{bool(self.found)}",
            f"unread:{how_many(unread)}",
            f"open:{how_many(open_labels)}",
            f"lost:{how_many(lost, 2)}",
        )


@lru_cache(maxsize=1 << 14)
def _speaks_of(text: str, *words: str) -> bool:
    return any(likeness(word, text.casefold()) > 0 for word in words)


@lru_cache(maxsize=1 << 14)
def overlap(topic: str, text: str) -> float:
    """Return the share of a topic's words that a text holds, endings and single typing errors aside."""
    words = [word for word in re.findall(r"[a-z]+", topic) if word not in _STOP]
    said = words_in(text)
    return sum(any(_is_alike(word, other) for other in said) for word in words) / max(1, len(words))


def _is_alike(word: str, other: str) -> bool:
    least = min(len(word), len(other))
    return word == other or (least >= 4 and word[: max(4, least - 3)] == other[: max(4, least - 3)])


@lru_cache(maxsize=1 << 14)
def holding(section: str, said: str) -> Outcome | None:
    """Return the outcome of a section for what the customer said; None where they have not said it."""
    found = outcomes(section)
    if any(each.band for each in found):
        return _banded(found, said)
    text = said.casefold()
    values = [each.value.casefold() for each in found]
    shown = [(likeness(value, text) if value else 0.0, len(value), -at) for at, value in enumerate(values)]
    best = max(shown, default=(0.0, 0, 0))
    return found[-best[2]] if best[0] > 0 else None


def _banded(found: list[Outcome], said: str) -> Outcome | None:
    for cents in reversed(money_in(said)):
        for each in found:
            least, below = each.band or (0, 0)
            if least <= cents / 100 and (below is None or cents / 100 < below):
                return each
    return None


def day_in(text: str, today: str) -> date | None:
    """Return the first whole date in a text; one without a year is the last such day up to today."""
    match = _FULL_DAY.search(text)
    if match:
        return date(int(match[3]), MONTHS.index(match[2]) + 1, int(match[1]))
    match = re.search(rf"\b(\d{{1,2}}) ({'|'.join(MONTHS)})\b", text)
    if not match or not today:
        return None
    now = date.fromisoformat(today)
    day, month = int(match[1]), MONTHS.index(match[2]) + 1
    try:
        this = date(now.year, month, day)
    except ValueError:
        return None
    return this if this <= now else date(now.year - 1, month, day)
