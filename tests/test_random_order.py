"""Random orders that are drawn as they are taken."""

from __future__ import annotations

from itertools import islice

import pytest
from scipy.stats import chisquare

from ecom_rlve import streams as random_order
from ecom_rlve.streams import in_random_order, stream


@pytest.mark.parametrize("count", [0, 1, 7, 1024, 1025, 3000])
def test_every_position_comes_once(count: int) -> None:
    assert sorted(in_random_order(stream(1, "order"), count)) == list(range(count))


def test_a_short_order_is_the_generators_permutation() -> None:
    assert list(in_random_order(stream(2, "order"), 50)) == stream(2, "order").permutation(50).tolist()


@pytest.mark.slow
def test_a_long_order_is_uniform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(random_order, "_DRAWN_WHOLE", 0)
    counts = [[0] * 6 for _ in range(3)]
    for seed in range(3000):
        for place, at in enumerate(islice(in_random_order(stream(seed, "uniform"), 6), 3)):
            counts[place][at] += 1
    assert min(chisquare(row).pvalue for row in counts) > 0.001
