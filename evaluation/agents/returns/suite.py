"""The agents of RETURN."""

from ecom_rlve.evaluation.agents.returns.blind import BlindLine, ReturnEveryLine
from ecom_rlve.evaluation.agents.returns.expert import ReturnExpert
from ecom_rlve.evaluation.agents.returns.lazy import SkipsCheck
from ecom_rlve.evaluation.agents.suite import Blind, Suite

SUITE = Suite(
    "RETURN",
    ReturnExpert,
    # The only resolution that nothing has to be done for.
    constants={"resolution": "not_eligible"},
    lazy={"skips_check": lambda _: SkipsCheck()},
    empty={"return_every_line": lambda _: ReturnEveryLine()},
    blind={
        "first_line": Blind(lambda _: BlindLine(None), picks=True),
        "random_line": Blind(BlindLine, picks=True),
        "never_eligible": Blind(lambda rng: BlindLine(rng, "not_eligible"), picks=True),
    },
)
