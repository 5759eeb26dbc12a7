"""What is known of the request that is being served, for its line in the log and for the figures.

Whoever learns something notes it; whoever began the request reads it at its end. Ids of episodes are capabilities, so
what leaves this module is their short form.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from hashlib import sha256

_SHORT = 12
"""Hexadecimal digits of a short form: two of a million episodes are alike with a chance of 1 in 500."""


@dataclass(slots=True)
class Notes:
    """What one request, or one frame, has shown so far."""

    episode_id: str | None = None
    request_id: str | None = None
    code: str | None = None
    """Code of the error that it is answered with; None if it is answered well."""
    kind: str = "other"
    """Kind of frame, if it is one."""
    status: int = 200
    """HTTP status, also of what answers a frame."""

    def clear(self) -> None:
        """Begin anew."""
        self.episode_id = self.request_id = self.code = None
        self.kind, self.status = "other", 200

    def fields(self) -> dict[str, str]:
        """Return what a log line may hold: ids in their short form, and only what is known."""
        found = {"episode": short_form(self.episode_id), "request": short_form(self.request_id), "code": self.code}
        return {name: value for name, value in found.items() if value is not None}


_current: ContextVar[Notes | None] = ContextVar("notes", default=None)


@contextmanager
def noting() -> Iterator[Notes]:
    """Collect the notes of what is served inside the block."""
    notes = Notes()
    token = _current.set(notes)
    try:
        yield notes
    finally:
        _current.reset(token)


def note_here() -> Notes:
    """Return notes for the rest of the task that calls this."""
    notes = Notes()
    _current.set(notes)
    return notes


def note_episode(episode_id: str, request_id: str | None = None) -> None:
    """Note which episode the request is about, and the request's own id, if it has one."""
    notes = _current.get()
    if notes is not None:
        notes.episode_id = episode_id
        notes.request_id = request_id or notes.request_id


def note_error(code: str, status: int) -> None:
    """Note how the request is refused."""
    notes = _current.get()
    if notes is not None:
        notes.code, notes.status = code, status


def noted() -> dict[str, str]:
    """Return the fields of the request that is being served; none outside of one."""
    notes = _current.get()
    return {} if notes is None else notes.fields()


def short_form(secret: str | None) -> str | None:
    """Return what stands for an id in the log: the first digits of its SHA-256. None stays None.

    >>> short_form("abc")
    'ba7816bf8f01'
    """
    return None if secret is None else sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()[:_SHORT]
