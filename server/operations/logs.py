"""Log lines: an event with fields, written as ``key=value`` or as one JSON object a line."""

from __future__ import annotations

import json
import logging
import re
from datetime import UTC, datetime
from typing import Any, Literal

from ecom_rlve.server.admission.log_filter import Discreet

LogFormat = Literal["text", "json"]
_PLAIN = re.compile(r'[^\s"=]+')


class Event:
    """A message of a logger: what happened, and with what."""

    __slots__ = ("fields", "name")

    def __init__(self, name: str, **fields: Any) -> None:
        """``fields`` hold strings and numbers, no id of an episode and nothing of a goal."""
        self.name = name
        self.fields = fields

    def __str__(self) -> str:
        """Return the event and its fields as text; values with spaces or quotes are quoted.

        >>> str(Event("start", size=400, source="my file"))
        'start size=400 source="my file"'
        """
        return " ".join([self.name, *(f"{name}={_text(value)}" for name, value in self.fields.items())])


class JsonFormatter(logging.Formatter):
    """Writes ``time`` (UTC, ISO 8601), ``level``, ``logger``, ``event``, the event's fields, and ``exception``."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        event = record.msg if isinstance(record.msg, Event) else Event(record.getMessage())
        told: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "event": event.name,
            **event.fields,
        }
        if record.exc_info:
            told["exception"] = self.formatException(record.exc_info)
        return json.dumps(told, default=str)


def log_config(level: str, form: LogFormat) -> dict[str, Any]:
    """Return the configuration of ``logging``: our lines from ``level`` on, uvicorn's warnings, all to stderr.

    Nearly all of uvicorn's lines below a warning are one per socket, with the ids that stand in its address.
    """
    quiet = "WARNING" if level in ("DEBUG", "INFO") else level
    text = {"format": "%(asctime)s level=%(levelname)s logger=%(name)s %(message)s"}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"text": text, "json": {"()": JsonFormatter}},
        "filters": {"discreet": {"()": Discreet}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": form, "filters": ["discreet"]}},
        "loggers": {
            "ecom_rlve": {"handlers": ["stderr"], "level": level, "propagate": False},
            "uvicorn": {"handlers": ["stderr"], "level": quiet, "propagate": False},
        },
    }


def _text(value: Any) -> str:
    text = str(value)
    # What is not printable may end a line, or steer a terminal.
    return text if _PLAIN.fullmatch(text) and text.isprintable() else json.dumps(text)
