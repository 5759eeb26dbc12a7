"""When a failing endpoint is left alone, and when it is tried again. Pure: the clock is an argument.

Closed: everything is let through. After a number of failures in a row it opens: nothing is let through until the
cool-down is over. Then it is half open: one request is let through to try, and closes it or opens it again.
"""

from __future__ import annotations

from enum import StrEnum


class Phase(StrEnum):
    """State of a breaker."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half_open"


class Breaker:
    """Lets requests through, or not. Not thread-safe: it belongs to one event loop."""

    def __init__(self, threshold: int = 5, cooldown_s: float = 30.0) -> None:
        """Open after ``threshold`` failures in a row (at least 1), for ``cooldown_s`` seconds (0 or more)."""
        if threshold < 1 or cooldown_s < 0:
            raise ValueError(
                f"a breaker needs a threshold of 1 or more and a cool-down of 0 s or more, not {threshold}, "
                f"{cooldown_s}"
            )
        self._threshold = threshold
        self._cooldown_s = cooldown_s
        self._failures = 0
        self._opened_at: float | None = None
        self._is_trying = False

    def phase(self, now: float) -> Phase:
        """Return the state at a time in seconds of a monotonic clock."""
        if self._opened_at is None:
            return Phase.CLOSED
        return Phase.OPEN if now - self._opened_at < self._cooldown_s else Phase.HALF_OPEN

    def admits(self, now: float) -> bool:
        """Tell whether a request may be made; each one admitted is to be reported by one of the methods below."""
        phase = self.phase(now)
        if phase is Phase.HALF_OPEN and not self._is_trying:
            self._is_trying = True
            return True
        return phase is Phase.CLOSED

    def succeeded(self) -> None:
        """An admitted request was answered."""
        self._failures = 0
        self._opened_at = None
        self._is_trying = False

    def failed(self, now: float) -> None:
        """An admitted request failed."""
        self._failures += 1
        self._is_trying = False
        if self._opened_at is not None or self._failures >= self._threshold:
            self._opened_at = now

    def abandoned(self) -> None:
        """An admitted request was given up before it could tell anything."""
        self._is_trying = False
