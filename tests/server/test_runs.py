"""Runs count what their curriculum drew, and collections draw what can be served: over HTTP, with real environments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ecom_rlve.envs.registry import collection_members


@pytest.fixture
def client(api: Callable[..., Any]) -> Any:
    """A client of a server that forgets after a minute."""
    return api(idle_ttl_s=60)


def reset(client: Any, **body: Any) -> dict[str, Any]:
    answer: dict[str, Any] = client.reset(env_id="CART", **body)
    return answer


def spec(answer: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(answer["metadata"][name] for name in ("env_id", "difficulty", "seed", "split", "style", "format"))


def end(client: Any, answer: dict[str, Any]) -> None:
    assert client.step(answer["observation"]["episode_id"], {"answer": {"done": True}}).json()["done"]


def run(client: Any, run_id: str = "default") -> Any:
    return client.call("GET", f"/curriculum/{run_id}").json()


def frontier(client: Any, run_id: str = "default", env_id: str = "CART") -> Any:
    (found,) = [each for each in run(client, run_id)["frontiers"] if each["env_id"] == env_id]
    return found


def climb(client: Any, run_id: str, level: int, env_id: str = "CART") -> None:
    """Raise a run's frontier by reports of episodes that are all correct."""
    client.call("PUT", f"/curriculum/{run_id}", json={"parameters": {"tau_num": 1, "passes": 1}})
    for at in range(level):
        while True:
            body = {"run_id": run_id, "env_id": env_id, "n": 8}
            drawn = client.call("POST", "/episodes/sample", json=body).json()["episodes"]
            hardest = [{**each, "episode_id": "e", "correct_share": 1} for each in drawn if each["difficulty"] == at]
            if hardest:
                break
        answer = client.call("POST", f"/curriculum/{run_id}/report", json={"episodes": hardest[:1]}).json()
        assert answer["counted"] == 1
    assert frontier(client, run_id, env_id)["level"] == level


def test_a_group_has_its_format_and_each_format_its_frontier(client: Any) -> None:
    first = reset(client, group_id="g", format="lenient")
    assert spec(reset(client, group_id="g")) == spec(first)
    assert spec(first)[-1] == "lenient"
    end(client, first)
    (found,) = run(client)["frontiers"]
    assert (found["env_id"], found["style"], found["format"]) == ("CART", "turn", "lenient")


def test_ended_and_abandoned_episodes_count_and_untouched_ones_do_not(client: Any, clock: Any) -> None:
    end(client, reset(client))
    assert run(client)["counted"] == 1
    left = reset(client)
    assert client.step(left["observation"]["episode_id"], {}).status_code == 200
    reset(client)
    clock.seconds += 61
    reset(client)
    client.service.sessions.reap()
    assert run(client)["counted"] == 2
    assert (frontier(client)["ready_seeds"], frontier(client)["mean"]) == (2, 0.0)


@pytest.mark.parametrize(
    ("fixed", "why"),
    [
        ({"difficulty": 0}, "not_drawn"),
        ({"seed": 3}, "not_drawn"),
        ({"difficulty": 1}, "not_drawn"),
        ({"group_id": "g", "seed": 3}, "not_drawn"),
        ({"group_id": "g", "difficulty": 0}, "not_drawn"),
        ({"split": "eval"}, "split"),
        ({"axes": {"p_missing": 0.5}}, "axes"),
    ],
)
def test_what_the_server_did_not_draw_does_not_count_and_metadata_says_why(
    client: Any, fixed: dict[str, Any], why: str
) -> None:
    answer = reset(client, run_id="r", **fixed)
    told = answer["metadata"]
    assert (told["run_id"], told["counts"], told["why_uncounted"]) == ("r", False, why)
    end(client, answer)
    assert run(client, "r")["counted"] == 0
    counted = reset(client, run_id="r")
    assert counted["metadata"]["counts"]
    assert "why_uncounted" not in counted["metadata"]
    end(client, counted)
    assert run(client, "r")["counted"] == 1


def test_a_drawn_seed_that_comes_back_unchanged_counts(client: Any) -> None:
    first = reset(client, run_id="r")
    again = {name: first["metadata"][name] for name in ("difficulty", "seed", "split", "style", "format")}
    assert reset(client, run_id="r", **again)["metadata"]["counts"]
    for change in ({"difficulty": 1}, {"seed": again["seed"] + 1}, {"style": "tool"}, {"format": "lenient"}):
        told = reset(client, run_id="r", **{**again, **change})["metadata"]
        assert (told["counts"], told["why_uncounted"]) == (False, "not_drawn")
    assert not reset(client, run_id="other", **again)["metadata"]["counts"]


def test_only_the_frontier_counts(client: Any) -> None:
    climb(client, "r", 2)
    told = [reset(client, run_id="r")["metadata"] for _ in range(30)]
    assert {each["difficulty"] for each in told} == {0, 1, 2}
    for each in told:
        assert each["counts"] == (each["difficulty"] == 2)
        assert each.get("why_uncounted") == (None if each["difficulty"] == 2 else "below_frontier")


def test_difficulties_come_from_the_runs_window(client: Any) -> None:
    climb(client, "high", 6)
    drawn = {reset(client, run_id="high")["metadata"]["difficulty"] for _ in range(40)}
    assert drawn == {3, 4, 5, 6}
    assert reset(client)["metadata"]["difficulty"] == 0


