"""Runs count what their curriculum drew, and collections draw what can be served: over HTTP, with real environments."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from ecom_rlve.envs.curriculum import Curriculum, CurriculumParameters
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


def curriculum(client: Any, run_id: str = "default") -> Curriculum:
    found: Curriculum = client.service.runs.curriculum(run_id)
    return found


def test_a_group_has_its_format_and_each_format_its_frontier(client: Any) -> None:
    first = reset(client, group_id="g", format="lenient")
    assert spec(reset(client, group_id="g")) == spec(first)
    assert spec(first)[-1] == "lenient"
    end(client, first)
    (frontier,) = [each for each in curriculum(client).export()["frontiers"] if each["counted"]]
    assert (frontier["env_id"], frontier["style"], frontier["format"]) == ("CART", "turn", "lenient")


def test_ended_and_abandoned_episodes_count_and_untouched_ones_do_not(client: Any, clock: Any) -> None:
    counted = curriculum(client)
    end(client, reset(client))
    assert counted.export()["frontiers"][0]["counted"] == 1
    left = reset(client)
    assert client.step(left["observation"]["episode_id"], {}).status_code == 200
    reset(client)
    clock.seconds += 61
    reset(client)
    client.service.sessions.reap()
    assert counted.export()["frontiers"][0]["counted"] == 2


@pytest.mark.parametrize("fixed", [{"difficulty": 0}, {"split": "eval"}, {"axes": {"p_missing": 0.5}}])
def test_what_the_curriculum_did_not_draw_does_not_count(client: Any, fixed: dict[str, Any]) -> None:
    end(client, reset(client, run_id="r", **fixed))
    frontiers = curriculum(client, "r").export()["frontiers"]
    assert [frontier for frontier in frontiers if frontier["counted"]] == []
    end(client, reset(client, run_id="r"))
    assert [frontier["counted"] for frontier in curriculum(client, "r").export()["frontiers"]] == [1]


def test_difficulties_come_from_the_runs_window(client: Any) -> None:
    parameters = CurriculumParameters(tau_num=1, least_seeds=1)
    raised = curriculum(client, "high")
    raised.parameters = parameters
    for level in range(6):
        raised.count("CART", "turn", "strict", level, level, Fraction(1), 20)
    drawn = {reset(client, run_id="high")["metadata"]["difficulty"] for _ in range(40)}
    assert drawn == {3, 4, 5, 6}
    assert reset(client)["metadata"]["difficulty"] == 0


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
    for seed in range(20):
        counted = curriculum(client, f"run {seed}")
        answer = client.reset(env_id="JOURNEY", seed=seed, run_id=f"run {seed}")
        episode_id = answer["observation"]["episode_id"]
        episode = client.service.sessions.get(episode_id).episode
        first, second = episode.scenario.intents
        if first.is_interrupted or second.errand.about.id == "PD":
            continue
        settle(client, episode_id, is_right=True)
        assert settle(client, episode_id, is_right=False)
        assert episode.result.correct_share == 0.5
        assert not episode.result.is_correct
        (frontier,) = [each for each in counted.export()["frontiers"] if each["counted"]]
        assert (frontier["env_id"], frontier["correct"], frontier["counted"]) == ("JOURNEY", "1/2", 1)
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
