"""What the pages show of a live server: requests and frames with their answers, and whole conversations."""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import uvicorn
from blocks import Keep, trimmed
from played_episodes import Play
from websockets.sync.client import connect

from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.server.app import create_app, server_config
from ecom_rlve.server.settings import Settings

CARD: Keep = {"product_id": None, "title": 40, "price": None, "in_stock": None}
LINE: Keep = {"line_id": None, "quantity": None}
RESULT: Keep = {"results": (1, CARD), "total": None, "line": LINE}
TOOL: Keep = {"name": None, "result": RESULT, "error": None, "code": None}
OPENING: Keep = {
    "observation": {
        "episode_id": None,
        "user_message": None,
        "turns_left": None,
        "tool_calls_left": None,
        "reward": None,
    },
    "reward": None,
    "done": None,
    "metadata": {"env_id": None, "difficulty": None, "seed": None, "style": None},
}
STEP: Keep = {
    "observation": {"turn": None, "user_message": None, "tool_results": (1, TOOL)},
    "reward": None,
    "done": None,
}
END: Keep = {
    "observation": {"user_message": None, "result": None},
    "reward": None,
    "done": None,
}


CHAT: dict[str, Any] = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "cart_view", "arguments": "{}"}}],
}
NO_ENVELOPES: tuple[dict[str, Any], ...] = (
    {"action": {"assistant_message": "Hello"}},
    {"message": "Hello"},
    {"type": "call_tool", "tool_name": "cart_view", "arguments": {}},
)


@contextmanager
def live(shop: Shop, **changes: Any) -> Iterator[str]:
    """Serve ``shop`` on a free port for as long as the block lasts, and yield the URL."""
    settings = Settings().model_copy(update={"log_level": "warning", "store": "memory", **changes})
    config = server_config(create_app(settings, shop=shop), settings, host="127.0.0.1", port=0)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        if not thread.is_alive():
            raise RuntimeError("the server ended")
        time.sleep(0.01)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


def exchange(http: httpx.Client, method: str, path: str, body: Any = None, keep: Any = None) -> str:
    """Send a request; return it with its answer."""
    sent = body if isinstance(body, str) else json.dumps(body) if body is not None else ""
    reply = http.request(method, path, content=sent or None)
    headers = [
        f"{name.title()}: {reply.headers[name]}"
        for name in ("retry-after", "www-authenticate")
        if name in reply.headers
    ]
    told = trimmed(reply.json(), keep) if reply.content else ""
    return "\n".join(filter(None, [f"→ {method} {path}", sent, f"← {reply.status_code}", *headers, told]))


def fenced(*exchanges: str) -> str:
    """Return exchanges as one block of text."""
    return "```text\n" + "\n\n".join(exchanges) + "\n```"


def transcript(http: httpx.Client, play: Play, *, keep: Keep) -> tuple[str, dict[str, Any]]:
    """Play over HTTP; return the conversation line by line, and the episode's result."""
    answer = http.post("/reset", json=play.reset).raise_for_status().json()
    lines = [f"customer  {answer['observation']['user_message']}"]
    for action in play.actions:
        lines.append(f"agent     {json.dumps(action, ensure_ascii=False)}")
        body = {"episode_id": answer["observation"]["episode_id"], "action": action}
        answer = http.post("/step", json=body).raise_for_status().json()
        seen = answer["observation"]
        lines += [f"store     {each['name']} {trimmed(each['result'], keep)}" for each in seen["tool_results"]]
        if seen["user_message"]:
            lines.append(f"customer  {seen['user_message']}")
    return "```text\n" + "\n".join(lines) + "\n```", answer["observation"]["result"]


def frames(url: str, play: Play) -> str:
    """Return an episode's first frames over a WebSocket."""
    keeps: list[tuple[dict[str, Any], Any]] = [
        ({"type": "step", "data": play.actions[0]}, None),
        ({"type": "reset", "data": {**play.reset, "episode_id": "socket"}}, {"type": None, "data": OPENING}),
        ({"type": "step", "data": play.actions[0]}, {"type": None, "data": STEP}),
        (
            {"type": "state", "request_id": "q-17"},
            {"type": None, "data": {"episode_id": None, "step_count": None, "done": None}, "request_id": None},
        ),
        ({"type": "jump"}, None),
    ]
    lines = []
    with connect(url.replace("http", "ws") + "/ws") as socket:
        for sent, keep in keeps:
            socket.send(json.dumps(sent))
            lines += [f"→ {json.dumps(sent)}", f"← {trimmed(json.loads(socket.recv()), keep)}"]
        socket.send('{"type": "close"}')
        lines.append('→ {"type": "close"}')
    return fenced("\n".join(lines))


