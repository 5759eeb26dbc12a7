"""The tutorial that trains is run as a reader would, with TRL: its blocks print what it shows."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_tutorial_trains() -> None:
    page = ROOT / "docs/tutorials/training_with_trl.md"
    command = [sys.executable, str(ROOT / "pages/tutorials.py"), "--check", str(page)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
