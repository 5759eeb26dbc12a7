"""What no log line may hold: what an exception says, which may be a value of a goal, a token or a path."""

from __future__ import annotations

import logging
import traceback
from pathlib import Path


class Discreet(logging.Filter):
    """Tells of an exception its type and its places in the code, in the line itself."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep the record, rewritten."""
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            message = record.getMessage().strip()
            record.msg, record.args = f"{message} type={type(error).__qualname__} at={places(error)}", None
            record.exc_info = record.exc_text = None
        return True


def places(error: BaseException) -> str:
    """Return where in the code an exception came from, the innermost place first."""
    frames = reversed(traceback.extract_tb(error.__traceback__)[-6:])
    return " < ".join(f"{Path(frame.filename).name}:{frame.lineno}:{frame.name}" for frame in frames)
