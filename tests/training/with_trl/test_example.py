"""The example of docs/trainers.md runs as it stands, but for a tiny model, few steps and short rollouts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from ecom_rlve.evaluation.local_server import local_server
from ecom_rlve.training.tiny_model import tiny_model, tiny_tokenizer

PAGE = Path(__file__).parents[3] / "docs" / "trainers.md"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A tiny random model with its tokenizer in a folder."""
    tokenizer = tiny_tokenizer([PAGE.read_text()])
    tokenizer.save_pretrained(tmp_path / "model")
    tiny_model(tokenizer, 0).save_pretrained(tmp_path / "model")
    return tmp_path / "model"


def test_the_example_trains(model: Path, tmp_path: Path) -> None:
    code = PAGE.read_text().partition("<!-- trl -->\n```py\n")[2].partition("```\n<!-- /trl -->")[0]
    with local_server("--catalog", "synthetic:2000:0") as url:
        replaced = {
            "http://127.0.0.1:8000": url,
            "Qwen/Qwen3-8B": str(model),
            "300, 16, 8": "1, 2, 2",
            "outputs/my-run": str(tmp_path / "run"),
            "max_completion_length=8192": "max_completion_length=24, use_cpu=True, bf16=False, report_to=[]",
        }
        for shown, used in replaced.items():
            assert code.count(shown) == 1, shown
            code = code.replace(shown, used)
        names: dict[str, Any] = {}
        exec(compile(code, "docs/trainers.md", "exec"), names)
        left = httpx.get(f"{url}/episodes", params={"run_id": "my-run-8c1f"}).json()
    logged = names["trainer"].state.log_history[-1]
    # A random model never ends a message, so every rollout was cut; each was finished and has a score.
    assert logged["completions/clipped_ratio"] == 1
    assert logged["rewards/CART/mean"] == logged["rewards/SUB/mean"] == pytest.approx(-0.9)
    assert left == []
