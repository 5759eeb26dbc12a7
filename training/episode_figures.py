"""The figures that one finished rollout adds to the log, by environment."""

from __future__ import annotations

from collections.abc import Iterator

from ecom_rlve.client.adapters.trl import TrlEnvironment
from ecom_rlve.models import Termination


def figures(environment: TrlEnvironment, tokens: int) -> Iterator[tuple[str, float]]:
    """Yield names and values, which are meant to be averaged: shares are 1 or 0 for each rollout.

    ``tokens`` are those of the rollout after its first observation, tool results included. A rollout that was lost to
    an infrastructure failure adds to ``lost`` alone.
    """
    meta, result = environment.metadata, environment.result
    yield "lost", float(result is None)
    if meta is None or result is None:
        return
    name = meta.env_id
    yield f"{name}/difficulty", meta.difficulty
    yield f"{name}/success", float(result.is_correct)
    yield f"{name}/reward", result.r_total
    yield f"{name}/r_task", result.r_task
    yield f"{name}/r_eff", result.r_eff
    yield f"{name}/r_hall", result.r_hall
    yield f"{name}/turns", result.turns
    yield f"{name}/tokens", tokens
    for ending in Termination:
        yield f"{name}/ended/{ending.value}", float(result.termination is ending)
