"""A rollout of ART (``openpipe-art``): one episode as a trajectory, with the choices that ART trains on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import art

from ecom_rlve.client.adapters.openai_tools import run_episode_async
from ecom_rlve.client.client import AsyncEcomEnv
from ecom_rlve.client.tool_chat import ChatMessage, Schema


async def rollout(model: art.Model, env: AsyncEcomEnv, row: Mapping[str, Any], **sampling: Any) -> art.Trajectory:
    """Play one episode with a model of ART's; ``row`` holds arguments of the reset, ``sampling`` those of the model.

    A message that is cut by its limit of tokens is trained on too: the episode is finished, and has a score. Raises
    :class:`ecom_rlve.client.EcomEnvError` where the server failed, which a group of trajectories keeps as an exception.
    """
    choices: list[Any] = []
    client = model.openai_client()

    async def policy(messages: list[ChatMessage], tools: list[Schema]) -> Mapping[str, Any] | None:
        answer = await client.chat.completions.create(
            model=model.get_inference_name(), messages=messages, tools=tools, **sampling
        )
        choice = answer.choices[0]
        choices.append(choice)
        message: Mapping[str, Any] = choice.message.model_dump()
        return None if choice.finish_reason == "length" else message

    record = await run_episode_async(env, policy, row)
    if record.failure is not None or record.result is None:
        raise record.failure or RuntimeError("the episode ended without a result")
    sampled = iter(choices)
    played = [next(sampled) if each["role"] == "assistant" else each for each in record.messages]
    names = ("is_correct", "correct_share", "r_task", "r_eff", "r_hall", "turns")
    metrics = {name: getattr(record.result, name) for name in names}
    # What is left was cut: it stands at the end, and is no message of the conversation.
    return art.Trajectory(
        messages_and_choices=[*played, *sampled], tools=record.tools, reward=record.reward, metrics=metrics
    )
