"""Built-in agents: the expert and its weaker rungs, the policies that never do the job, and blind ones."""

from ecom_rlve.evaluation.agents.agent import Action, Agent
from ecom_rlve.evaluation.agents.registry import BLIND, EMPTY, LAZY, agent_names, make_agent

__all__ = ["BLIND", "EMPTY", "LAZY", "Action", "Agent", "agent_names", "make_agent"]
