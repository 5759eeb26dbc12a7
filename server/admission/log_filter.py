"""What no log line may hold: the id of an episode, with which anybody could play it, and values inside an exception."""

from __future__ import annotations

import logging
import re
import traceback
from pathlib import Path

_IDS = re.compile(r"(?<=/episodes/)[^?\s]+?(?=(?:/(?:trace|finish|state|step|heartbeat))?(?:[?\s]|$))")
_QUERY = re.compile(r"\?\S*")


class Discreet(logging.Filter):
    """Rewrites a record: addresses without ids and queries, exceptions without what they say."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Keep the record, rewritten."""
        if record.name.startswith("uvicorn") and isinstance(record.args, tuple):
            record.args = tuple(hidden(each) if isinstance(each, str) else each for each in record.args)
        if record.exc_info and record.exc_info[1] is not None:
            record.msg, record.args = f"{record.getMessage().strip()} {_told(record.exc_info[1])}", None
            record.exc_info = record.exc_text = None
        return True


def hidden(address: str) -> str:
    """Return the address of a request without what names an episode or a session.

    >>> hidden("/episodes/7f3a/trace")
    '/episodes/…/trace'
    >>> hidden("/ws?session_id=7f3a")
    '/ws?…'
    """
    return _QUERY.sub("?…", _IDS.sub("…", address)) if address.startswith("/") else address


def _told(error: BaseException) -> str:
    frames = reversed(traceback.extract_tb(error.__traceback__)[-6:])
    places = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}:{frame.name}" for frame in frames)
    return f"type={type(error).__qualname__} at={places}"
