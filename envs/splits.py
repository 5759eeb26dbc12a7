"""Train, eval and test: three disjoint sets of target products.

The split of a product is a function of its title, so that copies of one product under several ids share a split.
"""

from __future__ import annotations

from hashlib import blake2b

from ecom_rlve.models import Split

_EVAL_BELOW, _TEST_BELOW = 26, 52  # of 256: about a tenth each


def split_of(title: str) -> Split:
    """Return the split in which a product of this title may be a target (about 80, 10 and 10 %)."""
    normalised = " ".join(title.casefold().split())
    mark = blake2b(b"split" + normalised.encode("utf-8", "replace"), digest_size=1).digest()[0]
    if mark < _EVAL_BELOW:
        return "eval"
    return "test" if mark < _TEST_BELOW else "train"
