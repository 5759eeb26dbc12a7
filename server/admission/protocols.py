"""uvicorn's protocols, with limits: nothing large is buffered, and nobody is waited for without end.

They stand below the application, because what they stop never becomes a request: a header without an end, a body that
stops half-way, an answer that nobody reads. What is refused here is answered like every other error, and leaves no line
in the log: anybody can cause it as often as they like.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from ecom_rlve.server.admission.door import Door, Visit
from ecom_rlve.server.admission.errors import (
    AdmissionError,
    HeaderTooLargeError,
    MalformedHttpError,
    RequestTimeoutError,
    TooManyConnectionsError,
    UrlTooLongError,
)
from ecom_rlve.server.admission.open_paths import OPEN_PATHS
from ecom_rlve.server.admission.unguarded import GUARDED, MOST_HEADERS
from ecom_rlve.server.errors import translate

_MOST_PIPELINED = 16
_LINGER_S = 5.0
"""Seconds that the rest of a body may take once its request was answered."""
_OVERHEAD = 8
"""A chunk of one byte is framed by five: so many bytes beside each byte of a body are no attempt to hide others."""


class GuardedHttp(HttpToolsProtocol):
    """HTTP/1.1 with limits on sizes and times; see :class:`ecom_rlve.server.admission.door.Limits`."""

    def __init__(self, *arguments: Any, door: Door, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._door = door
        self._limits = door.limits
        self._visit: Visit
        self._refused: AdmissionError | None = None
        self._in_head = False
        self._in_body = False
        self._begun = 0
        self._fed = 0
        """Bytes of the current request that were parsed."""
        self._body = 0
        """Those of them that are its body."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Let the client in; its first request is due."""
        # That of uvloop is one in all but its class.
        stream = cast(asyncio.Transport, transport)
        super().connection_made(stream)
        self._visit = self._door.enter(stream, self._late)
        self._owes(self._limits.header_timeout_s)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the client."""
        self._door.leave(self._visit)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what came, no more of it than the limits allow."""
        self._unset_keepalive_if_required()
        while data and not self.transport.is_closing():
            room = self._limits.header_bytes + (1 + _OVERHEAD) * self._body - self._fed
            if room <= 0:
                self._refuse(HeaderTooLargeError(f"a header of at most {self._limits.header_bytes} bytes is read"))
                return
            part, data = data[:room], data[room:]
            if self._visit.due is None and not self._is_answering():
                self._owes(self._limits.header_timeout_s)
            if not self._parsed(part):
                return

    def _parsed(self, part: bytes) -> bool:
        """Parse a part of what came; False if there is nothing more to be parsed here."""
        is_rest = self._in_head or self._in_body
        begun = self._begun
        try:
            self.parser.feed_data(part)
        except httptools.HttpParserUpgrade:
            if self._should_upgrade():
                self.handle_websocket_upgrade()
            return False
        except httptools.HttpParserError:
            self._refuse(self._refused or MalformedHttpError("what was sent is not HTTP/1.1"))
            return False
        # A part that ends one request and begins another counts for neither.
        begins_anew = self._begun - begun > (0 if is_rest else 1)
        self._fed = 0 if begins_anew else self._fed + len(part)
        return True

    def on_message_begin(self) -> None:
        """Begin a request."""
        if len(self.pipeline) >= _MOST_PIPELINED:
            raise MalformedHttpError("too many requests were sent before their answers were read")
        super().on_message_begin()
        if self._visit.due is None:
            self._owes(self._limits.header_timeout_s)
        self.scope["extensions"] = {GUARDED: {}}
        self._begun += 1
        self._in_head, self._body, self._fed = True, 0, 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header; those behind a body are not read."""
        if not self._in_head:
            return
        if len(self.headers) >= MOST_HEADERS:
            self._refused = HeaderTooLargeError(f"at most {MOST_HEADERS} header lines are read")
            raise self._refused
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Start the request, if there is a seat for the connection."""
        if len(self.url) > self._limits.url_bytes:
            self._refused = UrlTooLongError(f"an address of at most {self._limits.url_bytes} bytes is read")
            raise self._refused
        if not self.url.isascii():
            raise MalformedHttpError("an address is ASCII")
        is_seated = self._door.seat(self._visit)
        if not is_seated and self.url.partition(b"?")[0].decode() not in OPEN_PATHS:
            self._refused = TooManyConnectionsError("too many connections are open; close some, or try again later")
            raise self._refused
        super().on_headers_complete()
        self._in_head, self._in_body = False, True
        is_upgrade = self.parser.should_upgrade()
        if is_upgrade and self._should_upgrade():
            return
        self._owes(self._limits.body_timeout_s)
        # Behind an upgrade to something else the parser reads nothing more.
        if is_upgrade or not is_seated:
            self.cycle.keep_alive = False

    def on_body(self, body: bytes) -> None:
        """Take a piece of the body."""
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """The client has sent what it owed."""
        self._in_body = False
        self._visit.due = None
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """The rest of a body that nobody waits for any more has little time."""
        super().on_response_complete()
        if self._in_body:
            self._owes(_LINGER_S)
        elif self._in_head:
            # The next request is on its way, and has a time of its own.
            self._unset_keepalive_if_required()

    def _owes(self, seconds: float) -> None:
        self._visit.due = self.loop.time() + seconds

    def _is_answering(self) -> bool:
        """Tell whether a whole request waits for its answer."""
        return self.cycle is not None and not self.cycle.response_complete and not self._in_body

    def _late(self) -> None:
        if self.flow.read_paused or self._is_answering():
            # It is we who let them wait.
            self._owes(self._limits.body_timeout_s)
        elif self._in_head or (self._in_body and not self.cycle.response_started):
            self._refuse(RequestTimeoutError("the rest of the request did not come in time; send it again"))
        else:
            self.transport.close()

    def _refuse(self, error: AdmissionError) -> None:
        """Answer what never became a request, and close."""
        if self.transport.is_closing():
            return
        answer = translate(error).response()
        lines = [STATUS_LINE[answer.status_code]]
        headers = [*self.server_state.default_headers, *answer.raw_headers, (b"connection", b"close")]
        lines += [b"%b: %b\r\n" % header for header in headers]
        self.transport.write(b"".join([*lines, b"\r\n", answer.body]))
        self.transport.close()


class GuardedSocket(WebSocketsSansIOProtocol):
    """A WebSocket whose half-sent frames do not wait for ever."""

    def __init__(self, *arguments: Any, door: Door, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._door = door
        self._visit: Visit

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take over the connection from HTTP."""
        super().connection_made(transport)
        self._visit = self._door.upgraded(self.transport, self.transport.abort)

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the client."""
        self._door.leave(self._visit)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse what came; the rest of a frame is due."""
        super().data_received(data)
        if self.read_paused or not (self.conn.reader.buffer or self.frames):
            self._visit.due = None
        elif self._visit.due is None:
            self._visit.due = self.loop.time() + self._door.limits.body_timeout_s
