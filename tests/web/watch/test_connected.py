"""Chat models that visitors watch, without a browser: a real API on this machine, and the real service."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError

from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import Termination
from ecom_rlve.server.service import Service
from ecom_rlve.server.settings import Settings
from ecom_rlve.server.web.games import Games
from ecom_rlve.server.web.watch.connected import HOW, Connected, Connection, ConnectionLostError, Frame
from ecom_rlve.server.web.watch.models import MODEL, Models

KEY = "sk-secret-1234"
NATIVE, _, LENIENT = HOW


@pytest.fixture(scope="module")
def games(shop: Shop) -> Games:
    return Games(Service(Settings(store="memory"), shop), shop)


def watch(games: Games, connection: Connection) -> list[Frame]:
    async def all_of_it() -> list[Frame]:
        return [frame async for frame in Connected(games).watch(connection, "CART", 1, 3)]

    return asyncio.run(all_of_it())


def test_a_model_plays_step_by_step(games: Games, model_url: str, api: Any) -> None:
    frames = watch(games, Connection(model_url, "good", KEY, "native", "strict"))
    assert [len(frame.film.played.moves) for frame in frames] == [0, 1, 2, 3]
    assert [frame.film.is_whole for frame in frames] == [False, False, False, True]
    last = frames[-1]
    assert last.film.played.latest.result is not None
    assert last.film.played.latest.result.termination == Termination.ANSWERED
    assert last.film.revealed is not None
    assert "3 requests, 300 tokens read, 30 written" in last.told
    assert api.keys[-1] == f"Bearer {KEY}"
    assert KEY not in last.film.revealed.trace
    assert KEY not in repr(frames)


@pytest.mark.parametrize(
    ("model", "ending"), [("prose", Termination.FORMAT_FAILURE), ("huge", Termination.FORMAT_FAILURE)]
)
def test_what_a_model_does_wrong_ends_its_episode(
    games: Games, model_url: str, model: str, ending: Termination
) -> None:
    last = watch(games, Connection(model_url, model, "", "text", "strict"))[-1]
    assert last.film.played.latest.result is not None
    assert last.film.played.latest.result.termination == ending


@pytest.mark.parametrize(("model", "told"), [("guarded", "HTTP 401"), ("moved", "give that address")])
def test_a_model_that_cannot_play_is_told_of_in_words(games: Games, model_url: str, model: str, told: str) -> None:
    before = games.service.sessions.active
    with pytest.raises(ConnectionLostError, match=told) as refused:
        watch(games, Connection(model_url, model, KEY, "native", "strict"))
    # Its server repeats the key, and this one does not.
    assert KEY not in str(refused.value)
    assert games.service.sessions.active == before


def test_who_stops_watching_frees_the_place_and_the_model(games: Games, model_url: str, api: Any) -> None:
    before = games.service.sessions.active

    async def leave_after_one_step() -> None:
        async with aclosing(
            Connected(games).watch(Connection(model_url, "slow", "", "native", "strict"), "CART", 1, 3)
        ) as seen:
            async for frame in seen:
                if frame.film.played.moves:
                    break
        assert games.service.sessions.active == before

    asyncio.run(leave_after_one_step())
    asyncio.run(_until(lambda: api.left == ["slow"]))


async def _until(is_true: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not is_true():
            await asyncio.sleep(0.02)


def test_only_so_many_models_play_at_once(games: Games, model_url: str) -> None:
    async def crowd() -> None:
        connected, connection = Connected(games), Connection(model_url, "slow", "", "native", "strict")
        watched = [connected.watch(connection, "CART", 1, 3) for _ in range(5)]
        for seen in watched[:4]:
            await anext(seen)
        with pytest.raises(ConnectionLostError, match="try again"):
            await anext(watched[4])
        for seen in watched:
            await seen.aclose()
        again = connected.watch(connection, "CART", 1, 3)
        assert not (await anext(again)).film.played.moves
        await again.aclose()

    asyncio.run(crowd())


def test_a_visitor_may_name_only_what_the_settings_allow() -> None:
    named = ("http://127.0.0.1:9/v1", " some-model ", KEY, NATIVE)
    with pytest.raises(ValueError, match="ECOM_RLVE_AGENT_ORIGINS"):
        Models(Settings()).connection(MODEL, *named)
    models = Models(Settings(agent_origins=("loopback",)))
    connection = models.connection(MODEL, *named)
    assert connection == Connection("http://127.0.0.1:9/v1", "some-model", KEY, "native", "strict")
    assert KEY not in repr(connection)
    with pytest.raises(ValueError, match="may not ask"):
        models.connection(MODEL, "http://169.254.169.254/v1", *named[1:])
    with pytest.raises(ValueError, match="model: name one"):
        models.connection(MODEL, named[0], " ", KEY, NATIVE)
    with pytest.raises(ValueError, match="key: ") as refused:
        models.connection(MODEL, named[0], "m", "a\nb", NATIVE)
    assert "a\nb" not in str(refused.value)
    assert models.connection("expert", *named) is None


def test_the_servers_own_key_goes_only_to_its_own_model() -> None:
    settings = Settings(
        agent_url="https://models.example/v1", agent_model="own", agent_key=SecretStr(KEY), agent_origins=("loopback",)
    )
    models = Models(settings)
    (_, own), _ = models.choices
    assert models.connection(own, "http://127.0.0.1:9/v1", "other", "", LENIENT) == Connection(
        "https://models.example/v1", "own", KEY, "text", "lenient"
    )
    theirs = models.connection(MODEL, "http://127.0.0.1:9/v1", "other", "", NATIVE)
    assert theirs is not None
    assert theirs.key == ""
    assert KEY not in json.dumps(models.choices) + models.about


def test_settings_of_models_are_checked() -> None:
    with pytest.raises(ValidationError, match="go together"):
        Settings(agent_url="https://models.example/v1")
    with pytest.raises(ValidationError, match="no origin"):
        Settings(agent_origins=("https://models.example/v1",))
