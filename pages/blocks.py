"""Marked blocks of Markdown pages, and answers shortened for readers.

A block lies between ``<!-- name -->`` and ``<!-- /name -->``; the scripts of this folder rewrite its content.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
OUTPUT_OF_PYTHON = re.compile(r"```python\n(?P<code>.*?)```\n\n```text\n(?P<output>.*?)```", re.DOTALL)
"""A Python example, directly followed by the output that it prints."""

Keep = Mapping[str, Any]
"""Keys to show, in order: None shows the value, a mapping applies to its inside, an int shows so many characters.

For a list of objects ``(n, keep)`` shows the first n of them, :class:`Mentioning` those with certain words.
"""


@dataclass(frozen=True, slots=True)
class Mentioning:
    """Shows those elements of a list in which one of these words occurs."""

    words: frozenset[str]
    keep: Any = None


def filled(text: str, name: str, body: str) -> str:
    """Return ``text`` with another body in the block ``name``; raises ``LookupError`` if there is no such block."""
    opening, closing = f"<!-- {name} -->", f"<!-- /{name} -->"
    head, found, rest = text.partition(opening)
    _, ended, tail = rest.partition(closing)
    if not (found and ended):
        raise LookupError(f"the page has no block {opening} … {closing}")
    return f"{head}{opening}\n{body.strip()}\n{closing}{tail}"


def rewrite(page: str, blocks: Mapping[str, str]) -> None:
    """Fill blocks of a page, given by its path below the root of the repository."""
    path = ROOT / page
    text = path.read_text()
    for name, body in blocks.items():
        text = filled(text, name, body)
    path.write_text(text)


def trimmed(value: Any, keep: Any = None) -> str:
    """Return ``value`` as JSON, with … for what ``keep`` leaves out.

    >>> trimmed({"a": [1, 2], "b": "long text", "c": 3}, {"b": 4, "a": None})
    '{"b": "long…", "a": [1, 2], …}'
    """
    if isinstance(keep, tuple):
        most, inside = keep
        more = [] if len(value) <= most else ["…"]
        return f"[{', '.join([trimmed(each, inside) for each in value[:most]] + more)}]"
    if isinstance(keep, Mentioning):
        shown: list[str] = []
        for each in value:
            if any(word in json.dumps(each) for word in keep.words):
                shown.append(trimmed(each, keep.keep))
            elif shown[-1:] != ["…"]:
                shown.append("…")
        return f"[{', '.join(shown)}]"
    if isinstance(keep, Mapping):
        parts = [f"{json.dumps(key)}: {trimmed(value[key], inside)}" for key, inside in keep.items() if key in value]
        return "{" + ", ".join(parts + (["…"] if set(value) - set(keep) else [])) + "}"
    if isinstance(keep, int) and len(str(value)) > keep:
        return json.dumps(f"{str(value)[:keep]}…", ensure_ascii=False)
    return json.dumps(value, ensure_ascii=False)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
