"""An agent function for Miles, and the reward function beside it; Miles itself is not imported.

A file of one's own names them for Miles, with the address of the server::

    from ecom_rlve.client.adapters.miles import make_agent, reward

    run = make_agent("http://127.0.0.1:8000")

``--custom-agent-function-path my_file.run --custom-rm-path my_file.reward``. Miles serves the policy as an OpenAI API
and turns the calls that it served into tokens and loss masks itself.
"""

from __future__ import annotations

from collections.abc import Coroutine, Mapping
from typing import Any, Protocol

import httpx

from ecom_rlve.client.adapters.chat_model import ChatModel
from ecom_rlve.client.adapters.openai_tools import run_episode_async
from ecom_rlve.client.client import DEFAULT_URL, AsyncEcomEnv


class Agent(Protocol):
    """What Miles calls for each sample."""

    def __call__(
        self, base_url: str, prompt: Any, request_kwargs: Mapping[str, Any], metadata: Mapping[str, Any], **others: Any
    ) -> Coroutine[Any, Any, dict[str, Any]]:
        """Return what is added to the sample's metadata."""
        ...


def make_agent(url: str = DEFAULT_URL, *, token: str | None = None, retry_for: float = 60) -> Agent:
    """Return an agent function that plays on the server at ``url``; the arguments are those of the client.

    A sample's ``metadata`` holds the arguments of the reset. Added to it are ``reward``, the total in [-1, 1] or None
    where the server failed, ``is_correct``, and ``failure``.
    """

    async def run(
        base_url: str, prompt: Any, request_kwargs: Mapping[str, Any], metadata: Mapping[str, Any], **others: Any
    ) -> dict[str, Any]:
        env = AsyncEcomEnv(url, token=token, retry_for=retry_for)
        async with httpx.AsyncClient(timeout=None) as http, env:
            model = ChatModel(http, f"{base_url}/v1", model="policy", **request_kwargs)
            record = await run_episode_async(env, model, metadata)
        return {
            "reward": record.reward,
            "is_correct": record.result.is_correct if record.result is not None else None,
            "failure": str(record.failure) if record.failure is not None else None,
        }

    return run


async def reward(args: Any, sample: Any) -> float | None:
    """Return the reward that the agent function left in a sample's metadata; None drops the sample."""
    value: float | None = sample.metadata["reward"]
    return value
