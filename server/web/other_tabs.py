"""The tabs where one only looks: curricula, catalog, report."""

from __future__ import annotations

import asyncio
from typing import Any

import gradio as gr
from pydantic import ValidationError

from ecom_rlve.catalog.errors import CatalogError
from ecom_rlve.server.errors import translate
from ecom_rlve.server.store.errors import StoreUnavailableError
from ecom_rlve.server.web.choices import choices_of_names
from ecom_rlve.server.web.components import QUIET, file_box, html, read_price, told_of
from ecom_rlve.server.web.games import Games
from ecom_rlve.server.web.reports import POLICY, latest
from ecom_rlve.server.web.searching import search
from ecom_rlve.server.web.views.curricula import curricula
from ecom_rlve.server.web.views.found import found
from ecom_rlve.server.web.views.html import note

_EACH_S = 5.0
"""Seconds between two looks at the frontiers, while the tab is open."""


def curriculum_tab(games: Games, tabs: Any, tab: Any) -> None:
    """Add what shows each run's frontiers, as they move."""

    def look() -> str:
        runs = games.service.runs
        try:
            return str(curricula([(name, [at for _, at in runs.frontiers([name])]) for name in runs.rows.names()]))
        except StoreUnavailableError as error:
            return str(note(translate(error).message, "problem"))

    shown = html(look())
    timer = gr.Timer(_EACH_S, active=False)
    timer.tick(look, None, shown, **QUIET)
    tab.select(look, None, shown, **QUIET)

    def watch(event: gr.SelectData) -> Any:
        return gr.Timer(active=event.value == tab.label)

    tabs.select(watch, None, timer, **QUIET)


def catalog_tab(games: Games) -> None:
    """Add a search of the catalog that says why each product matched."""
    choices = choices_of_names(games.shop, ("category", "brand"))

    async def find(query: str, category: str, brand: str, least: str, most: str) -> str:
        try:
            asked = (games.shop, query, category, brand, read_price(least), read_price(most))
            return str(found(*await asyncio.to_thread(search, *asked)))
        except (CatalogError, ValidationError, ValueError) as error:
            return str(note(told_of(error), "problem"))

    size = f"{games.shop.catalog.size:,} products. Search as the agents' tool does, without its mixed-up shelves."
    html(str(note(size)))
    with gr.Row(equal_height=False, elem_classes="setup"):
        query = gr.Textbox(label="Query", max_lines=1, scale=3, max_length=1000, elem_id="query")
        category = gr.Dropdown(["", *choices.get("category", ())], value="", label="Category", scale=2)
        brand = gr.Textbox(label="Brand", max_lines=1, scale=1, max_length=100)
        # A box for numbers would show 0 where it is empty.
        least = gr.Textbox(label="Price from", placeholder="any", max_lines=1, scale=1, min_width=110, max_length=12)
        most = gr.Textbox(label="Price to", placeholder="any", max_lines=1, scale=1, min_width=110, max_length=12)
        go = gr.Button("Search", variant="primary", scale=1, elem_id="find")
    shown = html(id="found")
    for event in (go.click, query.submit):
        event(find, [query, category, brand, least, most], shown, **QUIET)


def report_tab(games: Games, tab: Any) -> None:
    """Add what shows the server's latest report, or one that a visitor opens."""
    folder = games.service.settings.reports

    def look() -> str:
        return str(latest(folder))

    file_box("Open a report (.html)", "report", ".html,.htm", data_policy=POLICY)
    shown = html(look(), id="latest-report")
    tab.select(look, None, shown, **QUIET)
