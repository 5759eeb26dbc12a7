"""Hosts and origins: a page of another site reaches nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from ecom_rlve.server.settings import Settings


def status(http: Any, path: str = "/envs", **headers: str) -> int:
    found: int = http.call("GET", path, headers=headers).status_code
    return found


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "localhost:8000",
        "LOCALHOST",
        "127.0.0.1:8000",
        "[::1]:8000",
        "192.168.1.7",
        "server:8000",
        "a.localhost",
    ],
)
def test_a_safe_name_of_the_server_is_served(http: Any, host: str) -> None:
    assert status(http, Host=host) == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example.", "[", "", ":80"]
)
def test_a_public_name_must_be_allowed(http: Any, host: str) -> None:
    answer = http.call("GET", "/envs", headers={"Host": host})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "FORBIDDEN")
    assert http.call("GET", "/health", headers={"Host": host}).status_code == 200


def test_names_are_allowed_by_settings(api: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert status(api(allowed_hosts=("shop.example",)), Host="Shop.Example:443") == 200
    assert status(api(allowed_hosts=("shop.example",)), Host="other.example") == 403
    assert status(api(allowed_hosts=("*",)), Host="other.example") == 200
    monkeypatch.setenv("SPACE_HOST", "me-shop.hf.space")
    assert status(api(), Host="me-shop.hf.space") == 200
    assert Settings().space_host == "me-shop.hf.space"


@pytest.mark.parametrize(
    "origin", ["https://evil.example", "http://evil.example:80", "null", "http://", "http://localhost.evil.example"]
)
def test_a_page_of_another_site_gets_nothing(http: Any, origin: str) -> None:
    for method, path in (("POST", "/reset"), ("DELETE", "/episodes?run_id=r"), ("GET", "/envs")):
        answer = http.call(method, path, headers={"Host": "localhost:8000", "Origin": origin})
        assert answer.status_code == 403
        assert not [name for name in answer.headers if name.startswith("access-control")]


def test_the_servers_own_page_and_allowed_ones_may_ask(api: Callable[..., Any]) -> None:
    http = api(allowed_origins=("https://lab.example",))
    assert status(http, Host="localhost:8000", Origin="http://localhost:8000") == 200
    answer = http.call("GET", "/envs", headers={"Host": "localhost", "Origin": "https://lab.example"})
    assert answer.headers["access-control-allow-origin"] == "https://lab.example"
    preflight = {
        "Host": "localhost",
        "Origin": "https://lab.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization, content-type",
    }
    assert http.call("OPTIONS", "/reset", headers=preflight).status_code == 200
    assert http.call("OPTIONS", "/reset", headers={**preflight, "Origin": "https://evil.example"}).status_code == 403


def test_no_socket_for_a_page_of_another_site(server: Any) -> None:
    with pytest.raises(InvalidStatus) as refused, connect(server.ws, origin=Origin("https://evil.example")):
        pass
    assert refused.value.response.status_code == 403
    with connect(server.ws, origin=Origin(server.http)) as peer:
        peer.send('{"type": "state"}')
        assert json.loads(peer.recv(timeout=30))["data"]["token"] == "NOT_RESET"
