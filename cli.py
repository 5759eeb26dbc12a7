"""The command line: ``ecom-rlve serve | demo | play | eval | report | replay | export | board | catalog | …``.

Only the standard library, the client and other light modules are imported at the top. What a command needs beyond them
comes with the extra ``[server]`` and is imported when the command runs. So a missing extra gives one clear line and no
traceback.
Annotations are not postponed here (no ``from __future__ import annotations``), because typer reads them in this scope.
"""

import asyncio
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

from ecom_rlve.catalog.errors import CatalogError
from ecom_rlve.client import EcomEnvError
from ecom_rlve.commands.errors import CommandFailedError
from ecom_rlve.evaluation.judging.errors import JudgingError

if TYPE_CHECKING:
    import typer

    from ecom_rlve.catalog.sources import SourceReport
    from ecom_rlve.envs.customer.model.cassette import Cassette
    from ecom_rlve.envs.world.shop import Shop
    from ecom_rlve.evaluation.oracle import Oracle
    from ecom_rlve.server.settings import Settings

PROGRAM = "ecom-rlve"


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with 0, with 1 if the command failed, or with 2 if it cannot be run at all."""
    try:
        build_app()(args=arguments, prog_name=PROGRAM)
        sys.exit(0)
    except ModuleNotFoundError as error:
        missing = (error.name or "ecom_rlve").partition(".")[0]
        if missing == "ecom_rlve":
            raise
        print(f"{PROGRAM}: {missing} is not installed; run: pip install 'ecom-rlve[server]'", file=sys.stderr)
        sys.exit(2)
    except (EcomEnvError, CatalogError, CommandFailedError, JudgingError) as error:
        print(f"{PROGRAM}: {error}", file=sys.stderr)
        sys.exit(1)


def build_app() -> "typer.Typer":
    """Return the commands; raises ModuleNotFoundError if typer is missing."""
    import typer

    from ecom_rlve.commands.catalog import catalog_app
    from ecom_rlve.commands.journal import journal_app
    from ecom_rlve.commands.judging import add_judging
    from ecom_rlve.commands.playing import play

    app = typer.Typer(
        help="Verifiable shopping-assistant environments: serve them, watch an episode, play one, judge agents.",
        add_completion=False,
        no_args_is_help=True,
        pretty_exceptions_enable=False,
    )
    _add_serve(app)
    _add_demo(app)
    app.command()(play)
    add_judging(app)
    app.add_typer(catalog_app(), name="catalog")
    app.add_typer(journal_app(), name="journal")
    _add_simulator(app)
    return app


def _add_serve(app: "typer.Typer") -> None:
    import typer

    @app.command()
    def serve(
        catalog: Annotated[
            str | None,
            typer.Option(help="Built catalog folder, or source of products: synthetic[:SIZE[:SEED]], a file."),
        ] = None,
        host: Annotated[
            str | None, typer.Option(help="Address; absent: this machine alone, or all with a token.")
        ] = None,
        port: Annotated[int | None, typer.Option(min=0, max=65535, help="TCP port; 0: any free one.")] = None,
        cache_dir: Annotated[Path | None, typer.Option(help="Folder that keeps the search index.")] = None,
        workers: Annotated[int | None, typer.Option(min=1, max=64, help="Processes that serve, on one store.")] = None,
        max_sessions: Annotated[int | None, typer.Option(min=1, help="Places: sockets and live HTTP episodes.")] = None,
        log_level: Annotated[Literal["debug", "info", "warning", "error"] | None, typer.Option()] = None,
        reveal_goal: Annotated[bool | None, typer.Option(help="Show the goal in the result of an episode.")] = None,
        bank: Annotated[
            list[Path] | None, typer.Option(help="File of further frames for what customers say; may be repeated.")
        ] = None,
        simulator: Annotated[Literal["template", "model"] | None, typer.Option(help="Who words the customer.")] = None,
        model_url: Annotated[str | None, typer.Option(help="An OpenAI-compatible server: http://HOST:PORT/v1.")] = None,
        model_name: Annotated[str | None, typer.Option(help="Name of the model on that server.")] = None,
        fallback: Annotated[
            Literal["template", "none"] | None,
            typer.Option(help="Without the model: say the template (also at the start), or end the episode."),
        ] = None,
        cassette: Annotated[Path | None, typer.Option(help="File of recorded wordings.")] = None,
        cassette_mode: Annotated[Literal["off", "record", "replay", "replay-or-fail"] | None, typer.Option()] = None,
        understanding: Annotated[
            bool | None, typer.Option(help="Let the model say what a question asks about, if the rules cannot.")
        ] = None,
    ) -> None:
        """Serve the environments. What is not given comes from the variables ECOM_RLVE_*, then the defaults."""
        given = {
            "bank": tuple(bank) if bank else None,
            "simulator": simulator,
            "model_url": model_url,
            "model_name": model_name,
            "fallback": fallback,
            "cassette": cassette,
            "cassette_mode": cassette_mode,
            "understanding": understanding,
            "catalog": catalog,
            "host": host,
            "port": port,
            "cache_dir": cache_dir,
            "workers": workers,
            "max_sessions": max_sessions,
            "log_level": log_level,
            "reveal_goal": reveal_goal,
        }
        _serve({name: value for name, value in given.items() if value is not None})


def _add_demo(app: "typer.Typer") -> None:
    import typer

    @app.command()
    def demo(
        url: Annotated[
            str | None, typer.Option(help="A server that discloses acts; absent: one is started for the episode.")
        ] = None,
        env: Annotated[str, typer.Option(help="Environment.")] = "CART",
        difficulty: Annotated[int, typer.Option(min=0, max=20)] = 2,
        seed: Annotated[int, typer.Option(min=0)] = 10,
        token: Annotated[str | None, typer.Option(envvar="ECOM_RLVE_TOKEN", help="Bearer token of the server.")] = None,
    ) -> None:
        """Watch the built-in expert play one episode, or the oracle where the environment has no expert."""
        from ecom_rlve.commands.playing import opened
        from ecom_rlve.evaluation.expert.heard import ActsNotDisclosedError
        from ecom_rlve.evaluation.terminal.demo import demo as play_demo
        from ecom_rlve.evaluation.terminal.screen import terminal

        with opened(url, token, discloses_acts=True) as (_, client):
            try:
                play_demo(client, terminal(), _oracle, env_id=env, difficulty=difficulty, seed=seed)
            except ActsNotDisclosedError as error:
                raise CommandFailedError(str(error)) from error


def _oracle(fingerprint: str) -> "Oracle":
    """Return the oracle of a server whose catalog has this fingerprint: the one that a server started here would have.

    Raises :class:`CommandFailedError` where it has another.
    """
    from ecom_rlve.envs.world.shop import Shop
    from ecom_rlve.evaluation.oracle import Oracle
    from ecom_rlve.server.settings import Settings

    settings = Settings()
    shop = Shop.open(settings.catalog, settings.cache_dir)
    if shop.catalog.fingerprint != fingerprint:
        raise CommandFailedError(
            "this environment has no expert, and the oracle needs the server's catalog, which is not "
            f"{settings.catalog}: name it in ECOM_RLVE_CATALOG"
        )
    return Oracle(shop)


def _add_simulator(app: "typer.Typer") -> None:
    import typer

    simulator = typer.Typer(help="The customer's words: measure them, move recordings.", no_args_is_help=True)
    app.add_typer(simulator, name="simulator")
    cassette = typer.Typer(help="Recorded wordings as JSON lines.", no_args_is_help=True)
    simulator.add_typer(cassette, name="cassette")

    @simulator.command()
    def grow_bank(
        output: Annotated[Path, typer.Argument(help="File to write, for `serve --bank`.")],
        model_url: Annotated[str, typer.Option(help="An OpenAI-compatible server.")],
        model_name: Annotated[str, typer.Option(help="Name of the model on that server.")],
        table: Annotated[
            list[str] | None, typer.Option(help="Table of the bank; may be repeated. Absent: all of them.")
        ] = None,
        count: Annotated[int, typer.Option(min=1, max=1000, help="Frames that are asked for, in each table.")] = 20,
        seed: Annotated[int, typer.Option(min=0, help="The same seed asks the same.")] = 0,
        catalog: Annotated[str | None, typer.Option(help="Source of products, whose values no frame may say.")] = None,
    ) -> None:
        """Let a model propose further sentences for customers; each is checked and verified before it is kept."""
        given = {"model_url": model_url, "model_name": model_name, "simulator": "model", "catalog": catalog}
        _grow_bank({key: value for key, value in given.items() if value is not None}, output, table, count, seed)

    @simulator.command()
    def audit(
        episodes: Annotated[int, typer.Option(min=1, help="Episodes, spread over environments.")] = 80,
        catalog: Annotated[str | None, typer.Option(help="Source of products, as for `serve`.")] = None,
        model_url: Annotated[str | None, typer.Option(help="An OpenAI-compatible server; absent: none.")] = None,
        model_name: Annotated[str | None, typer.Option(help="Name of the model on that server.")] = None,
        samples: Annotated[bool, typer.Option(help="Show ten dialogues of each environment first.")] = True,
    ) -> None:
        """Print what the words of the templates, and of a model beside them, are like."""
        given = {"catalog": catalog, "model_url": model_url, "model_name": model_name}
        given |= {} if model_url is None else {"simulator": "model"}
        _audit({name: value for name, value in given.items() if value is not None}, episodes, samples=samples)

    @cassette.command("export")
    def export(source: Annotated[Path, typer.Argument()], target: Annotated[Path, typer.Argument()]) -> None:
        """Write a cassette's recordings as JSON lines."""
        with _cassette(source, "replay") as opened, target.open("w", encoding="utf-8") as lines:
            lines.writelines(opened.dump())

    @cassette.command("import")
    def import_(source: Annotated[Path, typer.Argument()], target: Annotated[Path, typer.Argument()]) -> None:
        """Add the recordings of a file of JSON lines to a cassette, which is made where there is none."""
        with _cassette(target, "record") as opened, source.open(encoding="utf-8") as lines:
            print(f"{opened.load(lines)} new recordings")


