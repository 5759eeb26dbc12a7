"""Play episodes as trajectories of the real ART; run by test_libraries.py in an environment that holds it.

python tests/adapters/play_art.py SERVER MODEL ROWS

``SERVER`` and ``MODEL`` are addresses, ``ROWS`` a JSON list of rows, each with the reward that the scripted model gets.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import art
import httpx

from ecom_rlve.client import AsyncEcomEnv, EpisodeLostError
from ecom_rlve.client.adapters.art import rollout


async def group(server: str, model: art.Model, rows: list[dict[str, Any]], **sampling: Any) -> art.TrajectoryGroup:
    """Return the trajectories of some rows, as ART gathers them."""

    async def one(row: dict[str, Any]) -> art.Trajectory:
        async with AsyncEcomEnv(server) as env:
            return await rollout(model, env, row, **sampling)

    made = art.TrajectoryGroup(one(row) for row in rows)
    (gathered,) = await art.gather_trajectory_groups([made], max_exceptions=len(rows))
    return gathered


async def main(server: str, address: str, rows: list[dict[str, Any]]) -> None:
    """Check episodes that are won, cut and lost."""
    expected = [row.pop("reward") for row in rows]
    assert len(expected) == 8
    model = art.Model(
        name="scripted", project="shopping", inference_base_url=address, inference_api_key="none",
        inference_model_name="scripted",
    )  # fmt: skip
    won = await group(server, model, rows)
    assert sorted(each.reward for each in won.trajectories) == sorted(expected), won.exceptions
    assert [each for each in won.trajectories if not each.metrics["is_correct"]] == []
    trained = [sum(not isinstance(each, dict) for each in one.messages_and_choices) for one in won.trajectories]
    assert min(trained) > 0
    print(f"  {len(won.trajectories)} episodes won, {sum(trained)} messages of the model's")

    (cut,) = (await group(server, model, rows[:1], max_tokens=1)).trajectories
    assert -1 < cut.reward < 0
    assert cut.messages_and_choices[-1].finish_reason == "length"
    print(f"  one cut: {cut.reward:+.2f}")

    deleting = asyncio.create_task(delete_all(server, "lost"))
    lost = await group(server, model, [{**rows[0], "run_id": "lost"}])
    deleting.cancel()
    assert lost.trajectories == []
    (exception,) = lost.exceptions
    assert EpisodeLostError.__name__ in exception.type, exception
    print("  one lost: no trajectory, one exception")


async def delete_all(server: str, run_id: str) -> None:
    """Delete the episodes of a run as soon as they begin."""
    async with httpx.AsyncClient(base_url=server) as http:
        while True:
            (await http.delete("/episodes", params={"run_id": run_id})).raise_for_status()
            await asyncio.sleep(0.001)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], json.loads(sys.argv[3])))
