"""Which tools a row of a result can be clicked into: those that take an id that the row holds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ecom_rlve.server.web.views.html import data, el, together
from ecom_rlve.server.web.views.naming import tool_name

SUBMIT = "submit_answer"
_PREFIX = re.compile(r"^(new|selected|recommended)_")
_ANSWERS = {"selected_order_id": "Answer: this order", "selected_line_id": "Answer: this line"}
"""What a button of an answer's field says, the most special field last."""


@dataclass(frozen=True, slots=True)
class Offers:
    """The tools of an episode, by what can be clicked into them."""

    schemas: Sequence[Mapping[str, Any]] = ()
    """OpenAI function schemas; none where nothing can be clicked."""

    def buttons(self, row: Mapping[str, Any], context: Mapping[str, Any] | None = None) -> Markup | None:
        """Return the buttons of a row; ``context`` holds the ids of what the row is part of."""
        known = {name: value for name, value in {**(context or {}), **row}.items() if isinstance(value, str)}
        own = {name for name in row if is_id(name)}
        found = [button for schema in self.schemas if (button := _button(schema["function"], known, own))]
        return el("div", together(found), class_="offers") if found else None


def is_id(name: str) -> bool:
    """Tell whether a field holds an id or ids."""
    return name.endswith(("_id", "_ids"))


def kind_of(argument: str) -> str:
    """Return the field of a result that an argument takes its value from.

    >>> kind_of("recommended_product_ids"), kind_of("new_product_id")
    ('product_id', 'product_id')
    """
    return _PREFIX.sub("", argument).removesuffix("s")


def _button(tool: Mapping[str, Any], known: Mapping[str, str], own: set[str]) -> Markup | None:
    parameters = tool.get("parameters", {})
    ids = [name for name in parameters.get("properties", {}) if is_id(name)]
    fill = {name: known[kind_of(name)] for name in ids if kind_of(name) in known}
    required = {name for name in parameters.get("required", ()) if name in ids and not _PREFIX.match(name)}
    if not _goes_with({kind_of(name) for name in fill}, own, "line_id" in ids and "order_id" not in ids, known):
        return None
    if not required <= fill.keys() and not any(_PREFIX.match(name) for name in fill):
        return None
    label = tool_name(tool["name"])
    if tool["name"] == SUBMIT:
        answers = [_ANSWERS[name] for name in _ANSWERS if name in fill]
        label = answers[-1] if answers else "Recommend"
    return el("button", label, type="button", class_="offer", data_fill=data({"tool": tool["name"], "args": fill}))


def _goes_with(filled: set[str], own: set[str], is_cart_tool: bool, known: Mapping[str, str]) -> bool:
    """Tell whether a tool belongs to a row: by the row's most special id, and by whose line it is."""
    special = next(
        (name for name in ("variant_id", "line_id", "product_id", "order_id", "section_id") if name in own), ""
    )
    if is_cart_tool and "order_id" in known:
        return False
    is_product_of_line = special == "line_id" and "product_id" in own and filled == {"product_id"}
    return special in filled or (is_product_of_line and "order_id" not in known)
