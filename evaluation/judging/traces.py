"""Reading a trace for people and figures: its steps as plain values, without the environments."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from ecom_rlve.evaluation.judging.errors import ResultsError
from ecom_rlve.models import EpisodeMetadata, Observation

ASK_USER = "ask_user"


@dataclass(frozen=True, slots=True)
class Step:
    """One action and what followed; the opening has no action."""

    action: Mapping[str, Any] | None
    """``{"finish": …}`` or its like where the episode was finished."""
    seen: Observation


@dataclass(frozen=True, slots=True)
class ReadTrace:
    """A trace as plain values."""

    metadata: EpisodeMetadata
    opening: Observation
    steps: Sequence[Step]


@dataclass(frozen=True, slots=True)
class Questions:
    """How much an agent asked."""

    max_turns: int
    asked: int
    answered: int


def read_trace(text: str) -> ReadTrace:
    """Return a trace as plain values; raises :class:`ResultsError` for what is none."""
    try:
        header, opening, *steps = (json.loads(line) for line in text.split("\n") if line)
        return ReadTrace(
            EpisodeMetadata.model_validate(header["metadata"]),
            Observation.model_validate_json(opening["observation"]),
            [Step(step["action"], Observation.model_validate_json(step["observation"])) for step in steps],
        )
    except (AttributeError, KeyError, TypeError, ValueError, ValidationError) as error:
        raise ResultsError(f"this is no trace: {error!r}"[:300]) from error


def questions_in(text: str) -> Questions:
    """Count the turns of a trace in which the agent asked something, and those of them that got an answer.

    A question is one with ``ask_user``, or a message with a question mark. Where raw text could not be read it asks
    nothing.
    """
    trace = read_trace(text)
    asking = [step for step in trace.steps if _asks(step)]
    answered = sum(bool(step.seen.user_message) for step in asking)
    return Questions(trace.opening.max_turns or 0, len(asking), answered)


def _asks(step: Step) -> bool:
    if any(each.name == ASK_USER for each in step.seen.tool_results):
        return True
    action = step.action or {}
    words = action.get("assistant_message") or action.get("content") or action.get("text") or ""
    is_failure = step.seen.result is not None and step.seen.result.termination == "format_failure"
    return isinstance(words, str) and "?" in words and not is_failure


def shown_action(action: Mapping[str, Any] | None) -> tuple[str, list[tuple[str, str]]]:
    """Return what an action says to the customer, and its calls and answer as pairs of name and JSON."""
    if action is None:
        return "", []
    words = action.get("text") or action.get("assistant_message") or action.get("content") or ""
    calls = [_shown_call(each) for each in action.get("tool_calls") or () if isinstance(each, Mapping)]
    if action.get("answer") is not None:
        calls.append(("answer", json.dumps(action["answer"], ensure_ascii=False)))
    return words if isinstance(words, str) else json.dumps(words, ensure_ascii=False), calls


def _shown_call(call: Mapping[str, Any]) -> tuple[str, str]:
    body = call.get("function", call)
    if not isinstance(body, Mapping):
        return "?", json.dumps(body, ensure_ascii=False)
    args = body.get("args", body.get("arguments", {}))
    return str(body.get("name", "?")), args if isinstance(args, str) else json.dumps(args, ensure_ascii=False)
