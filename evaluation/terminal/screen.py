"""How an episode looks in a terminal: conversation, tool results as tables, the reward's parts.

Everything shown comes from a server, and may come from a product feed. So control characters are removed, and nothing
is read as markup.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ecom_rlve.evaluation.terminal.amounts import spelled
from ecom_rlve.evaluation.terminal.goal_words import Compared
from ecom_rlve.evaluation.terminal.typed.arguments import hint
from ecom_rlve.evaluation.terminal.typed.commands import short_names
from ecom_rlve.models import EpisodeResult, EpisodeState, ToolResult
from ecom_rlve.reward_words import Part

CELL_WIDTH = 46
LINE_LENGTH = 240
"""Most characters of a tool's result, when a past conversation is shown."""
PIPE_WIDTH = 120
MOST_COLUMNS = 5
"""Most columns of a table; one more holds everything else of a row."""
_REWARDS = ("r_task", "r_eff", "r_hall", "r_total")
_NAMES = {"user": "customer", "assistant": "agent", "tool": "store"}
_STYLES = {
    "customer": "bold cyan",
    "agent": "bold green",
    "calls": "yellow",
    "answers": "yellow",
    "store": "magenta",
    "refuses": "red",
}


def terminal() -> Console:
    """Return the console of standard output: coloured in a terminal, plain in a pipe."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else PIPE_WIDTH)


def say(console: Console, speaker: str, text: str) -> None:
    """Print somebody's name and what they said, indented."""
    line = Table.grid(padding=(0, 2, 0, 0))
    line.add_column(width=9, justify="right", style=_STYLES[speaker])
    line.add_column(overflow="fold")
    line.add_row(speaker, Text(clean(text)))
    console.print(line)


def show_customer(console: Console, message: str) -> None:
    """Print the customer's words; nothing where they said none."""
    if message:
        say(console, "customer", message)


def show_action(console: Console, action: Mapping[str, Any]) -> None:
    """Print an agent's action: message, calls, answer, or raw text."""
    for key in ("text", "assistant_message"):
        if action.get(key):
            say(console, "agent", str(action[key]))
    for call in action.get("tool_calls") or ():
        args = ", ".join(f"{name}={_cell(value)}" for name, value in (call.get("args") or {}).items())
        say(console, "calls", f"{call.get('name')}({args})")
    if action.get("answer") is not None:
        say(console, "answers", json.dumps(action["answer"], ensure_ascii=False))


def show_tool_results(console: Console, results: Sequence[ToolResult], most_rows: int | None = None) -> None:
    """Print tool results: lists of objects as tables of at most ``most_rows`` rows, the rest as one line."""
    for result in results:
        if result.error is not None:
            say(console, "refuses", f"{result.name}: {result.code or 'error'}: {result.error}")
            continue
        fields = result.result or {}
        tables = {name: value for name, value in fields.items() if _is_table(value)}
        plain = ", ".join(f"{clean(name)}: {_cell(value)}" for name, value in fields.items() if name not in tables)
        say(console, "store", f"{result.name}: {plain}" if plain else result.name)
        for rows in tables.values():
            console.print(_table(rows[:most_rows]))
            if most_rows is not None and len(rows) > most_rows:
                console.print(Text(f"… and {len(rows) - most_rows} more"), style="dim")


def show_result(console: Console, result: EpisodeResult) -> None:
    """Print how an episode ended and what it earned."""
    table = Table(title="Result", show_header=False)
    for name in _REWARDS:
        table.add_row(name, f"{getattr(result, name):+.2f}")
    table.add_row("is_correct", "yes" if result.is_correct else "no")
    table.add_row("ended by", clean(f"{result.termination}{f': {result.reason}' if result.reason else ''}"))
    table.add_row("turns", f"{result.turns} ({result.effective_turns} counted)")
    if result.goal is not None:
        table.add_row("goal", Text(clean(json.dumps(result.goal, ensure_ascii=False))))
    console.print(table)


