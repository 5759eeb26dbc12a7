"""Raw connections to a running server."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack

import pytest


class Raw:
    """A connection that sends whatever bytes it likes."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.settimeout(30)

    def send(self, data: bytes) -> None:
        """Send bytes; a server that has hung up is no failure."""
        try:
            self.socket.sendall(data)
        except OSError:
            return

    def all(self) -> bytes:
        """Return everything until the server closes."""
        received = b""
        try:
            while piece := self.socket.recv(1 << 16):
                received += piece
        except ConnectionResetError:
            pass
        return received


class Dial:
    """Opens raw connections and closes them at the end."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def __call__(self, port: int) -> Raw:
        """Connect."""
        raw = Raw(port)
        self._stack.callback(raw.socket.close)
        return raw


@pytest.fixture
def dial() -> Iterator[Dial]:
    """Open raw connections."""
    with ExitStack() as stack:
        yield Dial(stack)
