"""The two clients: thin shells that perform the requests of :mod:`ecom_rlve.client.protocol`.

Both promise:

- Nothing is connected before the first call.
- An env may be used from several threads or tasks. Their calls wait for each other, because one env plays one episode
  at a time; use more envs to play more episodes.
- The envs of a process share their connections. While any of them plays, a thread tells the server so once a minute.
- After a fork, or in another event loop, new connections are made. A child process never ends its parent's episode.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping
from functools import partial
from types import TracebackType
from typing import Any, Self, TypeVar

import httpx

from ecom_rlve.client.batch import Failed, Played, Progress, play_batch
from ecom_rlve.client.connections import connections, own_options
from ecom_rlve.client.curriculum import AsyncCurriculum, Curriculum, RunOperations
from ecom_rlve.client.heartbeat import HEADER, heart
from ecom_rlve.client.protocol import Operation, Outcome, Request, Session, StepResult
from ecom_rlve.models import Action, EpisodeState

DEFAULT_URL = "http://127.0.0.1:8000"

T = TypeVar("T")


class _Shell:
    """Base of both clients: settings, and the session of the episode."""

    def __init__(self, base_url: str, env: str | None, token: str | None, timeout: float, retry_for: float) -> None:
        url = httpx.URL(base_url)
        if url.scheme not in {"http", "https"} or not url.host:
            raise ValueError(f"base_url must be like {DEFAULT_URL}, not {base_url!r}")
        self._base_url = url
        self._headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._timeout = timeout
        self._retry_for = retry_for
        self._session = Session(env, retry_for)
        self._cookies = httpx.Cookies()

    @property
    def episode_id(self) -> str | None:
        """Id of the episode being played; None before a reset and after close."""
        return self._session.episode_id

    @property
    def is_playing(self) -> bool:
        """Whether a live episode began here."""
        return self._session.is_live

    @property
    def server(self) -> tuple[httpx.URL, Mapping[str, str]]:
        """The server's address, and the headers that are sent there."""
        return self._base_url, self._headers

    def _built(self, http: httpx.Client | httpx.AsyncClient, request: Request) -> httpx.Request:
        """Return a request as it is sent: to this env's address, with its own headers and cookies."""
        url = self._base_url
        path = url.raw_path.partition(b"?")[0].rstrip(b"/") + request.path.encode()
        kind = {"Content-Type": "application/json"} if request.content is not None else {}
        built = http.build_request(
            request.method,
            url.copy_with(raw_path=path),
            params=request.params,
            content=request.content,
            headers=self._headers | kind | {HEADER: heart().client},
            timeout=self._timeout if request.timeout_s is None else request.timeout_s,
        )
        if self._cookies:
            self._cookies.set_cookie_header(built)
        return built

    def _taken(self, reply: httpx.Response) -> httpx.Response:
        if "set-cookie" in reply.headers:
            self._cookies.extract_cookies(reply)
        return reply


class EcomEnv(_Shell):
    """An environment played over HTTP.

    >>> with EcomEnv("http://127.0.0.1:8000", env="cart") as env:  # doctest: +SKIP
    ...     result = env.reset(difficulty=3, seed=7)
    ...     while not result.done:
    ...         result = env.step(policy(result.text))

    ``env`` chooses the environment for all episodes; without it ``reset(env_id=...)`` does. ``token`` is the server's
    bearer token. One try takes at most ``timeout`` seconds; a new try may start within ``retry_for`` seconds (0: only
    one try). ``transport`` replaces the network, and stays in use after a fork.
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
        """Start an episode. The arguments are those of :class:`ecom_rlve.models.ResetRequest`; others are passed on.

        An episode that this env is still playing is ended. Raises :class:`InvalidRequestError`,
        :class:`UnservableError`, :class:`EpisodeExistsError`, :class:`CapacityError` or, as every call,
        :class:`UnauthorizedError`, :class:`ServerUnavailableError`, :class:`InfrastructureError`.
        """
        result = self._run(self._session.reset(arguments))
        if self._transport is None:
            heart().keep(self)
        return result

    def step(self, action: Mapping[str, Any] | Action | str) -> StepResult:
        """Take one agent turn; a string is a model's raw output.

        A step is never applied twice. After :class:`ServerUnavailableError` or an interrupt it is unknown whether it
        was applied: call again with the same action to continue. Raises :class:`NotResetError`,
        :class:`EpisodeDoneError`, :class:`InvalidRequestError`, and if the server no longer has the episode
        :class:`EpisodeLostError`.
        """
        return self._run(self._session.step(action))

    def finish(self) -> StepResult:
        """End the episode before its time, as with its budget spent: it has a result and a reward, and counts.

        For a rollout that cannot go on, such as one out of tokens; :meth:`close` gives an episode up without a result.
        Raises as :meth:`step`, and after :class:`ServerUnavailableError` may be called again.
        """
        return self._run(self._session.finish())

    def state(self) -> EpisodeState:
        """Return the whole conversation so far. Works after the end too, as long as the server keeps the episode."""
        return self._run(self._session.state())

    def curriculum(self, run_id: str = "default") -> Curriculum:
        """Return a run of the server: its curriculum, what it draws, and what is reported to it."""
        return Curriculum(RunOperations(run_id, self._retry_for), self._run)

    def close(self) -> None:
        """End a live episode and close the connections. May be called again; a later reset opens new connections."""
        self._run(self._session.end())
        with self._lock:
            http, self._http = self._http, None
        if http is None:
            return
        self._cookies.clear()
        if self._transport is None:
            connections().release(self)
        else:
            http.close()

    def __enter__(self) -> Self:
        """Return the env; leaving the block closes it."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close the env."""
        self.close()

    def _connect_anew(self) -> None:
        """Forget connections and lock if they belong to the process from which this one was forked."""
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
        http = self._http = self._http or self._connected()
        time.sleep(request.after_s)
        started = time.monotonic()
        try:
            reply: httpx.Response | httpx.RequestError = self._taken(http.send(self._built(http, request)))
        except httpx.RequestError as error:
            reply = error
        return Outcome(started, time.monotonic(), reply)

    def _connected(self) -> httpx.Client:
        if self._transport is None:
            return connections().acquire(self)
        return httpx.Client(transport=self._transport, **own_options())


