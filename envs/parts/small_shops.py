"""Whether a shop is large enough for goals drawn from its products: the bars of PD and SUB (SPEC §6, §11).

What is asked of a shop is what makes its tasks sound, and no number of products:

- every split has targets of its own, so that what is tried was not seen in training;
- those of every split are of several kinds, or of a large one, so that a list made without reading the customer, which
  must bet on one kind, is seldom right;
- draws around them come off, so that every seed has an episode.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import takewhile

from ecom_rlve.catalog.columns.row_set import RowSet
from ecom_rlve.envs.difficulty import Axes, axes_of
from ecom_rlve.envs.splits import SPLITS
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.models import MAX_DIFFICULTY, Split
from ecom_rlve.streams import Streams

LEAST_TARGETS = 5
"""Products of different titles in every split. With fewer, the groups of a run would be about the same things:
with five, 150 seeds have more than 140 different goals."""
_MANY_TARGETS = 2000
"""A shop with so many targets, which would take long to try out, is large enough in every respect."""
_TRIES = 24
_LEAST_TO_COME_OFF = 6
"""So many of the tries must come off, in every split. Where a quarter do, fifty in a row fail in less than one of a
million seeds, and thirty-five, after which PD allows a third value, in one of twenty thousand."""

_LARGE_KIND = 80
"""Of so many products of a kind, the cheapest, the best rated or the fastest few are right in at most 0.1 of the
episodes: a bet on such a kind wins seldom enough, though the shop sells nothing else."""

_MOST_OF_A_SPLIT = Fraction(1, 2)
"""Greatest share of one split's targets that may be of one kind, at least: of few targets, a quarter are soon alike."""

Trial = Callable[[World, Streams], bool]
"""Draws a goal once in a world; tells whether that came off."""


def highest_served(shop: Shop, targets: Callable[[Axes], RowSet], most_of_a_kind: Fraction, trial: Trial) -> int:
    """Return the highest difficulty for which a shop is large enough; -1 if there is none.

    Args:
        shop: the shop.
        targets: returns the products from which goals of a difficulty are drawn; higher difficulties have fewer.
        most_of_a_kind: the greatest share of the targets that may be of one kind which is not large, 0 to 1.
        trial: draws a goal once.
    """
    levels = [axes_of(d) for d in range(MAX_DIFFICULTY + 1)]
    # Fewer targets may well be of more kinds, so that every difficulty below the highest has to be looked at.
    sound = list(takewhile(lambda axes: _are_sound(shop, targets(axes), most_of_a_kind), levels))

    def is_too_high(axes: Axes) -> bool:
        is_large = len(targets(axes)) >= _MANY_TARGETS
        return not is_large and not all(_comes_off(shop, axes, split, trial) for split in SPLITS)

    return bisect_left(sound, True, key=is_too_high) - 1


def _are_sound(shop: Shop, targets: RowSet, most_of_a_kind: Fraction) -> bool:
    """Tell whether every split has enough targets, and of enough kinds."""
    if len(targets) >= _MANY_TARGETS:
        return True
    rows = [targets.row(rank) for rank in range(len(targets))]
    splits: dict[Split, list[int]] = {split: [] for split in SPLITS}
    for row in rows:
        splits[shop.split(row)].append(row)
    most_of_a_split = max(most_of_a_kind, _MOST_OF_A_SPLIT)
    return _is_varied(shop, rows, most_of_a_kind) and all(
        len({shop.catalog.titles[row] for row in own}) >= LEAST_TARGETS and _is_varied(shop, own, most_of_a_split)
        for own in splits.values()
    )


def _is_varied(shop: Shop, rows: Sequence[int], most_of_a_kind: Fraction) -> bool:
    """Tell whether no kind that is not large has more than its share of some targets."""
    kinds = Counter(shop.catalog.category_codes[rows].tolist())
    most = most_of_a_kind * len(rows)
    return all(count <= most or shop.kind_sizes[kind] >= _LARGE_KIND for kind, count in kinds.items())


def _comes_off(shop: Shop, axes: Axes, split: Split, trial: Trial) -> bool:
    """Tell whether enough tries come off; stops as soon as that is known."""
    came = failed = 0
    while came < _LEAST_TO_COME_OFF and failed <= _TRIES - _LEAST_TO_COME_OFF:
        streams = Streams("trial", axes.d, split, came + failed)
        has_come = trial(World(shop, axes, streams, split), streams)
        came, failed = came + has_come, failed + (not has_come)
    return came == _LEAST_TO_COME_OFF
