"""Playing the agent by hand in a terminal, or by a script through a pipe."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.text import Text

from ecom_rlve import reward_words
from ecom_rlve.client import EcomEnv, StepResult
from ecom_rlve.evaluation.terminal import goal_words, menu, screen
from ecom_rlve.evaluation.terminal.seen import Seen
from ecom_rlve.evaluation.terminal.typed.arguments import CommandError, Schema, check_values
from ecom_rlve.evaluation.terminal.typed.asking import Asking, UndoneError
from ecom_rlve.evaluation.terminal.typed.commands import HELP, Call, Command, Explain, Say, Submit, Word, parse
from ecom_rlve.evaluation.terminal.typed.lines import InputEndedError, Lines, Question, Suggestion
from ecom_rlve.evaluation.terminal.typed.suggesting import of_commands
from ecom_rlve.models import EnvironmentInfo, EpisodeResult

_EMPTY = "Nothing is filled in; submit it all the same?"


class Game:
    """One episode of a person: the calls collected for the open turn, what was seen, and the last result.

    ``infos`` are the environments of the server that ``env`` plays on.
    """

    def __init__(self, env: EcomEnv, console: Console, lines: Lines, infos: Mapping[str, EnvironmentInfo]) -> None:
        self._env = env
        self._console = console
        self._lines = lines
        self._infos = infos
        self._seen = Seen()
        self._asking = Asking(lines, self._note, self._seen.known)
        self._functions: dict[str, dict[str, Any]] = {}
        self._tools: dict[str, Schema] = {}
        self._calls: list[Call] = []
        self._answers: list[dict[str, Any]] = []
        self._max_turns = 0

    def play(self, **arguments: Any) -> EpisodeResult | None:
        """Play one episode, and return how it ended: None if the person leaves, or the server had to end it.

        ``arguments`` are those of a reset; a menu asks for the environment, and for the difficulty, where there is
        none.
        """
        try:
            chosen = arguments if arguments.get("env_id") else self._chosen(arguments)
            last = self._open(chosen)
            while not last.done:
                last = self._turn(last)
        except InputEndedError:
            self._note("You left before the end; nothing was scored.")
            return None
        self._show_end(last)
        return last.observation.result

    def _chosen(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        while True:
            try:
                chosen = menu.choose(self._asking, self._console, self._infos)
            except UndoneError:
                continue
            return {**chosen, **{name: value for name, value in arguments.items() if value is not None}}

    def _open(self, arguments: Mapping[str, Any]) -> StepResult:
        first = self._env.reset(**arguments, include=["tools", "brief"])
        seen, meta = first.observation, first.metadata
        self._functions = {schema["function"]["name"]: schema["function"] for schema in seen.tools or []}
        self._tools = {name: function.get("parameters", {}) for name, function in self._functions.items()}
        self._max_turns = seen.max_turns or 0
        self._note(f"{meta.env_id}, difficulty {meta.difficulty}, seed {meta.seed}. You are the shop's assistant.")
        if seen.instructions:
            self._note(seen.instructions, "dim")
        menu.told(self._infos[meta.env_id], self._note)
        self._note("? lists what can be typed, /tools the tools.\n")
        return self._shown(first)

    def _turn(self, last: StepResult) -> StepResult:
        """Read commands until one sends an action, and send it."""
        while True:
            line = self._lines.ask(Question("> ", self._suggest, self._status(last)))
            try:
                action = self._action(parse(line, self._tools), last)
            except CommandError as error:
                self._note(f"{error} (? lists what can be typed)", "red")
            except UndoneError:
                self._note("Taken back; nothing was sent.")
            else:
                if action is not None:
                    return self._sent(action)

    def _action(self, command: Command, last: StepResult) -> dict[str, Any] | None:
        """Return the action that a command sends; None if it sends nothing."""
        match command:
            case Say(text):
                return {"assistant_message": text}
            case Submit(fields, is_final):
                info = self._infos[last.metadata.env_id]
                return {"answer": {**self._answered(info, fields, is_final=is_final), "done": is_final}}
            case Call():
                self._collect(command, last.observation.tool_calls_left)
            case Explain(tool):
                screen.show_tool(self._console, self._functions[tool])
            case Word("send") if self._calls:
                return {}
            case Word(name):
                self._obey(name)
        return None

    def _obey(self, word: str) -> None:
        """Carry out a command that sends nothing to the server's episode."""
        match word:
            case "send":
                self._note("Nothing is collected; type words for the customer, a tool call, or ?")
            case "undo":
                taken = self._calls.pop() if self._calls else None
                self._note(f"Forgot {taken.name}." if taken else "Nothing is collected; /quit leaves.")
            case "clear":
                self._calls.clear()
            case "cart":
                screen.show_cart(self._console, self._seen.cart)
            case "tools":
                screen.show_tools(self._console, list(self._functions.values()))
            case "state":
                screen.show_state(self._console, self._env.state())
            case "help":
                self._note(HELP)
            case "quit":
                raise InputEndedError

    def _collect(self, call: Call, budget: int) -> None:
        if len(self._calls) >= budget:
            raise CommandError(f"a turn holds {budget} tool calls; an empty line sends those collected")
        if call.is_half:
            call = Call(call.name, self._asking.complete(call.name, call.args, self._tools[call.name]))
        self._calls.append(call)
        self._note(f"collected {len(self._calls)} of {budget} calls; an empty line sends them, words go with them")

    def _answered(self, info: EnvironmentInfo, given: dict[str, Any] | None, *, is_final: bool) -> dict[str, Any]:
        """Return an answer's fields: those given, else those that are asked for."""
        forms = {form["properties"].get("intent", {}).get("enum", [""])[0]: form for form in menu.forms_of(info)}
        intent = next(iter(forms))
        fields = dict(given or {})
        if intent:
            intent = str(fields.get("intent", "")) or self._asking.choice("intent", dict.fromkeys(forms, ""), intent)
            if intent not in forms:
                raise CommandError(f"intent must be one of {', '.join(forms)}")
            fields["intent"] = intent
        check_values(fields, forms[intent])
        left = {name: each for name, each in forms[intent]["properties"].items() if name not in ("done", "intent")}
        if given is None and left:
            asked = {name: self._asking.value(name, each, is_optional=True) for name, each in left.items()}
            fields |= {name: value for name, value in asked.items() if value is not None}
            if is_final and not set(fields) & set(left) and not self._asking.value(_EMPTY, {"type": "boolean"}):
                raise UndoneError
        return fields

    def _sent(self, action: dict[str, Any]) -> StepResult:
        if self._calls:
            action["tool_calls"] = [{"name": call.name, "args": call.args} for call in self._calls]
            self._calls = []
        if action.get("answer", {}).get("done"):
            self._answers.append(action["answer"])
        screen.show_action(self._console, action)
        return self._shown(self._env.step(action))

    def _shown(self, result: StepResult) -> StepResult:
        seen = result.observation
        for each in seen.tool_results:
            self._seen.take(each)
        screen.show_tool_results(self._console, seen.tool_results)
        screen.show_customer(self._console, seen.user_message)
        if not result.done:
            self._note(self._status(result), "dim")
        return result

    def _show_end(self, last: StepResult) -> None:
        result = last.observation.result
        if result is None:
            self._note(
                f"The server had to end the episode; it counts for nothing. {last.observation.infra_error}", "red"
            )
            return
        never_shown = sorted({each for answer in self._answers or [{}] for each in self._seen.never_shown(answer)})
        screen.show_reward(
            self._console,
            reward_words.ending(result),
            reward_words.parts(result, self._max_turns, never_shown),
            reward_words.total(result),
        )
        if result.tool_errors:
            self._note(f"Tools refused: {', '.join(f'{code} × {n}' for code, n in result.tool_errors.items())}")
        if result.goal is None:
            self._note("This server does not reveal what the customer wanted.")
            return
        for intent, goal in goal_words.errands(result.goal):
            answer = next((each for each in self._answers if intent in (None, each.get("intent"))), {})
            found = goal_words.compared(goal, answer, self._seen.cart, self._seen.named)
            screen.show_wanted(
                self._console, intent, goal_words.wanted(goal, self._seen.named, self._seen.currency), found
            )

    def _status(self, last: StepResult) -> str:
        """Return the line that stands in view: budget and cart."""
        seen = last.observation
        calls = f"calls {len(self._calls)} of {seen.tool_calls_left}"
        has_cart = any(name.startswith("cart_") for name in self._tools)
        return f"turns left: {seen.turns_left}, {calls}" + (f", {screen.in_cart(self._seen.cart)}" if has_cart else "")

    def _suggest(self, text: str) -> list[Suggestion]:
        return of_commands(text, self._tools, self._seen.all_ids())

    def _note(self, text: str, style: str = "") -> None:
        self._console.print(Text(screen.clean(text), style))
