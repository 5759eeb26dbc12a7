"""The episodes that ``docs/environments.md`` shows: the expert's shortest ones, with the sums of their rewards."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import httpx
from blocks import Keep, Mentioning, table
from describing import described
from exchanges import transcript
from played_episodes import Play

from ecom_rlve.envs.about import About
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agents import make_expert
from ecom_rlve.evaluation.in_process import told

_SEEDS = 60
_TEXT = 700
"""So many characters of a policy section are shown: all of it."""


@dataclass(frozen=True, slots=True)
class Shown:
    """An episode that the expert has played to the end."""

    episode: Episode
    actions: tuple[dict[str, Any], ...]

    @property
    def play(self) -> Play:
        """The episode's actions, to be played again."""
        spec = self.episode.spec
        return Play(spec.difficulty, spec.seed, self.actions, env_id=spec.env_id)

    @property
    def length(self) -> int:
        """Characters of the conversation, without the results of tools."""
        return sum(len(message.content) for message in self.episode.state().messages if message.role != "tool")


def shortest(shop: Shop, env_id: str) -> Shown:
    """Return the shortest of the first episodes in which the expert asks for something left out and is right.

    Raises ``LookupError`` if there is none.
    """
    wanted = described()[env_id]
    played = (_played(shop, EpisodeSpec(env_id, wanted.difficulty, seed)) for seed in range(_SEEDS))
    fitting = [shown for shown in played if _is_telling(shown) and wanted.shows(shown.episode.goal_json())]
    if not fitting:
        raise LookupError(f"no seed below {_SEEDS} gives a {env_id} episode to show")
    return min(fitting, key=lambda shown: (shown.length, shown.episode.spec.seed))


def _played(shop: Shop, spec: EpisodeSpec) -> Shown:
    episode = Episode(shop, spec, "shown")
    agent = make_expert(spec.env_id)
    seen = episode.opening
    actions = []
    while not seen.done:
        action = {name: value for name, value in agent.act(told(episode, seen)).items() if value not in ("", [])}
        actions.append(action)
        seen = episode.step(action)
    return Shown(episode, tuple(actions))


def _is_telling(shown: Shown) -> bool:
    result = shown.episode.result
    return result is not None and result.is_correct and any("assistant_message" in action for action in shown.actions)


def keep_of(play: Play) -> Keep:
    """Return what to show of tool results: of long lists only the entries that the agent uses."""
    names = frozenset(_ids(play.actions))
    named = {**dict.fromkeys(("product_id", "section_id")), "title": 56, "snippet": 40}
    card = {**named, **dict.fromkeys(("price", "rating", "ship_days", "in_stock"))}
    line = dict.fromkeys(("line_id", "product_id", "quantity", "price_paid"))
    order = {**dict.fromkeys(("order_id", "date", "total")), "titles": (4, 30)}
    return {
        **dict.fromkeys(("order_id", "line_id", "date", "status", "eta", "delivered", "section_id")),
        "results": Mentioning(names, card),
        "product": card,
        "orders": Mentioning(names, order),
        "lines": Mentioning(names, {**line, "title": 44}),
        **dict.fromkeys(("total", "eligible", "code", "why", "last_day", "restocking_percent", "refund")),
        "text": _TEXT,
    }


def _ids(value: Any, key: str = "") -> Iterator[str]:
    """Yield the ids in an agent's actions."""
    if isinstance(value, Mapping):
        for name, inside in value.items():
            yield from _ids(inside, name)
    elif isinstance(value, (list, tuple)):
        for inside in value:
            yield from _ids(inside, key)
    elif isinstance(value, str) and key.endswith(("_id", "_ids")):
        yield value


def by_hand(shown: Shown) -> str:
    """Return the sums for the reward; raises if the result is not what the episode said."""
    episode, result = shown.episode, shown.episode.result
    reward = described()[episode.spec.env_id].reward
    assert result is not None
    assert reward is not None
    said, r_task = reward(episode, shown.actions[-1]["answer"])
    turns, effective, t_max = result.turns, result.effective_turns, episode.t_max
    r_eff = max(Fraction(-1), 1 - Fraction(2 * (effective - 1), t_max - 1))
    total = Fraction(3, 4) * r_task + Fraction(15, 100) * r_eff
    assert (result.r_task, result.r_eff, result.r_hall) == (float(r_task), float(r_eff), 0.0)
    assert abs(result.r_total - total) < 1e-12
    rows = [
        ("wanted", f"`{json.dumps(episode.goal_json(), ensure_ascii=False)}`"),
        ("`r_task`", f"{said} = **{float(r_task):+.4g}**"),
        ("turns", f"{turns}, {turns - effective} of them customer-caused: `T_eff` = {effective}; `T_max` = {t_max}"),
        ("`r_eff`", f"1 − 2·({effective}−1)/({t_max}−1) = **{float(r_eff):+.4g}**"),
        ("`r_hall`", "every product id in the output was shown: **0**"),
        ("`r_total`", f"0.75·{float(r_task):.4g} + 0.15·{float(r_eff):.4g} + 0.10·0 = **{float(total):+.4g}**"),
    ]
    return table(("", f"seed {episode.spec.seed}, difficulty {episode.spec.difficulty}, style `turn`"), rows)


def at_a_glance(env_id: str) -> str:
    """Return an environment's tools and answer fields."""
    about = environments()[env_id].about
    tools = ", ".join(f"`{name}`" for name in about.tool_names)
    return f"**Tools** ([reference](tools.md)): {tools}.\n\n{_answer(about)}"


def _answer(about: About) -> str:
    if not about.members:
        return f"**Answer**, beside `done`: {_fields(about.answer_schema)}."
    forms = {form["properties"]["intent"]["enum"][0]: _fields(form) for form in about.answer_schema["anyOf"]}
    listed = "; ".join(f"{intent}: {fields}" for intent, fields in forms.items())
    return f"**Answer**, beside `done` and `intent`: the fields of the errand's own answer, no others. {listed}."


def _fields(schema: Mapping[str, Any]) -> str:
    names = [name for name in schema["properties"] if name not in ("done", "intent")]
    return ", ".join(f"`{name}`" for name in names) or "nothing: the cart is the answer"


def environment_blocks(http: httpx.Client, shop: Shop) -> dict[str, str]:
    """Return the blocks of ``environments.md`` except for the difficulty tables."""
    blocks = {}
    for env_id, section in described().items():
        blocks[f"{env_id} glance"] = at_a_glance(env_id)
        if section.reward is None:
            continue
        shown = shortest(shop, env_id)
        blocks[f"{env_id} transcript"], _ = transcript(http, shown.play, keep=keep_of(shown.play))
        blocks[f"{env_id} by hand"] = by_hand(shown)
    return blocks
