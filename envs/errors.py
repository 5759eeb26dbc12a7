"""Errors of the environment layer.

EnvsError
├── UnknownEnvironmentError  no environment or collection has this name
├── DifficultyError          the catalog cannot serve this difficulty
├── AxesError                an override names no axis, or is out of range
├── GenerationError          no goal could be drawn within the redraw limit
├── ActionError              the client (not the model) sent an action this episode cannot take
└── EpisodeDoneError         the episode has ended
BankError                    a file of frames is wrong: the server does not start
FormatFailureError           the model's output is no action: ends the episode, never an exception a client sees
EnvironmentFaultError        an environment breaks the contract that all environments keep (``envs/contract/check.py``)
DomainError                  the store refuses a call: an ordinary tool result, never an exception that a client sees
TraceMismatchError           replaying a recorded episode gave something else
"""

from __future__ import annotations

from collections.abc import Sequence

from ecom_rlve.models import DomainCode, FormatFault


class EnvsError(Exception):
    """An episode cannot be made or cannot take this request; the message says what to do."""


class UnknownEnvironmentError(EnvsError):
    """No environment or collection has the given name."""


class DifficultyError(EnvsError):
    """The loaded catalog cannot serve the difficulty asked for."""


class AxesError(EnvsError):
    """An axis override names no axis or is out of range."""


class GenerationError(EnvsError):
    """No goal could be drawn for this seed within the redraw limit."""


class ActionError(EnvsError):
    """The action is a client's mistake: it costs nothing and changes nothing."""


class EpisodeDoneError(EnvsError):
    """A step was asked of an episode that has ended."""


class FormatFailureError(Exception):
    """The model's output cannot be read as an action; the message says why."""

    def __init__(self, message: str, fault: FormatFault = FormatFault.SYNTAX) -> None:
        super().__init__(message)
        self.fault = fault


class EnvironmentFaultError(AssertionError):
    """An environment breaks the contract; the message says which clause, and where."""


class BankError(Exception):
    """A file of frames is wrong; the message names every line that is."""

    def __init__(self, file: str, faults: Sequence[str]) -> None:
        """Say what is wrong in which file."""
        super().__init__(f"{file}: " + "; ".join(faults))
        self.faults = tuple(faults)


class DomainError(Exception):
    """The store refuses one tool call; becomes that call's result."""

    def __init__(self, code: DomainCode, message: str) -> None:
        super().__init__(message)
        self.code = code


class TraceMismatchError(Exception):
    """A recorded episode, played again, is not what it was: another catalog, another version, or a fault."""

    def __init__(self, step: int, difference: str) -> None:
        super().__init__(f"step {step}: {difference}")
        self.step = step
        """The first step that differs; 0 is the opening."""
