"""Whether the rewards that clients were told are right: each trace is played again, on a shop of this process."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from ecom_rlve.envs.episode.trace import Trace, replay
from ecom_rlve.envs.errors import TraceMismatchError
from ecom_rlve.envs.world.shop import Shop


@dataclass(slots=True)
class Checked:
    """What was found."""

    right: int = 0
    """Episodes whose every byte came out the same, and whose client was told the reward of the trace."""
    wrong: list[str] = field(default_factory=list)
    """What was wrong with each of the others."""
    endings: Counter[str] = field(default_factory=Counter)
    """Why episodes ended."""
    rewards: set[float] = field(default_factory=set)


def check(traces: Path, shop: Shop) -> Checked:
    """Play every trace of a file again."""
    checked = Checked()
    with traces.open() as lines:
        for line in lines:
            written = json.loads(line)
            trace = Trace.load(written["trace"])
            fault = _fault(trace, written["reward"], shop)
            if fault is None:
                checked.right += 1
            else:
                checked.wrong.append(f"{trace.metadata.env_id} {trace.metadata.seed}: {fault}")
            if trace.result is not None:
                checked.endings[trace.result.termination] += 1
            checked.rewards.add(written["reward"])
    return checked


def _fault(trace: Trace, told: float | None, shop: Shop) -> str | None:
    if trace.rewards[-1] != told:
        return f"the client was told {told}, the trace says {trace.rewards[-1]}"
    try:
        replay(trace, shop)
    except TraceMismatchError as error:
        return str(error)
    return None
