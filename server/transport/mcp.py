"""JSON-RPC 2.0, with the one method ``tools/list``, which needs no episode."""

from __future__ import annotations

import json
from typing import Any

from ecom_rlve.envs.errors import UnknownEnvironmentError
from ecom_rlve.envs.registry import environment, environments
from ecom_rlve.server.errors import InvalidJsonError, translate
from ecom_rlve.server.transport.limits import parse_json

# The codes of JSON-RPC 2.0.
_PARSE_ERROR = -32700
_INVALID_REQUEST = -32600
_METHOD_NOT_FOUND = -32601
_INVALID_PARAMS = -32602
_INTERNAL_ERROR = -32603


def answer_text(raw: bytes | str, env: str | None) -> str:
    """Return the JSON-RPC answer to a request's text; ``env`` is the environment in the address, if any."""
    try:
        message = parse_json(raw)
    except InvalidJsonError as error:
        return json.dumps(_failure(None, _PARSE_ERROR, str(error)))
    return json.dumps(answer(message, env))


def answer(message: Any, env: str | None) -> dict[str, Any]:
    """Return the JSON-RPC answer to a parsed request; never raises."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0" or not isinstance(message.get("method"), str):
        return _failure(None, _INVALID_REQUEST, "a JSON-RPC 2.0 request object is wanted")
    request_id = message.get("id")
    if request_id is not None and (isinstance(request_id, bool) or not isinstance(request_id, str | int | float)):
        return _failure(None, _INVALID_REQUEST, "id: a string or a number is wanted")
    if message["method"] != "tools/list":
        return _failure(request_id, _METHOD_NOT_FOUND, "the methods are: tools/list")
    params = message.get("params") or {}
    asked = params.get("env_id") if isinstance(params, dict) else params
    if asked is not None and not isinstance(asked, str):
        return _failure(request_id, _INVALID_PARAMS, "params: an object is wanted, env_id in it a string")
    try:
        found = tools(env or asked)
    except UnknownEnvironmentError as error:
        return _failure(request_id, _INVALID_PARAMS, str(error))
    except Exception as error:
        return _failure(request_id, _INTERNAL_ERROR, translate(error).message)
    listed = [
        {"name": each["name"], "description": each["description"], "inputSchema": each["parameters"]} for each in found
    ]
    return {"jsonrpc": "2.0", "id": request_id, "result": {"tools": listed}}


def tools(env: str | None) -> list[dict[str, Any]]:
    """Return the tools of one environment, or of all, each name once, as name, description and parameters.

    Raises:
        UnknownEnvironmentError: no environment has this name.
    """
    chosen = environments().values() if env is None else [environment(env)]
    by_name: dict[str, dict[str, Any]] = {}
    for each in chosen:
        for name, tool in each.about.tools.items():
            by_name.setdefault(name, tool.schema["function"])
    return list(by_name.values())


def _failure(request_id: str | float | None, code: int, message: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": request_id, "error": {"code": code, "message": message}}
