"""Run the tutorials, block by block, and write what they print under them.

``python pages/tutorials.py [--check] [--url URL] [PAGE …]``: with ``--check`` it fails where something else is printed.
Of a page

- a block after a line that ends in a file's name and a colon (`` `agent.py`: ``) is written into that file,
- ``python`` and ``bash`` blocks are run, in one folder for the page; a ``text`` block after one is its output,
- all else (``py``, ``console``, ``json``) is shown only.

The server at URL stands in for the one that pages show; it has the default catalog and reveals goals.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from blocks import ROOT

SHOWN = "127.0.0.1:8000"
FOLDER = ROOT / "docs/tutorials"
ELSEWHERE = {"training_with_trl.md"}
"""Pages that need another environment; their tests run them by name."""
_BLOCK = re.compile(
    r"(?:`(?P<file>[\w./-]+)`:\n\n)?^```(?P<kind>\w+)\n(?P<code>.*?)^```(?P<printed>\n\n```text\n.*?^```)?",
    re.DOTALL | re.MULTILINE,
)


def played(text: str, url: str, folder: Path) -> str:
    """Return a page with what its blocks print now; raises ``CalledProcessError`` where one fails."""

    def one(block: re.Match[str]) -> str:
        code = block["code"].replace(SHOWN, url)
        if block["file"]:
            path = folder / block["file"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(code)
            return block[0]
        if block["kind"] not in _RUN:
            return block[0]
        printed = _printed([*_RUN[block["kind"]], code], folder).replace(url, SHOWN)
        if block["printed"] is None:
            return block[0]
        return block[0].removesuffix(block["printed"]) + f"\n\n```text\n{printed}```"

    return _BLOCK.sub(one, text)


_RUN: Mapping[str, tuple[str, ...]] = {
    "python": (sys.executable, "-P", "-c"),
    "bash": ("bash", "-euo", "pipefail", "-c"),
}


def _printed(command: list[str], folder: Path) -> str:
    tools = folder / ".bin"
    tools.mkdir(exist_ok=True)
    for name, arguments in {"ecom-rlve": "-P -m ecom_rlve.cli", "python": ""}.items():
        (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n')
        (tools / name).chmod(0o755)
    changed = {"PATH": f"{tools}:{os.environ['PATH']}", "ECOM_RLVE_STORE": "memory", "COLUMNS": "100"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ, **changed})
    if done.returncode:
        raise SystemExit(f"{command[-1]}\n{done.stdout}\n{done.stderr}\nended with {done.returncode}")
    return done.stdout


def pages() -> list[Path]:
    """Return the tutorials that need no other environment than this."""
    return [path for path in sorted(FOLDER.glob("*.md")) if path.name not in ELSEWHERE]


def run(chosen: list[Path], address: str, *, is_check: bool) -> bool:
    """Run pages against the server at ``address``, and write them, or say which of them differ; tell if none does."""
    differ = []
    for page in chosen:
        text = page.read_text()
        with tempfile.TemporaryDirectory() as folder:
            now = played(text, address.removeprefix("http://"), Path(folder))
        if is_check and now != text:
            print(f"{page.name} prints something else; make docs writes it again:\n{now}")
            differ.append(page)
        elif not is_check:
            page.write_text(now)
    return not differ


def main() -> None:
    """Run the pages that are named, or all that need no other environment."""
    parser = argparse.ArgumentParser(description="Run the tutorials.")
    parser.add_argument(
        "--check", action="store_true", help="write nothing, and fail where a page shows something else"
    )
    parser.add_argument("--url", default=f"http://{SHOWN}", help="server of the default catalog that reveals goals")
    parser.add_argument("pages", nargs="*", type=Path)
    given = parser.parse_args()
    sys.exit(not run(given.pages or pages(), given.url, is_check=given.check))


if __name__ == "__main__":
    main()
