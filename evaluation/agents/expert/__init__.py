"""The expert: an honest scripted agent that reads observations only."""

from ecom_rlve.evaluation.agents.expert.bundle import BundleExpert
from ecom_rlve.evaluation.agents.expert.cart import CartExpert
from ecom_rlve.evaluation.agents.expert.journey import JourneyExpert
from ecom_rlve.evaluation.agents.expert.order_status import StatusExpert
from ecom_rlve.evaluation.agents.expert.policy_questions import PolicyExpert
from ecom_rlve.evaluation.agents.expert.product_discovery import DiscoveryExpert
from ecom_rlve.evaluation.agents.expert.returns import ReturnExpert
from ecom_rlve.evaluation.agents.expert.skill import Skill
from ecom_rlve.evaluation.agents.expert.substitution import SubstitutionExpert

__all__ = [
    "BundleExpert",
    "CartExpert",
    "DiscoveryExpert",
    "JourneyExpert",
    "PolicyExpert",
    "ReturnExpert",
    "Skill",
    "StatusExpert",
    "SubstitutionExpert",
]
