"""Models behind an API that is as bad as it can be: what is the agent's fault, and what is nobody's."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ecom_rlve.commands.evaluating import Ended, Limits
from ecom_rlve.evaluation.judging.errors import JudgingError, RunStoppedError
from ecom_rlve.evaluation.judging.folder import episodes, failures, read_config
from ecom_rlve.evaluation.judging.records import EpisodeLine
from ecom_rlve.models import Termination

Evaluate = Callable[..., Ended]
FINISHED, FORMAT, ANSWERED = Termination.TURN_BUDGET, Termination.FORMAT_FAILURE, Termination.ANSWERED
USAGE = {"prompt_tokens": 100, "completion_tokens": 10}
SUBMIT = {"id": "1", "type": "function", "function": {"name": "submit_answer", "arguments": "{}"}}
FLY = {"id": "1", "type": "function", "function": {"name": "fly", "arguments": "{}"}}


def said(message: Any, finish: str = "stop", usage: Any = USAGE) -> Response:
    return JSONResponse({"choices": [{"message": message, "finish_reason": finish}], "usage": usage})


def content(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


ANSWERS: dict[str, Callable[[], Response]] = {
    "submits": lambda: said({"role": "assistant", "content": None, "tool_calls": [SUBMIT]}),
    "writes": lambda: said(content('<think>Hm.</think>{"answer": {"done": true}}')),
    "chatters": lambda: said(content('Certainly! {"answer": {"done": true}} That is it.')),
    "flies": lambda: said({"role": "assistant", "content": "", "tool_calls": [FLY]}),
    "huge": lambda: said(content("word " * 100_000)),
    "garbage": lambda: Response(b"\x00\xff<html>", media_type="application/json"),
    "enormous": lambda: Response(b"x" * (9 << 20)),
    "empty": lambda: JSONResponse({"choices": []}),
    "list": lambda: said(["no", "message"]),
    "odd_calls": lambda: said({"role": "assistant", "content": "", "tool_calls": ["fly"]}),
    "no_text": lambda: said({"role": "assistant", "content": None}),
    "cut": lambda: said(content("I was about to"), finish="length"),
    "too_long": lambda: JSONResponse({"error": "context length exceeded"}, 400),
    "no_key": lambda: JSONResponse({"error": "who are you?"}, 401),
    "moved": lambda: Response(status_code=307, headers={"Location": "http://elsewhere.example/v1"}),
    "down": lambda: Response("overloaded", 503),
    "counts_nothing": lambda: said({"role": "assistant", "tool_calls": [SUBMIT]}, usage=None),
}


class Model:
    """A server whose models' names say what they do."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.last: dict[str, Any] = {}
        self.app = Starlette(routes=[Route("/v1/chat/completions", self._answer, methods=["POST"])])

    async def _answer(self, request: Request) -> Response:
        body = json.loads(await request.body())
        name = body["model"]
        self.asked[name] += 1
        self.last = body
        if name == "flaky" and self.asked[name] % 2:
            return Response("a bad moment", 503, headers={"Retry-After": "0"})
        if name == "hangs":
            while not await request.is_disconnected():
                await asyncio.sleep(0.05)
        if name == "endless":
            return StreamingResponse(self._drip(request), media_type="application/json")
        return ANSWERS.get(name, ANSWERS["submits"])()

    async def _drip(self, request: Request) -> AsyncIterator[bytes]:
        while not await request.is_disconnected():
            yield b"{"
            await asyncio.sleep(0.05)


@pytest.fixture(scope="module")
def model() -> Model:
    return Model()


@pytest.fixture(scope="module")
def model_url(model: Model, listening: Callable[[uvicorn.Config], AbstractContextManager[str]]) -> Iterator[str]:
    with listening(uvicorn.Config(model.app, log_level="critical", ws="none")) as url:
        yield f"{url}/v1"


def lines(folder: Path) -> list[EpisodeLine]:
    return list(episodes(folder, read_config(folder)))


