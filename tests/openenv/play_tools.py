"""Play whole episodes of all eight environments with OpenEnv's stock client for tools, sync and async.

It creates a session by JSON-RPC, resets over a socket that is attached to the session, and calls tools by JSON-RPC or
by steps of that socket. The scripts are those of ``play_generic.py``; an action of theirs becomes one call.

python tests/openenv/play_tools.py http://127.0.0.1:8000
"""

from __future__ import annotations

import asyncio
import inspect
import sys
from importlib.metadata import version
from typing import Any

import httpx
from openenv.core.env_server.mcp_types import CallToolAction
from openenv.core.mcp_client import MCPToolClient
from play_generic import EASY, SCRIPTS, Action, Observation

SEEDS = 5


async def now(value: Any) -> Any:
    """Return what a method of a sync or an async client has given."""
    return await value if inspect.isawaitable(value) else value


def as_call(action: Action) -> tuple[str, dict[str, Any]]:
    """Return an action of a script as name and arguments of the tool that does it."""
    if "answer" in action:
        return "submit_answer", {name: value for name, value in action["answer"].items() if name != "done"}
    (each,) = action["tool_calls"]
    return each["name"], each["args"]


async def called(env: Any, action: Action, by_step: bool) -> Observation:
    """Call a tool in one of the two ways that the client has; return what it saw."""
    name, args = as_call(action)
    if not by_step:
        return dict(await now(env.call_tool(name, **args)))
    step = await now(env.step(CallToolAction(tool_name=name, arguments=args)))
    seen = dict(step.observation.result)
    assert (step.observation.tool_name, step.observation.error) == (name, None)
    assert (step.reward, step.done) == (seen["reward"], seen["done"])
    return seen


async def play(env: Any, env_id: str, seed: int) -> tuple[float, bool]:
    """Play one episode; return its reward, and whether it was won. Any broken promise is an AssertionError."""
    start = await now(env.reset(env_id=env_id, difficulty=0, seed=seed))
    assert (start.reward, start.done) == (None, False), start
    message = start.observation.user_message
    assert message, "the customer speaks first"
    assert start.observation.env_id == env_id
    tools = {tool.name: tool for tool in await now(env.list_tools(use_cache=False))}
    assert {"ask_user", "say", "submit_answer"} <= tools.keys(), tools
    assert tools["submit_answer"].input_schema["type"] == "object"
    script, steps = SCRIPTS[env_id](message), 1
    seen = await called(env, next(script), by_step=bool(seed % 2))
    assert seen["tool_results"][0].get("error") is None, seen
    while not seen["done"]:
        assert seen["reward"] == 0.0, seen
        seen, steps = await called(env, script.send(seen), by_step=bool((seed + steps) % 2)), steps + 1
    state = await now(env.state())
    assert (state.episode_id, state.step_count) == (seen["episode_id"], steps), state
    result = seen["result"]
    assert result["termination"] == "answered", result
    assert result["style"] == "tool", result
    assert -1.0 <= seen["reward"] == result["r_total"] <= 1.0, result
    return seen["reward"], bool(result["is_correct"])


async def fail(env: Any) -> None:
    """See that a mistake of the model ends its episode, and that a client's mistake is told and costs nothing."""
    await now(env.reset(env_id="CART", seed=0, difficulty=0))
    seen = await now(env.call_tool("fly_away"))
    assert (seen["reward"], seen["done"], seen["result"]["termination"]) == (-1.0, True, "format_failure"), seen
    refused = ""
    try:
        await now(env.call_tool("cart_view"))
    except RuntimeError as error:
        refused = str(error)
    assert "EPISODE_DONE" in refused, refused


async def ends(env: Any) -> list[tuple[str, float, bool]]:
    """Play every environment on one client; return environment, reward and whether it was won, by episode."""
    await fail(env)
    return [(env_id, *await play(env, env_id, seed)) for env_id in SCRIPTS for seed in range(SEEDS)]


async def ends_async(base_url: str) -> list[tuple[str, float, bool]]:
    """Play everything with the async client."""
    async with MCPToolClient(base_url=base_url) as env:
        return await ends(env)


def places(base_url: str) -> int:
    """Return how many places of the server are taken."""
    return int(httpx.get(f"{base_url}/metadata").json()["active_sessions"])


def main(base_url: str) -> None:
    """Play through both clients, which must see the same, and leave no place behind."""
    before = places(base_url)
    with MCPToolClient(base_url=base_url).sync() as env:
        played = asyncio.run(ends(env))
    assert asyncio.run(ends_async(base_url)) == played, "the sync and the async client saw different episodes"
    assert places(base_url) == before, "a place was left behind"
    for env_id in SCRIPTS:
        rewards = [reward for each, reward, _ in played if each == env_id]
        wins = sum(is_won for each, _, is_won in played if each == env_id)
        print(f"  {env_id:<8}: {SEEDS} episodes, {wins} won, rewards {min(rewards):+.2f} to {max(rewards):+.2f}")
        assert wins or env_id not in EASY, "none of so many honest tries was right"


if __name__ == "__main__":
    print(f"played over /mcp and /ws with the stock MCPToolClient, sync and async, of openenv {version('openenv')}:")
    main(sys.argv[1])
