"""The built-in agents by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ecom_rlve.evaluation.agent import Agent
from ecom_rlve.evaluation.agents.bundle.expert import BundleExpert
from ecom_rlve.evaluation.agents.cart.expert import CartExpert
from ecom_rlve.evaluation.agents.idle import BreakFormat
from ecom_rlve.evaluation.agents.journey.expert import JourneyExpert
from ecom_rlve.evaluation.agents.order_status.expert import StatusExpert
from ecom_rlve.evaluation.agents.policy_questions.expert import PolicyExpert
from ecom_rlve.evaluation.agents.product_discovery.expert import DiscoveryExpert
from ecom_rlve.evaluation.agents.returns.expert import ReturnExpert
from ecom_rlve.evaluation.agents.skill import Skill
from ecom_rlve.evaluation.agents.substitution.expert import SubstitutionExpert
from ecom_rlve.evaluation.agents.suite import SKILLS, SUITES, Suite
from ecom_rlve.streams import stream

_EXPERTS: Mapping[str, Callable[[Skill], Agent]] = {
    "BUNDLE": BundleExpert,
    "CART": CartExpert,
    "JOURNEY": JourneyExpert,
    "PD": DiscoveryExpert,
    "POLICY": PolicyExpert,
    "RETURN": ReturnExpert,
    "STATUS": StatusExpert,
    "SUB": SubstitutionExpert,
}


def suite(env_id: str) -> Suite:
    """Return the policies of an environment; raises ``ValueError`` for one that has none."""
    if env_id not in SUITES or env_id not in _EXPERTS:
        raise ValueError(f"no built-in agents for {env_id}; there are some for {', '.join(_EXPERTS)}")
    return SUITES[env_id]


def agent_names(env_id: str = "CART") -> tuple[str, ...]:
    """Return the names that :func:`make_agent` takes for an environment."""
    found = suite(env_id)
    return ("expert", *found.lazy, *found.empty, *found.blind, "break_format")


def make_agent(name: str, env_id: str = "CART", seed: int = 0) -> Agent:
    """Return a new built-in agent for one episode of an environment.

    ``seed`` feeds the agents that draw. Raises ``ValueError`` for an unknown agent or environment.
    """
    found = suite(env_id)
    if name not in agent_names(env_id):
        raise ValueError(f"no built-in agent {name!r} for {env_id}; there are {', '.join(agent_names(env_id))}")
    rng = stream(seed, "agent", name)
    if name == "break_format":
        return BreakFormat()
    if name in found.empty:
        return found.empty[name](rng)
    if name in found.blind:
        return found.blind[name].make(rng)
    return _EXPERTS[env_id](SKILLS.get(name, Skill()))
