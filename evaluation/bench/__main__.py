"""``python -m ecom_rlve.evaluation.bench``: what an episode costs in process, over HTTP and over WebSocket.

Things to compare are measured in turns, and ratios are medians over these turns, so that other load on the machine
affects both sides. Prints tables, and each target with its ratio. Takes about eight minutes on two cores.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Annotated, Any

import typer
from rich.console import Console

from ecom_rlve.evaluation.bench.each_environment import Cost
from ecom_rlve.evaluation.bench.load import Load
from ecom_rlve.evaluation.bench.plan import FULL, QUICK, Plan
from ecom_rlve.evaluation.bench.report import (
    environment_table,
    in_process_table,
    judged,
    session_line,
    target_table,
    wire_table,
)
from ecom_rlve.evaluation.bench.sample import Sample
from ecom_rlve.evaluation.bench.wire import (
    TRANSPORTS,
    Comparison,
    Server,
    bare_server,
    compare,
    journal_line,
    journal_pairs,
    our_server,
)

_ONE_CORE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
_HEAD = """\
# Benchmark{note}

An episode is reset + search + add + answer. In process: CPU time of one core, medians.
"""
_EACH_HEAD = """
Every environment, playing its solution: CPU time of one core, medians.
"""
_WIRE_HEAD = """
Over the network (loopback, one server process): `cart_view` steps beside a bare FastAPI route or socket that echoes the
same answer. The share is of steps/s; the CPU share compares the two servers' own CPU time and does not see the client.
"""


def _measured(worker: str, **options: int | str) -> list[dict[str, Any]]:
    """Run an in-process worker, its numeric libraries limited to one thread, and return what it prints."""
    command = [sys.executable, "-P", "-m", f"ecom_rlve.evaluation.bench.{worker}"]
    command += [f"--{name}={value}" for name, value in options.items()]
    printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=os.environ | _ONE_CORE).stdout
    measured: list[dict[str, Any]] = json.loads(printed)
    return measured


def _in_process(plan: Plan) -> tuple[list[Sample], list[Cost]]:
    sizes, each_sizes = (",".join(map(str, sizes)) for sizes in (plan.sizes, plan.each_sizes))
    samples = _measured("in_process", sizes=sizes, rounds=plan.rounds, episodes=plan.episodes)
    costs = _measured("each_environment", sizes=each_sizes, rounds=plan.each_rounds, episodes=plan.each_episodes)
    return [Sample(**each) for each in samples], [Cost(**each) for each in costs]


def _over_the_network(plan: Plan, bare: Server, console: Console) -> tuple[list[Comparison], Load]:
    comparisons = []
    for products in plan.served:
        console.print(f"over the network, {products:,} products …")
        with our_server(products) as ours:
            comparisons += [
                compare(products, ours, bare, transport, clients, plan)
                for transport in TRANSPORTS
                for clients in (1, plan.clients)
            ]
            if products == plan.main_size:
                crowd = ours.load("ws", "view", plan.sessions, plan.seconds)
    return comparisons, crowd


def main(
    quick: Annotated[bool, typer.Option(help="Small and short: shows that it runs, measures nothing.")] = False,
    strict: Annotated[bool, typer.Option(help="Exit 1 if a target is missed.")] = False,
) -> None:
    """Measure and print."""
    plan = QUICK if quick else FULL
    console = Console(stderr=True)
    console.print("in process …")
    samples, costs = _in_process(plan)
    with bare_server() as bare:
        comparisons, crowd = _over_the_network(plan, bare, console)
    console.print("the journal …")
    pairs = journal_pairs(plan)
    targets = judged(samples, costs, comparisons, crowd, pairs, plan)
    print(_HEAD.format(note=" (quick: too short to mean anything)" if quick else ""))
    print(in_process_table(samples, plan))
    print(_EACH_HEAD)
    print(environment_table(costs))
    print(_WIRE_HEAD)
    print(wire_table(comparisons))
    print(f"\n{session_line(crowd, plan)}\n\n{journal_line(pairs)}\n")
    print(target_table(targets))
    raise typer.Exit(1 if strict and any(each.is_met is False for each in targets) else 0)


if __name__ == "__main__":
    typer.run(main)
