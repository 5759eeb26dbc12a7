"""Measure a catalog of two million products and write the figures into ``docs/scale.md``.

``python pages/measure_scale.py [OPTIONS]`` passes its options on to ``python -m ecom_rlve.evaluation.bench.scale``. It
takes about ten minutes, or five if ``--store`` names a catalog that exists.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys

from blocks import rewrite


def main(options: list[str]) -> None:
    """Measure and write."""
    command = [sys.executable, "-P", "-m", "ecom_rlve.evaluation.bench.scale", *options]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    machine = f"Python {platform.python_version()} on {platform.machine()}, {os.cpu_count()} cores"
    rewrite("docs/scale.md", {"measured": f"{machine}: take ratios, not absolutes.\n\n{printed}"})


if __name__ == "__main__":
    main(sys.argv[1:])
