"""What customers ask about the store's rules. The words for it are frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ecom_rlve.envs.language.frames import Frames, frames_in
from ecom_rlve.envs.policy.topics import ONLINE_RETURN, RESTOCKING

Form = Literal["figure", "deadline", "share"]
_FIGURES = (
    "shop_return", "price_protection", "cancellation", "refund_time", "delivery_fee", "free_delivery", "warranty",
    "gift_card", "loyalty", "credit_bonus", "deposit", "pickup", "damage_report", "gift_wrap", "trade_in",
    ONLINE_RETURN,
)  # fmt: skip
_DEADLINES = ("shop_return", "price_protection", "gift_card", ONLINE_RETURN)
_SHARES = ("credit_bonus", "deposit", "trade_in", RESTOCKING)


@dataclass(frozen=True, slots=True)
class Question:
    """One template of a question."""

    key: str
    topic: str
    form: Form
    """What is asked for. ``figure``: the rule's figure; ``deadline``: a given date plus the figure in days; ``share``:
    the figure as a percentage of a given price, in dollars."""

    @property
    def frames(self) -> Frames:
        """Indirect questions, with ``{date}`` or ``{money}`` for the given date or price."""
        return _ASKS[f"question_{self.key}"]


QUESTIONS: tuple[Question, ...] = (
    *(Question(topic, topic, "figure") for topic in _FIGURES),
    # Exchanging something is another question about the rule for sending it back.
    Question("online_exchange", ONLINE_RETURN, "figure"),
    *(Question(f"{topic}_deadline", topic, "deadline") for topic in _DEADLINES),
    *(Question(f"{topic}_share", topic, "share") for topic in _SHARES),
)
"""All templates of questions."""

_ASKS = frames_in(__package__, "questions.toml")
OPENING = frames_in(__package__)["open_policy"]
"""Opens with a question about the rules."""
