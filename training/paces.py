"""How fast a frontier can rise: ``python -m ecom_rlve.training.paces`` prints the table of docs/trainers.md.

A pace is the fastest possible: every gate passes. It says how long a run must at least be, and which ``tau_num`` leaves
the frontier room to rise within it.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Annotated

import typer

WINDOW = 4
"""Levels that the curriculum draws from, uniformly: the frontier and those right below it (SPEC §8)."""
PASSES = 2
"""Gates in a row that must pass before the frontier rises (SPEC §8)."""
COLLECTIONS = {"C1": 1, "C2": 2, "C4": 4, "C8": 8}
"""Environments in each collection (SPEC §2.1)."""
TAU_NUMS = (8, 16, 32)
DIFFICULTIES = (1, 3, 5, 8, 10)


def prompts_to_reach(difficulty: int, tau_num: int) -> int:
    """Return the least number of prompts of one environment after which its frontier is at ``difficulty``.

    At a frontier h only one in min(h + 1, 4) of the drawn seeds lies on it and counts; ``tau_num`` of those fill a
    gate, and :data:`PASSES` gates are one level (SPEC §8). A prompt is one seed, however many rollouts it has.

    >>> prompts_to_reach(1, 32), prompts_to_reach(5, 32)
    (64, 896)
    """
    return PASSES * tau_num * sum(min(level + 1, WINDOW) for level in range(difficulty))


def steps_to_reach(difficulty: int, *, tau_num: int, prompts_per_step: int, environments: int) -> int:
    """Return the least number of trainer's steps after which every frontier is at ``difficulty``.

    Each step plays ``prompts_per_step`` prompts, shared evenly by the environments.

    >>> steps_to_reach(5, tau_num=32, prompts_per_step=16, environments=1)
    56
    >>> steps_to_reach(5, tau_num=16, prompts_per_step=16, environments=8)
    224
    """
    return ceil(prompts_to_reach(difficulty, tau_num) * environments / prompts_per_step)


def table(prompts_per_step: int, difficulties: Sequence[int] = DIFFICULTIES) -> str:
    """Return the paces as a table: a row for each collection and ``tau_num``, a column for each difficulty."""
    lines = [
        f"| {prompts_per_step} prompts a step | tau_num | " + " | ".join(f"d={d} at step" for d in difficulties) + " |",
        "| --- " * (2 + len(difficulties)) + "|",
    ]
    for collection, environments in COLLECTIONS.items():
        for tau_num in TAU_NUMS:
            steps = [
                steps_to_reach(d, tau_num=tau_num, prompts_per_step=prompts_per_step, environments=environments)
                for d in difficulties
            ]
            lines.append(f"| {collection} | {tau_num} | " + " | ".join(f"{step:,}" for step in steps) + " |")
    return "\n".join(lines)


def main(
    prompts: Annotated[int, typer.Option(min=1, help="Prompts (groups) in one step of the trainer.")] = 16,
) -> None:
    """Print after how many steps a frontier can stand at a difficulty, at the earliest."""
    print(table(prompts))


if __name__ == "__main__":
    typer.run(main)
