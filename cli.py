"""The command line: ``ecom-rlve serve | demo | play | catalog``.

Only the standard library, the client and what is as light are imported at the top. What a command needs beyond them
comes with the extra ``[server]`` and is imported when the command runs, so that a missing extra is one clear line, no
traceback.
Annotations are evaluated at once here, because typer reads them while its name is still in scope.
"""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NoReturn

from ecom_rlve.catalog.errors import CatalogError
from ecom_rlve.client import EcomEnv, EcomEnvError

if TYPE_CHECKING:
    import typer

    from ecom_rlve.envs.shop import Shop

PROGRAM = "ecom-rlve"
RETRY_FOR_S = 10
"""A person waits this long for a server that does not answer; trainers wait longer."""
TOKEN_VARIABLE = "ECOM_RLVE_TOKEN"


class CommandFailedError(Exception):
    """A command could not do its work; the message is for the person who typed it."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit: with 0, with 1 where the command failed, with 2 where it cannot be run at all."""
    try:
        build_app()(args=arguments, prog_name=PROGRAM)
        sys.exit(0)
    except ModuleNotFoundError as error:
        missing = (error.name or "ecom_rlve").partition(".")[0]
        if missing == "ecom_rlve":
            raise
        print(f"{PROGRAM}: {missing} is not installed; run: pip install 'ecom-rlve[server]'", file=sys.stderr)
        sys.exit(2)
    except (EcomEnvError, CatalogError, CommandFailedError) as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        sys.exit(1)


def build_app() -> "typer.Typer":
    """Return the commands; raises ModuleNotFoundError where typer is missing."""
    import typer

    from ecom_rlve.commands.catalog import catalog_app

    app = typer.Typer(
        help="Verifiable shopping-assistant environments: serve them, watch an episode, play one.",
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    _add_serve(app)
    _add_demo(app)
    _add_play(app)
    app.add_typer(catalog_app(), name="catalog")
    return app


def _add_serve(app: "typer.Typer") -> None:
    import typer

    @app.command()
    def serve(
        catalog: Annotated[
            str | None,
            typer.Option(help="Built catalog folder, or source of products: synthetic[:SIZE[:SEED]], a file."),
        ] = None,
        host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
        port: Annotated[int | None, typer.Option(min=0, max=65535, help="TCP port; 0: any free one.")] = None,
        cache_dir: Annotated[Path | None, typer.Option(help="Folder of built catalogs and indexes.")] = None,
        max_sessions: Annotated[int | None, typer.Option(min=1, help="Live episodes at most.")] = None,
        log_level: Annotated[Literal["debug", "info", "warning", "error"] | None, typer.Option()] = None,
        reveal_goal: Annotated[bool | None, typer.Option(help="Show the goal in the result of an episode.")] = None,
    ) -> None:
        """Serve the environments. What is not given comes from the variables ECOM_RLVE_*, then the defaults."""
        given = {
            "catalog": catalog,
            "host": host,
            "port": port,
            "cache_dir": cache_dir,
            "max_sessions": max_sessions,
            "log_level": log_level,
            "reveal_goal": reveal_goal,
        }
        _serve({name: value for name, value in given.items() if value is not None})


def _add_demo(app: "typer.Typer") -> None:
    import typer

    @app.command()
    def demo(
        url: Annotated[str | None, typer.Option(help="A server; absent: one is started for the episode.")] = None,
        env: Annotated[str, typer.Option(help="Environment.")] = "CART",
        difficulty: Annotated[int, typer.Option(min=0, max=20)] = 2,
        seed: Annotated[int, typer.Option(min=0)] = 10,
        token: Annotated[str | None, typer.Option(envvar=TOKEN_VARIABLE, help="Bearer token of the server.")] = None,
    ) -> None:
        """Watch the built-in expert agent play one episode."""
        from ecom_rlve.evaluation.demo import demo as play_demo
        from ecom_rlve.evaluation.screen import terminal

        with _opened(url, token) as client:
            play_demo(client, terminal(), env_id=env, difficulty=difficulty, seed=seed)


def _add_play(app: "typer.Typer") -> None:
    import typer

    @app.command()
    def play(
        url: Annotated[str | None, typer.Option(help="A server; absent: one is started for the episode.")] = None,
        env: Annotated[str, typer.Option(help="Environment.")] = "CART",
        difficulty: Annotated[int | None, typer.Option(min=0, max=20, help="Absent: the server chooses.")] = None,
        seed: Annotated[int | None, typer.Option(min=0, help="Absent: the server draws one.")] = None,
        token: Annotated[str | None, typer.Option(envvar=TOKEN_VARIABLE, help="Bearer token of the server.")] = None,
    ) -> None:
        """Play the agent yourself; commands are read from the terminal or from a pipe."""
        from ecom_rlve.evaluation.play import Game, typed_lines
        from ecom_rlve.evaluation.screen import terminal

        console = terminal()
        with _opened(url, token) as client:
            Game(client, console).play(typed_lines(console), env_id=env, difficulty=difficulty, seed=seed)


def _serve(given: dict[str, object]) -> None:
    from ecom_rlve.server.app import serve
    from ecom_rlve.server.settings import Settings

    settings = Settings().model_copy(update=given)
    shop = _open_shop(settings.catalog, settings.cache_dir)
    serve(settings, shop=shop)


def _open_shop(source: str, cache_dir: Path | None) -> "Shop":
    """Open a source of products and print how many of its rows were kept, and how many dropped for which reason."""
    from ecom_rlve.envs.shop import Shop

    shop = Shop.open(source, cache_dir)
    for line in shop.report.describe() if shop.report else ():
        print(f"{source}: {line}", flush=True)
    return shop


@contextmanager
def _opened(url: str | None, token: str | None) -> Iterator[EcomEnv]:
    """Yield a client of the server at ``url``, or of one started for as long as the block lasts."""
    from ecom_rlve.evaluation.local_server import LocalServerError, local_server

    with ExitStack() as stack:
        try:
            base_url = url or stack.enter_context(local_server())
            client = EcomEnv(base_url, token=token, retry_for=RETRY_FOR_S)
        except (LocalServerError, ValueError) as error:
            raise CommandFailedError(str(error)) from error
        yield stack.enter_context(client)


if __name__ == "__main__":
    main()
