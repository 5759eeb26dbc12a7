"""The HTTP routes: live episodes, hostile bodies, capacity, expiry, repeated requests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from ecom_rlve.envs import registry
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import EnvironmentInfo, EpisodeState, ErrorResponse, StepResponse

HELLO = {"assistant_message": "Hello, let me look."}
CLOSED = {"kind": "close", "items": [], "attributes": [], "title": "", "says": {}, "intent": ""}
FAREWELL = {"answer": {"done": True}}
PROSE = {"text": "I would rather talk."}


def code(answer: Any) -> str:
    """Return the code of an error answer, after checking that it is one and nothing else."""
    assert set(answer.json()) == {"error"}
    assert "Traceback" not in answer.text
    return str(ErrorResponse.model_validate(answer.json()).error.code)


def test_an_episode_can_be_played_with_plain_requests(http: Any) -> None:
    opening = http.reset(env_id="cart", seed=7, difficulty=1)
    assert StepResponse.model_validate(opening)
    assert (opening["reward"], opening["done"]) == (None, False)
    assert opening["metadata"]["env_id"] == "CART"
    assert opening["metadata"]["seed"] == 7
    assert "metadata" not in opening["observation"]
    episode_id = opening["observation"]["episode_id"]
    first = http.step(episode_id, HELLO).json()
    assert (first["reward"], first["done"], first["observation"]["turn"]) == (0.0, False, 1)
    last = http.step(episode_id, FAREWELL).json()
    assert last["done"] is True
    assert last["reward"] == last["observation"]["reward"] == last["observation"]["result"]["r_total"]
    assert EpisodeState.model_validate(http.state(episode_id)).step_count == 2


def test_an_empty_body_starts_an_episode_with_a_drawn_seed_and_an_unguessable_id(http: Any) -> None:
    first, second = (http.call("POST", "/reset").json() for _ in range(2))
    assert len(first["observation"]["episode_id"]) == 32
    assert first["observation"]["episode_id"] != second["observation"]["episode_id"]
    assert first["metadata"]["seed"] != second["metadata"]["seed"]
    again = http.reset(env_id=first["metadata"]["env_id"], seed=first["metadata"]["seed"])
    assert again["observation"]["user_message"] == first["observation"]["user_message"]


def test_unknown_reset_arguments_are_ignored_and_include_is_honoured(http: Any) -> None:
    row = {"env_id": "CART", "seed": 3, "prompt": [{"role": "user"}], "weight": 0.5, "include": []}
    observation = http.reset(**row)["observation"]
    assert "tools" not in observation
    assert "instructions" not in observation


def test_only_the_final_step_is_rewarded_and_only_a_reset_has_none(http: Any) -> None:
    episode_id = http.reset(env_id="CART", seed=1, difficulty=0)["observation"]["episode_id"]
    rewards = []
    while not (answer := http.step(episode_id, HELLO).json())["done"]:
        rewards.append(answer["reward"])
    assert rewards == [0.0] * len(rewards)
    assert -1 <= answer["reward"] < 0


def test_a_model_that_breaks_the_format_is_judged_and_not_refused(http: Any) -> None:
    episode_id = http.reset(env_id="CART", seed=1)["observation"]["episode_id"]
    answer = http.step(episode_id, PROSE)
    assert answer.status_code == 200
    assert (answer.json()["reward"], answer.json()["done"]) == (-1.0, True)


@pytest.mark.parametrize("prefix", ["/envs/CART", "/envs/e_cart"])
def test_an_address_may_fix_the_environment(http: Any, prefix: str) -> None:
    opening = http.call("POST", f"{prefix}/reset", json={"seed": 5}).json()
    episode_id = opening["observation"]["episode_id"]
    assert opening["metadata"]["env_id"] == "CART"
    step = {"episode_id": episode_id, "action": HELLO}
    assert http.call("POST", f"{prefix}/step", json=step).status_code == 200
    assert http.call("GET", f"{prefix}/state", params={"episode_id": episode_id}).json()["step_count"] == 1


@pytest.fixture
def another_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Register a second environment for one test."""
    cart = environments()["CART"]
    other = type("Other", (type(cart),), {"about": replace(cart.about, id="OTHER")})()
    monkeypatch.setattr(registry, "environments", lambda: {"CART": cart, "OTHER": other})
    registry.environment.cache_clear()
    yield "OTHER"
    registry.environment.cache_clear()


