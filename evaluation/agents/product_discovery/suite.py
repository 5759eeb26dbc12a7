"""The agents of PD."""

from ecom_rlve.evaluation.agents.product_discovery.expert import CheapestFirst, DiscoveryExpert
from ecom_rlve.evaluation.agents.suite import Suite

SUITE = Suite("PD", DiscoveryExpert, lazy={"cheapest_first": lambda _: CheapestFirst()})
