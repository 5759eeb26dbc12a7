"""Asking for the arguments of a tool, or the fields of an answer, one by one: what does not fit is asked again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ecom_rlve.evaluation.terminal.typed.arguments import (
    CommandError,
    Schema,
    choices_of,
    hint,
    kinds_of,
    missing,
    no_such,
    read_value,
)
from ecom_rlve.evaluation.terminal.typed.lines import Lines, Question
from ecom_rlve.evaluation.terminal.typed.suggesting import of_words

UNDO = "/undo"
HELP = "?"


class UndoneError(Exception):
    """The person takes back what they had begun to type."""


class Asking:
    """Asks one person; ``note`` prints a line for them, ``known`` gives the ids that fit an argument, with a note."""

    def __init__(self, lines: Lines, note: Callable[[str], None], known: Callable[[str], Mapping[str, str]]) -> None:
        self._lines = lines
        self._note = note
        self._known = known

    def complete(self, name: str, args: Mapping[str, Any], schema: Schema) -> dict[str, Any]:
        """Return ``args`` and what was asked for: the required ones that are missing, then whichever others are named.

        Where some were given the others are not asked for. Raises :class:`UndoneError`, and
        :class:`~ecom_rlve.evaluation.terminal.typed.lines.InputEndedError`.
        """
        properties: Mapping[str, Schema] = schema.get("properties", {})
        filled = dict(args)
        for each in missing(args, schema):
            filled[each] = self.value(each, properties[each])
        if not args:
            self._ask_others(name, filled, properties)
        return filled

    def value(self, name: str, schema: Schema, *, is_optional: bool = False) -> Any:
        """Return a value of one argument; None where an optional one is left out with an empty line."""
        listed = choices_of(schema) or self._known(name)
        prompt = f"{name} ({hint(schema)}{'; Enter: none' if is_optional else ''}): "
        while True:
            line = self._line(prompt, listed)
            if line == HELP:
                self._note(str(schema.get("description", f"{name}: {hint(schema)}")))
            elif not line and is_optional:
                return None
            elif not line and "array" not in kinds_of(schema):
                self._note(f"{name} is needed; {UNDO} takes the call back")
            else:
                try:
                    return read_value(name, line, schema)
                except CommandError as error:
                    self._note(str(error))

    def choice(self, prompt: str, notes: Mapping[str, str], default: str) -> str:
        """Return one of the keys of ``notes``, whatever its case; an empty line is the default."""
        while True:
            line = self._line(f"{prompt} [{default}]: ", notes).upper() or default
            if line in notes:
                return line
            self._note(f"there are {', '.join(notes)}")

    def _ask_others(self, name: str, filled: dict[str, Any], properties: Mapping[str, Schema]) -> None:
        left = {each: hint(schema) for each, schema in properties.items() if each not in filled}
        while left:
            line = self._line(f"{name}: another argument (? lists them, Enter for none): ", left)
            if not line:
                return
            if line == HELP:
                self._note("\n".join(f"{each}: {said}" for each, said in left.items()))
                continue
            try:
                each = _named(line, left)
            except CommandError as error:
                self._note(str(error))
                continue
            value = self.value(each, properties[each], is_optional=True)
            if value is not None:
                filled[each] = value
                del left[each]

    def _line(self, prompt: str, listed: Mapping[str, str] | list[str]) -> str:
        notes = listed if isinstance(listed, Mapping) else dict.fromkeys(listed, "")
        line = self._lines.ask(Question(prompt, lambda text: of_words(text, notes))).strip()
        if line == UNDO:
            raise UndoneError
        return line


def _named(line: str, left: Mapping[str, str]) -> str:
    name = line.removeprefix("--").replace("-", "_")
    if name not in left:
        no_such("argument", name, list(left))
    return name
