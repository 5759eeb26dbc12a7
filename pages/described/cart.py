"""The difficulty table of CART, whose conversations have a page of their own."""

from __future__ import annotations

from describing import CHANGES, SEARCHED, Counts, Described, Row

from ecom_rlve.envs.episode.episode import Episode
from ecom_rlve.envs.tasks.cart.goal import items_at, many_probability, variant_probability


def _counts(played: Episode) -> Counts:
    intent = played.intent
    items = intent.goal.items
    return {
        "items": (len(items), 1),
        "changed": (intent.revision is not None, 1),
        "variants": (sum(item.variant is not None for item in items), len(items)),
        "many": (sum(item.quantity > 1 for item in items), len(items)),
    }


DESCRIBED = Described(
    "CART",
    (
        *SEARCHED,
        CHANGES,
        Row("items", "items", "min(5, 1+⌊d/3⌋)", lambda a: items_at(a.d)),
        Row("variants", "items with a required variant", "σ((d−2)/1.5)", lambda a: variant_probability(a.d)),
        Row("many", "items wanted 2 to 4 times", "min(0.5, 0.1·d)", lambda a: many_probability(a.d)),
    ),
    _counts,
    table=("docs/cart.md", "difficulty"),
)
