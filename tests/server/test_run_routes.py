"""What may be done to runs: over HTTP and sockets, with the real environments."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest
from websockets.sync.client import connect

from ecom_rlve.envs.episode.trace import Trace, replay
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.run_models import MOST_AT_ONCE

DONE = {"answer": {"done": True}}
TASK_ALONE = {"task": 1, "eff": 0, "hall": 0}
SPEC = ("env_id", "difficulty", "seed", "split", "style", "format")


def sampled(http: Any, **body: Any) -> Any:
    answer = http.call("POST", "/episodes/sample", json={"run_id": "r", "env_id": "CART", **body})
    assert answer.status_code == 200, answer.text
    return answer.json()["episodes"]


def report(http: Any, rows: list[Any], run_id: str = "r", **more: Any) -> Any:
    episodes = [{"episode_id": f"e{at}", "correct_share": 1, **row, **more} for at, row in enumerate(rows)]
    answer = http.call("POST", f"/curriculum/{run_id}/report", json={"episodes": episodes})
    assert answer.status_code == 200, answer.text
    return answer.json()


def run(http: Any, run_id: str = "r") -> Any:
    return http.call("GET", f"/curriculum/{run_id}").json()


def put(http: Any, run_id: str = "r", **settings: Any) -> Any:
    return http.call("PUT", f"/curriculum/{run_id}", json=settings)


def refusal(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def unlike(pins: dict[str, Any]) -> dict[str, Any]:
    """Return the pins of another catalog."""
    return {**pins, "catalog": "of last year"}


def move_to_another_catalog(http: Any, run_id: str) -> None:
    """Leave a run as an upgrade of the server leaves it."""
    row = http.service.runs.known(run_id)
    http.service.runs.rows.change(row, pins=json.dumps(unlike(json.loads(row.pins))))


def test_sampled_episodes_are_groups_that_count_when_they_come_back_unchanged(http: Any) -> None:
    rows = sampled(http, n=5)
    assert len({row["group_id"] for row in rows}) == len({row["seed"] for row in rows}) == 5
    for row in rows:
        told = [http.reset(**row)["metadata"] for _ in range(2)]
        assert [tuple(each[name] for name in SPEC) for each in told] == [tuple(row[name] for name in SPEC)] * 2
        assert [(each["counts"], each["group_member"]) for each in told] == [(True, 1), (True, 2)]
    row = sampled(http)[0]
    assert http.reset(run_id="r", group_id=row["group_id"])["metadata"]["seed"] == row["seed"]


@pytest.mark.parametrize("change", [{"seed": 5}, {"difficulty": 2}, {"split": "test"}, {"style": "tool"}])
def test_a_sampled_episode_that_was_changed_is_refused_or_counts_not(http: Any, change: dict[str, Any]) -> None:
    row = {**sampled(http)[0], **change}
    assert refusal(http.call("POST", "/reset", json=row)) == (409, "GROUP_CONFLICT")
    assert not http.reset(**{**row, "group_id": None})["metadata"]["counts"]
    told = report(http, [row])["episodes"][0]
    assert (told["counts"], told["why_uncounted"] in {"not_drawn", "split"}) == (False, True)
    assert run(http)["counted"] == 0


def test_samples_follow_the_runs_weights(http: Any) -> None:
    assert put(http, weights={"cart": 3, "E_STATUS": 1, "PD": 0}).json()["settings"]["weights"] == {
        "CART": 3,
        "STATUS": 1,
        "PD": 0,
    }
    drawn = Counter(row["env_id"] for _ in range(4) for row in sampled(http, env_id=None, n=200))
    assert drawn.keys() == {"CART", "STATUS"}
    # Three standard errors of a share of .75 in 800.
    assert abs(drawn["CART"] / 800 - 0.75) < 3 * (0.75 * 0.25 / 800) ** 0.5
    assert {http.reset(run_id="r")["metadata"]["env_id"] for _ in range(30)} == {"CART", "STATUS"}
    assert {row["env_id"] for row in sampled(http, env_id=None, collection=["POLICY"], n=5)} == {"POLICY"}


def test_weights_leave_out_what_the_catalog_cannot_serve(http: Any) -> None:
    """A catalog of 400 products serves no SUB."""
    put(http, weights={"SUB": 100, "CART": 1})
    assert {row["env_id"] for row in sampled(http, env_id=None, n=20)} == {"CART"}
    put(http, weights={"SUB": 1})
    answer = http.call("POST", "/episodes/sample", json={"run_id": "r"})
    assert refusal(answer) == (422, "DIFFICULTY_TOO_HIGH")


@pytest.mark.parametrize(
    "body",
    [{"n": 0}, {"n": MOST_AT_ONCE + 1}, {"difficulty": 3}, {"seed": 3}, {"run_id": ""}, {"split": "all"}, [], "x"],
)
def test_wrong_samples_are_refused(http: Any, body: Any) -> None:
    assert refusal(http.call("POST", "/episodes/sample", json=body)) == (422, "VALIDATION_ERROR")


def test_an_empty_sample_draws_one_of_all(http: Any) -> None:
    (row,) = http.call("POST", "/episodes/sample").json()["episodes"]
    assert row["run_id"] == "default"


def test_reports_count_once_and_climb(http: Any) -> None:
    put(http, parameters={"tau_num": 4})
    rows = sampled(http, n=8)
    first = report(http, rows[:3])
    assert first == {"counted": 3, "episodes": [{"episode_id": f"e{at}", "counts": True} for at in range(3)]}
    again = report(http, rows[:3])
    assert (again["counted"], {each["why_uncounted"] for each in again["episodes"]}) == (0, {"repeated"})
    report(http, rows[3:4])
    assert run(http)["frontiers"][0]["passes"] == 1
    assert report(http, rows[:1], episode_id="other")["episodes"][0]["why_uncounted"] == "judged"
    report(http, rows[4:])
    assert run(http)["frontiers"][0] == {
        "env_id": "CART",
        "style": "turn",
        "format": "strict",
        "level": 1,
        "passes": 0,
        "ready_seeds": 0,
        "live_seeds": 0,
        "mean": None,
    }
    assert report(http, rows[:1], episode_id="third")["episodes"][0]["why_uncounted"] == "below_frontier"
    assert run(http)["counted"] == 8


def test_a_report_in_which_the_frontier_climbs_says_what_was_late(http: Any) -> None:
    put(http, parameters={"tau_num": 2})
    told = report(http, sampled(http, n=6))
    late = {"counts": False, "why_uncounted": "below_frontier"}
    assert told["episodes"][3:] == [
        {"episode_id": "e3", "counts": True},
        {"episode_id": "e4", **late},
        {"episode_id": "e5", **late},
    ]
    assert (told["counted"], run(http)["counted"]) == (4, 4)


def test_an_episode_that_is_played_here_is_not_counted_from_elsewhere(http: Any) -> None:
    row = sampled(http)[0]
    http.reset(**row, episode_id="here")
    assert report(http, [row], episode_id="here")["episodes"][0]["why_uncounted"] == "repeated"
    http.step("here", DONE)
    assert report(http, [row], episode_id="here")["counted"] == 0
    assert run(http)["counted"] == 1
    assert run(http)["frontiers"][0]["mean"] == 0


def test_a_group_that_is_reported_as_a_whole_is_judged_as_a_whole(http: Any) -> None:
    put(http, parameters={"tau_num": 1, "passes": 1})
    row = sampled(http)[0]
    shares = [1, 1, 1, 0]
    rows = [{**row, "correct_share": share, "episode_id": f"of one group {at}"} for at, share in enumerate(shares)]
    assert report(http, rows)["counted"] == 4
    assert run(http)["frontiers"][0]["level"] == 0


@pytest.mark.parametrize(
    "change",
    [{"correct_share": 1.5}, {"correct_share": None}, {"episode_id": ""}, {"difficulty": 21}, {"seed": -1}],
)
def test_wrong_reports_are_refused_and_count_nothing(http: Any, change: dict[str, Any]) -> None:
    rows = [{"episode_id": f"e{at}", "correct_share": 1, **row} for at, row in enumerate(sampled(http, n=2))]
    body = {"episodes": [rows[0], {**rows[1], **change}]}
    assert refusal(http.call("POST", "/curriculum/r/report", json=body)) == (422, "VALIDATION_ERROR")
    assert run(http)["counted"] == 0


def test_reports_to_unknown_runs_and_of_unknown_environments_are_refused(http: Any) -> None:
    rows = [{"episode_id": "e", "correct_share": 1, **sampled(http)[0]}]
    assert refusal(http.call("POST", "/curriculum/q/report", json={"episodes": rows})) == (404, "UNKNOWN_RUN")
    rows.append({**rows[0], "env_id": "GOLF"})
    assert refusal(http.call("POST", "/curriculum/r/report", json={"episodes": rows})) == (404, "UNKNOWN_ENV")
    assert run(http)["counted"] == 0


def test_where_acts_are_disclosed_reports_count_for_nothing(api: Callable[..., Any]) -> None:
    http = api(disclose_acts=True)
    assert report(http, sampled(http))["episodes"][0]["why_uncounted"] == "acts_disclosed"


def test_a_reward_profile_changes_the_total_alone_and_stands_in_every_result(http: Any, shop: Shop) -> None:
    assert put(http, "alone", reward_profile=TASK_ALONE).status_code == 200
    results = {}
    for run_id in ("alone", "default"):
        http.reset(env_id="CART", difficulty=1, seed=5, run_id=run_id, episode_id=run_id)
        body = http.step(run_id, DONE).json()
        results[run_id] = body["observation"]["result"]
        assert body["reward"] == results[run_id]["r_total"]
        replay(Trace.load(http.call("GET", f"/episodes/{run_id}/trace").text), shop)
    alone, usual = results["alone"], results["default"]
    assert alone.pop("reward_profile") == TASK_ALONE
    assert usual.pop("reward_profile") == {"task": 0.75, "eff": 0.15, "hall": 0.1}
    assert (alone.pop("r_total"), usual.pop("r_total")) == (alone["r_task"], pytest.approx(-0.9))
    assert alone == usual


def test_an_observation_is_as_small_as_the_run_wants(http: Any, shop: Shop) -> None:
    put(http, "small", observation_bytes=4000)
    search = [{"name": "catalog_search", "args": {"query": "gift", "limit": 10, "offset": at}} for at in (0, 10)]
    sizes = {}
    for run_id in ("small", "default"):
        http.reset(env_id="CART", difficulty=0, seed=5, run_id=run_id, episode_id=run_id, axes={"p_oos": 0})
        seen = http.step(run_id, {"tool_calls": search}).json()["observation"]
        sizes[run_id] = len(json.dumps(seen, separators=(",", ":"), ensure_ascii=False).encode())
        assert ("truncated" in seen) == (run_id == "small")
        result = http.step(run_id, DONE).json()["observation"]["result"]
        assert result["observation_bytes"] == (4000 if run_id == "small" else 32_000)
        replay(Trace.load(http.call("GET", f"/episodes/{run_id}/trace").text), shop)
    assert sizes["small"] <= 4000 < sizes["default"]


@pytest.mark.parametrize(
    "settings",
    [
        {"reward_profile": {"task": 0.5}},
        {"reward_profile": {"task": 1.2, "eff": -0.2, "hall": 0}},
        {"reward_profile": {"quality": 1}},
        {"observation_bytes": 100},
        {"observation_bytes": 100_000},
        {"weights": {"CART": 0}},
        {"weights": {"CART": -1}},
        {"parameters": {"tau_num": 0}},
        {"parameters": {"least_seeds": 3}},
        {"difficulty": 3},
    ],
)
def test_wrong_settings_are_refused(http: Any, settings: dict[str, Any]) -> None:
    assert refusal(put(http, **settings)) == (422, "VALIDATION_ERROR")
    assert refusal(http.call("GET", "/curriculum/r")) == (404, "UNKNOWN_RUN")


def test_weights_of_unknown_environments_are_refused(http: Any) -> None:
    assert refusal(put(http, weights={"GOLF": 1})) == (404, "UNKNOWN_ENV")


def test_the_reward_profile_is_fixed_once_an_episode_was_counted(http: Any) -> None:
    assert put(http, reward_profile=TASK_ALONE).status_code == 200
    (row,) = sampled(http)
    assert put(http, observation_bytes=8000).status_code == 200
    report(http, [row])
    for change in ({"reward_profile": TASK_ALONE}, {}, {"observation_bytes": 9000}):
        assert refusal(put(http, **change)) == (409, "RUN_CONFLICT")
    settings: dict[str, Any] = {"observation_bytes": 8000, "parameters": {"tau_num": 8}, "weights": {"CART": 1}}
    told = put(http, **settings).json()["settings"]
    assert (told["parameters"]["tau_num"], told["weights"]) == (8, {"CART": 1})


def test_a_run_is_pinned_and_goes_on_as_a_fork(http: Any) -> None:
    put(http, parameters={"tau_num": 1, "passes": 1})
    report(http, sampled(http))
    pins = run(http)["pins"]
    move_to_another_catalog(http, "r")
    refused = http.call("POST", "/reset", json={"run_id": "r", "env_id": "CART"})
    assert refusal(refused) == (409, "RUN_PINNED")
    assert "/curriculum/r/fork" in refused.json()["error"]["message"]
    for method, path, body in (
        ("POST", "/episodes/sample", {"run_id": "r"}),
        ("PUT", "/curriculum/r", {}),
        ("POST", "/curriculum/r/report", {"episodes": []}),
    ):
        assert refusal(http.call(method, path, json=body)) == (409, "RUN_PINNED")
    assert not run(http)["is_playable"]
    fork = http.call("POST", "/curriculum/r/fork", json={"run_id": "s"}).json()
    assert (fork["pins"], fork["is_playable"], fork["forked_from"], fork["counted"]) == (pins, True, "r", 0)
    assert (fork["settings"], fork["frontiers"]) == (run(http)["settings"], run(http)["frontiers"])
    assert fork["frontiers"][0]["level"] == 1
    # Told again, as after an answer that was lost.
    assert http.call("POST", "/curriculum/r/fork", json={"run_id": "s"}).json() == fork
    assert {http.reset(run_id="s", env_id="CART")["metadata"]["difficulty"] for _ in range(20)} == {0, 1}


def test_forks_of_nothing_and_onto_others_are_refused(http: Any) -> None:
    put(http)
    put(http, "s")
    assert refusal(http.call("POST", "/curriculum/r/fork", json={"run_id": "s"})) == (409, "RUN_CONFLICT")
    assert refusal(http.call("POST", "/curriculum/q/fork", json={"run_id": "t"})) == (404, "UNKNOWN_RUN")
    assert refusal(http.call("POST", "/curriculum/r/fork", json={})) == (422, "VALIDATION_ERROR")
    assert refusal(http.call("POST", "/curriculum/r/fork")) == (422, "VALIDATION_ERROR")


def test_a_run_that_nobody_played_is_pinned_anew(http: Any) -> None:
    put(http)
    move_to_another_catalog(http, "r")
    assert http.reset(run_id="r", env_id="CART")["metadata"]["counts"]
    assert run(http)["is_playable"]


def test_the_run_that_nobody_names_begins_anew_and_its_past_is_kept(http: Any) -> None:
    for number in (1, 2):
        http.reset(env_id="CART", episode_id="E")
        http.step("E", DONE)
        move_to_another_catalog(http, "default")
        assert http.reset(env_id="CART", group_id=f"g{number}")["metadata"]["run_id"] == "default"
        assert (run(http, "default")["counted"], run(http, f"default-{number}")["counted"]) == (0, 1)
        assert not run(http, f"default-{number}")["is_playable"]


def test_exports_of_two_servers_merge_in_any_order(api: Callable[..., Any]) -> None:
    servers = [api(), api()]
    first = servers[0]
    rows = sampled(first, n=6)
    report(first, rows[:3])
    shared = first.call("GET", "/curriculum/r/export").json()
    servers[1].call("POST", "/curriculum/r/import", json={"exports": [shared]})
    report(servers[1], rows[2:5], correct_share=0)
    report(first, rows[5:], episode_id="e5")
    exports = [each.call("GET", "/curriculum/r/export").json() for each in servers]
    merged = []
    for order in (exports, exports[::-1], [*exports, *exports]):
        http = api()
        told = http.call("POST", "/curriculum/r/import", json={"exports": order}).json()
        merged.append((told["frontiers"], http.call("GET", "/curriculum/r/export").json()["frontiers"]))
    assert merged[0] == merged[1] == merged[2]
    # Six seeds; the third has an episode on each server, e2 and e0.
    assert merged[0][0][0]["ready_seeds"] == 6
    assert merged[0][0][0]["mean"] == pytest.approx((1 + 1 + 0.5 + 0 + 0 + 1) / 6)


def test_an_import_into_a_run_that_is_played_keeps_what_is_live(http: Any) -> None:
    row = sampled(http)[0]
    http.reset(**row, episode_id="E")
    export = http.call("GET", "/curriculum/r/export").json()
    assert http.call("POST", "/curriculum/r/import", json={"exports": [export]}).status_code == 200
    assert run(http)["frontiers"][0]["live_seeds"] == 1
    http.step("E", DONE)
    assert (run(http)["counted"], run(http)["frontiers"][0]["ready_seeds"]) == (1, 1)


def test_imports_that_do_not_fit_are_refused(http: Any) -> None:
    report(http, sampled(http))
    export = http.call("GET", "/curriculum/r/export").json()
    others = [
        {**export, "pins": unlike(export["pins"])},
        {**export, "settings": {**export["settings"], "observation_bytes": 5000}},
    ]
    for other in others:
        for run_id, exports in (("r", [other]), ("new", [export, other])):
            answer = http.call("POST", f"/curriculum/{run_id}/import", json={"exports": exports})
            assert refusal(answer) == (409, "RUN_CONFLICT")
    other = {**export, "settings": {**export["settings"], "parameters": {"tau_num": 5}}}
    answer = http.call("POST", "/curriculum/new/import", json={"exports": [export, other]})
    assert refusal(answer) == (409, "RUN_CONFLICT")
    assert http.call("POST", "/curriculum/r/import", json={"exports": [other]}).status_code == 200
    broken = [{"exports": []}, {"exports": [{}]}, {"exports": [{**export, "export_format": 2}]}, {}, []]
    share = json.loads(json.dumps(export))
    share["frontiers"][0]["seeds"][0]["episodes"]["e0"] = "7/2"
    for body in (*broken, {"exports": [share]}):
        answer = http.call("POST", "/curriculum/r/import", json=body)
        assert refusal(answer) == (422, "VALIDATION_ERROR")


def test_a_run_of_another_server_can_be_imported_and_forked(http: Any) -> None:
    report(http, sampled(http))
    export = http.call("GET", "/curriculum/r/export").json()
    body = {"exports": [{**export, "pins": unlike(export["pins"])}]}
    assert not http.call("POST", "/curriculum/old/import", json=body).json()["is_playable"]
    assert http.call("POST", "/curriculum/old/fork", json={"run_id": "now"}).json()["is_playable"]


@pytest.mark.parametrize("run_id", ["a/b", "a b", "ж?#", "x/export", "%2F"])
def test_any_name_of_a_run_can_be_addressed(http: Any, run_id: str) -> None:
    http.reset(env_id="CART", run_id=run_id)
    assert http.call("GET", f"/curriculum/{quote(run_id, safe='')}/export").json()["run_id"] == run_id
    assert http.call("DELETE", f"/curriculum/{quote(run_id, safe='')}").status_code == 204


def test_a_deleted_run_is_gone(http: Any) -> None:
    put(http)
    assert http.call("DELETE", "/curriculum/r").status_code == 204
    for method, path in (("GET", ""), ("DELETE", ""), ("GET", "/export")):
        assert refusal(http.call(method, f"/curriculum/r{path}")) == (404, "UNKNOWN_RUN")


def test_sockets_sample_report_and_read(server: Any) -> None:
    def asked(socket: Any, kind: str, data: Any) -> Any:
        socket.send(json.dumps({"type": kind, "data": data}))
        return json.loads(socket.recv())

    with connect(server.ws) as socket:
        drawn = asked(socket, "sample", {"run_id": "of a socket", "env_id": "CART", "n": 2})
        assert drawn["type"] == "sample"
        row = drawn["data"]["episodes"][0]
        reported = {"run_id": "of a socket", "episodes": [{**row, "episode_id": "e", "correct_share": 1}]}
        assert asked(socket, "report", reported) == {
            "type": "report",
            "data": {"counted": 1, "episodes": [{"episode_id": "e", "counts": True}]},
        }
        told = asked(socket, "curriculum", {"run_id": "of a socket"})
        assert (told["type"], told["data"]["counted"]) == ("curriculum", 1)
        assert asked(socket, "curriculum", {"run_id": "never was"})["data"]["token"] == "UNKNOWN_RUN"
        assert asked(socket, "sample", {"n": -1})["data"]["code"] == "VALIDATION_ERROR"
        assert asked(socket, "curriculum", {"run_id": 5})["data"]["code"] == "VALIDATION_ERROR"
        assert asked(socket, "reset", {**row, "seed": row["seed"]})["data"]["metadata"]["counts"]
