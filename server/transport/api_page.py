"""The interactive page of the API at ``/docs``, with files that a package brings: it loads nothing from elsewhere."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from fastapi import FastAPI
from fastapi.openapi.docs import get_swagger_ui_html
from starlette.requests import Request
from starlette.responses import FileResponse, Response

_FILES = {
    "swagger-ui-bundle.js": "text/javascript",
    "swagger-ui.css": "text/css",
    "favicon.png": "image/png",
}


def add_api_page(app: FastAPI) -> None:
    """Serve the page and its files; their addresses are relative, so that a path prefix changes nothing."""
    page = get_swagger_ui_html(
        openapi_url="openapi.json",
        title=app.title,
        swagger_js_url="docs/swagger-ui-bundle.js",
        swagger_css_url="docs/swagger-ui.css",
        swagger_favicon_url="docs/favicon.png",
    )

    async def show(_request: Request) -> Response:
        return page

    async def send(request: Request) -> Response:
        name = request.url.path.rpartition("/")[2]
        return FileResponse(_folder() / name, media_type=_FILES[name])

    app.add_route("/docs", show, include_in_schema=False)
    for name in _FILES:
        app.add_route(f"/docs/{name}", send, include_in_schema=False)


def _folder() -> Path:
    """Return where the package keeps the files; importing it would import FastAPI's own page, which is not needed."""
    spec = find_spec("fastapi_offline")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("fastapi-offline, which the extra `server` brings, is not installed")
    return Path(spec.submodule_search_locations[0]) / "static"
