"""Vectors of a fixed length in whole numbers, whose inner products are exact in float32.

No element is larger than LENGTH, which is also the length of the vector up to rounding. So every inner product, and
every partial sum of one, is far below 2**24.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

LENGTH = 127
"""Euclidean length of every vector before rounding, and so the bound of its elements."""


def scaled(sums: NDArray[np.int64]) -> NDArray[np.float32]:
    """Return integer rows brought to the length LENGTH and rounded to integers; zero rows stay zero.

    Exact up to one correctly rounded square root and division, as long as the squares' sum stays below 2**63.
    """
    squares = np.einsum("ij,ij->i", sums, sums)
    lengths = np.sqrt(np.maximum(squares, 1).astype(np.float64))
    return np.asarray(np.rint(sums * LENGTH / lengths[:, None]), dtype=np.float32)
