"""Hold the package against the stock OpenEnv 0.10: its manifest check, its server check, its client.

Run by ``make test-openenv``. The argument is the ``bin`` folder of a virtual environment that holds openenv and
nothing of ours; this script itself runs where the package is installed, and starts the server from there.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ecom_rlve.evaluation.local_server import local_server

ROOT = Path(__file__).parents[2]


def check(*command: str | Path) -> None:
    """Show and run a command at the root of the repository; CalledProcessError when it fails."""
    print("$", *(Path(part).name if isinstance(part, Path) else part for part in command), flush=True)
    subprocess.run(list(map(str, command)), cwd=ROOT, check=True)


def main(openenv_bin: Path) -> None:
    """Run the checks in order, up to the first that fails."""
    openenv, python = openenv_bin / "openenv", openenv_bin / "python"
    check(openenv, "validate", ".", "--level", "static", "--skip-build")
    with local_server() as url:
        check(openenv, "validate", "--url", url)
        check(python, ROOT / "tests/openenv/grade_runtime.py", url)
        check(python, ROOT / "tests/openenv/play_generic.py", url)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]).absolute())
    except subprocess.CalledProcessError as failed:
        sys.exit(failed.returncode)
