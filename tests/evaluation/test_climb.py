"""The climb of the curriculum: played in process, told as a table and as a drawing."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from types import SimpleNamespace

import pytest

from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation import climb as climb_module
from ecom_rlve.evaluation.agents import policies_of
from ecom_rlve.evaluation.climb import Climb, climb, markdown
from ecom_rlve.evaluation.line_chart import charts
from ecom_rlve.models import MAX_DIFFICULTY

LISTED = {name: each.about.info(MAX_DIFFICULTY) for name, each in environments().items()}
STATUS = policies_of("STATUS", LISTED)
SVG = "{http://www.w3.org/2000/svg}"


def test_the_frontier_rises_where_the_agent_is_right(shop: Shop) -> None:
    played = climb(shop, STATUS, "expert", 72)
    assert len(played.frontier) == 72
    assert played.frontier[0] == 0
    assert list(played.frontier) == sorted(played.frontier)
    assert played.correct / 72 >= 0.9
    assert played.frontier[-1] == 1
    first = played.reached(1)
    # Two gates of 32 seeds must pass.
    assert first is not None
    assert first > 64


def test_the_frontier_stays_where_the_agent_is_wrong(shop: Shop) -> None:
    played = climb(shop, STATUS, "decline", 68)
    assert played == Climb("STATUS", (0,) * 68, 0)
    assert played.reached(1) is None


def test_a_journey_climbs_by_the_share_of_its_errands(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though hardly any journey is right as a whole."""
    monkeypatch.setattr(climb_module, "play", lambda *_: SimpleNamespace(is_correct=False, correct_share=0.95))
    played = climb(shop, policies_of("JOURNEY", LISTED), "expert", 80)
    assert (played.frontier[-1], played.correct) == (1, 0)
    monkeypatch.setattr(climb_module, "play", lambda *_: SimpleNamespace(is_correct=False, correct_share=0.5))
    assert climb(shop, policies_of("JOURNEY", LISTED), "expert", 80).frontier[-1] == 0


def test_the_table_names_the_episode_at_which_a_level_was_reached() -> None:
    told = markdown([Climb("CART", (0, 0, 1, 2), 3), Climb("PD", (0, 0, 0, 0), 1)])
    assert told.splitlines() == [
        "| 4 episodes each | correct | frontier | d=1 from | d=2 from |",
        "| --- | --- | --- | --- | --- |",
        "| CART | 0.750 | 2 | 3 | 4 |",
        "| PD | 0.250 | 0 |  |  |",
    ]


def test_the_drawing_is_an_svg_with_a_line_for_each() -> None:
    drawing = ET.fromstring(charts({"A & B": [0, 0, 1, 3], "C": [0]}, title="<levels>"))
    texts = [each.text for each in drawing.iter(f"{SVG}text")]
    assert {"A & B", "C", "<levels>", "0", "3", "4"} <= set(texts)
    rising, flat = (
        [tuple(map(float, point.split(","))) for point in line.attrib["points"].split()]
        for line in drawing.iter(f"{SVG}polyline")
    )
    heights = [down for _, down in rising]
    assert heights == sorted(heights, reverse=True)
    assert len(set(heights)) == 3
    assert len({down for _, down in flat}) == 1
    assert rising[-1][0] - rising[0][0] == pytest.approx(4 * (flat[-1][0] - flat[0][0]), abs=0.5)
