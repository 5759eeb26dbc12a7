"""What a visitor did, as an action of an agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def action_of(sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return the action that the page's script describes.

    Raises:
        ValueError: it describes none.
    """
    match sent:
        case {"kind": "say", "text": str(text)}:
            return {"assistant_message": text}
        case {"kind": "raw", "text": str(text)}:
            return {"text": text}
        case {"kind": "call", "name": str(name), "args": dict(args)}:
            return {"tool_calls": [{"name": name, "args": args}]}
        case {"kind": "answer", "args": dict(args), "final": bool(final)}:
            return {"answer": {**args, "done": final}}
    raise ValueError("this is nothing that an agent can do")
