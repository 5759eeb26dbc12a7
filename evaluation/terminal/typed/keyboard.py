"""Lines typed in a terminal, with completion, a history, and a status line below."""

from __future__ import annotations

from collections.abc import Iterable

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import FormattedText

from ecom_rlve.evaluation.terminal.typed.asking import UNDO
from ecom_rlve.evaluation.terminal.typed.lines import InputEndedError, Question, Suggest


class _Suggested(Completer):
    def __init__(self, suggest: Suggest) -> None:
        self._suggest = suggest

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        del complete_event  # what is suggested does not depend on how it was asked for
        for each in self._suggest(document.text_before_cursor):
            yield Completion(each.word, start_position=-each.replaces, display_meta=each.note)


class Keyboard:
    """A person at a terminal. Ctrl-C takes back what is being typed, Ctrl-D ends the input."""

    def __init__(self) -> None:
        self._session: PromptSession[str] = PromptSession()

    def ask(self, question: Question) -> str:
        """Return the line that was typed."""
        try:
            return self._session.prompt(
                FormattedText([("bold", question.prompt)]),
                completer=_Suggested(question.suggest),
                complete_while_typing=True,
                bottom_toolbar=question.status or None,
            )
        except KeyboardInterrupt:
            return UNDO
        except EOFError:
            raise InputEndedError from None
