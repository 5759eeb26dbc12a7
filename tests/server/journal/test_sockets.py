"""Sockets over a journal, on a real port: a server that stops keeps their episodes, a socket that closes does not."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.server.app import create_app, server_config
from ecom_rlve.server.settings import Settings

HELLO = {"type": "step", "data": {"assistant_message": "Hello, let me look."}}


def ask(peer: ClientConnection, frame: Any) -> Any:
    peer.send(json.dumps(frame))
    return json.loads(peer.recv(timeout=120))


def test_an_episode_outlives_the_server_of_its_socket_but_not_the_socket(
    listening: Callable[..., Any], shop: Shop, tmp_path: Path
) -> None:
    settings = Settings(store=tmp_path / "store.sqlite3", web=False)
    app = create_app(settings, shop=shop)
    # The kept socket is closed after the server has stopped.
    with ExitStack() as stack, listening(server_config(app, settings, log_config=None)) as url:
        kept = stack.enter_context(connect(f"{url.replace('http', 'ws')}/ws", ping_interval=None))
        with connect(f"{url.replace('http', 'ws')}/ws", ping_interval=None) as closed:
            for name, peer in (("kept", kept), ("closed", closed)):
                ask(peer, {"type": "reset", "data": {"env_id": "CART", "seed": 1, "episode_id": name}})
                ask(peer, HELLO)
    app = create_app(settings, shop=shop)
    service = app.state.service
    try:
        assert service.journal.find("closed") is None
        connection = service.sessions.connect()
        with asyncio.Runner() as runner:
            assert json.loads(runner.run(service.resume("kept", connection)))["step_count"] == 1
    finally:
        asyncio.run(service.aclose())
