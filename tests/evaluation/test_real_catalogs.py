"""Catalogs that were built from real files: the soundness table, and what the expert makes of every split.

Made-up rows of the same schemas stand in the repository, so that a clone alone tests this as well.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from typer import Typer
from typer.testing import CliRunner

from ecom_rlve.catalog.build import build_catalog
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.parts.constraints import LEAST_RATING
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.splits import SPLITS
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation import soundness
from ecom_rlve.evaluation.agents import make_expert
from ecom_rlve.evaluation.in_process import play
from ecom_rlve.models import Split

EPISODES = 20
LEAST_RIGHT = 0.95
DATA = Path(__file__).parents[2] / "../shared/data"
MADE_UP = Path(__file__).parents[1] / "catalog/made_up"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "served"),
    [
        (MADE_UP / "amazon_fashion.jsonl", {"BUNDLE", "CART", "JOURNEY", "PD", "POLICY", "RETURN", "STATUS"}),
        (DATA / "amazon2023_meta_fashion_500.jsonl", {"BUNDLE", "CART", "JOURNEY", "PD", "POLICY", "RETURN", "STATUS"}),
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
    printed = CliRunner().invoke(app, args).stdout
    found = {line.split(":")[0] for line in printed.splitlines() if line.endswith(": sound")}
    failed = [line for line in printed.splitlines() if line.startswith("FAILED")]
    # Where a kind has a few products, all of them are seen without filters, and who sets none loses nothing.
    others = [line for line in failed if "lazy policy ignores_filters" not in line]
    assert others == [], printed
    assert found | {line.split(": ")[1] for line in failed} == served


@pytest.mark.slow
@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize(
    ("path", "currency", "served"),
    [
        (MADE_UP / "amazon_fashion.jsonl", None, {"BUNDLE", "CART", "JOURNEY", "PD", "POLICY", "RETURN", "STATUS"}),
        (MADE_UP / "shopify_jewelry.csv", "USD", {"POLICY"}),
        (
            DATA / "amazon2023_meta_fashion_500.jsonl",
            None,
            {"BUNDLE", "CART", "JOURNEY", "PD", "POLICY", "RETURN", "STATUS"},
        ),
        (DATA / "google_merchant_groundies_us.xml", None, set()),
        (DATA / "shopify/apparel.csv", "USD", {"JOURNEY", "POLICY", "RETURN", "STATUS"}),
        (DATA / "shopify/home-and-garden.csv", "USD", {"JOURNEY", "POLICY", "RETURN", "STATUS"}),
        (DATA / "shopify/jewelery.csv", "USD", {"POLICY"}),
    ],
    ids=lambda value: value.name if isinstance(value, Path) else "",
)
def test_the_expert_is_right_in_every_split_of_what_is_served(
    path: Path, currency: str | None, served: set[str], split: Split
) -> None:
    if not path.exists():
        pytest.skip(f"{path} is not there: NOTHING REAL WAS TESTED")
    shop = Shop.open(str(path), currency=currency)
    assert {env_id for env_id, each in environments().items() if each.max_difficulty(shop) >= 0} == served
    right = {env_id: _right(shop, env_id, split) for env_id in served}
    assert not {env_id: count for env_id, count in right.items() if count < LEAST_RIGHT * EPISODES}


def _right(shop: Shop, env_id: str, split: Split) -> int:
    episodes = [
        Episode(shop, EpisodeSpec(env_id, 0, seed, split=split), f"{env_id}-{seed}", disclose=True)
        for seed in range(EPISODES)
    ]
    return sum(play(episode, make_expert(env_id)).is_correct for episode in episodes)


def test_nobody_wishes_for_a_low_rating() -> None:
    shop = Shop.open(str(MADE_UP / "amazon_fashion.jsonl"))
    wishes = [
        constraint.value
        for seed in range(40)
        for slot in Episode(shop, EpisodeSpec("PD", 0, seed), "rated").intent.slots
        if (constraint := slot.fact.constraint).attribute == "rating"
    ]
    assert wishes
    assert not [value for value in wishes if not isinstance(value, float) or value < LEAST_RATING]


def test_every_seed_of_every_split_of_a_shop_with_hardly_two_products_of_a_brand_has_an_episode() -> None:
    shop = Shop.open(str(MADE_UP / "amazon_fashion.jsonl"))
    specs = [EpisodeSpec("PD", 0, seed, split=split) for split in SPLITS for seed in range(20)]
    # Two wishes, and what matters most.
    assert {len(Episode(shop, spec, "drawn").intent.slots) for spec in specs} == {3}