def test_an_address_that_fixes_the_environment_refuses_another(http: Any, another_environment: str) -> None:
    answer = http.call("POST", "/envs/CART/reset", json={"env_id": another_environment})
    assert (answer.status_code, code(answer)) == (409, "VALIDATION_ERROR")
    episode_id = http.reset(env_id=another_environment)["observation"]["episode_id"]
    step = http.call("POST", "/envs/CART/step", json={"episode_id": episode_id, "action": HELLO})
    state = http.call("GET", "/envs/CART/state", params={"episode_id": episode_id})
    for answer in (step, state):
        assert (answer.status_code, code(answer)) == (409, "VALIDATION_ERROR")
    assert http.state(episode_id)["step_count"] == 0


def test_steps_outside_a_live_episode_are_errors_and_never_observations(http: Any) -> None:
    answer = http.step("never-was", HELLO)
    assert (answer.status_code, code(answer)) == (404, "UNKNOWN_EPISODE")
    episode_id = http.reset(env_id="CART", seed=1)["observation"]["episode_id"]
    http.step(episode_id, PROSE)
    answer = http.step(episode_id, HELLO)
    assert (answer.status_code, code(answer)) == (409, "EPISODE_DONE")
    assert http.state(episode_id)["step_count"] == 1
    assert http.call("DELETE", f"/episodes/{episode_id}").status_code == 204
    answer = http.step(episode_id, HELLO)
    assert (answer.status_code, code(answer)) == (404, "UNKNOWN_EPISODE")


HOSTILE_RESETS = [
    (b"{", 422, "INVALID_JSON"),
    (b'{"seed": NaN}', 422, "INVALID_JSON"),
    (b'{"axes": {"p_oos": Infinity}}', 422, "INVALID_JSON"),
    (b'{"axes": {"p_oos": 1e999}}', 422, "INVALID_JSON"),
    (b"\xff\xfe\x00", 422, "INVALID_JSON"),
    (b'{"env_id": "\\ud800"}', 422, "INVALID_JSON"),
    (b"[" * 100_000, 422, "INVALID_JSON"),
    (b"[1, 2]", 422, "VALIDATION_ERROR"),
    (b'"CART"', 422, "VALIDATION_ERROR"),
    (b"null", 422, "VALIDATION_ERROR"),
    (b'{"seed": -1}', 422, "VALIDATION_ERROR"),
    (b'{"seed": 1.5}', 422, "VALIDATION_ERROR"),
    (b'{"seed": true}', 422, "VALIDATION_ERROR"),
    (b'{"seed": "7"}', 422, "VALIDATION_ERROR"),
    (b'{"seed": 9223372036854775808}', 422, "VALIDATION_ERROR"),
    (b'{"difficulty": 21}', 422, "VALIDATION_ERROR"),
    (b'{"split": "all"}', 422, "VALIDATION_ERROR"),
    (b'{"episode_id": ""}', 422, "VALIDATION_ERROR"),
    (b'{"episode_id": "%s"}' % (b"x" * 256), 422, "VALIDATION_ERROR"),
    (b'{"env_id": 5}', 422, "VALIDATION_ERROR"),
    (b'{"env_id": "CART", "axes": {"no_such_axis": 1}}', 422, "VALIDATION_ERROR"),
    (b'{"env_id": "NOPE"}', 404, "UNKNOWN_ENV"),
    (b'{"collection": "C3"}', 404, "UNKNOWN_ENV"),
    (b'{"collection": []}', 404, "UNKNOWN_ENV"),
    (b'{"prompt": "%s"}' % (b"x" * (10 << 20)), 413, "PAYLOAD_TOO_LARGE"),
]
HOSTILE_STEPS = [
    (b"", 422, "INVALID_JSON"),
    (b"{}", 422, "VALIDATION_ERROR"),
    (b'{"episode_id": "E"}', 422, "VALIDATION_ERROR"),
    (b'{"episode_id": "E", "action": null}', 422, "VALIDATION_ERROR"),
    (b'{"episode_id": "E", "action": [1]}', 422, "VALIDATION_ERROR"),
    (b'{"episode_id": "E", "action": "hello"}', 422, "VALIDATION_ERROR"),
    (b'{"episode_id": "E", "action": {"assistant_message": NaN}}', 422, "INVALID_JSON"),
    (b'{"episode_id": "E", "action": {"tool_calls": [{"name": "x", "args": {"n": -1e400}}]}}', 422, "INVALID_JSON"),
    (b'{"episode_id": "E", "action": {"text": "hi"}, "surprise": 1}', 422, "VALIDATION_ERROR"),
    (b'{"episode_id": "E", "action": {"text": "hi"}, "request_id": ""}', 422, "VALIDATION_ERROR"),
    (b'{"episode_id": "E", "action": {"metadata": {"request_id": 7}}}', 422, "VALIDATION_ERROR"),
    (b'{"episode_id": "E", "action": {"metadata": {"request_id": "a"}}, "request_id": "b"}', 422, "VALIDATION_ERROR"),
    (b'{"episode_id": "E", "action": {"text": "%s"}}' % (b"x" * (1 << 20)), 413, "PAYLOAD_TOO_LARGE"),
]


