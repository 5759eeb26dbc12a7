"""The small, real model as an agent through ``ecom-rlve eval``: bad, and whatever goes wrong is its own fault.

``make test-llm`` installs the model, and runs this; without it the test is skipped.
"""

from __future__ import annotations

import json
import os
import runpy
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from ecom_rlve.evaluation.judging.folder import episodes, failures, read_config
from ecom_rlve.models import Termination

pytestmark = pytest.mark.nightly
_HERE = Path(__file__)
_MODEL = Path(os.environ.get("ECOM_RLVE_LLM", _HERE.parents[2] / ".venv" / "llm")) / "bin"
_ENVS, _EPISODES = ("CART", "STATUS", "POLICY"), 2
_REQUEST = json.dumps({"max_tokens": 96, "temperature": 0.7, "seed": 1})
_FAULTS = {None, "timeout", "refused", "truncated", "unreadable"}


@pytest.fixture(scope="module")
def model_url() -> Iterator[str]:
    if not (_MODEL / "python").exists():
        pytest.skip(f"no small model in {_MODEL}: `make test-llm` installs it")
    check = runpy.run_path(str(_HERE.with_name("check_model.py")))
    with check["model_server"](_MODEL, context=8192) as url:
        yield url


# The model's chat template knows no tools, so with native calls it never sees them; text is read leniently.
@pytest.mark.parametrize(
    "how", [("--calls", "native"), ("--calls", "text", "--format", "lenient")], ids=["native", "text"]
)
def test_a_bad_model_fails_by_its_own_fault(model_url: str, how: tuple[str, ...], tmp_path: Path) -> None:
    out = tmp_path / "run"
    plan = ["--env", ",".join(_ENVS), "--difficulty", "0", "--episodes", str(_EPISODES), "--catalog", "synthetic:600:0"]
    model = ["--agent", "openai:smollm2", "--model-url", model_url, "--request", _REQUEST, *how]
    # One at a time, and slowly: the model has one thread, and a prompt takes it a minute on a busy machine.
    command = [sys.executable, "-m", "ecom_rlve.cli", "eval", *model, *plan, "--concurrency", "1", "--patience", "900"]
    subprocess.run([*command, "--out", out], check=True)
    lines = list(episodes(out, read_config(out)))
    assert len(lines) == len(_ENVS) * _EPISODES
    assert list(failures(out)) == []
    ended = Counter(
        (line.env_id, line.result.termination.value, line.fault.kind if line.fault else None) for line in lines
    )
    print(how, *(f"{' '.join(map(str, key))}: {count}" for key, count in sorted(ended.items(), key=str)), sep="\n  ")
    print("  tools refused:", sum((Counter(line.result.tool_errors) for line in lines), Counter()))
    assert {kind for _, _, kind in ended} <= _FAULTS
    assert {Termination(value) for _, value, _ in ended} <= set(Termination)
    assert all(line.usage.completion_tokens > 0 for line in lines if line.fault is None)
    subprocess.run([sys.executable, "-m", "ecom_rlve.cli", "report", out], check=True)
    assert "smollm2" in (out / "report.html").read_text()
