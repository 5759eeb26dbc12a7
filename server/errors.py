"""Errors between a client and its episode, and the only table that says how each of them is answered.

    ServerError
    ├── InvalidJsonError          not JSON
    ├── BadRequestError           JSON of the wrong shape
    │   └── EnvironmentConflictError
    ├── UnknownFrameError         a WebSocket frame of no known type
    ├── PayloadTooLargeError
    ├── CapacityError             no place is left
    ├── DrainingError             the server is about to stop
    ├── RunsFullError             no room for another run or group is left
    ├── UnknownEpisodeError
    ├── UnknownSessionError       no JSON-RPC session has this id
    ├── EpisodeExistsError
    ├── NotResetError
    ├── GroupConflictError
    ├── UnknownRunError
    ├── RunConflictError          a run cannot be made or changed so
    ├── RunPinnedError            a run was played on something else than this server serves
    ├── RequestConflictError
    ├── SimulatorUnavailableError  the customer's model does not answer
    ├── EpisodeLiveError          a trace was asked for too early
    └── AnswerError               our own answer cannot be sent

Errors of the door, the store, ``ecom_rlve.envs``, pydantic and starlette are translated here and nowhere else. An error
that is not in the table is a fault of ours: the client gets an id, the log gets the id and the place in the code, and
neither gets a value.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pydantic
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from ecom_rlve.envs import errors as envs
from ecom_rlve.models import ErrorCode
from ecom_rlve.server.admission import errors as admission
from ecom_rlve.server.admission.log_filter import places
from ecom_rlve.server.operations.logs import Event
from ecom_rlve.server.operations.notes import note_error, noted
from ecom_rlve.server.store.errors import StoreUnavailableError

RETRY_AFTER_S = 5
_RETRY_ELSEWHERE_S = 1
"""Another server may answer at once; the next one takes a few seconds to start."""
_UNAVAILABLE = 503
# Messages repeat what a client sent, of which there may be a megabyte.
_MAX_MESSAGE = 1000
_MAX_ERRORS = 20
_MAX_LOCATION = 100
_logger = logging.getLogger(__name__)


class ServerError(Exception):
    """Base of the server's own errors."""


class InvalidJsonError(ServerError):
    """The body or frame is not JSON."""


class BadRequestError(ServerError):
    """The body or frame is JSON of the wrong shape."""


class EnvironmentConflictError(BadRequestError):
    """The address fixes one environment and the request names another."""


class UnknownFrameError(ServerError):
    """A WebSocket frame has no known type."""


class PayloadTooLargeError(ServerError):
    """The body or frame exceeds the limit and was not kept."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"at most {limit} bytes are accepted")


class CapacityError(ServerError):
    """All places are taken."""

    def __init__(self, active: int, limit: int) -> None:
        super().__init__(f"all {limit} places are taken; try again later, or end an episode")
        self.active = active
        self.limit = limit


class DrainingError(ServerError):
    """The server is about to stop and begins no episode any more."""


class RunsFullError(ServerError):
    """As many runs, or groups, are kept as can be."""


class UnknownEpisodeError(ServerError):
    """No episode has this id: it never existed, expired or was deleted."""


class UnknownSessionError(ServerError):
    """No JSON-RPC session has this id: it never existed, expired or was closed."""


class EpisodeExistsError(ServerError):
    """A live episode has this id already."""


class NotResetError(ServerError):
    """A step or state was asked for before any reset."""


class GroupConflictError(ServerError):
    """A reset names a group that plays another episode."""


class UnknownRunError(ServerError):
    """No run has this name."""


class RunConflictError(ServerError):
    """The run's name is taken, or what it has counted forbids the change."""


class RunPinnedError(ServerError):
    """The run was played on another version, catalog or bank than this server has."""


class RequestConflictError(ServerError):
    """A request id was used before with another body."""


class SimulatorUnavailableError(ServerError):
    """The customer's model does not answer, and the templates must not speak in its place."""


class EpisodeLiveError(ServerError):
    """What was asked for is only told after the episode has ended."""


class AnswerError(ServerError):
    """An answer of ours holds a value that JSON cannot express; it is not sent."""


class Row(NamedTuple):
    """How one kind of error is answered."""

    status: int
    """HTTP status."""
    frame: ErrorCode
    """``code`` of a WebSocket error frame: one of OpenEnv's."""
    code: ErrorCode
    """``code`` over HTTP, and the ``token`` of a frame."""