@pytest.mark.parametrize(("body", "status", "expected"), HOSTILE_RESETS)
def test_a_hostile_reset_gets_a_typed_error_and_takes_no_place(
    http: Any, body: bytes, status: int, expected: str
) -> None:
    answer = http.call("POST", "/reset", content=body)
    assert (answer.status_code, code(answer)) == (status, expected)
    assert len(answer.content) < 10_000
    assert http.service.sessions.active == 0


@pytest.mark.parametrize(("body", "status", "expected"), HOSTILE_STEPS)
def test_a_hostile_step_gets_a_typed_error_and_costs_nothing(
    http: Any, body: bytes, status: int, expected: str
) -> None:
    http.reset(env_id="CART", seed=1, episode_id="E")
    before = http.state("E")
    answer = http.call("POST", "/step", content=body)
    assert (answer.status_code, code(answer)) == (status, expected)
    assert len(answer.content) < 10_000
    assert http.state("E") == before
    assert http.step("E", HELLO).status_code == 200


def test_a_difficulty_that_the_catalog_cannot_serve_is_named(http: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(environments()["CART"]), "max_difficulty", lambda *_: 3)
    answer = http.call("POST", "/reset", json={"env_id": "CART", "difficulty": 4})
    assert (answer.status_code, code(answer)) == (422, "DIFFICULTY_TOO_HIGH")
    assert "difficulty 3" in answer.text


def test_a_body_without_announced_length_is_cut_off_at_the_limit(http: Any) -> None:
    sent = 0

    async def endless() -> Any:
        nonlocal sent
        while sent < 64 << 20:
            sent += 1 << 16
            yield b"x" * (1 << 16)

    answer = http.call("POST", "/reset", content=endless())
    assert (answer.status_code, code(answer)) == (413, "PAYLOAD_TOO_LARGE")
    assert sent <= 2 << 20


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "/nowhere", 404), ("PUT", "/reset", 405), ("GET", "/reset/", 404), ("DELETE", "/episodes/", 404)],
)
def test_unknown_routes_and_methods_are_typed_errors(http: Any, method: str, path: str, status: int) -> None:
    answer = http.call(method, path)
    assert answer.status_code == status
    assert code(answer) in {"NOT_FOUND", "UNKNOWN_EPISODE"}


@pytest.mark.parametrize("route", ["reset", "step", "state", "schema", "metadata"])
def test_an_unknown_environment_in_the_address_is_named(http: Any, route: str) -> None:
    http.reset(env_id="CART", seed=1, episode_id="E")
    body = {"episode_id": "E", "action": HELLO} if route == "step" else {}
    method = "POST" if route in ("reset", "step") else "GET"
    options: dict[str, Any] = {"json": body} if method == "POST" else {"params": {"episode_id": "E"}}
    answer = http.call(method, f"/envs/CRAT/{route}", **options)
    assert (answer.status_code, code(answer)) == (404, "UNKNOWN_ENV")
    assert "CART" in answer.text


def test_a_state_needs_an_episode(http: Any) -> None:
    answer = http.call("GET", "/state")
    assert (answer.status_code, code(answer)) == (422, "VALIDATION_ERROR")
    answer = http.call("GET", "/state", params={"episode_id": "gone"})
    assert (answer.status_code, code(answer)) == (404, "UNKNOWN_EPISODE")


