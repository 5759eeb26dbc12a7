"""How often the gate lets a policy through, by its true success (SPEC §8).

``python -m ecom_rlve.evaluation.gate`` draws outcomes and prints a table: how many gates raise the frontier, and how
many seeds a policy needs for a level. Groups are of eight outcomes, either all equal, as a trained policy's nearly are,
or independent. The same command gives the same numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from ecom_rlve.run_models import CurriculumParameters
from ecom_rlve.streams import stream

SUCCESSES = (0.75, 0.8, 0.85, 0.9, 0.95, 0.99)
GROUP_SIZE = 8
GATES = 50_000
"""Judgements of each policy: enough to tell six in ten thousand from ten."""


@dataclass(frozen=True, slots=True)
class Passing:
    """How a policy fares at the gate."""

    gates: int
    """Judgements."""
    rises: int
    """Judgements that raised the frontier."""

    @property
    def share(self) -> float:
        """Share of judgements that raise the frontier."""
        return self.rises / self.gates


def outcomes(success: float, gates: int, tau_num: int, *, are_equal: bool, seed: int = 0) -> NDArray[np.bool_]:
    """Return the correctness of episodes by gate, seed and member of the group."""
    rng = stream(seed, "gate", str(success), str(are_equal))
    drawn = rng.random((gates, tau_num, 1 if are_equal else GROUP_SIZE)) < success
    return np.broadcast_to(drawn, (gates, tau_num, GROUP_SIZE))


def passing(correct: NDArray[np.bool_], parameters: CurriculumParameters) -> Passing:
    """Judge gate after gate, as the curriculum does."""
    gates, tau_num, size = correct.shape
    least = ceil(Fraction(str(parameters.tau_acc)) * tau_num * size)
    in_a_row = rises = 0
    for passes in (correct.sum(axis=(1, 2)) >= least).tolist():
        in_a_row = in_a_row + 1 if passes else 0
        if in_a_row == parameters.passes:
            rises, in_a_row = rises + 1, 0
    return Passing(gates, rises)


def markdown(parameters: CurriculumParameters, gates: int) -> str:
    """Return the table, a row for each true success."""
    lines = [
        "| true success | eight equal outcomes: gates that raise the frontier | seeds a level "
        "| eight independent ones: gates that raise it | seeds a level |",
        "| --- | --- | --- | --- | --- |",
    ]
    for success in SUCCESSES:
        cells = [f"{success:.2f}"]
        for are_equal in (True, False):
            found = passing(outcomes(success, gates, parameters.tau_num, are_equal=are_equal), parameters)
            seeds = f"{parameters.tau_num / found.share:,.0f}" if found.rises else "never"
            cells += [f"{found.share:.2%}", seeds]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def main(
    gates: Annotated[int, typer.Option(min=1, help="Judgements of each policy.")] = GATES,
    tau_num: Annotated[int, typer.Option(min=1, help="Seeds of a gate.")] = 32,
    passes: Annotated[int, typer.Option(min=1, help="Gates in a row that must pass.")] = 2,
) -> None:
    """Print how often the gate lets policies of known success through."""
    print(markdown(CurriculumParameters(tau_num=tau_num, passes=passes), gates))


if __name__ == "__main__":
    typer.run(main)
