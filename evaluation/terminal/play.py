"""Playing the agent by hand in a terminal, or by a script through a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from ecom_rlve.client import EcomEnv, StepResult
from ecom_rlve.client.text import signature
from ecom_rlve.evaluation.terminal.commands import HELP, Answer, Call, Command, CommandError, Say, Word, parse
from ecom_rlve.evaluation.terminal.screen import (
    clean,
    show_action,
    show_customer,
    show_result,
    show_state,
    show_tool_results,
)
from ecom_rlve.models import EpisodeResult


class Game:
    """One episode at a terminal: the calls collected for the open turn, and the last result."""

    def __init__(self, env: EcomEnv, console: Console) -> None:
        self._env = env
        self._console = console
        self._schemas: list[dict[str, Any]] = []
        self._tools: dict[str, Mapping[str, Any]] = {}
        self._calls: list[Call] = []
        self._last: StepResult | None = None

    def play(self, lines: Iterable[str], **arguments: Any) -> EpisodeResult | None:
        """Play one episode with the commands in ``lines``; return None if they end before the episode."""
        self._open(arguments)
        for line in lines:
            try:
                is_on = self._obey(parse(line, self._tools))
            except CommandError as error:
                self._note(f"{error} (/help lists what can be typed)", "red")
                continue
            if not is_on:
                break
        result = self._last.observation.result if self._last else None
        if result is None:
            self._note("You left before the end; nothing was scored.")
        else:
            show_result(self._console, result)
        return result

    def _open(self, arguments: Mapping[str, Any]) -> None:
        first = self._env.reset(**arguments)
        seen, meta = first.observation, first.metadata
        self._schemas = seen.tools or []
        self._tools = {schema["function"]["name"]: schema["function"].get("parameters", {}) for schema in self._schemas}
        self._note(f"{meta.env_id}, difficulty {meta.difficulty}, seed {meta.seed}. You are the shop's assistant.")
        if seen.instructions:
            self._note(seen.instructions, "dim")
        self._note("/help lists what can be typed, /tools the tools.\n")
        self._show(first)

    def _obey(self, command: Command) -> bool:
        """Carry out one command; return False if the game is over."""
        match command:
            case Say(text):
                return self._send({"assistant_message": text})
            case Answer(fields):
                return self._send({"answer": fields})
            case Word("send") if self._calls:
                return self._send({})
            case Word(name):
                self._look(name)
                return name != "quit"
            case Call():
                self._collect(command)
        return True

    def _look(self, word: str) -> None:
        """Carry out a command that sends nothing to the server's episode."""
        match word:
            case "send":
                self._note("Nothing is collected; type words for the customer, a tool call, or /help.")
            case "clear":
                self._calls.clear()
            case "tools":
                self._note("\n".join(signature(schema) for schema in self._schemas))
            case "state":
                show_state(self._console, self._env.state())
            case "help":
                self._note(HELP)

    def _collect(self, call: Call) -> None:
        budget = self._last.observation.tool_calls_left if self._last else 0
        if len(self._calls) >= budget:
            raise CommandError(f"a turn holds {budget} tool calls; an empty line sends those collected")
        self._calls.append(call)
        self._note(f"collected {len(self._calls)} of {budget} calls; an empty line sends them, words go with them")

    def _send(self, action: dict[str, Any]) -> bool:
        if self._calls:
            action["tool_calls"] = [{"name": call.name, "args": call.args} for call in self._calls]
            self._calls = []
        show_action(self._console, action)
        self._show(self._env.step(action))
        return self._last is not None and not self._last.done

    def _show(self, result: StepResult) -> None:
        self._last = result
        seen = result.observation
        show_tool_results(self._console, seen.tool_results)
        show_customer(self._console, seen.user_message)
        if not result.done:
            self._note(f"turns left: {seen.turns_left}, tool calls per turn: {seen.tool_calls_left}", "dim")

    def _note(self, text: str, style: str = "") -> None:
        self._console.print(Text(clean(text), style))


def typed_lines(console: Console) -> Iterator[str]:
    """Yield the lines of standard input, with a prompt if a person types them."""
    if not sys.stdin.isatty():
        yield from sys.stdin
        return
    while True:
        try:
            yield console.input("> ")
        except (EOFError, KeyboardInterrupt):
            return
