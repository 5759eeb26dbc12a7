"""A policy that knows how to win, as assistant messages."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn

from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agent import one_at_a_time

if TYPE_CHECKING:
    from fastapi import FastAPI

Message = dict[str, Any]
SUBMIT: Message = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "s", "type": "function", "function": {"name": "submit_answer", "arguments": "{}"}}],
}


class Winner:
    """Plays the environment's own solution as an OpenAI policy would, on a copy of the episode in this process."""

    def __init__(self, shop: Shop, env_id: str, difficulty: int, seed: int) -> None:
        self._mirror = Episode(shop, EpisodeSpec(env_id, difficulty, seed, style="tool"), "mirror")

    def __call__(self, messages: list[Message], tools: list[Message]) -> Message:
        """Return the next assistant message."""
        assert {"role", "content"} <= messages[-1].keys()
        offered = {tool["function"]["name"] for tool in tools}
        action = one_at_a_time(self._mirror.solve(), "tool")
        calls = [(call["name"], call.get("args", {})) for call in action.get("tool_calls") or ()]
        if action.get("answer"):
            calls.append(("submit_answer", {key: value for key, value in action["answer"].items() if key != "done"}))
        assert {name for name, _ in calls} <= offered
        message = {
            "role": "assistant",
            "content": action.get("assistant_message"),
            "tool_calls": [
                {"id": f"c{at}", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
                for at, (name, args) in enumerate(calls)
            ],
        }
        self._mirror.step(message)
        return message


@pytest.fixture(scope="session")
def wide_url(
    app_with: Callable[..., FastAPI], listening: Callable[[uvicorn.Config], AbstractContextManager[str]]
) -> Iterator[str]:
    """Serve a shop that has enough for every environment."""
    with listening(uvicorn.Config(app_with(catalog="synthetic:2000:0"), log_level="warning", ws="none")) as url:
        yield url


@pytest.fixture(scope="session")
def winner(wide_shop: Shop) -> Callable[[Mapping[str, Any]], Winner]:
    """Return what makes the policy for one row, at the server of ``wide_url``."""
    return lambda row: Winner(wide_shop, row["env_id"], row["difficulty"], row["seed"])


class _Scripted(BaseHTTPRequestHandler):
    """Answers a conversation with what stands next in the script that begins as it does; others it ends at once."""

    scripts: Mapping[str, list[Message]]
    """Messages of a whole episode by those of the customer that open it."""

    def do_POST(self) -> None:
        """Answer one call of the chat API."""
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = request["messages"]
        own = [each for each in self.scripts.get(asked[1]["content"], ()) if each["role"] == "assistant"]
        said = sum(each["role"] == "assistant" for each in asked)
        message = own[said] if own else SUBMIT
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        choice = {
            "index": 0,
            "message": message,
            "finish_reason": "length" if request.get("max_tokens") == 1 else "tool_calls",
        }
        body = json.dumps(
            {
                "id": "scripted", "object": "chat.completion", "created": 0, "model": "scripted",
                "choices": [choice], "usage": usage,
            }
        ).encode()  # fmt: skip
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="session")
def scripted_model() -> Callable[[Sequence[list[Message]]], AbstractContextManager[str]]:
    """Return what serves a chat API that says again what was said in recorded episodes: ``with … as url``."""

    @contextmanager
    def serve(records: Sequence[list[Message]]) -> Iterator[str]:
        handler = type("Handler", (_Scripted,), {"scripts": {each[1]["content"]: each for each in records}})
        with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                yield f"http://127.0.0.1:{server.server_port}/v1"
            finally:
                server.shutdown()
                thread.join()

    return serve
