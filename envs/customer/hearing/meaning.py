"""What the parts of a question mean, among what this customer has in mind (SPEC §7, Hearing).

Words name sets of topics, and the classifier gives the topics that a part may be for. Both are weighed against the
facts in mind: words decide where they name one, unless the classifier is sure of another that is unsaid.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from ecom_rlve.envs.customer.hearing.classifier import CHECK, NO_TOPICS, OPEN, SCALE, STATEMENT, UNKNOWABLE, classifier
from ecom_rlve.envs.customer.hearing.events import LINKS, Part
from ecom_rlve.envs.customer.hearing.questions import Event, Events
from ecom_rlve.envs.customer.hearing.topics import Question, Topics
from ecom_rlve.envs.language.phrases import LABELS

_NEAR = 4 * SCALE
"""So far behind the likeliest of all topics may be one in mind that is meant."""
_FAR = 8 * SCALE
"""So far ahead of one in mind is another topic of which a part surely is, though this customer has nothing to do with
it: the order's date, asked of someone who plans a party."""
_SURE = SCALE
"""So far ahead of all that asks for nothing is what a part surely asks for."""
_LEAD = {
    "unsaid": 3 * SCALE,
    "said": SCALE,
    "none": SCALE,
    "value": SCALE,
    "unit": SCALE,
    "part": 2 * SCALE,
    "whole": 3 * SCALE,
}
"""So far ahead of what words name must be another topic to be meant instead, by what is known of what they name."""
_BARE = 2
"""Words of a question that tells nothing but what kind of answer it wants: "how big?"."""
_TIE = SCALE // 8
"""So near to the likeliest is a topic that may as well be meant."""
_QUESTION_STARTS = frozenset(
    "what which how where when why who is are was were do does did will would should has have can may and".split()
)
_DOUBT = SCALE // 2
"""So far ahead may be that it asks for nothing, of what is worded as a question."""
_LEAD_IN = 5
"""Words of a part that only says what a question is about: "regarding the lamp: …"."""
_STATEMENT_LEAD = 4 * SCALE
"""So likely must be that a statement asks for something, and for a topic rather than for nothing, both together. On
statements and writers that were left out of the training, that heard most at about one wrong verdict in a hundred."""
_LABEL_LEAD = SCALE
"""So likely must be that a label does, an entry of a form: "size:"."""
_REPORT = re.compile(
    r"^(?:the |your |my |a )?(?:you|he|she|they|customer|friend|boss|wife|husband|mother|father|manager|colleague"
    r"|account|profile|file|history|order|record|system|screen)"
    r"(?: (?:have|had|has|just|also|already|called|and))*"
    r" (?:said|says|told|wants?|wanted|asked|chose|prefers?|decided)\b"
    r"|^(?:many|most|few|several|lots of|other) (?:people|customers|buyers|shoppers|users)"
    r" (?:like|love|prefer|choose|buy|want|praise)\b"
    r"|^(?:got it|noted|understood)\b"
    r"|^i(?:'ve| have) (?:lowered|raised|reduced|increased|set|changed|updated|switched|swapped|removed)\b"
)
"""A statement of what somebody or a record said or wants, or of what was heard or done, asks this customer nothing."""
_COMPARED = re.compile(
    r"^(?!(?:what|which)(?! of| wins| matters| counts| is more| one| comes))"
    r".*\b(?:or|over|than|before|versus|vs|beats?|most|first|more|matters?|wins?|trump|ahead)\b"
)
"""Words that put topics against each other. What starts with "which price" asks for the topics themselves."""
_WEIGHED = re.compile(
    r"\b(?:first|matters?|counts?|care|important|mostly|mainly|heart|decid\w+|priorit\w+|above all)\b"
)
"""Words that weigh one topic against all others: "is the price what counts?"."""
_WORDLESS = frozenset("what how which huh one come so and but ok okay please sorry pardon really".split())
"""Words that ask for nothing where no others stand beside them: "what?", "how come?"; so does "why?" where nobody is to
give a reason. What they are likeliest to mean would be an arbitrary fact."""
_JOINTS = re.compile(r"[-/.&]")
"""What joins the pieces of one word: "fragrance-free"."""
_INJECTION = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass|system|developer|admin|debug|prompt|instructions?|reveal|hidden"
    r"|secret|jailbreak|simulat\w+)\b"
)
"""Words of those who want to talk a customer out of their part; a statement that holds one never asks."""


