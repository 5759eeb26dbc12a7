"""An episode is a function: the same bytes in any process, under any hash seed, at any date."""

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from ecom_rlve.envs.registry import COLLECTIONS

HERE = Path(__file__).parent
GOLDENS = HERE.parent / "goldens"
"""Hashes of episodes: of fifty of CART, and one line per environment. A line changes only with a new version of its
environment; ``python tests/envs/play_transcripts.py --write`` writes them again."""


@pytest.mark.parametrize(
    ("hash_seed", "options"),
    [
        pytest.param("random", ["--a-year-later"], id="random seed, a year later"),
        pytest.param("0", [], id="seed 0", marks=pytest.mark.slow),
        pytest.param("1", [], id="seed 1", marks=pytest.mark.slow),
    ],
)
def test_transcripts_are_the_same_everywhere(hash_seed: str, options: list[str]) -> None:
    cart, *others = hashes(hash_seed, *options)
    assert cart == (GOLDENS / "cart_transcripts.txt").read_text().strip()
    recorded = (GOLDENS / "transcripts.txt").read_text().splitlines()
    assert set(recorded) <= set(others)
    assert {line.split()[0] for line in recorded} >= set(COLLECTIONS["C8"])
    if others != recorded:
        # Of an environment that nobody has recorded yet, every process must at least say the same.
        assert [cart, *others] == hashes("0")


@cache
def hashes(hash_seed: str, *options: str) -> list[str]:
    """Return what a process of its own prints."""
    printed = subprocess.run(
        [sys.executable, "-P", str(HERE / "play_transcripts.py"), *options],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    return printed.stdout.splitlines()
