"""Rows that once got an absurd kind or attribute."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ecom_rlve.catalog.rows.reading import Reading
from ecom_rlve.catalog.rows.row import read_row

_FILE = Path(__file__).parents[1] / "judged_kinds" / "cases.jsonl"
CASES: list[dict[str, Any]] = [json.loads(line) for line in _FILE.read_text("utf-8").splitlines()]
_SCREEN = {"screen_size": 165.1}
"""What the case states as "165.1 cm (65 in)"."""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["row"]["title"])
def test_a_kind_is_a_thing_and_a_name_is_no_attribute(case: dict[str, Any]) -> None:
    reading = read_row(case["row"])
    assert isinstance(reading, Reading)
    assert reading.leaf.singular == (case["kind"] or "other item")
    known = reading.product.attributes
    assert not known.items() & case.get("not_attributes", {}).items()
    assert known.items() >= (_SCREEN if "attributes" in case else {}).items()