_EXECUTION = ErrorCode.EXECUTION_ERROR
_INTERNAL = Row(500, ErrorCode.SESSION_ERROR, ErrorCode.INTERNAL_ERROR)
_INVALID = Row(422, ErrorCode.VALIDATION_ERROR, ErrorCode.VALIDATION_ERROR)

TABLE: Mapping[type[Exception], Row] = {
    InvalidJsonError: Row(422, ErrorCode.INVALID_JSON, ErrorCode.INVALID_JSON),
    BadRequestError: _INVALID,
    EnvironmentConflictError: Row(409, ErrorCode.VALIDATION_ERROR, ErrorCode.VALIDATION_ERROR),
    UnknownFrameError: Row(422, ErrorCode.UNKNOWN_TYPE, ErrorCode.UNKNOWN_TYPE),
    PayloadTooLargeError: Row(413, _EXECUTION, ErrorCode.PAYLOAD_TOO_LARGE),
    admission.MalformedHttpError: Row(400, ErrorCode.VALIDATION_ERROR, ErrorCode.VALIDATION_ERROR),
    admission.UnauthorizedError: Row(401, _EXECUTION, ErrorCode.UNAUTHORIZED),
    admission.ForbiddenError: Row(403, _EXECUTION, ErrorCode.FORBIDDEN),
    admission.RequestTimeoutError: Row(408, _EXECUTION, ErrorCode.REQUEST_TIMEOUT),
    admission.UrlTooLongError: Row(414, _EXECUTION, ErrorCode.PAYLOAD_TOO_LARGE),
    admission.HeaderTooLargeError: Row(431, _EXECUTION, ErrorCode.PAYLOAD_TOO_LARGE),
    admission.TooManyConnectionsError: Row(503, ErrorCode.CAPACITY_REACHED, ErrorCode.CAPACITY_REACHED),
    admission.AccountFullError: Row(503, ErrorCode.CAPACITY_REACHED, ErrorCode.CAPACITY_REACHED),
    CapacityError: Row(503, ErrorCode.CAPACITY_REACHED, ErrorCode.CAPACITY_REACHED),
    # Trainers that know no code of ours wait and try again after this one.
    DrainingError: Row(503, ErrorCode.CAPACITY_REACHED, ErrorCode.DRAINING),
    RunsFullError: Row(503, _EXECUTION, ErrorCode.CAPACITY_REACHED),
    UnknownEpisodeError: Row(404, _EXECUTION, ErrorCode.UNKNOWN_EPISODE),
    UnknownSessionError: Row(404, _EXECUTION, ErrorCode.UNKNOWN_SESSION),
    EpisodeExistsError: Row(409, _EXECUTION, ErrorCode.EPISODE_EXISTS),
    NotResetError: Row(409, _EXECUTION, ErrorCode.NOT_RESET),
    GroupConflictError: Row(409, _EXECUTION, ErrorCode.GROUP_CONFLICT),
    UnknownRunError: Row(404, _EXECUTION, ErrorCode.UNKNOWN_RUN),
    RunConflictError: Row(409, _EXECUTION, ErrorCode.RUN_CONFLICT),
    RunPinnedError: Row(409, _EXECUTION, ErrorCode.RUN_PINNED),
    StoreUnavailableError: Row(503, _EXECUTION, ErrorCode.STORE_UNAVAILABLE),
    RequestConflictError: Row(409, _EXECUTION, ErrorCode.REQUEST_CONFLICT),
    SimulatorUnavailableError: Row(503, _EXECUTION, ErrorCode.SIMULATOR_UNAVAILABLE),
    EpisodeLiveError: Row(409, _EXECUTION, ErrorCode.EPISODE_LIVE),
    AnswerError: _INTERNAL,
    envs.UnknownEnvironmentError: Row(404, _EXECUTION, ErrorCode.UNKNOWN_ENV),
    envs.DifficultyError: Row(422, _EXECUTION, ErrorCode.DIFFICULTY_TOO_HIGH),
    envs.GenerationError: Row(422, _EXECUTION, ErrorCode.GENERATION_FAILED),
    envs.AxesError: _INVALID,
    envs.ActionError: _INVALID,
    envs.EpisodeDoneError: Row(409, _EXECUTION, ErrorCode.EPISODE_DONE),
    pydantic.ValidationError: _INVALID,
    RequestValidationError: _INVALID,
    ClientDisconnect: Row(400, ErrorCode.VALIDATION_ERROR, ErrorCode.VALIDATION_ERROR),
}


