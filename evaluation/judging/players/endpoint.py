"""A chat model behind an OpenAI-compatible API: its messages, what they cost, and whose fault a failure is."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx

from ecom_rlve.client.protocol import backoff, retry_after
from ecom_rlve.evaluation.judging.errors import JudgingError, RunStoppedError
from ecom_rlve.evaluation.judging.players.player import AgentFaultError, AgentUnavailableError, SpentError
from ecom_rlve.evaluation.judging.records import Usage

CONNECT_S = 10.0
_MOST_BYTES = 8 << 20
"""An answer is read up to this size; a longer one is no message of a model."""
_TRIED_AGAIN = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_MISCONFIGURED = frozenset({401, 402, 403, 404, 405, 407})
"""Nobody plays until a person has mended it: no key, no money, no such model."""


@dataclass(frozen=True, slots=True)
class Reply:
    """One message of a model."""

    message: Mapping[str, Any]
    is_cut: bool
    """Whether it ran out of tokens in the middle."""


class Budget:
    """What a run may still spend; all its players share it."""

    def __init__(
        self,
        spent: Usage,
        *,
        most_tokens: int | None = None,
        most_cost: float | None = None,
        price_in: float = 0.0,
        price_out: float = 0.0,
    ) -> None:
        """``most_cost`` is in the currency of the prices, which are for a million tokens read and written."""
        self.spent = spent
        self._most_tokens = most_tokens
        self._most_cost = most_cost
        self._price_in, self._price_out = price_in, price_out

    @property
    def cost(self) -> float:
        """What the tokens cost, in the currency of the prices."""
        return (self.spent.prompt_tokens * self._price_in + self.spent.completion_tokens * self._price_out) / 1e6

    @property
    def is_spent(self) -> bool:
        """Whether a limit is reached."""
        tokens, cost = self._most_tokens, self._most_cost
        return (tokens is not None and self.spent.tokens >= tokens) or (cost is not None and self.cost >= cost)

    def count(self, used: Usage) -> None:
        """Count one request; raises :class:`RunStoppedError` if there is a limit, and nothing tells what was used."""
        self.spent.add(used)
        if not used.tokens and (self._most_tokens is not None or self._most_cost is not None):
            raise RunStoppedError("the endpoint reports no usage, so --max-tokens and --max-cost cannot be kept")


class Endpoint:
    """One model of one server; shared by all episodes of a run."""

    def __init__(
        self,
        http: httpx.AsyncClient,
        url: str,
        model: str,
        budget: Budget,
        *,
        key: str | None = None,
        request: Mapping[str, Any] | None = None,
        retry_for_s: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``url`` is the API's, with its ``/v1``; ``request`` holds further fields of each request."""
        self._http = http
        self._url = f"{url.rstrip('/')}/chat/completions"
        self._fields = {"model": model, **(request or {})}
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._budget = budget
        self._retry_for_s = retry_for_s
        self._clock = clock

    async def ask(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], usage: Usage
    ) -> Reply:
        """Return the model's next message, and count in ``usage`` what it took."""
        if self._budget.is_spent:
            raise SpentError("the run has spent all that it may")
        body = json.dumps({**self._fields, "messages": messages, **({"tools": tools} if tools else {})}).encode()
        content = await self._answered(body, usage)
        try:
            answer = json.loads(content)
            choice = answer["choices"][0]
            message = choice["message"]
            if not isinstance(message, Mapping):
                raise TypeError(f"the message is a {type(message).__name__}")
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise AgentFaultError("unreadable", f"no message of a chat model: {error!r}: {content[:80]!r}") from error
        self._count(answer, usage)
        return Reply(message, choice.get("finish_reason") == "length")

    def _count(self, answer: Mapping[str, Any], usage: Usage) -> None:
        told = answer.get("usage")
        counted = told if isinstance(told, Mapping) else {}
        used = Usage(
            prompt_tokens=_whole(counted.get("prompt_tokens")),
            completion_tokens=_whole(counted.get("completion_tokens")),
        )
        usage.add(used)
        self._budget.count(used)

    async def _answered(self, body: bytes, usage: Usage) -> bytes:
        """Return the body of a successful answer; what may be no more than a bad moment is tried again."""
        name, first, attempt = uuid4().hex, self._clock(), 0
        while True:
            usage.requests += 1
            self._budget.spent.requests += 1
            reply, content = await self._tried(body)
            if isinstance(reply, httpx.Response):
                if reply.is_success:
                    return content
                _refuse(reply, content)
            wait = max(backoff(name, attempt), retry_after(reply))
            if self._clock() + wait - first > self._retry_for_s:
                said = f"HTTP {reply.status_code}" if isinstance(reply, httpx.Response) else type(reply).__name__
                raise AgentUnavailableError(f"{self._url}: {said}: {_shown(content) or reply}")
            attempt += 1
            await asyncio.sleep(wait)

    async def _tried(self, body: bytes) -> tuple[httpx.Response | httpx.RequestError, bytes]:
        content = bytearray()
        headers = {**self._headers, "Content-Type": "application/json"}
        try:
            async with self._http.stream("POST", self._url, content=body, headers=headers) as reply:
                async for part in reply.aiter_bytes():
                    content += part
                    if len(content) > _MOST_BYTES:
                        raise AgentFaultError("unreadable", f"an answer of more than {_MOST_BYTES} bytes")
                return reply, bytes(content)
        except (httpx.DecodingError, httpx.RemoteProtocolError) as error:
            if content:
                raise AgentFaultError("unreadable", f"the answer broke off: {error}") from error
            return error, b""
        except (httpx.UnsupportedProtocol, httpx.InvalidURL) as error:
            raise JudgingError(f"--model-url: {error}") from error
        except httpx.RequestError as error:
            return error, b""


def _refuse(reply: httpx.Response, content: bytes) -> None:
    """Raise unless the same request may succeed later."""
    said = f"HTTP {reply.status_code} of the model's server: {_shown(content)}"
    if reply.status_code in _MISCONFIGURED:
        raise RunStoppedError(said)
    if reply.is_redirect:
        # Followed, it would carry the key to somebody who was not named.
        raise RunStoppedError(f"{said} It leads to {reply.headers.get('location', 'nowhere')[:200]}; give that address")
    if reply.status_code not in _TRIED_AGAIN and reply.status_code < 500:
        # Such as a conversation that is longer than the model's context.
        raise AgentFaultError("refused", said)


def _whole(value: object) -> int:
    return value if isinstance(value, int) and value >= 0 else 0


def _shown(content: bytes) -> str:
    return " ".join(content[:300].decode("utf-8", "replace").split())
