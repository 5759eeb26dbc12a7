"""The components of the tab, and what its controls do."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any

import gradio as gr

from ecom_rlve.envs.errors import EnvsError
from ecom_rlve.models import MAX_DIFFICULTY
from ecom_rlve.server.errors import ServerError
from ecom_rlve.server.web.components import (
    QUIET,
    file_box,
    first_environment,
    html,
    pick_environment,
    read_seed,
    told_of,
)
from ecom_rlve.server.web.games import Games
from ecom_rlve.server.web.views.html import note
from ecom_rlve.server.web.watch.connected import HOW, Connected, ConnectionLostError
from ecom_rlve.server.web.watch.episodes import Film, agents_of, recorded, watched
from ecom_rlve.server.web.watch.models import MODEL, Models
from ecom_rlve.server.web.watch.showing import live, moved, opened, refused, show, tick, toggle

_EACH_S = 1.8
"""Seconds that a step is shown while it plays by itself: about as long as it takes to read one."""
_WELCOME = "Let an agent play, or open a trace. It plays by itself; pause it, and step back and forth."
_STOPPED = "Stopped: the model is asked no more, and the episode is given up."
_MOST_CHARACTERS = 20_000_000


class WatchTab:
    """What the tab's controls do. What they show is film, notice, step, timer, label; whether to stop; the view."""

    def __init__(self, games: Games) -> None:
        self._games = games
        self._connected = Connected(games)
        self.models = Models(games.service.settings)

    def agents(self, env_id: str) -> list[tuple[str, str]]:
        """Return the agents of an environment with their names, the connected models last."""
        names = agents_of(self._games.listed[env_id], self._games.listed)
        return [*((name, name) for name in names), *self.models.choices]

    def offer(self, env_id: str, agent: str) -> Any:
        """Offer the agents of an environment; the one that was chosen stays if it plays there."""
        choices = self.agents(env_id)
        known = [name for _, name in choices]
        return gr.update(choices=choices, value=agent if agent in known else known[0])

    async def play(
        self, env_id: str, difficulty: float, seed: str, agent: str, *named: str
    ) -> AsyncIterator[list[Any]]:
        """Let an agent play, and show it: a built-in one's whole episode by and by, a model's while it plays."""
        film: Film | None = None
        try:
            wanted = read_seed(seed)
            connection = self.models.connection(agent, *named)
            if connection is None:
                film = Film(*await watched(self._games, env_id, int(difficulty), wanted, agent))
                yield _all(opened(film, ""), film, 0)
                return
            async with aclosing(self._connected.watch(connection, env_id, int(difficulty), wanted)) as frames:
                async for frame in frames:
                    film = frame.film
                    yield _all(live(film, frame.told), film, len(film.played.moves), is_live=not film.is_whole)
        except ConnectionLostError as error:
            yield _broken(film, str(error))
        except (ServerError, EnvsError, ValueError) as error:
            yield _all(refused(told_of(error)), None, 0)

    async def open(self, event: gr.EventData) -> list[Any]:
        """Open a recorded trace, and start showing it."""
        sent: Mapping[str, Any] = event._data
        try:
            text = str(sent.get("text", ""))
            if len(text) > _MOST_CHARACTERS:
                raise ValueError("a trace of that size is none")
            played, told = await recorded(self._games, text)
        except (ValueError, EnvsError) as error:
            return _all(refused(f"{type(error).__name__}: {error}"[:400]), None, 0)
        film = Film(played, None)
        return _all(opened(film, told), film, 0)


