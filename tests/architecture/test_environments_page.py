"""The page of the eight environments shows what happens: its conversations, played again, and their rewards."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.registry import COLLECTIONS, environments
from ecom_rlve.envs.world.shop import Shop

PAGE = "docs/environments.md"
SPEC = re.compile(r"seed (?P<seed>\d+), difficulty (?P<difficulty>\d+), style `turn`")
TOTAL = re.compile(r"`r_total` \|.*\*\*(?P<total>[+-][\d.]+)\*\*")
DESCRIBED = sorted(COLLECTIONS["C8"])
"""A further environment is served and judged without a section of its own."""
SHOWN = [name for name in DESCRIBED if name != "CART"]
"""CART has a page of its own."""


def block(root: Path, name: str) -> str:
    """Return a marked block of the page."""
    return (root / PAGE).read_text().partition(f"<!-- {name} -->\n")[2].partition(f"\n<!-- /{name} -->")[0]


@pytest.mark.parametrize("env_id", DESCRIBED)
def test_every_environment_is_described(root: Path, env_id: str) -> None:
    page = (root / PAGE).read_text()
    assert re.search(rf"^## {env_id}: ", page, re.MULTILINE)
    assert f"| [{env_id}](" in (root / "README.md").read_text()
    glance = block(root, f"{env_id} glance")
    assert [name for name in environments()[env_id].about.tool_names if f"`{name}`" not in glance] == []


@pytest.mark.parametrize("env_id", SHOWN)
def test_the_transcript_happens_and_earns_what_is_worked_out(root: Path, big_shop: Shop, env_id: str) -> None:
    sums, lines = block(root, f"{env_id} by hand"), block(root, f"{env_id} transcript").splitlines()
    spec, total = SPEC.search(sums), TOTAL.search(sums)
    assert spec is not None
    assert total is not None
    episode = Episode(big_shop, EpisodeSpec(env_id, int(spec["difficulty"]), int(spec["seed"])), "shown")
    heard = [episode.opening.user_message]
    for action in (json.loads(line.removeprefix("agent")) for line in lines if line.startswith("agent")):
        said = episode.step(action).user_message
        heard += [said] if said else []
    assert "\n".join(heard) == "\n".join(
        line.removeprefix("customer  ") for line in lines[1:-1] if not line.startswith(("agent", "store"))
    )
    assert episode.result is not None
    assert episode.result.is_correct
    assert episode.result.r_total == pytest.approx(float(total["total"]), abs=1e-4)


@pytest.mark.parametrize("env_id", SHOWN)
def test_the_difficulty_table_has_its_place(root: Path, env_id: str) -> None:
    table = block(root, f"{env_id} difficulty")
    assert "episodes per difficulty" in table
    assert "| 11 tool calls a turn `B_tool` |" in table


def test_the_curriculum_is_shown_climbing_everywhere(root: Path) -> None:
    rows = [line.split(" | ") for line in block(root, "curriculum").splitlines()[2:]]
    assert [row[0].removeprefix("| ") for row in rows] == DESCRIBED
    assert all(int(row[2]) > 0 for row in rows)
    drawing = (root / "docs/curriculum.svg").read_text()
    assert [name for name in DESCRIBED if f">{name}</text>" not in drawing] == []
