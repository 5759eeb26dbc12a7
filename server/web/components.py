"""The few kinds of Gradio components that the tabs are made of, and what they have in common."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import gradio as gr

from ecom_rlve.models import MAX_SEED
from ecom_rlve.server.errors import translate
from ecom_rlve.server.web.games import Games
from ecom_rlve.server.web.views.html import el

QUIET: Mapping[str, Any] = MappingProxyType(
    {"show_progress": "hidden", "api_visibility": "private", "concurrency_limit": None}
)
"""Options of every event: no spinner over what one reads, no API beside the server's own, nobody waits for others."""

_PRICE = re.compile(r"[0-9]{1,9}(\.[0-9]{1,2})?")


def html(value: str = "", *, id: str | None = None, js: str | None = None) -> Any:
    """Return a place for HTML of the views, without Gradio's own styles; ``js`` runs once it is there."""
    return gr.HTML(value, elem_id=id, apply_default_css=False, js_on_load=js, container=False)


def file_box(label: str, kind: str, accepted: str, **further: str) -> Any:
    """Return where a visitor chooses a file, which the script reads: nothing is uploaded to a file of the server."""
    identity = f"open-{kind}"
    box = el("input", type="file", id=identity, accept=accepted, data_opens=kind, **further)
    told = el("div", id=f"{identity}-told")
    inside = el("div", el("label", label, for_=identity), box, told, class_="file")
    return html(str(inside), id=f"file-{kind}", js=f"window.ecom{kind.capitalize()} = (sent) => trigger('act', sent);")


def pick_environment(games: Games) -> Any:
    """Return a list of the environments to choose from; CART, the easiest to understand, is chosen at first."""
    names = [(f"{info.env_id}: {info.title}", env_id) for env_id, info in games.environments.items()]
    return gr.Dropdown(names, value=first_environment(games), label="Environment", filterable=False, scale=2)


def first_environment(games: Games) -> str | None:
    """Return the environment that is chosen at first; None if the catalog can serve none."""
    return "CART" if "CART" in games.environments else next(iter(games.environments), None)


def read_seed(text: str) -> int | None:
    """Return a seed that a visitor typed, None if they left it to the server; raises ``ValueError`` for others."""
    text = text.strip()
    if not text:
        return None
    if not text.isdecimal() or int(text) > MAX_SEED:
        raise ValueError(f"seed: a whole number from 0 to {MAX_SEED} is wanted, or nothing")
    return int(text)


def read_price(text: str) -> float | None:
    """Return a price that a visitor typed, None if they named none; raises ``ValueError`` for others."""
    text = text.strip().removeprefix("$")
    if not text:
        return None
    if not _PRICE.fullmatch(text):
        raise ValueError("price: a number such as 25 or 19.99 is wanted, or nothing")
    return float(text)


def told_of(error: Exception) -> str:
    """Return what a visitor is told of an error; a ``ValueError`` is one of the page's own about what they sent."""
    return str(error) if type(error) is ValueError else translate(error).message
