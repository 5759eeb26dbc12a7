"""Fuzzing: whatever is sent, nothing is a fault of the server, no place is lost, and its health is told in time.

What is sent is nearly right, or no HTTP at all. The short forms belong to the slow tests, the long ones to the nights.
"""

from __future__ import annotations

import contextlib
import json
import re
import socket
import subprocess
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, ClassVar

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.tools.registry import TOOLS
from ecom_rlve.models import ErrorCode

_INTERNAL = -32603
_SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=30)
    | st.sampled_from(["", "CART", "../../etc/passwd", "a" * 2000, "\u202e", "\x00", "{}", "<tool_call>", "1e999"])
)
JSON = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
_ARGUMENTS = st.dictionaries(
    st.sampled_from(["query", "product_id", "limit", "offset", "order_id", "quantity", "message", "filters", "x"]),
    JSON,
    max_size=4,
)
CALLS = st.fixed_dictionaries(
    {"name": st.sampled_from([*TOOLS, "say", "submit_answer", "no.such"]) | st.text(max_size=10)},
    optional={"args": _ARGUMENTS | JSON, "id": _SCALARS},
)
ACTIONS = (
    st.fixed_dictionaries(
        {},
        optional={
            "assistant_message": st.text(max_size=40) | JSON,
            "tool_calls": st.lists(CALLS, max_size=3) | JSON,
            "answer": st.dictionaries(st.sampled_from(["done", "product_id", "items"]), JSON, max_size=3) | JSON,
            "end_turn": JSON,
            "metadata": JSON,
        },
    )
    | st.fixed_dictionaries({"text": st.text(max_size=60) | JSON})
    | JSON
)
RESETS = st.fixed_dictionaries(
    {},
    optional={
        "env_id": st.sampled_from([*environments(), "kart"]) | JSON,
        "difficulty": st.integers(-1, 22) | JSON,
        "seed": st.integers(0, 50) | JSON,
        "style": st.sampled_from(["turn", "tool"]) | JSON,
        "group_id": _SCALARS,
        "group_size": _SCALARS,
        "run_id": _SCALARS,
        "axes": JSON,
        "include": JSON,
        "episode_id": st.sampled_from(["one", "two", "a/b", "%2e%2e"]) | _SCALARS,
        "request_id": st.sampled_from(["r" * 16, "s" * 16]) | _SCALARS,
    },
)
METHODS = st.sampled_from(
    [
        "openenv/session/create",
        "openenv/session/close",
        "tools/list",
        "tools/call",
        "initialize",
        "ping",
        "notifications/x",
    ]
) | st.text(max_size=8)


def rpc(session: str | None) -> st.SearchStrategy[Any]:
    """Return JSON-RPC requests, some of them for a session that there is."""
    ids = st.just(session) | _SCALARS if session else _SCALARS
    params = st.fixed_dictionaries(
        {},
        optional={
            "session_id": ids,
            "name": st.sampled_from([*TOOLS, "say"]) | _SCALARS,
            "arguments": _ARGUMENTS | JSON,
            "reset": RESETS | JSON,
            "env_id": _SCALARS,
            "request_id": _SCALARS,
        },
    )
    whole = st.fixed_dictionaries({"jsonrpc": st.just("2.0"), "id": _SCALARS, "method": METHODS, "params": params})
    return (
        whole | st.fixed_dictionaries({}, optional={"jsonrpc": JSON, "id": JSON, "method": JSON, "params": JSON}) | JSON
    )


_PATHS = st.sampled_from(
    [
        "/reset",
        "/step",
        "/state",
        "/state?episode_id=one",
        "/mcp",
        "/envs",
        "/envs/CART/reset",
        "/envs/%00/reset",
        "/episodes",
        "/episodes/one/trace",
        "/episodes/one/finish",
        "/episodes/sample",
        "/curriculum/r",
        "/curriculum/r/import",
        "/curriculum/%ff/export",
        "/heartbeat",
        "/ready",
        "/docs",
        "/openapi.json",
        "//",
        "/../../etc/passwd",
        "*",
        "http://evil.example/",
        "/ws",
    ]
) | st.text(max_size=20).map(lambda text: "/" + text)
_NAMES = st.sampled_from(
    [
        "Host",
        "Content-Length",
        "Transfer-Encoding",
        "Connection",
        "Upgrade",
        "Expect",
        "Authorization",
        "Origin",
        "Ecom-Client",
    ]
) | st.text(max_size=8)
_VALUES = st.sampled_from(
    [
        "localhost",
        "0",
        "5",
        "-1",
        "99999999999999999999",
        "chunked",
        "close",
        "upgrade",
        "websocket",
        "100-continue",
        "h2c",
        "a" * 5000,
    ]
) | st.text(max_size=20)
_BODIES = (RESETS | ACTIONS | JSON).map(lambda value: json.dumps(value).encode()) | st.binary(max_size=200)


