"""A lazy policy of STATUS: it finds the order that is meant and guesses how it stands."""

from __future__ import annotations

from ecom_rlve.evaluation.agent import Action
from ecom_rlve.evaluation.agents.order_status.expert import StatusExpert
from ecom_rlve.models import Style


class GuessesDelivered(StatusExpert):
    """Answers the right order, unread, with the status that most orders have."""

    def _decide(self, turns_left: int, style: Style) -> Action:
        unread = [order for order in self._history.listed if order["order_id"] not in self._history.read]
        self._history.read |= {order["order_id"]: {**order, "status": "delivered"} for order in unread}
        return super()._decide(turns_left, style)
