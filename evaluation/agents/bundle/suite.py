"""The agents of BUNDLE."""

from ecom_rlve.evaluation.agents.bundle.expert import BundleExpert
from ecom_rlve.evaluation.agents.suite import Suite

SUITE = Suite("BUNDLE", BundleExpert)
