"""Hold the package against the stock OpenEnv: its manifest check, its server check, its clients in all environments.

Run by ``make test-openenv``. The arguments are ``bin`` folders of virtual environments: first that of a host, with the
package and its extra ``openenv``. The others hold nothing of ours: that of ``openenv``, then those of releases under
its former name, ``openenv-core``. This script itself runs where the package is installed, and starts the server there.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from ecom_rlve.evaluation.local_server import local_server, server_process

ROOT = Path(__file__).parents[2]
EXAMPLE = re.compile(r"```python\n(?P<code>.*?)```\n\n```text\n(?P<output>.*?)```", re.DOTALL)
SHOWN_URL = "http://127.0.0.1:8000"


def check(*command: str | Path) -> None:
    """Show and run a command at the root of the repository; CalledProcessError when it fails."""
    print("$", *(Path(part).name if isinstance(part, Path) else part for part in command), flush=True)
    subprocess.run(list(map(str, command)), cwd=ROOT, check=True)


def check_examples(python: Path, url: str) -> None:
    """Run the examples of the page about OpenEnv; AssertionError where one prints anything else than is shown."""
    shown = EXAMPLE.findall((ROOT / "docs/openenv.md").read_text())
    assert shown, "the page shows no example"
    for code, output in shown:
        done = subprocess.run([python, "-c", code.replace(SHOWN_URL, url)], capture_output=True, text=True)
        assert done.stdout == output, f"{code}\nprinted\n{done.stdout}{done.stderr}"
    print(f"{len(shown)} examples of docs/openenv.md print what it shows")


def main(host_bin: Path, openenv_bin: Path, *former_bins: Path) -> None:
    """Run the checks in order, up to the first that fails."""
    check(openenv_bin / "openenv", "validate", ".", "--level", "static", "--skip-build")
    check(openenv_bin / "python", ROOT / "tests/openenv/check_push.py")
    with local_server() as url:
        check(openenv_bin / "openenv", "validate", "--url", url)
        check(openenv_bin / "python", ROOT / "tests/openenv/grade_runtime.py", url)
        for each in (openenv_bin, *former_bins):
            check(each / "python", ROOT / "tests/openenv/play_generic.py", url)
        check(openenv_bin / "python", ROOT / "tests/openenv/play_tools.py", url)
        check_examples(openenv_bin / "python", url)
    check(host_bin / "python", ROOT / "tests/openenv/embed.py")
    app = ("--factory", "host_app:create_app", "--app-dir", str(ROOT / "tests/openenv"))
    with server_process("uvicorn", *app, python=str(host_bin / "python")) as (url, _):
        check(openenv_bin / "python", ROOT / "tests/openenv/play_hosted.py", url)


if __name__ == "__main__":
    try:
        main(*(Path(each).absolute() for each in sys.argv[1:]))
    except subprocess.CalledProcessError as failed:
        sys.exit(failed.returncode)
