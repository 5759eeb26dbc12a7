"""Errors of judging, each with one line for the person who typed the command.

::

    JudgingError             anything below
    ├── ResultsError         a folder of results, or a file in it, is not what it should be
    ├── OutputError          results cannot be written any more; what was written is intact
    └── RunStoppedError      the run cannot go on; run it again to continue
"""

from __future__ import annotations


class JudgingError(Exception):
    """What was asked for cannot be done; the message says why and what to do."""


class ResultsError(JudgingError):
    """A folder of results is missing, foreign, truncated, or of another run; the message names the file."""


class OutputError(JudgingError):
    """Results cannot be written: the disk is full, or the folder was deleted."""


class RunStoppedError(JudgingError):
    """A run stopped before its end; what is saved stays, and the same command goes on."""
