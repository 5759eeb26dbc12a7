"""Words for people: names of tools, fields and axes, prices and plain values."""

from __future__ import annotations

from typing import Any

from ecom_rlve.catalog.shop_words.currencies import DOLLARS, spelled_amount

_TOOLS = {
    "ask_user": "Ask the customer",
    "cart_add": "Add to cart",
    "cart_remove": "Remove from cart",
    "cart_set_quantity": "Set quantity",
    "cart_view": "View cart",
    "catalog_get_product": "Details",
    "catalog_get_variants": "Variants",
    "catalog_rerank": "Rerank",
    "catalog_search": "Search",
    "datetime_now": "Today's date",
    "order_get": "Open order",
    "order_list": "List orders",
    "policy_get": "Read section",
    "policy_search": "Search policies",
    "return_check_eligibility": "Check return",
    "return_exchange": "Exchange",
    "return_initiate": "Return",
    "submit_answer": "Answer",
    "user_get_visit_history": "Visit history",
}
AXES = {
    "m": "constraints",
    "p_missing": "left unsaid",
    "eps_rank": "distractors in results",
    "p_oos": "sells out",
    "t_max": "turn budget",
    "p_noise": "typing errors",
    "p_switch": "changes of mind",
    "top_k": "results in reach",
    "h_orders": "past orders",
    "b_branch": "policy conditions",
    "b_tool": "calls per turn",
    "k_rec": "items asked for",
}
"""Short names of the difficulty axes, by their names in the code."""
_MONEY = {"price", "price_from", "total", "subtotal", "price_min", "price_max"}
_UNITS = {
    "wattage": "W",
    "weight": "g",
    "screen_size": "cm",
    "capacity": "ml",
    "battery_life": "h",
    "length": "cm",
    "ship_days": "days",
}


def tool_name(name: str) -> str:
    """Return what a tool is called on the page; one that the page does not know keeps its name in words."""
    return _TOOLS.get(name, in_words(name))


def in_words(name: str) -> str:
    """Return an identifier in words.

    >>> in_words("ship_days_max")
    'Ship days max'
    """
    return name.replace("_", " ").strip().capitalize()


def shown(value: Any, name: str = "", currency: str | None = None) -> str:
    """Return a value as people write it; ``name`` is its field's, from which follows the unit.

    ``currency`` is the code that a tool shows beside amounts; None = dollars.

    >>> shown(19.5, "price"), shown(240.0, "weight"), shown(True), shown(None), shown(1500000.0, "price", "VND")
    ('$19.50', '240 g', 'yes', '', '₫1,500,000')
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        # A search counts its results under the name by which an order sums up its prices.
        if name in _MONEY and not (name == "total" and isinstance(value, int)):
            return spelled_amount(round(value * 100), currency or DOLLARS)
        number = f"{value:g}" if abs(value) < 1e6 else f"{value:,.0f}"
        return f"{number} {_UNITS[name]}" if name in _UNITS else number
    if isinstance(value, list | tuple):
        return ", ".join(shown(each) for each in value)
    if isinstance(value, dict):
        named = value.get("currency")
        told = ((key, shown(each, key, named)) for key, each in value.items() if key != "currency")
        return ", ".join(f"{in_words(key).lower()}: {text}" for key, text in told)
    return str(value)