def test_a_live_episode_keeps_its_id_and_an_ended_one_gives_it_up(http: Any) -> None:
    http.reset(env_id="CART", seed=1, episode_id="mine/with slash")
    answer = http.call("POST", "/reset", json={"episode_id": "mine/with slash"})
    assert (answer.status_code, code(answer)) == (409, "EPISODE_EXISTS")
    http.step("mine/with slash", PROSE)
    assert http.reset(env_id="CART", seed=2, episode_id="mine/with slash")["metadata"]["seed"] == 2
    assert http.state("mine/with slash")["step_count"] == 0
    assert http.call("DELETE", "/episodes/mine%2Fwith%20slash").status_code == 204
    assert http.service.sessions.active == 0


def test_beyond_capacity_a_reset_is_refused_and_an_end_frees_a_place(api: Any) -> None:
    http = api(max_sessions=2)
    http.reset(env_id="CART", seed=1, episode_id="a")
    http.reset(env_id="CART", seed=2, episode_id="b")
    refusal = http.call("POST", "/reset", json={})
    assert (refusal.status_code, code(refusal)) == (503, "CAPACITY_REACHED")
    assert int(refusal.headers["retry-after"]) > 0
    http.step("a", PROSE)
    http.reset(env_id="CART", seed=3, episode_id="c")
    assert http.state("a")["done"] is True
    assert http.call("POST", "/reset", json={}).status_code == 503
    http.call("DELETE", "/episodes/b")
    assert http.call("POST", "/reset", json={}).status_code == 200


def test_a_failed_reset_takes_no_place(api: Any) -> None:
    http = api(max_sessions=1)
    for _ in range(3):
        assert http.call("POST", "/reset", json={"env_id": "CART", "axes": {"none": 1}}).status_code == 422
    assert http.call("POST", "/reset", json={}).status_code == 200


def test_an_idle_episode_expires_and_a_used_one_does_not(api: Any, clock: Any) -> None:
    http = api(idle_ttl_s=100, max_sessions=2)
    http.reset(env_id="CART", seed=1, episode_id="idle")
    http.reset(env_id="CART", seed=1, episode_id="used")
    clock.seconds = 60
    assert http.step("used", HELLO).status_code == 200
    clock.seconds = 120
    assert code(http.step("idle", HELLO)) == "UNKNOWN_EPISODE"
    assert http.step("used", HELLO).status_code == 200
    assert http.call("POST", "/reset", json={}).status_code == 200


def test_only_so_many_ended_episodes_stay_readable(api: Any) -> None:
    http = api(max_ended_episodes=2)
    for name in "abc":
        http.reset(env_id="CART", seed=1, episode_id=name)
        http.step(name, PROSE)
    assert [http.call("GET", "/state", params={"episode_id": name}).status_code for name in "abc"] == [404, 200, 200]


@pytest.mark.parametrize("inside", [True, False])
def test_a_repeated_request_id_returns_the_stored_bytes_and_applies_nothing(http: Any, inside: bool) -> None:
    http.reset(env_id="CART", seed=1, episode_id="E")

    def step(action: dict[str, Any], request_id: str) -> Any:
        if inside:
            return http.step("E", {**action, "metadata": {"request_id": request_id}})
        return http.step("E", action, request_id=request_id)

    first = step(HELLO, "r1")
    assert step(HELLO, "r1").content == first.content
    assert http.state("E")["step_count"] == 1
    conflict = step({"assistant_message": "Something else."}, "r1")
    assert (conflict.status_code, code(conflict)) == (409, "REQUEST_CONFLICT")
    last = step(FAREWELL, "r2")
    assert last.json()["done"] is True
    assert step(FAREWELL, "r2").content == last.content
    assert code(step(FAREWELL, "r3")) == "EPISODE_DONE"
    assert http.state("E")["step_count"] == 2


def test_request_ids_belong_to_their_episode(http: Any) -> None:
    for name in "ab":
        http.reset(env_id="CART", seed=1, episode_id=name)
        assert http.step(name, HELLO, request_id="same").json()["observation"]["episode_id"] == name


