"""The two clients: thin shells that perform the requests of :mod:`ecom_rlve.client.protocol`.

What both promise: nothing is connected before the first call; an env may be used from several threads or tasks, whose
calls then wait for each other, since one env plays one episode (play more with more envs); after a fork, or in
another event loop, new connections are made, and a child never ends its parent's episode.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from ecom_rlve.client.protocol import Operation, Outcome, Request, Session, StepResult
from ecom_rlve.models import Action, EpisodeState

DEFAULT_URL = "http://127.0.0.1:8000"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

T = TypeVar("T")


class _Shell:
    """What both clients hold: settings, and the session of their episode."""

    def __init__(self, base_url: str, env: str | None, token: str | None, timeout: float, retry_for: float) -> None:
        url = httpx.URL(base_url)
        if url.scheme not in {"http", "https"} or not url.host:
            raise ValueError(f"base_url must be like {DEFAULT_URL}, not {base_url!r}")
        self._base_url = url
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._timeout = timeout
        self._session = Session(env, retry_for)

    @property
    def episode_id(self) -> str | None:
        """Id of the episode being played; None before a reset and after close."""
        return self._session.episode_id

    def _arguments(self, request: Request) -> dict[str, Any]:
        """Return what httpx's ``request`` takes."""
        return {
            "method": request.method,
            "url": request.path,
            "params": request.params,
            "content": request.content,
            "headers": {"Content-Type": "application/json"} if request.content is not None else None,
            "timeout": self._timeout if request.timeout_s is None else request.timeout_s,
        }


class EcomEnv(_Shell):
    """An environment played over HTTP.

    >>> with EcomEnv("http://127.0.0.1:8000", env="cart") as env:  # doctest: +SKIP
    ...     result = env.reset(difficulty=3, seed=7)
    ...     while not result.done:
    ...         result = env.step(policy(result.text))

    ``env`` fixes the environment by its routes, else ``reset(env_id=...)`` chooses. ``token`` is the server's bearer
    token. ``timeout`` bounds the seconds of one try, ``retry_for`` those in which a new try may start (0: one try).
    ``transport`` replaces the network; it is kept as it is after a fork.
    """

    def __init__(
        self,
        base_url: str = DEFAULT_URL,
        *,
        env: str | None = None,
        token: str | None = None,
        timeout: float = 30,
        retry_for: float = 60,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        super().__init__(base_url, env, token, timeout, retry_for)
        self._transport = transport
        self._home = os.getpid()
        self._lock = threading.Lock()
        self._http: httpx.Client | None = None

    def reset(self, **arguments: Any) -> StepResult:
        """Start an episode; the arguments are those of :class:`ecom_rlve.models.ResetRequest`, others are passed on.

        An episode that this env was still playing is given up. Raises :class:`InvalidRequestError`,
        :class:`UnservableError`, :class:`EpisodeExistsError`, :class:`CapacityError` or, as every call,
        :class:`UnauthorizedError`, :class:`ServerUnavailableError`, :class:`InfrastructureError`.
        """
        return self._run(self._session.reset(arguments))

    def step(self, action: Mapping[str, Any] | Action | str) -> StepResult:
        """Take one agent turn; a string is a model's raw output.

        Never applied twice. After :class:`ServerUnavailableError` or an interrupt it is unknown whether the step was
        applied: the same action again takes it up where it was. Raises :class:`NotResetError`,
        :class:`EpisodeDoneError`, :class:`UnknownEpisodeError`, :class:`InvalidRequestError`.
        """
        return self._run(self._session.step(action))

    def state(self) -> EpisodeState:
        """Return the whole conversation so far; also after the end, as long as the server keeps it."""
        return self._run(self._session.state())

    def close(self) -> None:
        """Give up a live episode and close the connections; may be called again. A later reset opens new ones."""
        self._run(self._session.end())
        with self._lock:
            http, self._http = self._http, None
        if http is not None:
            http.close()

    def __enter__(self) -> Self:
        """Return the env; leaving the block closes it."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the env."""
        self.close()

    def _connect_anew(self) -> None:
        """Forget connections and lock where they belong to the process that this one was forked from."""
        if self._home == os.getpid():
            return
        self._session.disown()
        self._home = os.getpid()
        self._lock = threading.Lock()
        self._http = None

    def _run(self, operation: Operation[T]) -> T:
        self._connect_anew()
        with self._lock:
            try:
                request = next(operation)
                while True:
                    request = operation.send(self._perform(request))
            except StopIteration as stop:
                value: T = stop.value
                return value

    def _perform(self, request: Request) -> Outcome:
        if self._http is None:
            self._http = httpx.Client(
                base_url=self._base_url,
                headers=self._headers,
                transport=self._transport,
                mounts={f"all://{host}": None for host in _LOOPBACK},
            )
        time.sleep(request.after_s)
        started = time.monotonic()
        try:
            reply: httpx.Response | httpx.RequestError = self._http.request(**self._arguments(request))
        except httpx.RequestError as error:
            reply = error
        return Outcome(started, time.monotonic(), reply)


class AsyncEcomEnv(_Shell):
    """:class:`EcomEnv` for asyncio: the same arguments and verbs, awaited.

    A cancelled call leaves the env usable, and a cancelled step counts as one without an answer: the same action
    again takes it up.
    """

    def __init__(
        self,
        base_url: str = DEFAULT_URL,
        *,
        env: str | None = None,
        token: str | None = None,
        timeout: float = 30,
        retry_for: float = 60,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        super().__init__(base_url, env, token, timeout, retry_for)
        self._transport = transport
        self._home: tuple[int, asyncio.AbstractEventLoop] | None = None
        self._lock = asyncio.Lock()
        self._http: httpx.AsyncClient | None = None

    async def reset(self, **arguments: Any) -> StepResult:
        """Start an episode; see :meth:`EcomEnv.reset`."""
        return await self._run(self._session.reset(arguments))

    async def step(self, action: Mapping[str, Any] | Action | str) -> StepResult:
        """Take one agent turn; see :meth:`EcomEnv.step`."""
        return await self._run(self._session.step(action))

    async def state(self) -> EpisodeState:
        """Return the whole conversation so far."""
        return await self._run(self._session.state())

    async def close(self) -> None:
        """Give up a live episode and close the connections; may be called again."""
        await self._run(self._session.end())
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()

    async def __aenter__(self) -> Self:
        """Return the env; leaving the block closes it."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        """Close the env."""
        await self.close()

    def _connect_anew(self) -> None:
        """Forget connections and lock where they belong to another event loop or process."""
        home = (os.getpid(), asyncio.get_running_loop())
        if self._home == home:
            return
        if self._home is not None and self._home[0] != home[0]:
            self._session.disown()
        self._home = home
        self._lock = asyncio.Lock()
        self._http = None

    async def _run(self, operation: Operation[T]) -> T:
        self._connect_anew()
        async with self._lock:
            try:
                request = next(operation)
                while True:
                    request = operation.send(await self._perform(request))
            except StopIteration as stop:
                value: T = stop.value
                return value

    async def _perform(self, request: Request) -> Outcome:
        if self._http is None:
            self._http = httpx.AsyncClient(
                base_url=self._base_url,
                headers=self._headers,
                transport=self._transport,
                mounts={f"all://{host}": None for host in _LOOPBACK},
            )
        await asyncio.sleep(request.after_s)
        started = time.monotonic()
        try:
            reply: httpx.Response | httpx.RequestError = await self._http.request(**self._arguments(request))
        except httpx.RequestError as error:
            reply = error
        return Outcome(started, time.monotonic(), reply)
