"""Hold the package against the stock OpenEnv: its manifest check, its server check, its clients in all environments.

Run by ``make test-openenv``. The arguments are ``bin`` folders of virtual environments: first that of a host, with the
package and its extra ``openenv``. The others hold nothing of ours: that of ``openenv``, then those of releases under
its former name, ``openenv-core``. This script itself runs where the package is installed, and starts the server there.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from ecom_rlve.evaluation.local_server import local_server, server_process

ROOT = Path(__file__).parents[2]


def check(*command: str | Path) -> None:
    """Show and run a command at the root of the repository; CalledProcessError when it fails."""
    print("$", *(Path(part).name if isinstance(part, Path) else part for part in command), flush=True)
    subprocess.run(list(map(str, command)), cwd=ROOT, check=True)


def main(host_bin: Path, openenv_bin: Path, *former_bins: Path) -> None:
    """Run the checks in order, up to the first that fails."""
    check(openenv_bin / "openenv", "validate", ".", "--level", "static", "--skip-build")
    with local_server() as url:
        check(openenv_bin / "openenv", "validate", "--url", url)
        check(openenv_bin / "python", ROOT / "tests/openenv/grade_runtime.py", url)
        for each in (openenv_bin, *former_bins):
            check(each / "python", ROOT / "tests/openenv/play_generic.py", url)
        check(openenv_bin / "python", ROOT / "tests/openenv/play_tools.py", url)
    check(host_bin / "python", ROOT / "tests/openenv/embed.py")
    app = ("--factory", "host_app:create_app", "--app-dir", str(ROOT / "tests/openenv"))
    with server_process("uvicorn", *app, python=str(host_bin / "python")) as (url, _):
        check(openenv_bin / "python", ROOT / "tests/openenv/play_hosted.py", url)


if __name__ == "__main__":
    try:
        main(*(Path(each).absolute() for each in sys.argv[1:]))
    except subprocess.CalledProcessError as failed:
        sys.exit(failed.returncode)
