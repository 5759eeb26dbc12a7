"""All tools by name."""

from __future__ import annotations

from typing import Any

from ecom_rlve.envs.tools.cart import CART_ADD, CART_REMOVE, CART_SET_QUANTITY, CART_VIEW
from ecom_rlve.envs.tools.catalog import CATALOG_GET_VARIANTS, CATALOG_SEARCH
from ecom_rlve.envs.tools.tool import Tool
from ecom_rlve.envs.tools.user import ASK_USER, USER_GET_VISIT_HISTORY

TOOLS: dict[str, Tool[Any]] = {
    tool.name: tool
    for tool in (
        CATALOG_SEARCH,
        CATALOG_GET_VARIANTS,
        CART_ADD,
        CART_VIEW,
        CART_SET_QUANTITY,
        CART_REMOVE,
        USER_GET_VISIT_HISTORY,
        ASK_USER,
    )
}
"""Every tool of the store, in the order in which schemas list them."""

SUBMIT_ANSWER = "submit_answer"
"""Name of the tool by which tool-at-a-time clients submit; its arguments are the environment's answer fields."""
