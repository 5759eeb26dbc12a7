"""An episode is a function: the same bytes in any process, under any hash seed, at any date."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "goldens" / "cart_transcripts.txt"
"""Hash of fifty episodes. It changes only with a new environment version; print it with ``play_transcripts.py``."""


@pytest.mark.parametrize(
    ("hash_seed", "options"),
    [("0", []), ("1", []), ("random", []), ("0", ["--a-year-later"])],
    ids=["seed 0", "seed 1", "random seed", "a year later"],
)
def test_transcripts_are_the_same_everywhere(hash_seed: str, options: list[str]) -> None:
    printed = subprocess.run(
        [sys.executable, "-P", str(HERE / "play_transcripts.py"), *options],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    assert printed.stdout.strip() == GOLDEN.read_text().strip()
