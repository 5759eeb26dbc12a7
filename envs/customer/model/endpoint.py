"""A chat endpoint that speaks OpenAI's protocol: vLLM, SGLang, TGI, Ollama, llama.cpp.

Connections are kept for each event loop, and the number of concurrent requests is bounded. Every failure of an endpoint
is raised as one of the errors of :mod:`~ecom_rlve.envs.customer.model.errors`.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypedDict
from weakref import WeakKeyDictionary

import httpx
from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from ecom_rlve.envs.customer.model.breaker import Breaker
from ecom_rlve.envs.customer.model.completions import Completion, completion_in
from ecom_rlve.envs.customer.model.errors import (
    BreakerOpenError,
    EmptyAnswerError,
    EndpointAnswerError,
    EndpointError,
    EndpointRefusedError,
    EndpointTimeoutError,
    EndpointUnreachableError,
)

MAX_BYTES = 100_000
"""Largest body of an answer; a larger one is refused before all of it has arrived."""
_TOO_MANY_REQUESTS = 429
_CONNECTIONS = 32
"""Most connections of one client: for each request its pool looks at all of its connections, so more are too slow."""
_MODELS, _COMPLETIONS = "models", "chat/completions"
_PROBE = "Say hello in one short sentence."


class ChatMessage(TypedDict):
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class EndpointSettings:
    """How to reach a model."""

    base_url: str
    """Up to and including ``/v1``."""
    model: str
    api_key: str = field(default="", repr=False)
    """Sent as a bearer token; empty: no token is sent."""
    temperature: float = 0.8
    max_tokens: int = 200
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the request, such as ``{"chat_template_kwargs": {"enable_thinking": false}}``."""
    timeout_s: float = 20.0
    """Seconds for one attempt, from its start to the last byte of the answer."""
    concurrency: int = 64
    """Most requests at the same time."""
    attempts: int = 3
    """Most attempts of one request: after a failed connection, a 429 or a 5xx it is repeated; other failures are
    final."""
    longest_wait_s: float = 2.0
    """Longest wait between two attempts, in seconds."""

    @property
    def parameters(self) -> dict[str, Any]:
        """What determines a wording besides model, prompt and seed."""
        return {"temperature": self.temperature, "max_tokens": self.max_tokens, "extra_body": dict(self.extra_body)}


class _Lane(NamedTuple):
    """The clients of one event loop."""

    clients: tuple[httpx.AsyncClient, ...]
    places: asyncio.LifoQueue[httpx.AsyncClient]
    """One entry for each request that may still start. The client used last comes first: its connection is open."""
    urls: Mapping[str, httpx.URL]
    """Parsed once, by path: parsing a URL takes as long as the rest of a request."""


