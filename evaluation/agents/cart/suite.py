"""The agents of CART."""

from ecom_rlve.evaluation.agents.cart.blind import BlindCart
from ecom_rlve.evaluation.agents.cart.expert import CartExpert
from ecom_rlve.evaluation.agents.suite import Blind, Suite

SUITE = Suite(
    "CART",
    CartExpert,
    blind={
        "first_shown": Blind(lambda _: BlindCart("catalog_search", None)),
        "random_shown": Blind(lambda rng: BlindCart("catalog_search", rng)),
        "first_of_history": Blind(lambda _: BlindCart("user_get_visit_history", None), picks=True),
        "random_of_history": Blind(lambda rng: BlindCart("user_get_visit_history", rng), picks=True),
    },
)
