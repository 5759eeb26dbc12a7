"""Play whole episodes of all eight environments with stock clients through a stock server around our environments.

python tests/openenv/play_hosted.py http://127.0.0.1:8000
"""

from __future__ import annotations

import sys
import time
from importlib.metadata import version
from typing import Any

import httpx
from openenv import GenericEnvClient
from play_generic import main as play_all


def posted(base_url: str, path: str, **body: Any) -> Any:
    """Return what a route of the task discovery answers."""
    answer = httpx.post(f"{base_url}/shop/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def discover(base_url: str) -> None:
    """List tasks and start one."""
    kinds = {each["name"]: each["type"] for each in httpx.get(f"{base_url}/shop/splits").json()}
    assert kinds == {"train": "train", "eval": "validation", "test": "test"}, kinds
    count = posted(base_url, "num_tasks", split="test")["num_tasks"]
    (last,) = posted(base_url, "task_range", split="test", start=count - 1)["tasks"]
    assert last == posted(base_url, "task", split="test", index=count - 1)["task"], last
    task = posted(base_url, "tasks", split="test")["tasks"][0]
    with GenericEnvClient(base_url=base_url).sync() as env:
        started = env.reset(**task)
        assert started.observation["env_id"] == task["env_id"], started
        assert env.state()["split"] == "test"
        assert not {"difficulty", "seed", "metadata", "goal"} & started.observation.keys(), started


def main(base_url: str) -> None:
    """Play everything, then see that no place is left taken."""
    play_all(base_url, has_paths=False)
    discover(base_url)
    deadline = time.monotonic() + 30
    while httpx.get(f"{base_url}/places").json():
        assert time.monotonic() < deadline, "a place was left behind"
        time.sleep(0.1)


if __name__ == "__main__":
    print(f"played through the stock server of openenv {version('openenv')}:")
    main(sys.argv[1])
