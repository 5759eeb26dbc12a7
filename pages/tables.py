"""Measure the difficulty axes that have an effect in each environment, and write the tables of the pages.

``python pages/tables.py [EPISODES [ENVIRONMENT …]]`` draws so many episodes (default 1,000) for each environment and
difficulty on the default catalog, and plays each with the environment's own solution, in process. It takes about half
an hour; 200 episodes take some six minutes.
"""

from __future__ import annotations

import sys
from math import nan
from statistics import fmean, quantiles

from blocks import rewrite, table
from measuring import Counts, ExpertPlay, Row, cells, common_counts, episode, expert_play, number, solved

from ecom_rlve.envs.difficulty import logistic
from ecom_rlve.envs.episode.episode import Episode
from ecom_rlve.envs.policy.topics import ONLINE_RETURN
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.tasks.bundle.goal import needs_at, wishes_at
from ecom_rlve.envs.tasks.cart.goal import items_at
from ecom_rlve.envs.tasks.journey.environment import intents_at
from ecom_rlve.envs.world.eligibility import eligibility
from ecom_rlve.envs.world.orders import edge_probability
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import Style

DIFFICULTIES = (0, 3, 6, 9, 12)
EPISODES = 1000
_MOST_READ = 200
"""The expert plays so many episodes."""
_EDGE = (-2, -1, 1, 2)
STYLES: tuple[Style, ...] = ("turn", "tool")

MISSING = Row("left out", "2 facts left out of the first message", "0.8·σ((d−3.5)/1.3)", lambda a: a.p_missing)
REPLACED = Row("replaced", "3 results replaced", "min(0.4, 0.02·d)", lambda a: a.eps_rank)
SELLS_OUT = Row("sells out", "4 episodes in which a wanted thing may sell out", "min(0.5, 0.05·d)", lambda a: a.p_oos)
TURNS = Row("turns", "5 turn budget `T_max`", "4 + ⌊d/2⌋", lambda a: a.t_max)
SLIPS = Row("slipped", "6 slips, per word that may have one", "min(0.125, 0.01·d)", lambda a: a.p_noise)
DEPTH = Row("depth", "8 results that can be paged to", "max(20, 200−10·d)", lambda a: a.top_k)
ORDERS = Row("orders", "9 orders in the history", "12 + 2·d", lambda a: a.h_orders)
CALLS = Row("calls", "11 tool calls a turn `B_tool`", "min(6, 2+⌊d/2⌋)", lambda a: a.b_tool)
REDRAWS = Row("redraws", "products drawn again, per episode", "", lambda _: nan)
CONSTRAINTS = Row("constraints", "1 wishes", "2 + ⌊d/2⌋", lambda a: a.m)
ASKED_FOR = Row("asked for", "12 products asked for `k_rec`", "min(10, 3+⌊d/3⌋)", lambda a: a.k_rec)
_SEARCHED = (MISSING, REPLACED, SELLS_OUT, TURNS, SLIPS, DEPTH, CALLS)

ROWS: dict[str, tuple[Row, ...]] = {
    "PD": (CONSTRAINTS, *_SEARCHED, ASKED_FOR),
    "SUB": (CONSTRAINTS, *_SEARCHED, ASKED_FOR),
    "CART": (
        *_SEARCHED,
        Row("items", "items", "min(5, 1+⌊d/3⌋)", lambda a: items_at(a.d)),
        Row("variants", "items with a required variant", "σ((d−2)/1.5)", lambda a: logistic((a.d - 2) / 1.5)),
        Row("many", "items wanted 2 to 4 times", "min(0.5, 0.1·d)", lambda a: min(0.5, 0.1 * a.d)),
    ),
    "RETURN": (
        Row("constraints", "1 wishes for a new one, where one is wanted", "2 + ⌊d/2⌋", lambda a: a.m),
        MISSING,
        REPLACED,
        TURNS,
        SLIPS,
        DEPTH,
        ORDERS,
        Row("branching", "10 conditions of the return window", "1 + ⌊d/3⌋, at most 2", lambda a: min(2, a.b_branch)),
        CALLS,
        Row("new", "episodes in which a new one is wanted", "min(0.5, 0.1·d)", lambda a: min(0.5, 0.1 * a.d)),
        Row(
            "edge",
            "orders near the end of a line's return window",
            "0.7·σ((d−4)/1.5), less final sale",
            lambda a: edge_probability(a.d),
        ),
        Row("eligible", "target lines that can be returned", "", lambda _: nan),
    ),
    "STATUS": (
        MISSING,
        TURNS,
        SLIPS,
        ORDERS,
        CALLS,
        Row("indirect", "indirect references", "σ((d−2)/1.5)", lambda a: logistic((a.d - 2) / 1.5)),
    ),
    "POLICY": (
        MISSING,
        TURNS,
        SLIPS,
        Row("branching", "10 conditions that the answer needs", "1 + ⌊d/3⌋", lambda a: a.b_branch),
        CALLS,
    ),
    "BUNDLE": (
        Row("wishes", "1 wishes per thing", "⌊m/3⌋ = ⌊(2+⌊d/2⌋)/3⌋", lambda a: wishes_at(a.m)),
        *_SEARCHED,
        Row("needs", "things", "min(6, 2+⌊d/3⌋)", lambda a: needs_at(a.d)),
    ),
    "JOURNEY": (
        *(row for row in _SEARCHED if row is not TURNS),
        Row("turns", "5 turn budget, of all errands", "T_max·errands", lambda a: a.t_max * intents_at(a.d)),
        Row("switched", "7 errands interrupted by the next", "0.6·σ((d−5)/2)", lambda a: a.p_switch),
        ORDERS,
        Row("intents", "errands", "min(5, 2+⌊d/4⌋)", lambda a: intents_at(a.d)),
    ),
}
"""The axes that have an effect in each environment, and its own scales."""


