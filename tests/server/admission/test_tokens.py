"""Tokens: who they let in, to what, and until when."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr, ValidationError
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

from ecom_rlve.server.admission.errors import TokensError
from ecom_rlve.server.admission.tokens import Scope, Tokens, TokenSpec
from ecom_rlve.server.settings import Settings

CART = {"env_id": "CART", "difficulty": 1, "seed": 42}
ACTION = {"tool_calls": [{"name": "cart_view", "args": {}}]}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def spec(name: str, token: str, *scopes: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "token": token, "scopes": list(scopes), **more}


LISTED = [
    spec("ann", "ann-1", "play", max_episodes=2),
    spec("ann", "ann-2", "play"),
    spec("bob", "bob-1", "play"),
    spec("eve", "eve-1", "judge"),
    spec("ops", "ops-1", "admin"),
]


@pytest.fixture
def guarded(api: Callable[..., Any]) -> Any:
    """A server with tokens of every kind, which discloses acts and goals."""
    return api(tokens=LISTED, token="root", disclose_acts=True, reveal_goal=True)


def status(http: Any, token: str, method: str, path: str, body: Any = None) -> int:
    """Return the status of a request with a token."""
    more = {} if body is None else {"json": body}
    found: int = http.call(method, path, headers=bearer(token), **more).status_code
    return found


NEEDED = {
    **dict.fromkeys(
        [
            ("GET", "/episodes"),
            ("DELETE", "/episodes"),
            ("PUT", "/curriculum/{run_id}"),
            ("DELETE", "/curriculum/{run_id}"),
            ("POST", "/curriculum/{run_id}/import"),
            ("POST", "/curriculum/{run_id}/fork"),
        ],
        Scope.ADMIN,
    ),
    ("GET", "/metrics"): Scope.JUDGE,
    ("GET", "/curriculum/{run_id}/export"): Scope.JUDGE,
}
"""Every route that playing does not need."""
OPEN = {("GET", "/health"), ("GET", "/ready")}


def test_every_route_needs_its_scope_and_no_other(guarded: Any) -> None:
    routes = [
        (method.upper(), path)
        for path, methods in guarded.call("GET", "/openapi.json", headers=bearer("root")).json()["paths"].items()
        for method in methods
    ]
    assert set(NEEDED) <= set(routes)
    found = {}
    for method, path in sorted(set(routes) - OPEN):
        spelled = path.format(run_id="r", episode_id="e", env="CART")
        answers = {scope: status(guarded, token, method, spelled) for scope, token in TOKEN_OF.items()}
        found[method, path] = [scope for scope, answer in answers.items() if answer != 403]
        assert status(guarded, "none", method, spelled) == 401
    assert found == {route: [NEEDED.get(route, Scope.PLAY)] for route in found}
    assert len(found) > 20


TOKEN_OF = {Scope.PLAY: "bob-1", Scope.JUDGE: "eve-1", Scope.ADMIN: "ops-1"}


def test_health_is_open_and_the_single_token_may_do_everything(guarded: Any) -> None:
    assert guarded.call("GET", "/health").status_code == 200
    assert status(guarded, "root", "PUT", "/curriculum/r", {}) == 200
    assert status(guarded, "root", "GET", "/metrics") == 200
    assert status(guarded, "root", "POST", "/reset", CART) == 200


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer ", "Basic root", "Bearer rooté", "Bearer root root", "root"])
def test_what_is_no_token_is_refused(guarded: Any, header: str) -> None:
    answer = guarded.call("GET", "/envs", headers={"Authorization": header.encode("latin-1")})
    assert answer.status_code == 401
    assert answer.json()["error"]["code"] == "UNAUTHORIZED"


def test_an_episode_is_its_accounts_and_a_judge_may_read_it(guarded: Any) -> None:
    body = {**CART, "request_id": "the-same-for-both"}
    first = guarded.call("POST", "/reset", headers=bearer("ann-1"), json=body).json()
    episode_id = first["observation"]["episode_id"]
    step = {"episode_id": episode_id, "action": ACTION}
    state, trace = f"/state?episode_id={episode_id}", f"/episodes/{episode_id}/trace"
    # Another account finds nothing, and its own reset of the same id is another episode.
    assert status(guarded, "bob-1", "POST", "/step", step) == 404
    assert status(guarded, "bob-1", "GET", state) == 404
    assert status(guarded, "bob-1", "DELETE", f"/episodes/{episode_id}") == 404
    other = guarded.call("POST", "/reset", headers=bearer("bob-1"), json=body).json()
    assert other["observation"]["episode_id"] != episode_id
    # The same account by its other token, as when one replaces the other.
    assert status(guarded, "ann-2", "POST", "/step", step) == 200
    assert status(guarded, "ann-2", "POST", f"/episodes/{episode_id}/finish", {}) == 200
    assert status(guarded, "bob-1", "GET", trace) == 404
    assert status(guarded, "root", "GET", trace) == 200
    assert status(guarded, "root", "POST", "/step", step) == 404


@pytest.mark.parametrize("is_kept", [False, True])
def test_an_ended_episode_gives_way_to_none_of_another_account(
    api: Callable[..., Any], tmp_path: Path, is_kept: bool
) -> None:
    http = api(tokens=LISTED, store=tmp_path / "store.sqlite3" if is_kept else "memory")
    body = {**CART, "episode_id": "mine"}
    assert status(http, "ann-1", "POST", "/reset", body) == 200
    assert status(http, "ann-1", "POST", "/episodes/mine/finish", {}) == 200
    if is_kept:
        # The journal alone knows it.
        http.service.sessions.put_out(http.service.sessions.get("mine"))
    refused = http.call("POST", "/reset", headers=bearer("bob-1"), json=body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (409, "EPISODE_EXISTS")
    assert status(http, "ann-1", "GET", "/episodes/mine/trace") == 200
    # The account itself may begin another of this id, also by its other token.
    assert status(http, "ann-2", "POST", "/reset", body) == 200


def test_accounts_whose_names_hold_a_slash_have_request_ids_of_their_own(api: Callable[..., Any]) -> None:
    http = api(tokens=[spec("team", "team-1", "play"), spec("team/ann", "ann-1", "play")])
    ids = set()
    for token, request_id in (("ann-1", "x" * 16), ("team-1", "ann/" + "x" * 16)):
        answer = http.call("POST", "/reset", headers=bearer(token), json={**CART, "request_id": request_id})
        ids.add(answer.json()["observation"]["episode_id"])
    assert len(ids) == 2


def test_acts_and_goals_are_disclosed_to_judges_alone(guarded: Any) -> None:
    told = {}
    for token in ("bob-1", "root"):
        first = guarded.call("POST", "/reset", headers=bearer(token), json=CART).json()
        path = f"/episodes/{first['observation']['episode_id']}/finish"
        last = guarded.call("POST", path, headers=bearer(token), json={}).json()
        told[token] = ("acts" in json.dumps(first["metadata"]), "goal" in last["observation"]["result"])
    assert told == {"bob-1": (False, False), "root": (True, True)}


def test_an_account_has_so_many_places_and_takes_none_of_others(guarded: Any) -> None:
    ids = []
    for _ in range(2):
        answer = guarded.call("POST", "/reset", headers=bearer("ann-1"), json=CART)
        ids.append(answer.json()["observation"]["episode_id"])
    refused = guarded.call("POST", "/reset", headers=bearer("ann-1"), json=CART)
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "CAPACITY_REACHED")
    assert "retry-after" in refused.headers
    create = {"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create"}
    refused = guarded.call("POST", "/mcp", headers=bearer("ann-1"), json=create)
    assert "CAPACITY_REACHED" in refused.json()["error"]["message"]
    assert status(guarded, "bob-1", "POST", "/reset", CART) == 200
    assert status(guarded, "ann-1", "DELETE", f"/episodes/{ids[0]}") == 204
    assert status(guarded, "ann-1", "POST", "/reset", CART) == 200


def test_a_session_is_its_accounts(guarded: Any) -> None:
    create = {"jsonrpc": "2.0", "id": 1, "method": "openenv/session/create", "params": {"reset": CART}}
    made = guarded.call("POST", "/mcp", headers=bearer("bob-1"), json=create).json()["result"]["session_id"]
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"session_id": made, "name": "cart_view"}}
    stolen = guarded.call("POST", "/mcp", headers=bearer("ann-1"), json=call).json()
    assert stolen["error"]["data"]["code"] == "UNKNOWN_SESSION"
    assert "result" in guarded.call("POST", "/mcp", headers=bearer("bob-1"), json=call).json()


@pytest.fixture
def looking(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look at the file of tokens at each request instead of once a second."""
    monkeypatch.setattr("ecom_rlve.server.admission.tokens._LOOKS_EVERY_S", 0.0)