def show_reward(console: Console, ended: str, parts: Sequence[Part], total: str) -> None:
    """Print how an episode ended, and each part of its reward with its reason."""
    table = Table(title=Text(clean(ended)), box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("part")
    table.add_column("earned", justify="right")
    table.add_column("weight", justify="right")
    table.add_column("why", overflow="fold")
    for part in parts:
        table.add_row(part.name, f"{part.value:+.2f}", f"{part.weight:g}", Text(clean(part.why)))
    console.print(table)
    console.print(Text(total, "bold"))


def show_wanted(console: Console, intent: str | None, lines: Sequence[str], compared: Sequence[Compared]) -> None:
    """Print what the customer wanted, and what of it was handed in."""
    console.print(Text(f"\nWhat the customer wanted{f' ({intent})' if intent else ''}:", "bold"))
    console.print(Text("\n".join(f"  {clean(line)}" for line in lines)))
    if not compared:
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("what", "wanted", "yours", ""):
        table.add_column(heading, overflow="fold")
    for each in compared:
        mark = Text("right", "green") if each.is_right else Text("differs", "red")
        table.add_row(*(Text(clean(text)) for text in (each.what, each.wanted, each.given)), mark)
    console.print(table)


def show_tools(console: Console, functions: Sequence[Mapping[str, Any]]) -> None:
    """Print what each tool is called, and what it does."""
    short = short_names(function["name"] for function in functions)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("type", "tool", "what it does"):
        table.add_column(heading, overflow="fold")
    for function in functions:
        texts = (f"/{short[function['name']]}", function["name"], str(function.get("description", "")))
        table.add_row(*(Text(clean(text)) for text in texts))
    console.print(table)


def show_tool(console: Console, function: Mapping[str, Any]) -> None:
    """Print what a tool does, and its arguments with types, choices, bounds and defaults."""
    console.print(Text(clean(f"{function['name']}: {function.get('description', '')}")))
    parameters = function.get("parameters", {})
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("argument", "needed", "value", "meaning"):
        table.add_column(heading, overflow="fold")
    for name, schema in parameters.get("properties", {}).items():
        needed = "yes" if name in parameters.get("required", ()) else ""
        texts = (name, needed, hint(schema), str(schema.get("description", "")))
        table.add_row(*(Text(clean(text)) for text in texts))
    if table.row_count:
        console.print(table)


def show_cart(console: Console, lines: Sequence[Mapping[str, Any]]) -> None:
    """Print the cart."""
    console.print(_table(lines) if lines else Text("The cart is empty."))


def in_cart(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return the cart in a few words: units and what they cost, where prices are known."""
    units = sum(line["quantity"] for line in lines)
    cost = sum(line["quantity"] * line["price"] for line in lines if isinstance(line.get("price"), (int, float)))
    currency = next((line["currency"] for line in lines if "currency" in line), "")
    return f"cart: {units} unit{'' if units == 1 else 's'}, {spelled(cost, currency)}" if units else "cart: empty"


def show_state(console: Console, state: EpisodeState) -> None:
    """Print a conversation so far."""
    for message in state.messages:
        is_result = message.role == "tool"
        say(console, _NAMES[message.role], shorten(message.content, LINE_LENGTH) if is_result else message.content)


def clean(text: str) -> str:
    """Return ``text`` with control characters, which could drive the terminal, replaced by blanks."""
    return "".join(char if char.isprintable() or char == "\n" else " " for char in text)


def _is_table(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _table(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table with the first columns that most rows have; the last one holds the rest of a row."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    common = [name for name in names if 2 * sum(name in row for row in rows) > len(rows)][:MOST_COLUMNS]
    others = [name for name in names if name not in common]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in common:
        table.add_column(Text(clean(name)), overflow="fold", no_wrap=name.endswith("_id"))
    if others:
        table.add_column("other fields", overflow="fold", style="dim")
    for row in rows:
        cells = [_cell(row.get(name)) for name in common]
        if others:
            cells.append(", ".join(f"{clean(name)}: {_cell(row[name])}" for name in others if name in row))
        table.add_row(*map(Text, cells))
    return table


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list):
        return shorten(", ".join(map(_cell, value)))
    if isinstance(value, dict):
        return shorten(", ".join(f"{name}: {_cell(item)}" for name, item in value.items()))
    return shorten(clean(str(value)).replace("\n", " "))


def shorten(text: str, most: int = CELL_WIDTH) -> str:
    """Return ``text`` cut to ``most`` characters."""
    return text if len(text) <= most else text[: most - 1] + "…"
