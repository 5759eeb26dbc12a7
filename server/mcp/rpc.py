"""JSON-RPC 2.0 at ``/mcp`` and in ``mcp`` frames.

    openenv/session/create ── place taken ──> session ── openenv/session/close, or nobody uses it ──> closed
                                                 └── tools/list, tools/call; a socket may attach: /ws?session_id=…

A session plays one episode at a time, always in style ``tool``. It begins by a reset on an attached socket, or with the
session where ``openenv/session/create`` carries ``reset``. In a frame the session is the socket's own.

A mistake in the envelope of a request is the client's, gets an error and costs nothing. Which tool is called, and with
what, is the model's: a mistake there ends the episode as everywhere.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType
from typing import Any

import pydantic

import ecom_rlve
from ecom_rlve.envs.errors import UnknownEnvironmentError
from ecom_rlve.models import ErrorCode, ResetRequest
from ecom_rlve.server.episodes.record import Connection
from ecom_rlve.server.errors import (
    BadRequestError,
    InvalidJsonError,
    NotResetError,
    UnknownSessionError,
    translate,
)
from ecom_rlve.server.mcp.tools import call_action, callable_tools, is_error, listed
from ecom_rlve.server.service import Service
from ecom_rlve.server.transport.limits import parse_json

# The codes of JSON-RPC 2.0; those from -32000 down are the server's own.
_PARSE_ERROR = -32700
_INVALID_REQUEST = -32600
_METHOD_NOT_FOUND = -32601
_INVALID_PARAMS = -32602
_INTERNAL_ERROR = -32603
_SERVER_ERROR = -32000
_PARAMS_ERRORS = (BadRequestError, UnknownSessionError, UnknownEnvironmentError, pydantic.ValidationError)
_VERSIONS = ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05")
"""Versions of MCP whose requests for tools look alike, the newest first."""
_MAX_ID = 255
_HOW_TO_BEGIN = (
    "Create a session by openenv/session/create with the arguments of a reset in 'reset', then call its tools with the "
    "session_id that it returns."
)

Params = dict[str, Any]
Method = Callable[[Params, str | None, Connection | None], Awaitable[dict[str, Any]]]


class Rpc:
    """The methods over one service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._sessions = service.sessions
        self._methods: dict[str, Method] = {
            "openenv/session/create": self._create,
            "openenv/session/close": self._close,
            "tools/list": self._list,
            "tools/call": self._call,
            "initialize": self._initialize,
            "ping": self._ping,
        }

    async def answer_text(self, raw: bytes | str, env: str | None) -> str | None:
        """Return the answer to a request's text, None to a notification; ``env`` is that of the address, if any."""
        try:
            message = parse_json(raw)
        except InvalidJsonError as error:
            return json.dumps(_failure(None, _PARSE_ERROR, str(error), ErrorCode.INVALID_JSON))
        answer = await self.answer(message, env)
        return None if answer is None else json.dumps(answer)

    async def answer(self, message: Any, env: str | None, connection: Connection | None = None) -> Any:
        """Return the answer to a parsed request, None to a notification; never raises.

        ``connection`` is the socket that the request came on; None over HTTP.
        """
        wanted = "a JSON-RPC 2.0 request object is wanted"
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            return _failure(None, _INVALID_REQUEST, wanted)
        method, request_id = message.get("method"), message.get("id")
        if not isinstance(method, str):
            return _failure(None, _INVALID_REQUEST, wanted)
        if request_id is not None and (isinstance(request_id, bool) or not isinstance(request_id, str | int | float)):
            return _failure(None, _INVALID_REQUEST, "id: a string or a number is wanted")
        if "id" not in message and method.startswith("notifications/"):
            return None
        if method not in self._methods:
            return _failure(
                request_id, _METHOD_NOT_FOUND, f"the methods are: {', '.join(self._methods)}", ErrorCode.NOT_FOUND
            )
        try:
            params = message.get("params")
            if params is not None and not isinstance(params, dict):
                raise BadRequestError("params: an object is wanted")
            result = await self._methods[method](params or {}, env, connection)
        except Exception as error:
            return _refusal(request_id, error)
        return {"jsonrpc": "2.0", "id": request_id, "result": result}

    async def _create(self, params: Params, env: str | None, connection: Connection | None) -> dict[str, Any]:
        reset = params.get("reset")
        request = None if reset is None else tool_reset(reset)
        made = connection or await self._service.rpc_sessions.open()
        try:
            with self._sessions.using(made):
                session_id = self._sessions.session_id(made)
                if request is None:
                    return {"session_id": session_id}
                started = await self._service.reset(request, made, env)
        except BaseException:
            if connection is None:
                self._service.rpc_sessions.give_up(made)
            raise
        return {"session_id": session_id, **json.loads(started)}

    async def _close(self, params: Params, _env: str | None, connection: Connection | None) -> dict[str, Any]:
        session_id = _text(params, "session_id")
        named = await self._service.rpc_sessions.find(session_id)
        if named is connection or not named.is_kept:
            raise BadRequestError("session_id: this session is a socket's; close the socket")
        await self._service.rpc_sessions.close(named)
        return {"session_id": session_id, "closed": True}

    async def _list(self, params: Params, env: str | None, connection: Connection | None) -> dict[str, Any]:
        asked = params.get("env_id")
        if asked is not None and not isinstance(asked, str):
            raise BadRequestError("env_id: a string is wanted")
        session = await self._session(params, connection)
        record = None if session is None else session.record
        return {"tools": listed(callable_tools(record.env_id if record else env or asked), "inputSchema")}

    async def _call(self, params: Params, _env: str | None, connection: Connection | None) -> dict[str, Any]:
        session = await self._session(params, connection)
        if session is None:
            raise BadRequestError("session_id: tools are called in a session; create one by openenv/session/create")
        action = call_action(params.get("name"), params.get("arguments"))
        request_id = None if params.get("request_id") is None else _text(params, "request_id")
        observation = (await self.step(session, action, request_id))["observation"]
        return {
            "content": [{"type": "text", "text": json.dumps(observation, ensure_ascii=False)}],
            "structuredContent": observation,
            # What OpenEnv's client returns to its caller.
            "data": observation,
            "isError": is_error(observation),
        }

    async def step(self, session: Connection, action: dict[str, Any], request_id: str | None) -> dict[str, Any]:
        """Take one step of a session's episode.

        Raises:
            NotResetError: it has none.
            BadRequestError: its style is not ``tool``.
        """
        record = session.record
        if record is None:
            raise NotResetError("this session has no episode; send a reset on a socket attached to it first")
        if record.episode.spec.style != "tool":
            raise BadRequestError("tools are called one at a time in style 'tool'; this episode's style is 'turn'")
        with self._sessions.using(session):
            answer: dict[str, Any] = json.loads(await self._service.step(record, action, request_id))
        return answer

    async def _initialize(self, params: Params, _env: str | None, _connection: Connection | None) -> dict[str, Any]:
        asked = params.get("protocolVersion")
        return {
            "protocolVersion": asked if asked in _VERSIONS else _VERSIONS[0],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "ecom-rlve", "version": ecom_rlve.__version__},
            "instructions": _HOW_TO_BEGIN,
        }

    async def _ping(self, _params: Params, _env: str | None, _connection: Connection | None) -> dict[str, Any]:
        return {}

    async def _session(self, params: Params, connection: Connection | None) -> Connection | None:
        """Return the session that a request names, else the socket that it came on."""
        if params.get("session_id") is None:
            return connection
        return await self._service.rpc_sessions.find(_text(params, "session_id"))


