"""Arguments of a reset as trainers send them: whole dataset rows with nulls for empty cells and 7.0 for 7."""

from __future__ import annotations

import json
from typing import Any

import pytest
from websockets.sync.client import connect

from ecom_rlve.models import ResetRequest

NULLS = dict.fromkeys(ResetRequest.model_fields)
"""Every argument, null."""
ROW = {"env_id": "CART", "seed": 7, "difficulty": 2}


def told(answer: Any) -> dict[str, Any]:
    """Return what an opening says of its episode, but for its id and its run."""
    return {**answer["metadata"], **answer["observation"], "episode_id": None, "run_id": None}


@pytest.mark.parametrize("name", sorted(NULLS))
def test_a_null_is_an_absent_argument(http: Any, name: str) -> None:
    given = {**ROW, "run_id": "r", "group_id": "g", "split": "train", "style": "turn"}
    given |= {"axes": {}, "include": ["brief"], "format": "strict"}
    given.pop(name, None)
    plain, nulled = (http.reset(**{**given, "run_id": run, **more}) for run, more in (("a", {}), ("b", {name: None})))
    if name in ("seed", "difficulty", "env_id"):
        assert plain["metadata"]["split"] == nulled["metadata"]["split"]
    else:
        assert told(plain) == told(nulled)


def test_all_nulls_are_a_reset_without_arguments(http: Any) -> None:
    assert http.reset(**NULLS)["done"] is False
    row = {**NULLS, **ROW, "prompt": None, "answer": {"a": None}}
    assert told(http.reset(**row)) == told(http.reset(**ROW))


@pytest.mark.parametrize(
    ("name", "value", "plain"),
    [
        ("axes", {"p_missing": None, "t_max": 9.0}, {"t_max": 9}),
        ("axes", {"p_missing": None}, {}),
        ("include", ["tools", None], ["tools"]),
        ("collection", ["CART", None], ["CART"]),
        ("seed", 7.0, 7),
        ("difficulty", 3.0, 3),
        ("axes", {"t_max": 9}, {"t_max": 9.0}),
    ],
)
def test_nulls_inside_are_absent_and_whole_floats_are_integers(http: Any, name: str, value: Any, plain: Any) -> None:
    given = {"env_id": "CART", "seed": 7, "difficulty": 2, "group_id": None}
    if name == "collection":
        del given["env_id"]
    one, other = (http.reset(**{**given, name: each}) for each in (value, plain))
    assert told(one) == told(other)
    assert type(one["metadata"]["seed"]) is int


@pytest.mark.parametrize(
    "wrong",
    [
        {"difficulty": 2.5},
        {"difficulty": "2"},
        {"difficulty": True},
        {"difficulty": 21.0},
        {"seed": -1.0},
        {"seed": 1e300},
        {"include": ["instructions"]},
        {"include": "tools"},
        {"format": "lax"},
        {"format": ["strict"]},
        {"axes": [None]},
        {"run_id": ""},
    ],
)
def test_anything_else_is_still_refused(http: Any, wrong: dict[str, Any]) -> None:
    answer = http.call("POST", "/reset", json={**ROW, **wrong})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "VALIDATION_ERROR")


def test_a_repeated_reset_is_known_with_and_without_its_nulls(http: Any) -> None:
    first = http.reset(**ROW, request_id="r" * 16)
    assert http.reset(**{**NULLS, **ROW, "seed": 7.0, "request_id": "r" * 16}) == first


def test_the_same_over_a_socket(server: Any) -> None:
    with connect(server.ws) as peer:
        openings = []
        for data in ({**NULLS, **ROW}, {**ROW, "seed": 7.0}, ROW):
            peer.send(json.dumps({"type": "reset", "data": data}))
            openings.append(told(json.loads(peer.recv(timeout=5))["data"]))
    assert openings[0] == openings[1] == openings[2]


def test_the_schema_says_that_every_argument_may_be_null(http: Any) -> None:
    schema = http.call("GET", "/openapi.json").json()["components"]["schemas"]["ResetRequest"]
    assert set(schema["properties"]) == set(NULLS)
    assert all({"type": "null"} in field["anyOf"] for field in schema["properties"].values())
    assert "required" not in schema


@pytest.mark.parametrize(
    ("include", "parts"),
    [
        (None, ("shop's assistant", "Each reply is")),
        (["brief"], ("shop's assistant",)),
        (["format"], ("Each reply is",)),
    ],
)
def test_include_names_brief_and_format_apart(http: Any, include: Any, parts: tuple[str, ...]) -> None:
    observation = http.reset(**ROW, include=include)["observation"]
    assert ("tools" in observation) == (include is None)
    for part in ("shop's assistant", "Each reply is"):
        assert (part in observation["instructions"]) == (part in parts)


def test_the_format_is_told_and_kept(http: Any) -> None:
    opening = http.reset(**ROW, format="lenient")
    episode_id = opening["observation"]["episode_id"]
    assert opening["metadata"]["format"] == http.state(episode_id)["format"] == "lenient"
    assert "format" not in opening["observation"]
    step = http.step(episode_id, {"text": 'I look. {"tool_calls": [{"name": "cart_view"}]}'}).json()
    assert (step["done"], step["metadata"]["format"]) == (False, "lenient")
    last = http.step(episode_id, {"text": 'Done: {"answer": {"done": true}}'}).json()
    assert last["observation"]["result"]["format"] == "lenient"
    strict = http.reset(**ROW)
    assert strict["metadata"]["format"] == "strict"
    failed = http.step(strict["observation"]["episode_id"], {"text": 'Done: {"answer": {"done": true}}'}).json()
    assert (failed["reward"], failed["observation"]["result"]["format"]) == (-1.0, "strict")
