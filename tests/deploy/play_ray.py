"""Replicas under Ray Serve that share a store in Redis: live episodes make a second one start, which plays them too.

Prints what was seen as one JSON object.

``python tests/deploy/play_ray.py``, with the extra ``ray`` and ``ECOM_RLVE_STORE=redis://…``.
"""

from __future__ import annotations

import json
import re
import socket
import sys
import time
from contextlib import closing

import httpx
import ray
from ray import serve

from ecom_rlve.client import EcomEnv
from ecom_rlve.server.ray.application import application

NAME = "ecom-rlve"
STEPS = 40
NEVER_S = 180.0
"""After which a second replica should have started."""
VIEW = {"assistant_message": "One moment.", "tool_calls": [{"name": "cart_view", "args": {}}]}
COUNTED = re.compile(r'^ecom_rlve_steps_total\{env="CART",run="default"\} (?P<steps>[0-9.]+)$', re.MULTILINE)


def steps_by_replica(url: str) -> list[float]:
    """Return how many steps each replica has counted, once several have been asked."""
    found: dict[str, float] = {}
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and len(found) < 2:
        # A connection of its own each: whoever answers is drawn anew.
        text = httpx.get(f"{url}/metrics").text
        key = re.search(r"^ecom_rlve_process_private_bytes (?P<bytes>\S+)$", text, re.MULTILINE)
        counted = COUNTED.search(text)
        if counted is not None and key is not None:
            found.setdefault(counted["steps"], float(counted["steps"]))
    return sorted(found.values())


def running() -> int:
    """Return how many replicas serve."""
    states = serve.status().applications[NAME].deployments["server"].replica_states
    return sum(count for state, count in states.items() if str(getattr(state, "value", state)) == "RUNNING")


def start_ray() -> None:
    """Start Ray on this machine. Where that is busy, one of Ray's own processes may give up on another one."""
    for last in (False, False, True):
        try:
            ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        except Exception:
            if last:
                raise
            ray.shutdown()
        else:
            return


def main() -> None:
    """Serve, play, and print."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    start_ray()
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    begun = time.monotonic()
    asked = {"least": "1", "most": "2", "cpus": "0.2", "live_each": "2"}
    serve.run(application(asked), name=NAME, route_prefix="/")
    up = time.monotonic() - begun
    url = f"http://127.0.0.1:{port}"
    replicas = [running()]
    for number in range(3):
        httpx.post(f"{url}/reset", json={"env_id": "STATUS", "episode_id": f"live {number}"}, timeout=None)
    until = time.monotonic() + NEVER_S
    while running() < 2 and time.monotonic() < until:
        time.sleep(0.5)
    replicas.append(running())
    with EcomEnv(url) as env:
        env.reset(env_id="CART", axes={"t_max": STEPS + 2}, run_id="default")
        turns = [env.step(VIEW).observation.turn for _ in range(STEPS)]
        state = env.state()
        last = env.finish()
    told = {
        "replicas": replicas,
        "seconds_until_up": round(up, 1),
        "turns": turns,
        "step_count": state.step_count,
        "done": last.done,
        "steps_by_replica": steps_by_replica(url),
    }
    print(json.dumps(told))
    serve.shutdown()
    ray.shutdown()


if __name__ == "__main__":
    sys.exit(main())