def own_counts(env_id: str, played: Episode) -> Counts:
    """Count what only this environment has."""
    axes, goal, world = played.axes, played.intent.goal, played.world
    match env_id:
        case "PD":
            return {"constraints": (len(goal.constraints), 1), "asked for": (axes.k_rec, 1)}
        case "SUB":
            return {"constraints": (len(goal.required) + len(goal.wished), 1), "asked for": (axes.k_rec, 1)}
        case "CART":
            wanted = len(goal.items)
            return {
                "items": (wanted, 1),
                "variants": (sum(item.variant is not None for item in goal.items), wanted),
                "many": (sum(item.quantity > 1 for item in goal.items), wanted),
            }
        case "RETURN":
            new = goal.replacement
            ends = [
                [last for line in order.lines if (last := eligibility(world, order, line).last_day) is not None]
                for order in world.orders
            ]
            return {
                "constraints": (0, 0) if new is None else (len(new.constraints), 1),
                "new": (new is not None, 1),
                "branching": (len(world.book.rule(ONLINE_RETURN).adjustments), 1),
                "edge": (sum(any((last - world.today).days in _EDGE for last in lasts) for lasts in ends), len(ends)),
                "eligible": (goal.is_eligible, 1),
            }
        case "STATUS":
            return {"indirect": (goal.reference.form == "indirect", 1)}
        case "POLICY":
            return {"branching": (len(goal.situation), 1)}
        case "BUNDLE":
            needs = goal.needs
            return {"needs": (len(needs), 1), "wishes": (sum(len(need.wishes) for need in needs), len(needs))}
        case "JOURNEY":
            intents = played.scenario.intents
            switched = sum(intent.is_interrupted for intent in intents)
            return {"intents": (len(intents), 1), "switched": (switched, len(intents))}
    raise LookupError(f"no rows for {env_id}: add them to ROWS and here")


def counted(shop: Shop, env_id: str, d: int, seed: int) -> Counts:
    """Return all counts of one episode; the solution's totals have the styles as names."""
    plain = episode(shop, env_id, d, seed)
    totals: Counts = {style: (solved(shop, env_id, d, seed, style), 1) for style in STYLES}
    return {**common_counts(shop, env_id, d, seed), **own_counts(env_id, plain), **totals}


def page_table(env_id: str, by_d: dict[int, list[Counts]], expert: dict[Style, list[list[ExpertPlay]]]) -> str:
    """Return the table of an environment; a cell holds the formula's value and the measured one."""
    rows = [[row.says, row.formula, *cells(row, by_d)] for row in (*ROWS[env_id], REDRAWS)]
    for style in STYLES:
        totals = [[counts[style][0] for counts in episodes] for episodes in by_d.values()]
        shown = (f"{fmean(each):.3f}, {max(each):.3f}" for each in totals)
        rows.append([f"solution's r_total, style `{style}`: mean, greatest", "", *shown])
    rows += [[f"expert's tokens, style `{style}`: median, p95", "", *map(_lengths, expert[style])] for style in STYLES]
    if SELLS_OUT in ROWS[env_id]:
        shares = [sum(play.sold_out for play in plays) / sum(play.could for play in plays) for plays in expert["turn"]]
        rows.append(["a wanted thing did sell out while the expert played", "", *map(number, shares)])
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
        f"first {min(episodes, _MOST_READ)}; tokens are all that it reads and writes, at four bytes of text each."
    )
    for env_id in arguments[1:] or environments():
        by_d = {d: [counted(shop, env_id, d, seed) for seed in range(episodes)] for d in DIFFICULTIES}
        expert = {style: played(shop, env_id, style, episodes) for style in STYLES}
        body = f"{said}\n\n{page_table(env_id, by_d, expert)}"
        if env_id == "CART":
            rewrite("docs/cart.md", {"difficulty": body})
        else:
            rewrite("docs/environments.md", {f"{env_id} difficulty": body})
        print(f"{env_id} measured")


if __name__ == "__main__":
    main(sys.argv[1:])
