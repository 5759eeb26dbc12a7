"""``ecom-rlve play``, and the server that a person plays or watches on.

Annotations are not postponed here, because typer reads them. What a command needs is imported when it runs.
"""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from ecom_rlve.client import EcomEnv
from ecom_rlve.commands.errors import CommandFailedError

if TYPE_CHECKING:
    from rich.console import Console

    from ecom_rlve.evaluation.terminal.typed.lines import Lines
    from ecom_rlve.models import EnvironmentInfo

RETRY_FOR_S = 10
"""So long a person waits for a server that does not answer; trainers wait longer."""


def play(
    url: Annotated[str | None, typer.Option(help="A server; absent: one is started for the episode.")] = None,
    env: Annotated[str | None, typer.Option(help="Environment; absent: a menu asks, for the difficulty too.")] = None,
    difficulty: Annotated[int | None, typer.Option(min=0, max=20, help="Absent: the server chooses.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Absent: the server draws one.")] = None,
    token: Annotated[str | None, typer.Option(envvar="ECOM_RLVE_TOKEN", help="Bearer token of the server.")] = None,
) -> None:
    """Play the agent yourself; commands are read from the terminal or from a pipe."""
    from ecom_rlve.evaluation.terminal.play import Game
    from ecom_rlve.evaluation.terminal.screen import terminal

    console = terminal()
    lines = _lines(console)
    with opened(url, token, reveals_goal=True) as (base_url, client):
        game = Game(client, console, lines, _listed(base_url, token))
        game.play(env_id=env, difficulty=difficulty, seed=seed)


def _lines(console: "Console") -> "Lines":
    """Return a person's lines: typed in a terminal, or written to a pipe."""
    if sys.stdin.isatty():
        from ecom_rlve.evaluation.terminal.typed.keyboard import Keyboard

        return Keyboard()
    from ecom_rlve.evaluation.terminal.typed.lines import PipedLines

    return PipedLines(sys.stdin, console)


def _listed(url: str, token: str | None) -> "dict[str, EnvironmentInfo]":
    import httpx

    from ecom_rlve.evaluation.listing import listed_at

    try:
        return listed_at(url, {"Authorization": f"Bearer {token}"} if token else None)
    except httpx.HTTPError as error:
        raise CommandFailedError(f"{url} does not list its environments: {error}") from error


@contextmanager
def opened(
    url: str | None, token: str | None, *, discloses_acts: bool = False, reveals_goal: bool = False
) -> Iterator[tuple[str, EcomEnv]]:
    """Yield the address and a client of the server at ``url``, or of one started for as long as the block lasts.

    ``discloses_acts`` and ``reveals_goal`` say what that one tells: the customer's acts, the goal at the end.
    """
    from ecom_rlve.evaluation.local_server import LocalServerError, local_server

    options = ["--reveal-goal"] if reveals_goal else []
    with ExitStack() as stack:
        try:
            base_url = url or stack.enter_context(local_server(*options, discloses_acts=discloses_acts))
            client = EcomEnv(base_url, token=token, retry_for=RETRY_FOR_S)
        except (LocalServerError, ValueError) as error:
            raise CommandFailedError(str(error)) from error
        yield base_url, stack.enter_context(client)
