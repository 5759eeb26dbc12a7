"""The expert: an honest scripted agent that reads observations only."""

from ecom_rlve.evaluation.agents.expert.cart import CartExpert
from ecom_rlve.evaluation.agents.expert.skill import Skill

__all__ = ["CartExpert", "Skill"]
