"""The agents of SUB."""

from ecom_rlve.evaluation.agents.substitution.expert import SubstitutionExpert
from ecom_rlve.evaluation.agents.suite import Suite

SUITE = Suite("SUB", SubstitutionExpert)