class Verdict(NamedTuple):
    """What the classifier makes of some words."""

    best: str | None
    """The topic in mind that is likeliest meant, an unsaid one before a said one; None: none may be meant."""
    is_sure: bool
    """``best`` is ahead of every other topic that is possible, and of all that asks for nothing."""
    scores: Mapping[str, int]
    nothing: str
    """The likeliest of the classes that ask for no fact."""
    top: int
    """Score of the likeliest topic of all that are possible, in mind or not."""
    is_known: bool
    """There is a word among them that the classifier knows, and that says something by itself."""

    @property
    def is_nothing(self) -> bool:
        """Whether a class that asks for no fact is ahead of every topic."""
        return self.scores[self.nothing] > self.top

    @property
    def likeliest(self) -> str:
        """The likeliest of all topics and classes, in mind or not."""
        return max(self.scores, key=self.scores.__getitem__)

    def lead(self, topics: Collection[str]) -> int:
        """Return how far ``best`` is ahead of the likeliest of these topics."""
        rivals = [self.scores[name] for name in topics if name in self.scores]
        return self.scores[self.best or self.nothing] - max(rivals, default=-100 * SCALE)


@lru_cache(maxsize=64)
def _scores(words: str) -> Mapping[str, int]:
    """Return the classifier's scores; remembered, since a sentence is weighed several times in a turn."""
    return classifier().scores(words)


def verdict(words: Sequence[str], item: int | None, topics: Topics, named: Collection[str] = ()) -> Verdict:
    """Return what the classifier makes of some words about an item (None: of some item)."""
    scores = _scores(" ".join(words))
    nothing = max(NO_TOPICS, key=scores.__getitem__)
    rivals = topics.possible.union(named)
    top = max((score for name, score in scores.items() if name in rivals and name not in NO_TOPICS), default=-(1 << 20))
    least = max(top - _NEAR, max(scores.values()) - _FAR)
    best = None
    wordless = _WORDLESS if "reason" in topics.names(item) else _WORDLESS | {"why"}
    pieces = [piece for word in words for piece in (word, *_JOINTS.split(word))]
    is_known = any(classifier().speller.knows(piece) and piece not in wordless for piece in pieces)
    for is_said in (False, True):
        names = topics.names(item, is_said=is_said)
        near = [name for name in scores if is_known and name in names and scores[name] >= least]
        best = best or max(near, key=scores.__getitem__, default=None)
    is_sure = best is not None and scores[best] >= top and scores[best] > scores[nothing] + _SURE
    return Verdict(best, is_sure, scores, nothing, top, is_known)


def meant(part: Part, item: int | None, topics: Topics, *, is_whole: bool) -> Events:
    """Return the events of a part with what it means instead of what its words seem to name.

    ``is_whole``: it is the whole sentence, and asks; then what is likeliest is meant.
    """
    named = [event for event in part.events if event.name and not event.is_unknowable]
    sets = [name for event in named for name in event.topics]
    found = verdict(part.words, item, topics, sets)
    best = found.best
    if not is_whole and found.nothing == STATEMENT and found.is_nothing and found.lead((STATEMENT,)) < -_LEAD["said"]:
        return [event for event in part.events if event.items]
    unknowable = [event for event in part.events if event.is_unknowable]
    if unknowable and not named:
        may_be = topics.names(item).intersection(*(event.others for event in unknowable)) if unknowable else ()
        if best is None or found.lead((UNKNOWABLE,)) < (_SURE if best not in may_be else 0):
            return part.events
    elif not named:
        if not is_whole and len(part.words) <= _LEAD_IN and part.events and part.words[0] not in _QUESTION_STARTS:
            return part.events
        if best is None or not (found.is_sure or _is_likely(part, found, is_whole=is_whole)):
            return part.events
    elif not _is_overruled(named, sets, found, item, topics):
        unsaid = topics.names(item, is_said=False)
        names = topics.names(item) if unsaid.isdisjoint(sets) else unsaid
        return [_ordered(event, found, names) for event in part.events if not _is_aside(event, sets, found)]
    if best is None:
        return part.events
    at = next((event.start for event in (*named, *unknowable)), -1)
    kept = [event for event in part.events if event.items]
    return sorted([Event(at, at + 1, name=best), *kept], key=lambda event: event.start)