def test_a_refused_step_leaves_its_request_id_free(http: Any) -> None:
    http.reset(env_id="CART", seed=1, episode_id="E")
    assert http.step("E", {"end_turn": False, "assistant_message": "x"}, request_id="r").status_code == 422
    assert http.step("E", HELLO, request_id="r").status_code == 200


def test_a_repeated_reset_makes_one_episode(http: Any) -> None:
    body = {"env_id": "CART", "request_id": "once-and-only-once"}
    first = http.call("POST", "/reset", json=body)
    assert http.call("POST", "/reset", json=body).content == first.content
    assert http.service.sessions.active == 1
    conflict = http.call("POST", "/reset", json={**body, "seed": 4})
    assert (conflict.status_code, code(conflict)) == (409, "REQUEST_CONFLICT")
    http.call("DELETE", f"/episodes/{first.json()['observation']['episode_id']}")
    assert http.call("POST", "/reset", json=body).content != first.content


@pytest.mark.parametrize("pool_above", [1_000_000, 0])
def test_repeated_requests_at_the_same_time_are_applied_once(api: Any, pool_above: int) -> None:
    http = api(pool_above_products=pool_above)
    reset = ("POST", "/reset", {"env_id": "CART", "request_id": "once-and-only-once"})
    openings = {answer.content for answer in http.together(*[reset] * 8)}
    assert len(openings) == 1
    episode_id = json.loads(openings.pop())["observation"]["episode_id"]
    step = ("POST", "/step", {"episode_id": episode_id, "action": HELLO, "request_id": "once"})
    assert len({answer.content for answer in http.together(*[step] * 8)}) == 1
    assert http.state(episode_id)["step_count"] == 1


@pytest.mark.parametrize("pool_above", [1_000_000, 0])
def test_resets_at_the_same_time_do_not_overshoot_capacity_or_share_an_id(api: Any, pool_above: int) -> None:
    http = api(pool_above_products=pool_above, max_sessions=4)
    same = http.together(*[("POST", "/reset", {"env_id": "CART", "episode_id": "one"})] * 3)
    assert sorted(answer.status_code for answer in same) == [200, 409, 409]
    many = http.together(*[("POST", "/reset", {"env_id": "CART"})] * 8)
    assert sorted(answer.status_code for answer in many) == [200] * 3 + [503] * 5


@pytest.mark.parametrize("pool_above", [1_000_000, 0])
def test_64_interleaved_episodes_do_not_mix_and_equal_the_episode_in_process(
    api: Any, shop: Shop, pool_above: int
) -> None:
    http = api(pool_above_products=pool_above)
    seeds = range(64)
    bodies = [{"env_id": "CART", "seed": seed, "difficulty": seed % 3, "episode_id": f"e{seed}"} for seed in seeds]
    openings = http.together(*[("POST", "/reset", body) for body in bodies])
    rounds = [
        http.together(*[("POST", "/step", {"episode_id": f"e{seed}", "action": action}) for seed in seeds])
        for action in (HELLO, FAREWELL)
    ]
    for seed in seeds:
        episode = Episode(shop, EpisodeSpec("CART", difficulty=seed % 3, seed=seed), f"e{seed}")
        expected = [episode.opening, episode.step(HELLO), episode.step(FAREWELL)]
        played = [openings[seed], *(answers[seed] for answers in rounds)]
        for observation, answer in zip(expected, played, strict=True):
            assert answer.json()["observation"] == json.loads(observation.model_dump_json(exclude_unset=True))


def test_steps_of_one_episode_sent_together_are_applied_in_order(api: Any) -> None:
    http = api(pool_above_products=0)
    http.reset(env_id="CART", seed=1, episode_id="E", difficulty=3)
    bodies = [{"episode_id": "E", "action": {"assistant_message": f"Message {number}."}} for number in range(3)]
    answers = http.together(*[("POST", "/step", body) for body in bodies])
    assert [answer.json()["observation"]["turn"] for answer in answers] == [1, 2, 3]


