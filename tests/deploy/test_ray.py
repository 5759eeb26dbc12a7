"""Ray Serve with a store in Redis: live episodes make a second replica start, and steps of one are answered by both."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def test_replicas_share_an_episode(redis_url: str, tmp_path: Path) -> None:
    pytest.importorskip("ray", reason="RAY SERVE WAS NOT TRIED: `make test-deploy` installs it")
    variables = {
        "ECOM_RLVE_STORE": redis_url,
        "ECOM_RLVE_CATALOG": "synthetic:400:0",
        "XDG_STATE_HOME": str(tmp_path),
        "RAY_USAGE_STATS_ENABLED": "0",
        # On a busy machine it takes longer to start than Ray waits by default.
        "RAY_raylet_start_wait_time_s": "90",
    }
    script = Path(__file__).with_name("play_ray.py")
    done = subprocess.run(
        [sys.executable, str(script)], env={**os.environ, **variables}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-3000:]
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["replicas"] == [1, 2]
    steps = len(told["turns"])
    assert told["turns"] == list(range(1, steps + 1))
    assert (told["step_count"], told["done"]) == (steps, True)
    assert len(told["steps_by_replica"]) == 2
    assert min(told["steps_by_replica"]) > 0
    assert sum(told["steps_by_replica"]) == steps
