"""What the pages show is what happens: their commands, conversations and Python examples against a real server.

Where one of these fails because episodes are drawn differently now, ``make docs`` writes the pages again.
"""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn

from ecom_rlve.client import EcomEnv
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.server.app import create_app, server_config
from ecom_rlve.server.settings import Settings

Listening = Callable[[uvicorn.Config], AbstractContextManager[str]]
SHOWN_URL = "http://127.0.0.1:8000"
MOST_LINES = 220
EXAMPLE = re.compile(r"```python\n(?P<code>.*?)```\n\n```text\n(?P<output>.*?)```", re.DOTALL)
PYTHON = re.compile(r"```python\n")
PAIR = re.compile(r'"(?P<name>\w+)": (?P<value>"(?:[^"\\]|\\.)*"|-?[\d.]+|true|false|null)')
"""A key with a plain value, in an answer that is shown shortened."""
EPISODE = re.compile(r"seed (?P<seed>\d+), difficulty (?P<difficulty>\d+), style `(?P<style>\w+)`")
TOTAL = re.compile(r"`r_total` \|.*\*\*(?P<total>[+-][\d.]+)\*\*")
PAGES_WITH_PYTHON = {"README.md": "default_url", "docs/agents.md": "judging_url", "docs/trainers.md": "default_url"}
"""Pages with Python examples, and the server against which these run; ``make test-openenv`` runs those with OpenEnv."""


@contextmanager
def served(big_shop: Shop, listening: Listening, **changes: Any) -> Iterator[str]:
    """Serve the default catalog, whose episodes the pages show, and yield the URL."""
    settings = Settings().model_copy(update={"catalog": "synthetic", "log_level": "warning", **changes})
    with listening(server_config(create_app(settings, shop=big_shop), settings)) as url:
        yield url


@pytest.fixture(scope="module")
def default_url(big_shop: Shop, listening: Listening) -> Iterator[str]:
    """A server with the default settings."""
    with served(big_shop, listening) as url:
        yield url


@pytest.fixture(scope="module")
def judging_url(big_shop: Shop, listening: Listening) -> Iterator[str]:
    """A server that built-in agents are judged on: it discloses the customer's acts."""
    with served(big_shop, listening, disclose_acts=True) as url:
        yield url


def block(root: Path, page: str, name: str) -> str:
    """Return a marked block of a page."""
    return (root / page).read_text().partition(f"<!-- {name} -->\n")[2].partition(f"\n<!-- /{name} -->")[0]


def fences(text: str) -> list[list[str]]:
    """Return the lines of each fenced block."""
    return [fence.splitlines()[1:] for fence in text.split("```")[1::2]]


def test_the_curl_episode_gives_what_it_shows(root: Path, default_url: str) -> None:
    commands, answers = fences(block(root, "README.md", "episode"))
    assert len(commands) == len(answers) >= 4
    for command, shown in zip(commands, answers, strict=True):
        *program, address, data, body = shlex.split(command)
        assert (program, data) == (["curl", "-sw", "\\n"], "-d")
        path = address.removeprefix(SHOWN_URL.removeprefix("http://"))
        reply = httpx.post(
            default_url + path,
            content=body,
            headers={"Content-Type": "application/x-www-form-urlencoded"},
            timeout=None,
        )
        told = json.dumps(reply.json(), ensure_ascii=False)
        pairs = [pair[0] for pair in PAIR.finditer(shown) if not pair["value"].endswith('…"')]
        assert len(pairs) > 4
        assert [pair for pair in pairs if pair not in told] == []
    assert reply.json()["reward"] == reply.json()["observation"]["result"]["r_total"] == 0.8


def examples() -> list[Any]:
    """Return the Python examples of all pages, page and number naming each."""
    root = Path(__file__).parents[2]
    found = []
    for page, server in PAGES_WITH_PYTHON.items():
        text = (root / page).read_text()
        matches = list(EXAMPLE.finditer(text))
        assert len(matches) == len(PYTHON.findall(text)), f"{page}: a Python example lacks its output"
        found += [
            pytest.param(server, match["code"], match["output"], id=f"{page}-{at}") for at, match in enumerate(matches)
        ]
    return found


@pytest.mark.parametrize(("server", "code", "output"), examples())
def test_the_python_examples_print_what_they_show(
    request: pytest.FixtureRequest, tmp_path: Path, server: str, code: str, output: str
) -> None:
    command = [sys.executable, "-P", "-c", code.replace(SHOWN_URL, request.getfixturevalue(server))]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == output


@pytest.mark.parametrize(("name", "at"), [("transcript", 0), ("tool transcript", 1)])
def test_the_transcripts_happen_and_earn_what_is_worked_out(root: Path, default_url: str, name: str, at: int) -> None:
    sums = block(root, "docs/cart.md", "by hand")
    episode = list(EPISODE.finditer(sums))[at]
    (lines,) = fences(block(root, "docs/cart.md", name))
    actions = [json.loads(line.removeprefix("agent")) for line in lines if line.startswith("agent")]
    with EcomEnv(default_url, env="cart") as env:
        result = env.reset(seed=int(episode["seed"]), difficulty=int(episode["difficulty"]), style=episode["style"])
        heard = [result.observation.user_message]
        for action in actions:
            result = env.step(action)
            heard += [result.observation.user_message] if result.observation.user_message else []
    assert heard == [line.removeprefix("customer  ") for line in lines if line.startswith("customer")]
    assert result.reward == pytest.approx(float(TOTAL.findall(sums)[at]))


def test_the_readme_is_short(root: Path) -> None:
    assert len((root / "README.md").read_text().splitlines()) <= MOST_LINES


def test_the_soundness_summary_is_what_the_tables_say(root: Path) -> None:
    tables = block(root, "docs/soundness.md", "soundness")
    lines = block(root, "README.md", "soundness").splitlines()[2:]
    assert len(lines) == 8
    for line in lines:
        _, env_id, oracle, expert, _, _ = (cell.strip() for cell in line.split("|"))
        rows = tables.partition(f"| {env_id}, ")[2].splitlines()
        cells = {name: [cell.split()[0] for cell in rest] for name, *rest in (row.split(" | ") for row in rows[2:9])}
        assert set(cells["| oracle (turn)"]) == {oracle}
        assert cells["| expert"] == expert.split(", ")
