"""Play our ``openenv.core`` environment without any server, sync and async, in all eight environments.

python tests/openenv/embed.py, where the package is installed with its extra ``openenv``
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from play_generic import SCRIPTS

from ecom_rlve.server.openenv.environment import ShopAction, ShopEnvironment
from ecom_rlve.server.openenv.hosting import RefusedError, hosted


def refused(work: Any) -> str:
    """Return the code of the refusal that a call must raise."""
    told, code = "", ""
    try:
        work()
    except RefusedError as error:
        told, code = str(error), error.code.value
    assert code, "the call was not refused"
    assert told.startswith(f"{code}: "), told
    return code


def play(env_id: str, seed: int) -> float | None:
    """Play one episode through the sync methods; return its reward."""
    env = ShopEnvironment(env_id)
    assert env.state.episode_id is None
    assert refused(lambda: env.step(ShopAction())) == "NOT_RESET"
    seen = env.reset(seed=seed, difficulty=0, collection="C8", no_such_argument=1)
    assert (seen.done, seen.reward, seen.metadata["seed"]) == (False, None, seed)
    script = SCRIPTS[env_id](seen.user_message)
    seen = env.step(ShopAction(**next(script)))
    while not seen.done:
        seen = env.step(ShopAction(**script.send(seen.model_dump())))
    assert env.state.done
    assert env.state.episode_id == seen.episode_id
    assert refused(lambda: env.step(ShopAction())) == "EPISODE_DONE"
    assert refused(lambda: env.reset(difficulty=21)) == "VALIDATION_ERROR"
    env.close()
    return seen.reward


async def play_async(env_id: str, seed: int) -> float | None:
    """Play the same through the async methods."""
    env = ShopEnvironment(env_id)
    seen = await env.reset_async(seed=seed, difficulty=0)
    script = SCRIPTS[env_id](seen.user_message)
    action = next(script)
    while not seen.done:
        seen = await env.step_async(ShopAction(**action))
        action = action if seen.done else script.send(seen.model_dump())
    env.close()
    return seen.reward


async def play_together(kinds: list[tuple[str, int]]) -> list[float | None]:
    """Play episodes at the same time on one loop."""
    return await asyncio.gather(*(play_async(*kind) for kind in kinds))


def main() -> None:
    """Play everything in threads and on a loop, which must give the same rewards and leave no place behind."""
    kinds = [(env_id, seed) for env_id in SCRIPTS for seed in range(3)]
    with ThreadPoolExecutor(8) as pool:
        in_threads = list(pool.map(lambda kind: play(*kind), kinds))
    assert asyncio.run(play_together(kinds)) == in_threads
    assert all(reward is not None and -1.0 <= reward <= 1.0 for reward in in_threads), in_threads
    anything = ShopEnvironment()
    task = anything.get_task("eval", 100)
    assert anything.reset(**task).env_id == task["env_id"]
    assert hosted().service.sessions.active == 1
    anything.close()
    assert hosted().service.sessions.active == 0, "a place was left behind"
    print(f"embedded: {len(kinds)} episodes in threads and again on a loop, the same rewards")


if __name__ == "__main__":
    main()