class Endpoint:
    """A model behind ``/chat/completions``."""

    def __init__(
        self,
        settings: EndpointSettings,
        breaker: Breaker | None = None,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``transport`` replaces the network, for an application in the same process; ``clock``, in seconds, is used by
        the breaker.
        """
        self.settings = settings
        self._breaker = breaker or Breaker()
        self._transport = transport
        self._clock = clock
        self._lanes: WeakKeyDictionary[asyncio.AbstractEventLoop, _Lane] = WeakKeyDictionary()

    async def complete(self, messages: Sequence[ChatMessage], seed: int) -> Completion:
        """Return the model's answer.

        Raises an :class:`EndpointError`; raises :class:`BreakerOpenError` at once if too many earlier requests failed.
        """
        if not self._breaker.admits(self._clock()):
            raise BreakerOpenError(f"{self.settings.base_url} failed too often in a row and is left alone for a while")
        try:
            completion = await self._complete(messages, seed)
        except EmptyAnswerError:
            self._breaker.succeeded()
            raise
        except EndpointError:
            self._breaker.failed(self._clock())
            raise
        except BaseException:
            self._breaker.abandoned()
            raise
        self._breaker.succeeded()
        return completion

    async def _complete(self, messages: Sequence[ChatMessage], seed: int) -> Completion:
        settings = self.settings
        body = {
            **settings.extra_body,
            "model": settings.model,
            "messages": list(messages),
            "temperature": settings.temperature,
            "max_tokens": settings.max_tokens,
            "seed": seed,
            "stream": False,
        }
        attempts = AsyncRetrying(
            stop=stop_after_attempt(settings.attempts),
            wait=wait_random_exponential(multiplier=0.1, max=settings.longest_wait_s),
            retry=retry_if_exception(_may_pass),
            reraise=True,
        )
        payload: Any = await attempts(self._exchange, "POST", _COMPLETIONS, body)
        return completion_in(payload)

    async def probe(self) -> None:
        """Send a test request; raises an :class:`EndpointError` that says what is wrong and what to do about it."""
        settings = self.settings
        await self._require_model()
        asked: list[ChatMessage] = [{"role": "user", "content": _PROBE}]
        try:
            await self._complete(asked, seed=0)
        except EmptyAnswerError:
            raise EmptyAnswerError(
                f"the model {settings.model!r} said nothing but its thoughts within {settings.max_tokens} tokens; turn "
                'thinking off, for instance by the extra body {"chat_template_kwargs": {"enable_thinking": false}}, or '
                "allow more tokens"
            ) from None

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        lane = self._lanes.pop(asyncio.get_running_loop(), None)
        if lane is not None:
            await asyncio.gather(*(client.aclose() for client in lane.clients))

    async def _require_model(self) -> None:
        """Require that the endpoint is there, accepts the key, and knows the model if it lists its models."""
        try:
            listed: Any = await self._exchange("GET", _MODELS, None)
        except EndpointRefusedError as refusal:
            if refusal.status in (401, 403):
                raise
            # Not every server lists its models.
            return
        except EndpointAnswerError:
            return
        rows = listed.get("data") if isinstance(listed, dict) else None
        names = [row["id"] for row in rows or () if isinstance(row, dict) and isinstance(row.get("id"), str)]
        if names and self.settings.model not in names:
            raise EndpointRefusedError(
                f"{self.settings.base_url} does not serve the model {self.settings.model!r}; it serves "
                f"{', '.join(map(repr, names[:10]))}",
                status=404,
            )

    def _lane(self) -> _Lane:
        loop = asyncio.get_running_loop()
        lane = self._lanes.get(loop)
        if lane is None:
            lane = self._lanes[loop] = self._made_lane()
        return lane

    def _made_lane(self) -> _Lane:
        settings = self.settings
        try:
            base = httpx.URL(settings.base_url.rstrip("/") + "/")
        except httpx.InvalidURL as error:
            raise EndpointUnreachableError(f"{settings.base_url!r} is no address of an endpoint: {error}") from None
        clients = tuple(self._made_client() for _ in range(-(-settings.concurrency // _CONNECTIONS)))
        places: asyncio.LifoQueue[httpx.AsyncClient] = asyncio.LifoQueue()
        for place in range(settings.concurrency):
            places.put_nowait(clients[place // _CONNECTIONS])
        return _Lane(clients, places, {path: base.join(path) for path in (_MODELS, _COMPLETIONS)})

    def _made_client(self) -> httpx.AsyncClient:
        settings = self.settings
        return httpx.AsyncClient(
            headers={"authorization": f"Bearer {settings.api_key}"} if settings.api_key else {},
            timeout=httpx.Timeout(settings.timeout_s, pool=None),
            limits=httpx.Limits(max_connections=_CONNECTIONS, max_keepalive_connections=_CONNECTIONS),
            transport=self._transport,
        )

    async def _exchange(self, method: str, path: str, body: Mapping[str, Any] | None) -> Any:
        """Return the JSON of one answer; every failure is an :class:`EndpointError`."""
        lane, url = self._lane(), self.settings.base_url
        client = await lane.places.get()
        try:
            # The client's own timeouts restart with every byte; this one also ends an answer that arrives byte by byte.
            async with asyncio.timeout(self.settings.timeout_s):
                raw = await self._read(client, method, lane.urls[path], body)
        except (TimeoutError, httpx.TimeoutException):
            raise EndpointTimeoutError(f"{url} gave no whole answer within {self.settings.timeout_s:g} s") from None
        except httpx.InvalidURL as error:
            raise EndpointUnreachableError(f"{url!r} is no address of an endpoint: {error}") from None
        except (httpx.TransportError, httpx.DecodingError) as error:
            message = f"{url} is out of reach ({type(error).__name__}: {error}); is the model server running there?"
            raise EndpointUnreachableError(message) from None
        finally:
            lane.places.put_nowait(client)
        try:
            return json.loads(raw)
        except (ValueError, RecursionError):
            raise EndpointAnswerError(f"{url} answered with something that is no JSON") from None

    async def _read(
        self, client: httpx.AsyncClient, method: str, url: httpx.URL, body: Mapping[str, Any] | None
    ) -> bytes:
        async with client.stream(method, url, json=body) as response:
            if not response.is_success:
                raise EndpointRefusedError(self._refusal(response.status_code), response.status_code)
            if "text/event-stream" in response.headers.get("content-type", ""):
                raise EndpointAnswerError(
                    f'{self.settings.base_url} answers in streams only; a server is needed that takes "stream": false'
                )
            raw = bytearray()
            async for piece in response.aiter_bytes():
                raw += piece
                if len(raw) > MAX_BYTES:
                    raise EndpointAnswerError(f"{self.settings.base_url} answered with more than {MAX_BYTES} bytes")
            return bytes(raw)

    def _refusal(self, status: int) -> str:
        url, model = self.settings.base_url, self.settings.model
        if status in (401, 403):
            return f"{url} refuses the API key (HTTP {status}); set the right one"
        if status == 404:
            return f"{url} knows no such address or no model {model!r} (HTTP 404); the base URL usually ends in /v1"
        return f"{url} answered with HTTP {status}"


def _may_pass(error: BaseException) -> bool:
    """Tell whether another attempt may succeed."""
    if isinstance(error, EndpointRefusedError):
        return error.status == _TOO_MANY_REQUESTS or error.status >= 500
    return isinstance(error, EndpointUnreachableError)
