"""Train, eval and test: three disjoint sets of target products.

The split of a product is a function of its title, so that copies of one product under several ids share a split. A
tenth of a small shop would be too few products to make an episode from, so its titles are dealt out in turn.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from itertools import cycle
from typing import get_args

from ecom_rlve.models import Split

SMALL = 200
"""A shop with fewer products is small: a tenth of them would be fewer than twenty."""
SPLITS: tuple[Split, ...] = get_args(Split)

_EVAL_BELOW, _TEST_BELOW = 26, 52  # of 256: about a tenth each


def split_of(title: str) -> Split:
    """Return the split in which a product of this title may be a target (about 80, 10 and 10 %)."""
    mark = _digest(title, 1)[0]
    if mark < _EVAL_BELOW:
        return "eval"
    return "test" if mark < _TEST_BELOW else "train"


def dealt(products: Iterable[tuple[str, str]]) -> dict[str, Split]:
    """Return the splits of a small shop's products by title: a third each, and a share of every kind where it can be.

    ``products`` are pairs of kind and title, in any order. Titles are dealt out in the order of their digests, one kind
    after another.

    >>> sorted(dealt([("mugs", "Red mug"), ("mugs", "Blue mug"), ("jars", "Jar")]).values())
    ['eval', 'test', 'train']
    """
    kinds: dict[bytes, str] = {}
    digests: dict[str, bytes] = {}
    for kind, title in sorted(products):
        digests[title] = _digest(title, 16)
        kinds.setdefault(digests[title], kind)
    order = sorted(kinds, key=lambda digest: (kinds[digest], digest))
    splits = dict(zip(order, cycle(SPLITS), strict=False))
    return {title: splits[digest] for title, digest in digests.items()}


def _digest(title: str, size: int) -> bytes:
    normalised = " ".join(title.casefold().split())
    return blake2b(b"split" + normalised.encode("utf-8", "replace"), digest_size=size).digest()
