"""Built-in agents: the experts and their weaker rungs, policies that never do the job, and blind ones."""

from ecom_rlve.evaluation.agent import Action, Agent
from ecom_rlve.evaluation.agents.registry import agent_names, make_agent, suite

__all__ = ["Action", "Agent", "agent_names", "make_agent", "suite"]
