"""An episode as a conversation for people."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ecom_rlve.client.text import found
from ecom_rlve.evaluation.judging.traces import ReadTrace, shown_action
from ecom_rlve.models import Observation

LONGEST = 1200
"""Most characters that are shown of what anybody says: an agent may write half a megabyte."""
LONGEST_FOUND = 300
"""Most characters that are shown of what a tool found: a list of products is longer, and its beginning tells most."""
Speaker = Literal["customer", "agent", "call", "store", "end"]


@dataclass(frozen=True, slots=True)
class Said:
    """One thing that was said, called or found."""

    speaker: Speaker
    text: str


def transcript(trace: ReadTrace) -> list[Said]:
    """Return an episode from the customer's first words to its end."""
    return [
        Said(each.speaker, _short(each.text, LONGEST_FOUND if each.speaker == "store" else LONGEST))
        for each in _said(trace)
    ]


def _said(trace: ReadTrace) -> Iterator[Said]:
    yield Said("customer", trace.opening.user_message)
    for step in trace.steps:
        words, calls = shown_action(step.action)
        if words:
            yield Said("agent", words)
        for name, args in calls:
            yield Said("call", f"{name} {args}")
        yield from _answered(step.seen)


def _answered(seen: Observation) -> Iterator[Said]:
    for result in seen.tool_results:
        if result.name != "ask_user":
            yield Said("store", f"{result.name}: {found(result)}")
    if seen.user_message:
        yield Said("customer", seen.user_message)
    if seen.result is not None:
        ended = seen.result
        why = f": {ended.reason}" if ended.reason else ""
        errors = f"; tool errors: {json.dumps(ended.tool_errors)}" if ended.tool_errors else ""
        yield Said(
            "end",
            f"{ended.termination}{why}; {ended.turns} turns, {ended.effective_turns} counted; "
            f"task {ended.r_task:+.2f}, efficiency {ended.r_eff:+.2f}, unseen ids {ended.r_hall:+.2f}, "
            f"total {ended.r_total:+.2f}{errors}",
        )


def _short(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[:longest]} … ({len(text)} characters)"
