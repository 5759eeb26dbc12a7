"""An episode's log, and the conversation told from it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from ecom_rlve.models import Message, Observation, ToolResult

LogEntry = tuple[Mapping[str, Any], list[ToolResult], str]
"""One step: the agent's action, the tools' results, the customer's words."""


def log_messages(opening: Observation, log: Iterable[LogEntry]) -> list[Message]:
    """Return a conversation as messages: the customer's words, the agent's actions, the tools' results."""
    messages = [Message(role="user", content=opening.user_message)]
    for action, results, words in log:
        messages.append(Message(role="assistant", content=json.dumps(action, ensure_ascii=False)))
        messages += [Message(role="tool", content=result.model_dump_json(exclude_unset=True)) for result in results]
        if words:
            messages.append(Message(role="user", content=words))
    return messages
