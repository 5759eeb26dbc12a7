"""Which agent a name means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from ecom_rlve.evaluation.agent import Agent
from ecom_rlve.evaluation.agents import policies_of, suites
from ecom_rlve.evaluation.expert.skill import RUNGS
from ecom_rlve.evaluation.judging.errors import JudgingError
from ecom_rlve.evaluation.judging.plan import Plan
from ecom_rlve.evaluation.judging.players.builtin import ORACLE, BuiltInPlayers
from ecom_rlve.evaluation.judging.players.chat import ChatPlayers
from ecom_rlve.evaluation.judging.players.endpoint import Endpoint
from ecom_rlve.evaluation.judging.players.player import Players
from ecom_rlve.evaluation.judging.players.python_agent import PythonPlayers
from ecom_rlve.models import EnvironmentInfo

Kind = Literal["builtin", "openai", "python"]


def kind_of(agent: str) -> Kind:
    """Return what kind of agent a name means."""
    head, colon, _ = agent.partition(":")
    if colon and head in ("openai", "python"):
        return "openai" if head == "openai" else "python"
    return "builtin"


def hears_acts(agent: str) -> bool:
    """Tell whether an agent needs a server that discloses the customer's acts: the expert, and what is weaker."""
    return agent in {"expert", *RUNGS, *(name for suite in suites().values() for name in suite.lazy)}


def check_names(agent: str, envs: tuple[str, ...], listed: Mapping[str, EnvironmentInfo]) -> None:
    """Raise :class:`JudgingError` unless a built-in agent of the name plays in every one of the environments."""
    if agent == ORACLE:
        return
    names = {env_id: policies_of(env_id, listed).names for env_id in envs}
    lacking = [env_id for env_id in envs if agent not in names[env_id]]
    if len(lacking) == len(envs):
        known = dict.fromkeys((ORACLE, *(name for each in names.values() for name in each)))
        raise JudgingError(f"no agent {agent!r}; there are {', '.join(known)}, openai:MODEL and python:module:factory")
    if lacking:
        raise JudgingError(f"{agent} does not play in {', '.join(lacking)}: name other environments")


def players_of(
    plan: Plan,
    listed: Mapping[str, EnvironmentInfo],
    oracle: Callable[[], Agent],
    endpoint: Callable[[str], Endpoint],
) -> Players:
    """Return what makes the players of a plan.

    Args:
        plan: whose agent.
        listed: what the server tells of its environments.
        oracle: makes an oracle with the server's catalog.
        endpoint: returns the endpoint of a model, given its name.

    Raises:
        JudgingError: no agent has that name, or it does not play in an environment of the plan.
    """
    name = plan.agent.partition(":")[2]
    match kind_of(plan.agent):
        case "openai":
            return ChatPlayers(endpoint(name), plan.calls)
        case "python":
            return PythonPlayers(name)
        case "builtin":
            check_names(plan.agent, plan.envs, listed)
            return BuiltInPlayers(plan.agent, listed, oracle)
