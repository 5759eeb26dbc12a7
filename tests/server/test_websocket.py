"""The WebSocket protocol on a real port: frames, hostile frames, capacity, pings."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Iterator
from functools import partial
from typing import Any

import httpx
import pytest
import websockets
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import ClientConnection
from websockets.sync.client import connect as connect_within

from ecom_rlve.envs.registry import environments
from ecom_rlve.server.transport import websocket

NEVER_S = 120.0
"""After which a test gives up on an answer; none of them takes a part of it."""
connect = partial(connect_within, open_timeout=NEVER_S, ping_interval=None)
HELLO = {"type": "step", "data": {"assistant_message": "Hello, let me look."}}
PROSE = {"type": "step", "data": {"text": "I would rather talk."}}
STATE = {"type": "state"}


def reset(**data: Any) -> dict[str, Any]:
    return {"type": "reset", "data": {"env_id": "CART", "seed": 1, **data}}


def ask(peer: ClientConnection, frame: Any) -> Any:
    """Send a frame (an object, or raw text or bytes) and return the answer."""
    peer.send(frame if isinstance(frame, str | bytes) else json.dumps(frame))
    return json.loads(peer.recv(timeout=NEVER_S))


def refused(peer: ClientConnection, frame: Any) -> Any:
    """Return the data of the error frame that answers ``frame``."""
    answer = ask(peer, frame)
    assert answer["type"] == "error", answer
    assert "Traceback" not in json.dumps(answer)
    return answer["data"]


@pytest.fixture
def peer(server: Any) -> Iterator[ClientConnection]:
    with connect(server.ws) as connection:
        yield connection


def test_an_episode_in_frames(peer: ClientConnection) -> None:
    opening = ask(peer, reset(episode_id="frames", difficulty=1))
    assert opening["type"] == "observation"
    assert set(opening["data"]) == {"observation", "reward", "done", "metadata"}
    assert (opening["data"]["reward"], opening["data"]["done"]) == (None, False)
    assert opening["data"]["metadata"]["env_id"] == "CART"
    assert "metadata" not in opening["data"]["observation"]
    assert ask(peer, HELLO)["data"]["reward"] == 0.0
    state = ask(peer, STATE)
    assert (state["type"], state["data"]["episode_id"], state["data"]["step_count"]) == ("state", "frames", 1)
    last = ask(peer, PROSE)["data"]
    assert (last["done"], last["reward"], last["observation"]["result"]["termination"]) == (
        True,
        -1.0,
        "format_failure",
    )
    peer.send('{"type": "close"}')
    with pytest.raises(ConnectionClosed) as closed:
        peer.recv(timeout=NEVER_S)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1000


def test_a_reset_needs_no_data(peer: ClientConnection) -> None:
    assert ask(peer, {"type": "reset"})["data"]["reward"] is None


def test_before_a_reset_steps_and_states_are_errors_but_the_tools_can_be_listed(peer: ClientConnection) -> None:
    for frame in (HELLO, STATE):
        data = refused(peer, frame)
        assert (data["code"], data["token"]) == ("EXECUTION_ERROR", "NOT_RESET")
        assert data["message"].startswith("NOT_RESET: ")
    listed = ask(peer, {"type": "step", "data": {"type": "list_tools"}})
    tools = listed["data"]["observation"]["tools"]
    assert {tool["name"] for tool in tools} >= set(environments()["CART"].about.tool_names)
    assert all(set(tool) == {"name", "description", "input_schema"} for tool in tools)


def test_after_the_end_a_step_is_an_error_and_a_reset_starts_anew(peer: ClientConnection) -> None:
    ask(peer, reset())
    ask(peer, PROSE)
    data = refused(peer, HELLO)
    assert (data["code"], data["token"]) == ("EXECUTION_ERROR", "EPISODE_DONE")
    assert data["message"].startswith("EPISODE_DONE: ")
    assert ask(peer, STATE)["data"]["done"] is True
    assert ask(peer, reset())["data"]["done"] is False


HOSTILE = [
    ("{", "INVALID_JSON"),
    ("", "INVALID_JSON"),
    ('{"type": "step", "data": {"assistant_message": NaN}}', "INVALID_JSON"),
    ('{"type": "step", "data": {"answer": {"x": 1e999}}}', "INVALID_JSON"),
    ("[" * 100_000, "INVALID_JSON"),
    (b'{"type": "state"}', "INVALID_JSON"),
    (b"\xff\x00", "INVALID_JSON"),
    ("[]", "VALIDATION_ERROR"),
    ("7", "VALIDATION_ERROR"),
    ("null", "VALIDATION_ERROR"),
    ("{}", "UNKNOWN_TYPE"),
    ('{"type": "jump"}', "UNKNOWN_TYPE"),
    ('{"type": ["step"]}', "UNKNOWN_TYPE"),
    ('{"type": "step"}', "VALIDATION_ERROR"),
    ('{"type": "step", "data": null}', "VALIDATION_ERROR"),
    ('{"type": "step", "data": [1]}', "VALIDATION_ERROR"),
    ('{"type": "step", "data": {}, "timeout_s": 5}', "VALIDATION_ERROR"),
    ('{"type": "step", "data": {"metadata": {"request_id": []}}}', "VALIDATION_ERROR"),
    ('{"type": "state", "data": {}}', "VALIDATION_ERROR"),
    ('{"type": "close", "data": {}}', "VALIDATION_ERROR"),
    ('{"type": "reset", "data": null}', "VALIDATION_ERROR"),
    ('{"type": "reset", "seed": 5}', "VALIDATION_ERROR"),
    ('{"type": "reset", "data": {"seed": -1}}', "VALIDATION_ERROR"),
    ('{"type": "reset", "data": {"env_id": "CART", "axes": {"none": 1}}}', "VALIDATION_ERROR"),
    ('{"type": "reset", "data": {"env_id": "NOPE"}}', "UNKNOWN_ENV"),
    (json.dumps({"type": "step", "data": {"text": "x" * (1 << 20)}}), "PAYLOAD_TOO_LARGE"),
    (json.dumps({"type": "step", "data": {"text": "é" * (1 << 19)}}, ensure_ascii=False), "PAYLOAD_TOO_LARGE"),
]


@pytest.mark.parametrize(("frame", "token"), HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_frame_gets_an_error_frame_and_leaves_the_session_intact(
    peer: ClientConnection, frame: str | bytes, token: str
) -> None:
    ask(peer, reset())
    before = ask(peer, STATE)
    data = refused(peer, frame)
    assert data["token"] == token
    assert len(json.dumps(data)) < 10_000
    assert ask(peer, STATE) == before
    assert ask(peer, HELLO)["data"]["observation"]["turn"] == 1


def test_one_answer_per_frame_in_order(peer: ClientConnection) -> None:
    frames = [reset(), HELLO, {"type": "no"}, STATE, PROSE]
    for frame in frames:
        peer.send(json.dumps(frame))
    kinds = [json.loads(peer.recv(timeout=NEVER_S))["type"] for _ in frames]
    assert kinds == ["observation", "observation", "error", "state", "observation"]


def test_an_episode_on_a_socket_can_be_read_over_http_and_goes_with_the_socket(server: Any) -> None:
    def status(episode_id: str) -> int:
        return httpx.get(f"{server.http}/state", params={"episode_id": episode_id}, timeout=None).status_code

    with connect(server.ws) as peer:
        ask(peer, reset(episode_id="first"))
        assert status("first") == 200
        ask(peer, reset(episode_id="second"))
        assert (status("first"), status("second")) == (404, 200)
        refused(peer, reset(episode_id="third", seed=-1))
        assert status("second") == 200
        assert ask(peer, reset(episode_id="second", seed=2))["data"]["metadata"]["seed"] == 2
        with connect(server.ws) as other:
            assert refused(other, reset(episode_id="second"))["token"] == "EPISODE_EXISTS"
        ask(peer, PROSE)
        ask(peer, reset(episode_id="fourth"))
        assert status("second") == 200
    server.until(lambda: status("fourth") == 404)


def test_a_repeated_request_id_is_answered_from_store(peer: ClientConnection) -> None:
    ask(peer, reset())
    step = {"type": "step", "data": {**HELLO["data"], "metadata": {"request_id": "r"}}}  # type: ignore[dict-item]  # JSON has no types
    first = ask(peer, step)
    assert ask(peer, step) == first
    assert ask(peer, STATE)["data"]["step_count"] == 1
    other = {"type": "step", "data": {"assistant_message": "Else.", "metadata": {"request_id": "r"}}}
    assert refused(peer, other)["token"] == "REQUEST_CONFLICT"


def test_a_reset_repeated_on_a_new_socket_takes_the_episode_along(server: Any) -> None:
    frame = reset(request_id="reconnect-0123456789")
    with connect(server.ws) as first, connect(server.ws) as second:
        opening = ask(first, frame)
        assert ask(first, frame) == opening
        assert ask(second, frame) == opening
        assert refused(first, HELLO)["token"] == "NOT_RESET"
        first.close()
        assert ask(second, HELLO)["type"] == "observation"


def test_the_address_may_fix_the_environment(server: Any) -> None:
    base = server.http.replace("http", "ws")
    with connect(f"{base}/envs/e_cart/ws") as peer:
        assert ask(peer, {"type": "reset"})["data"]["metadata"]["env_id"] == "CART"
    with connect(f"{base}/envs/CRAT/ws") as peer:
        assert json.loads(peer.recv(timeout=NEVER_S))["data"]["token"] == "UNKNOWN_ENV"
        peer.send("{}")
        with pytest.raises(ConnectionClosed) as closed:
            peer.recv(timeout=NEVER_S)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1008


def test_json_rpc_frames_are_answered_like_the_route(peer: ClientConnection) -> None:
    answer = ask(peer, {"type": "mcp", "data": {"jsonrpc": "2.0", "id": 3, "method": "tools/list"}})
    assert (answer["type"], answer["data"]["id"]) == ("mcp", 3)
    assert answer["data"]["result"]["tools"]
    assert ask(peer, {"type": "mcp"})["data"]["error"]["code"] == -32600


def test_a_token_guards_the_handshake(serve: Any) -> None:
    server = serve(token="open sesame")
    for headers in ({}, {"Authorization": "Bearer wrong"}):
        with pytest.raises(InvalidStatus) as denied, connect(server.ws, additional_headers=headers):
            pass
        assert denied.value.response.status_code == 401
    with connect(server.ws, additional_headers={"Authorization": "Bearer open sesame"}) as peer:
        assert ask(peer, reset())["type"] == "observation"


@pytest.mark.parametrize("speaks_first", [True, False])
def test_a_capacity_refusal_reaches_every_client(
    serve: Any, monkeypatch: pytest.MonkeyPatch, speaks_first: bool
) -> None:
    # Whoever speaks is not waited for any longer; nobody who does not is worth more than a moment.
    monkeypatch.setattr(websocket, "REFUSAL_WAIT_S", NEVER_S if speaks_first else 0.05)
    server = serve(max_sessions=1)
    with connect(server.ws) as holder:
        ask(holder, reset())
        for _ in range(5):
            with connect(server.ws) as peer:
                if speaks_first:
                    peer.send(json.dumps(reset()))
                data = json.loads(peer.recv(timeout=NEVER_S))["data"]
                assert (data["code"], data["active_sessions"], data["max_sessions"]) == ("CAPACITY_REACHED", 1, 1)
                with pytest.raises(ConnectionClosed) as closed:
                    peer.recv(timeout=NEVER_S)
                assert closed.value.rcvd is not None
                assert closed.value.rcvd.code == 1013
        assert httpx.post(f"{server.http}/reset", timeout=None).status_code == 503
        assert ask(holder, HELLO)["type"] == "observation"
    server.until(lambda: server.service.sessions.active == 0)
    with connect(server.ws) as peer:
        assert ask(peer, reset())["type"] == "observation"


def test_a_connection_takes_its_place_before_any_reset(serve: Any) -> None:
    server = serve(max_sessions=1)
    with connect(server.ws) as holder:
        assert refused(holder, STATE)["token"] == "NOT_RESET"
        assert httpx.post(f"{server.http}/reset", timeout=None).status_code == 503


def test_a_half_open_socket_is_found_by_ping(serve: Any) -> None:
    server = serve(ws_ping_interval_s=0.1, ws_ping_timeout_s=0.1)
    with socket.create_connection(("127.0.0.1", server.port), timeout=NEVER_S) as silent:
        silent.sendall(
            b"GET /ws HTTP/1.1\r\nHost: shop\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        assert silent.recv(4096).startswith(b"HTTP/1.1 101 ")
        while silent.recv(4096):
            pass
    server.until(lambda: server.service.sessions.active == 0)


def test_an_answering_socket_is_never_idle(serve: Any) -> None:
    """Its episode outlives one that was begun later, over HTTP, and left alone."""
    server = serve(ws_ping_interval_s=0.05, ws_ping_timeout_s=NEVER_S, idle_ttl_s=0.1)
    with connect(server.ws) as alive:
        ask(alive, reset())
        assert httpx.post(f"{server.http}/reset", timeout=None).status_code == 200
        server.until(lambda: server.service.sessions.readable == 1)
        assert ask(alive, HELLO)["type"] == "observation"


def test_256_sockets_need_few_threads_and_do_not_mix(server: Any) -> None:
    async def play(seed: int) -> None:
        async with websockets.connect(server.ws, compression=None, open_timeout=NEVER_S) as peer:
            for frame in (reset(seed=seed, include=[]), HELLO):
                await peer.send(json.dumps(frame))
                data = json.loads(await peer.recv())["data"]
                assert data["metadata"]["seed"] == seed
            threads.append(threading.active_count())

    async def play_all() -> None:
        await asyncio.gather(*(play(seed) for seed in range(256)))

    threads: list[int] = []
    asyncio.run(play_all())
    assert len(threads) == 256
    assert max(threads) <= 64


def test_a_large_catalog_is_served_by_a_bounded_pool(serve: Any) -> None:
    before = set(threading.enumerate())
    server = serve(pool_above_products=0, pool_threads=2)

    async def play(seed: int) -> str:
        async with websockets.connect(server.ws, compression=None, open_timeout=NEVER_S) as peer:
            await peer.send(json.dumps(reset(seed=seed, include=[])))
            await peer.recv()
            await peer.send(json.dumps(HELLO))
            return str(json.loads(await peer.recv())["data"]["metadata"]["seed"])

    async def play_all() -> list[str]:
        return await asyncio.gather(*(play(seed) for seed in range(32)))

    assert asyncio.run(play_all()) == [str(seed) for seed in range(32)]
    started = [thread.name for thread in threading.enumerate() if thread not in before]
    assert sum(name.startswith("episode") for name in started) <= 2


@pytest.mark.parametrize("kind", ["reset", "step", "finish", "state", "mcp", "jump"])
@pytest.mark.parametrize("request_id", ["a-17", 17, 0])
def test_an_answer_echoes_the_request_id_of_its_frame(peer: ClientConnection, kind: str, request_id: str | int) -> None:
    data: dict[str, Any] = {} if kind == "state" else {"data": {}}
    assert ask(peer, {"type": kind, **data, "request_id": request_id})["request_id"] == request_id
    assert "request_id" not in ask(peer, {"type": kind, **data})


def test_an_answer_echoes_the_request_id_of_its_data(peer: ClientConnection) -> None:
    long = "0123456789abcdef"
    assert ask(peer, reset(request_id=long))["request_id"] == long
    noted = {"type": "step", "data": {"tool_calls": [], "metadata": {"request_id": "s1"}}}
    assert ask(peer, noted)["request_id"] == "s1"
    refused_step = ask(peer, {"type": "step", "data": {"request_id": "s2"}})
    assert (refused_step["type"], refused_step["request_id"]) == ("error", "s2")
    assert ask(peer, {**noted, "request_id": 5})["request_id"] == 5
    assert ask(peer, {"type": "finish", "data": {"request_id": "f1"}})["request_id"] == "f1"


def test_a_request_id_beside_the_data_makes_no_step_repeatable(peer: ClientConnection) -> None:
    ask(peer, reset())
    answers = [ask(peer, {**HELLO, "request_id": "same"}) for _ in range(2)]
    assert [answer["data"]["observation"]["turn"] for answer in answers] == [1, 2]


@pytest.mark.parametrize("request_id", ["", "x" * 256, True, 1.5, [], {}, 1 << 70])
def test_a_request_id_that_cannot_be_echoed_is_refused(peer: ClientConnection, request_id: Any) -> None:
    answer = ask(peer, {"type": "state", "request_id": request_id})
    assert (answer["data"]["token"], "request_id" in answer) == ("VALIDATION_ERROR", False)


def test_a_socket_takes_up_an_episode_of_another(server: Any) -> None:
    with connect(server.ws) as first, connect(server.ws) as second:
        ask(first, reset(episode_id="taken up"))
        ask(first, HELLO)
        resumed = ask(second, {"type": "resume", "data": {"episode_id": "taken up"}})
        assert (resumed["type"], resumed["data"]["step_count"]) == ("state", 1)
        assert ask(second, HELLO)["data"]["observation"]["turn"] == 2
        assert refused(first, STATE)["token"] == "NOT_RESET"
        assert refused(second, {"type": "resume", "data": {"episode_id": "nobody's"}})["token"] == "UNKNOWN_EPISODE"
        assert refused(second, {"type": "resume"})["token"] == "VALIDATION_ERROR"
        assert ask(second, STATE)["data"]["step_count"] == 2
