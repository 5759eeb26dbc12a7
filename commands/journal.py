"""``ecom-rlve journal export``.

Annotations are not postponed here, because typer reads them. What a command needs is imported when it runs.
"""

import os
from pathlib import Path
from typing import Annotated

import typer

from ecom_rlve.commands.errors import CommandFailedError


def journal_app() -> typer.Typer:
    """Return the commands."""
    app = typer.Typer(help="What a server has written down of its episodes.", no_args_is_help=True)
    app.command()(export)
    # With one command alone typer would drop its name.
    app.callback()(lambda: None)
    return app


def export(
    out: Annotated[Path, typer.Option(help="Parquet file to write.")],
    store: Annotated[Path | None, typer.Option(help="The server's store; absent: that of ECOM_RLVE_STORE.")] = None,
    catalog: Annotated[str | None, typer.Option(help="Its catalog; absent: that of ECOM_RLVE_CATALOG.")] = None,
) -> None:
    """Write the ended episodes with their traces as Parquet; the server may run meanwhile. Needs the extra [data]."""
    from ecom_rlve.commands.progress import stage_bars
    from ecom_rlve.server.app import opened_shop
    from ecom_rlve.server.journal.exporting import export as exported
    from ecom_rlve.server.settings import Settings
    from ecom_rlve.server.store.errors import StoreError, StoreUnavailableError

    settings = Settings()
    if catalog is not None:
        settings = settings.model_copy(update={"catalog": catalog})
    path = store or settings.store_path
    if path is None:
        raise CommandFailedError(f"ECOM_RLVE_STORE is {os.environ.get('ECOM_RLVE_STORE')}: name a file by --store")
    try:
        with stage_bars() as progress:
            left_out = exported(path, out, opened_shop(settings), lambda done: progress("exported", done, done))
    except (StoreError, StoreUnavailableError, OSError) as error:
        raise CommandFailedError(str(error)) from error
    print(f"written to {out}")
    for why, times in left_out.most_common():
        print(f"{times} left out: {why}")
