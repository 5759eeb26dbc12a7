"""Play the taskset with the real verifiers; run by test_libraries.py in an environment that holds it.

python tests/adapters/play_verifiers.py SERVER MODEL ROWS

``SERVER`` and ``MODEL`` are addresses, ``ROWS`` a JSON list of rows, each with the reward that the scripted model gets.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import verifiers.v1 as vf

PLUGIN = """
from ecom_rlve.client.adapters.verifiers import ShoppingHarness, ShoppingTaskset

__all__ = ["ShoppingHarness", "ShoppingTaskset"]
"""


async def play(server: str, model: str, rows: Sequence[dict[str, Any]], **agent: Any) -> list[Any]:
    """Return verifiers' episodes of all rows, played at once."""
    config = vf.resolve_env_config(
        {
            "taskset": {"id": "shopping", "url": server, "rows": list(rows)},
            "agent": {"runtime": {"type": "subprocess"}, **agent},
        }
    )
    env = vf.load_environment(config)
    ctx = vf.ModelContext(model="scripted", client=vf.EvalClientConfig(base_url=model))
    async with env.serving():
        return list(await asyncio.gather(*(env.run_episode(task, ctx) for task in env.taskset)))


async def main(server: str, model: str, rows: list[dict[str, Any]]) -> None:
    """Check what verifiers makes of episodes that are won, cut short, and lost."""
    expected = [row.pop("reward") for row in rows]
    assert expected, "no rows"
    for episode, row, reward in zip(await play(server, model, rows), rows, expected, strict=True):
        (trace,) = episode.traces
        assert episode.ok, (row, trace.errors)
        assert trace.reward == reward, (row, trace.reward, reward)
        assert trace.metrics["is_correct"] == 1.0, (row, trace.metrics)
        assert trace.num_turns > 0
        assert trace.branches[-1].messages[0].role == "system"
    print(f"  {len(rows)} episodes won")
    (cut,) = await play(server, model, rows[:1], max_turns=1)
    (trace,) = cut.traces
    assert (cut.ok, trace.stop_condition) == (True, "max_turns"), trace.errors
    assert -1 < trace.reward < 0, trace.reward
    assert trace.metrics["is_correct"] == 0.0
    print(f"  one cut after a turn: {trace.reward:+.2f}")
    for name, lost in {
        "unknown environment": (server, model, [{"env_id": "KART"}]),
        "no model": (server, "http://127.0.0.1:1/v1", rows[:1]),
    }.items():
        await check_failure(name, *lost)
    deleting = asyncio.create_task(delete_all(server, "lost"))
    await check_failure("lost episode", server, model, [{**rows[0], "run_id": "lost"}])
    deleting.cancel()


async def check_failure(name: str, server: str, model: str, rows: list[dict[str, Any]]) -> None:
    """Require that an episode without a result has no reward, and that verifiers knows why."""
    (episode,) = await play(server, model, rows)
    (trace,) = episode.traces
    assert not episode.ok, name
    assert all(reward is None for reward in trace.rewards.values()), (name, trace.rewards)
    print(f"  {name}: {trace.errors[-1].type}, no reward: {trace.errors[-1].message[:60]}")


async def delete_all(server: str, run_id: str) -> None:
    """Delete the episodes of a run as soon as they begin."""
    async with httpx.AsyncClient(base_url=server) as http:
        while True:
            (await http.delete("/episodes", params={"run_id": run_id})).raise_for_status()
            await asyncio.sleep(0.001)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "shopping.py").write_text(PLUGIN)
        sys.path.append(folder)
        asyncio.run(main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3])))