@pytest.mark.parametrize(
    ("name", "calls", "kind", "ending"),
    [
        ("submits", "native", None, ANSWERED),
        ("flaky", "native", None, ANSWERED),
        ("writes", "text", None, ANSWERED),
        ("chatters", "text", None, FORMAT),
        ("flies", "native", None, FORMAT),
        ("huge", "text", None, FORMAT),
        ("garbage", "native", "unreadable", FORMAT),
        ("enormous", "native", "unreadable", FORMAT),
        ("empty", "text", "unreadable", FORMAT),
        ("list", "native", "unreadable", FORMAT),
        ("odd_calls", "native", "unreadable", FORMAT),
        ("no_text", "text", "unreadable", FORMAT),
        ("cut", "native", "truncated", FINISHED),
        ("cut", "text", "truncated", FINISHED),
        ("too_long", "native", "refused", FINISHED),
        ("hangs", "native", "timeout", FINISHED),
        ("endless", "text", "timeout", FINISHED),
    ],
)
def test_what_a_model_does_is_its_own_fault(
    tmp_path: Path,
    live_url: str,
    model_url: str,
    evaluated: Evaluate,
    name: str,
    calls: str,
    kind: str | None,
    ending: Termination,
) -> None:
    style = "tool" if calls == "native" else "turn"
    patience = 0.5 if kind == "timeout" else 60
    done = evaluated(
        tmp_path,
        live_url,
        agent=f"openai:{name}",
        calls=calls,
        style=style,
        difficulties=(0,),
        episodes=1,
        model=model_url,
        patience_s=patience,
    )
    assert (done.is_complete, done.failures) == (True, [])
    found = lines(tmp_path)
    assert len(found) == 2
    assert {(line.fault.kind if line.fault else None, line.result.termination) for line in found} == {(kind, ending)}
    assert sum(line.usage.requests for line in found) == done.spent.requests > 0


def test_a_huge_message_to_the_customer_ends_nothing_but_its_episode(
    tmp_path: Path, live_url: str, model_url: str, evaluated: Evaluate
) -> None:
    done = evaluated(
        tmp_path, live_url, agent="openai:huge", style="tool", difficulties=(0,), episodes=1, model=model_url
    )
    assert (done.is_complete, done.failures) == (True, [])
    assert {line.result.is_correct for line in lines(tmp_path)} == {False}


def test_the_lenient_format_reads_what_the_strict_one_does_not(
    tmp_path: Path, live_url: str, model_url: str, model: Model, evaluated: Evaluate
) -> None:
    agent = {"agent": "openai:chatters", "calls": "text", "format": "lenient", "request": {"temperature": 0.5}}
    evaluated(tmp_path, live_url, model=model_url, difficulties=(0,), episodes=1, **agent)
    found = lines(tmp_path)
    assert {(line.result.termination, line.format) for line in found} == {(ANSWERED, "lenient")}
    assert (model.last["temperature"], "tools" in model.last) == (0.5, False)


def test_a_model_gets_schemas_and_its_tokens_are_counted(
    tmp_path: Path, live_url: str, model_url: str, model: Model, evaluated: Evaluate
) -> None:
    limits = Limits(None, None, 2.0, 10.0)
    done = evaluated(tmp_path, live_url, agent="openai:submits", style="tool", model=model_url, limits=limits)
    assert (done.played, done.spent.requests, done.spent.prompt_tokens, done.spent.completion_tokens) == (8, 8, 800, 80)
    assert done.cost == pytest.approx((800 * 2.0 + 80 * 10.0) / 1e6)
    names = [schema["function"]["name"] for schema in model.last["tools"]]
    assert {"ask_user", "submit_answer"} <= set(names)
    assert [message["role"] for message in model.last["messages"]] == ["system", "user"]


@pytest.mark.parametrize("limits", [Limits(350, None, 0, 0), Limits(None, 0.00035, 1, 1)])
def test_a_capped_run_stops_and_goes_on_where_there_is_more(
    tmp_path: Path, live_url: str, model_url: str, evaluated: Evaluate, limits: Limits
) -> None:
    chosen: dict[str, Any] = {"agent": "openai:submits", "style": "tool", "model": model_url, "concurrency": 1}
    done = evaluated(tmp_path, live_url, **chosen, limits=limits)
    assert (done.played, done.is_complete, done.spent.tokens) == (4, False, 440)
    again = evaluated(tmp_path, live_url, **chosen, limits=limits)
    assert (again.played, again.spent.tokens) == (4, 440)
    whole = evaluated(tmp_path, live_url, **chosen)
    assert (whole.played, whole.is_complete, whole.spent.tokens) == (8, True, 880)


