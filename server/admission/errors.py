"""Errors of the door: what is refused before an episode hears of it.

AdmissionError
├── MalformedHttpError       what came is not HTTP
├── HeaderTooLargeError
├── UrlTooLongError
├── RequestTimeoutError      the rest of a request did not come in time
├── TooManyConnectionsError  no seat, or none for this address
├── ForbiddenError           the host, the origin or the token's scopes do not allow it
├── UnauthorizedError        the bearer token is missing, wrong or revoked
└── AccountFullError         the token's live episodes are as many as it may have

TokensError                  the tokens cannot be read: the server does not start
"""

from __future__ import annotations


class AdmissionError(Exception):
    """Base of what is refused at the door."""


class MalformedHttpError(AdmissionError):
    """What was sent is not HTTP/1.1."""


class HeaderTooLargeError(AdmissionError):
    """The header of a request is larger than what is read."""


class UrlTooLongError(AdmissionError):
    """The address of a request is longer than what is read."""


class RequestTimeoutError(AdmissionError):
    """A request was begun and its rest did not come in time."""


class TooManyConnectionsError(AdmissionError):
    """No further connection is served, or none of this address."""


class ForbiddenError(AdmissionError):
    """The request is understood and not allowed to whoever sent it."""


class UnauthorizedError(AdmissionError):
    """The bearer token is missing, wrong or revoked."""


class AccountFullError(AdmissionError):
    """The token has as many live episodes as it may have."""


class TokensError(Exception):
    """The file of tokens cannot be read, or holds something else than tokens; the message says what, and no token."""
