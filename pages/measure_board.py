"""Play the built-in agents over a suite, check what they did, and write ``docs/board.json``: ``make board``."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from blocks import ROOT

from ecom_rlve.cli import main as command

SUITE = "small"
AGENTS = (
    "oracle",
    "expert",
    "first_hit",
    "never_asks",
    "guess_and_wait",
    "ignores_filters",
    "answer_constants",
    "repeat_customer",
    "say_nothing",
)


def run(*arguments: str) -> None:
    """Run a command; raises ``SystemExit`` where it fails."""
    try:
        command(list(arguments))
    except SystemExit as ended:
        if ended.code:
            raise


def main() -> None:
    """Write the rows of all agents."""
    board = ROOT / "docs" / "board.json"
    with TemporaryDirectory() as folder:
        for agent in AGENTS:
            out = str(Path(folder) / agent)
            run("eval", "--agent", agent, "--split", "test", "--suite", SUITE, "--out", out)
            run("board", "verify", out, "--reference", "--add", str(board))
            sys.stdout.flush()


if __name__ == "__main__":
    main()