@contextmanager
def _cassette(path: Path, mode: str) -> "Iterator[Cassette]":
    """Yield a cassette; an error in it, or in a file beside it, becomes one line."""
    from ecom_rlve.envs.customer.model.cassette import Cassette, CassetteMode
    from ecom_rlve.envs.customer.model.errors import CassetteError

    try:
        with closing(Cassette(path, CassetteMode(mode))) as opened:
            yield opened
    except (CassetteError, OSError, UnicodeDecodeError) as error:
        raise CommandFailedError(str(error)) from error


def _audit(given: dict[str, Any], episodes: int, *, samples: bool) -> None:
    from ecom_rlve.envs.customer.model.endpoint import Endpoint
    from ecom_rlve.envs.customer.voice import TemplateOnly, Voice
    from ecom_rlve.envs.registry import environments
    from ecom_rlve.evaluation.agents import suites
    from ecom_rlve.evaluation.customer import audit as auditing
    from ecom_rlve.server.voices import endpoint_settings, model_voice, opened_cassette

    settings = _settings(given)
    shop = _open_shop(settings)
    most = max(auditing.DIFFICULTIES)
    played = [(env_id, each) for env_id, each in environments().items() if env_id in suites()]
    served = [env_id for env_id, each in played if each.max_difficulty(shop) >= most]
    specs = auditing.specs_of(served, episodes)

    voices: dict[str, Voice] = {"template": TemplateOnly()}
    if settings.simulator == "model" and settings.model_name is not None:
        endpoint = Endpoint(endpoint_settings(settings))
        voices[settings.model_name] = model_voice(settings, endpoint, opened_cassette(settings))
    found = asyncio.run(auditing.compare(voices, shop, specs, settings.model_concurrency))
    if samples:
        print(auditing.samples(found), end="\n\n")
    print(auditing.table(found))


