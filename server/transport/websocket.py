"""WebSocket: a socket is a session with at most one episode at a time; one answer per frame, in order.

    connected ── place taken ──> open ── {"type": "close"} or the peer goes ──> closed
        └── no place, environment or session ──> refused: told, and kept until the peer's first message ──> closed

A wrong frame is answered with an error frame and changes nothing. With ``?session_id=`` a socket attaches to a JSON-RPC
session, which stays when the socket goes: a client that reconnects finds its episode where it was.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, TypeGuard

from starlette.types import Message
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from ecom_rlve.envs.registry import environment
from ecom_rlve.models import FinishRequest, ResetRequest, ResumeRequest
from ecom_rlve.server.admission.errors import AccountFullError, UnauthorizedError
from ecom_rlve.server.admission.tokens import Scope, require
from ecom_rlve.server.episodes.record import Connection, Record
from ecom_rlve.server.errors import (
    BadRequestError,
    CapacityError,
    InvalidJsonError,
    NotResetError,
    PayloadTooLargeError,
    UnknownFrameError,
    translate,
)
from ecom_rlve.server.mcp.rpc import Rpc, tool_reset
from ecom_rlve.server.mcp.tools import call_action, callable_tools, listed, own_tools
from ecom_rlve.server.operations.request_figures import Frames
from ecom_rlve.server.service import Service
from ecom_rlve.server.transport.limits import parse_json
from ecom_rlve.server.transport.routes import chosen_request_id
from ecom_rlve.server.transport.run_routes import RunRoutes

REFUSAL_WAIT_S = 5.0
"""Seconds that a refused socket stays open, so that clients that write first can read why."""
# Close codes of the WebSocket protocol.
_SERVICE_RESTART = 1012
"""uvicorn closes every socket so when it is stopped: the episodes stay in the journal, and clients take them up."""
_TRY_AGAIN_LATER = 1013
_POLICY = 1008
_NORMAL = 1000
_MAX_ID = 255
_MOST_ID = 1 << 63


async def serve_socket(websocket: WebSocket, service: Service, env: str | None) -> None:
    """Serve one socket from its handshake to its end; ``env`` is the environment in the address, if any."""
    await websocket.accept()
    try:
        fixed = None if env is None else environment(env).about.id
        session_id = websocket.query_params.get("session_id")
        connection = await service.rpc_sessions.find(session_id) if session_id else await service.connect()
    except Exception as error:
        code = _TRY_AGAIN_LATER if isinstance(error, CapacityError | AccountFullError) else _POLICY
        await _refuse(websocket, translate(error).frame(), code)
        return
    conversation = _Conversation(websocket, service, connection, fixed)
    try:
        with service.sessions.using(connection):
            await conversation.run()
    except WebSocketDisconnect:
        pass
    finally:
        if not connection.is_kept:
            service.disconnect(connection, is_kept=conversation.code == _SERVICE_RESTART)


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
        self._rpc = Rpc(service)
        self._env = env
        self._limit = service.settings.max_body_bytes
        self._is_leased = False
        """The client sends heartbeats."""
        self._frames = Frames(service.metrics.requests, "/ws" if env is None else "/envs/{env}/ws")
        self.code = _NORMAL
        """With which the socket was closed."""
        self._runs = RunRoutes(service).answers()
        self._answers = {
            "step": self._step,
            "reset": self._reset,
            "finish": self._finish,
            "state": self._state,
            "resume": self._resume,
            "mcp": self._mcp,
            "heartbeat": self._heartbeat,
            **dict.fromkeys(self._runs, self._of_runs),
        }

    async def run(self) -> None:
        websocket = self._websocket
        while True:
            message = await self._received()
            if message["type"] == "websocket.disconnect":
                self.code = message.get("code", _NORMAL)
                return
            request_id = None
            is_revoked = False
            with self._frames as notes:
                try:
                    # The token may have been revoked since the last frame.
                    require(Scope.PLAY)
                    frame = self._read(message)
                    self._connection = await self._service.rpc_sessions.refreshed(self._connection)
                    notes.kind = self._kind(frame)
                    request_id = _echoed_id(frame)
                    answer = await self._answer(frame)
                except Exception as error:
                    is_revoked = isinstance(error, UnauthorizedError)
                    answer = translate(error).frame()
            if answer is None:
                await websocket.close(_NORMAL)
                return
            await websocket.send_text(answer if request_id is None else _with_request_id(answer, request_id))
            if is_revoked:
                await websocket.close(_POLICY)
                return

    async def _received(self) -> Message:
        """Return the next message; of a client that sends heartbeats and falls silent, that it has gone."""
        if not self._is_leased:
            return await self._websocket.receive()
        try:
            async with asyncio.timeout(self._service.leases.lease_s):
                return await self._websocket.receive()
        except TimeoutError:
            await self._websocket.close(_POLICY)
            return {"type": "websocket.disconnect"}

    async def _heartbeat(self, _frame: dict[str, Any]) -> str:
        self._is_leased = True
        return json.dumps({"type": "heartbeat", "data": {"lease_s": self._service.leases.lease_s}})

    def _read(self, message: Mapping[str, Any]) -> dict[str, Any]:
        """Return the object that a frame holds."""
        text = message.get("text")
        if text is None:
            raise InvalidJsonError("frames are JSON text, this one is binary")
        # A character has at most four bytes, so most frames need no exact count.
        if len(text) * 4 > self._limit and len(text.encode()) > self._limit:
            raise PayloadTooLargeError(self._limit)
        frame = parse_json(text)
        if type(frame) is not dict:
            raise BadRequestError('a frame is an object, as in {"type": "state"}')
        return frame

    def _kind(self, frame: Mapping[str, Any]) -> str:
        """Return the type of a frame as a figure's label: one that is known."""
        kind = frame.get("type")
        return kind if isinstance(kind, str) and (kind in self._answers or kind == "close") else "other"

    async def _answer(self, frame: dict[str, Any]) -> str | None:
        """Return the frame that answers a frame; None if it asks to close."""
        kind = frame.get("type")
        known = 2 if "request_id" in frame else 1
        if kind == "close" and len(frame) == known:
            return None
        answer = self._answers.get(kind) if type(kind) is str else None
        if answer is None and kind != "close":
            raise UnknownFrameError(f"type: one of {', '.join(self._answers)}, close is wanted")
        known += "data" in frame and kind not in ("state", "heartbeat", "close")
        if answer is None or len(frame) > known:
            raise BadRequestError(
                f"{kind}: only 'type', 'request_id' and, except for state and close, 'data' are known"
            )
        return await answer(frame)

    async def _step(self, frame: dict[str, Any]) -> str:
        action = _data(frame)
        record = self._connection.record
        if action.get("type") == "list_tools":
            return self._tools(None if record is None else record.env_id)
        if action.get("type") == "call_tool" and self._is_tool_style:
            return await self._called(action)
        body = await self._service.step(self._held(), action, chosen_request_id(action))
        return f'{{"type":"observation","data":{body}}}'

    async def _reset(self, frame: dict[str, Any]) -> str:
        data = _data(frame) if "data" in frame else {}
        request = ResetRequest.model_validate(data) if self._connection.session_id is None else tool_reset(data)
        body = await self._service.reset(request, self._connection, self._env)
        return f'{{"type":"observation","data":{body}}}'

    async def _finish(self, frame: dict[str, Any]) -> str:
        request = FinishRequest.model_validate(_data(frame) if "data" in frame else {})
        body = await self._service.finish(self._held(), request.request_id)
        return f'{{"type":"observation","data":{body}}}'

    async def _state(self, _frame: dict[str, Any]) -> str:
        return f'{{"type":"state","data":{await self._service.state(self._held())}}}'

    async def _resume(self, frame: dict[str, Any]) -> str:
        request = ResumeRequest.model_validate(_data(frame) if "data" in frame else {})
        return f'{{"type":"state","data":{await self._service.resume(request.episode_id, self._connection)}}}'

    async def _mcp(self, frame: dict[str, Any]) -> str:
        return json.dumps(
            {"type": "mcp", "data": await self._rpc.answer(frame.get("data"), self._env, self._connection)}
        )

    async def _of_runs(self, frame: dict[str, Any]) -> str:
        kind = frame["type"]
        answer = await self._runs[kind](_data(frame) if "data" in frame else {})
        return f'{{"type":"{kind}","data":{answer}}}'

    def _held(self) -> Record:
        record = self._connection.record
        if record is None:
            raise NotResetError("this socket has no episode; send a reset first")
        return record

    @property
    def _is_tool_style(self) -> bool:
        """Whether tools are called one at a time here: in a session before its reset too."""
        record = self._connection.record
        return self._connection.session_id is not None if record is None else record.episode.spec.style == "tool"

    async def _called(self, action: dict[str, Any]) -> str:
        """Answer OpenEnv's ``call_tool`` in the form of its own tool environments."""
        request_id = chosen_request_id(action)
        called = call_action(action.get("tool_name"), action.get("arguments"))
        answer = await self._rpc.step(self._connection, called, request_id)
        answer["observation"] = {"tool_name": action["tool_name"], "result": answer["observation"], "error": None}
        return json.dumps({"type": "observation", "data": answer})

    def _tools(self, env: str | None) -> str:
        """Answer OpenEnv's ``list_tools``, which some trainers send before any reset."""
        tools = callable_tools if self._connection.session_id is not None else own_tools
        data = {
            "observation": {"tools": listed(tools(env or self._env), "input_schema")},
            "reward": None,
            "done": False,
        }
        return json.dumps({"type": "observation", "data": data})


