"""The soundness table on catalogs that were built from real files, with the environments that each can serve.

Made-up rows of the same schemas stand in the repository, so that a clone alone tests this as well.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from typer import Typer
from typer.testing import CliRunner

from ecom_rlve.catalog.build import build_catalog
from ecom_rlve.envs.registry import COLLECTIONS
from ecom_rlve.evaluation import soundness

DATA = Path(__file__).parents[2] / "../shared/data"
MADE_UP = Path(__file__).parents[1] / "catalog/made_up"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "served"),
    [
        (MADE_UP / "amazon_fashion.jsonl", {"BUNDLE", "CART", "JOURNEY", "POLICY", "RETURN", "STATUS"}),
        (MADE_UP / "merchant_feed.xml", {"JOURNEY", "POLICY", "RETURN", "STATUS"}),
        (DATA / "amazon2023_meta_fashion_500.jsonl", {"BUNDLE", "CART", "JOURNEY", "PD", "POLICY", "RETURN", "STATUS"}),
        (DATA / "google_merchant_groundies_us.xml", {"BUNDLE", "JOURNEY", "POLICY", "RETURN", "STATUS"}),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else "",
)
def test_a_catalog_from_real_rows_is_sound(tmp_path: Path, path: Path, served: set[str]) -> None:
    if not path.exists():
        pytest.skip(f"{path} is not there: NOTHING REAL WAS TESTED")
    build_catalog(str(path), tmp_path / "shop")
    app = Typer()
    app.command()(soundness.main)
    args = ["--catalog", str(tmp_path / "shop"), "--episodes", "20", "--difficulties", "0,3"]
    printed = CliRunner().invoke(app, args)
    assert printed.exit_code == 0, printed.stdout
    sound = {line.split(":")[0] for line in printed.stdout.splitlines() if line.endswith(": sound")}
    assert sound & set(COLLECTIONS["C8"]) == served
