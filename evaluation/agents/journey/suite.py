"""The agents of JOURNEY."""

from ecom_rlve.evaluation.agents.journey.expert import JourneyExpert
from ecom_rlve.evaluation.agents.suite import Suite

SUITE = Suite("JOURNEY", JourneyExpert)
