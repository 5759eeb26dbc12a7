"""How an agent that knows the goal finds products through the tools; used by the environments' ``solve``."""

from __future__ import annotations

from typing import Any

from ecom_rlve.catalog.attributes import DISCRETE
from ecom_rlve.envs.tools.catalog import SearchArgs, ranked_page
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import Style

_PAGE = 10
_TRIES = 60


def search_showing(world: World, row: int) -> dict[str, Any]:
    """Return arguments of a ``catalog_search`` whose page holds the product.

    Tries the title and shorter and shorter parts of it, with exact filters. Distractors may replace the product in one
    result but not in another, because each query is degraded by a draw of its own. Raises ``LookupError`` if no query
    shows the product.
    """
    catalog = world.shop.catalog
    names = ("category", "brand", *(name for name in DISCRETE if name != catalog.category_of(row).variant_attribute))
    filters = {name: value for name in names if (value := catalog.value(row, name)) is not None}
    words = catalog.titles[row].split()
    for number in range(_TRIES):
        start, cut = number % len(words), number // len(words)
        query = " ".join(words[start : len(words) - cut] or words)[:400]
        chosen = filters if number % 2 == 0 else {"category": filters["category"]}
        args = {"query": query, **chosen, "limit": _PAGE}
        ranked, _ = ranked_page(world, SearchArgs.model_validate(args))
        if row in ranked[:_PAGE]:
            return args
    raise LookupError(f"no wording of its title shows product {catalog.ids[row]}")


def in_style(action: dict[str, Any], style: Style) -> dict[str, Any]:
    """Return the part of an action that is sent next: in style ``tool`` the first of several calls, turn left open.

    The last of them closes the turn.
    """
    calls = action.get("tool_calls") or []
    if style != "tool" or not calls:
        return action
    return {"end_turn": True, **action} if len(calls) == 1 else {"tool_calls": calls[:1], "end_turn": False}
