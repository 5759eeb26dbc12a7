"""``python -m ecom_rlve.evaluation.bench.crowd``: many clients at once, a fifth of which is dropped each minute.

Afterwards no place may be taken, and every reward must be right: each trace that was fetched is played again. Latency
is compared with a bare FastAPI socket that echoes the same answer to the same crowd, before and after.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer
from rich.console import Console

from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.bench.crowd.checking import Checked, check
from ecom_rlve.evaluation.bench.crowd.clients import RUN, Played
from ecom_rlve.evaluation.bench.load import cpu_seconds, quantile
from ecom_rlve.evaluation.bench.wire import Server, bare_server, our_server

PRODUCTS = 10_000
_DROPPED_EACH_MINUTE = 0.2
_ECHO_SHARE = 0.1
"""Time for the bare socket, before and after each, as a share of ours."""
_WARM_S = 5.0
"""Time in which one client meets every environment once before anything is measured."""
_SETTLE_S = 30.0
"""Time that a server may take to notice that the last sockets are gone."""


def _played(server: Server, clients: int, seconds: float, pause: float, **more: Any) -> tuple[Played, float | None]:
    """Let clients play; return what they saw and the server's CPU time in seconds, None if the system has no /proc."""
    options = {"url": server.url, "clients": clients, "seconds": seconds, "pause": pause, **more}
    command = [sys.executable, "-P", "-m", "ecom_rlve.evaluation.bench.crowd.clients"]
    command += [f"--{name}={value}" for name, value in options.items()]
    before = cpu_seconds(server.pid)
    printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    after = cpu_seconds(server.pid)
    return Played(**json.loads(printed)), None if before is None or after is None else after - before


def _left_behind(url: str) -> dict[str, Any]:
    """Return the places that are still taken and the run's episodes that still live, once there is time to notice."""
    deadline = time.monotonic() + _SETTLE_S
    with httpx.Client(base_url=url, trust_env=False) as http:
        while True:
            taken = http.get("/metadata").json()["active_sessions"]
            live = len(http.get("/episodes", params={"run_id": RUN}).json())
            if not taken + live or time.monotonic() > deadline:
                return {"places": taken, "episodes": live}
            time.sleep(0.1)


def _report(ours: Played, echoes: list[float], left: dict[str, Any], checked: Checked, seconds: float) -> list[str]:
    p50, p99 = (quantile(ours.steps_ms, share) for share in (0.5, 0.99))
    bare50, bare99 = (quantile(echoes, share) for share in (0.5, 0.99))
    endings = ", ".join(f"{name} {number:,}" for name, number in sorted(checked.endings.items()))
    return [
        f"episodes that ended: {ours.ended:,} ({endings}); sockets dropped in an episode: {ours.dropped:,}",
        f"left behind: {left['places']} places, {left['episodes']} episodes",
        f"replayed: {checked.right:,} right, {len(checked.wrong):,} wrong; different rewards: {len(checked.rewards):,}",
        *(f"  wrong: {each}" for each in checked.wrong[:10]),
        f"steps: {len(ours.steps_ms) / seconds:,.0f}/s, p50 {p50:.2f} ms, p99 {p99:.2f} ms; "
        f"resets p99 {quantile(ours.resets_ms, 0.99):.2f} ms",
        f"bare echo: p50 {bare50:.2f} ms, p99 {bare99:.2f} ms; p99 is {p99 / bare99:.2f} times as long as the bare one",
    ]


def main(
    clients: Annotated[int, typer.Option(min=1, help="Clients at the same time.")] = 256,
    seconds: Annotated[float, typer.Option(min=1, help="How long they play.")] = 600.0,
    pause: Annotated[float, typer.Option(min=0.001, help="Mean pause before a frame, in seconds.")] = 0.5,
    seed: Annotated[int, typer.Option(help="Of pauses, drops and what is played.")] = 0,
) -> None:
    """Play, check and print; exit 1 if anything was left behind or wrong."""
    console = Console(stderr=True)
    drops = math.ceil(clients * _DROPPED_EACH_MINUTE * max(1.0, seconds / 60))
    with tempfile.TemporaryDirectory() as folder, bare_server() as bare, our_server(PRODUCTS) as ours:
        traces = Path(folder) / "traces"
        warm, _ = _played(ours, clients=1, seconds=_WARM_S, pause=0.01, seed=seed + 1, traces=traces)

        def echo() -> tuple[Played, float | None]:
            return _played(bare, clients, max(2.0, seconds * _ECHO_SHARE), pause, seed=seed, echo=warm.sample)

        console.print(f"{clients} clients for {seconds:g} s …")
        before = echo()
        played, cpu = _played(ours, clients, seconds, pause, seed=seed, drops=drops, traces=traces)
        left = _left_behind(ours.url)
        echoes = (before, echo())
        console.print(f"replaying {played.ended:,} episodes …")
        checked = check(traces, Shop.open(f"synthetic:{PRODUCTS}:0"))
    bare_ms = [each for echoed, _ in echoes for each in echoed.steps_ms]
    lines = _report(played, bare_ms, left, checked, seconds)
    bare_cpu = [used for _, used in echoes if used is not None]
    if cpu is not None and bare_cpu:
        ours_us = cpu * 1e6 / (len(played.steps_ms) + len(played.resets_ms))
        bare_us = sum(bare_cpu) * 1e6 / len(bare_ms)
        lines.append(f"CPU of the servers: {ours_us:,.0f} µs an answer, {bare_us:,.0f} µs an echo")
    print("\n".join(lines))
    is_sound = checked.right == played.ended > 0 and not any(left.values())
    raise typer.Exit(0 if is_sound else 1)


if __name__ == "__main__":
    typer.run(main)
