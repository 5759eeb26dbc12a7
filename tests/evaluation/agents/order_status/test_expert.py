"""The STATUS expert: reads the one order that is meant, and asks only what tells several apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ecom_rlve.models import Style


@pytest.mark.parametrize("style", ["turn", "tool"])
def test_it_asks_for_what_was_left_out(play: Callable[..., Any], style: Style) -> None:
    for seed in range(30):
        game = play("STATUS", 6, seed, style=style, p_missing=1.0)
        assert game.result.is_correct, seed
        assert len([call for call in game.calls if call["name"] == "order_get"]) == 1


def test_it_asks_nothing_where_the_list_tells_which_order_is_meant(play: Callable[..., Any]) -> None:
    games = [play("STATUS", 6, seed, style="tool", p_missing=0.0) for seed in range(20)]
    assert all(game.result.is_correct and not game.messages for game in games)
    assert all(game.result.turns == 1 for game in games)
