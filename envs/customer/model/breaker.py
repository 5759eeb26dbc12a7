"""A circuit breaker: stops requests to a failing endpoint, and tries it again later. Pure: the clock is an argument.

Closed: every request is let through. After a number of failures in a row the breaker opens: no request is let through
until the cool-down is over. Then it is half open: one request is let through as a trial, which closes the breaker or
opens it again.
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
        """Tell whether a request may be made. Each admitted request must be reported by one of the methods below."""
        phase = self.phase(now)
        if phase is Phase.HALF_OPEN and not self._is_trying:
            self._is_trying = True
            return True
        return phase is Phase.CLOSED

    def succeeded(self) -> None:
        """Report that an admitted request was answered."""
        self._failures = 0
        self._opened_at = None
        self._is_trying = False

    def failed(self, now: float) -> None:
        """Report that an admitted request failed."""
        self._failures += 1
        self._is_trying = False
        if self._opened_at is not None or self._failures >= self._threshold:
            self._opened_at = now

    def abandoned(self) -> None:
        """Report that an admitted request was cancelled, so that nothing is known about the endpoint."""
        self._is_trying = False
