"""Kinds of products against titles judged by hand, by trade. ``pytest -s`` prints the table and what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from ecom_rlve.catalog.kinds.leaf_names import UNKNOWN
from ecom_rlve.catalog.kinds.nouns import bare
from ecom_rlve.catalog.rows.reading import Reading
from ecom_rlve.catalog.rows.row import read_row
from ecom_rlve.catalog.shop_words.inflection import singular

_FOLDER = Path(__file__).parent / "judged_kinds"
TRADES = sorted(path.stem for path in _FOLDER.glob("*.tsv"))
MOST_WRONG = 0.01
LEAST_RIGHT = 0.75
_NO_KIND = "-"


class Judgement(NamedTuple):
    """How many rows of a trade got a right kind, a wrong one, or none."""

    right: int
    wrong: list[str]
    unknown: list[str]
    rightly_unknown: int

    @property
    def rows(self) -> int:
        return self.right + len(self.wrong) + len(self.unknown) + self.rightly_unknown


def judged(trade: str) -> Judgement:
    right, wrong, unknown, rightly_unknown = 0, [], [], 0
    for line in (_FOLDER / f"{trade}.tsv").read_text("utf-8").splitlines():
        title, path, kinds = line.split("\t")
        accepted = {_folded(kind) for kind in kinds.split("|")}
        row = {"parent_asin": "1", "title": title, "categories": [each for each in path.split(" > ") if each]}
        reading = read_row(row)
        assert isinstance(reading, Reading)
        if reading.leaf == UNKNOWN:
            rightly_unknown += _NO_KIND in accepted
            unknown += [title] * (_NO_KIND not in accepted)
        elif accepted & {_folded(reading.leaf.singular), _folded(reading.leaf.plural)}:
            right += 1
        else:
            wrong.append(f"{title}: {reading.leaf.singular}, not {kinds}")
    return Judgement(right, wrong, unknown, rightly_unknown)


def _folded(kind: str) -> str:
    return " ".join(map(singular, bare(kind).split()))


@pytest.fixture(scope="module")
def judgements() -> dict[str, Judgement]:
    return {trade: judged(trade) for trade in TRADES}


@pytest.mark.parametrize("trade", TRADES)
def test_most_products_of_a_trade_have_a_kind(judgements: dict[str, Judgement], trade: str) -> None:
    found = judgements[trade]
    share = found.right / (found.rows - found.rightly_unknown)
    print(
        f"\n{trade}: {found.rows} rows, right {found.right}, rightly unknown {found.rightly_unknown}, "
        f"unknown {len(found.unknown)}, wrong {len(found.wrong)}"
    )
    print(*(f"  wrong: {each}" for each in found.wrong), *(f"  unknown: {each}" for each in found.unknown), sep="\n")
    assert share >= LEAST_RIGHT


def test_hardly_any_kind_is_wrong(judgements: dict[str, Judgement]) -> None:
    rows = sum(found.rows for found in judgements.values())
    wrong = [each for found in judgements.values() for each in found.wrong]
    assert len(wrong) <= MOST_WRONG * rows, wrong
