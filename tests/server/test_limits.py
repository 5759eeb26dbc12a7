"""Strict JSON: the same values as the standard library reads, and nothing that JSON is not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.server.errors import InvalidJsonError
from ecom_rlve.server.transport.limits import parse_json

_SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
_VALUES = st.recursive(_SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(_VALUES)
def test_every_json_value_is_read_as_it_was_written(value: Any) -> None:
    assert parse_json(json.dumps(value)) == value
    assert parse_json(json.dumps(value, ensure_ascii=False).encode()) == value


@given(st.binary() | st.text())
def test_whatever_comes_is_a_value_or_one_kind_of_error(raw: bytes | str) -> None:
    try:
        value = parse_json(raw)
    except InvalidJsonError:
        return
    json.dumps(value, allow_nan=False).encode()


@pytest.mark.parametrize(
    "text", ["NaN", "-Infinity", "[1e999]", '{"a": {"b": [-1e400]}}', '"\\ud800"', "[" * 10_000, "1 2", "", "9" * 5000]
)
def test_what_is_not_json_is_refused(text: str) -> None:
    with pytest.raises(InvalidJsonError):
        parse_json(text)


def test_a_text_of_very_many_values_is_refused_before_it_fills_the_memory() -> None:
    ids = [f"product {number}" for number in range(10_000)]
    assert len(parse_json(json.dumps({"ids": ids}))["ids"]) == 10_000
    for text in ("[" + "{}," * 60_000 + "{}]", b"[" + b"{}," * 60_000 + b"{}]"):
        with pytest.raises(InvalidJsonError, match="commas"):
            parse_json(text)
