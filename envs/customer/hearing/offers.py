"""What an agent says to a customer who asked which of several things it meant: "both", "the first", "the colour"."""

from __future__ import annotations

from collections.abc import Sequence

from ecom_rlve.envs.customer.hearing.questions import Events
from ecom_rlve.envs.customer.hearing.topics import Question

_LONGEST = 8
"""Words of a sentence that may take up an offer; a longer one is about something else."""
_ALL = frozenset(("both", "all", "either", "each", "everything"))
_PLACES = {"first": 0, "former": 0, "second": 1, "latter": 1, "third": 2, "last": -1}


def taken_up(tokens: Sequence[str], named: Events, offered: Sequence[Question]) -> list[Question]:
    """Return the questions of an offer that a sentence takes up; none if it is about something else.

    ``named``: what its words name.
    """
    if not offered or len(tokens) > _LONGEST:
        return []
    by_name = [
        question for question in offered if any(question.topics[0] in event.topics[:1] for event in named if event.name)
    ]
    if by_name:
        return by_name
    if not _ALL.isdisjoint(tokens):
        return list(offered)
    places = dict.fromkeys(_PLACES[token] for token in tokens if token in _PLACES)
    return [offered[place] for place in places if place < len(offered)]
