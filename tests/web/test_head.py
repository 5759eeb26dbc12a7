"""The page's first answer gets a head of its own, whatever pieces it comes in; nothing else is touched."""

from __future__ import annotations

from collections.abc import AsyncIterator

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from ecom_rlve.server.web.head import OwnHead

PAGE = (
    '<html><head>\n<meta\n property="og:image"\n content="https://elsewhere.example/a.jpg"\n/>'
    '<meta name="twitter:title" content="Other" /><link rel="manifest" href="/manifest.json" />'
    '<meta charset="utf-8" /></head><body><head> is what a page begins with, ü</body></html>'
)
WANTED = '<html><head><link rel="icon" href="../favicon.ico">\n<meta charset="utf-8" /></head>'


async def in_pieces() -> AsyncIterator[bytes]:
    content = PAGE.encode()
    for at in range(0, len(content), 7):
        yield content[at : at + 7]


async def answer(request: Request) -> Response:
    match request.url.path:
        case "/below/web/":
            return HTMLResponse(PAGE)
        case "/web/":
            return StreamingResponse(in_pieces(), media_type="text/html; charset=utf-8")
        case "/json/web/":
            return JSONResponse({"accepts": request.headers.get("accept-encoding")})
    return HTMLResponse(PAGE)


def client() -> TestClient:
    app = Starlette(routes=[Route("/{path:path}", answer)])
    return TestClient(OwnHead(app, "/web/", '<link rel="icon" href="../favicon.ico">'))


def test_the_page_is_rewritten_below_any_prefix_and_in_any_pieces() -> None:
    for path in ("/web/", "/below/web/"):
        told = client().get(path, headers={"Accept-Encoding": "br"})
        assert told.text.startswith(WANTED)
        assert "elsewhere" not in told.text
        assert "<head> is what a page begins with, ü" in told.text
        assert int(told.headers["content-length"]) == len(told.content)


def test_other_answers_go_through() -> None:
    assert client().get("/web/other").text == PAGE
    # What may become the page must be readable, so it is asked for uncompressed.
    assert client().get("/json/web/", headers={"Accept-Encoding": "br"}).json() == {"accepts": None}
