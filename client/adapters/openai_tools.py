"""A plain loop of OpenAI tool calls: one episode between an environment and whatever writes assistant messages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ecom_rlve.client.client import AsyncEcomEnv, EcomEnv
from ecom_rlve.client.errors import CapacityError, EcomEnvError, InfrastructureError, ServerUnavailableError
from ecom_rlve.client.protocol import StepResult
from ecom_rlve.client.tool_chat import ChatMessage, Schema, ToolChat, reset_arguments
from ecom_rlve.models import EpisodeResult, StepMetadata

Policy = Callable[[list[ChatMessage], list[Schema]], Mapping[str, Any] | None]
"""Maps the conversation and the tools' schemas to an assistant message; None where it cannot go on: out of tokens."""
AsyncPolicy = Callable[[list[ChatMessage], list[Schema]], Awaitable[Mapping[str, Any] | None]]

UNSCORED = (CapacityError, InfrastructureError, ServerUnavailableError)
"""Failures of what lies between policy and reward: such an episode has none, and counts for nothing."""


@dataclass(frozen=True, slots=True)
class EpisodeRecord:
    """One episode as it was played."""

    messages: list[ChatMessage]
    """From the system prompt on; empty if no episode began."""
    tools: list[Schema]
    """OpenAI function schemas, as the policy was given them."""
    reward: float | None
    """The total in [-1, 1]; None if ``failure`` is set."""
    result: EpisodeResult | None
    metadata: StepMetadata | None
    """The resolved arguments; None if no episode began."""
    failure: EcomEnvError | None = None
    """Why there is no reward. Leave the episode out of training and of success rates."""


def run_episode(
    env: EcomEnv, policy: Policy, row: Mapping[str, Any], *, most_messages: int | None = None
) -> EpisodeRecord:
    """Play one episode. ``row`` holds arguments of the reset; columns that no reset knows are left out.

    It is finished, with a score, where the policy returns None, and after ``most_messages`` of its messages. Whatever
    happens, no live episode is left behind. Raises what the policy raises, and :class:`InvalidRequestError`,
    :class:`UnservableError` or :class:`UnauthorizedError` for what the caller asked for.
    """
    chat = None
    try:
        chat = ToolChat(env.reset(**reset_arguments(row)))
        while not chat.result.done:
            message = None if _is_cut(chat, most_messages) else policy(chat.messages, chat.tools)
            chat.hear(env.finish() if message is None else env.step(chat.act(message)))
    except UNSCORED as failure:
        env.close()
        return _record(chat, failure)
    except BaseException:
        env.close()
        raise
    return _record(chat)


async def run_episode_async(
    env: AsyncEcomEnv, policy: AsyncPolicy, row: Mapping[str, Any], *, most_messages: int | None = None
) -> EpisodeRecord:
    """Play one episode; see :func:`run_episode`."""
    chat = None
    try:
        first = await env.reset(**reset_arguments(row))
        chat = ToolChat(first)
        await play_chat(env, chat, policy, most_messages=most_messages)
    except UNSCORED as failure:
        await env.close()
        return _record(chat, failure)
    except BaseException:
        await env.close()
        raise
    return _record(chat)


async def play_chat(
    env: AsyncEcomEnv, chat: ToolChat, policy: AsyncPolicy, *, most_messages: int | None = None
) -> None:
    """Play an episode that has begun to its end, into ``chat``. What fails is raised, and ends nothing."""
    while not chat.result.done:
        message = None if _is_cut(chat, most_messages) else await policy(chat.messages, chat.tools)
        chat.hear(await env.finish() if message is None else await env.step(chat.act(message)))


def _is_cut(chat: ToolChat, most_messages: int | None) -> bool:
    return most_messages is not None and sum(each["role"] == "assistant" for each in chat.messages) >= most_messages


def _record(chat: ToolChat | None, failure: EcomEnvError | None = None) -> EpisodeRecord:
    if chat is None:
        return EpisodeRecord([], [], None, None, None, failure)
    last: StepResult = chat.result
    reward = None if failure is not None else last.reward
    return EpisodeRecord(chat.messages, chat.tools, reward, last.observation.result, last.metadata, failure)
