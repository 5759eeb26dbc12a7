"""The connections of one server: how many there may be, from where, and how long each may keep us waiting.

    knocks ── its first request was heard, and there is a seat ──> seated ── closed by either side ──> gone
       ├── heard, no seat ──> answered 503, or told its health ──> gone
       └── says nothing for too long, or too many knock after it ──> gone

Connections that knock have room of their own, and the oldest leaves when it is full: however many do, a newcomer is
heard. Every second the door looks who is late. What a client owes, and until when, is noted by the protocols.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from ipaddress import ip_address, ip_network
from typing import NamedTuple

from ecom_rlve.server.operations.shared_seats import SharedSeats

_LOOKS_EVERY_S = 1.0
_MUCH = 1 << 16
"""Bytes that a slow reader must take within the time limit, unless it takes all."""


class Limits(NamedTuple):
    """What a server allows its connections. Times are seconds, sizes bytes."""

    connections: int
    seats: int
    per_address: int
    """Seats for one address; those of ``trusted_proxies`` have no such limit."""
    header_bytes: int
    url_bytes: int
    header_timeout_s: float
    body_timeout_s: float
    write_timeout_s: float
    socket_write_timeout_s: float
    """As ``write_timeout_s``, for WebSockets, whose clients may stall as long as they may leave pings unanswered."""
    trusted_proxies: tuple[str, ...] = ()
    """Addresses, or networks such as ``10.0.0.0/8``."""


class Visit:
    """One connection."""

    __slots__ = ("_stuck_at", "_stuck_since", "address", "due", "is_seated", "on_late", "transport", "write_timeout_s")

    def __init__(self, transport: asyncio.Transport, on_late: Callable[[], None], write_timeout_s: float) -> None:
        self.transport = transport
        peer = transport.get_extra_info("peername")
        self.address = str(peer[0]) if isinstance(peer, tuple) else ""
        self.is_seated = False
        self.due: float | None = None
        """When the event loop's clock must show that the client did what it owes; None if it owes nothing."""
        self.on_late = on_late
        self.write_timeout_s = write_timeout_s
        self._stuck_at = 0
        self._stuck_since: float | None = None

    def is_stuck(self, now: float) -> bool:
        """Tell whether the client has not read what waits for it in the time it had."""
        waiting = self.transport.get_write_buffer_size()
        if not waiting:
            self._stuck_since = None
        elif self._stuck_since is None or waiting <= self._stuck_at - _MUCH:
            self._stuck_since, self._stuck_at = now, waiting
        return self._stuck_since is not None and now - self._stuck_since > self.write_timeout_s


class Door:
    """Counts the connections of one event loop; what one address may have counts over all workers."""

    def __init__(self, limits: Limits, shared: SharedSeats | None = None) -> None:
        """``shared`` counts the seats of other workers; None = there are none.

        Raises ``ValueError`` if a trusted proxy is neither an address nor a network.
        """
        self.limits = limits
        self._shared = shared
        self._trusted = [ip_network(each, strict=False) for each in limits.trusted_proxies]
        self._visits: dict[asyncio.Transport, Visit] = {}
        self._knocking: dict[Visit, None] = {}
        self._seated: Counter[str] = Counter()
        self._taken = 0
        self._timer: asyncio.TimerHandle | None = None

    @property
    def connections(self) -> int:
        """Connections that are open."""
        return len(self._visits)

    def enter(self, transport: asyncio.Transport, on_late: Callable[[], None]) -> Visit:
        """Let a connection in; another one that only knocks leaves for it where there is no room."""
        if len(self._visits) >= self.limits.connections and self._knocking:
            oldest = next(iter(self._knocking))
            self.leave(oldest)
            oldest.transport.abort()
        visit = Visit(transport, on_late, self.limits.write_timeout_s)
        self._visits[transport] = visit
        self._knocking[visit] = None
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_LOOKS_EVERY_S, self._look)
        return visit

    def upgraded(self, transport: asyncio.Transport, on_late: Callable[[], None]) -> Visit:
        """Return the visit of a connection that is a WebSocket from now on."""
        visit = self._visits[transport]
        visit.on_late, visit.due = on_late, None
        visit.write_timeout_s = self.limits.socket_write_timeout_s
        return visit

    def seat(self, visit: Visit) -> bool:
        """Give a connection a seat; False if there is none, or none for its address."""
        if visit.is_seated:
            return True
        if self._taken >= self.limits.seats:
            return False
        if self._held(visit.address) >= self.limits.per_address and not self._is_proxy(visit.address):
            return False
        visit.is_seated = True
        self._taken += 1
        self._count(visit.address, 1)
        self._knocking.pop(visit, None)
        return True

    def leave(self, visit: Visit) -> None:
        """Forget a connection; may be called again."""
        if self._visits.pop(visit.transport, None) is None:
            return
        self._knocking.pop(visit, None)
        if visit.is_seated:
            self._taken -= 1
            self._count(visit.address, -1)

    def _held(self, address: str) -> int:
        """Return how many seats an address has, here and at other workers."""
        return self._seated[address] + (0 if self._shared is None else self._shared.elsewhere(address))

    def _count(self, address: str, more: int) -> None:
        self._seated[address] += more
        if not self._seated[address]:
            del self._seated[address]
        if self._shared is not None:
            self._shared.add(address, more)

    def _is_proxy(self, address: str) -> bool:
        try:
            return any(ip_address(address) in network for network in self._trusted)
        except ValueError:
            return False

    def _look(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        if self._shared is not None:
            self._shared.look()
        for visit in list(self._visits.values()):
            if visit.is_stuck(now):
                visit.transport.abort()
            elif visit.due is not None and visit.due < now:
                visit.due = None
                visit.on_late()
        self._timer = loop.call_later(_LOOKS_EVERY_S, self._look) if self._visits else None
