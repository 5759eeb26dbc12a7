"""Measure the variety of the customers' words, and show dialogues, in ``docs/simulator.md``.

``python pages/dialogues.py`` plays 1,000 episodes; it takes three minutes.
"""

from __future__ import annotations

import asyncio

from blocks import rewrite

from ecom_rlve.envs.customer.voice import TemplateOnly
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.customer.audit import Dialogue, compare, specs_of, table

EPISODES = 1000
SHOWN = 30
_MOST_LINES = 14
"""Longer dialogues are left out: a reader should see many."""


def shown(dialogues: list[Dialogue]) -> str:
    """Return dialogues of all environments in turn, as Markdown."""
    by_env: dict[str, list[Dialogue]] = {env_id: [] for env_id in environments()}
    for each in dialogues:
        if len(each.lines) <= _MOST_LINES:
            by_env[each.spec.env_id].append(each)
    in_turn = [found[at] for at in range(SHOWN) for found in by_env.values() if at < len(found)]
    parts = []
    for each in in_turn[:SHOWN]:
        spoken = "\n".join(line.replace("customer (template): ", "customer: ") for line in each.lines)
        parts.append(f"{each.spec.env_id}, difficulty {each.spec.difficulty}, seed {each.spec.seed}\n\n{spoken}")
    return "\n\n".join(f"```text\n{part}\n```" for part in parts)


def main() -> None:
    """Play, measure and write."""
    specs = specs_of(list(environments()), EPISODES)
    sittings = asyncio.run(compare({"bank": TemplateOnly()}, Shop.open("synthetic"), specs, 8))
    rewrite("docs/simulator.md", {"audit": table(sittings), "dialogues": shown(sittings[0].dialogues)})


if __name__ == "__main__":
    main()