def _is_likely(part: Part, found: Verdict, *, is_whole: bool) -> bool:
    """Tell whether a question that names nothing is likelier for what is in mind than for nothing."""
    if is_whole:
        return found.lead((found.nothing,)) > (0 if found.nothing in (CHECK, OPEN) else -_DOUBT)
    is_ahead = found.scores[found.best or found.nothing] >= found.top
    return is_ahead and part.words[0] in _QUESTION_STARTS and found.lead((found.nothing,)) > 0


def _is_overruled(named: Events, sets: Sequence[str], found: Verdict, item: int | None, topics: Topics) -> bool:
    """Tell whether something else is meant than what words name."""
    if found.best is None or found.best in sets:
        return False
    is_vague = all(event.is_vague for event in named)
    if topics.holds_unsaid(item, [event.name for event in named if event.is_label]):
        return False
    if topics.holds_unsaid(item, sets):
        return found.is_sure and found.lead(sets) >= _LEAD["value" if is_vague else "unsaid"]
    if topics.holds(item, sets):
        is_unsaid = found.best in topics.names(item, is_said=False)
        return found.is_sure and is_unsaid and found.lead(sets) >= _LEAD["said"]
    return found.lead((found.nothing,)) > 0 and (is_vague or (found.is_sure and found.lead(sets) >= _LEAD["none"]))


def _is_aside(event: Event, sets: Sequence[str], found: Verdict) -> bool:
    """Tell whether an event only says more of what its part surely asks for: "fresh linen" of "a fresh linen smell"."""
    if not event.name or event.is_label or found.best in event.topics or found.best not in sets or not found.is_sure:
        return False
    return event.is_vague and found.lead(event.topics) >= _LEAD["value"]


def _ordered(event: Event, found: Verdict, names: Collection[str]) -> Event:
    """Return a named set with the likeliest topic in mind first."""
    in_mind = [name for name in event.topics if name in names]
    if not in_mind:
        return event
    name = in_mind[0]
    if event.is_vague:
        least = _LEAD["unit"] if event.is_bare_number else 0
        likely = max(in_mind, key=lambda name: found.scores.get(name, -100 * SCALE))
        name = likely if found.scores.get(likely, 0) - found.scores.get(name, 0) >= least else name
    return event._replace(name=name, others=tuple(other for other in event.topics if other != name))


def joined(before: Part, whole: Part) -> Part:
    """Return a question together with the sentence that it leans on: "it comes in many scents. Which one?"."""
    return Part([*before.events, *whole.events], [*before.words, *whole.words])


def choice(whole: Part, item: int | None, topics: Topics) -> Events:
    """Return what a question asks for that offers values of one unsaid kind ("price or rating?"); else nothing.

    One value is enough where the words surely ask for the kind: "price first?".
    """
    named = {event.name for event in whole.events if event.name}
    kinds = [kind for kind in topics.choices if topics.holds_unsaid(item, (kind,))]
    words = " ".join(whole.words) if kinds else ""
    is_compared, is_weighed = (pattern.search(words) is not None for pattern in (_COMPARED, _WEIGHED))
    for kind in kinds:
        values = topics.choices[kind]
        is_offered = is_compared and len(named & values) > 1
        if is_offered or (is_weighed and len(named) == 1 and named <= values and surely(kind, whole, item, topics)):
            return [Event(0, 1, name=kind), *(event for event in whole.events if event.items)]
    return []


