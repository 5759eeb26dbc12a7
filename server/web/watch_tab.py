"""The tab where one watches an episode step by step."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from markupsafe import Markup

from ecom_rlve.envs.errors import EnvsError
from ecom_rlve.models import MAX_DIFFICULTY
from ecom_rlve.server.errors import ServerError
from ecom_rlve.server.web.components import QUIET, first_environment, html, pick_environment, read_seed, told_of
from ecom_rlve.server.web.games import Games
from ecom_rlve.server.web.played import Played
from ecom_rlve.server.web.views.comparing import Revealed
from ecom_rlve.server.web.views.ending import banner
from ecom_rlve.server.web.views.html import note
from ecom_rlve.server.web.views.offers import Offers
from ecom_rlve.server.web.views.scene import beside, brief, conversation
from ecom_rlve.server.web.watching import agents_of, recorded, watched

_EACH_S = 1.8
"""Seconds that a step is shown while it plays by itself: about as long as it takes to read one."""
_WELCOME = "Let an agent play, or open a trace. It plays by itself; pause it, and step back and forth."
_NOTHING = "Nothing to watch: the server was restarted, or nothing was chosen yet. Let an agent play."
_MOST_BYTES = 20_000_000


@dataclass(frozen=True, slots=True)
class Film:
    """An episode that a visitor watches."""

    played: Played
    revealed: Revealed | None


class WatchTab:
    """What the tab's controls do."""

    def __init__(self, games: Games) -> None:
        self._games = games

    def agents(self, env_id: str) -> Any:
        """Offer the agents of an environment."""
        names = agents_of(self._games.listed[env_id], self._games.listed)
        return gr.update(choices=names, value=names[0])

    async def play(self, env_id: str, difficulty: float, seed: str, agent: str) -> list[Any]:
        """Let an agent play, and start showing it."""
        try:
            film = Film(*await watched(self._games, env_id, int(difficulty), read_seed(seed), agent))
        except (ServerError, EnvsError, ValueError) as error:
            return _refused(told_of(error))
        return _opened(film, "")

    async def open(self, file: str | None) -> list[Any]:
        """Open a recorded trace, and start showing it."""
        if file is None:
            return [gr.skip()] * 5
        try:
            path = Path(file)
            if path.stat().st_size > _MOST_BYTES:
                raise ValueError("a trace of that size is none")
            played, told = await recorded(self._games, path.read_text("utf-8"))
        except (OSError, ValueError, EnvsError) as error:
            return _refused(f"{type(error).__name__}: {error}"[:400])
        return _opened(Film(played, None), told)

    def tick(self, film: Film | None, step: float) -> list[Any]:
        """Show the next step; stop at the last."""
        if film is None or step >= len(film.played.moves):
            return [gr.skip(), gr.Timer(active=False), "Play"]
        following = int(step) + 1
        is_last = following == len(film.played.moves)
        return [following, gr.Timer(active=not is_last), "Play" if is_last else "Pause"]

    def toggle(self, label: str, film: Film | None, step: float) -> list[Any]:
        """Pause or go on; from the end, begin again."""
        if label == "Pause" or film is None:
            return ["Play", gr.Timer(active=False), gr.skip()]
        return ["Pause", gr.Timer(active=True), 0 if step >= len(film.played.moves) else gr.skip()]


def show(film: Film | None, step: float) -> list[str]:
    """Return brief, conversation, what stands beside it and the ending, after ``step`` moves."""
    if film is None:
        return [str(note(_NOTHING)), "", "", ""]
    until = film.played.until(int(step))
    ending = banner(film.played, film.revealed) if step >= len(film.played.moves) else ""
    nothing = Offers()
    parts = (brief(until), conversation(until, nothing, can_act=False), beside(until, nothing), ending)
    return [str(part) for part in parts]


def watch_tab(games: Games) -> None:
    """Add the tab's components to the page."""
    tab = WatchTab(games)
    film = gr.State(None)
    with gr.Row(equal_height=False, elem_classes="setup"):
        env = pick_environment(games)
        difficulty = gr.Slider(0, MAX_DIFFICULTY, value=3, step=1, label="Difficulty", scale=2)
        agent = gr.Dropdown(*_first_agents(games), label="Agent", filterable=False, scale=1)
        seed = gr.Textbox(label="Seed", placeholder="drawn", max_lines=1, scale=1, max_length=19)
        begin = gr.Button("Let it play", variant="primary", elem_id="watch", scale=1)
    with gr.Accordion("Open a recorded trace", open=False):
        file = gr.File(label="Trace (.jsonl)", file_types=[".jsonl", ".ndjson"], type="filepath")
    notice = html(str(note(_WELCOME)), id="watched")
    with gr.Row(equal_height=False, elem_classes="setup"):
        back = gr.Button("Back", elem_id="back", min_width=80)
        pause = gr.Button("Play", elem_id="pause", min_width=80)
        forward = gr.Button("Forward", elem_id="forward", min_width=80)
        step = gr.Slider(0, 1, value=0, step=1, label="Step", scale=4, elem_id="step")
    with gr.Row(equal_height=False, elem_classes="stage"):
        with gr.Column(scale=3, min_width=320):
            job, talk = html(), html(id="film")
            ending = html(id="film-ending")
        with gr.Column(scale=2, min_width=280):
            side = html()
    timer = gr.Timer(_EACH_S, active=False)
    started = [film, notice, step, timer, pause]
    shown = [job, talk, side, ending]
    env.change(tab.agents, env, agent, **QUIET)
    for event, source in ((begin.click, [env, difficulty, seed, agent]), (file.change, [file])):
        function = tab.play if len(source) > 1 else tab.open
        event(function, source, started, **QUIET).then(show, [film, step], shown, **QUIET)
    step.change(show, [film, step], shown, **QUIET)
    timer.tick(tab.tick, [film, step], [step, timer, pause], **QUIET)
    pause.click(tab.toggle, [pause, film, step], [pause, timer, step], **QUIET)
    back.click(_moved(-1), [film, step], [step, timer, pause], **QUIET)
    forward.click(_moved(1), [film, step], [step, timer, pause], **QUIET)


def _first_agents(games: Games) -> tuple[list[str], str | None]:
    """Return the agents that are offered at first, and the one that is chosen."""
    first = first_environment(games)
    if first is None:
        return [], None
    names = agents_of(games.listed[first], games.listed)
    return names, names[0]


def _moved(by: int) -> Any:
    def move(film: Film | None, step: float) -> list[Any]:
        last = len(film.played.moves) if film is not None else 0
        return [min(max(0, int(step) + by), last), gr.Timer(active=False), "Play"]

    return move


def _opened(film: Film, told: str) -> list[Any]:
    last = max(1, len(film.played.moves))
    notice: Markup | str = note(told) if told else ""
    return [film, str(notice), gr.Slider(maximum=last, value=0), gr.Timer(active=True), "Pause"]


def _refused(why: str) -> list[Any]:
    return [None, str(note(why, "problem")), gr.Slider(maximum=1, value=0), gr.Timer(active=False), "Play"]
