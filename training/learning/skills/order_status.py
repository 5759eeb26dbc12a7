"""Skills for STATUS: list the orders, open one, ask what tells them apart, answer with one that was opened."""

from __future__ import annotations

from ecom_rlve.training.learning.notebook import how_many, question, submit, use
from ecom_rlve.training.learning.policy import Candidate
from ecom_rlve.training.learning.skills.orders import Order, OrderNotes

_PAGE = 50
_QUESTIONS = {
    "day": "On which date did you place it?",
    "total": "What was the order total?",
    "things": "Which other items were in the order?",
    "anything": "Is there anything else that I should know?",
    "number": "What is the order number?",
}


class StatusNotes(OrderNotes):
    """Notes of one STATUS episode."""

    def offers(self) -> list[Candidate]:
        offers = [
            Candidate("list", use("order_list", limit=_PAGE), (f"has:{bool(self.listed)}",)),
            Candidate("list few", use("order_list", limit=5), (f"has:{bool(self.listed)}",)),
            *(
                question(self, "ask", topic, text, f"topic:{topic},{how_many(self.asked[topic], 2)}")
                for topic, text in _QUESTIONS.items()
            ),
        ]
        for order, features in zip(self.listed, self.order_features(), strict=True):
            shown = self.opened.get(order["order_id"])
            offers.append(Candidate("get", use("order_get", order_id=order["order_id"]), features))
            if shown is not None:
                offers.append(Candidate("submit", _answer(shown, arrival=True), features))
                offers.append(Candidate("submit status", _answer(shown, arrival=False), features))
        return offers


def _answer(order: Order, *, arrival: bool) -> dict[str, object]:
    day = order.get("delivered", order.get("eta")) if arrival else None
    return submit(selected_order_id=order["order_id"], order_status=order["status"], eta_date=day)
