"""How the environments' own solutions find products, and send their actions in either style."""

from __future__ import annotations

from typing import Any

import pytest

from ecom_rlve.envs.difficulty import axes_of
from ecom_rlve.envs.parts import solving
from ecom_rlve.envs.parts.solving import in_style, search_showing
from ecom_rlve.envs.tools.catalog import SearchArgs, ranked_page
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.envs.world.world import World
from ecom_rlve.streams import Streams

ONE = {"name": "cart_view", "args": {}}
OTHER = {"name": "ask_user", "args": {"question": "Which size?"}}


@pytest.mark.parametrize(
    ("action", "sent"),
    [
        ({"tool_calls": [ONE]}, {"tool_calls": [ONE], "end_turn": True}),
        ({"tool_calls": [ONE], "end_turn": False}, {"tool_calls": [ONE], "end_turn": False}),
        ({"tool_calls": [ONE, OTHER], "assistant_message": "Hm."}, {"tool_calls": [ONE], "end_turn": False}),
        ({"tool_calls": [], "assistant_message": "Hm."}, {"tool_calls": [], "assistant_message": "Hm."}),
        ({"answer": {"done": True}}, {"answer": {"done": True}}),
    ],
)
def test_a_tool_at_a_time_sends_the_first_call_and_closes_with_the_last(
    action: dict[str, Any], sent: dict[str, Any]
) -> None:
    assert in_style(action, "tool") == sent
    assert in_style(action, "turn") == action


def test_a_search_shows_the_product_on_its_first_page(shop: Shop) -> None:
    world = World(shop, axes_of(12), Streams("solving"))
    for row in range(0, 400, 23):
        args = search_showing(world, row)
        assert args["limit"] == 10
        assert row in ranked_page(world, SearchArgs.model_validate(args))[0][:10]


def test_a_product_that_no_search_shows_is_an_error(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def elsewhere(_: World, args: SearchArgs) -> tuple[list[int], int]:
        tried.append(args.query)
        return [*range(1, 11), 0], 11

    monkeypatch.setattr(solving, "ranked_page", elsewhere)
    with pytest.raises(LookupError, match=rf"no wording of its title shows product {shop.catalog.ids[0]}"):
        search_showing(World(shop, axes_of(0), Streams("solving")), 0)
    assert len(tried) == 60
    assert tried[0] == shop.catalog.titles[0]
    assert len(set(tried)) > len(shop.catalog.titles[0].split())