def written(path: Path, listed: Any) -> None:
    """Replace the file of tokens, as an editor or a mounted secret does."""
    beside = path.with_suffix(".new")
    beside.write_text(listed if isinstance(listed, str) else json.dumps(listed))
    os.replace(beside, path)


@pytest.mark.usefixtures("looking")
def test_a_revoked_token_is_refused_at_its_next_request(api: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    written(path, LISTED)
    http = api(tokens_file=path)
    first = http.call("POST", "/reset", headers=bearer("bob-1"), json=CART).json()
    step = {"episode_id": first["observation"]["episode_id"], "action": ACTION}
    state = f"/state?episode_id={step['episode_id']}"
    assert status(http, "bob-1", "POST", "/step", step) == 200
    written(path, [*LISTED, spec("bob", "bob-2", "play")])
    assert status(http, "bob-1", "POST", "/step", step) == 200
    written(path, [spec("bob", "bob-2", "play")])
    assert status(http, "bob-1", "POST", "/step", step) == 401
    assert status(http, "bob-2", "POST", "/step", step) == 200
    # A file that cannot be read changes nothing; one without tokens closes the server.
    for broken in ("[{", '{"name": 1}', '[{"name": "bob", "token": "b", "scopes": ["all"]}]'):
        written(path, broken)
        assert status(http, "bob-2", "GET", state) == 200
    path.unlink()
    assert status(http, "bob-2", "GET", state) == 200
    written(path, [])
    assert status(http, "bob-2", "GET", state) == 401


@pytest.mark.usefixtures("looking")
def test_a_revoked_token_is_refused_at_its_next_frame(serve: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    written(path, LISTED)
    server = serve(tokens_file=path)
    with connect(server.ws, additional_headers=bearer("bob-1")) as peer:
        peer.send(json.dumps({"type": "reset", "data": CART}))
        assert json.loads(peer.recv(timeout=30))["type"] == "observation"
        written(path, LISTED[:2])
        peer.send(json.dumps({"type": "step", "data": ACTION}))
        assert json.loads(peer.recv(timeout=30))["data"]["token"] == "UNAUTHORIZED"
        with pytest.raises(ConnectionClosed):
            peer.recv(timeout=30)
    server.until(lambda: server.service.sessions.active == 0)


def test_a_socket_needs_a_token_that_plays(serve: Callable[..., Any]) -> None:
    server = serve(tokens=LISTED)
    for headers, expected in (({}, 401), (bearer("eve-1"), 403)):
        with pytest.raises(InvalidStatus) as refused, connect(server.ws, additional_headers=headers):
            pass
        assert refused.value.response.status_code == expected


def test_tokens_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ECOM_RLVE_TOKENS", json.dumps(LISTED))
    settings = Settings()
    assert [each.name for each in settings.tokens] == ["ann", "ann", "bob", "eve", "ops"]
    assert (settings.wants_token, settings.address) == (True, "0.0.0.0")
    assert "ann-1" not in repr(settings)


@pytest.mark.parametrize("token", ["schlüssel", " padded", "tab\there", "line\n", "\u200b"])
def test_a_token_that_no_header_carries_stops_the_start_unsaid(token: str) -> None:
    for given in ({"token": token}, {"tokens": [spec("ann", token, "play")]}):
        with pytest.raises(ValidationError) as refused:
            Settings(**given)
        assert token not in str(refused.value)


def test_a_file_that_is_none_stops_the_start(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    for text in (None, "", "{}", '[{"name": "ann", "token": "sesam\u00e9"}]', '[{"name": "ann"}]'):
        if text is not None:
            path.write_text(text)
        with pytest.raises(TokensError) as refused:
            Tokens(None, (), path)
        assert "sesam" not in str(refused.value)
        assert str(tmp_path) not in str(refused.value)


def test_every_token_is_compared_whichever_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = [TokenSpec(name=f"n{number}", token=SecretStr(f"t{number}")) for number in range(5)]
    tokens = Tokens(None, listed, None)
    compared: list[bytes] = []

    def counting(known: bytes, given: bytes) -> bool:
        compared.append(known)
        return known == given

    monkeypatch.setattr("ecom_rlve.server.admission.tokens.compare_digest", counting)
    for given in ("t0", "t4", "none"):
        compared.clear()
        tokens.admit(f"Bearer {given}")
        assert len(compared) == 5
