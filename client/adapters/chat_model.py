"""A model behind an OpenAI-compatible chat API, as the policy of an episode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx

from ecom_rlve.client.tool_chat import ChatMessage, Schema

_TOO_LONG = frozenset((400, 413))
"""How servers refuse a conversation that is longer than the model's context. Most name the context in their answer; one
that does not is taken for another refusal, which is raised."""


class ChatModel:
    """One model; an instance is a policy for :func:`ecom_rlve.client.adapters.openai_tools.run_episode_async`."""

    def __init__(self, http: httpx.AsyncClient, url: str, token: str | None = None, **request: Any) -> None:
        """``url`` is the API's, with its ``/v1``; ``request`` holds the model's name and how it samples."""
        self._http = http
        self._url = f"{url.rstrip('/')}/chat/completions"
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._request = request

    async def __call__(self, messages: list[ChatMessage], tools: list[Schema]) -> Mapping[str, Any] | None:
        """Return the model's message; None if it was cut by a limit of tokens, or the context is full.

        Raises ``httpx.HTTPError`` if the server does not answer, or refuses for another reason.
        """
        body = {**self._request, "messages": messages, "tools": tools}
        answer = await self._http.post(self._url, json=body, headers=self._headers)
        if answer.status_code in _TOO_LONG and "context" in answer.text:
            return None
        choice = answer.raise_for_status().json()["choices"][0]
        message: Mapping[str, Any] = choice["message"]
        return None if choice.get("finish_reason") == "length" else message