def tool_session(http: httpx.Client, play: Play) -> str:
    """Return an episode played by JSON-RPC, under an id that can be told from real ones."""
    observation: Keep = {
        **dict.fromkeys(("turn", "turns_left", "tool_calls_left", "user_message")),
        "tool_results": (1, TOOL),
        **dict.fromkeys(("done", "reward")),
        "result": {"r_total": None, "is_correct": None, "termination": None},
    }
    called: Keep = {
        "id": None,
        "result": {"content": (1, {"type": None, "text": 60}), "structuredContent": observation, "isError": None},
    }
    created: Keep = {"id": None, "result": {"session_id": None, "observation": OPENING["observation"]}}
    told: Keep = {"id": None, "error": None}
    search, add = (action["tool_calls"][0] for action in play.actions[:2])
    begin = {"reset": play.reset}
    number = 0

    def asked(method: str, params: dict[str, Any], keep: Keep) -> str:
        nonlocal number
        number += 1
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
        return exchange(http, "POST", "/mcp", message, keep)

    first = asked("openenv/session/create", begin, created)
    (session_id,) = set(re.findall(r"\b[0-9a-f]{32}\b", first)) - {_shown_episode(first)}
    named = {"session_id": session_id}
    lines = [
        first,
        asked("tools/list", named, {"id": None, "result": {"tools": (1, {"name": None, "description": 40})}}),
        asked("tools/call", {**named, "name": search["name"], "arguments": search["args"]}, called),
        asked("tools/call", {**named, "name": add["name"], "arguments": add["args"]}, called),
        asked("tools/call", {**named, "name": "say", "arguments": {"message": "It is in your cart."}}, called),
        asked("tools/call", {**named, "name": "submit_answer", "arguments": {}}, called),
        asked("tools/call", {**named, "name": "cart_view"}, told),
        asked("openenv/session/close", named, {"id": None, "result": None}),
        asked("openenv/session/close", named, told),
    ]
    return fenced(*lines).replace(session_id, "b1f8…").replace(_shown_episode(first), "9c07…")


def _shown_episode(text: str) -> str:
    (episode_id,) = re.findall(r'"episode_id": "(\w+)"', text)
    return str(episode_id)


