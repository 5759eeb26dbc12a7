"""``ecom-rlve eval | report | replay | export | board``.

Annotations are not postponed here, because typer reads them. What a command needs is imported when it runs.
"""

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

INTERRUPTED = 130
"""Exit status after Ctrl-C."""
INCOMPLETE = 1
"""Exit status of a run that has episodes left."""
UNREADABLE = 2
"""Exit status of a replay whose trace cannot be read, or not be played here."""


def add_judging(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("eval")(evaluate)
    app.command()(report)
    app.command()(replay)
    app.command()(export)
    board = typer.Typer(help="The board of agents over a frozen suite.", no_args_is_help=True)
    board.command("verify")(verify)
    app.add_typer(board, name="board")


def evaluate(
    agent: Annotated[str, typer.Option(help="expert, oracle, another built-in, openai:MODEL, python:module:factory.")],
    out: Annotated[Path, typer.Option(help="Folder of results; one that holds part of the same run goes on.")],
    env: Annotated[str, typer.Option(help="Environments separated by commas, or all.")] = "all",
    difficulty: Annotated[str, typer.Option(help="0-12, or 0,3,6.")] = "0-12",
    episodes: Annotated[
        int, typer.Option(min=1, max=100_000, help="Episodes of each environment at each difficulty.")
    ] = 10,
    trials: Annotated[int, typer.Option(min=1, max=1000, help="How often each episode is played.")] = 1,
    concurrency: Annotated[int, typer.Option(min=1, max=1024, help="Episodes at the same time.")] = 8,
    suite: Annotated[str | None, typer.Option(help="small or standard: a frozen suite, instead of the four.")] = None,
    split: Annotated[Literal["train", "eval", "test"], typer.Option()] = "eval",
    seed: Annotated[int, typer.Option(min=0, help="The same seed plays the same episodes.")] = 0,
    style: Annotated[Literal["turn", "tool"] | None, typer.Option(help="Absent: tool for native calls.")] = None,
    calls: Annotated[Literal["native", "text"], typer.Option(help="How a chat model acts.")] = "native",
    format: Annotated[Literal["strict", "lenient"], typer.Option(help="How raw text is read.")] = "strict",
    url: Annotated[str | None, typer.Option(help="A server; absent: one is started for the run.")] = None,
    token: Annotated[str | None, typer.Option(envvar="ECOM_RLVE_TOKEN", help="Bearer token of the server.")] = None,
    catalog: Annotated[str, typer.Option(help="Source of products of the server that is started.")] = "synthetic",
    model_url: Annotated[str | None, typer.Option(help="API of the model, with /v1. Absent: OPENAI_BASE_URL.")] = None,
    model_key: Annotated[str | None, typer.Option(envvar="OPENAI_API_KEY", help="Key of that API.")] = None,
    request: Annotated[str, typer.Option(help="JSON object added to each request: temperature, max_tokens …")] = "{}",
    patience: Annotated[float, typer.Option(min=0.1, help="Seconds that the agent has for one action.")] = 120.0,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Tokens that the whole run may use.")] = None,
    max_cost: Annotated[float | None, typer.Option(min=0, help="What it may cost; needs the prices.")] = None,
    price_in: Annotated[float, typer.Option(min=0, help="Price of a million tokens read.")] = 0.0,
    price_out: Annotated[float, typer.Option(min=0, help="Price of a million tokens written.")] = 0.0,
) -> None:
    """Play an agent over environments, difficulties and seeds. Run again after an interruption, it goes on."""
    from ecom_rlve.commands import evaluating
    from ecom_rlve.evaluation.judging.errors import JudgingError
    from ecom_rlve.evaluation.judging.plan import Plan, difficulties_of
    from ecom_rlve.evaluation.judging.run import Place
    from ecom_rlve.evaluation.judging.suite import with_suite

    if max_cost is not None and not price_in + price_out:
        raise JudgingError("--max-cost needs --price-in and --price-out")
    plan = Plan(
        agent=agent,
        calls=calls,
        request=_object(request),
        envs=() if env.lower() == evaluating.ALL else _names(env),
        difficulties=difficulties_of(difficulty),
        episodes=episodes,
        trials=trials,
        seed=seed,
        split=split,
        style="tool" if evaluating.check_style(style, agent, calls) == "tool" else "turn",
        format=format,
    )
    console = evaluating.stderr()
    if suite is not None:
        plan = with_suite(plan, suite)
        console.print(f"suite {suite}, hash {plan.suite_hash}")
    evaluating.import_from_here()
    try:
        ended = evaluating.evaluate(
            out,
            plan,
            Place(url or "", token, concurrency, patience),
            catalog=catalog,
            model=evaluating.model_at(model_url, model_key),
            limits=evaluating.Limits(max_tokens, max_cost, price_in, price_out),
            console=console,
        )
    except KeyboardInterrupt:
        print(f"interrupted; {out} keeps what is done, the same command goes on with it", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    _tell(ended, out)
    raise typer.Exit(0 if ended.is_complete else INCOMPLETE)


def report(
    folders: Annotated[list[Path], typer.Argument(help="Folders of results; the others are compared with the first.")],
    out: Annotated[Path | None, typer.Option(help="HTML file; absent: report.html in the first folder.")] = None,
) -> None:
    """Write what runs measured as one HTML file, and as Markdown beside it."""
    from ecom_rlve.commands.reporting import write_report

    for path in write_report(folders, out or folders[0] / "report.html"):
        print(path)


def replay(
    recorded: Annotated[Path, typer.Argument(metavar="TRACE", help="File of a trace, or a folder of results.")],
    catalog: Annotated[str | None, typer.Option(help="Source of products that it was played with.")] = None,
) -> None:
    """Play recorded episodes again; exits 0 if every byte is the same, 1 if not, 2 if that cannot be told."""
    from ecom_rlve.commands.replaying import replayed
    from ecom_rlve.evaluation.judging.errors import JudgingError

    try:
        played, differing = replayed(recorded, catalog)
    except JudgingError as error:
        print(f"ecom-rlve: {error}", file=sys.stderr)
        raise typer.Exit(UNREADABLE) from None
    for each in differing:
        print(f"{each.name}: {each.difference}")
    print(f"{played} episodes replayed, {len(differing)} differ")
    raise typer.Exit(1 if differing else 0)


def export(
    folder: Annotated[Path, typer.Argument(help="Folder of results.")],
    out: Annotated[Path | None, typer.Option(help="JSON lines to write; absent: sft.jsonl in the folder.")] = None,
) -> None:
    """Write the winning episodes as chat messages with tool schemas, for supervised fine-tuning."""
    from collections import Counter

    from ecom_rlve.evaluation.judging.errors import OutputError, ResultsError
    from ecom_rlve.evaluation.judging.export import exported

    path, written, skipped = out or folder / "sft.jsonl", 0, Counter[str]()
    found = list(exported(folder))
    try:
        with path.open("w", encoding="utf-8") as file:
            for each in found:
                if each.skipped:
                    skipped[each.skipped] += 1
                else:
                    file.write(f"{each.line}\n")
                    written += 1
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}") from error
    print(f"{path}: {written} episodes")
    for why, number in skipped.most_common():
        print(f"{number} episodes left out: {why}", file=sys.stderr)
    if not written:
        raise ResultsError(f"{folder} holds no winning episode that is a chat")


def verify(
    folder: Annotated[Path, typer.Argument(help="Folder of results: the submission.")],
    add: Annotated[Path | None, typer.Option(help="File of a board to write the row into.")] = None,
    reference: Annotated[bool, typer.Option(help="A built-in agent: acts may be disclosed.")] = False,
) -> None:
    """Play every episode of a submission again and check it; exits 0 with its row, or 1 with what is wrong."""
    from ecom_rlve.commands.boarding import verified

    row, faults = verified(folder, is_reference=reference, add=add)
    for fault in faults:
        print(fault)
    if row is None:
        print(f"{folder}: {len(faults)} faults", file=sys.stderr)
        raise typer.Exit(1)
    print(row)


def _tell(ended: Any, out: Path) -> None:
    """Print how far a run got."""
    print(f"{out}: {ended.played} of {ended.planned} episodes")
    if ended.spent.requests:
        cost = f", cost {ended.cost:.4f}" if ended.cost else ""
        print(f"{ended.spent.requests} requests, {ended.spent.prompt_tokens} tokens read, ", end="")
        print(f"{ended.spent.completion_tokens} written{cost}")
    kinds = [failure.kind for failure in ended.failures]
    for kind in sorted(set(kinds)):
        last = next(each.message for each in reversed(ended.failures) if each.kind == kind)
        print(f"{kinds.count(kind)} episodes without a result ({kind}), the last: {last}", file=sys.stderr)
    if not ended.is_complete:
        print("the same command plays what is left", file=sys.stderr)


def _names(text: str) -> tuple[str, ...]:
    """Return the ids of environments that a list with commas names, once each."""
    names = (name.strip().upper().removeprefix("E_") for name in text.split(","))
    return tuple(dict.fromkeys(name for name in names if name))


def _object(text: str) -> dict[str, Any]:
    from ecom_rlve.evaluation.judging.errors import JudgingError

    try:
        found = json.loads(text)
    except ValueError as error:
        raise JudgingError(f"--request is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise JudgingError("--request must be a JSON object")
    return found