def test_a_group_is_judged_as_one_seed(client: Any) -> None:
    members = [reset(client, run_id="r", group_id="g") for _ in range(4)]
    for member in members[:3]:
        end(client, member)
        assert frontier(client, "r")["ready_seeds"] == 0
    end(client, members[3])
    assert (run(client, "r")["counted"], frontier(client, "r")["ready_seeds"]) == (4, 1)


def test_a_whole_group_that_is_deleted_counts_for_nothing(client: Any) -> None:
    for members in (1, 4):
        for _ in range(members):
            begun = reset(client, run_id="r", group_id=f"of {members}")
            client.step(begun["observation"]["episode_id"], {})
        client.call("DELETE", "/episodes", params={"run_id": "r"})
        assert frontier(client, "r")["ready_seeds"] == 0
    kept = [reset(client, run_id="r", group_id="partly") for _ in range(3)]
    for each in kept[1:]:
        client.step(each["observation"]["episode_id"], {})
    end(client, kept[0])
    client.call("DELETE", "/episodes", params={"run_id": "r"})
    assert frontier(client, "r")["ready_seeds"] == 1
    # The dropped group may be played again.
    again = reset(client, run_id="r", group_id="of 4")
    assert again["metadata"]["counts"]
    end(client, again)
    assert frontier(client, "r")["ready_seeds"] == 2


def test_a_judged_seed_counts_no_more(client: Any) -> None:
    client.call("PUT", "/curriculum/r", json={"parameters": {"tau_num": 1}})
    end(client, reset(client, run_id="r", group_id="g"))
    told = reset(client, run_id="r", group_id="g")["metadata"]
    assert (told["counts"], told["why_uncounted"]) == (False, "judged")


def test_an_environment_that_the_catalog_cannot_serve_is_not_drawn(client: Any) -> None:
    """A catalog of 400 products serves no SUB."""
    served = {each["env_id"]: each["max_difficulty"] for each in client.call("GET", "/envs").json()}
    assert served["SUB"] < 0
    drawn = {client.reset(seed=seed)["metadata"]["env_id"] for seed in range(60)}
    assert drawn == {env_id for env_id, most in served.items() if most >= 0}
    answer = client.call("POST", "/reset", json={"collection": ["SUB"]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "DIFFICULTY_TOO_HIGH")


def settle(client: Any, episode_id: str, *, is_right: bool) -> bool:
    """Settle the errand that is spoken of, by its own solution or by an empty answer; tell whether all is over."""
    episode = client.service.sessions.get(episode_id).episode
    begun = episode.conversation.current
    while begun.verdict is None:
        action = episode.solve() if is_right else {"answer": {"done": True, "intent": begun.intent.errand.about.id}}
        done = client.step(episode_id, action).json()["done"]
    return bool(done)


def test_a_journey_counts_by_the_share_of_its_errands(client: Any) -> None:
    """Half of two errands right is half a success, though the episode is not correct."""
    for seed in range(40):
        run_id = f"run {seed}"
        answer = client.reset(env_id="JOURNEY", run_id=run_id)
        episode_id = answer["observation"]["episode_id"]
        episode = client.service.sessions.get(episode_id).episode
        first, second = episode.scenario.intents
        if first.is_interrupted or second.errand.about.id == "PD":
            continue
        settle(client, episode_id, is_right=True)
        assert settle(client, episode_id, is_right=False)
        assert episode.result.correct_share == 0.5
        assert not episode.result.is_correct
        told = frontier(client, run_id, "JOURNEY")
        assert (told["mean"], told["ready_seeds"], run(client, run_id)["counted"]) == (0.5, 1, 1)
        return
    raise AssertionError("no journey of two errands that follow each other")


@pytest.mark.parametrize("group_id", [None, "g"])
def test_a_collection_draws_only_environments_that_serve_the_difficulty(client: Any, group_id: str | None) -> None:
    """A catalog of 400 products serves PD to d = 1 only."""
    served = {each["env_id"]: each["max_difficulty"] for each in client.call("GET", "/envs").json()}
    assert [each for each in served.values() if 0 <= each < 20]
    asked: tuple[Any, ...] = ("C4", "C8", None, ["PD", "CART", "SUB"])
    for collection in asked:
        named = collection_members(collection)
        for difficulty in sorted({1, 2, *(each + more for each in served.values() for more in (0, 1))} & {*range(21)}):
            body = {"collection": collection, "difficulty": difficulty, "include": []}
            drawn = [
                client.reset(**body, **({"seed": at} if group_id is None else {"group_id": f"{body} {at}"}))["metadata"]
                for at in range(24)
            ]
            assert {each["difficulty"] for each in drawn} == {difficulty}
            assert {each["env_id"] for each in drawn} <= {each for each in named if served[each] >= difficulty}
    answer = client.call("POST", "/reset", json={"collection": ["SUB", "PD"], "difficulty": 2})
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "DIFFICULTY_TOO_HIGH")


def test_the_id_of_a_reset_that_could_be_guessed_is_refused(client: Any) -> None:
    assert client.call("POST", "/reset", json={"env_id": "CART", "request_id": "1"}).status_code == 422