@dataclass(frozen=True)
class Fault:
    """An error as a client sees it."""

    row: Row
    message: str
    errors: list[dict[str, Any]] | None = None
    """Field by field, without any value that was sent."""
    headers: dict[str, str] = field(default_factory=dict)
    extra: dict[str, Any] = field(default_factory=dict)
    """Further fields of a frame."""

    def response(self) -> Response:
        """Return the HTTP answer."""
        detail: dict[str, Any] = {"code": self.row.code, "message": self.message}
        if self.errors is not None:
            detail["errors"] = self.errors
        body = json.dumps({"error": detail}, allow_nan=False)
        return Response(body, self.row.status, self.headers, media_type="application/json")

    def frame(self) -> str:
        """Return the WebSocket frame: OpenEnv's code, and our own code as the first word of the message."""
        own = self.row.code != self.row.frame
        message = f"{self.row.code}: {self.message}" if own else self.message
        data: dict[str, Any] = {"message": message, "code": self.row.frame, "token": self.row.code, **self.extra}
        if self.errors is not None:
            data["errors"] = self.errors
        return json.dumps({"type": "error", "data": data}, allow_nan=False)


def translate(error: Exception) -> Fault:
    """Return what a client sees of ``error``; a fault of ours is logged with the id that the client gets."""
    fault = _fault_of(error)
    note_error(fault.row.code, fault.row.status)
    return fault


def _fault_of(error: Exception) -> Fault:
    if isinstance(error, HTTPException):
        return _of_framework(error)
    row = next((TABLE[kind] for kind in type(error).__mro__ if kind in TABLE), _INTERNAL)
    if row is _INTERNAL:
        return Fault(row, f"a fault of the server, noted as {_logged(error)}; the episode is unchanged")
    if isinstance(error, pydantic.ValidationError):
        errors = _cleaned(error.errors(include_url=False, include_context=False, include_input=False))
        return Fault(row, _summary(errors), errors)
    if isinstance(error, RequestValidationError):
        errors = _cleaned(error.errors())
        return Fault(row, _summary(errors), errors)
    message = (str(error) or type(error).__doc__ or "")[:_MAX_MESSAGE]
    if isinstance(error, CapacityError):
        extra = {"active_sessions": error.active, "max_sessions": error.limit}
        return Fault(row, message, headers={"Retry-After": str(RETRY_AFTER_S)}, extra=extra)
    if row.status == _UNAVAILABLE:
        wait = _RETRY_ELSEWHERE_S if isinstance(error, DrainingError) else RETRY_AFTER_S
        return Fault(row, message, headers={"Retry-After": str(wait)})
    if isinstance(error, admission.UnauthorizedError):
        return Fault(row, message, headers={"WWW-Authenticate": "Bearer"})
    return Fault(row, message)


def _of_framework(error: HTTPException) -> Fault:
    code = ErrorCode.NOT_FOUND if error.status_code in (404, 405) else ErrorCode.VALIDATION_ERROR
    message = "no such route; see /docs" if error.status_code == 404 else str(error.detail)[:_MAX_MESSAGE]
    return Fault(Row(error.status_code, _EXECUTION, code), message, headers=dict(error.headers or {}))


def _cleaned(errors: Iterable[Any]) -> list[dict[str, Any]]:
    """Keep place, kind and message of the first errors: short, plain JSON, without values of the input."""
    kept = []
    for error, _ in zip(errors, range(_MAX_ERRORS), strict=False):
        place = [part if isinstance(part, int) else str(part)[:_MAX_LOCATION] for part in error["loc"]]
        kept.append({"type": error["type"], "loc": place, "msg": str(error["msg"])[:_MAX_MESSAGE]})
    return kept


def _summary(errors: list[dict[str, Any]]) -> str:
    first = errors[0]
    place = ".".join(map(str, first["loc"])) or "body"
    return f"{place}: {first['msg']}"


def _logged(error: Exception) -> str:
    """Log the kind of ``error`` and its places in the code, but no message: it may hold a value of a goal."""
    fault_id = secrets.token_hex(8)
    _logger.error(Event("internal_error", id=fault_id, type=type(error).__qualname__, at=places(error), **noted()))
    return fault_id