def test_the_cheap_routes_build_no_episode(http: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("an episode was built")

    monkeypatch.setattr(Episode, "__init__", forbidden)
    for path in ("/health", "/metadata", "/schema", "/envs", "/openapi.json", "/docs", "/envs/CART/schema"):
        assert http.call("GET", path).status_code == 200, path


def test_the_environments_are_listed_with_what_the_catalog_serves(http: Any, shop: Shop) -> None:
    infos = [EnvironmentInfo.model_validate(info) for info in http.call("GET", "/envs").json()]
    assert [info.env_id for info in infos] == list(environments())
    for info in infos:
        assert info.max_difficulty == environments()[info.env_id].max_difficulty(shop)
        assert info.answer_schema == environments()[info.env_id].about.answer_schema
    (journey,) = [info for info in infos if info.members]
    intents = [form["properties"]["intent"]["enum"] for form in journey.answer_schema["anyOf"]]
    assert intents == [[name] for name in journey.members]


def test_the_openapi_document_shows_what_really_travels(http: Any) -> None:
    document = http.call("GET", "/openapi.json").json()
    reset = document["paths"]["/reset"]["post"]
    assert reset["requestBody"]["content"]["application/json"]["schema"]["$ref"].endswith("/ResetRequest")
    assert reset["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].endswith("/StepResponse")
    schemas = document["components"]["schemas"]
    assert schemas["StepRequest"]["properties"]["action"] == {"$ref": "#/components/schemas/Action"}
    named = set(json.dumps(document).split('"#/components/schemas/')[1:])
    assert {reference.split('"')[0] for reference in named} <= set(schemas)


def test_a_token_guards_everything_but_health(api: Any) -> None:
    http = api(token="open sesame")
    assert http.call("GET", "/health").status_code == 200
    for headers in ({}, {"Authorization": "Bearer open"}, {"Authorization": "Basic open sesame"}):
        for method, path in (("POST", "/reset"), ("GET", "/envs"), ("GET", "/docs"), ("GET", "/nowhere")):
            answer = http.call(method, path, headers=headers)
            assert (answer.status_code, code(answer)) == (401, "UNAUTHORIZED")
            assert answer.headers["www-authenticate"] == "Bearer"
    assert http.call("POST", "/reset", headers={"Authorization": "bearer open sesame"}).status_code == 200


def test_difficulty_and_seed_enter_the_observation_only_where_disclosed(api: Any) -> None:
    for disclose in (False, True):
        observation = api(disclose_to_policy=disclose).reset(env_id="CART", seed=12345)["observation"]
        assert ("seed" in observation, "difficulty" in observation) == (disclose, disclose)


def test_the_goal_is_told_only_after_the_end_and_only_where_revealed(api: Any) -> None:
    for reveal in (False, True):
        http = api(reveal_goal=reveal)
        http.reset(env_id="CART", seed=1, episode_id="E")
        assert "goal" not in http.step("E", HELLO).json()["observation"].get("result", {})
        assert (http.step("E", FAREWELL).json()["observation"]["result"].get("goal") is not None) is reveal


def test_acts_are_told_only_where_disclosed_and_such_episodes_count_for_nothing(api: Any) -> None:
    for disclose in (False, True):
        http = api(disclose_acts=disclose)
        opened = http.reset(env_id="CART", episode_id="E")
        (said,) = opened["metadata"].get("acts", [{"kind": "not told"}])
        assert said["kind"] == ("open" if disclose else "not told")
        assert http.step("E", FAREWELL).json()["metadata"].get("acts", []) == ([CLOSED] if disclose else [])
        assert http.call("GET", "/curriculum/default").json()["counted"] == (0 if disclose else 1)
        assert opened["metadata"].get("why_uncounted") == ("acts_disclosed" if disclose else None)


def test_an_episode_can_be_named_in_the_address_alone(http: Any) -> None:
    """So that a balancer can send all of an episode's requests to one server."""
    http.reset(env_id="CART", episode_id="a/b")
    path = "/episodes/a%2Fb"
    bodies: list[dict[str, Any]] = [{"action": {}}, {"action": {}, "episode_id": "a/b"}]
    for body in bodies:
        assert http.call("POST", f"{path}/step", json=body).json()["observation"]["episode_id"] == "a/b"
    told = http.call("GET", f"{path}/state").json()
    assert (told["step_count"], told) == (2, http.state("a/b"))
    other = http.call("POST", f"{path}/step", json={"action": {}, "episode_id": "other"})
    assert (other.status_code, other.json()["error"]["code"]) == (422, "VALIDATION_ERROR")
    assert http.call("POST", f"{path}/step", json=[]).status_code == 422
    assert http.call("POST", "/step", json={"action": {}}).status_code == 422
