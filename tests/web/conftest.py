"""A real browser on a real server; skipped, with the reason, where Chromium or the packages are not there."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.world.shop import Shop

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

_CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
_NEEDED = ("playwright", "axe_playwright_python", "gradio")
_CATALOG = "synthetic:600:0"
_WAIT_MS = 60_000
"""How long the browser waits for what must come; on a busy machine it may come late."""


_SEARCH = {"name": "catalog_search", "arguments": json.dumps({"query": "chair"})}
_SUBMIT = {"name": "submit_answer", "arguments": "{}"}


def _called(request: Request, turns: int) -> Response:
    """Search twice, then submit nothing."""
    del request
    call = _SEARCH if turns < 2 else _SUBMIT
    message = {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "type": "function", "function": call}]}
    usage = {"prompt_tokens": 100, "completion_tokens": 10}
    return JSONResponse({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage})


def _key_repeated(request: Request, turns: int) -> Response:
    del turns
    return JSONResponse({"error": f"wrong: {request.headers.get('authorization')}"}, 401)


_ANSWERS: dict[str, Callable[[Request, int], Response]] = {
    "guarded": _key_repeated,
    "moved": lambda _request, _turns: RedirectResponse("http://169.254.169.254/latest/"),
    "prose": lambda _request, _turns: JSONResponse({"choices": [{"message": {"role": "assistant", "content": "Hm."}}]}),
    "huge": lambda _request, _turns: JSONResponse(
        {"choices": [{"message": {"role": "assistant", "content": "word " * 300_000}}]}
    ),
}


class Api:
    """Answers as the model's name says, and notes who asked how."""

    def __init__(self) -> None:
        self.keys: list[str | None] = []
        self.left: list[str] = []
        self.app = Starlette(routes=[Route("/v1/chat/completions", self._answer, methods=["POST"])])

    async def _answer(self, request: Request) -> Response:
        body: dict[str, Any] = json.loads(await request.body())
        name, turns = body["model"], sum(each["role"] == "assistant" for each in body["messages"])
        self.keys.append(request.headers.get("authorization"))
        if name == "slow" and turns:
            while not await request.is_disconnected():
                await asyncio.sleep(0.05)
            self.left.append(name)
        return _ANSWERS.get(name, _called)(request, turns)


@pytest.fixture(scope="session")
def api() -> Api:
    """A server of chat models; a model's name says what it does."""
    return Api()


@pytest.fixture(scope="session")
def model_url(api: Api, listening: Callable[[uvicorn.Config], AbstractContextManager[str]]) -> Iterator[str]:
    """Where it is, with ``/v1``."""
    with listening(uvicorn.Config(api.app, log_level="critical", ws="none")) as url:
        yield f"{url}/v1"


