"""Merging what several servers counted for one run.

Merging is commutative, associative and idempotent: whoever merges the same exports, in whatever order and however
often, gets the same, and no episode is counted twice. By environment, style and format:

- The highest level wins; what was counted at lower ones is forgotten, as it is when a frontier rises.
- At equal levels a seed that anybody judged is judged; of the others all episodes are taken, each id once. Of two
  outcomes of one episode the worse is taken, and any result before ``left``.
- The gates that passed in a row are the fewest that any server that judged a gate at this level counts.

Merging judges nothing. The gate falls when the next episode is counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import reduce

from ecom_rlve.envs.curriculum.ledger import Key
from ecom_rlve.run_models import ExportedFrontier, ExportedSeed


def merged(frontiers: Iterable[ExportedFrontier]) -> list[ExportedFrontier]:
    """Return one frontier for each environment, style and format, in order."""
    found: dict[Key, list[ExportedFrontier]] = {}
    for frontier in frontiers:
        found.setdefault((frontier.env_id, frontier.style, frontier.format), []).append(frontier)
    # The first is joined with itself, so that one alone comes out in the same order as several.
    return [reduce(_joined, [same[0], *same]) for _, same in sorted(found.items())]


def _joined(one: ExportedFrontier, other: ExportedFrontier) -> ExportedFrontier:
    if one.level != other.level:
        one = other = max(one, other, key=lambda each: each.level)
    judged = {*one.judged, *other.judged}
    return ExportedFrontier(
        env_id=one.env_id,
        style=one.style,
        format=one.format,
        level=one.level,
        passes=min((each.passes for each in (one, other) if each.judged), default=0),
        seeds=[seed for seed in _united([*one.seeds, *other.seeds]) if seed.seed not in judged],
        judged=sorted(judged),
    )


def _united(seeds: Iterable[ExportedSeed]) -> list[ExportedSeed]:
    """Return each seed once, with all of its episodes."""
    found: dict[int, ExportedSeed] = {}
    for seed in seeds:
        known = found.get(seed.seed, seed)
        ids = sorted({*known.episodes, *seed.episodes})
        found[seed.seed] = ExportedSeed(
            seed=seed.seed,
            is_grouped=known.is_grouped or seed.is_grouped,
            episodes={
                each: min((seen.episodes[each] for seen in (known, seed) if each in seen.episodes), key=_worth)
                for each in ids
            },
        )
    return [found[number] for number in sorted(found)]


def _worth(outcome: str) -> Fraction:
    """Order outcomes: the worst result first, ``left`` after all of them."""
    return Fraction(2) if outcome == "left" else Fraction(outcome)
