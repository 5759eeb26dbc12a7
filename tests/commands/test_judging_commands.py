"""``ecom-rlve eval | report | replay | export | board``, run as a person runs them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ecom_rlve.cli import main

Run = Callable[..., tuple[object, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Return what runs a command: its exit status, output and errors."""

    def run_it(*arguments: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        return (ended.value.code, *capsys.readouterr())

    return run_it


def test_an_agent_is_judged_reported_replayed_and_exported(run: Run, tmp_path: Path, judging_url: str) -> None:
    out = str(tmp_path / "run")
    chosen = ("--env", "CART,e_status", "--difficulty", "0,2", "--episodes", "1", "--style", "tool")
    status, said, _ = run("eval", "--agent", "expert", "--url", judging_url, "--out", out, *chosen)
    assert (status, said) == (0, f"{out}: 4 of 4 episodes\n")
    status, said, _ = run("report", out)
    assert (status, said) == (0, f"{out}/report.html\n{out}/report.md\n")
    assert run("replay", out)[:2] == (0, "4 episodes replayed, 0 differ\n")
    trace = json.loads((tmp_path / "run" / "episodes.jsonl").read_text().splitlines()[0])["trace"]
    (tmp_path / "trace.jsonl").write_text(trace)
    assert run("replay", str(tmp_path / "trace.jsonl"), "--catalog", "synthetic:600:0")[0] == 0
    (tmp_path / "trace.jsonl").write_text(trace.replace('\\"turns_left\\":', '\\"turns_left\\": ', 1))
    status, said, _ = run("replay", str(tmp_path / "trace.jsonl"), "--catalog", "synthetic:600:0")
    assert (status, said.splitlines()[-1]) == (1, "1 episodes replayed, 1 differ")
    status, _, said = run("replay", str(tmp_path / "trace.jsonl"), "--catalog", "synthetic:50:0")
    assert (status, "name its source with --catalog" in said) == (2, True)
    status, _, said = run("replay", str(tmp_path / "no such file"))
    assert (status, said.count("\n")) == (2, 1)
    status, said, _ = run("export", out)
    assert (status, said) == (0, f"{out}/sft.jsonl: 4 episodes\n")
    status, said, _ = run("board", "verify", out)
    assert (status, said) == (1, "no suite was played: run `eval --split test --suite small or standard`\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--difficulty", "30"], "no difficulties '30'"),
        (["--suite", "huge", "--split", "test"], "no suite 'huge'"),
        (["--suite", "small"], "a suite is played with --split test, not eval"),
        (["--max-cost", "3"], "--max-cost needs --price-in and --price-out"),
        (["--request", "[1]"], "--request must be a JSON object"),
        (["--request", "{"], "--request is not JSON"),
        (["--agent", "openai:m", "--style", "turn"], "native tool calls are played in style tool"),
        (["--env", "KART"], "no environment KART"),
        (["--env", "SUB"], "serves SUB not at all"),
        (["--url", "http://127.0.0.1:1"], "no server of environments at"),
    ],
)
def test_what_cannot_be_played_is_one_line(
    run: Run, tmp_path: Path, live_url: str, arguments: list[str], message: str
) -> None:
    chosen = ["--agent", "say_nothing", "--env", "CART", "--difficulty", "0", "--url", live_url, *arguments]
    status, _, said = run("eval", "--out", str(tmp_path / "run"), *chosen)
    assert status == 1
    assert message in said
    assert said.splitlines()[-1].startswith("ecom-rlve: ")


def test_a_server_that_discloses_no_acts_is_told(run: Run, tmp_path: Path, live_url: str) -> None:
    chosen = ["--env", "CART", "--difficulty", "0", "--url", live_url]
    status, _, said = run("eval", "--agent", "expert", "--out", str(tmp_path / "run"), *chosen)
    assert (status, "start the server with ECOM_RLVE_DISCLOSE_ACTS=true" in said) == (1, True)


def test_nothing_to_learn_from_is_told(run: Run, tmp_path: Path, live_url: str) -> None:
    out = str(tmp_path / "run")
    run("eval", "--agent", "say_nothing", "--env", "CART", "--difficulty", "0", "--url", live_url, "--out", out)
    status, said, told = run("export", out)
    assert (status, "0 episodes" in said, "holds no winning episode" in told) == (1, True, True)
