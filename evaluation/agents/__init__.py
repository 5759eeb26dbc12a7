"""Built-in agents: the experts and their weaker rungs, policies that never do the job, and blind ones."""

from ecom_rlve.evaluation.agent import Action, Agent
from ecom_rlve.evaluation.agents.policies import Policies
from ecom_rlve.evaluation.agents.registry import make_expert, policies_of, suites

__all__ = ["Action", "Agent", "Policies", "make_expert", "policies_of", "suites"]