def _data(frame: dict[str, Any]) -> dict[str, Any]:
    data = frame.get("data")
    if type(data) is not dict:
        raise BadRequestError("data: an object is wanted")
    return data


def _echoed_id(frame: dict[str, Any]) -> str | int | None:
    """Return the request id that the answer to a frame carries: its own, or that of its data.

    Raises:
        BadRequestError: the frame's own is neither a short string nor a whole number.
    """
    own = frame.get("request_id")
    if own is not None:
        if not _is_id(own):
            raise BadRequestError(f"request_id: a string of 1 to {_MAX_ID} characters, or a whole number, is wanted")
        return own
    data = frame.get("data")
    if type(data) is not dict:
        return None
    inner = data.get("request_id")
    if inner is None and type(data.get("metadata")) is dict:
        inner = data["metadata"].get("request_id")
    return inner if _is_id(inner) else None


def _is_id(value: object) -> TypeGuard[str | int]:
    if type(value) is str:
        return 1 <= len(value) <= _MAX_ID
    return type(value) is int and abs(value) < _MOST_ID


def _with_request_id(frame: str, request_id: str | int) -> str:
    """Return a frame with the request id in it; its end is ours, so no text has to be read again."""
    return f'{frame[:-1]},"request_id":{json.dumps(request_id)}}}'
