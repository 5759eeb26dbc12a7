"""What a visitor sees before their first episode."""

from __future__ import annotations

from markupsafe import Markup

from ecom_rlve.server.web.views.html import el, together

_STEPS = (
    ("Choose", "an environment and a difficulty, and start an episode. The customer speaks first."),
    ("Act", "as the shop's assistant: ask, search, fill the cart. Click a result to use it in the next call."),
    ("Submit", "the final answer before your turns run out."),
    ("See", "the reward taken apart, what the customer wanted, and how an agent that knows it goes about it."),
)
_ELSE = "Rather look on? Watch lets the expert play, step by step. What is scored here is what models are trained on."


def welcome() -> Markup:
    """Return how it goes, in four steps."""
    steps = [el("li", el("b", verb), f" {rest}") for verb, rest in _STEPS]
    return el(
        "section", el("h2", "How it goes"), el("ol", together(steps)), el("p", _ELSE, class_="dim"), class_="panel"
    )
