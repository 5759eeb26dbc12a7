"""Streams are seeded as numpy seeds them: their draws are part of every episode."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from numpy.random import PCG64, Generator

from ecom_rlve.streams import Streams


@given(st.lists(st.one_of(st.integers(), st.text(max_size=8)), min_size=1, max_size=4))
def test_a_stream_is_numpys_own_generator_of_the_digest(purpose: list[str | int]) -> None:
    streams = Streams(*purpose)
    expected = Generator(PCG64(int.from_bytes(streams.digest("draws"), "little")))
    assert streams.stream("draws").bit_generator.state == expected.bit_generator.state
    assert streams.stream("draws").random(8).tolist() == expected.random(8).tolist()