def test_nothing_is_spent_beyond_the_cap_by_episodes_under_way(
    tmp_path: Path, live_url: str, model_url: str, evaluated: Evaluate
) -> None:
    """Each says one thing after another and would go on; those that are left count for nothing, but for their cost."""
    chosen: dict[str, Any] = {"agent": "openai:talks", "style": "tool", "model": model_url, "concurrency": 4}
    ANSWERS["talks"] = lambda: said(content("One moment."))
    done = evaluated(tmp_path, live_url, **chosen, limits=Limits(660, None, 0, 0))
    assert 660 <= done.spent.tokens <= 660 + 4 * 110
    assert {failure.kind for failure in done.failures} == {"capped"}
    left = sum(failure.usage.tokens for failure in failures(tmp_path))
    assert left + sum(line.usage.tokens for line in lines(tmp_path)) == done.spent.tokens
    whole = evaluated(tmp_path, live_url, **chosen)
    assert whole.is_complete
    assert whole.spent.tokens == left + sum(line.usage.tokens for line in lines(tmp_path))


def test_a_cap_without_a_count_stops_the_run(
    tmp_path: Path, live_url: str, model_url: str, evaluated: Evaluate
) -> None:
    chosen: dict[str, Any] = {"agent": "openai:counts_nothing", "style": "tool", "model": model_url}
    with pytest.raises(RunStoppedError, match="reports no usage"):
        evaluated(tmp_path, live_url, **chosen, limits=Limits(100, None, 0, 0))
    assert evaluated(tmp_path, live_url, **chosen).is_complete


def test_a_model_server_that_is_down_is_nobodys_fault(
    tmp_path: Path, live_url: str, model_url: str, evaluated: Evaluate
) -> None:
    chosen: dict[str, Any] = {"agent": "openai:down", "style": "tool", "model": model_url, "retry_for_s": 0}
    done = evaluated(tmp_path, live_url, **chosen)
    assert (done.played, len(done.failures)) == (0, 8)
    assert {failure.kind for failure in done.failures} == {"infrastructure"}
    assert "HTTP 503: overloaded" in done.failures[0].message
    ANSWERS["down"], down = ANSWERS["submits"], ANSWERS["down"]
    try:
        again = evaluated(tmp_path, live_url, **chosen)
    finally:
        ANSWERS["down"] = down
    assert (again.is_complete, again.failures) == (True, [])
    assert len(list(failures(tmp_path))) == 8


def test_a_run_that_only_fails_stops(tmp_path: Path, live_url: str, evaluated: Evaluate) -> None:
    with pytest.raises(RunStoppedError, match="14 episodes in a row failed, the last with: AgentUnavailableError"):
        evaluated(tmp_path, live_url, agent="openai:any", style="tool", episodes=10, retry_for_s=0)
    assert len(list(failures(tmp_path))) == 14
    assert lines(tmp_path) == []


def test_a_person_has_to_mend_a_key(tmp_path: Path, live_url: str, model_url: str, evaluated: Evaluate) -> None:
    with pytest.raises(RunStoppedError, match="HTTP 401 of the model's server"):
        evaluated(tmp_path, live_url, agent="openai:no_key", style="tool", model=model_url)
    # Followed, a redirect would carry the key to somebody who was not named.
    with pytest.raises(RunStoppedError, match=r"elsewhere\.example/v1; give that address"):
        evaluated(tmp_path / "a", live_url, agent="openai:moved", style="tool", model=model_url)
    with pytest.raises(JudgingError, match="--model-url"):
        evaluated(tmp_path / "b", live_url, agent="openai:any", style="tool", model="nowhere")
    assert lines(tmp_path) == []
