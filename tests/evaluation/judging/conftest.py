"""Runs in this process, against real servers on ports of this machine."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from ecom_rlve.commands.evaluating import Ended, Limits, Model, evaluate
from ecom_rlve.evaluation.judging.plan import Plan
from ecom_rlve.evaluation.judging.run import Place

Evaluate = Callable[..., Ended]
SOURCE = "synthetic:600:0"


def _plan(**changes: Any) -> Plan:
    """Return a small plan."""
    chosen = {"agent": "expert", "envs": ("CART", "STATUS"), "difficulties": (0, 2), "episodes": 2, "trials": 1}
    return Plan(**(chosen | changes))


def _evaluated(
    folder: Path,
    url: str,
    *,
    model: str = "http://127.0.0.1:1/v1",
    patience_s: float = 60,
    concurrency: int = 4,
    retry_for_s: float = 60,
    limits: Limits | None = None,
    **changes: Any,
) -> Ended:
    """Play a small plan against a server."""
    return evaluate(
        folder,
        _plan(**changes),
        Place(url, None, concurrency, patience_s, retry_for_s),
        catalog=SOURCE,
        model=Model(model, None),
        limits=limits or Limits(None, None, 0, 0),
        console=Console(file=io.StringIO()),
    )


@pytest.fixture(scope="session")
def plan_of() -> Callable[..., Plan]:
    """Return what makes small plans."""
    return _plan


@pytest.fixture(scope="session")
def evaluated() -> Evaluate:
    """Return what plays small plans: ``evaluated(folder, url, agent=…)``."""
    return _evaluated


@pytest.fixture(scope="session")
def played(tmp_path_factory: pytest.TempPathFactory, judging_url: str) -> Path:
    """Return the results of an expert; nobody may change them."""
    folder = tmp_path_factory.mktemp("runs") / "expert"
    assert _evaluated(folder, judging_url, trials=2).is_complete
    return folder


@pytest.fixture(scope="session")
def played_badly(tmp_path_factory: pytest.TempPathFactory, live_url: str) -> Path:
    """Return the results of an agent that is never right, over one environment more; nobody may change them."""
    folder = tmp_path_factory.mktemp("runs") / "bad"
    done = _evaluated(folder, live_url, agent="answer_constants", envs=("CART", "STATUS", "POLICY"))
    assert done.is_complete
    return folder
