"""A script that plays CART a little, for the dry run: it reads the conversation as the chat template shows it.

It searches for the customer's words, adds one of the results, each rollout another one, and submits. At d = 0 about one
prompt in three cannot be won so; in the others one of five results is right.
"""

from __future__ import annotations

import re
from typing import Any

_OPENING = re.compile(r"without done\.\n\n(.*?)\n\n\(turns left", re.DOTALL)
_PRODUCT = re.compile(r'"product_id": "(.*?)"')
_OVER = "(the conversation has ended"


def next_call(conversation: str, pick: int) -> dict[str, Any] | None:
    r"""Return the next tool call of a CART rollout, as its template's text shows it; None where it is over.

    ``pick`` says which of the results is added, counted from 0 and again from the start.

    >>> shown = "… without done.\n\nA mug, please.\n\n(turns left: 4)"
    >>> next_call(shown, 0)
    {'name': 'catalog_search', 'arguments': {'query': 'A mug, please.'}}
    """
    answers = conversation.split("<tool_response>")[1:]
    if not answers:
        opening = _OPENING.findall(conversation)
        return {"name": "catalog_search", "arguments": {"query": opening[-1] if opening else "gift"}}
    found = _PRODUCT.findall(answers[0])
    if len(answers) == 1 and found:
        return {"name": "cart_add", "arguments": {"product_id": found[pick % len(found)]}}
    return {"name": "submit_answer", "arguments": {}} if _OVER not in answers[-1] else None
