"""Runs a module as a program that ends with whoever started it: ``python -m ecom_rlve.evaluation.tethered MODULE …``.

Its standard input is a pipe that nobody writes to. When the other end is closed, be it because that process was killed,
this one is told to end.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import threading


def _end_with_the_pipe() -> None:
    while os.read(sys.stdin.fileno(), 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    threading.Thread(target=_end_with_the_pipe, daemon=True, name="tether").start()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