def protocol_blocks(url: str, http: httpx.Client, play: Play) -> dict[str, str]:
    """Return the blocks of ``protocol.md`` that an open server with free places fills."""
    reset = {**play.reset, "episode_id": "e1", "include": ["tools"]}
    step = {"episode_id": "e1", "request_id": "r1", "action": play.actions[0]}
    other = {**step, "action": {"answer": {"done": True}}}
    wrong_id = {"tool_calls": [{"name": "cart_add", "args": {"product_id": "B000000000"}}]}
    opening: Keep = {
        "observation": {
            **dict.fromkeys(("episode_id", "turn", "turns_left", "tool_calls_left", "user_message", "tool_results")),
            **dict.fromkeys(("done", "reward", "env_id", "today", "max_turns", "tool_budget")),
            "tools": (1, {"type": None, "function": {"name": None, "description": None}}),
        },
        **dict.fromkeys(("reward", "done", "metadata")),
    }
    whole_step: Keep = {
        "observation": {
            **dict.fromkeys(("episode_id", "turn", "turns_left", "tool_calls_left", "user_message")),
            "tool_results": (1, TOOL),
            **dict.fromkeys(("done", "reward")),
        },
        **dict.fromkeys(("reward", "done", "metadata")),
    }
    for named in ({"episode_id": "e3"}, {"episode_id": "e4", "run_id": "crashed"}):
        http.post("/reset", json={**play.reset, **named}).raise_for_status()
    chat = exchange(
        http, "POST", "/step", {"episode_id": "e3", "action": CHAT}, {"observation": {"tool_results": None}}
    )
    first = exchange(http, "POST", "/reset", reset, opening)
    once = exchange(http, "POST", "/step", step, whole_step)
    again = exchange(http, "POST", "/step", step, whole_step)
    assert once == again
    state: Keep = {
        **dict.fromkeys(("episode_id", "step_count", "turn", "done")),
        "messages": (2, {"role": None, "content": 60}),
    }
    listed: Any = (1, {"env_id": None, "title": None, "version": None, "max_difficulty": None, "tools": (2, None)})
    return {
        "discover": fenced(exchange(http, "GET", "/health"), exchange(http, "GET", "/envs", None, listed)),
        "reset": fenced(first),
        "step": fenced(once),
        "repeat": fenced(exchange(http, "POST", "/step", other)),
        "refusal": fenced(exchange(http, "POST", "/step", {"episode_id": "e1", "action": wrong_id}, STEP)),
        "state": fenced(exchange(http, "GET", "/state?episode_id=e1", None, state)),
        "format": fenced(
            exchange(http, "POST", "/step", {"episode_id": "e1", "action": {"text": "Sure, I will look."}}, END),
            exchange(http, "POST", "/step", {"episode_id": "e1", "action": {"answer": {"done": True}}}),
        ),
        "mistakes": fenced(
            exchange(http, "POST", "/step", '{"episode_id": "e2", "action": {}'),
            exchange(http, "POST", "/step", {"action": {}}),
            exchange(http, "POST", "/step", {"episode_id": "e2", "action": {}}),
            exchange(http, "POST", "/reset", {"env_id": "KART"}),
            exchange(http, "POST", "/reset", {"difficulty": 21}),
        ),
        "delete": fenced(exchange(http, "DELETE", "/episodes/e1")),
        "chat": fenced(chat),
        "envelope": fenced(
            *(exchange(http, "POST", "/step", {"episode_id": "e3", "action": action}) for action in NO_ENVELOPES)
        ),
        "finish": fenced(exchange(http, "POST", "/episodes/e3/finish", {}, END)),
        "run": fenced(
            exchange(http, "GET", "/episodes?run_id=crashed"),
            exchange(http, "DELETE", "/episodes?run_id=crashed"),
        ),
        "frames": frames(url, play),
        "rpc": tool_session(http, play),
        "tasks": fenced(
            exchange(http, "POST", "/CART/num_tasks", {"split": "test"}),
            exchange(http, "POST", "/CART/task", {"split": "test", "index": 23}),
        ),
    }


def run_blocks(http: httpx.Client) -> dict[str, str]:
    """Return the blocks of ``curriculum.md`` that a server fills."""
    asked = {"run_id": "first", "env_id": "CART", "n": 2}
    drawn = http.post("/episodes/sample", json=asked).raise_for_status().json()["episodes"]
    row = {**drawn[0], "episode_id": "theirs-1", "correct_share": 1}
    counted: Keep = {"metadata": {"difficulty": None, "run_id": None, "counts": None, "group_member": None}}
    return {
        "put": fenced(
            exchange(http, "PUT", "/curriculum/first", {"parameters": {"tau_num": 16}, "weights": {"CART": 3, "PD": 1}})
        ),
        "sample": fenced(
            exchange(http, "POST", "/episodes/sample", asked, {"episodes": (1, None)}),
            exchange(http, "POST", "/reset", drawn[1], counted),
        ),
        "report": fenced(
            exchange(http, "POST", "/curriculum/first/report", {"episodes": [row]}),
            exchange(http, "POST", "/curriculum/first/report", {"episodes": [row]}),
        ),
        "read": fenced(exchange(http, "GET", "/curriculum/first", None, {"counted": None, "frontiers": (1, None)})),
    }


def refusals(shop: Shop) -> dict[str, str]:
    """Return what a full server and one with a token say."""
    with live(shop, max_sessions=1) as url, httpx.Client(base_url=url) as http:
        http.post("/reset").raise_for_status()
        full = exchange(http, "POST", "/reset", {})
    token = Settings(token="sesame").token
    with live(shop, token=token) as url, httpx.Client(base_url=url) as http:
        closed = exchange(http, "POST", "/reset", {})
    return {"capacity": fenced(full), "token": fenced(closed)}
