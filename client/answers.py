"""Reading a server's answer: its body as a wire type, or the error that it reports."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from ecom_rlve.client.errors import (
    CapacityError,
    EcomEnvError,
    EpisodeDoneError,
    EpisodeError,
    EpisodeExistsError,
    EpisodeLostError,
    InfrastructureError,
    InvalidRequestError,
    NotResetError,
    RunError,
    RunPinnedError,
    ServerUnavailableError,
    UnauthorizedError,
    UnexpectedAnswerError,
    UnservableError,
)
from ecom_rlve.models import ErrorCode, ErrorResponse

# A gateway's own, and a server's that is full; the request's id keeps a second try from being applied twice.
RETRIED_STATUS = frozenset({502, 503, 504})

ERROR_CLASSES: Mapping[ErrorCode, type[EcomEnvError]] = {
    ErrorCode.INVALID_JSON: InvalidRequestError,
    ErrorCode.VALIDATION_ERROR: InvalidRequestError,
    ErrorCode.UNKNOWN_TYPE: InvalidRequestError,
    ErrorCode.EXECUTION_ERROR: EpisodeError,
    ErrorCode.CAPACITY_REACHED: CapacityError,
    ErrorCode.FACTORY_ERROR: InfrastructureError,
    ErrorCode.SESSION_ERROR: InfrastructureError,
    ErrorCode.UNKNOWN_ENV: InvalidRequestError,
    ErrorCode.UNKNOWN_EPISODE: EpisodeLostError,
    ErrorCode.UNKNOWN_SESSION: EpisodeLostError,
    ErrorCode.EPISODE_EXISTS: EpisodeExistsError,
    ErrorCode.NOT_RESET: NotResetError,
    ErrorCode.EPISODE_DONE: EpisodeDoneError,
    ErrorCode.EPISODE_LIVE: EpisodeError,
    ErrorCode.DIFFICULTY_TOO_HIGH: UnservableError,
    ErrorCode.GENERATION_FAILED: UnservableError,
    ErrorCode.GROUP_CONFLICT: InvalidRequestError,
    ErrorCode.UNKNOWN_RUN: RunError,
    ErrorCode.RUN_CONFLICT: RunError,
    ErrorCode.RUN_PINNED: RunPinnedError,
    ErrorCode.DRAINING: ServerUnavailableError,
    ErrorCode.STORE_UNAVAILABLE: ServerUnavailableError,
    ErrorCode.REQUEST_CONFLICT: InvalidRequestError,
    ErrorCode.PAYLOAD_TOO_LARGE: InvalidRequestError,
    ErrorCode.REQUEST_TIMEOUT: ServerUnavailableError,
    ErrorCode.UNAUTHORIZED: UnauthorizedError,
    ErrorCode.FORBIDDEN: UnauthorizedError,
    ErrorCode.NOT_FOUND: InvalidRequestError,
    ErrorCode.SIMULATOR_UNAVAILABLE: ServerUnavailableError,
    ErrorCode.INTERNAL_ERROR: InfrastructureError,
}

M = TypeVar("M", bound=BaseModel)


def is_retried(reply: httpx.Response | httpx.RequestError) -> bool:
    """Say whether sending the same bytes again may help."""
    if isinstance(reply, httpx.Response):
        return reply.status_code in RETRIED_STATUS
    return not isinstance(reply, (httpx.UnsupportedProtocol, httpx.LocalProtocolError))


def failure_of(reply: httpx.Response | httpx.RequestError) -> EcomEnvError | None:
    """Return the error that ``reply`` reports, None if it is an answer."""
    if isinstance(reply, httpx.RequestError):
        if not is_retried(reply):
            return InvalidRequestError(f"the request cannot be sent: {reply}")
        return ServerUnavailableError(f"no answer from {reply.request.url}: {str(reply) or type(reply).__name__}")
    if reply.is_success:
        return None
    try:
        error = ErrorResponse.model_validate_json(reply.content).error
    except ValidationError:
        return _foreign_failure(reply)
    return ERROR_CLASSES[error.code](error.message, error.code, error.errors)


def _foreign_failure(reply: httpx.Response) -> EcomEnvError:
    """Return the error for an answer that does not follow our protocol, such as a proxy's page."""
    said = f"HTTP {reply.status_code} from {reply.url}: {reply.text[:200].strip() or reply.reason_phrase}"
    if reply.status_code in RETRIED_STATUS:
        return ServerUnavailableError(said)
    if reply.status_code in {401, 403, 407}:
        return UnauthorizedError(said)
    return InfrastructureError(said) if reply.status_code >= 500 else UnexpectedAnswerError(said)


def parse(model: type[M], content: bytes) -> M:
    """Read an answer's body as ``model``, or raise :class:`UnexpectedAnswerError`."""
    try:
        return model.model_validate_json(content)
    except ValidationError as error:
        fields = [{"loc": e["loc"], "msg": e["msg"]} for e in error.errors(include_url=False)]
        place = ".".join(map(str, fields[0]["loc"])) or "body"
        message = f"the answer is no {model.__name__}: {place}: {fields[0]['msg']}"
        raise UnexpectedAnswerError(message, errors=fields) from error
