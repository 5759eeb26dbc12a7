"""Starting the server: as a module, as ``server.app:app``, and without work at import."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import closing
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.server import app as module
from ecom_rlve.server.app import create_app, server_config
from ecom_rlve.server.settings import Settings

START_S = 120.0
"""After which a test gives up on a server that starts or stops; on an idle machine it takes two."""


def test_importing_builds_nothing_and_the_first_use_of_app_builds_one(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "app" not in vars(module)
    monkeypatch.setattr(Shop, "open", lambda *_: shop)
    try:
        built: Any = module.app
        assert isinstance(built, FastAPI)
        assert built is module.app
        # uvicorn's own lines would hold the ids of episodes.
        assert logging.getLogger("uvicorn.access").disabled
    finally:
        logging.getLogger("uvicorn.access").disabled = False
        vars(module).pop("app", None)
    with pytest.raises(AttributeError):
        _ = module.no_such_name


def test_create_app_opens_the_catalog_of_the_settings() -> None:
    assert create_app(Settings(catalog="synthetic:100:3")).state.service.metadata()["catalog"]["size"] == 100


def test_pings_outlast_a_stalled_trainer_and_the_log_is_quiet(shop: Shop) -> None:
    config = server_config(create_app(Settings(), shop=shop), Settings(), log_config=None)
    assert (config.ws_ping_interval, config.ws_ping_timeout) == (30, 600)
    assert not config.ws_per_message_deflate
    assert not config.access_log


def test_the_reaper_runs_while_the_server_does(serve: Any) -> None:
    server = serve(idle_ttl_s=0.05)
    assert httpx.post(f"{server.http}/reset", timeout=None).status_code == 200
    server.until(lambda: server.service.sessions.readable == 0)


def test_a_fault_in_tending_is_noted_and_tending_goes_on(serve: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    server = serve(idle_ttl_s=0.05)
    tend = server.service.tend
    calls: list[None] = []

    async def faulty() -> int:
        calls.append(None)
        if len(calls) == 1:
            raise ValueError("a row that cannot be read")
        found: int = await tend()
        return found

    monkeypatch.setattr(server.service, "tend", faulty)
    assert httpx.post(f"{server.http}/reset", timeout=None).status_code == 200
    server.until(lambda: len(calls) > 2 and server.service.sessions.readable == 0)


def test_the_module_serves_on_the_port_of_the_environment() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = free.getsockname()[1]
    environment = {
        **os.environ,
        "PORT": str(port),
        "ECOM_RLVE_HOST": "127.0.0.1",
        "ECOM_RLVE_CATALOG": "synthetic:400:0",
    }
    environment.pop("ECOM_RLVE_PORT", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "ecom_rlve.server.app"], env=environment, stderr=subprocess.PIPE, text=True
    )
    try:
        opening = _until_answered(f"http://127.0.0.1:{port}/reset", {"env_id": "CART", "seed": 11})
        assert opening["metadata"]["seed"] == 11
    finally:
        process.send_signal(signal.SIGINT)
        _, log = process.communicate(timeout=START_S)
    assert "level=INFO logger=ecom_rlve.server start catalog=synthetic:400:0 size=400" in log
    assert "Traceback" not in log
    assert "/reset" not in log


def _until_answered(url: str, body: dict[str, Any]) -> Any:
    deadline = time.monotonic() + START_S
    while True:
        try:
            return httpx.post(url, json=body).json()
        except httpx.TransportError:
            assert time.monotonic() < deadline, "the server did not start"
            time.sleep(0.05)