class AsyncEcomEnv(_Shell):
    """:class:`EcomEnv` for asyncio: the same arguments and verbs, awaited.

    The env stays usable after a cancelled call. A cancelled step is like one without an answer: call again with the
    same action to continue.
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
        self._sibling = partial(
            AsyncEcomEnv, base_url, env=env, token=token, timeout=timeout, retry_for=retry_for, transport=transport
        )
        self._home: tuple[int, asyncio.AbstractEventLoop] | None = None
        self._lock = asyncio.Lock()
        self._http: httpx.AsyncClient | None = None

    async def reset(self, **arguments: Any) -> StepResult:
        """Start an episode; see :meth:`EcomEnv.reset`."""
        result = await self._run(self._session.reset(arguments))
        if self._transport is None:
            heart().keep(self)
        return result

    async def step(self, action: Mapping[str, Any] | Action | str) -> StepResult:
        """Take one agent turn; see :meth:`EcomEnv.step`."""
        return await self._run(self._session.step(action))

    async def finish(self) -> StepResult:
        """End the episode before its time, with a result; see :meth:`EcomEnv.finish`."""
        return await self._run(self._session.finish())

    async def state(self) -> EpisodeState:
        """Return the whole conversation so far."""
        return await self._run(self._session.state())

    def curriculum(self, run_id: str = "default") -> AsyncCurriculum:
        """Return a run of the server; see :meth:`EcomEnv.curriculum`."""
        return AsyncCurriculum(RunOperations(run_id, self._retry_for), self._run)

    def batch(
        self,
        specs: Iterable[Mapping[str, Any]],
        play: Callable[[AsyncEcomEnv, StepResult], Awaitable[T]],
        *,
        concurrency: int = 64,
        progress: Callable[[Progress], None] = lambda _: None,
    ) -> AsyncGenerator[Played[T] | Failed, None]:
        """Play one episode for each of ``specs``, which are arguments of a reset, and yield the outcomes as they come.

        >>> async for outcome in env.batch([{"env_id": "CART"}] * 256, play, concurrency=64):  # doctest: +SKIP
        ...     match outcome:
        ...         case Played(value=reward): rewards.append(reward)
        ...         case Failed(spec=spec, error=error): print(spec, error)

        ``play`` gets an env of its own and the answer to its reset. At most ``concurrency`` episodes are live, and none
        begins while outcomes wait to be taken. While the server has no place an episode waits, for as long as it takes.
        An exception of a reset or of ``play`` is that episode's outcome. ``progress`` is called at every change. This
        env's own episode is left alone.
        """
        return play_batch(self._sibling, specs, play, concurrency=concurrency, progress=progress)

    async def close(self) -> None:
        """End a live episode and close the connections. May be called again."""
        await self._run(self._session.end())
        http, self._http = self._http, None
        if http is None:
            return
        self._cookies.clear()
        if self._transport is None:
            await connections().release_async(self)
        else:
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
        """Forget connections and lock if they belong to another event loop or process."""
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
        http = self._http = self._http or self._connected()
        await asyncio.sleep(request.after_s)
        started = time.monotonic()
        try:
            reply: httpx.Response | httpx.RequestError = self._taken(await http.send(self._built(http, request)))
        except httpx.RequestError as error:
            reply = error
        return Outcome(started, time.monotonic(), reply)

    def _connected(self) -> httpx.AsyncClient:
        if self._transport is None:
            return connections().acquire_async(self)
        return httpx.AsyncClient(transport=self._transport, **own_options())
