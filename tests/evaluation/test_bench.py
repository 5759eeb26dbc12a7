"""The benchmark runs, and says of each target what was measured and whether that is enough. No figure is judged."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace

import pytest

from ecom_rlve.evaluation.bench.each_environment import Cost
from ecom_rlve.evaluation.bench.load import Load
from ecom_rlve.evaluation.bench.plan import FULL, QUICK
from ecom_rlve.evaluation.bench.report import (
    environment_table,
    environment_targets,
    in_process_table,
    judged,
    target_table,
    wire_table,
)
from ecom_rlve.evaluation.bench.sample import DIFFICULTIES, Sample
from ecom_rlve.evaluation.bench.wire import TRANSPORTS, Comparison, JournalPair, Pair


def a_sample(products: int, difficulty: str, reset_us: float, rate: float = 1200.0) -> Sample:
    return Sample(products, difficulty, reset_us, reset_us, 300.0, 80.0, 70.0, 15.0, rate, rate)


def a_load(rate: float, cpu_us: float | None = 50.0, threads: int | None = 7) -> Load:
    return Load(int(2 * rate), 2.0, 1.0, 2.0, cpu_us, threads, "{}")


def a_round(small_us: float, large_us: float) -> list[Sample]:
    costs = {1_000: small_us, 10_000: 220.0, 100_000: large_us}
    return [a_sample(size, difficulty, us) for difficulty in DIFFICULTIES for size, us in costs.items()]


def comparisons(shares: dict[str, list[float]]) -> list[Comparison]:
    return [
        Comparison(
            10_000, transport, 64, tuple(Pair(a_load(share * 1000), a_load(1000)) for share in found), a_load(90)
        )
        for transport in TRANSPORTS
        if (found := shares[transport])
    ]


def journal(*shares: float) -> list[JournalPair]:
    return [JournalPair(a_load(share * 1000), a_load(1000)) for share in shares]


def verdicts(
    samples: list[Sample], shares: dict[str, list[float]], threads: int | None, *kept: float
) -> list[bool | None]:
    crowd = a_load(5000, threads=threads)
    return [each.is_met for each in judged(samples, [], comparisons(shares), crowd, journal(*kept), FULL)]


def test_targets_are_judged_by_medians_of_ratios() -> None:
    # The machine was twice as slow in the second round; the ratio within a round is what counts.
    samples = a_round(200, 240) + a_round(400, 500) + a_round(200, 500)
    shares = {"http": [0.2, 0.55, 0.6], "ws": [0.5, 0.61, 0.7]}
    assert verdicts(samples, shares, 64, 0.5, 0.85, 0.9) == [True] * 6


def test_each_target_can_be_missed() -> None:
    samples = [replace(each, episodes_per_cpu_s=999.0) for each in a_round(200, 261)]
    shares = {"http": [0.49], "ws": [0.59]}
    assert verdicts(samples, shares, 65, 0.84) == [False] * 6


def test_threads_that_cannot_be_counted_fail_nothing() -> None:
    samples, shares = a_round(200, 240), {"http": [0.6], "ws": [0.7]}
    assert verdicts(samples, shares, None, 1.0)[-1] is None
    assert "not measured" in target_table(judged(samples, [], [], a_load(1, threads=None), journal(1.0), FULL))


def test_tables_hold_ratios_and_survive_a_system_without_proc() -> None:
    assert "| 100,000 | 0 | 240 | 1.20 |" in in_process_table(a_round(200, 240), FULL)
    pair = Pair(a_load(600, cpu_us=None), a_load(1000, cpu_us=None))
    table = wire_table([Comparison(10_000, "ws", 64, (pair,), a_load(90))])
    assert "| 10,000 | WebSocket | 64 | 600 | 1.00 | 2.00 | 1,000 | 60% | – | – | – | 90 |" in table


def test_growth_of_every_environment_is_the_median_of_its_rounds() -> None:
    def costs(env_id: str, products: int, *resets: float) -> list[Cost]:
        return [Cost(env_id, products, (0, 3), reset, 40.0) for reset in resets]

    measured = [
        *costs("CART", 1_000, 200, 400, 200),
        *costs("CART", 100_000, 240, 500, 500),
        *costs("PD", 1_000, 200),
        *costs("PD", 100_000, 301),
        *costs("SUB", 2_000, 200),
    ]
    assert [each.is_met for each in environment_targets(measured)] == [True, False]
    assert "| CART | 0, 3 | 100,000 | 500 | 1.25 | 40 |" in environment_table(measured)


def test_cpu_share_compares_the_servers_alone() -> None:
    assert Pair(a_load(600, cpu_us=50.0), a_load(1000, cpu_us=30.0)).cpu_share == pytest.approx(0.6)


@pytest.mark.slow
def test_the_quick_run_prints_every_ratio() -> None:
    command = [sys.executable, "-P", "-m", "ecom_rlve.evaluation.bench", "--quick"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    sizes = [f"{size:,}" for size in QUICK.sizes]
    for wanted in (
        rf"\| reset at {sizes[-1]} products / reset at {sizes[0]} \| \d+\.\d\d \| ≤ 1.3 \| (PASS|FAIL) \|",
        rf"\| episodes/s in process on one core, {QUICK.main_size} products \| [\d,]+ \(\d+\.\d\d ×\) \|",
        rf"\| CART: reset at {sizes[-1]} products / reset at {sizes[0]} \| \d+\.\d\d \| ≤ 1.5 \| (PASS|FAIL) \|",
        rf"\| HTTP steps/s / bare FastAPI's, {QUICK.clients} clients \| \d+\.\d\d \| ≥ 0.5 \|",
        rf"\| WebSocket steps/s / bare FastAPI's, {QUICK.clients} clients \| \d+\.\d\d \| ≥ 0.6 \|",
        rf"\| HTTP steps/s with the journal / without, {QUICK.clients} clients \| \d+\.\d\d \| ≥ 0.85 \|",
        rf"\| threads of the server at {QUICK.sessions} sessions \|",
    ):
        assert re.search(wanted, done.stdout), done.stdout
