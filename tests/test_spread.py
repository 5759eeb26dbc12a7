"""Numbers of neighbouring seeds lie apart, however the seeds are dealt out; those of two bases do not go together."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.streams import spread


@given(
    start=st.integers(0, 2**63 - 1),
    step=st.sampled_from((1, 2, 4, 8, 64)),
    shape=st.sampled_from(((3, 1), (3, 4), (5, 2), (7, 2), (11, 1), (13, 1))),
    purpose=st.text(max_size=5),
)
def test_seeds_in_a_row_share_the_range_evenly(start: int, step: int, shape: tuple[int, int], purpose: str) -> None:
    base, power = shape
    parts = base**power
    found = [spread(start + step * number, base, purpose) for number in range(parts)]
    assert sorted(int(parts * each + 1e-9) for each in found) == list(range(parts))


def test_a_number_depends_on_seed_and_purpose_alone() -> None:
    assert spread(7, 3, "close") == spread(7, 3, "close")
    assert len({spread(7, 3, "close"), spread(7, 3, "greeting"), spread(8, 3, "close")}) == 3


def test_numbers_of_two_bases_do_not_go_together() -> None:
    """1,000 seeds meet all of 81 pairs of ninths, each about 12 times: else a greeting would tell the opening."""
    pairs = [(int(9 * spread(seed, 5, "greeting")), int(9 * spread(seed, 3, "opening"))) for seed in range(1000)]
    assert len(set(pairs)) == 81