def surely(name: str, whole: Part, item: int | None, topics: Topics) -> bool:
    """Tell whether a sentence surely asks for this topic, and it is in mind."""
    found = verdict(whole.words, item, topics)
    return found.best == name and found.is_sure


def names_in_mind(part: Part, item: int | None, topics: Topics) -> bool:
    """Tell whether words of a part name something in mind; values and numbers do not."""
    named = (event for event in part.events if event.name and not (event.is_vague or event.is_unknowable))
    return any(topics.holds(item, event.topics) for event in named)


def leads_in(part: Part) -> bool:
    """Tell whether a part neither names anything nor starts like a question."""
    return not any(event.name for event in part.events) and part.words[0] not in _QUESTION_STARTS


def is_one(parts: Sequence[Part], whole: Part, item: int | None, topics: Topics) -> bool:
    """Tell whether a sentence of several parts surely asks for one thing, which its parts only say more of.

    It offers values and names no topic ("how do you take it, as drops or pills?"), or it is for one thing by far, names
    no other, and no part is surely for another: "what do you store on it, so how many gigabytes?".
    """
    found = verdict(whole.words, item, topics)
    if found.best is None or not found.is_sure or any(event.is_unknowable for event in whole.events):
        return False
    words = set(whole.words)
    if "or" in words and words.isdisjoint(LINKS) and all(event.is_vague for event in whole.events if event.name):
        return True
    is_named = all(event.is_vague or found.best in event.topics for event in whole.events if event.name)
    if not is_named or found.lead(topics.names(item) - {found.best}) < _LEAD["whole"]:
        return False
    own = [verdict(part.words, item, topics) for part in parts]
    return all(each.best == found.best or each.lead((found.best,)) < _LEAD["part"] for each in own if each.is_sure)


def resolved(whole: Part, item: int | None, topics: Topics) -> Events:
    """Return the events of a whole sentence that asks; none if they mean nothing in mind."""
    events = meant(whole, item, topics, is_whole=True)
    return events if any(topics.holds(item, event.topics) for event in events if event.name) else []


def asks(whole: Part, item: int | None, topics: Topics, *, is_label: bool = False) -> bool:
    """Tell whether a statement surely asks for something in mind: "I'd still need the size".

    ``is_label``: it ends with a colon.
    """
    words = " ".join(whole.words)
    if not words or _INJECTION.search(words) or _REPORT.search(words):
        return False
    found = verdict(whole.words, item, topics)
    if found.best not in topics.names(item, is_said=False):
        return False
    lead = classifier().asks(words) + found.top - found.scores[STATEMENT]
    least = _LABEL_LEAD if is_label else _STATEMENT_LEAD
    return lead > least and found.top > max(found.scores[name] for name in NO_TOPICS if name != STATEMENT)


def torn(question: Question, whole: Part, topics: Topics) -> Question:
    """Return a question marked as torn if its words leave open which of several unsaid topics of its set is meant."""
    words = whole.words
    unsaid = topics.names(question.item, is_said=False).intersection(question.topics)
    if len(unsaid) < 2 or _is_called(question.topics[0], words):
        return question
    if len(words) <= _BARE and any(event.is_vague and event.others for event in whole.events):
        return question._replace(is_torn=True)
    scores = classifier().scores(" ".join(words))
    ranked = sorted((scores[name] for name in unsaid if name in scores), reverse=True)
    return question._replace(is_torn=len(ranked) > 1 and ranked[0] - ranked[1] <= _TIE)


def _is_called(topic: str, words: Sequence[str]) -> bool:
    """Tell whether words hold the very name of a topic of an environment's own: "the budget"."""
    return topic not in LABELS and f" {topic.replace('_', ' ')} " in f" {' '.join(words)} "
