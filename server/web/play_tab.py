"""The tab where a visitor is the agent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gradio as gr
from markupsafe import Markup

from ecom_rlve.envs.errors import EnvsError
from ecom_rlve.models import MAX_DIFFICULTY
from ecom_rlve.server.episodes.record import Record
from ecom_rlve.server.errors import ServerError, UnknownEpisodeError
from ecom_rlve.server.web.choices import choices_of
from ecom_rlve.server.web.components import QUIET, html, pick_environment, read_seed, told_of
from ecom_rlve.server.web.games import Games
from ecom_rlve.server.web.played import Played, action_of
from ecom_rlve.server.web.views.axes import axes
from ecom_rlve.server.web.views.ending import banner
from ecom_rlve.server.web.views.forms import desk
from ecom_rlve.server.web.views.html import el, note
from ecom_rlve.server.web.views.offers import Offers
from ecom_rlve.server.web.views.scene import beside, brief, conversation
from ecom_rlve.server.web.views.welcome import welcome

_KEPT = "() => [sessionStorage.getItem('ecom-rlve-episode') || '']"
_START = "(env, d, seed) => [env, d, seed, sessionStorage.getItem('ecom-rlve-episode') || '']"
_LOST = "This episode is gone: the server was restarted, or the episode expired. Nothing was scored. Start a new one."


class PlayTab:
    """What the tab's controls do."""

    def __init__(self, games: Games) -> None:
        self._games = games

    def show_axes(self, env_id: str, difficulty: float) -> str:
        """Return the axes of an environment at a difficulty."""
        info = self._games.environments.get(env_id)
        return str(axes(int(difficulty), info.axes if info else ()))

    async def start(self, env_id: str, difficulty: float, seed: str, replaced: str) -> list[str]:
        """Start an episode and return what all parts of the tab show."""
        try:
            wanted = read_seed(seed)
            record = await self._games.start(env_id, int(difficulty), wanted, "tool", replaced)
        except (ServerError, EnvsError, ValueError) as error:
            return _nothing(note(told_of(error), "problem"))
        return [*await self._shown(record), self._desk(record)]

    async def restore(self, episode_id: str) -> list[str]:
        """Return the episode that a visitor's browser remembers, or say that it is gone."""
        if not episode_id:
            return _nothing(welcome())
        try:
            record = await self._games.record(episode_id)
        except UnknownEpisodeError:
            return _nothing(note(_LOST, "problem"))
        return [*await self._shown(record), self._desk(record)]

    async def act(self, event: gr.EventData) -> list[Any]:
        """Take the step that the script sent; the desk stays as it is, with what is typed there."""
        sent: Mapping[str, Any] = event._data
        try:
            record = await self._games.step(str(sent.get("episode", "")), action_of(sent))
        except UnknownEpisodeError:
            return [*_nothing(note(_LOST, "problem"))[:-1], gr.skip()]
        except (ServerError, EnvsError, ValueError) as error:
            return [str(note(told_of(error), "problem")), *[gr.skip()] * 4, gr.skip()]
        shown = await self._shown(record)
        return [*shown, "" if record.episode.done else gr.skip()]

    async def _shown(self, record: Record) -> list[str]:
        """Return notice, brief, conversation, what stands beside it, and the ending."""
        played = Played.of_episode(record.episode)
        is_over = record.episode.done
        offers = Offers(() if is_over else played.opening.tools or ())
        ending = banner(played, await self._games.reveal(record)) if is_over else ""
        talk = conversation(played, offers, can_act=not is_over)
        return [str(part) for part in ("", brief(played), talk, beside(played, offers), ending)]

    def _desk(self, record: Record) -> str:
        if record.episode.done:
            return ""
        schemas = record.episode.opening.tools or []
        return str(desk(schemas, choices_of(self._games.shop, schemas)))


def play_tab(page: gr.Blocks, games: Games) -> None:
    """Add the tab's components to the page."""
    tab = PlayTab(games)
    with gr.Row(equal_height=False, elem_classes="setup"):
        env = pick_environment(games)
        difficulty = gr.Slider(0, MAX_DIFFICULTY, value=1, step=1, label="Difficulty", scale=3)
        seed = gr.Textbox(label="Seed", placeholder="drawn", max_lines=1, scale=1, max_length=19)
        start = gr.Button("New episode", variant="primary", elem_id="start", scale=1)
    moved = html(tab.show_axes(env.value, difficulty.value))
    notice = html(str(welcome()), id="notice")
    with gr.Row(equal_height=False, elem_classes="stage"):
        with gr.Column(scale=3, min_width=320):
            job, talk = html(), html(id="talk")
            ending = html(id="ending")
            acting = html(id="desk", js="window.ecomAct = (sent) => trigger('act', sent);")
        with gr.Column(scale=2, min_width=280):
            side = html(id="side")
    kept = gr.Textbox(visible=False)
    parts = [notice, job, talk, side, ending, acting]
    for control in (env, difficulty):
        control.change(tab.show_axes, [env, difficulty], moved, **QUIET)
    start.click(tab.start, [env, difficulty, seed, kept], parts, js=_START, **QUIET)
    acting.act(tab.act, None, parts, **QUIET)
    page.load(tab.restore, kept, parts, js=_KEPT, **QUIET)


def _nothing(notice: Markup) -> list[str]:
    """Return the parts of a tab without an episode."""
    return [str(notice), "", str(el("div", class_="empty")), "", "", ""]
