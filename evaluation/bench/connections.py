"""Connections that cost very little, so that the server is measured and not its client: HTTP/1.1 and WebSocket.

They speak just enough of both protocols for our servers on this machine: one request at a time, answers of a stated
length, unfragmented text frames. For anything else use :mod:`ecom_rlve.client`.
"""

from __future__ import annotations

import asyncio
import os
import struct
from base64 import b64encode
from typing import Protocol, cast
from urllib.parse import urlsplit

_END = b"\r\n\r\n"
_LENGTH = b"content-length:"
# Opcodes of whole frames, and the bit of a frame that is masked.
_TEXT, _CLOSE = 0x81, 0x88
_MASKED = 0x80
_ERROR = b'{"type": "error"'


class BenchError(RuntimeError):
    """A server gave a wrong answer; the message holds its beginning."""


class Connection(Protocol):
    """One connection of one client."""

    async def ask(self, path: str, body: bytes) -> bytes:
        """Send a body and return that of the answer; raises :class:`BenchError` if it is no success."""

    def close(self) -> None:
        """Hang up."""


class _Wire(asyncio.Protocol):
    """Collects bytes until the waiting task has enough."""

    def __init__(self) -> None:
        self._transport: asyncio.Transport | None = None
        self._waiting: asyncio.Future[None] | None = None
        self._is_lost = False
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self.received += data
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio passes it by position
        self._is_lost = True
        self._wake()

    def send(self, data: bytes) -> None:
        assert self._transport is not None
        self._transport.write(data)

    async def more(self) -> None:
        """Wait for more bytes."""
        if self._is_lost:
            raise BenchError(f"the server hung up: {self.received[:200]!r}")
        self._waiting = asyncio.get_running_loop().create_future()
        await self._waiting

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    def abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()

    def _wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


async def _connected(url: str) -> tuple[_Wire, str]:
    address = urlsplit(url)
    _, wire = await asyncio.get_running_loop().create_connection(_Wire, address.hostname or "", address.port or 80)
    return wire, address.netloc


class Http:
    """POSTs JSON over one connection that is kept open."""

    def __init__(self, wire: _Wire, host: str) -> None:
        self._wire = wire
        self._host = host

    @classmethod
    async def open(cls, url: str) -> Http:
        """Connect to the server of ``url``."""
        return cls(*await _connected(url))

    async def ask(self, path: str, body: bytes) -> bytes:
        """POST a body to a path and return that of the answer."""
        head = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        return await self._exchanged("POST", path, head, body)

    async def fetch(self, path: str) -> bytes:
        """GET a path and return the body of the answer."""
        return await self._exchanged("GET", path, "", b"")

    async def _exchanged(self, method: str, path: str, headers: str, body: bytes) -> bytes:
        wire = self._wire
        wire.send(f"{method} {path} HTTP/1.1\r\nHost: {self._host}\r\n{headers}\r\n".encode() + body)
        while (end := wire.received.find(_END)) < 0:
            await wire.more()
        head = wire.received[:end].lower()
        total = end + len(_END) + int(head.partition(_LENGTH)[2].partition(b"\r\n")[0])
        while len(wire.received) < total:
            await wire.more()
        answer, wire.received = wire.received[end + len(_END) : total], wire.received[total:]
        if not head.startswith(b"http/1.1 200"):
            raise BenchError(f"{path}: {head[:40]!r} {answer[:200]!r}")
        return answer

    def close(self) -> None:
        """Hang up."""
        self._wire.close()


class Socket:
    """A WebSocket that sends and receives text frames."""

    def __init__(self, wire: _Wire) -> None:
        self._wire = wire

    @classmethod
    async def open(cls, url: str) -> Socket:
        """Connect to ``/ws`` of the server of ``url``."""
        wire, host = await _connected(url)
        key = b64encode(os.urandom(16)).decode()
        wire.send(
            f"GET /ws HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        while (end := wire.received.find(_END)) < 0:
            await wire.more()
        if not wire.received.startswith(b"HTTP/1.1 101"):
            raise BenchError(f"no WebSocket: {wire.received[:200]!r}")
        wire.received = wire.received[end + len(_END) :]
        return cls(wire)

    async def ask(self, path: str, body: bytes) -> bytes:  # noqa: ARG002 - a socket has one path, that of its handshake
        """Send a text frame and return the payload of the next frame."""
        self._wire.send(_frame(body))
        while True:
            first, payload = await self._next()
            if first == _TEXT and not payload.startswith(_ERROR):
                return payload
            if first in (_TEXT, _CLOSE):
                raise BenchError(f"the server refused: {payload[:200]!r}")

    async def _next(self) -> tuple[int, bytes]:
        wire = self._wire
        while (bounds := _bounds(wire.received)) is None:
            await wire.more()
        start, end = bounds
        first, payload = wire.received[0], wire.received[start:end]
        wire.received = wire.received[end:]
        return first, payload

    def close(self) -> None:
        """Hang up."""
        self._wire.close()

    def drop(self) -> None:
        """Vanish: nothing that waits is sent any more, and no frame says goodbye."""
        self._wire.abort()


def _frame(body: bytes) -> bytes:
    """Return a text frame, masked with zeros; a server unmasks it like any other."""
    if len(body) < 126:
        head = bytes((_TEXT, _MASKED | len(body)))
    elif len(body) < 1 << 16:
        head = struct.pack("!BBH", _TEXT, _MASKED | 126, len(body))
    else:
        head = struct.pack("!BBQ", _TEXT, _MASKED | 127, len(body))
    return head + bytes(4) + body


def _bounds(received: bytes) -> tuple[int, int] | None:
    """Return where the payload of the first frame begins and ends; None if it is not complete."""
    if len(received) < 2:
        return None
    start, size = 2, received[1]
    if size == 126:
        start, size = 4, int.from_bytes(received[2:4], "big")
    elif size == 127:
        start, size = 10, int.from_bytes(received[2:10], "big")
    return (start, start + size) if len(received) >= max(start, start + size) else None
