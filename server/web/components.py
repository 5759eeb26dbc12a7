"""The few kinds of Gradio components that the tabs are made of."""

from __future__ import annotations

from typing import Any

import gradio as gr

from ecom_rlve.server.web.games import Games


def html(value: str = "", *, id: str | None = None, js: str | None = None) -> Any:
    """Return a place for HTML of the views, without Gradio's own styles; ``js`` runs once it is there."""
    return gr.HTML(value, elem_id=id, apply_default_css=False, js_on_load=js, container=False)


def pick_environment(games: Games) -> Any:
    """Return a list of the environments to choose from; CART, the easiest to understand, comes first where it is."""
    names = [(f"{info.env_id}: {info.title}", env_id) for env_id, info in games.environments.items()]
    first = "CART" if "CART" in games.environments else next(iter(games.environments), None)
    return gr.Dropdown(names, value=first, label="Environment", filterable=False, scale=2)
