"""The customer in one intent (SPEC §7): picks the acts that tell, answer, correct, confirm or leave.

The words for the acts are made elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ecom_rlve.catalog.constraints import Constraint, Op
from ecom_rlve.envs.customer.answers import MOST_FACTS, OF_GOODS, Mind, item_of, resolved
from ecom_rlve.envs.customer.draft import Draft
from ecom_rlve.envs.customer.first_message import hedged, said_at_first
from ecom_rlve.envs.customer.hearing.claims import may_claim_stockout
from ecom_rlve.envs.customer.hearing.question_words import choices_of, with_kinds
from ecom_rlve.envs.customer.hearing.reading import Reading, read
from ecom_rlve.envs.customer.hearing.topics import InMind, Question, Topics
from ecom_rlve.envs.customer.second_thoughts import SecondThoughts
from ecom_rlve.envs.customer.stockout_report import About, Report, numbered_products, report_of
from ecom_rlve.envs.customer.turn import NOTHING_HEARD, NOTHING_UNDERSTOOD, ClosedTurn, Heard, Reply, Understood
from ecom_rlve.envs.errand import Change, Intent
from ecom_rlve.envs.goal import Review, Slot
from ecom_rlve.envs.language.acts import QUANTITY, Act, ActKind, Fact, Mention
from ecom_rlve.envs.language.phrases import LABELS

_NAMED_AT_MOST = 3
"""How often the same mistake is named before the customer asks to skip it (SPEC §7)."""
_PATIENCE = 3
"""Tiresome turns in a row after which the customer leaves (SPEC §7)."""
_OFFERED_AT_MOST = 3
"""Topics that the customer names who asks which one is meant."""


class Customer:
    """One customer in one intent. The only draw is which slots the first message leaves out."""

    def __init__(self, intent: Intent[Any]) -> None:
        self._intent = intent
        self._said = said_at_first(intent)
        self.left_out = sum(slot not in self._said and not slot.is_on_request for slot in intent.slots)
        self._asks_to_excuse = -(-self.left_out // MOST_FACTS)
        kinds = {slot.fact.kind for slot in intent.slots if slot.fact.kind is not None}.union(intent.unknown)
        self._kinds = intent.kinds or tuple(sorted(kinds, key=lambda kind: kind.name))
        self._of_all = {kind.name for kind in self._kinds if kind.is_of_all}
        self._for_more = {kind.name: kind for kind in self._kinds if kind.none_left}
        self._forgotten = {kind.name for kind in intent.unknown}
        is_clear = len(intent.subjects) == 1 and all(slot.name != QUANTITY for slot in intent.slots)
        self._pronoun = "it" if is_clear else ""
        self._refused: set[Slot] = set()
        self._named: Counter[Slot | None] = Counter()
        self._free_asked: set[tuple[int | None, str]] = set()
        self._whole = frozenset(at for at, subject in enumerate(intent.subjects) if subject.is_whole)
        is_choosing = any(at not in intent.fixed for at in range(len(intent.subjects)))
        self._possible = frozenset({*(kind.name for kind in self._kinds), *(OF_GOODS if is_choosing else ())})
        self._described: set[int] = set()
        """Items that the agent has asked about without naming an attribute."""
        self._told_nothing_left = False
        self._confirmed = False
        self._fallbacks: dict[int, Act] = {}
        """What was said to take instead of products that were reported, by row."""
        self._reported: set[int] = set()
        """Positions of items of whose kind something unwanted was reported to be sold out."""
        self._has_clarified = False
        """Whether they asked which thing a report was about."""
        self._has_asked_back = False
        """Whether they asked what a question was for."""
        self._offered: tuple[Question, ...] = ()
        """What their last reply offered as the meaning of a question."""
        self._clarify_excused = False
        self._stockout_excused = False
        self._reread_excused = False
        self.second_thoughts = SecondThoughts(intent)
        self._tired = 0

    @property
    def said(self) -> frozenset[Slot]:
        """The facts that the customer has told so far."""
        return frozenset(self._said)

    def open(self) -> tuple[Act, ...]:
        """Return the first act: what is essential, and the slots that were not left out."""
        return (replace(self._intent.opened(self._said), attributes=hedged(self._intent, self._said)),)

    def hear(self, turn: ClosedTurn) -> Heard:
        """Return what a closed turn asks and claims; changes no state."""
        if not (turn.message or turn.questions or turn.changed or turn.answer):
            return NOTHING_HEARD
        readings = self._readings(turn.message, turn.questions, turn.understood)
        return Heard(
            tuple(readings),
            report=self._report(readings),
            claims_done=any(reading.claims_done for reading in readings) or turn.answer is not None,
        )

    def settles_for(self, heard: Heard) -> Change | None:
        """Return what the customer wants instead of something that the agent calls sold out; None: nothing changes."""
        stockout = self._intent.stockout
        if stockout is None or heard.report is None or heard.report.about is not About.WANTED:
            return None
        missing = stockout.missing(self._intent)
        assert missing is not None
        return stockout.settled(self._intent, missing)

    def reply(self, turn: ClosedTurn, heard: Heard, change: Change | None = None) -> Reply:
        """Return the reaction to a closed turn; ``change``, a fallback or a change of mind, is already applied."""
        draft = Draft()
        self.second_thoughts.pass_turn()
        if change is not None and change.act.kind is ActKind.REVISE:
            self._revise(change.act, draft)
        if not (turn.message or turn.questions or turn.changed or turn.answer):
            return self._settle(draft, turn)
        if heard.report is not None:
            self._take_report(heard.report, None if draft.revision is not None else change, draft)
        self._answer(heard.readings, is_open=heard.report is None and not heard.claims_done, draft=draft)
        if draft.revision is None and (turn.changed or heard.claims_done):
            # Who changes their mind does not look at what was done for what they had wanted.
            self._look(self._intent.errand.review(self._intent, turn.answer), turn.changed, draft)
        if heard.report is not None and not draft.acts and draft.revision is None:
            draft.acts.append(Act(ActKind.CONTINUE))
        return self._settle(draft, turn)

    def _revise(self, act: Act, draft: Draft) -> None:
        told = {fact for mention in act.mentions for fact in mention.facts}
        draft.revision = act
        draft.revised = tuple(slot for slot in self._intent.slots if slot.fact in told)
        self._said.update(draft.revised)

    def unclear(self, message: str, questions: tuple[str, ...]) -> list[str]:
        """Return the texts that ask something but in which the rules find no topic."""
        texts = (message, *questions) if message else questions
        readings = self._readings(message, questions, NOTHING_UNDERSTOOD)
        return [
            text
            for text, reading in zip(texts, readings, strict=True)
            if reading.is_question and not (reading.questions or reading.unknowable or reading.claims_done)
        ]

    def topics(self) -> dict[str, str]:
        """Return what a question may be about: the name of each slot → what a person calls it."""
        return {
            slot.name: slot.fact.kind.label if slot.fact.kind else LABELS[slot.fact.constraint.attribute]
            for slot in self._intent.slots
        }

    def _readings(self, message: str, questions: tuple[str, ...], understood: Understood) -> list[Reading]:
        if not (message or questions):
            return []
        topics = self._topics((message, *questions))
        readings = [read(message, topics)] if message else []
        readings += [read(question, topics, asked_directly=True) for question in questions]
        if not understood:
            return readings
        known = self.topics()
        texts = (message, *questions) if message else questions
        named = [tuple(name for name in understood.get(text, ()) if name in known) for text in texts]
        return [
            reading
            if reading.questions or not names
            else replace(reading, questions=tuple(Question(None, (name,)) for name in names))
            for reading, names in zip(readings, named, strict=True)
        ]

    def _report(self, readings: Sequence[Reading]) -> Report | None:
        claimed = [each for reading in readings for each in reading.sold_out]
        if not claimed:
            return None
        return report_of(self._intent, claimed, " ".join(reading.claim for reading in readings))

    def _topics(self, texts: Sequence[str]) -> Topics:
        world = self._intent.world
        return Topics(
            items=tuple((subject.singular, subject.plural) for subject in self._intent.subjects),
            value_index=world.shop.value_index,
            products=numbered_products(self._intent)
            if any(may_claim_stockout(text.casefold()) for text in texts)
            else {},
            phrases=with_kinds(self._kinds),
            in_mind=tuple(
                InMind(
                    item_of(slot, self._of_all),
                    (slot.name, slot.fact.constraint.attribute),
                    slot in self._said,
                )
                for slot in self._intent.slots
            ),
            possible=self._possible,
            whole=self._whole,
            choices=choices_of(self._kinds),
            offered=self._offered,
        )

    def _mention(self, item: int, slots: Iterable[Slot]) -> Mention:
        subject = self._intent.subjects[item]
        return Mention(subject.singular, subject.plural, tuple(slot.fact for slot in slots), self._pronoun)

    def _take_report(self, report: Report, change: Change | None, draft: Draft) -> None:
        """React to a report that something is sold out. Only the acknowledgement of a true one says nothing itself."""
        known = next((self._fallbacks[row] for row in report.rows if row in self._fallbacks), None)
        leaves_choice = self._intent.stockout is None or self._intent.stockout.leaves_choice
        if change is not None:
            self._fallbacks.update(dict.fromkeys(report.rows, change.act))
            told = {fact for mention in change.act.mentions for fact in mention.facts}
            self._said.update(slot for slot in self._intent.slots if slot.fact in told)
            draft.acts.append(change.act)
            draft.fell_back = True
        elif known is not None and report.about is not About.UNCLEAR:
            draft.acts.append(known)
            draft.is_tiresome = True
        elif report.about is About.UNTRUE and (report.rows or not leaves_choice):
            draft.acts.append(Act(ActKind.STILL_THERE, self._mentions(report.items)))
            draft.is_tiresome = True
        elif leaves_choice:
            return
        elif report.about is About.UNCLEAR:
            draft.acts.append(Act(ActKind.CLARIFY, self._mentions(report.items)))
            draft.is_tiresome |= self._has_clarified
            self._has_clarified = True
        else:
            draft.is_tiresome |= bool(set(report.items) & self._reported)
            self._reported.update(report.items)

    def _mentions(self, items: Sequence[int]) -> tuple[Mention, ...]:
        return tuple(self._mention(item, ()) for item in items)

    def _answer(self, readings: tuple[Reading, ...], *, is_open: bool, draft: Draft) -> None:
        questions = list(dict.fromkeys(question for reading in readings for question in reading.questions))
        unknowable = tuple(dict.fromkeys(name for reading in readings for name in reading.unknowable))
        if questions:
            self._answer_named(questions, draft)
        if unknowable:
            draft.acts.append(Act(ActKind.DONT_KNOW, attributes=unknowable))
        if not is_open or questions or unknowable:
            return
        if any(reading.is_open for reading in readings):
            self._answer_open({item for reading in readings for item in reading.items}, draft)
        elif any(reading.is_unread for reading in readings):
            self._clarify((), draft)

    def _answer_named(self, questions: list[Question], draft: Draft) -> None:
        torn = next((question for question in questions if question.is_torn), None)
        if torn is not None and len(questions) == 1 and not self._offered:
            self._offer(torn, draft)
            return
        found = resolved(questions, self._mind())
        # What is revised is told by the revision.
        told = [slot for slot in found.told if slot not in draft.revised]
        draft.told_new = any(slot not in self._said for slot in told)
        if told:
            draft.acts.append(self._tell(told))
        draft.acts += [self._none_left(item, name) for item, name in found.nothing_more]
        free = [(item, name) for item, name in found.not_in_mind if self._leaves_free(item, name)]
        unknown = dict.fromkeys(name for item, name in found.not_in_mind if (item, name) not in free)
        if free:
            items = dict.fromkeys(item for item, _ in free if item is not None)
            mentions = tuple(self._mention(item, ()) for item in items)
            draft.acts.append(Act(ActKind.NO_PREFERENCE, mentions, tuple(dict.fromkeys(name for _, name in free))))
        if unknown:
            draft.acts.append(Act(ActKind.DONT_KNOW, attributes=tuple(unknown)))
        untold = {*free, *found.nothing_more}
        is_repeated = (bool(found.told) and not draft.told_new) or (bool(untold) and untold <= self._free_asked)
        draft.is_tiresome |= is_repeated and not draft.told_new
        self._free_asked |= untold

    def _mind(self) -> Mind:
        return Mind(self._intent.slots, self._said, self._of_all, self._for_more, self._whole)

    def _offer(self, torn: Question, draft: Draft) -> None:
        """Ask which topic of one word is meant; the next turn may take one up, or both."""
        meant = [name for name, slots in self._mind().meant(torn) if any(slot not in self._said for slot in slots)]
        self._clarify(tuple(meant[:_OFFERED_AT_MOST]), draft)
        draft.offered = tuple(Question(torn.item, (name,)) for name in meant[:_OFFERED_AT_MOST])

    def _clarify(self, names: tuple[str, ...], draft: Draft) -> None:
        """Ask what a question is for. The first time it is nobody's fault."""
        draft.acts.append(Act(ActKind.CLARIFY, attributes=names))
        draft.is_tiresome |= self._has_asked_back
        draft.asked_back = True
        self._has_asked_back = True

    def _none_left(self, item: int | None, name: str) -> Act:
        """Return word that there is no more of a kind of thing than was told."""
        kind, subject = self._for_more[name], self._intent.subjects[item or 0]
        fact = Fact(name, Constraint(name, Op.EQ, kind.none_left), kind=kind)
        return Act(ActKind.ANSWER, (Mention(subject.singular, subject.plural, (fact,)),))

    def _leaves_free(self, item: int | None, name: str) -> bool:
        """Tell whether any value will do for an attribute that is no slot; if not, the customer does not know it."""
        return name not in self._forgotten and self._intent.leaves_free(item)

    def _answer_open(self, items: set[int], draft: Draft) -> None:
        draft.named_nothing = True
        unsaid = [slot for slot in self._intent.slots if slot not in self._said]
        of_items = [slot for slot in unsaid if slot.item in items]
        # Of an item they tell as much as of three attributes when they are first asked what it should be like.
        count = MOST_FACTS if items - self._described else 1
        if unsaid:
            self._described |= items
            draft.acts.append(self._tell(of_items[:count] or unsaid[:1]))
            return
        if draft.revision is not None:
            return
        # Who has told everything looks at what was done before they say so: it may be wrong.
        review = self._intent.errand.review(self._intent, None)
        if review.wrong or review.stray:
            self._look(review, False, draft)
            return
        draft.acts.append(Act(ActKind.NOTHING_LEFT))
        draft.is_tiresome |= self._told_nothing_left
        self._told_nothing_left = True

    def _tell(self, slots: list[Slot]) -> Act:
        self._said.update(slots)
        self._said.update(slot.named_by for slot in slots if slot.named_by is not None)
        items = dict.fromkeys(slot.item for slot in slots)
        mentions = tuple(self._mention(item, [slot for slot in slots if slot.item == item]) for item in items)
        return Act(ActKind.ANSWER, mentions)

    def _look(self, review: Review, changed: bool, draft: Draft) -> None:
        before = len(draft.acts)
        for slot in review.wrong:
            self._correct(slot, review, draft)
        if review.stray and self._named[None] < _NAMED_AT_MOST:
            draft.acts.append(Act(ActKind.REJECT))
            draft.is_tiresome |= self._named[None] > 0
            self._named[None] += 1
        # Once a slot was refused, nothing is confirmed until the agent has asked for its value. A change may have
        # replaced the slot since; then there is nothing to wait for.
        is_waiting = any(slot in self._refused and slot not in self._said for slot in self._intent.slots)
        if review.complete and not self._confirmed and not is_waiting:
            draft.acts.append(Act(ActKind.CONFIRM))
            self._confirmed = draft.confirmed = True
        elif len(draft.acts) == before:
            draft.is_tiresome |= not changed
            if not draft.acts:
                draft.acts.append(Act(ActKind.CONTINUE))

    def _correct(self, slot: Slot, review: Review, draft: Draft) -> None:
        """Correct one wrong slot: with its value if that was said before; otherwise once, without the value."""
        attribute = (slot.fact.constraint.attribute,)
        if slot not in self._said:
            if slot not in self._refused and not review.hides_unsaid:
                self._refused.add(slot)
                draft.acts.append(Act(ActKind.CORRECT, (self._mention(slot.item, ()),), attribute))
            return
        if self._named[slot] == _NAMED_AT_MOST:
            return
        self._named[slot] += 1
        draft.is_tiresome |= self._named[slot] > 1
        draft.acts.append(Act(ActKind.CORRECT, (self._mention(slot.item, (slot,)),)))
        if self._named[slot] == _NAMED_AT_MOST:
            draft.acts.append(Act(ActKind.SKIP, (self._mention(slot.item, ()),), attribute))

    def _settle(self, draft: Draft, turn: ClosedTurn) -> Reply:
        is_caused = self._is_caused(draft, turn)
        revision = () if draft.revision is None else (draft.revision,)
        self._offered = draft.offered
        if not draft.acts:
            return Reply(revision, is_caused)
        has_news = draft.told_new or draft.fell_back or draft.confirmed
        self._tired = self._tired + 1 if draft.is_tiresome and not has_news else 0
        if self._tired >= _PATIENCE:
            return Reply((Act(ActKind.GIVE_UP),), is_customer_caused=False, leaves=True)
        return Reply((*draft.acts, *revision), is_caused, excuses_nothing=draft.excuses_nothing)

    def _is_caused(self, draft: Draft, turn: ClosedTurn) -> bool:
        """Tell whether the turn is the customer's own doing (SPEC §2.3); what it uses up is excused only once."""
        if draft.excuses_nothing:
            return False
        if draft.revision is not None or (draft.confirmed and turn.changed):
            return True
        if turn.has_calls:
            is_reread = turn.met_stockout and not self._reread_excused
            self._reread_excused |= is_reread
            return is_reread
        if draft.fell_back and not self._stockout_excused:
            self._stockout_excused = True
            return True
        if draft.told_new and self._asks_to_excuse:
            self._asks_to_excuse -= 1
            return True
        if draft.asked_back and not self._clarify_excused:
            self._clarify_excused = True
            return True
        return draft.confirmed
