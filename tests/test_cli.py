"""The command line, run as a person runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from ecom_rlve.evaluation.local_server import LocalServerError, local_server

SMALL = {"ECOM_RLVE_CATALOG": "synthetic:600:0"}


def run(
    *arguments: str, typed: str = "", blocked: str | None = None, variables: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run ``ecom-rlve`` in a process of its own, with one module not installed where ``blocked`` names it."""
    code = "import sys\n" + (f"sys.modules[{blocked!r}] = None\n" if blocked else "")
    code += f"from ecom_rlve.cli import main\nmain({list(arguments)!r})"
    return subprocess.run(
        [sys.executable, "-P", "-W", "error", "-c", code],
        input=typed,
        capture_output=True,
        text=True,
        timeout=120,
        env={"PYTHONIOENCODING": "utf-8", **(variables or {})},
    )


def test_the_commands_are_listed() -> None:
    done = run("--help")
    assert done.returncode == 0
    for command in ("serve", "demo", "play"):
        assert command in done.stdout


def test_without_a_command_help_is_shown() -> None:
    done = run()
    assert done.returncode == 2
    assert "Usage" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("blocked", "arguments"),
    [
        ("typer", ["demo"]),
        ("rich.console", ["play", "--url", "http://127.0.0.1:9"]),
        ("uvicorn", ["serve"]),
        ("fastapi", ["serve"]),
    ],
)
def test_a_missing_extra_is_one_clear_line(blocked: str, arguments: list[str]) -> None:
    done = run(*arguments, blocked=blocked)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "pip install 'ecom-rlve[server]'" in done.stderr


@pytest.mark.parametrize("arguments", [["serve", "--port", "70000"], ["demo", "--difficulty", "21"], ["dance"]])
def test_wrong_usage_is_told(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert "Usage" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_expert_is_watched_at_a_running_server(live_url: str) -> None:
    done = run("demo", "--url", live_url, "--difficulty", "0", "--seed", "7")
    assert done.returncode == 0, done.stderr
    for word in ("customer", "turn 1", "calls", "r_task", "r_eff", "r_hall", "r_total", "is_correct"):
        assert word in done.stdout
    assert "\x1b" not in done.stdout


def test_a_person_plays_at_a_running_server(live_url: str) -> None:
    done = run("play", "--url", live_url, "--seed", "3", "--difficulty", "0", typed="/search mug\n\n/done\n")
    assert done.returncode == 0, done.stderr
    assert "catalog_search(query=mug)" in done.stdout
    assert "r_total" in done.stdout


def test_refusals_are_one_line(live_url: str) -> None:
    done = run("play", "--url", live_url, "--env", "KART")
    assert done.returncode == 1
    assert done.stderr.startswith("ecom-rlve: UNKNOWN_ENV: ")
    assert done.stderr.count("\n") == 1
    assert run("play", "--url", "nowhere").stderr.startswith("ecom-rlve: base_url must be like ")


def test_a_demo_starts_and_stops_its_own_server(tmp_path: Path) -> None:
    variables = SMALL | {"ECOM_RLVE_CACHE_DIR": str(tmp_path)}
    done = run("demo", "--difficulty", "0", variables=variables)
    assert done.returncode == 0, done.stderr
    assert "r_total" in done.stdout


def test_a_server_of_ones_own_ends_with_its_block(tmp_path: Path) -> None:
    with local_server("--catalog", "synthetic:600:0", "--cache-dir", str(tmp_path)) as url:
        assert httpx.get(f"{url}/health").is_success
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{url}/health")


def test_a_server_that_cannot_start_says_why() -> None:
    with pytest.raises(LocalServerError, match="no_such_source"), local_server("--catalog", "no_such_source"):
        pass


def test_serve_says_what_was_kept_of_a_source(tmp_path: Path) -> None:
    source = Path(__file__).parents[1] / "../shared/data/amazon2023_meta_fashion_500.jsonl"
    if not source.exists():
        pytest.skip(f"needs {source}")
    log = tmp_path / "log"
    with log.open("w") as output:
        command = [sys.executable, "-P", "-m", "ecom_rlve.cli", "serve", "--port", "0", "--cache-dir", str(tmp_path)]
        process = subprocess.Popen(
            [*command, "--catalog", str(source)], stdout=subprocess.PIPE, stderr=output, text=True
        )
        assert process.stdout is not None
        first = process.stdout.readline()
        process.terminate()
        process.communicate(timeout=20)
    assert "kept" in first, log.read_text()
    assert "500" in first
