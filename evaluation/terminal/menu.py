"""Choosing what to play: environment and difficulty."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from ecom_rlve.evaluation.terminal.typed.arguments import Schema
from ecom_rlve.evaluation.terminal.typed.asking import Asking
from ecom_rlve.models import EnvironmentInfo

FIRST = "CART"
"""Offered first: the environment whose job needs no explanation."""


def choose(asking: Asking, console: Console, infos: Mapping[str, EnvironmentInfo]) -> dict[str, Any]:
    """Ask for an environment and a difficulty; return the arguments of a reset.

    Raises :class:`~ecom_rlve.evaluation.terminal.typed.lines.InputEndedError`, and
    :class:`~ecom_rlve.evaluation.terminal.typed.asking.UndoneError`.
    """
    served = {name: info for name, info in infos.items() if info.max_difficulty >= 0}
    table = Table(title="Environments", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("name", "the job", "difficulty"):
        table.add_column(heading)
    for name, info in served.items():
        table.add_row(name, info.title, f"0 to {info.max_difficulty}")
    console.print(table)
    titles = {name: info.title for name, info in served.items()}
    env_id = asking.choice("environment", titles, FIRST if FIRST in served else next(iter(served)))
    bounds: Schema = {
        "type": "integer",
        "minimum": 0,
        "maximum": served[env_id].max_difficulty,
        "description": "0 is the easiest. Without one, the server chooses.",
    }
    return {"env_id": env_id, "difficulty": asking.value("difficulty", bounds, is_optional=True)}


def told(info: EnvironmentInfo, note: Callable[[str], None]) -> None:
    """Print how the player of an environment hands in what they found."""
    fields = [name for form in forms_of(info) for name in form["properties"] if name not in ("done", "intent")]
    asked = f"it asks for {', '.join(dict.fromkeys(fields))}" if fields else "the cart is the answer"
    note(f"/done submits the final answer; {asked}.")


def forms_of(info: EnvironmentInfo) -> list[dict[str, Any]]:
    """Return the forms that an answer may have: one, or one for each intent."""
    forms: list[dict[str, Any]] = info.answer_schema.get("anyOf", [info.answer_schema])
    return forms
