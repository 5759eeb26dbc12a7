"""WebSocket: a socket is a session with at most one episode at a time; one answer per frame, in order.

    connected ── place taken ──> open ── {"type": "close"} or the peer goes ──> closed
        └── no place, or no such environment ──> refused: told, and kept until the peer's first message ──> closed

A wrong frame is answered with an error frame and changes nothing.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from ecom_rlve.envs.registry import environment
from ecom_rlve.models import FinishRequest, ResetRequest
from ecom_rlve.server.errors import (
    BadRequestError,
    CapacityError,
    InvalidJsonError,
    NotResetError,
    PayloadTooLargeError,
    UnknownFrameError,
    translate,
)
from ecom_rlve.server.service import Service
from ecom_rlve.server.sessions import Connection, Record
from ecom_rlve.server.transport import mcp
from ecom_rlve.server.transport.limits import parse_json
from ecom_rlve.server.transport.routes import chosen_request_id
from ecom_rlve.server.transport.run_routes import RunRoutes

REFUSAL_WAIT_S = 5.0
"""Seconds that a refused socket stays open, so that clients that write first can read why."""
# Close codes of the WebSocket protocol.
_TRY_AGAIN_LATER = 1013
_POLICY = 1008
_NORMAL = 1000


async def serve_socket(websocket: WebSocket, service: Service, env: str | None) -> None:
    """Serve one socket from its handshake to its end; ``env`` is the environment in the address, if any."""
    await websocket.accept()
    try:
        fixed = None if env is None else environment(env).about.id
        connection = service.sessions.connect()
    except Exception as error:
        code = _TRY_AGAIN_LATER if isinstance(error, CapacityError) else _POLICY
        await _refuse(websocket, translate(error).frame(), code)
        return
    try:
        await _Conversation(websocket, service, connection, fixed).run()
    except WebSocketDisconnect:
        pass
    finally:
        service.disconnect(connection)


async def _refuse(websocket: WebSocket, frame: str, code: int) -> None:
    try:
        await websocket.send_text(frame)
        async with asyncio.timeout(REFUSAL_WAIT_S):
            await websocket.receive()
    except TimeoutError:
        pass
    except (OSError, WebSocketDisconnect):
        return
    if websocket.client_state is WebSocketState.CONNECTED:
        await websocket.close(code)


class _Conversation:
    """The frames of one socket."""

    def __init__(self, websocket: WebSocket, service: Service, connection: Connection, env: str | None) -> None:
        self._websocket = websocket
        self._service = service
        self._connection = connection
        self._env = env
        self._limit = service.settings.max_body_bytes
        self._runs = RunRoutes(service).answers()
        self._answers = {
            "step": self._step,
            "reset": self._reset,
            "finish": self._finish,
            "state": self._state,
            "mcp": self._mcp,
            **dict.fromkeys(self._runs, self._of_runs),
        }

    async def run(self) -> None:
        websocket = self._websocket
        while True:
            message = await websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            try:
                answer = await self._answer(message)
            except Exception as error:
                answer = translate(error).frame()
            if answer is None:
                await websocket.close(_NORMAL)
                return
            await websocket.send_text(answer)

    async def _answer(self, message: Mapping[str, Any]) -> str | None:
        """Return the frame that answers ``message``; None if it asks to close."""
        text = message.get("text")
        if text is None:
            raise InvalidJsonError("frames are JSON text, this one is binary")
        # A character has at most four bytes, so most frames need no exact count.
        if len(text) * 4 > self._limit and len(text.encode()) > self._limit:
            raise PayloadTooLargeError(self._limit)
        frame = parse_json(text)
        if type(frame) is not dict:
            raise BadRequestError('a frame is an object, as in {"type": "state"}')
        kind = frame.get("type")
        if kind == "close" and len(frame) == 1:
            return None
        answer = self._answers.get(kind) if type(kind) is str else None
        if answer is None and kind != "close":
            raise UnknownFrameError(f"type: one of {', '.join(self._answers)}, close is wanted")
        if answer is None or len(frame) > 2 or (len(frame) == 2 and ("data" not in frame or kind == "state")):
            raise BadRequestError(f"{kind}: only 'type' and, except for state and close, 'data' are known")
        return await answer(frame)

    async def _step(self, frame: dict[str, Any]) -> str:
        action = _data(frame)
        record = self._connection.record
        if action.get("type") == "list_tools":
            return self._tools(None if record is None else record.env_id)
        body = await self._service.step(self._held(), action, chosen_request_id(action))
        return f'{{"type":"observation","data":{body}}}'

    async def _reset(self, frame: dict[str, Any]) -> str:
        request = ResetRequest.model_validate(_data(frame) if "data" in frame else {})
        body = await self._service.reset(request, self._connection, self._env)
        return f'{{"type":"observation","data":{body}}}'

    async def _finish(self, frame: dict[str, Any]) -> str:
        request = FinishRequest.model_validate(_data(frame) if "data" in frame else {})
        body = await self._service.finish(self._held(), request.request_id)
        return f'{{"type":"observation","data":{body}}}'

    async def _state(self, _frame: dict[str, Any]) -> str:
        return f'{{"type":"state","data":{await self._service.state(self._held())}}}'

    async def _mcp(self, frame: dict[str, Any]) -> str:
        return json.dumps({"type": "mcp", "data": mcp.answer(frame.get("data"), self._env)})

    async def _of_runs(self, frame: dict[str, Any]) -> str:
        kind = frame["type"]
        return f'{{"type":"{kind}","data":{self._runs[kind](_data(frame) if "data" in frame else {})}}}'

    def _held(self) -> Record:
        record = self._connection.record
        if record is None:
            raise NotResetError("this socket has no episode; send a reset first")
        return record

    def _tools(self, env: str | None) -> str:
        """Answer OpenEnv's ``list_tools``, which some trainers send before any reset."""
        listed = [
            {"name": each["name"], "description": each["description"], "input_schema": each["parameters"]}
            for each in mcp.tools(env or self._env)
        ]
        data = {"observation": {"tools": listed}, "reward": None, "done": False}
        return json.dumps({"type": "observation", "data": data})


def _data(frame: dict[str, Any]) -> dict[str, Any]:
    data = frame.get("data")
    if type(data) is not dict:
        raise BadRequestError("data: an object is wanted")
    return data
