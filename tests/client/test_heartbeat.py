"""Heartbeats of the client: one thread for all its envs, which no env has to think of."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from typing import TYPE_CHECKING

import httpx
import pytest

from ecom_rlve.client import AsyncEcomEnv, EcomEnv
from ecom_rlve.client.heartbeat import HEADER, Heart, heart

if TYPE_CHECKING:
    # The client's own tests run without a server's packages.
    from fastapi import FastAPI

CART = {"env_id": "CART", "difficulty": 1, "seed": 42}


class Ear(httpx.MockTransport):
    """Hears heartbeats."""

    def __init__(self, status: int = 200) -> None:
        self.heard: list[tuple[str, str]] = []
        self._status = status
        super().__init__(self._answer)

    def _answer(self, request: httpx.Request) -> httpx.Response:
        assert (request.method, request.headers.get("authorization")) == ("POST", "Bearer open")
        self.heard.append((request.url.path, request.headers[HEADER]))
        return httpx.Response(self._status)


class Playing:
    """A player of whom the test says whether it plays."""

    def __init__(self, url: str = "http://shop/prefix/") -> None:
        self.is_playing = True
        self.server = httpx.URL(url), {"Authorization": "Bearer open"}


@pytest.fixture
def still(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thread that waits for ever, so that the test beats."""
    monkeypatch.setattr("ecom_rlve.client.heartbeat.FIRST_S", 3600.0)


@pytest.mark.usefixtures("still")
def test_one_request_tells_a_server_of_all_that_play() -> None:
    ear, of_process = Ear(), Heart()
    players = [Playing() for _ in range(9)]
    for player in players:
        of_process.keep(player)
    with httpx.Client(transport=ear) as http:
        assert of_process.beat(http)
        assert ear.heard == [("/prefix/heartbeat", of_process.client)]
        for player in players[1:]:
            player.is_playing = False
        assert of_process.beat(http)
        players[0].is_playing = False
        assert not of_process.beat(http)
    assert len(ear.heard) == 2


@pytest.mark.usefixtures("still")
def test_a_dropped_player_needs_none_and_a_deaf_server_gets_no_more() -> None:
    ear, of_process = Ear(404), Heart()
    player = Playing()
    of_process.keep(player)
    with httpx.Client(transport=ear) as http:
        assert of_process.beat(http)
        assert of_process.beat(http)
        assert len(ear.heard) == 1
        del player
        gc.collect()
        assert not of_process.beat(http)


@pytest.mark.usefixtures("still")
def test_a_lost_heartbeat_is_no_error() -> None:
    def lost(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("nobody", request=request)

    of_process, player = Heart(), Playing()
    of_process.keep(player)
    with httpx.Client(transport=httpx.MockTransport(lost)) as http:
        assert of_process.beat(http)


@pytest.mark.needs_server
def test_a_playing_process_beats_by_itself_and_stops(
    live_app: FastAPI, live_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ecom_rlve.server.admission.tokens import own_name

    monkeypatch.setattr("ecom_rlve.client.heartbeat.FIRST_S", 0.01)
    monkeypatch.setattr("ecom_rlve.client.heartbeat.INTERVAL_S", 0.01)
    monkeypatch.setattr("ecom_rlve.client.heartbeat._of_process", {os.getpid(): Heart()})
    before = threading.enumerate()
    heard = threading.Event()
    leases = live_app.state.service.leases
    known = own_name(heart().client)

    def beat(client: str) -> None:
        if client == known:
            heard.set()

    monkeypatch.setattr(leases, "beat", beat)
    with EcomEnv(live_url) as env:
        env.reset(**CART)
        assert heard.wait(60)

    async def played() -> None:
        async with AsyncEcomEnv(live_url) as env:
            await env.reset(**CART)
            heard.clear()
            # The loop stands still, as a trainer's does.
            assert heard.wait(60)

    asyncio.run(played())
    begun = [each for each in threading.enumerate() if each.name == "ecom-rlve-heartbeat" and each not in before]
    for thread in begun:
        thread.join(60)
    assert not any(thread.is_alive() for thread in begun)


@pytest.mark.needs_server
def test_a_child_process_has_a_name_of_its_own(live_url: str) -> None:
    with EcomEnv(live_url) as env:
        env.reset(**CART)
        mine = heart().client
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(writing, heart().client.encode())
            os._exit(0)
        os.waitpid(child, 0)
        theirs = os.read(reading, 100).decode()
        os.close(reading)
        os.close(writing)
        assert len(theirs) == len(mine)
        assert theirs != mine
