"""A group is one episode for as long as its run lives: over HTTP, with the real environment."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ecom_rlve.envs.curriculum.ledger import Frontier
from ecom_rlve.models import ResetRequest
from ecom_rlve.server.runs import runs
from ecom_rlve.server.store.ledger import StoredLedger

HOUR = 3600.0


@pytest.fixture
def client(api: Callable[..., Any]) -> Any:
    """A client of a server that forgets idle episodes after a minute."""
    return api(idle_ttl_s=60)


def reset(client: Any, **body: Any) -> dict[str, Any]:
    answer: dict[str, Any] = client.reset(**{"env_id": "CART", **body})
    return answer


def spec(answer: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(answer["metadata"][name] for name in ("env_id", "difficulty", "seed", "split", "style", "format"))


def refused(client: Any, **body: Any) -> tuple[int, str]:
    answer = client.call("POST", "/reset", json={"env_id": "CART", **body})
    return answer.status_code, answer.json()["error"]["code"]


def end(client: Any, answer: dict[str, Any]) -> dict[str, Any]:
    last: dict[str, Any] = client.step(answer["observation"]["episode_id"], {"answer": {"done": True}}).json()
    assert last["done"]
    return last


def test_sixteen_resets_of_a_group_play_one_episode(client: Any) -> None:
    answers = [reset(client, group_id="prompt 1") for _ in range(16)]
    assert len({spec(answer) for answer in answers}) == 1
    openings = [{**answer["observation"], "episode_id": ""} for answer in answers]
    assert all(opening == openings[0] for opening in openings)
    assert [answer["metadata"]["group_member"] for answer in answers] == list(range(1, 17))
    assert {answer["metadata"]["group_id"] for answer in answers} == {"prompt 1"}


def test_resets_at_the_same_time_are_members_of_one_group(client: Any) -> None:
    answers = client.together(*(("POST", "/reset", {"env_id": "CART", "group_id": "g"}) for _ in range(16)))
    assert len({spec(answer.json()) for answer in answers}) == 1
    assert sorted(answer.json()["metadata"]["group_member"] for answer in answers) == list(range(1, 17))


def test_five_a_crash_and_eight_more_play_one_episode(client: Any, clock: Any) -> None:
    before = [reset(client, group_id="g", run_id="r") for _ in range(5)]
    client.step(before[0]["observation"]["episode_id"], {})
    assert client.call("DELETE", "/episodes", params={"run_id": "r"}).json() == {"deleted": 5}
    clock.seconds += 30 * HOUR
    client.service.sessions.reap()
    after = [reset(client, group_id="g", run_id="r") for _ in range(8)]
    assert len({spec(answer) for answer in (*before, *after)}) == 1
    assert [answer["metadata"]["group_member"] for answer in after] == list(range(6, 14))


def test_a_size_decides_nothing(client: Any) -> None:
    sizes = (None, 2, 8, 4096, 0, "many")
    assert len({spec(reset(client, group_id="g", group_size=size)) for size in sizes}) == 1


def test_steps_tell_the_group_and_the_member(client: Any) -> None:
    reset(client, group_id="g")
    second = reset(client, group_id="g")
    for answer in (client.step(second["observation"]["episode_id"], {}).json(), end(client, second)):
        assert (answer["metadata"]["group_id"], answer["metadata"]["group_member"]) == ("g", 2)
        assert "group_id" not in answer["observation"]
    alone = reset(client)["metadata"]
    assert "group_id" not in alone
    assert "group_member" not in alone


@pytest.mark.parametrize("group_id", ['"},"seed":1,"x":{"', "\\", "ж\u2028", '"'])
def test_any_name_of_a_group_comes_back(client: Any, group_id: str) -> None:
    assert reset(client, group_id=group_id)["metadata"]["group_id"] == group_id


def test_the_difficulty_of_a_group_stays_while_its_run_climbs(client: Any) -> None:
    first = reset(client, group_id="g", run_id="r")
    StoredLedger(client.service.database, client.service.runs.known("r").id).put_frontier(
        ("CART", "turn", "strict"), Frontier(8)
    )
    assert {reset(client, run_id="r")["metadata"]["difficulty"] for _ in range(30)} == {5, 6, 7, 8}
    assert {spec(reset(client, group_id="g", run_id="r")) for _ in range(8)} == {spec(first)}


def test_the_seed_is_a_keyed_hash_of_run_and_group(api: Callable[..., Any]) -> None:
    one, other = api(), api()
    names = [("r", "g"), ("r", "h"), ("q", "g"), ("rg", ""), ("r,g", "h"), ("r", "g,h")]
    seeds = [reset(one, run_id=run, group_id=group or "x")["metadata"]["seed"] for run, group in names]
    assert len({*seeds}) == len(names)
    # Another server has another key: who knows the names cannot tell the seed.
    assert reset(other, run_id="r", group_id="g")["metadata"]["seed"] != seeds[0]
    # The run's other settings are no part of it.
    assert reset(one, run_id="q", group_id="h", env_id="STATUS", style="tool")["metadata"]["seed"] == (
        one.service.runs.group_seed(one.service.runs.known("q"), "h")
    )
    assert 0 <= seeds[0] < 2**53


def test_seeds_of_groups_are_spread_over_all_that_a_client_can_send(client: Any) -> None:
    run = client.service.runs.opened("r")
    seeds = [client.service.runs.group_seed(run, f"g{number}") for number in range(400)]
    assert len(set(seeds)) == 400
    assert 0 <= min(seeds) < 2**53 / 20
    assert 2**53 * 19 / 20 < max(seeds) < 2**53


def test_groups_of_different_runs_are_different(client: Any) -> None:
    assert spec(reset(client, group_id="g", run_id="a")) != spec(reset(client, group_id="g", run_id="b"))


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 8},
        {"difficulty": 3},
        {"style": "tool"},
        {"split": "eval"},
        {"format": "lenient"},
        {"axes": {"t_max": 9}},
        {"env_id": "STATUS"},
        {"env_id": None, "collection": ["STATUS", "POLICY"]},
    ],
)
def test_a_conflicting_argument_is_refused_and_makes_no_member(client: Any, change: dict[str, Any]) -> None:
    reset(client, group_id="g", seed=7, difficulty=0)
    assert refused(client, group_id="g", **change) == (409, "GROUP_CONFLICT")
    again = reset(client, group_id="g")
    assert (spec(again)[2], again["metadata"]["group_member"]) == (7, 2)


def test_what_a_group_plays_may_be_said_again(client: Any) -> None:
    first = reset(client, group_id="g", env_id=None, collection="C1")
    again = {name: first["metadata"][name] for name in ("difficulty", "seed", "split", "style", "format", "axes")}
    for more in (again, {"env_id": None, "collection": "C4"}, {"env_id": None}, {"env_id": "cart", "collection": "C8"}):
        assert spec(reset(client, group_id="g", **more)) == spec(first)


def test_a_repeated_reset_is_the_same_member(client: Any) -> None:
    first = reset(client, group_id="g", request_id="r" * 16)
    assert reset(client, group_id="g", request_id="r" * 16) == first
    assert reset(client, group_id="g")["metadata"]["group_member"] == 2


def test_a_group_whose_first_reset_fails_is_not_begun(client: Any) -> None:
    for _ in range(3):
        assert refused(client, group_id="g", difficulty=20, axes={"t_max": 10**9}) == (422, "VALIDATION_ERROR")
    assert reset(client, group_id="g", difficulty=1)["metadata"]["group_member"] == 1
    assert refused(client, group_id="g", axes={"t_max": 10**9}) == (409, "GROUP_CONFLICT")


def test_a_failure_beside_others_on_their_way_does_not_end_the_group(client: Any) -> None:
    kept, asked = client.service.runs, ResetRequest(env_id="CART", group_id="g")
    failing, other = (kept.resolve(asked, None) for _ in range(2))
    kept.release(failing)
    third = kept.resolve(asked, None)
    assert third.spec == other.spec
    with kept.transaction():
        assert kept.begin(other, "e", discloses_acts=False).member == 1
    kept.release(other)
    kept.release(third)
    assert kept.resolve(asked, None).spec == other.spec


def test_groups_that_were_not_begun_take_no_room(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MOST_GROUPS", 1)
    for number in range(3):
        body = {"group_id": f"g{number}", "difficulty": 20, "axes": {"t_max": 10**9}}
        assert refused(client, **body) == (422, "VALIDATION_ERROR")
    assert reset(client, group_id="g")["metadata"]["group_member"] == 1
    assert refused(client, group_id="h") == (503, "CAPACITY_REACHED")
    answer = client.call("POST", "/episodes/sample", json={"env_id": "CART"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "CAPACITY_REACHED")
    assert reset(client, group_id="g")["metadata"]["group_member"] == 2
    assert reset(client, run_id="another", group_id="h")["metadata"]["group_member"] == 1


def test_no_run_is_forgotten_to_make_room_for_another(client: Any, clock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "MOST_RUNS", 2)
    first = reset(client, run_id="a", group_id="g")
    reset(client, run_id="b")
    clock.seconds += 1000 * HOUR
    answer = client.call("POST", "/reset", json={"env_id": "CART", "run_id": "c"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "CAPACITY_REACHED")
    assert answer.headers["Retry-After"]
    assert "DELETE /curriculum/" in answer.json()["error"]["message"]
    assert spec(reset(client, run_id="a", group_id="g")) == spec(first)
    assert client.call("DELETE", "/curriculum/b").status_code == 204
    assert reset(client, run_id="c")["metadata"]["counts"]


def test_the_end_of_a_deleted_runs_episode_is_counted_by_nobody(client: Any) -> None:
    late = reset(client, run_id="a")
    assert client.call("DELETE", "/curriculum/a").status_code == 204
    reset(client, run_id="a")
    end(client, late)
    assert client.call("GET", "/curriculum/a").json()["counted"] == 0


def test_the_limits_are_those_that_the_protocol_names() -> None:
    page = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text()
    assert f"at most {runs.MOST_RUNS:,} runs with at most {runs.MOST_GROUPS:,} groups each" in page
