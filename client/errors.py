"""Errors of the client: one class per thing a caller would handle differently.

::

    EcomEnvError                 anything below; has ``code``, ``message``, ``errors``
    ├── EpisodeError             this episode cannot take the request
    │   ├── NotResetError        nothing was reset yet
    │   ├── EpisodeDoneError     it has ended
    │   └── EpisodeExistsError   its id is taken by a live one
    ├── InvalidRequestError      the request is wrong; sending it again cannot help
    ├── RunError                 the run is not there, or not as the request wants it
    │   └── RunPinnedError       it was played on another version, catalog or bank: fork it
    ├── UnservableError          the loaded catalog cannot serve this difficulty or seed
    ├── UnauthorizedError        the token is missing, wrong, or not allowed to do this
    ├── CapacityError            all places of the server are taken
    ├── ServerUnavailableError   nobody answered before the deadline
    ├── UnexpectedAnswerError    something answered that does not speak this protocol
    └── InfrastructureError      the server failed, not the agent: drop the episode, do not score it
        └── EpisodeLostError     the server no longer has the episode
"""

from __future__ import annotations

from typing import Any

from ecom_rlve.models import ErrorCode


class EcomEnvError(Exception):
    """Base of everything the client raises on its own."""

    code: ErrorCode | None
    """The server's stable code; None where no server of this protocol spoke."""
    message: str
    """What was wrong and what to do."""
    errors: list[dict[str, Any]]
    """Field by field, where a request had the wrong shape; else empty."""

    def __init__(self, message: str, code: ErrorCode | None = None, errors: list[dict[str, Any]] | None = None) -> None:
        super().__init__(message, code, errors)
        self.message = message
        self.code = code
        self.errors = errors or []

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" if self.code else self.message


class EpisodeError(EcomEnvError):
    """This episode cannot take the request; a reset starts another."""


class NotResetError(EpisodeError):
    """A step or state was asked for before any reset."""


class EpisodeDoneError(EpisodeError):
    """The episode has ended; reset starts a new one."""


class EpisodeExistsError(EpisodeError):
    """A live episode has the id that the reset asked for; choose another, or none."""


class InvalidRequestError(EcomEnvError):
    """The request is wrong and was not carried out; correct it before sending it again."""


class RunError(EcomEnvError):
    """No run has this name, its name is taken, or what it has counted forbids the change."""


class RunPinnedError(RunError):
    """The run was played on another version, catalog or bank than the server has; fork it to go on."""


class UnservableError(EcomEnvError):
    """The loaded catalog cannot serve this difficulty or seed; choose another one."""


class UnauthorizedError(EcomEnvError):
    """The bearer token is missing, wrong, revoked, or lacks the scope for this call; pass ``token=``."""


class CapacityError(EcomEnvError):
    """All places for live episodes stayed taken until the deadline; close episodes or play fewer at once."""


class ServerUnavailableError(EcomEnvError):
    """No answer came before the deadline. Repeating the same call later is safe: it is never applied twice."""


class UnexpectedAnswerError(EcomEnvError):
    """Something answered that does not speak this protocol; check ``base_url`` and the versions of both sides."""


class InfrastructureError(EcomEnvError):
    """The server failed, not the agent: drop the episode from training and from success rates."""


class EpisodeLostError(InfrastructureError):
    """The server no longer has the episode: it was restarted, or the episode expired or was deleted; reset again."""
