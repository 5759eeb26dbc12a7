"""How far each run has climbed in each environment."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from ecom_rlve.models import MAX_DIFFICULTY
from ecom_rlve.run_models import FrontierState
from ecom_rlve.server.web.views.html import el, note, together

_NONE = "No run of this server has a frontier yet. One begins with the first reset that leaves the difficulty to it."


def curricula(runs: Sequence[tuple[str, Sequence[FrontierState]]]) -> Markup:
    """Return the frontiers of runs as bars from 0 to the highest difficulty, one for each environment and style."""
    shown = [_run(name, frontiers) for name, frontiers in runs if frontiers]
    return el("div", together(shown)) if shown else note(_NONE)


def _run(name: str, frontiers: Sequence[FrontierState]) -> Markup:
    head = el("h3", "Run ", el("code", name))
    ticks = together(el("span", at) for at in range(0, MAX_DIFFICULTY + 1, MAX_DIFFICULTY // 4))
    scale = el("div", el("span", "difficulty"), el("span", ticks, class_="scale"), el("span"), class_="frontier dim")
    return el("section", head, scale, together(_bar(each) for each in frontiers), class_="panel")


def _bar(at: FrontierState) -> Markup:
    share = round(100 * at.level / MAX_DIFFICULTY)
    mean = f", {at.mean:.0%} right" if at.mean is not None else ""
    seeds = f"{at.ready_seeds} seed{'s' if at.ready_seeds != 1 else ''} ready{mean}"
    manner = " ".join(word for word in (at.style, at.format) if word not in ("turn", "strict"))
    name = f"{at.env_id} {manner}".strip()
    # At 0 too there is something to see.
    bar = el("div", el("div", style=f"width:max(4px, {share}%)"), class_="bar", aria_hidden="true")
    told = el("span", el("b", f"d = {at.level}"), el("span", f" · {at.passes} of 2 passes · {seeds}", class_="dim"))
    return el("div", el("span", name), bar, told, class_="frontier")
