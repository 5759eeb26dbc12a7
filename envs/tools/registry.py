"""All tools by name."""

from __future__ import annotations

from typing import Any

from ecom_rlve.envs.tools.cart import CART_ADD, CART_REMOVE, CART_SET_QUANTITY, CART_VIEW
from ecom_rlve.envs.tools.catalog import CATALOG_GET_VARIANTS, CATALOG_SEARCH
from ecom_rlve.envs.tools.orders import ORDER_GET, ORDER_LIST
from ecom_rlve.envs.tools.policy_book import DATETIME_NOW, POLICY_GET, POLICY_SEARCH
from ecom_rlve.envs.tools.products import CATALOG_GET_PRODUCT, CATALOG_RERANK
from ecom_rlve.envs.tools.returns import RETURN_CHECK_ELIGIBILITY, RETURN_EXCHANGE, RETURN_INITIATE
from ecom_rlve.envs.tools.tool import Tool
from ecom_rlve.envs.tools.user import ASK_USER, USER_GET_VISIT_HISTORY

TOOLS: dict[str, Tool[Any]] = {
    tool.name: tool
    for tool in (
        CATALOG_SEARCH,
        CATALOG_GET_PRODUCT,
        CATALOG_GET_VARIANTS,
        CATALOG_RERANK,
        CART_ADD,
        CART_VIEW,
        CART_SET_QUANTITY,
        CART_REMOVE,
        ORDER_LIST,
        ORDER_GET,
        RETURN_CHECK_ELIGIBILITY,
        RETURN_INITIATE,
        RETURN_EXCHANGE,
        POLICY_SEARCH,
        POLICY_GET,
        USER_GET_VISIT_HISTORY,
        ASK_USER,
        DATETIME_NOW,
    )
}
"""Every tool of the store, in the order in which schemas list them."""

SAY = "say"
"""Name of the tool with which clients of style ``tool`` that can only call tools speak to the customer."""
SUBMIT_ANSWER = "submit_answer"
"""Name of the tool with which clients of style ``tool`` submit; its arguments are the fields of the answer."""
