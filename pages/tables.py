"""Measure the difficulty axes that have an effect in each environment, and write the tables of the pages.

``python pages/tables.py [EPISODES [ENVIRONMENT …]]`` draws so many episodes (default 1,000) for each environment and
difficulty on the default catalog, and plays each with the environment's own solution, in process; then the share of
mixed groups. It takes about half an hour; 200 episodes take some ten minutes.
"""

from __future__ import annotations

import sys
from statistics import fmean, quantiles

from blocks import rewrite, table
from describing import REDRAWS, SELLS_OUT, Counts, described
from measuring import ExpertPlay, cells, common_counts, episode, expert_play, number, solved

from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agents import policies_of
from ecom_rlve.evaluation.in_process import listed_of
from ecom_rlve.models import Style
from ecom_rlve.training.mixed_groups import markdown, rows_of

DIFFICULTIES = (0, 3, 6, 9, 12)
EPISODES = 1000
_MOST_READ = 200
"""Episodes that the expert plays."""
_MOST_SEEDS = 50
"""Groups whose share of mixed ones is told; every lazy policy plays them too."""
STYLES: tuple[Style, ...] = ("turn", "tool")


def counted(shop: Shop, env_id: str, d: int, seed: int) -> Counts:
    """Return all counts of one episode; the solution's totals have the styles as names."""
    plain = episode(shop, env_id, d, seed)
    totals: Counts = {style: (solved(shop, env_id, d, seed, style), 1) for style in STYLES}
    return {**common_counts(shop, env_id, d, seed), **described()[env_id].counts(plain), **totals}


def page_table(env_id: str, by_d: dict[int, list[Counts]], expert: dict[Style, list[list[ExpertPlay]]]) -> str:
    """Return the table of an environment; a cell holds the formula's value and the measured one."""
    live = described()[env_id].rows
    rows = [[row.says, row.formula, *cells(row, by_d)] for row in (*live, REDRAWS)]
    for style in STYLES:
        totals = [[counts[style][0] for counts in episodes] for episodes in by_d.values()]
        shown = (f"{fmean(each):.3f}, {max(each):.3f}" for each in totals)
        rows.append([f"solution's r_total, style `{style}`: mean, greatest", "", *shown])
    rows += [[f"expert's tokens, style `{style}`: median, p95", "", *map(_lengths, expert[style])] for style in STYLES]
    if SELLS_OUT in live:
        met = [(sum(play.sold_out for play in plays), sum(play.could for play in plays)) for plays in expert["turn"]]
        shares = [gone / max(1, shown) for gone, shown in met]
        rows.append(["… of those that the expert was shown", "", *map(number, shares)])
    return table(["axis", "formula", *(f"d={d}" for d in by_d)], rows)


def _lengths(plays: list[ExpertPlay]) -> str:
    percentiles = quantiles([play.tokens for play in plays], n=100, method="inclusive")
    return f"{percentiles[49]:,.0f}, {percentiles[94]:,.0f}"


def played(shop: Shop, env_id: str, style: Style, episodes: int) -> list[list[ExpertPlay]]:
    """Return the expert's first episodes, by difficulty."""
    seeds = range(min(episodes, _MOST_READ))
    return [[expert_play(shop, env_id, d, seed, style) for seed in seeds] for d in DIFFICULTIES]


def main(arguments: list[str]) -> None:
    """Measure and write."""
    episodes = int(arguments[0]) if arguments else EPISODES
    shop = Shop.open("synthetic")
    said = (
        f"{episodes:,} episodes per difficulty, default catalog; a cell is *formula / measured*. The expert plays the "
        f"first {min(episodes, _MOST_READ)}; tokens\nare all that it reads and writes, at four bytes of text each."
    )
    for env_id in arguments[1:] or described():
        by_d = {d: [counted(shop, env_id, d, seed) for seed in range(episodes)] for d in DIFFICULTIES}
        expert = {style: played(shop, env_id, style, episodes) for style in STYLES}
        body = f"{said}\n\n{page_table(env_id, by_d, expert)}"
        page, block = described()[env_id].table or ("docs/environments.md", f"{env_id} difficulty")
        rewrite(page, {block: body})
        print(f"{env_id} measured")
    if not arguments[1:]:
        listed = listed_of(shop)
        every = {env_id: policies_of(env_id, listed) for env_id in listed}
        rewrite("docs/trainers.md", {"signal": markdown(rows_of(shop, every, min(episodes, _MOST_SEEDS)))})


if __name__ == "__main__":
    main(sys.argv[1:])
