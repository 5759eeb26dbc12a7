"""Where a person's lines come from: one question at a time, answered in a terminal or by a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from rich.console import Console
from rich.text import Text


class InputEndedError(Exception):
    """Nothing more will be typed."""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A word that may be typed, in place of the last ``replaces`` characters."""

    word: str
    replaces: int = 0
    note: str = ""


Suggest = Callable[[str], list[Suggestion]]
"""Returns what may be typed after what stands before the cursor."""


def _nothing(_text: str) -> list[Suggestion]:
    return []


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked for in one line."""

    prompt: str
    suggest: Suggest = _nothing
    status: str = ""
    """What a person keeps in view while they type: budget and cart."""


class Lines(Protocol):
    """A person, or a script in their place."""

    def ask(self, question: Question) -> str:
        """Return the line that answers; raises :class:`InputEndedError` where none comes any more."""


class PipedLines:
    """Lines that were written beforehand; questions and answers are printed as a terminal would show them."""

    def __init__(self, lines: Iterable[str], console: Console) -> None:
        self._lines: Iterator[str] = iter(lines)
        self._console = console

    def ask(self, question: Question) -> str:
        """Return the next line."""
        for line in self._lines:
            self._console.print(Text(f"{question.prompt}{line.rstrip()}"))
            return line.rstrip("\n")
        raise InputEndedError
