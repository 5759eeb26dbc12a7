"""The twelve axes of a difficulty."""

from __future__ import annotations

from collections.abc import Collection

from markupsafe import Markup

from ecom_rlve.envs.difficulty import AXES, axes_of
from ecom_rlve.models import MAX_DIFFICULTY
from ecom_rlve.server.web.views.html import el, together
from ecom_rlve.server.web.views.naming import AXES as NAMES

_ABOUT = "What the difficulty sets, from easy to hard. Pale: of no use in this environment."


def axes(difficulty: int, live: Collection[str]) -> Markup:
    """Return the axes at a difficulty, each with its value and where that lies between difficulty 0 and 20.

    Axes that are not ``live`` in the environment are pale, and say so.
    """
    shown = [_axis(name, difficulty, is_live=name in live) for name in AXES]
    listed = el("ul", together(shown), class_="axes", aria_label=f"The axes at difficulty {difficulty}")
    return el("div", el("p", _ABOUT, class_="dim"), listed)


def _axis(name: str, difficulty: int, *, is_live: bool) -> Markup:
    axis = AXES[name]
    value, least, most = (float(getattr(axes_of(d), name)) for d in (difficulty, 0, MAX_DIFFICULTY))
    share = round(100 * (value - least) / (most - least)) if most != least else 0
    told = f"{value:.0f}" if axis.is_whole else f"{value:.0%}"
    idle = None if is_live else el("span", " (not here)", class_="unseen")
    return el(
        "li",
        el("span", NAMES.get(name, name), idle),
        el("b", told),
        el("div", el("div", style=f"width:{share}%"), class_="bar", aria_hidden="true"),
        class_=None if is_live else "idle",
        title=f"{name} = {axis.formula}",
    )
