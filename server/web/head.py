"""The head of the page as it is first sent: Gradio's own names another site's picture, no icon, and no description."""

from __future__ import annotations

import re

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_FOREIGN = re.compile(r'<meta\s+(?:property="og:|name="twitter:)[^>]*>\s*|<link\s+rel="manifest"[^>]*>\s*')
"""What is told to sites that show a preview, in Gradio's words, and a file that is not served."""
_HEAD = re.compile(r"<head>")


class OwnHead:
    """Replaces that head; every other answer goes through untouched."""

    def __init__(self, app: ASGIApp, path: str, head: str) -> None:
        """``path`` is what the address of the page ends in; ``head`` is put at the beginning of its head."""
        self._app = app
        self._path = path
        self._head = head

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or not scope["path"].endswith(self._path):
            await self._app(scope, receive, send)
            return
        # Compressed, it could not be read here.
        plain = [(name, value) for name, value in scope["headers"] if name != b"accept-encoding"]
        await self._app({**scope, "headers": plain}, receive, _Rewriting(self._head, send))


class _Rewriting:
    """Holds an answer back until it is whole, if it is HTML."""

    def __init__(self, head: str, send: Send) -> None:
        self._head = head
        self._send = send
        self._start: Message | None = None
        self._body = bytearray()

    async def __call__(self, message: Message) -> None:
        """Take one message of the answer."""
        if message["type"] == "http.response.start" and _is_html(message):
            self._start = message
        elif message["type"] == "http.response.body" and self._start is not None:
            self._body += message.get("body", b"")
            if not message.get("more_body", False):
                await self._send_rewritten(self._start)
        else:
            await self._send(message)

    async def _send_rewritten(self, start: Message) -> None:
        body = rewritten(self._body.decode(), self._head).encode()
        MutableHeaders(raw=start["headers"])["content-length"] = str(len(body))
        await self._send(start)
        await self._send({"type": "http.response.body", "body": body})


def rewritten(page: str, head: str) -> str:
    """Return a page with ``head`` at the beginning of its head, and without what it tells of others.

    >>> rewritten('<html><head><meta property="og:title" content="Gradio" /><title>x</title></head>', "<i>")
    '<html><head><i><title>x</title></head>'
    """
    return _HEAD.sub(lambda begin: begin[0] + head, _FOREIGN.sub("", page), count=1)


def _is_html(start: Message) -> bool:
    return Headers(raw=start["headers"]).get("content-type", "").startswith("text/html")
