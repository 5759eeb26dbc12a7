"""Winning episodes as chats with tool schemas, for supervised fine-tuning: one JSON object a line.

Each has ``messages`` and ``tools`` in OpenAI's form, as a model saw them or would have seen them. An episode that was
played in raw text is a chat of raw text. What was played one call at a time is a chat with native tool calls, whoever
played: an expert's messages hold the words that the customer said, and no acts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ecom_rlve.client import StepResult, render
from ecom_rlve.client.tool_chat import SUBMIT_ANSWER, ToolChat
from ecom_rlve.evaluation.judging.folder import episodes, read_config
from ecom_rlve.evaluation.judging.traces import ReadTrace, read_trace
from ecom_rlve.models import EpisodeMetadata, Observation, StepMetadata


class NoChatError(Exception):
    """The episode cannot be told as a chat; the message says why."""


@dataclass(frozen=True, slots=True)
class Exported:
    """One episode: a line to write, or why there is none."""

    line: str
    skipped: str = ""


def exported(folder: Path) -> Iterator[Exported]:
    """Yield the winning episodes of a folder of results; raises :class:`ResultsError` if it holds none."""
    config = read_config(folder)
    for line in episodes(folder, config):
        if not line.result.is_correct:
            continue
        try:
            chat = chat_of(read_trace(line.trace))
        except NoChatError as error:
            yield Exported("", str(error))
            continue
        about = {**line.task._asdict(), "agent": config.plan.agent, "reward": line.reward, "version": line.version}
        yield Exported(json.dumps({**chat, "metadata": about}, ensure_ascii=False))


def chat_of(trace: ReadTrace) -> dict[str, Any]:
    """Return the ``messages`` and ``tools`` of an episode; raises :class:`NoChatError` where there are none."""
    if all(isinstance((step.action or {}).get("text"), str) for step in trace.steps):
        return {"messages": _text_messages(trace), "tools": []}
    if trace.metadata.style != "tool":
        raise NoChatError("played in style turn: a model that calls tools natively plays in style tool")
    chat = ToolChat(_result(trace.opening, trace.metadata))
    for step in trace.steps:
        chat.act(as_message(step.action or {}))
        chat.hear(_result(step.seen, trace.metadata))
    return {"messages": _to_the_last_word(chat.messages), "tools": chat.tools}


def as_message(action: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return an action as the assistant message that means the same; raises :class:`NoChatError` if there is none."""
    if "role" in action:
        return action
    if action.get("text") is not None or "finish" in action:
        raise NoChatError("not all of it was played with tool calls")
    answer, calls = action.get("answer"), list(action.get("tool_calls") or ())
    words = action.get("assistant_message") or ""
    if action.get("end_turn") is False and (words or not calls):
        raise NoChatError("words that leave the turn open: a chat has none")
    if answer is not None:
        if not answer.get("done"):
            raise NoChatError("an answer that is only proposed: a chat has none")
        calls.append({"name": SUBMIT_ANSWER, "args": {name: value for name, value in answer.items() if name != "done"}})
    elif calls and not words and action.get("end_turn") and not _asks(calls):
        raise NoChatError("calls that close the turn: in a chat they leave it open")
    return {"role": "assistant", "content": words, "tool_calls": calls}


def _asks(calls: Sequence[Mapping[str, Any]]) -> bool:
    return any(call.get("name") == "ask_user" for call in calls)


def _text_messages(trace: ReadTrace) -> list[dict[str, Any]]:
    messages = [{"role": "user", "content": render(trace.opening)}]
    for step in trace.steps:
        messages.append({"role": "assistant", "content": (step.action or {})["text"]})
        messages.append({"role": "user", "content": render(step.seen)})
    return _to_the_last_word(messages)


def _to_the_last_word(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out what comes after the last message of the assistant: there is nothing to learn from it."""
    last = max(at for at, message in enumerate(messages) if message["role"] == "assistant")
    return messages[: last + 1]


def _result(seen: Observation, metadata: EpisodeMetadata) -> StepResult:
    return StepResult(seen, seen.reward, seen.done, StepMetadata(**metadata.model_dump()))