def _grow_bank(given: dict[str, Any], output: Path, tables: list[str] | None, count: int, seed: int) -> None:
    from ecom_rlve.envs.customer.model.endpoint import Endpoint
    from ecom_rlve.envs.customer.model.errors import EndpointError
    from ecom_rlve.envs.registry import known_tables
    from ecom_rlve.evaluation.customer.growing import grow
    from ecom_rlve.server.voices import endpoint_settings

    settings = _settings(given)
    known = known_tables()
    unknown = sorted(set(tables or ()) - set(known))
    if unknown:
        raise CommandFailedError(f"no table {unknown[0]!r}; there are {', '.join(sorted(known))}")
    if output.exists():
        raise CommandFailedError(f"{output} exists already; name another file")
    shop = _open_shop(settings)
    try:
        grown = asyncio.run(
            grow(Endpoint(endpoint_settings(settings)), tables or sorted(known), count, seed, shop.stated_words)
        )
    except EndpointError as error:
        raise CommandFailedError(str(error)) from error
    output.write_text(grown.toml(), encoding="utf-8")
    print(f"{sum(map(len, grown.frames.values()))} frames written to {output}")
    for why, number in grown.refused.most_common():
        print(f"{number} refused: {why}")


def _serve(given: dict[str, Any]) -> None:
    from ecom_rlve.envs.customer.model.errors import VoiceError
    from ecom_rlve.envs.errors import BankError
    from ecom_rlve.server.admission.errors import TokensError
    from ecom_rlve.server.app import serve, work
    from ecom_rlve.server.store.errors import StoreError
    from ecom_rlve.server.workers.serving import serve_as_asked
    from ecom_rlve.server.workers.supervisor import WorkerFailedError

    settings = _settings(given)
    try:
        serve_as_asked(settings, serve, work, lambda report: _tell(settings.catalog, report))
    except (BankError, StoreError, TokensError, VoiceError, WorkerFailedError) as error:
        raise CommandFailedError(str(error)) from error


def _settings(given: dict[str, Any]) -> "Settings":
    """Return the settings of a server; if its customers need a model, the model has answered."""
    from pydantic import ValidationError

    from ecom_rlve.envs.customer.model.errors import VoiceError
    from ecom_rlve.server.settings import Settings
    from ecom_rlve.server.voices import require_model

    try:
        settings = Settings(**given)
        asyncio.run(require_model(settings))
    except ValidationError as error:
        said = (": ".join([*map(str, each["loc"]), each["msg"]]) for each in error.errors())
        raise CommandFailedError("; ".join(said)) from error
    except VoiceError as error:
        raise CommandFailedError(str(error)) from error
    return settings


def _open_shop(settings: "Settings") -> "Shop":
    """Open a server's shop and print how many of its rows were kept, and how many dropped for which reason."""
    from ecom_rlve.envs.errors import BankError
    from ecom_rlve.server.app import opened_shop

    try:
        shop = opened_shop(settings)
    except BankError as error:
        raise CommandFailedError(str(error)) from error
    if shop.report:
        _tell(settings.catalog, shop.report)
    return shop


def _tell(source: str, report: "SourceReport") -> None:
    for line in report.describe():
        print(f"{source}: {line}", flush=True)


if __name__ == "__main__":
    main()
