"""What an operator sees of episodes: over HTTP, with the real environments."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from ecom_rlve.models import DomainCode, FormatFault, ResetRequest, Termination
from ecom_rlve.run_models import FrontierState
from ecom_rlve.server import metrics
from ecom_rlve.server.metrics import Metrics

AT_ONE = FrontierState(
    env_id="CART", style="turn", format="strict", level=1, passes=0, ready_seeds=0, live_seeds=0, mean=None
)
DONE = {"answer": {"done": True}}
UNKNOWN = {"tool_calls": [{"name": "catalog_get_variants", "args": {"product_id": "nothing"}}]}
ASK = {"name": "ask_user", "args": {"question": "Why?"}}
DEEP = {"tool_calls": [{"name": "catalog_search", "args": {"query": "gift", "offset": 9000}}]}


def figures(http: Any, name: str, **labels: str) -> dict[str, float]:
    """Return what /metrics says under a name, by the labels that were not asked for."""
    found = {}
    for family in text_string_to_metric_families(http.call("GET", "/metrics").text):
        for sample in family.samples:
            if sample.name == name and labels.items() <= sample.labels.items():
                others = (value for label, value in sorted(sample.labels.items()) if label not in labels)
                found[" ".join(others)] = sample.value
    return found


def begin(http: Any, run_id: str = "r", **more: Any) -> str:
    """Start an episode and return its id."""
    opening = http.reset(**{"env_id": "CART", "include": [], "run_id": run_id, **more})
    return str(opening["observation"]["episode_id"])


def test_resets_and_steps_are_counted_by_environment_and_run(http: Any) -> None:
    for env_id, run_id, steps in (("CART", "a", 2), ("CART", "b", 1), ("STATUS", "a", 0), ("CART", "a", 1)):
        episode_id = begin(http, run_id, env_id=env_id)
        for _ in range(steps):
            assert http.step(episode_id, {}).status_code == 200
    assert figures(http, "ecom_rlve_resets_total") == {"CART a": 2, "CART b": 1, "STATUS a": 1}
    assert figures(http, "ecom_rlve_steps_total") == {"CART a": 3, "CART b": 1, "STATUS a": 0}


def test_what_was_not_applied_is_not_counted(http: Any) -> None:
    episode_id = begin(http)
    assert http.step(episode_id, {"message": "hello"}).status_code == 422
    assert http.call("POST", "/reset", json={"env_id": "CART", "episode_id": episode_id}).status_code == 409
    for _ in range(3):
        http.step(episode_id, {}, request_id="the same")
    http.step(episode_id, DONE)
    assert http.step(episode_id, DONE).status_code == 409
    assert figures(http, "ecom_rlve_resets_total") == {"CART r": 1}
    assert figures(http, "ecom_rlve_steps_total") == {"CART r": 2}
    assert figures(http, "ecom_rlve_endings_total") == {"CART answered r": 1}


def test_endings_are_counted_by_reason_and_once(api: Callable[..., Any], clock: Any) -> None:
    http = api(idle_ttl_s=60)
    ids = [begin(http, difficulty=0) for _ in range(6)]
    http.step(ids[0], DONE)
    http.step(ids[1], {"text": "no action"})
    turns = 1
    while not http.step(ids[2], {"assistant_message": "Hm."}).json()["done"]:
        turns += 1
    http.call("POST", f"/episodes/{ids[3]}/finish")
    http.call("DELETE", f"/episodes/{ids[4]}")
    clock.seconds += 61
    assert http.service.sessions.reap() == 5
    told = figures(http, "ecom_rlve_endings_total", env="CART", run="r")
    left = told.pop("turn_budget", 0) + told.pop("customer_left", 0)
    assert figures(http, "ecom_rlve_steps_total") == {"CART r": 2 + turns}
    assert (told, left) == ({"answered": 1, "format_failure": 1, "finished": 1, "dropped": 2}, 1)


def test_a_socket_that_leaves_its_episode_drops_it(http: Any) -> None:
    connection = http.service.sessions.connect()
    asked = ResetRequest(env_id="CART", run_id="r")
    for _ in range(2):
        http._runner.run(http.service.reset(asked, connection))
    assert figures(http, "ecom_rlve_endings_total") == {"CART dropped r": 1}
    http.service.sessions.disconnect(connection)
    assert figures(http, "ecom_rlve_endings_total") == {"CART dropped r": 2}


def test_rewards_are_a_histogram_of_results(http: Any) -> None:
    ids = [begin(http) for _ in range(3)]
    rewards = [http.step(ids[0], DONE).json()["reward"], http.step(ids[1], {"text": "no action"}).json()["reward"]]
    http.call("DELETE", f"/episodes/{ids[2]}")
    assert rewards[1] == -1 < rewards[0] < 0
    buckets = figures(http, "ecom_rlve_reward_bucket", env="CART", run="r")
    assert buckets == {le: sum(reward <= float(le) for reward in rewards) for le in buckets}
    assert (buckets["-1.0"], buckets["+Inf"]) == (1, 2)


@pytest.mark.parametrize(
    ("text", "fault", "more"),
    [
        ("{", FormatFault.SYNTAX, {}),
        ('{"tool_calls": [{"name": "cart_view", "arguments": "{"}]}', FormatFault.SYNTAX, {}),
        ("<tool_call>{}", FormatFault.SYNTAX, {}),
        ("<function=cart_view>", FormatFault.SYNTAX, {"format": "lenient"}),
        ("How can I help you?", FormatFault.NO_ACTION, {}),
        ("x" * 200_001, FormatFault.TOO_LONG, {}),
        ('{"message": "hello"}', FormatFault.ENVELOPE, {}),
        ('{"end_turn": false}', FormatFault.ENVELOPE, {}),
        ('{"tool_calls": [{"name": "<secret>"}]}', FormatFault.UNKNOWN_TOOL, {}),
        ('{"tool_calls": [{"name": "cart_add"}]}', FormatFault.ARGUMENTS, {}),
        ('{"tool_calls": [{"name": "cart_add", "args": 5}]}', FormatFault.ARGUMENTS, {}),
        ('{"answer": {"done": true, "order": "x"}}', FormatFault.ANSWER, {}),
        ('{"answer": 5}', FormatFault.ANSWER, {}),
        (json.dumps({"tool_calls": [{"name": "cart_view"}] * 9}), FormatFault.TOO_MANY_CALLS, {}),
        (json.dumps({"tool_calls": [ASK] * 9}), FormatFault.TOO_MANY_CALLS, {}),
        (
            '{"answer": {"done": true}, "tool_calls": [{"name": "submit_answer"}]}',
            FormatFault.ANSWER,
            {"style": "tool"},
        ),
    ],
)
def test_format_failures_are_counted_by_kind(http: Any, text: str, fault: FormatFault, more: dict[str, Any]) -> None:
    answer = http.step(begin(http, **more), {"text": text}).json()
    assert answer["observation"]["result"]["termination"] == Termination.FORMAT_FAILURE
    assert figures(http, "ecom_rlve_format_failures_total", env="CART", run="r") == {fault.value: 1}
    assert "secret" not in http.call("GET", "/metrics").text


def test_tool_errors_are_counted_by_code_in_results_and_figures(http: Any) -> None:
    ended, dropped, clean = (begin(http, difficulty=6) for _ in range(3))
    for action in (UNKNOWN, DEEP, UNKNOWN, {**UNKNOWN, "assistant_message": "One moment."}, {}):
        for episode_id in (ended, dropped):
            assert http.step(episode_id, action).status_code == 200
    lasts = ((ended, {**UNKNOWN, **DONE}), (clean, DONE))
    results = [http.step(each, action).json()["observation"]["result"]["tool_errors"] for each, action in lasts]
    assert results == [{"PAGE_TOO_DEEP": 1, "UNKNOWN_PRODUCT": 4}, {}]
    assert list(results[0]) == sorted(results[0])
    http.call("DELETE", f"/episodes/{dropped}")
    told = figures(http, "ecom_rlve_tool_errors_total", env="CART", run="r")
    assert told == {"PAGE_TOO_DEEP": 2, "UNKNOWN_PRODUCT": 7}
    assert told.keys() <= {code.value for code in DomainCode}


@pytest.mark.parametrize("last", [{"text": "no action"}, None])
def test_tool_errors_stand_in_every_result(http: Any, last: Any) -> None:
    episode_id = begin(http)
    http.step(episode_id, UNKNOWN)
    answer = http.step(episode_id, last) if last else http.call("POST", f"/episodes/{episode_id}/finish")
    assert answer.json()["observation"]["result"]["tool_errors"] == {"UNKNOWN_PRODUCT": 1}


def test_frontiers_are_told_by_environment_run_style_and_format(http: Any) -> None:
    begin(http, "a")
    begin(http, "b", style="tool", format="lenient")
    drawn = http.call("POST", "/episodes/sample", json={"run_id": "a", "env_id": "CART", "n": 66}).json()["episodes"]
    reported = [{**each, "episode_id": "e", "correct_share": 1} for each in drawn]
    assert http.call("POST", "/curriculum/a/report", json={"episodes": reported[:64]}).json()["counted"] == 64
    told = {"CART strict a turn": 1, "CART lenient b tool": 0}
    assert figures(http, "ecom_rlve_frontier") == told
    assert figures(http, "ecom_rlve_ready_seeds") == dict.fromkeys(told, 0)
    drawn = http.call("POST", "/episodes/sample", json={"run_id": "a", "env_id": "CART", "n": 60}).json()["episodes"]
    hard = [{**each, "episode_id": "e", "correct_share": 1} for each in drawn if each["difficulty"] == 1]
    http.call("POST", "/curriculum/a/report", json={"episodes": hard[:5]})
    assert figures(http, "ecom_rlve_ready_seeds")["CART strict a turn"] == 5


def test_runs_beyond_the_first_are_told_together(http: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "MOST_RUNS", 2)
    for run_id in ("a", "b", "c", "d", "a", "c"):
        http.step(begin(http, run_id), DONE)
    told = {"a": 2.0, "b": 1.0, "other": 3.0}
    assert figures(http, "ecom_rlve_resets_total", env="CART") == told
    assert figures(http, "ecom_rlve_steps_total", env="CART") == told
    assert figures(http, "ecom_rlve_endings_total", env="CART", reason="answered") == told
    assert figures(http, "ecom_rlve_frontier", env="CART", style="turn", format="strict").keys() == {"a", "b"}


def test_any_number_of_runs_makes_a_bounded_number_of_series() -> None:
    told = Metrics(lambda: 0, lambda: 0, lambda runs: [(run, AT_ONE) for run in runs])
    for number in range(5000):
        tally = told.episodes.tally("CART", f'"run"\n{number}')
        tally.begin()
        tally.count_step()
    lines = [line for line in told.text().splitlines() if line.startswith("ecom_rlve_steps_total")]
    assert len(lines) == metrics.MOST_RUNS + 1
    assert sum(float(line.rpartition(" ")[2]) for line in lines) == 5000
    assert len([line for line in told.text().splitlines() if line.startswith("ecom_rlve_frontier{")]) == (
        metrics.MOST_RUNS
    )
