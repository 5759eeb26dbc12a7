"""Grade a running server by openenv's own runtime checks, following the plan that openenv.yaml names.

`openenv validate --level runtime` does the same against a container and so needs Docker; this needs only the server.

Usage: ``python tests/openenv/grade_runtime.py http://127.0.0.1:8000``
"""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from openenv.validation.graders import Subject
from openenv.validation.graders.runtime import ObservationSchemaGrader, RewardWellFormedGrader, StateContractGrader
from openenv.validation.parsers.openenv_yaml import OpenEnvYamlParser
from openenv.validation.runtime.collector import collect_runtime_evidence
from openenv.validation.runtime.contracts import load_runtime_plan
from openenv.validation.types import CheckStatus

ROOT = Path(__file__).parents[2]


def grade(base_url: str) -> bool:
    """Print one line per check and return whether all passed and the plan ended its episode."""
    manifest = OpenEnvYamlParser().parse(ROOT)
    plan = load_runtime_plan(ROOT, manifest.execution)
    evidence = collect_runtime_evidence(base_url, plan, episode_timeout_s=manifest.resources.episode_timeout_s)
    if evidence.failure_reason:
        print(f"  FAIL  collection: {evidence.failure_reason}")
        return False
    with TemporaryDirectory() as scratch:
        subject = Subject(ROOT, manifest, None, None, Path(scratch), runtime_evidence=evidence)
        results = [g().run(subject) for g in (RewardWellFormedGrader, ObservationSchemaGrader, StateContractGrader)]
    for result in results:
        print(f"  {result.status.name}  {result.check_id}: {'; '.join(result.evidence)}")
    ended = '"done":true' in evidence.exchanges[-2].response_json.replace(" ", "")
    print(f"  {'PASS' if ended else 'FAIL'}  the plan's last action ends the episode")
    return ended and all(result.status is CheckStatus.PASS for result in results)


if __name__ == "__main__":
    sys.exit(0 if grade(sys.argv[1]) else 1)
