"""The agents of POLICY."""

from ecom_rlve.evaluation.agents.policy_questions.blind import BlindReader
from ecom_rlve.evaluation.agents.policy_questions.expert import PolicyExpert
from ecom_rlve.evaluation.agents.suite import Blind, Suite

SUITE = Suite(
    "POLICY",
    PolicyExpert,
    # What most questions ask for.
    constants={"unit": "days"},
    blind={
        "read_then_first": Blind(lambda _: BlindReader(None), picks=True),
        "read_then_random": Blind(BlindReader, picks=True),
    },
)
