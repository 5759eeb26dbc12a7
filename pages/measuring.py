"""Counting what episodes were drawn to be: the rows of the difficulty tables.

A row's measure is a pair of sums over the episodes, (how many did, out of how many); the cell is their quotient.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ecom_rlve.client.text import render
from ecom_rlve.envs.difficulty import Axes, axes_of
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.scenario import Scenario
from ecom_rlve.envs.tools.catalog import SearchArgs, ranked_page
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agent import one_at_a_time
from ecom_rlve.evaluation.agents import make_agent
from ecom_rlve.evaluation.in_process import told
from ecom_rlve.models import Style

_BYTES_A_TOKEN = 4
Count = tuple[float, float]
"""How many did, out of how many; for a mean: the sum, and the number of episodes."""
Counts = dict[str, Count]


class Row(NamedTuple):
    """One row of a table."""

    key: str
    """Name of its count."""
    says: str
    formula: str
    value: Callable[[Axes], float]
    """What the formula gives; nan where it has no number."""


def episode(shop: Shop, env_id: str, d: int, seed: int, style: Style = "turn", **axes: float) -> Episode:
    """Return an episode with single axes overridden."""
    return Episode(shop, EpisodeSpec(env_id, d, seed, style=style, axes=tuple(sorted(axes.items()))), "measured")


def common_counts(shop: Shop, env_id: str, d: int, seed: int) -> Counts:
    """Count what all environments share, in one episode and those that differ from it in a single axis."""
    plain = episode(shop, env_id, d, seed)
    scenario = plain.scenario
    silent, loud = (episode(shop, env_id, d, seed, p_noise=p).opening.user_message for p in (0.0, 1.0))
    plans = [part.stockout for _, part in _parts(plain) if part.stockout is not None]
    counts: Counts = {
        "left out": _left_out(plain),
        "sells out": (sum(plan.hits for plan in plans), len(plans)),
        "slipped": (
            _differing(silent.split(), plain.opening.user_message.split()),
            _differing(silent.split(), loud.split()),
        ),
        "turns": (plain.t_max, 1),
        "depth": (plain.axes.top_k, 1),
        "calls": (plain.axes.b_tool, 1),
        "redraws": (scenario.redraws, 1),
        "orders": (len(scenario.world.orders), 1),
    }
    if "catalog_search" in plain.environment.tool_names:
        args = SearchArgs(query=scenario.subjects[-1].plural or "products")
        found, _ = ranked_page(scenario.world, args)
        undisturbed, _ = ranked_page(episode(shop, env_id, d, seed, eps_rank=0.0).scenario.world, args)
        counts["replaced"] = (_differing(found, undisturbed), len(found))
    return counts


def solved(shop: Shop, env_id: str, d: int, seed: int, style: Style) -> float:
    """Play an environment's own solution to the end and return r_total."""
    played = episode(shop, env_id, d, seed, style)
    while True:
        observation = played.step(one_at_a_time(played.environment.solve(played.scenario), style))
        if observation.result is not None:
            return observation.result.r_total


class ExpertPlay(NamedTuple):
    """What an episode of the expert came to."""

    tokens: float
    """Its length as text, read and written together, at four bytes a token."""
    sold_out: int
    """Errands in which a wanted thing sold out."""
    could: int
    """Errands in which something could."""


def expert_play(shop: Shop, env_id: str, d: int, seed: int, style: Style) -> ExpertPlay:
    """Play the expert to the end."""
    played = episode(shop, env_id, d, seed, style)
    agent, seen, size = make_agent("expert", env_id, seed), played.opening, 0
    while not seen.done:
        action = agent.act(told(played, seen))
        size += len(render(seen).encode()) + len(json.dumps(action, ensure_ascii=False).encode())
        seen = played.step(action)
    plans = [part.stockout for _, part in _parts(played) if part.stockout is not None]
    return ExpertPlay(size / _BYTES_A_TOKEN, sum(plan.fired and plan.hits for plan in plans), len(plans))


def _parts(played: Episode) -> Iterator[tuple[Any, Scenario[Any]]]:
    """Yield what was drawn: the errands of a journey, else the episode itself; with the customer of each."""
    scenario = played.scenario
    intents = getattr(scenario.goal, "intents", None)
    if intents is None:
        yield played.environment.customer(scenario, scenario.world.streams), scenario
        return
    for intent in intents:
        yield intent.environment.customer(intent.scenario, intent.streams), intent.scenario


def _left_out(played: Episode) -> Count:
    parts = list(_parts(played))
    could = sum(not slot.is_essential for _, scenario in parts for slot in scenario.slots)
    return sum(customer.left_out for customer, _ in parts), could


def _differing(one: Sequence[object], other: Sequence[object]) -> int:
    return sum(a != b for a, b in zip(one, other, strict=True))


def cells(row: Row, by_d: dict[int, list[Counts]]) -> list[str]:
    """Return the cells of a row: the formula's value and the measured one."""
    shown = []
    for d, episodes in by_d.items():
        counted = [counts[row.key] for counts in episodes]
        did, of = sum(one for one, _ in counted), sum(one for _, one in counted)
        stated, measured = row.value(axes_of(d)), number(did / of) if of else "–"
        shown.append(measured if stated != stated else f"{number(stated)} / {measured}")
    return shown


def number(value: float) -> str:
    """Return a number as a cell shows it: a whole one without decimals."""
    return str(int(value)) if float(value).is_integer() and value >= 1 else f"{value:.3f}"
