"""Each adapter under its real library, which has an environment of its own (``make test-adapters``)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import httpx
import pytest

from ecom_rlve import EcomEnv
from ecom_rlve.client.adapters.openai_tools import EpisodeRecord, run_episode

pytestmark = pytest.mark.nightly

ROOT = Path(__file__).parents[2]
ENVIRONMENTS = ("PD", "SUB", "CART", "RETURN", "STATUS", "POLICY", "BUNDLE", "JOURNEY")


@pytest.fixture(scope="module")
def won(wide_url: str, winner: Callable[[dict[str, Any]], Any]) -> list[tuple[dict[str, Any], EpisodeRecord]]:
    """One won episode of each environment: its row and its record."""
    rows = [{"env_id": env_id, "difficulty": 1, "seed": 5, "run_id": "libraries"} for env_id in ENVIRONMENTS]
    with EcomEnv(wide_url) as env:
        return [(row, run_episode(env, winner(row), row)) for row in rows]


def play(library: str, *arguments: str) -> str:
    """Run a script in a library's environment and return what it printed."""
    python = ROOT / ".venv" / library / "bin" / "python"
    assert python.exists(), f"make test-adapters installs {library}"
    script = ROOT / "tests" / "adapters" / f"play_{library}.py"
    done = subprocess.run([python, script, *arguments], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def live(url: str) -> list[Any]:
    listed: list[Any] = httpx.get(f"{url}/episodes", params={"run_id": "libraries"}, timeout=None).json()
    return listed


@pytest.mark.parametrize("library", ["verifiers", "art"])
def test_who_asks_a_chat_api(
    library: str, wide_url: str, won: list[tuple[dict[str, Any], EpisodeRecord]], scripted_model: Callable[..., Any]
) -> None:
    rows = [{**row, "reward": record.reward} for row, record in won]
    with scripted_model([record.messages for _, record in won]) as model:
        printed = play(library, wide_url, model, json.dumps(rows))
    assert "8 episodes won" in printed
    assert live(wide_url) == []


def raw(message: dict[str, Any]) -> str:
    """Return an assistant message as a model's raw output."""
    calls = [each["function"] for each in message.get("tool_calls", ())]
    return json.dumps({"assistant_message": message["content"], "tool_calls": calls})


def test_skyrl(wide_url: str, won: list[tuple[dict[str, Any], EpisodeRecord]]) -> None:
    rows = [
        {
            "row": {**row, "style": "tool", "prompt": "a column of the trainer's"},
            "reward": record.reward,
            "outputs": [raw(each) for each in record.messages if each["role"] == "assistant"],
        }
        for row, record in won
    ]
    assert "8 episodes won" in play("skyrl", wide_url, json.dumps(rows))
    assert live(wide_url) == []


def tagged(message: dict[str, Any]) -> str:
    """Return an assistant message as the tokens of Qwen's chat template spell it."""
    calls = [
        f"<tool_call>\n{json.dumps(plain(each['function']))}\n</tool_call>" for each in message.get("tool_calls", ())
    ]
    return "\n".join([*([message["content"]] if message["content"] else []), *calls]) + "<|im_end|>"


def plain(function: dict[str, Any]) -> dict[str, Any]:
    return {"name": function["name"], "arguments": json.loads(function["arguments"])}


def test_rollout(wide_url: str, won: list[tuple[dict[str, Any], EpisodeRecord]]) -> None:
    episodes = [
        {
            "row": {**row, "prompt": "a column of the trainer's"},
            "customer": record.messages[1]["content"],
            "reward": record.reward,
            "outputs": [tagged(each) for each in record.messages if each["role"] == "assistant"],
        }
        for row, record in won
    ]
    printed = play("rollout", wide_url, json.dumps(episodes))
    assert "8 episodes won" in printed
    assert "groups are whole" in printed
    assert live(wide_url) == []


EXAMPLES = {
    "art": ("art", f"{[-0.9] * 8}\n"),
    "verifiers": ("verifiers", "True -0.9 0.0\n" * 4),
    "skyrl": ("skyrl", "-0.9 True 0.0\n"),
    "rollout": ("rollout", ""),
    "miles": ("rollout", ""),
}
"""Block of the page -> the environment in which it runs, and what it prints."""


@pytest.mark.parametrize(("name", "python", "printed"), [(name, *rest) for name, rest in EXAMPLES.items()])
def test_the_page_s_example_runs(
    name: str,
    python: str,
    printed: str,
    wide_url: str,
    scripted_model: Callable[..., AbstractContextManager[str]],
    tmp_path: Path,
) -> None:
    (tmp_path / "shopping.py").write_text(example("verifiers plugin"))
    with scripted_model([]) as model:
        code = example(name).replace("http://127.0.0.1:8000", wide_url).replace("http://127.0.0.1:8001/v1", model)
        command = [str(ROOT / ".venv" / python / "bin" / "python"), "-c", code]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, printed), done.stderr


def example(name: str) -> str:
    """Return the code in a marked block of the page on trainers."""
    page = (ROOT / "docs" / "trainers.md").read_text()
    code = page.partition(f"<!-- {name} -->\n```py\n")[2].partition("```\n<!-- /")[0]
    assert code, f"docs/trainers.md has no block {name}"
    return code
