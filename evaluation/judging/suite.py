"""Frozen suites: the same episodes for everybody, named and hashed (SPEC §10).

A suite is its list of episodes on the default catalog, so its hash is taken over that list, which follows from named
streams. Where streams, catalog or sizes change, so does the hash: results are no longer comparable.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from types import MappingProxyType

from ecom_rlve.evaluation.judging.errors import JudgingError
from ecom_rlve.evaluation.judging.plan import Plan, tasks_of
from ecom_rlve.models import Split

CATALOG = "synthetic"
"""The source of the products that a suite is played with: the default one."""
SPLIT: Split = "test"
_ENVS = ("BUNDLE", "CART", "JOURNEY", "PD", "POLICY", "RETURN", "STATUS", "SUB")


@dataclass(frozen=True, slots=True)
class Suite:
    """The size of a suite: episodes of every environment at each of some difficulties, and how often each is played."""

    difficulties: tuple[int, ...]
    episodes: int
    trials: int


SUITES: Mapping[str, Suite] = MappingProxyType(
    {
        # 160 episodes: an hour of a small model on two cores, and intervals of ±8 % over all of them.
        "small": Suite((0, 4, 8, 12), episodes=5, trials=1),
        # 800 episodes, four times each: ±3 %, and pass^4.
        "standard": Suite((0, 3, 6, 9, 12), episodes=20, trials=4),
    }
)


def with_suite(plan: Plan, name: str) -> Plan:
    """Return a plan that plays a suite; raises :class:`JudgingError` for no such suite, or for another split."""
    if name not in SUITES:
        raise JudgingError(f"no suite {name!r}; there are {', '.join(SUITES)}")
    if plan.split != SPLIT:
        raise JudgingError(f"a suite is played with --split {SPLIT}, not {plan.split}")
    suite = SUITES[name]
    played = plan.model_copy(
        update={
            "suite": name,
            "seed": 0,
            "envs": _ENVS,
            "difficulties": suite.difficulties,
            "episodes": suite.episodes,
            "trials": suite.trials,
        }
    )
    return played.model_copy(update={"suite_hash": hash_of(played)})


def hash_of(plan: Plan) -> str:
    """Return the hash of the episodes of a plan on the suites' catalog: 16 hexadecimal digits."""
    listed = [CATALOG, plan.split, *map(list, tasks_of(plan))]
    return blake2b(json.dumps(listed).encode(), digest_size=8).hexdigest()
