"""Measure a catalog of two million products, and one of dirty rows, and write the figures into ``docs/scale.md``.

``python pages/measure_scale.py [--part products|rows] [OPTIONS]`` passes its options on to
``python -m ecom_rlve.evaluation.bench.scale``. The products take about ten minutes, or five if ``--store`` names a
catalog that exists; the rows take five.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from argparse import ArgumentParser

from blocks import rewrite

_BLOCKS = {"products": "measured", "rows": "dirty rows"}
"""The block of the page for each part."""


def main(options: list[str]) -> None:
    """Measure and write."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--part", choices=sorted(_BLOCKS), help="measure only this")
    asked, others = parser.parse_known_args(options)
    for part in [asked.part] if asked.part else _BLOCKS:
        command = [sys.executable, "-P", "-m", "ecom_rlve.evaluation.bench.scale", "--part", part, *others]
        printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
        machine = f"Python {platform.python_version()} on {platform.machine()}, {os.cpu_count()} cores"
        rewrite("docs/scale.md", {_BLOCKS[part]: f"{machine}: take ratios, not absolutes.\n\n{printed}"})


if __name__ == "__main__":
    main(sys.argv[1:])
