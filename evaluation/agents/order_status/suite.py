"""The agents of STATUS."""

from ecom_rlve.evaluation.agents.order_status.blind import BlindOrder
from ecom_rlve.evaluation.agents.order_status.expert import StatusExpert
from ecom_rlve.evaluation.agents.order_status.lazy import GuessesDelivered
from ecom_rlve.evaluation.agents.suite import Blind, Suite

SUITE = Suite(
    "STATUS",
    StatusExpert,
    # The status that most orders have.
    constants={"order_status": "delivered"},
    lazy={"guesses_delivered": lambda _: GuessesDelivered()},
    blind={
        "first_order": Blind(lambda _: BlindOrder(None), picks=True),
        "random_order": Blind(BlindOrder, picks=True),
    },
)
