"""What is shown of a film: each step, and the controls that go through them."""

from __future__ import annotations

from typing import Any

import gradio as gr

from ecom_rlve.server.web.views.ending import banner
from ecom_rlve.server.web.views.html import note
from ecom_rlve.server.web.views.offers import Offers
from ecom_rlve.server.web.views.scene import beside, brief, conversation
from ecom_rlve.server.web.watch.episodes import Film

_NOTHING = "Nothing to watch: the server was restarted, or nothing was chosen yet. Let an agent play."


def show(film: Film | None, step: float) -> list[str]:
    """Return brief, conversation, what stands beside it and the ending, after ``step`` moves."""
    if film is None:
        return [str(note(_NOTHING)), "", "", ""]
    until = film.played.until(int(step))
    is_end = film.is_whole and step >= len(film.played.moves)
    ending = banner(film.played, film.revealed) if is_end else ""
    nothing = Offers()
    parts = (brief(until), conversation(until, nothing, can_act=False), beside(until, nothing), ending)
    return [str(part) for part in parts]


def opened(film: Film, told: str) -> list[Any]:
    """Return film, notice, step, timer and label of a film that begins to play by itself."""
    last = max(1, len(film.played.moves))
    notice = str(note(told)) if told else ""
    return [film, notice, gr.Slider(maximum=last, value=0), gr.Timer(active=True), "Pause"]


def live(film: Film, told: str) -> list[Any]:
    """Return the same of a film that is still being made: its last step is shown, and nothing plays by itself."""
    last = len(film.played.moves)
    slider = gr.Slider(maximum=max(1, last), value=last)
    return [film, str(note(told)) if told else "", slider, gr.Timer(active=False), "Play"]


def refused(why: str) -> list[Any]:
    """Return the same where there is no film, and why."""
    return [None, str(note(why, "problem")), gr.Slider(maximum=1, value=0), gr.Timer(active=False), "Play"]


def tick(film: Film | None, step: float) -> list[Any]:
    """Show the next step; stop at the last. Like those below, returns step, timer and label, and then the view."""
    if film is None or step >= len(film.played.moves):
        return [gr.skip(), gr.Timer(active=False), "Play", *[gr.skip()] * 4]
    following = int(step) + 1
    is_last = following == len(film.played.moves)
    # Not the last: whoever has paused it meanwhile must not find it going on.
    stops = [gr.Timer(active=False), "Play"] if is_last else [gr.skip(), gr.skip()]
    return [following, *stops, *show(film, following)]


def toggle(label: str, film: Film | None, step: float) -> list[Any]:
    """Pause or go on; from the end, begin again."""
    if label == "Pause" or film is None:
        return [gr.skip(), gr.Timer(active=False), "Play", *[gr.skip()] * 4]
    first = 0 if step >= len(film.played.moves) else int(step)
    return [first, gr.Timer(active=True), "Pause", *show(film, first)]


def moved(by: int) -> Any:
    """Return what goes so many steps on, and pauses."""

    def move(film: Film | None, step: float) -> list[Any]:
        last = len(film.played.moves) if film is not None else 0
        there = min(max(0, int(step) + by), last)
        return [there, gr.Timer(active=False), "Play", *show(film, there)]

    return move
