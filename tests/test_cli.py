"""The command line, run as a person runs it."""

from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from ecom_rlve.cli import main
from ecom_rlve.evaluation.local_server import LocalServerError, local_server

ON_A_MACHINE_WITHOUT = """
import sys
sys.modules[sys.argv[1]] = None
from ecom_rlve.cli import main
main(sys.argv[2:])
"""


@dataclass
class Done:
    """What a command left behind."""

    status: object
    out: str
    err: str


class Terminal:
    """Runs commands in this process, with what is typed on standard input."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys = capsys
        self._monkeypatch = monkeypatch

    def run(self, *arguments: str, typed: str = "") -> Done:
        self._monkeypatch.setattr(sys, "stdin", io.StringIO(typed))
        with pytest.raises(SystemExit) as ended:
            main(list(arguments))
        return Done(ended.value.code, *self._capsys.readouterr())


@pytest.fixture
def terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Return a terminal to type commands in."""
    return Terminal(capsys, monkeypatch)


def test_the_commands_are_listed(terminal: Terminal) -> None:
    done = terminal.run("--help")
    assert done.status == 0
    for command in ("serve", "demo", "play"):
        assert command in done.out
    assert "Usage" in terminal.run().out


@pytest.mark.parametrize(
    ("missing", "command"), [("typer", "demo"), ("rich.console", "play"), ("uvicorn", "serve"), ("fastapi", "serve")]
)
def test_a_missing_extra_is_one_clear_line(missing: str, command: str) -> None:
    line = [sys.executable, "-P", "-W", "error", "-c", ON_A_MACHINE_WITHOUT, missing, command]
    done = subprocess.run(line, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    top = missing.partition(".")[0]
    assert done.stderr == f"ecom-rlve: {top} is not installed; run: pip install 'ecom-rlve[server]'\n"


@pytest.mark.parametrize("arguments", [["serve", "--port", "70000"], ["demo", "--difficulty", "21"], ["dance"]])
def test_wrong_usage_is_told(terminal: Terminal, arguments: list[str]) -> None:
    done = terminal.run(*arguments)
    assert done.status == 2
    assert "Usage" in done.err


def test_an_expert_is_watched(terminal: Terminal, judging_url: str) -> None:
    done = terminal.run("demo", "--url", judging_url, "--difficulty", "0", "--seed", "7")
    assert done.status == 0, done.err
    for word in ("customer", "turn 1", "calls", "r_task", "r_eff", "r_hall", "r_total", "is_correct"):
        assert word in done.out
    assert "\x1b" not in done.out


def test_an_expert_is_not_watched_where_it_hears_nothing(terminal: Terminal, live_url: str) -> None:
    done = terminal.run("demo", "--url", live_url)
    assert done.status == 1
    assert done.err.startswith("ecom-rlve: this agent hears acts: start the server with ECOM_RLVE_DISCLOSE_ACTS=true")


def test_a_person_plays(terminal: Terminal, live_url: str) -> None:
    done = terminal.run("play", "--url", live_url, "--env", "CART", "--seed", "3", typed="/search mug\n\n/done\n")
    assert done.status == 0, done.err
    assert "catalog_search(query=mug)" in done.out
    assert "r_total" in done.out


def test_refusals_are_one_line(terminal: Terminal, live_url: str) -> None:
    done = terminal.run("play", "--url", live_url, "--env", "KART")
    assert done.status == 1
    assert done.err.startswith("ecom-rlve: UNKNOWN_ENV: ")
    assert done.err.count("\n") == 1
    done = terminal.run("play", "--url", "nowhere")
    assert (done.status, done.err.partition(",")[0]) == (
        1,
        "ecom-rlve: base_url must be like http://127.0.0.1:8000",
    )


def test_a_demo_starts_and_stops_its_own_server(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A child that were left running would be a ResourceWarning, which fails the test."""
    monkeypatch.setenv("ECOM_RLVE_CATALOG", "synthetic:600:0")
    monkeypatch.setenv("ECOM_RLVE_CACHE_DIR", str(tmp_path))
    done = terminal.run("demo", "--difficulty", "0")
    assert done.status == 0, done.err
    assert "r_total" in done.out


def test_a_server_that_cannot_start_says_why() -> None:
    with pytest.raises(LocalServerError, match="--no-such-option"), local_server("--no-such-option"):
        pass


def test_an_unknown_source_is_one_line(terminal: Terminal) -> None:
    done = terminal.run("serve", "--catalog", "no_such_source")
    assert done.status == 1
    assert done.err.startswith("ecom-rlve: ")
    assert done.err.count("\n") == 1


def test_a_wrong_bank_is_one_line(terminal: Terminal, tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text('[confirm]\nany = [\n  "Fine, three of them.",\n]\n')
    done = terminal.run("serve", "--catalog", "synthetic:400:0", "--bank", str(path))
    assert done.status == 1
    assert done.err == "ecom-rlve: wrong.toml: line 3: states a value: Fine, three of them.\n"


def test_serve_says_what_was_kept_of_a_source_and_what_was_not(terminal: Terminal, tmp_path: Path) -> None:
    from ecom_rlve.cli import _open_shop
    from ecom_rlve.server.settings import Settings

    source = tmp_path / "two.jsonl"
    row = '{"parent_asin": "A1", "title": "A mug", "price": 3.5, "categories": ["Kitchen", "Mugs"]}\n'
    source.write_text(row * 2)
    _open_shop(Settings(catalog=str(source), cache_dir=tmp_path))
    out = terminal._capsys.readouterr().out
    assert f"{source}: 2 rows read, 1 kept\n" in out
    assert f"{source}: 1 dropped: " in out
