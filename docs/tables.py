"""Measure the difficulty axes that are live in CART, and write the table of ``cart.md``.

``python docs/tables.py [EPISODES]`` draws that many episodes (1,000 unless told) per difficulty on the default catalog
and plays each with the environment's own solution, in process: about a minute.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from blocks import rewrite, table

from ecom_rlve.envs.difficulty import Axes, axes_of, logistic
from ecom_rlve.envs.episode import Episode, EpisodeSpec
from ecom_rlve.envs.shop import Shop
from ecom_rlve.envs.simulator.simulator import Customer
from ecom_rlve.envs.tasks.cart import items_at
from ecom_rlve.envs.tools.catalog import SearchArgs, ranked_page
from ecom_rlve.models import Style

DIFFICULTIES = (0, 3, 6, 9, 12)
EPISODES = 1000


@dataclass(frozen=True, slots=True)
class Drawn:
    """What one episode was drawn to be, counted; a pair is (how many did, out of how many)."""

    axes: Axes
    items: int
    with_variant: tuple[int, int]
    many: tuple[int, int]
    left_out: tuple[int, int]
    sells_out: tuple[int, int]
    replaced: tuple[int, int]
    slipped: tuple[int, int]
    redraws: int
    turn_total: float
    """r_total of the environment's own solution in style turn."""
    tool_total: float


def episode(shop: Shop, d: int, seed: int, style: Style = "turn", **axes: float) -> Episode:
    """Return a CART episode."""
    return Episode(shop, EpisodeSpec("CART", d, seed, style=style, axes=tuple(axes.items())), "measured")


def drawn(shop: Shop, d: int, seed: int) -> Drawn:
    """Draw one episode, and beside it those that differ from it in a single axis, to count what the axis did."""
    plain = episode(shop, d, seed)
    scenario, slots = plain.scenario, plain.scenario.slots
    items = scenario.goal.items
    left_out = Customer(plain.environment, scenario, scenario.world.streams).left_out
    args = SearchArgs(query=scenario.subjects[0].plural)
    found, _ = ranked_page(scenario.world, args)
    undisturbed, _ = ranked_page(episode(shop, d, seed, eps_rank=0.0).scenario.world, args)
    silent, loud = (episode(shop, d, seed, p_noise=p).opening.user_message for p in (0.0, 1.0))
    return Drawn(
        axes=plain.axes,
        items=len(items),
        with_variant=(sum(item.variant is not None for item in items), len(items)),
        many=(sum(item.quantity > 1 for item in items), len(items)),
        left_out=(left_out, len(slots)),
        sells_out=(int(scenario.stockout.hits), 1),
        replaced=(_differing(found, undisturbed), len(found)),
        slipped=(
            _differing(silent.split(), plain.opening.user_message.split()),
            _differing(silent.split(), loud.split()),
        ),
        redraws=scenario.redraws,
        turn_total=_solved(plain),
        tool_total=_solved(episode(shop, d, seed, "tool")),
    )


def _differing(one: Sequence[object], other: Sequence[object]) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))


def _solved(played: Episode) -> float:
    """Play the environment's solution to the end and return r_total."""
    while True:
        action = played.environment.solve(played.scenario)
        calls = action.get("tool_calls", [])
        if played.spec.style == "tool" and len(calls) > 1:
            action = {"tool_calls": calls[:1], "end_turn": False}
        observation = played.step(action)
        if observation.result is not None:
            return observation.result.r_total


Measure = Callable[[list[Drawn]], float]


def _share(name: str) -> Measure:
    def measure(episodes: list[Drawn]) -> float:
        counts: list[tuple[int, int]] = [getattr(each, name) for each in episodes]
        return sum(did for did, _ in counts) / sum(of for _, of in counts)

    return measure


def _mean(of: Callable[[Drawn], float]) -> Measure:
    return lambda episodes: fmean(map(of, episodes))


def _axis(name: str) -> Callable[[int], float]:
    return lambda d: float(getattr(axes_of(d), name))


def _mean_axis(name: str) -> Measure:
    return _mean(lambda each: float(getattr(each.axes, name)))


ROWS: tuple[tuple[str, str, Callable[[int], float], Measure], ...] = (
    ("2 facts left out of the first message", "0.8·σ((d−3.5)/1.3)", _axis("p_missing"), _share("left_out")),
    ("3 results replaced", "min(0.4, 0.02·d)", _axis("eps_rank"), _share("replaced")),
    ("4 episodes in which a wanted thing sells out", "min(0.5, 0.05·d)", _axis("p_oos"), _share("sells_out")),
    ("5 turn budget `T_max`", "4 + ⌊d/2⌋", _axis("t_max"), _mean_axis("t_max")),
    ("6 slips, per word that may have one", "min(0.125, 0.01·d)", _axis("p_noise"), _share("slipped")),
    ("8 results that can be paged to", "max(20, 200−10·d)", _axis("top_k"), _mean_axis("top_k")),
    ("11 tool calls a turn `B_tool`", "min(6, 2+⌊d/2⌋)", _axis("b_tool"), _mean_axis("b_tool")),
    ("items", "min(5, 1+⌊d/3⌋)", items_at, _mean(lambda each: each.items)),
    ("items with a required variant", "σ((d−2)/1.5)", lambda d: logistic((d - 2) / 1.5), _share("with_variant")),
    ("items wanted 2 to 4 times", "min(0.5, 0.1·d)", lambda d: min(0.5, 0.1 * d), _share("many")),
)
"""What a row says, its formula, the formula's value at d, and what was measured."""


def page_table(by_d: dict[int, list[Drawn]]) -> str:
    """Return the table; a cell holds the formula's value and the measured one."""
    rows = [
        [what, formula, *(f"{_number(value(d))} / {_number(measure(by_d[d]))}" for d in by_d)]
        for what, formula, value, measure in ROWS
    ]
    rows.append(["products drawn again, per episode", "", *(f"{fmean(e.redraws for e in by_d[d]):.2f}" for d in by_d)])
    for style, totals in (("turn", _totals("turn_total")), ("tool", _totals("tool_total"))):
        cells = [f"{fmean(totals(by_d[d])):.3f}, {max(totals(by_d[d])):.3f}" for d in by_d]
        rows.append([f"solution's r_total, style `{style}`: mean, greatest", "", *cells])
    return table(["axis", "formula", *(f"d={d}" for d in by_d)], rows)


def _totals(name: str) -> Callable[[list[Drawn]], list[float]]:
    return lambda episodes: [getattr(each, name) for each in episodes]


def _number(value: float) -> str:
    return str(int(value)) if float(value).is_integer() and value >= 1 else f"{value:.3f}"


def main(arguments: list[str]) -> None:
    """Measure and write."""
    episodes = int(arguments[0]) if arguments else EPISODES
    shop = Shop.open("synthetic")
    by_d: dict[int, list[Any]] = {d: [drawn(shop, d, seed) for seed in range(episodes)] for d in DIFFICULTIES}
    said = f"{episodes:,} episodes per difficulty, default catalog; a cell is *formula / measured*."
    rewrite("docs/cart.md", {"difficulty": f"{said}\n\n{page_table(by_d)}"})


if __name__ == "__main__":
    main(sys.argv[1:])
