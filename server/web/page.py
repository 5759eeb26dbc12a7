"""The page: its tabs, its looks, and the application that serves it. Importing this imports Gradio."""

from __future__ import annotations

from importlib.resources import files

import gradio as gr
from fastapi import FastAPI
from starlette.applications import Starlette

from ecom_rlve.server.web import static
from ecom_rlve.server.web.games import Games
from ecom_rlve.server.web.head import OwnHead
from ecom_rlve.server.web.mount import PATH
from ecom_rlve.server.web.other_tabs import catalog_tab, curriculum_tab, report_tab
from ecom_rlve.server.web.play_tab import play_tab
from ecom_rlve.server.web.views.html import el, together
from ecom_rlve.server.web.watch.tab import watch_tab

TITLE = "EcomRLVE-GYM"
_SUBTITLE = "You are the shop's assistant. Code knows what the customer wants, and scores what you do."
_FONTS = ["system-ui", "-apple-system", "Segoe UI", "Roboto", "Helvetica Neue", "Arial", "sans-serif"]
_MONO = ["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace"]
_MOST_UPLOADED = "1kb"
"""Gradio's own way of sending files, which nothing here uses."""


def application(games: Games) -> Starlette:
    """Return the application that serves the page at :data:`PATH`."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    gr.mount_gradio_app(
        app,
        blocks(games),
        PATH,
        theme=gr.themes.Base(primary_hue="teal", neutral_hue="slate", font=_FONTS, font_mono=_MONO),
        head=_head(),
        footer_links=[],
        run_history=False,
        ssr_mode=False,
        max_file_size=_MOST_UPLOADED,
        enable_monitoring=False,
        mcp_server=False,
        pwa=False,
    )
    app.add_middleware(OwnHead, path=f"{PATH}/", head=_first_head())
    return app


def _head() -> str:
    """Return what is added to the page's head. Gradio changes the selectors of style sheets that it is given."""
    style, script = (files(static).joinpath(name).read_text() for name in ("page.css", "page.js"))
    return f"<style>{style}</style><script>{script}</script>"


def _first_head() -> str:
    """Return what the head begins with, before any script runs: browsers and sites that preview it read no other."""
    parts = (
        el("title", TITLE),
        el("meta", name="description", content=_SUBTITLE),
        # Below the page's own address, so that a path prefix changes nothing.
        el("link", rel="icon", href="../favicon.ico"),
    )
    return str(together(parts))


def blocks(games: Games) -> gr.Blocks:
    """Return the page's components with what they do."""
    with gr.Blocks(title=TITLE, analytics_enabled=False, fill_width=True) as page:
        gr.HTML(_header(), apply_default_css=False, js_on_load=None)
        with gr.Tabs() as tabs:
            with gr.Tab("Play"):
                play_tab(page, games)
            with gr.Tab("Watch"):
                watch_tab(games)
            with gr.Tab("Curriculum") as curriculum:
                curriculum_tab(games, tabs, curriculum)
            with gr.Tab("Catalog"):
                catalog_tab(games)
            with gr.Tab("Report") as report:
                report_tab(games, report)
    return page


def _header() -> str:
    words = el("div", el("h1", TITLE), el("p", _SUBTITLE, class_="dim"))
    links = el("a", "API", href="../docs", class_="link")
    return str(el("div", words, links, el("button", "Dark or light", type="button", id="theme"), class_="top"))
