"""Chat models as players: with native tool calls, or with raw text in one of the two formats."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ecom_rlve.client import StepResult
from ecom_rlve.client.tool_chat import ToolChat
from ecom_rlve.evaluation.judging.plan import Calls
from ecom_rlve.evaluation.judging.players.endpoint import Endpoint, Reply
from ecom_rlve.evaluation.judging.players.player import AgentFaultError, Player
from ecom_rlve.evaluation.judging.records import Usage


class NativePlayer:
    """A model that writes tool calls in the way of its API; the episode must be played as a chat."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.usage = Usage()
        self._endpoint = endpoint
        self._chat: ToolChat | None = None

    async def act(self, result: StepResult) -> Mapping[str, Any]:
        """Return the model's message as an action."""
        chat = self._chat
        if chat is None:
            chat = self._chat = ToolChat(result)
        else:
            chat.hear(result)
        reply = _whole(await self._endpoint.ask(chat.messages, chat.tools, self.usage))
        try:
            return chat.act(reply.message)
        except (AttributeError, TypeError, ValueError) as error:
            raise AgentFaultError("unreadable", f"no assistant message: {error!r}") from error


class TextPlayer:
    """A model that writes actions as text."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.usage = Usage()
        self._endpoint = endpoint
        self._messages: list[dict[str, Any]] = []

    async def act(self, result: StepResult) -> str:
        """Return the model's raw text."""
        self._messages.append({"role": "user", "content": result.text})
        reply = _whole(await self._endpoint.ask(self._messages, (), self.usage))
        text = reply.message.get("content")
        if not isinstance(text, str):
            raise AgentFaultError("unreadable", f"the content of the message is {type(text).__name__}, not text")
        self._messages.append({"role": "assistant", "content": text})
        return text


class ChatPlayers:
    """Players of one model."""

    def __init__(self, endpoint: Endpoint, calls: Calls) -> None:
        self._endpoint = endpoint
        self._calls = calls

    def make(self, env_id: str, seed: int, trial: int) -> Player:  # noqa: ARG002 - a model is not told them
        """Return a new player."""
        return NativePlayer(self._endpoint) if self._calls == "native" else TextPlayer(self._endpoint)


def _whole(reply: Reply) -> Reply:
    """Return a message that was written to its end; raises :class:`AgentFaultError` for one that was cut off."""
    if reply.is_cut:
        raise AgentFaultError("truncated", "the message was cut off at the model's limit of tokens")
    return reply
