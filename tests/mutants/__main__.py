"""Put single faults into the modules that decide, and say which of them the behaviour tests do not notice.

``python tests/mutants [--jobs N] [--sample N] [--seed N] [--out FILE] [MODULE ...]``: a sample of each module's faults,
or all; every module of the plan, or those whose path begins with one that is named. Goldens and tests of pages are left
out. Faults that change nothing one could notice are listed in ``equivalent.json`` with the reason, and not tried.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import signal
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue

from faults import Fault, faults_of
from plan import tests_by_module
from trial import ROOT, Outcome, Tree

EQUIVALENT = Path(__file__).with_name("equivalent.json")


def equivalents() -> dict[tuple[str, str, str], str]:
    """Return the reason why a fault changes nothing, by the module, the line's text and what is changed in it."""
    return {
        (each["module"], each["line"], each["change"]): each["reason"] for each in json.loads(EQUIVALENT.read_text())
    }


def sample(faults: list[Fault], count: int, seed: int) -> list[Fault]:
    """Return so many faults, or all where ``count`` is 0; the same seed draws the same ones from the same text."""

    def draw(fault: Fault) -> str:
        return hashlib.sha256(f"{seed}/{fault.number}/{fault.key}".encode()).hexdigest()

    return sorted(faults, key=draw)[:count] if count else faults


def arguments() -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(prog="mutants", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="only modules whose path begins so")
    parser.add_argument("--jobs", type=int, default=1, help="trials at the same time")
    parser.add_argument("--sample", type=int, default=0, help="faults of each module; 0 for all")
    parser.add_argument("--seed", type=int, default=0, help="which sample")
    parser.add_argument("--out", type=Path, help="write every outcome to this file, a JSON object a line")
    return parser.parse_args()


def main() -> int:
    """Try the faults, print a line for each module and for each survivor; 1 where something survived."""
    asked = arguments()
    excused = equivalents()
    plan = {
        module: tests
        for module, tests in tests_by_module(ROOT).items()
        if not asked.modules or module.startswith(tuple(asked.modules))
    }
    every = {module: faults_of(module, (ROOT / module).read_text("utf-8")) for module in plan}
    known = {fault.key for faults in every.values() for fault in faults}
    for key in excused.keys() - known:
        if key[0] in plan:
            print(f"equivalent.json names a fault that is there no more: {key}")
    chosen = {
        module: sample([fault for fault in faults if fault.key not in excused], asked.sample, asked.seed)
        for module, faults in every.items()
    }
    began = time.monotonic()
    found = _try_all([fault for faults in chosen.values() for fault in faults], plan, asked.jobs)
    survivors = [fault for fault, outcome in found.items() if outcome is Outcome.SURVIVED]
    for module, faults in chosen.items():
        print(f"{module}: {len(faults) - sum(map(faults.count, survivors))} of {len(faults)} killed")
    for fault in survivors:
        print(f"survived  {fault.module}:{fault.number}  {fault.change}\n    {fault.line}")
    killed = len(found) - len(survivors)
    print(f"{killed} of {len(found)} killed ({killed / max(1, len(found)):.1%}) in {time.monotonic() - began:.0f} s")
    if asked.out:
        fields = ("module", "line", "change")
        rows = [dict(zip(fields, fault.key, strict=True)) | {"outcome": found[fault].value} for fault in found]
        asked.out.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    return int(bool(survivors))


def _try_all(faults: list[Fault], plan: dict[str, list[str]], jobs: int) -> dict[Fault, Outcome]:
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as pool:
        trees = [Tree(Path(folder) / str(job)) for job in range(jobs)]
        idle: SimpleQueue[Tree] = SimpleQueue()
        for tree in trees:
            idle.put(tree)

        def trial(fault: Fault, source: str) -> Outcome:
            tree = idle.get()
            try:
                return tree.outcome(fault.module, source, plan[fault.module])
            finally:
                idle.put(tree)

        outcomes: dict[Fault, Outcome] = {}
        # Sources are written one after another here: a module's faults share its tree.
        running = pool.map(trial, faults, [fault.source() for fault in faults])
        try:
            for fault, outcome in zip(faults, running, strict=True):
                outcomes[fault] = outcome
                said = f"{outcome.value}  {fault.module}:{fault.number}  {fault.change}"
                print(f"{len(outcomes)}/{len(faults)} {said}", flush=True)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for tree in trees:
                tree.stop()
            raise
        return outcomes


if __name__ == "__main__":
    # Whoever ends this process ends what it started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
