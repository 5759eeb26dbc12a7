"""The service on an event loop of its own, for hosts that call from any thread or any loop."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Coroutine
from functools import lru_cache
from typing import Any, TypeVar

from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import ErrorCode, ResetRequest
from ecom_rlve.server.app import opened_shop
from ecom_rlve.server.episodes.record import Connection
from ecom_rlve.server.errors import NotResetError, translate
from ecom_rlve.server.service import Service
from ecom_rlve.server.settings import Settings
from ecom_rlve.server.transport.routes import chosen_request_id
from ecom_rlve.server.voices import require_model

T = TypeVar("T")


class RefusedError(RuntimeError):
    """What a host was refused. The text begins with the stable code, for hosts that pass on the text alone."""

    def __init__(self, code: ErrorCode, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


class Hosted:
    """One service and the thread that runs its event loop. All environments of a process share it."""

    def __init__(self, settings: Settings, shop: Shop | None = None) -> None:
        """Open the shop and start; raises as ``create_app``, and ``VoiceError`` where a model must answer and does not.

        ``shop`` is an open one; None opens that of ``settings``.
        """
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, name="ecom-rlve", daemon=True).start()
        self.service: Service = self.wait(self._started(settings, shop or opened_shop(settings)))

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the service's loop and wait for it; call this from any other thread."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def awaited(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the service's loop and await it on the caller's."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    def close(self) -> None:
        """Let go of everything; no call may follow."""
        self.wait(self.service.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)

    @staticmethod
    async def _started(settings: Settings, shop: Shop) -> Service:
        await require_model(settings)
        return Service(settings, shop)


@lru_cache(maxsize=1)
def hosted() -> Hosted:
    """Return the service of this process, set up by the process environment like a server."""
    return Hosted(Settings())


class Seat:
    """One environment's place in the service: taken by the first reset, freed by :meth:`leave`.

    Every method runs on the service's loop and raises :class:`RefusedError` alone.
    """

    def __init__(self, service: Service, env: str | None) -> None:
        self._service = service
        self._env = env
        self._connection: Connection | None = None

    async def reset(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Start an episode; return the answer as it travels."""
        return await self._told(lambda: self._reset(arguments))

    async def step(self, action: dict[str, Any]) -> dict[str, Any]:
        """Take a step; return the answer as it travels."""
        return await self._told(lambda: self._step(action))

    async def state(self) -> dict[str, Any] | None:
        """Return the conversation so far; None before a reset."""
        record = None if self._connection is None else self._connection.record
        return None if record is None else await self._told(lambda: self._service.state(record))

    async def leave(self) -> None:
        """Free the place; a live episode is dropped."""
        if self._connection is not None:
            self._service.disconnect(self._connection)
            self._connection = None

    async def _reset(self, arguments: dict[str, Any]) -> str:
        request = ResetRequest.model_validate(arguments)
        if self._connection is None:
            self._connection = await self._service.connect()
        return await self._service.reset(request, self._connection, self._env)

    async def _step(self, action: dict[str, Any]) -> str:
        if self._connection is None or self._connection.record is None:
            raise NotResetError("this environment has no episode; reset it first")
        return await self._service.step(self._connection.record, action, chosen_request_id(action))

    @staticmethod
    async def _told(work: Callable[[], Coroutine[Any, Any, str]]) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = json.loads(await work())
        except Exception as error:
            fault = translate(error)
            raise RefusedError(fault.row.code, fault.message) from None
        return answer
