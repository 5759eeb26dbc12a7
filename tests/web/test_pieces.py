"""What the page is made of, without a browser."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import ResetRequest, ToolResult
from ecom_rlve.server.errors import UnknownEpisodeError
from ecom_rlve.server.service import Service
from ecom_rlve.server.settings import Settings
from ecom_rlve.server.web import mount
from ecom_rlve.server.web.games import Games
from ecom_rlve.server.web.played import Played, action_of
from ecom_rlve.server.web.views.comparing import Revealed
from ecom_rlve.server.web.views.ending import banner
from ecom_rlve.server.web.views.forms import desk
from ecom_rlve.server.web.views.html import el
from ecom_rlve.server.web.views.offers import Offers
from ecom_rlve.server.web.views.results import show_result

HOSTILE = '<img src=x onerror="alert(1)">'


@pytest.fixture(scope="module")
def games(shop: Shop) -> Games:
    return Games(Service(Settings(store="memory"), shop), shop)


def test_what_others_wrote_is_never_markup() -> None:
    result = ToolResult(name=HOSTILE, result={HOSTILE: HOSTILE, "results": [{"product_id": HOSTILE, "title": HOSTILE}]})
    assert "<img" not in show_result(result, Offers())
    assert el("a", title='"><script>') == '<a title="&#34;&gt;&lt;script&gt;"></a>'


def test_a_form_has_the_controls_of_its_schema(games: Games) -> None:
    record = asyncio.run(games.start("CART", 1, 3, "tool"))
    form = desk(
        record.episode.opening.tools or [], {"brand": ["Axiomar"], "category": [f"kind {n}" for n in range(300)]}
    )
    assert '<option value="Axiomar">Axiomar</option>' in form
    assert 'list="list-category"' in form
    assert 'type="number" step="any" inputmode="decimal" min="0" id="catalog_search-price_max"' in form
    assert "ask_user" not in form
    asyncio.run(games.drop(record.episode_id))


def test_a_product_is_offered_to_the_tools_that_take_one(games: Games) -> None:
    record = asyncio.run(games.start("RETURN", 1, 3, "tool"))
    offers = Offers(record.episode.opening.tools or [])
    product, line = offers.buttons({"product_id": "P"}), offers.buttons({"line_id": "L"}, {"order_id": "O"})
    assert product is not None
    assert line is not None
    assert "Exchange" in product
    assert "Check return" not in product
    assert "Check return" in line
    assert Offers().buttons({"product_id": "P"}) is None


def test_episodes_take_places_and_count_for_nothing(games: Games) -> None:
    before = games.service.sessions.active
    record = asyncio.run(games.start("CART", 1, 3, "tool"))
    assert games.service.sessions.active == before + 1
    assert '"counts": false' in record.metadata
    following = asyncio.run(games.start("CART", 1, 4, "tool", record.episode_id))
    assert games.service.sessions.active == before + 1
    with pytest.raises(UnknownEpisodeError):
        asyncio.run(games.record(record.episode_id))
    asyncio.run(games.drop(following.episode_id))
    assert games.service.sessions.active == before


def test_only_the_pages_own_episodes_are_revealed(games: Games) -> None:
    asyncio.run(games.service.reset(ResetRequest(env_id="CART", difficulty=1, episode_id="a stranger's")))
    with pytest.raises(UnknownEpisodeError):
        asyncio.run(games.record("a stranger's"))
    stranger = asyncio.run(games.service.record("a stranger's"))
    asyncio.run(games.service.finish(stranger))
    assert asyncio.run(games.reveal(stranger)) is None


def test_the_ending_says_what_went_wrong(games: Games) -> None:
    async def play() -> tuple[str, int]:
        record = await games.start("CART", 0, 3, "tool")
        assert await games.reveal(record) is None
        await games.step(record.episode_id, action_of({"kind": "answer", "args": {}, "final": True}))
        return str(banner(Played.of_episode(record.episode), await games.reveal(record))), record.episode.turns

    told, turns = asyncio.run(play())
    assert turns == 1
    assert "Missing from the cart" in told
    assert "r_total" in told


def test_a_goal_s_prices_are_in_the_currency_of_the_catalog(games: Games) -> None:
    async def play() -> tuple[Played, Revealed]:
        record = await games.start("CART", 0, 3, "tool")
        await games.step(record.episode_id, action_of({"kind": "answer", "args": {}, "final": True}))
        revealed = await games.reveal(record)
        assert revealed is not None
        return Played.of_episode(record.episode), revealed

    played, revealed = asyncio.run(play())
    assert revealed.currency == games.shop.catalog.currency
    goal = {"requirements": [["price", "between", [500, 129_900]], ["weight", "at_least", 240.0]]}
    told = str(banner(played, replace(revealed, goal=goal, currency="EUR")))
    assert "price lies between €5.00 and €1,299.00" in told
    assert "weight is at least 240 g" in told


@pytest.mark.parametrize("sent", [{}, {"kind": "say"}, {"kind": "call", "name": 3, "args": {}}, {"kind": "answer"}])
def test_what_is_no_action_is_refused(sent: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="nothing that an agent can do"):
        action_of(sent)


def test_the_page_is_where_its_extra_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mount, "find_spec", lambda _: None)
    assert not mount.has_page(Settings(web=None))
    with pytest.raises(mount.PageError, match="ecom-rlve"):
        mount.has_page(Settings(web=True))
    monkeypatch.setattr(mount, "find_spec", lambda _: object())
    assert mount.has_page(Settings().model_copy(update={"web": None}))
    assert not mount.has_page(Settings(web=False))


def test_the_server_imports_no_gradio() -> None:
    code = "import sys, ecom_rlve.server.app; print('gradio' in sys.modules, 'ecom_rlve.evaluation' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told == "False False\n"
