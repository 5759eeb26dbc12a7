"""The built-in agents: ``suite.py`` of every folder in ``evaluation/agents`` exports those of one environment."""

from __future__ import annotations

import pkgutil
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType

from ecom_rlve.evaluation.agent import Agent
from ecom_rlve.evaluation.agents.policies import Policies, blind_policies, empty_policies, in_turn, rungs
from ecom_rlve.evaluation.agents.skill import RUNGS, Skill
from ecom_rlve.evaluation.agents.suite import Suite
from ecom_rlve.models import EnvironmentInfo


@lru_cache(maxsize=1)
def suites() -> Mapping[str, Suite]:
    """Return the suites by environment, in id order. Fails where a folder of ``evaluation/agents`` exports none."""
    found: dict[str, Suite] = {}
    for module in pkgutil.iter_modules([str(Path(__file__).parent)], f"{__package__}."):
        if not module.ispkg:
            continue
        exported = getattr(import_module(f"{module.name}.suite"), "SUITE", None)
        if not isinstance(exported, Suite):
            raise TypeError(f"{module.name}.suite must export the agents of its environment as SUITE")
        found[exported.env_id] = exported
    return MappingProxyType(dict(sorted(found.items())))


def make_expert(env_id: str, rung: str = "expert") -> Agent:
    """Return a new expert for one episode of an environment, or one of its weaker rungs.

    Raises ``ValueError`` where the environment has no expert, or there is no such rung.
    """
    if env_id not in suites():
        raise ValueError(f"no built-in expert for {env_id}; there is one for {', '.join(suites())}")
    if rung != "expert" and rung not in RUNGS:
        raise ValueError(f"no rung {rung!r}; there are expert, {', '.join(RUNGS)}")
    return suites()[env_id].expert(Skill() if rung == "expert" else RUNGS[rung].skill)


def policies_of(env_id: str, listed: Mapping[str, EnvironmentInfo]) -> Policies:
    """Return the policies that an environment is tried with.

    Args:
        env_id: the environment.
        listed: what a server tells of its environments (``GET /envs``), by id.

    Raises:
        ValueError: the environment is not listed.
    """
    if env_id not in listed:
        raise ValueError(f"no environment {env_id}; there are {', '.join(listed)}")
    info, suite = listed[env_id], suites().get(env_id)
    if info.members:
        # What picks blindly would have to be right in every errand: nothing to measure.
        members = {name: policies_of(name, listed) for name in info.members}
        return Policies(info, rungs(info, suite), in_turn(members), {})
    return Policies(info, rungs(info, suite), empty_policies(info, suite), blind_policies(info, suite))