@st.composite
def requests(draw: st.DrawFn) -> list[bytes]:
    """Return the pieces of a request that is more or less HTTP, the last of which may be missing."""
    method = draw(st.sampled_from(["GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "CONNECT", "BREW"]))
    version = draw(st.sampled_from(["HTTP/1.1", "HTTP/1.1", "HTTP/1.1", "HTTP/1.0", "HTTP/2.0", ""]))
    lines = [
        f"{method} {draw(_PATHS)} {version}",
        *(f"{draw(_NAMES)}: {draw(_VALUES)}" for _ in range(draw(st.integers(0, 4)))),
    ]
    body = draw(_BODIES)
    if draw(st.booleans()):
        lines += ["Host: localhost", f"Content-Length: {len(body)}"]
    whole = "\r\n".join(lines).encode("utf-8", "replace") + b"\r\n\r\n" + body
    if draw(st.booleans()):
        whole = whole[: draw(st.integers(0, len(whole)))]
    if draw(st.booleans()):
        return [whole]
    cut = draw(st.integers(0, len(whole)))
    return [whole[:cut], whole[cut:]]


_STATUS = re.compile(rb"^HTTP/1\.1 (\d+)", re.MULTILINE)
_WAIT_S = 0.02
"""For an answer; who sent half gets none until later, and is not waited for."""


def played(port: int, pieces: list[bytes]) -> bytes:
    """Send the pieces on one connection, and leave; return what was answered until then."""
    received = b""
    with socket.create_connection(("127.0.0.1", port)) as peer, contextlib.suppress(OSError):
        for piece in pieces:
            peer.sendall(piece)
        peer.settimeout(_WAIT_S)
        while data := peer.recv(1 << 16):
            received += data
    return received


@pytest.mark.parametrize(
    "examples", [pytest.param(300, marks=pytest.mark.slow), pytest.param(10_000, marks=pytest.mark.nightly)]
)
def test_no_bytes_are_a_fault_of_the_server(fuzzed: Any, examples: int) -> None:
    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    @given(requests())
    def sent(pieces: list[bytes]) -> None:
        statuses = [int(each) for each in _STATUS.findall(played(fuzzed.port, pieces))]
        # 503 is said by /ready and by what is full, and 501 by nobody.
        assert not [each for each in statuses if each >= 500], (pieces, statuses)

    with fuzzed.watched():
        sent()


class Sockets(RuleBasedStateMachine):
    """Several sockets, on which episodes are played well and badly; each frame is answered, or closes its socket."""

    fuzzed: ClassVar[Any]
    answered: ClassVar[Counter[str]] = Counter()

    def __init__(self) -> None:
        super().__init__()
        self._stack = ExitStack()
        self._peers: list[ClientConnection] = []

    @rule(path=st.sampled_from(["/ws", "/ws", "/envs/cart/ws", "/ws?session_id=none", "/envs/none/ws"]))
    def open(self, path: str) -> None:
        if len(self._peers) < 4:
            peer = self._stack.enter_context(connect(self.fuzzed.ws.replace("/ws", path), max_size=None))
            self._peers.append(peer)

    @rule(data=RESETS, at=st.integers(0, 3))
    def reset(self, data: Any, at: int) -> None:
        self._asked(at, {"type": "reset", "data": data})

    @rule(seed=st.integers(0, 50), env=st.sampled_from([*environments()]), at=st.integers(0, 3))
    def begin(self, seed: int, env: str, at: int) -> None:
        self._asked(at, {"type": "reset", "data": {"env_id": env, "seed": seed, "difficulty": 1}})

    @rule(data=ACTIONS, at=st.integers(0, 3))
    def step(self, data: Any, at: int) -> None:
        self._asked(at, {"type": "step", "data": data})

    @rule(data=rpc(None), at=st.integers(0, 3))
    def mcp(self, data: Any, at: int) -> None:
        self._asked(at, {"type": "mcp", "data": data})

    @rule(
        kind=st.sampled_from(["state", "finish", "sample", "report", "curriculum", "heartbeat", "jump"]),
        data=JSON,
        at=st.integers(0, 3),
    )
    def ask(self, kind: str, data: Any, at: int) -> None:
        self._asked(at, {"type": kind} if data is None else {"type": kind, "data": data})

    @rule(text=st.text(max_size=50) | JSON.map(json.dumps) | st.binary(max_size=50), at=st.integers(0, 3))
    def say_anything(self, text: str | bytes, at: int) -> None:
        self._sent(at, text)

    @rule(data=st.binary(min_size=1, max_size=12), at=st.integers(0, 3))
    def break_frames(self, data: bytes, at: int) -> None:
        peer = self._peer(at)
        with suppress(OSError):
            peer.socket.sendall(data)
        self._gone(peer)

    @rule(at=st.integers(0, 3))
    def vanish(self, at: int) -> None:
        self._gone(self._peer(at))

    def teardown(self) -> None:
        for peer in list(self._peers):
            self._gone(peer)
        self._stack.close()

    def _peer(self, at: int) -> ClientConnection:
        if not self._peers:
            self.open("/ws")
        return self._peers[at % len(self._peers)]

    def _gone(self, peer: ClientConnection) -> None:
        self._peers.remove(peer)
        with suppress(OSError):
            peer.socket.shutdown(socket.SHUT_RDWR)

    def _asked(self, at: int, frame: Any) -> None:
        self._sent(at, json.dumps(frame))

    def _sent(self, at: int, text: str | bytes) -> None:
        peer = self._peer(at)
        try:
            peer.send(text)
            answer = json.loads(peer.recv(timeout=60))
        except ConnectionClosed:
            self.answered["closed"] += 1
            self._gone(peer)
            return
        self.answered[answer["type"]] += 1
        if answer["type"] == "error":
            assert answer["data"]["token"] in set(ErrorCode) - {ErrorCode.INTERNAL_ERROR}, (text, answer)


class Sessions(RuleBasedStateMachine):
    """JSON-RPC over HTTP: sessions begin, are played well and badly, and end or are left."""

    fuzzed: ClassVar[Any]

    def __init__(self) -> None:
        super().__init__()
        self._http = httpx.Client(base_url=self.fuzzed.url, timeout=60)
        self._session: str | None = None

    @rule(seed=st.integers(0, 50), env=st.sampled_from([*environments()]))
    def create(self, seed: int, env: str) -> None:
        params = {"reset": {"env_id": env, "seed": seed, "difficulty": 1}}
        answer = self._asked({"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create", "params": params})
        if "result" in answer:
            self._session = answer["result"]["session_id"]

    @rule(data=st.data())
    def ask(self, data: st.DataObject) -> None:
        self._asked(data.draw(rpc(self._session)))

    @rule(name=st.sampled_from([*TOOLS, "say", "submit_answer"]), arguments=st.fixed_dictionaries({}) | JSON)
    def call(self, name: str, arguments: Any) -> None:
        params = {"session_id": self._session, "name": name, "arguments": arguments}
        self._asked({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})

    @rule()
    def close(self) -> None:
        params = {"session_id": self._session}
        self._asked({"jsonrpc": "2.0", "id": 1, "method": "openenv/session/close", "params": params})

    def teardown(self) -> None:
        self._http.close()

    def _asked(self, message: Any) -> Any:
        reply = self._http.post("/mcp", content=json.dumps(message))
        assert reply.status_code in (200, 202), (message, reply.text)
        answer = reply.json() if reply.status_code == 200 else {}
        if "error" in answer:
            assert answer["error"]["code"] != _INTERNAL, (message, answer)
        return answer


# What hypothesis would print of these strategies is long; it prints them only where something failed.
@pytest.mark.filterwarnings("ignore:Generating overly large repr")
@pytest.mark.parametrize("machine", [Sockets, Sessions])
@pytest.mark.parametrize(
    "examples", [pytest.param(20, marks=pytest.mark.slow), pytest.param(3_000, marks=pytest.mark.nightly)]
)
def test_no_conversation_is_a_fault_of_the_server(fuzzed: Any, machine: Any, examples: int) -> None:
    machine.fuzzed = fuzzed
    chosen = settings(
        max_examples=examples,
        stateful_step_count=25,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    with fuzzed.watched():
        run_state_machine_as_test(machine, settings=chosen)
    if machine is Sockets:
        # It was no waste of time.
        assert Sockets.answered["observation"] > examples // 4
        assert Sockets.answered["error"] > examples


_TOOL = Path(__file__).parents[3] / ".venv" / "fuzz" / "bin" / "schemathesis"
"""Made by ``make test-fuzz``."""
_CHECKS = "not_a_server_error,response_schema_conformance,content_type_conformance"


@pytest.mark.parametrize(
    ("examples", "least"),
    [pytest.param(8, 300, marks=pytest.mark.slow), pytest.param(600, 20_000, marks=pytest.mark.nightly)],
)
def test_no_request_of_the_schema_is_a_fault_of_the_server(
    fuzzed: Any, tmp_path: Path, examples: int, least: int
) -> None:
    if not _TOOL.exists():
        pytest.skip("make test-fuzz installs schemathesis")
    report = tmp_path / "report.ndjson"
    command = [str(_TOOL), "run", f"{fuzzed.url}/openapi.json", f"--checks={_CHECKS}", "--phases=coverage,fuzzing"]
    command += [f"--max-examples={examples}", "--workers=1", "--suppress-health-check=all", "--no-color"]
    command += ["--report=ndjson", f"--report-ndjson-path={report}"]
    with fuzzed.watched():
        run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert run.returncode == 0, run.stdout[-6000:]
    found = re.search(r"([0-9,]+) generated", run.stdout)
    assert found is not None, run.stdout[-3000:]
    assert int(found[1].replace(",", "")) >= least
