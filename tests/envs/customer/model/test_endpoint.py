"""The endpoint: what goes over the wire, what comes back, and that every failure is an error of ours."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.envs.customer.model.breaker import Breaker
from ecom_rlve.envs.customer.model.completions import completion_in, tidied
from ecom_rlve.envs.customer.model.endpoint import MAX_BYTES, ChatMessage, Endpoint, EndpointSettings
from ecom_rlve.envs.customer.model.errors import (
    BreakerOpenError,
    EmptyAnswerError,
    EndpointAnswerError,
    EndpointError,
    EndpointRefusedError,
    EndpointTimeoutError,
    EndpointUnreachableError,
)

ASKED: list[ChatMessage] = [{"role": "user", "content": "Hello?"}]


def test_a_request_holds_what_it_should(chat: SimpleNamespace) -> None:
    app = chat.app(lambda _: "Hi.")
    extra = {"chat_template_kwargs": {"enable_thinking": False}}
    endpoint = chat.endpoint(app, api_key="secret", temperature=0.5, max_tokens=9, extra_body=extra)
    assert asyncio.run(endpoint.complete(ASKED, 5)) == ("Hi.", True, 7)
    assert app.requests == [
        {
            "model": "model", "messages": ASKED, "temperature": 0.5, "max_tokens": 9, "seed": 5, "stream": False,
            "chat_template_kwargs": {"enable_thinking": False},
        }
    ]  # fmt: skip
    assert app.keys == ["Bearer secret"]
    assert "secret" not in repr(endpoint.settings)


def test_without_a_key_none_is_sent(chat: SimpleNamespace) -> None:
    app = chat.app(lambda _: "Hi.")
    asyncio.run(chat.endpoint(app).complete(ASKED, 0))
    assert app.keys == [""]


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Hi.", "Hi."),
        (" \n Hi \n there. ", "Hi there."),
        ("<think>What now?</think>\nHi.", "Hi."),
        ("<thinking>\n\n</thinking>Hi.", "Hi."),
        ("thoughts without a beginning</think> Hi.", "Hi."),
        ("Hi. <think>never ended", "Hi."),
        ("<think>never ended", ""),
        ('"Hi."', "Hi."),
        ("“Hi.”", "Hi."),
        ('"Hi" and "bye"', '"Hi" and "bye"'),
        ("```text\nHi.\n```", "Hi."),
        ('```\n"Hi."\n```', "Hi."),
        ("It's 'fine'", "It's 'fine'"),
        ("Hi.<|im_end|>", "Hi."),
        ("Hi.</s>\n<eos>", "Hi."),
        ('"Hi."<|eot_id|>', "Hi."),
        ("```\nHi.\n```<|end|>", "Hi."),
        ("<think>Hm</think>Hi.<end_of_turn>", "Hi."),
        ("Hi <|im_start|>system there.", "Hi system there."),
        ("Hi [INST]there<tool_call>.", "Hi there ."),
        ('"', '"'),
        ("", ""),
    ],
)
def test_wrappings_are_taken_off(said: str, text: str) -> None:
    assert tidied(said) == text


@given(st.text())
def test_any_text_can_be_tidied(text: str) -> None:
    once = tidied(text)
    assert once == once.strip()
    assert "\n" not in once


FIELDS = ["choices", "message", "content", "role", "usage", "finish_reason"]


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(FIELDS), inner),
        max_leaves=12,
    )
)
def test_any_json_is_a_completion_or_an_error(payload: Any) -> None:
    with suppress(EndpointError):
        assert completion_in(payload).text


HOSTILE: dict[str, tuple[Callable[[SimpleNamespace], Any], type[EndpointError]]] = {
    "no json": (lambda chat: chat.raw(body=b"{nonsense"), EndpointAnswerError),
    "another json": (lambda chat: chat.raw(body=b"[1, 2]"), EndpointAnswerError),
    "no text": (lambda chat: chat.raw(body=b"\xff\xfe\x00"), EndpointAnswerError),
    "deep json": (lambda chat: chat.raw(body=b"[" * 50_000), EndpointAnswerError),
    "wrong role": (lambda chat: chat.says("Hi.", role="user"), EndpointAnswerError),
    "content of parts": (lambda chat: chat.says([{"type": "text", "text": "Hi."}]), EndpointAnswerError),
    "no content": (lambda chat: chat.says(None), EmptyAnswerError),
    "empty": (lambda chat: chat.says("  \n"), EmptyAnswerError),
    "only thoughts": (lambda chat: chat.says("<think>Hm"), EmptyAnswerError),
    "too big": (lambda chat: chat.says("x" * MAX_BYTES), EndpointAnswerError),
    "a stream": (lambda chat: chat.raw(body=b"data: {}", content_type="text/event-stream"), EndpointAnswerError),
    "a redirect": (lambda chat: chat.raw(307), EndpointRefusedError),
    "400": (lambda chat: chat.raw(400), EndpointRefusedError),
    "401": (lambda chat: chat.raw(401), EndpointRefusedError),
    "500": (lambda chat: chat.raw(500), EndpointRefusedError),
}


@pytest.mark.parametrize(("answer", "error"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_answers_are_errors(
    answer: Callable[[SimpleNamespace], Any], error: type[EndpointError], chat: SimpleNamespace
) -> None:
    with pytest.raises(error):
        asyncio.run(chat.endpoint(chat.app(lambda _: answer(chat))).complete(ASKED, 0))


@pytest.mark.parametrize(("status", "tries"), [(429, 3), (500, 3), (503, 3), (400, 1), (401, 1), (404, 1)])
def test_what_may_pass_is_tried_again(status: int, tries: int, chat: SimpleNamespace) -> None:
    app = chat.app(lambda _: chat.raw(status))
    with pytest.raises(EndpointRefusedError):
        asyncio.run(chat.endpoint(app, attempts=3).complete(ASKED, 0))
    assert len(app.requests) == tries


def test_the_second_attempt_may_do(chat: SimpleNamespace) -> None:
    app: Any = chat.app(lambda _: "Hi." if len(app.requests) > 1 else chat.raw(503))
    assert asyncio.run(chat.endpoint(app).complete(ASKED, 0)).text == "Hi."


def test_cut_off_words_are_known(chat: SimpleNamespace) -> None:
    app = chat.app(lambda _: chat.says("I would like", finish_reason="length"))
    assert not asyncio.run(chat.endpoint(app).complete(ASKED, 0)).is_whole


def test_a_delay_is_a_timeout_and_not_tried_again(chat: SimpleNamespace, hurried: asyncio.Runner) -> None:
    async def late(_: Any) -> str:
        await asyncio.sleep(600)
        return "Hi."

    app = chat.app(late)
    with pytest.raises(EndpointTimeoutError, match=r"within 0\.05 s"):
        hurried.run(chat.endpoint(app, timeout_s=0.05).complete(ASKED, 0))
    assert len(app.requests) == 1


@pytest.mark.parametrize("concurrency", [4, 70])
def test_concurrency_is_bounded(concurrency: int, chat: SimpleNamespace, hurried: asyncio.Runner) -> None:
    under_way, most = 0, 0

    async def counted(_: Any) -> str:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.01)
        under_way -= 1
        return "Hi."

    async def many() -> None:
        endpoint = chat.endpoint(chat.app(counted), concurrency=concurrency)
        await asyncio.gather(*(endpoint.complete(ASKED, seed) for seed in range(3 * concurrency)))
        await endpoint.aclose()

    hurried.run(many())
    assert most == concurrency


def test_one_endpoint_serves_one_loop_after_another(chat: SimpleNamespace) -> None:
    endpoint = chat.endpoint(chat.app(lambda _: "Hi."))
    for _ in range(2):
        assert asyncio.run(endpoint.complete(ASKED, 0)).text == "Hi."


def test_the_breaker_opens_tries_and_recovers(chat: SimpleNamespace) -> None:
    now, is_well = 0.0, False
    app = chat.app(lambda _: "Hi." if is_well else chat.raw(400))
    base = chat.endpoint(app)
    endpoint = Endpoint(base.settings, Breaker(2, 10.0), transport=base._transport, clock=lambda: now)

    async def asked() -> str:
        return (await endpoint.complete(ASKED, 0)).text

    for _ in range(2):
        with pytest.raises(EndpointRefusedError):
            asyncio.run(asked())
    with pytest.raises(BreakerOpenError):
        asyncio.run(asked())
    assert len(app.requests) == 2
    now, is_well = 10.0, True
    assert asyncio.run(asked()) == asyncio.run(asked()) == "Hi."


def test_silence_opens_no_breaker(chat: SimpleNamespace) -> None:
    endpoint = chat.endpoint(chat.app(lambda _: ""), Breaker(1, 10.0))
    for _ in range(3):
        with pytest.raises(EmptyAnswerError):
            asyncio.run(endpoint.complete(ASKED, 0))


Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def _served(handler: Handler) -> AsyncIterator[str]:
    """Serve bytes on this machine; gives the base URL."""
    tasks: set[asyncio.Task[Any] | None] = set()

    async def served(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.add(asyncio.current_task())
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await handler(reader, writer)
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    server = await asyncio.start_server(served, "127.0.0.1", 0)
    yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
    server.close()
    await asyncio.gather(*filter(None, tasks))
    await server.wait_closed()


async def _on_loopback(handler: Handler, **settings: Any) -> EndpointError | str:
    chosen = {"attempts": 2, "longest_wait_s": 0.01, **settings}
    async with _served(handler) as url:
        endpoint = Endpoint(EndpointSettings(base_url=url, model="model", **chosen))
        try:
            return (await endpoint.complete(ASKED, 0)).text
        except EndpointError as error:
            return error
        finally:
            await endpoint.aclose()


def test_dropped_connections_are_tried_again_and_then_an_error() -> None:
    dropped = 0

    async def drop(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal dropped
        await reader.readuntil(b"\r\n\r\n")
        dropped += 1
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{")
        await writer.drain()

    found = asyncio.run(_on_loopback(drop))
    assert isinstance(found, EndpointUnreachableError)
    assert "is the model server running" in str(found)
    assert dropped == 2


def test_an_endless_answer_is_refused_while_it_arrives() -> None:
    sent = 0

    async def flood(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n")
        for _ in range(1000):
            writer.write(b" " * 65536)
            sent += 65536
            await writer.drain()

    found = asyncio.run(_on_loopback(flood))
    assert isinstance(found, EndpointAnswerError)
    assert sent < 1000 * 65536


def test_a_dripping_answer_ends_in_time() -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n")
        while True:
            writer.write(b" ")
            await writer.drain()
            await asyncio.sleep(0.02)

    assert isinstance(asyncio.run(_on_loopback(drip, timeout_s=0.2)), EndpointTimeoutError)


def test_connections_are_kept() -> None:
    body = json.dumps({"choices": [{"message": {"role": "assistant", "content": "Hi."}}]}).encode()

    connections = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = re.search(rb"content-length: (\d+)", head.lower())
            assert length
            await reader.readexactly(int(length[1]))
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
            await writer.drain()

    async def asked() -> None:
        async with _served(answer) as url:
            endpoint = Endpoint(EndpointSettings(base_url=url, model="model", concurrency=70))
            for seed in range(5):
                await endpoint.complete(ASKED, seed)
            await endpoint.aclose()

    asyncio.run(asked())
    assert connections == 1


def _probed(endpoint: Endpoint) -> EndpointError | None:
    async def probed() -> EndpointError | None:
        try:
            await endpoint.probe()
        except EndpointError as error:
            return error
        finally:
            await endpoint.aclose()
        return None

    return asyncio.run(probed())


def test_a_good_endpoint_passes_the_probe(chat: SimpleNamespace) -> None:
    assert _probed(chat.endpoint(chat.app(lambda _: "Hello."))) is None
    # Servers that list no models, or not as others do, are asked all the same.
    for models in (chat.raw(404), chat.raw(body=b"[]"), chat.raw(body=b"nonsense"), ()):
        assert _probed(chat.endpoint(chat.app(lambda _: "Hello.", models))) is None


PROBES: dict[str, tuple[Any, Any, type[EndpointError], str]] = {
    "wrong key": ("Hi.", 401, EndpointRefusedError, "refuses the API key"),
    "forbidden": ("Hi.", 403, EndpointRefusedError, "refuses the API key"),
    "wrong key for completions only": (401, ("model",), EndpointRefusedError, "refuses the API key"),
    "unlisted model": (
        "Hi.",
        ("small", "large"),
        EndpointRefusedError,
        "serve the model 'model'; it serves 'small'",
    ),
    "unknown model": (404, 404, EndpointRefusedError, "no model 'model'"),
    "always thinks": ("<think>Let me see", ("model",), EmptyAnswerError, "enable_thinking"),
    "thinks in another field": ("", ("model",), EmptyAnswerError, "enable_thinking"),
    "streams only": ("stream", ("model",), EndpointAnswerError, "streams only"),
    "no such API": (405, 404, EndpointRefusedError, "HTTP 405"),
}


@pytest.mark.parametrize(("answer", "models", "error", "message"), PROBES.values(), ids=PROBES)
def test_the_probe_says_what_is_wrong(
    answer: Any, models: Any, error: type[EndpointError], message: str, chat: SimpleNamespace
) -> None:
    said = chat.raw(answer) if isinstance(answer, int) else answer
    if answer == "stream":
        said = chat.raw(body=b"data: {}\n\n", content_type="text/event-stream; charset=utf-8")
    app = chat.app(lambda _: said, chat.raw(models) if isinstance(models, int) else models)
    found = _probed(chat.endpoint(app))
    assert isinstance(found, error)
    assert message in str(found)


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/v1", "nonsense", "ftp://model/v1", "http://[::1/v1", ""])
def test_the_probe_finds_no_endpoint(url: str) -> None:
    settings = EndpointSettings(base_url=url, model="model", attempts=1)
    assert isinstance(_probed(Endpoint(settings)), EndpointUnreachableError)