# Until it is closed, Playwright's event loop runs in this thread, where no other can: so not for the whole session.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing or _CHROMIUM is None:
        wanted = ", ".join([*missing, *(["chromium"] if _CHROMIUM is None else [])])
        pytest.skip(f"no browser test of the page: {wanted} is missing; `make test-web` says how to get it")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # As root, as in a container, Chromium has no sandbox.
        chromium = playwright.chromium.launch(executable_path=_CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@contextmanager
def _serving(port: int = 0, prefix: str = "", **further: str) -> Iterator[str]:
    """Run a server with the page in a process of its own, and return where it listens."""
    with socket.create_server(("127.0.0.1", port), reuse_port=False) as listener:
        port = listener.getsockname()[1]
    settings = {"CATALOG": _CATALOG, "HOST": "127.0.0.1", "PORT": str(port), "WEB": "true", "STORE": "memory"} | further
    environment = {**os.environ, **{f"ECOM_RLVE_{name}": value for name, value in settings.items()}}
    command = [sys.executable, str(Path(__file__).with_name("served.py")), prefix]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        assert server.stdout is not None
        try:
            started = next((line for line in server.stdout if "page path" in line), None)
            assert started, "the server ended before it had a page"
            yield f"http://127.0.0.1:{port}"
        finally:
            server.terminate()
            server.stdout.read()


@pytest.fixture(scope="session")
def serving() -> Callable[..., AbstractContextManager[str]]:
    """Return what runs a server with the page: ``with serving(port, prefix) as url``."""
    return _serving


@pytest.fixture(scope="session")
def shop() -> Shop:
    """The servers' shop."""
    return Shop.open(_CATALOG)


@pytest.fixture(scope="module")
def site(browser: Browser) -> Iterator[str]:
    """Return where a server with the page runs; asks for the browser first, without which nothing starts."""
    assert browser.is_connected()
    with _serving(AGENT_ORIGINS='["loopback"]') as url:
        yield url


class Visit:
    """One visitor's browser, which notes what no page should do."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.faults: list[str] = []
        self.forgiven = False
        """Whether the server is taken away from the page on purpose."""
        page.set_default_timeout(_WAIT_MS)
        page.on(
            "console",
            lambda said: self._note(
                said.type in ("error", "warning"), f"console: {said.text} ({said.location.get('url')})"
            ),
        )
        page.on("pageerror", lambda error: self._note(True, f"error: {error}"))
        page.on("response", lambda answer: self._note(answer.status >= 400, f"{answer.status} {answer.url}"))
        page.on("request", lambda request: self._note(self._is_foreign(request.url), f"foreign: {request.url}"))
        page.on("requestfailed", lambda request: self._note(self._has_failed(request), f"failed: {request.url}"))

    def open(self, path: str = "/web/") -> Page:
        """Open the page and wait until it can be used."""
        self.page.goto(self.url + path)
        self.page.wait_for_selector("#start")
        self.page.wait_for_function("() => window.ecomAct")
        return self.page

    def start(self, env_id: str, difficulty: int, seed: int) -> None:
        """Start a given episode with the page's own controls."""
        page = self.page
        page.get_by_label("Environment").first.click()
        page.get_by_role("option", name=f"{env_id}:").click()
        page.get_by_label("number input for Difficulty").first.fill(str(difficulty))
        page.get_by_label("Seed").first.fill(str(seed))
        page.get_by_label("Seed").first.blur()
        page.click("#start")
        page.wait_for_selector("#talk [data-episode] >> nth=0")
        page.get_by_text(f"{env_id} · difficulty {difficulty} · seed {seed}").first.wait_for()

    def run(self, tool: str, args: Mapping[str, Any]) -> None:
        """Fill the form of a tool and run it."""
        page, moves = self.page, self.moves()
        page.click(f'button.tool[data-tool="{tool}"]')
        self.fill(tool, args)
        page.click(f'form[data-form="{tool}"] button[type="submit"]')
        self.wait(moves + 1)

    def fill(self, form: str, args: Mapping[str, Any]) -> None:
        """Fill the fields of a form."""
        page = self.page
        for name, value in args.items():
            box = page.locator(f'form[data-form="{form}"] [name="{name}"]')
            if not box.is_visible():
                page.locator(f'form[data-form="{form}"] details > summary').click()
            text = " ".join(value) if isinstance(value, list) else str(value)
            if box.evaluate("box => box.tagName") == "SELECT":
                box.select_option(text)
            else:
                box.fill(text)

    def moves(self) -> int:
        """Return how many steps the conversation shows."""
        found: int = self.page.locator("#talk .move").count()
        return found

    def wait(self, moves: int) -> None:
        """Wait until so many steps are shown."""
        self.page.wait_for_function("n => document.querySelectorAll('#talk .move').length >= n", arg=moves)

    def submit(self) -> str:
        """Submit the final answer and return what the banner says."""
        self.page.get_by_role("button", name="Submit final answer").click()
        return self.ending()

    def ending(self) -> str:
        """Return what the banner at the end says."""
        told: str = self.page.locator("#ending .ending").inner_text()
        return told

    def picture(self, name: str, folder: Path, *, whole: bool = False, at: str = "body") -> None:
        """Keep a picture of the page, of the whole or of what one sees where ``at`` begins."""
        folder.mkdir(parents=True, exist_ok=True)
        self.page.locator(at).first.evaluate("part => part.scrollIntoView({ block: 'start' })")
        file = folder / f"{name}.png"
        self.page.screenshot(path=file, full_page=whole, animations="disabled")
        _shrink(file)

    def _is_foreign(self, url: str) -> bool:
        return not url.startswith((self.url, self.url.replace("http", "ws"), "data:", "blob:", "about:"))

    def _has_failed(self, request: Any) -> bool:
        # Gradio's page closes its streams: of events once it has what it waited for, of heartbeats when it is left.
        is_stream = "/queue/data" in request.url or "/heartbeat/" in request.url
        return not (is_stream and "ERR_ABORTED" in str(request.failure))

    def _note(self, is_fault: bool, what: str) -> None:
        if is_fault and not self.forgiven:
            self.faults.append(what)


def _shrink(file: Path) -> None:
    """Keep 256 colours of a picture, which are enough for a page and a third of the bytes."""
    from PIL import Image

    with Image.open(file) as picture:
        few = picture.convert("RGB").quantize(256)
    few.save(file, optimize=True)


@pytest.fixture
def visit(browser: Browser, site: str) -> Iterator[Visit]:
    """Return a visitor; afterwards the page must have done nothing that it should not."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, color_scheme="light")
    visitor = Visit(context.new_page(), site)
    yield visitor
    context.close()
    assert visitor.faults == []


@pytest.fixture(scope="session")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where pictures are kept: ``ECOM_RLVE_PICTURES``, or a place that goes away."""
    kept = os.environ.get("ECOM_RLVE_PICTURES")
    return Path(kept) if kept else tmp_path_factory.mktemp("pictures")


@pytest.fixture(scope="session")
def solved(shop: Shop) -> Callable[[str, int, int], list[dict[str, Any]]]:
    """Return what gives the actions of an agent that knows the goal, of an episode as the page starts it."""

    def actions(env_id: str, difficulty: int, seed: int) -> list[dict[str, Any]]:
        spec = EpisodeSpec(env_id=env_id, difficulty=difficulty, seed=seed, style="tool")
        episode = Episode(shop, spec, "solved")
        found = []
        while not episode.done:
            found.append(episode.solve())
            episode.step(found[-1])
        return found

    return actions