def tool_reset(data: Any) -> ResetRequest:
    """Return the reset of a session's episode: in style ``tool``, and without the list of tools unless it is asked for.

    OpenEnv's client takes an observation with ``tools`` in it for a list of tools and nothing else. How an action is
    written does not concern a client that calls tools.

    Raises:
        BadRequestError: it names another style, or is no object.
        ValidationError: its arguments are wrong.
    """
    if not isinstance(data, dict):
        raise BadRequestError("reset: an object is wanted")
    given = {name: value for name, value in data.items() if value is not None}
    if given.get("style", "tool") != "tool":
        raise BadRequestError("style: the episodes of a session that calls tools are of style 'tool'")
    return ResetRequest.model_validate({"include": ["brief"], **given, "style": "tool"})


def _text(params: Params, name: str) -> str:
    value = params.get(name)
    if not isinstance(value, str) or not 1 <= len(value) <= _MAX_ID:
        raise BadRequestError(f"{name}: a string of 1 to {_MAX_ID} characters is wanted")
    return value


def _refusal(request_id: Any, error: Exception) -> dict[str, Any]:
    fault = translate(error)
    if isinstance(error, _PARAMS_ERRORS):
        number = _INVALID_PARAMS
    else:
        number = _INTERNAL_ERROR if fault.row.code is ErrorCode.INTERNAL_ERROR else _SERVER_ERROR
    more = fault.extra if fault.errors is None else {**fault.extra, "errors": fault.errors}
    # Clients show their callers the message alone.
    return _failure(request_id, number, f"{fault.row.code}: {fault.message}", fault.row.code, more)


def _failure(
    request_id: Any,
    number: int,
    message: str,
    code: ErrorCode = ErrorCode.VALIDATION_ERROR,
    more: Mapping[str, Any] = MappingProxyType({}),
) -> dict[str, Any]:
    error = {"code": number, "message": message, "data": {"code": code, **more}}
    return {"jsonrpc": "2.0", "id": request_id, "error": error}