def watch_tab(games: Games) -> None:
    """Add the tab's components to the page."""
    tab = WatchTab(games)
    first = first_environment(games)
    agents = tab.agents(first) if first else []
    film = gr.State(None)
    with gr.Row(equal_height=False, elem_classes="setup"):
        env = pick_environment(games)
        difficulty = gr.Slider(0, MAX_DIFFICULTY, value=3, step=1, label="Difficulty", scale=2)
        agent = gr.Dropdown(agents, value=agents[0][1] if agents else None, label="Agent", filterable=False, scale=2)
        seed = gr.Textbox(label="Seed", placeholder="drawn", max_lines=1, scale=1, max_length=19)
        begin = gr.Button("Let it play", variant="primary", elem_id="watch", scale=1)
    named = _model_fields(tab.models, agent)
    trace = file_box("Or open a recorded trace (.jsonl)", "trace", ".jsonl,.ndjson")
    notice = html(str(note(_WELCOME)), id="watched")
    with gr.Row(equal_height=False, elem_classes="setup"):
        back = gr.Button("Back", elem_id="back", min_width=110, scale=0)
        pause = gr.Button("Play", elem_id="pause", min_width=110, scale=0)
        forward = gr.Button("Forward", elem_id="forward", min_width=110, scale=0)
        stop = gr.Button("Stop", elem_id="stop", min_width=110, scale=0, visible=False)
        step = gr.Slider(0, 1, value=0, step=1, label="Step", scale=4, elem_id="step")
    with gr.Row(equal_height=False, elem_classes="stage"):
        with gr.Column(scale=3, min_width=320):
            job, talk = html(), html(id="film")
            ending = html(id="film-ending")
        with gr.Column(scale=2, min_width=280):
            side = html()
    timer = gr.Timer(_EACH_S, active=False)
    shown = [job, talk, side, ending]
    everything = [film, notice, step, timer, pause, stop, *shown]
    env.change(tab.offer, [env, agent], agent, **QUIET)
    playing = begin.click(tab.play, [env, difficulty, seed, agent, *named], everything, **QUIET)
    trace.act(tab.open, None, everything, cancels=[playing], **QUIET)
    stop.click(_stopped, None, [notice, stop], cancels=[playing], **QUIET)
    # Only where a visitor moves it: what the code shows would else be shown twice, and the older view might come last.
    step.input(show, [film, step], shown, **QUIET)
    there = [step, timer, pause, *shown]
    timer.tick(tick, [film, step], there, **QUIET)
    pause.click(toggle, [pause, film, step], there, **QUIET)
    back.click(moved(-1), [film, step], there, **QUIET)
    forward.click(moved(1), [film, step], there, **QUIET)


def _model_fields(models: Models, agent: Any) -> list[Any]:
    """Add where a visitor names a model, shown while that is the chosen agent; return what they name."""
    with gr.Column(visible=False, elem_classes="model") as fields:
        about = html(str(note(models.about)))
        with gr.Row(equal_height=False, elem_classes="setup"):
            url = gr.Textbox(label="Address of the API", placeholder="http://127.0.0.1:8080/v1", max_lines=1, scale=3)
            name = gr.Textbox(label="Model", max_lines=1, max_length=200, scale=2)
            off = gr.InputHTMLAttributes(autocomplete="off")
            key = gr.Textbox(label="Key, if it wants one", type="password", max_lines=1, scale=2, html_attributes=off)
            how = gr.Dropdown(list(HOW), value=next(iter(HOW)), label="It acts with", filterable=False, scale=2)

    def choose(chosen: str) -> list[Any]:
        is_named = gr.update(visible=chosen == MODEL and models.may_name)
        can_play = gr.update(visible=chosen != MODEL or models.may_name)
        return [
            gr.update(visible=models.is_one(chosen)),
            gr.update(visible=chosen == MODEL),
            *[is_named] * 3,
            can_play,
        ]

    agent.change(choose, agent, [fields, about, url, name, key, how], **QUIET)
    return [url, name, key, how]


def _all(started: list[Any], film: Film | None, step: int, *, is_live: bool = False) -> list[Any]:
    view = show(film, step) if film is not None else ["", "", "", ""]
    return [*started, gr.Button(visible=is_live), *view]


def _broken(film: Film | None, why: str) -> list[Any]:
    """Return what is shown where a model cannot go on: what it has played so far stays."""
    if film is None:
        return _all(refused(why), None, 0)
    step = len(film.played.moves)
    started = live(film, "")
    started[1] = str(note(why, "problem"))
    return _all(started, film, step)


def _stopped() -> list[Any]:
    return [str(note(_STOPPED)), gr.Button(visible=False)]
