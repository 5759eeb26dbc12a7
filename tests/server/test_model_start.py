"""A model that cannot word the customer is found out before the server serves, and told in one line."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from ecom_rlve.cli import main
from ecom_rlve.envs.customer.model.errors import CassetteFileError, VoiceError
from ecom_rlve.server.settings import Settings
from ecom_rlve.server.voices import require_model

KEY = "sesame"
MODEL = {"simulator": "model", "model_name": "small"}
Answer = tuple[int, str, bytes]


def completion(content: str, **message: str) -> bytes:
    choice = {"message": {"role": "assistant", "content": content, **message}, "finish_reason": "stop"}
    return json.dumps({"choices": [choice]}).encode()


@contextmanager
def endpoint(answer: Callable[[str, str], Answer]) -> Iterator[str]:
    """Serve ``answer(path, key)`` as status, content type and body."""

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, kind, body = answer(self.path, self.headers.get("Authorization", ""))
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = answer  # noqa: N815 - the names are http.server's

        def log_message(self, *_: Any) -> None:
            """Be quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def good(path: str, key: str) -> Answer:
    if key != f"Bearer {KEY}":
        return 401, "application/json", b'{"error": "no key"}'
    if path.endswith("/models"):
        return 200, "application/json", b'{"data": [{"id": "small"}]}'
    return 200, "application/json", completion("Hello there.")


def thinking(path: str, key: str) -> Answer:
    status, kind, body = good(path, key)
    return (status, kind, body) if path.endswith("/models") else (200, kind, completion("<think>Hm, well"))


def streaming(path: str, key: str) -> Answer:
    return good(path, key) if path.endswith("/models") else (200, "text/event-stream", b"data: {}\n\n")


def started(url: str, **changes: Any) -> None:
    asyncio.run(require_model(Settings(**{**MODEL, "model_url": url, "model_key": KEY, **changes})))


def test_a_model_that_answers_is_taken() -> None:
    with endpoint(good) as url:
        started(url)


@pytest.mark.parametrize(
    ("answer", "changes", "said"),
    [
        (good, {"model_key": "wrong"}, "key"),
        (good, {"model_name": "large"}, "'small'"),
        (thinking, {}, "think"),
        (streaming, {}, "stream"),
        (lambda *_: (500, "text/plain", b"oh"), {}, "500"),
        (lambda *_: (200, "text/html", b"<html>"), {}, "JSON"),
    ],
)
def test_what_is_wrong_is_said(answer: Callable[[str, str], Answer], changes: dict[str, Any], said: str) -> None:
    with endpoint(answer) as url:
        with pytest.raises(VoiceError, match=said):
            started(url, **changes)
        started(url, **changes, fallback="template")


def test_no_endpoint_stops_the_start_unless_the_template_may_speak(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(SystemExit) as ended:
            main(["serve", "--simulator", "model", "--model-url", url, "--model-name", "small"])
        assert ended.value.code == 1
        said = capsys.readouterr().err
        assert said.startswith(f"ecom-rlve: {url} is out of reach")
        assert said.count("\n") == 1
        started(url, fallback="template")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"simulator": "model", "model_name": "small"}, "model_url"),
        ({"simulator": "model", "model_url": "http://127.0.0.1:1/v1"}, "model_name"),
        ({**MODEL, "model_url": "http://127.0.0.1:1/v1", "cassette_mode": "record"}, "needs a cassette"),
        ({"understanding": True}, "set simulator to model"),
    ],
)
def test_settings_that_do_not_go_together(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        Settings(**given)


def test_settings_on_the_command_line_are_told_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--simulator", "model"])
    assert ended.value.code == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_the_key_is_a_secret_and_the_body_is_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECOM_RLVE_MODEL_KEY", KEY)
    monkeypatch.setenv("ECOM_RLVE_MODEL_EXTRA_BODY", '{"chat_template_kwargs": {"enable_thinking": false}}')
    settings = Settings()
    assert KEY not in repr(settings)
    assert settings.model_extra_body == {"chat_template_kwargs": {"enable_thinking": False}}


def test_a_replay_needs_its_cassette_and_no_model(api: Callable[..., Any], tmp_path: Path) -> None:
    given: dict[str, Any] = {**MODEL, "cassette": tmp_path / "none.sqlite", "cassette_mode": "replay"}
    asyncio.run(require_model(Settings(**given)))
    with pytest.raises(CassetteFileError, match=r"none\.sqlite"):
        api(**given)


def test_recordings_are_moved_as_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*arguments: str) -> object:
        with pytest.raises(SystemExit) as ended:
            main(["simulator", "cassette", *arguments])
        return ended.value.code

    source, made, again = tmp_path / "a.jsonl", tmp_path / "made.sqlite", tmp_path / "b.jsonl"
    source.write_text('{"key": "k", "text": "Hëllo.", "outcome": "accepted"}\n', encoding="utf-8")
    assert run("import", str(source), str(made)) == 0
    assert capsys.readouterr().out == "1 new recordings\n"
    assert run("export", str(made), str(again)) == 0
    assert again.read_text(encoding="utf-8") == source.read_text(encoding="utf-8")
    for wrong in (("export", str(source), str(again)), ("import", str(tmp_path / "none"), str(made))):
        assert run(*wrong) == 1
        assert capsys.readouterr().err.count("\n") == 1
