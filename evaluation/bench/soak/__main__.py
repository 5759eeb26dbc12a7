"""``python -m ecom_rlve.evaluation.bench.soak``: what a week of training does to a server, in minutes.

A thousand episodes at the same time, on two workers. Every 20 seconds one of them is killed with SIGKILL; the disk of
the journal is filled once, and freed; the model that words the customers hangs half of the time. Every client must
play every episode to its end, with the reward that a replay computes; no step may be lost or doubled, groups must stay
whole, and memory and descriptors flat. Everything stays on this machine. Exits with 1 where a promise is broken.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.bench.crowd.checking import Checked, check
from ecom_rlve.evaluation.bench.load import quantile
from ecom_rlve.evaluation.bench.model_app import NAME
from ecom_rlve.evaluation.bench.soak.clients import Seen
from ecom_rlve.evaluation.bench.soak.disk import Disk, small_disk
from ecom_rlve.evaluation.bench.soak.processes import Sample, kill_one, sampled, workers_of
from ecom_rlve.evaluation.bench.soak.report import is_kept, judged, table
from ecom_rlve.evaluation.local_server import server_process

_SAMPLE_EVERY_S = 5.0
_FULL_S = 5.0
"""Seconds for which the disk is full."""


@dataclass(slots=True)
class Trouble:
    """What was done to a server, and what it took meanwhile."""

    kills: int = 0
    full: int = 0
    hangs: int = 0
    samples: list[Sample] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Plan:
    """How hard it is made."""

    episodes: int
    seconds: float
    workers: int
    pause_s: float
    products: int
    kill_every_s: float
    hang_every_s: float
    seed: int


def soaked(plan: Plan, tell: Console) -> tuple[Seen, Trouble, Checked]:
    """Run a soak; return what clients saw, what was done, and what the replay of every episode found."""
    source = f"synthetic:{plan.products}:0"
    with tempfile.TemporaryDirectory() as folder:
        traces, at = Path(folder) / "traces", Path(folder) / "disk"
        at.mkdir()
        found: list[int] = []
        with (
            small_disk(at, lambda: [pid for each in found for pid in workers_of(each)]) as disk,
            _model() as (model_url, model),
            _server(plan, source, disk.folder / "store.sqlite3", model_url) as (url, pid),
        ):
            found.append(pid)
            tell.print(f"{plan.episodes} episodes for {plan.seconds:g} s on {plan.workers} workers; {disk.kind} …")
            seen, trouble = _played(plan, url, traces, _Troubling(plan, pid, model, disk))
        tell.print(f"replaying {seen.ended:,} episodes …")
        return seen, trouble, check(traces, Shop.open(source))


@contextmanager
def _model() -> Iterator[tuple[str, int]]:
    with server_process("ecom_rlve.evaluation.bench.model_app", "--latency=0.05") as started:
        yield started


@contextmanager
def _server(plan: Plan, source: str, store: Path, model_url: str) -> Iterator[tuple[str, int]]:
    variables = {
        "ECOM_RLVE_STORE": str(store),
        "ECOM_RLVE_MAX_SESSIONS": str(2 * plan.episodes),
        "ECOM_RLVE_SIMULATOR": "model",
        "ECOM_RLVE_MODEL_URL": f"{model_url}/v1",
        "ECOM_RLVE_MODEL_NAME": NAME,
        "ECOM_RLVE_MODEL_TIMEOUT_S": "2",
        "ECOM_RLVE_MODEL_COOLDOWN_S": "2",
        "ECOM_RLVE_FALLBACK": "template",
    }
    serving = ("serve", "--catalog", source, "--workers", str(plan.workers))
    with server_process("ecom_rlve.cli", *serving, variables=variables) as started:
        yield started


def _played(plan: Plan, url: str, traces: Path, troubling: _Troubling) -> tuple[Seen, Trouble]:
    options = {
        "url": url,
        "episodes": plan.episodes,
        "seconds": plan.seconds,
        "pause": plan.pause_s,
        "seed": plan.seed,
        "traces": traces,
    }
    command = [sys.executable, "-P", "-m", "ecom_rlve.evaluation.bench.soak.clients"]
    command += [f"--{name}={value}" for name, value in options.items()]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as clients, troubling:
        printed, _ = clients.communicate()
    if clients.returncode:
        raise SystemExit(clients.returncode)
    told: dict[str, Any] = json.loads(printed)
    return Seen(**{**told, "failures": Counter(told["failures"])}), troubling.trouble


class _Troubling:
    """Makes trouble, in a thread, for as long as a block lasts."""

    def __init__(self, plan: Plan, server: int, model: int, disk: Disk) -> None:
        self._plan = plan
        self._server = server
        self._model = model
        self._disk = disk
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="trouble")
        self.trouble = Trouble()

    def __enter__(self) -> None:
        """Begin."""
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        """Leave everything as it was."""
        self._stopped.set()
        self._thread.join()
        self._disk.free()
        os.kill(self._model, signal.SIGCONT)

    def _run(self) -> None:
        plan, trouble, begun = self._plan, self.trouble, time.monotonic()
        due = {"sample": 0.0, "kill": plan.kill_every_s, "hang": plan.hang_every_s, "fill": plan.seconds / 3}
        while not self._stopped.wait(0.1):
            now = time.monotonic() - begun
            if now >= due["sample"]:
                due["sample"] += _SAMPLE_EVERY_S
                trouble.samples.append(sampled(now, self._server))
            # While clients play their last episodes nothing more is done to the server.
            if now >= due["kill"] and now < plan.seconds:
                due["kill"] += plan.kill_every_s
                trouble.kills += kill_one(self._server) is not None
            if now >= due["hang"]:
                due["hang"] += plan.hang_every_s
                self._hang(now < plan.seconds)
            if now >= due["fill"] and not trouble.full:
                due["free"] = now + _FULL_S
                trouble.full += 1
                self._disk.fill()
            if now >= due.get("free", now + 1):
                del due["free"]
                self._disk.free()

    def _hang(self, may_hang: bool) -> None:
        """Stop the model, or let it go on."""
        is_hanging = self.trouble.hangs % 2 == 1
        self.trouble.hangs += may_hang or is_hanging
        os.kill(self._model, signal.SIGCONT if is_hanging or not may_hang else signal.SIGSTOP)


def main(
    episodes: Annotated[int, typer.Option(min=1, help="Episodes at the same time.")] = 1000,
    minutes: Annotated[float, typer.Option(min=0.1, help="How long new ones begin.")] = 15.0,
    workers: Annotated[int, typer.Option(min=2, help="Workers of the server.")] = 2,
    pause: Annotated[float, typer.Option(min=0.01, help="Mean pause before a step, in seconds.")] = 8.0,
    products: Annotated[int, typer.Option(min=400, help="Products of the catalog.")] = 10_000,
    kill_every: Annotated[float, typer.Option(min=0.5, help="Seconds from one kill to the next.")] = 20.0,
    seed: Annotated[int, typer.Option(help="Of pauses and of what is played.")] = 0,
) -> None:
    """Play, make trouble, check and print; exit 1 if a promise is broken."""
    plan = Plan(episodes, 60 * minutes, workers, pause, products, kill_every, 7.0, seed)
    seen, trouble, checked = soaked(plan, Console(stderr=True))
    promises = judged(seen, checked, trouble.samples, workers)
    p50, p99 = (quantile(seen.steps_ms or [0.0], share) for share in (0.5, 0.99))
    print(
        f"{seen.most_live:,} episodes at once, {seen.ended:,} in all; workers killed {trouble.kills} times, "
        f"disk filled {trouble.full} time, model stopped or continued {trouble.hangs} times; "
        f"steps p50 {p50:,.0f} ms, p99 {p99:,.0f} ms\n"
    )
    print(table(promises))
    for each in checked.wrong[:10]:
        print(f"wrong: {each}")
    raise typer.Exit(0 if is_kept(promises) else 1)


if __name__ == "__main__":
    typer.run(main)
