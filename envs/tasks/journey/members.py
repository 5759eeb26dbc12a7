"""The environments whose intents a journey combines."""

from __future__ import annotations

from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.tasks.bundle.environment import ENVIRONMENT as BUNDLE
from ecom_rlve.envs.tasks.cart.environment import ENVIRONMENT as CART
from ecom_rlve.envs.tasks.order_status.environment import ENVIRONMENT as STATUS
from ecom_rlve.envs.tasks.policy_questions.environment import ENVIRONMENT as POLICY
from ecom_rlve.envs.tasks.product_discovery.environment import ENVIRONMENT as PD
from ecom_rlve.envs.tasks.returns.environment import ENVIRONMENT as RETURN
from ecom_rlve.envs.tasks.substitution.environment import ENVIRONMENT as SUB

MEMBERS: tuple[Environment, ...] = (BUNDLE, CART, PD, POLICY, RETURN, STATUS, SUB)
"""Ordered by id. A change of members needs a new version of JOURNEY."""
