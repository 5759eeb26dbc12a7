"""What may be typed next: commands, options of a tool, ids that results have shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from ecom_rlve.evaluation.terminal.typed.arguments import Schema, choices_of, hint
from ecom_rlve.evaluation.terminal.typed.commands import SUBMITS, WordName, short_names
from ecom_rlve.evaluation.terminal.typed.lines import Suggestion


def of_words(text: str, notes: Mapping[str, str]) -> list[Suggestion]:
    """Return the words, which have notes, that begin with the last item of a list with commas, whatever its case."""
    begun = text.rpartition(",")[2].lstrip()
    return [
        Suggestion(word, len(begun), note) for word, note in notes.items() if word.lower().startswith(begun.lower())
    ]


def of_commands(text: str, tools: Mapping[str, Schema], ids: Mapping[str, str]) -> list[Suggestion]:
    """Return what may follow ``text`` where a command is typed; ``ids`` are those shown so far, with notes.

    >>> [each.word for each in of_commands("/se", {"catalog_search": {}}, {})]
    ['/search', '/send']
    """
    head, has_blank, _ = text.partition(" ")
    if not head.startswith("/"):
        return []
    if not has_blank:
        return [Suggestion(word, len(head), note) for word, note in _commands(tools).items() if word.startswith(head)]
    by_name = {f"/{each}": name for name, short in short_names(tools).items() for each in (name, short)}
    properties: Mapping[str, Schema] = tools.get(by_name.get(head, ""), {}).get("properties", {})
    *_, before, last = ["", *text.split(" ")]
    option = properties.get(before.removeprefix("--"), {}) if before.startswith("--") else {}
    if option:
        return of_words(last, dict.fromkeys(choices_of(option), "") or ids)
    if last.startswith("--"):
        return of_words(last, {f"--{name}": hint(schema) for name, schema in properties.items()})
    return of_words(last, ids) if last else []


def _commands(tools: Mapping[str, Schema]) -> dict[str, str]:
    named = {f"/{short}": name for name, short in short_names(tools).items()}
    return named | dict.fromkeys((f"/{word}" for word in (*SUBMITS, *get_args(WordName))), "")
