"""Errors of a customer whose words come from a model.

::

    VoiceError
    ├── EndpointError            the model's endpoint
    │   ├── EndpointUnreachableError
    │   ├── EndpointTimeoutError
    │   ├── EndpointRefusedError     an HTTP error status
    │   ├── EndpointAnswerError      an answer that is no chat completion
    │   ├── EmptyAnswerError         an answer without words
    │   └── BreakerOpenError
    └── CassetteError
        ├── CassetteFileError
        └── MissingRecordingError
"""

from __future__ import annotations


class VoiceError(Exception):
    """The customer's words could not be had: an infrastructure failure."""


class EndpointError(VoiceError):
    """The model's endpoint failed."""


class EndpointUnreachableError(EndpointError):
    """No connection, or one that broke off."""


class EndpointTimeoutError(EndpointError):
    """No whole answer in time."""


class EndpointRefusedError(EndpointError):
    """The endpoint answered with an error status."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status
        """HTTP status, 300 to 599."""


class EndpointAnswerError(EndpointError):
    """The endpoint's answer is no chat completion, or too big to be one."""


class EmptyAnswerError(EndpointError):
    """The model gave no words: nothing at all, or nothing but its thoughts."""


class BreakerOpenError(EndpointError):
    """The endpoint failed too often and is left alone for a while."""


class CassetteError(VoiceError):
    """The record of wordings cannot be used."""


class CassetteFileError(CassetteError):
    """The file is no cassette, is damaged, or was written by another version."""


class MissingRecordingError(CassetteError):
    """The cassette must hold everything that is said, and does not hold this."""

    def __init__(self, key: str, path: str) -> None:
        super().__init__(
            f"the cassette {path} has no recording under the key {key}; record the run again, or play it in the mode "
            "'replay', which falls back to the template"
        )
        self.key = key
