"""A fault of ours changes nothing, says nothing, and is found again in the log."""

from __future__ import annotations

import logging
import math
import threading
from collections.abc import Mapping
from typing import Any

import pytest

from ecom_rlve.envs.episode.episode import Episode
from ecom_rlve.models import Observation

HELLO = {"assistant_message": "Hello, let me look."}
ASK = {"assistant_message": "Which colour do you want?"}


class Fault:
    """Makes the next step of any episode go wrong after it was applied."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.spoil: Any = None
        step = Episode.step

        def faulty(episode: Episode, action: Mapping[str, Any], *understood: Any) -> Observation:
            observation = step(episode, action, *understood)
            spoil, self.spoil = self.spoil, None
            return observation if spoil is None else episode.log.amend(spoil(observation))

        monkeypatch.setattr(Episode, "step", faulty)


def _raise(_: Observation) -> Observation:
    raise RuntimeError("the hidden goal is B07SECRET")


SPOILS = {
    "raises": _raise,
    "reward is not finite": lambda observation: observation.model_copy(update={"reward": math.nan}),
    "not JSON": lambda observation: observation.model_copy(update={"tool_results": [object()]}),
}


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
@pytest.mark.parametrize("spoil", SPOILS.values(), ids=SPOILS.keys())
def test_a_step_that_fails_inside_is_undone(
    http: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, spoil: Any
) -> None:
    http.reset(env_id="CART", seed=1, episode_id="clean")
    clean = [http.step("clean", action).json()["observation"] for action in (HELLO, ASK)]

    fault = Fault(monkeypatch)
    http.reset(env_id="CART", seed=1, episode_id="E")
    http.step("E", HELLO)
    before = http.state("E")
    fault.spoil = spoil
    with caplog.at_level(logging.ERROR):
        answer = http.step("E", ASK, request_id="again")
    assert answer.status_code == 500
    assert answer.json()["error"]["code"] == "INTERNAL_ERROR"
    assert http.state("E") == before
    (record,) = [each for each in caplog.records if each.name.startswith("ecom_rlve")]
    fault_id = record.getMessage().split("id=")[1].split()[0]
    assert fault_id in answer.text
    assert "SECRET" not in answer.text + caplog.text
    retried = http.step("E", ASK, request_id="again").json()["observation"]
    assert {**retried, "episode_id": "clean"} == clean[1]


def test_a_reset_that_fails_inside_takes_no_place(http: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(Episode, "_opening", lambda *_: 1 / 0)
        answer = http.call("POST", "/reset", json={"env_id": "CART", "episode_id": "E"})
        assert (answer.status_code, answer.json()["error"]["code"]) == (500, "INTERNAL_ERROR")
    assert http.service.sessions.active == 0
    assert http.reset(env_id="CART", episode_id="E")


def test_what_is_kept_of_an_action_is_what_is_read(http: Any) -> None:
    http.reset(env_id="CART", seed=1, episode_id="E")
    assert http.step("E", {**HELLO, "metadata": {"junk": [{}] * 1000}}).status_code == 200
    record = http._runner.run(http.service.record("E"))
    assert [step.action for step in record.episode.log.steps] == [HELLO]


def test_a_trace_is_the_same_whenever_it_is_told(http: Any) -> None:
    http.reset(env_id="CART", seed=1, episode_id="E")
    http.step("E", {"answer": {"done": True}})
    first = http.call("GET", "/episodes/E/trace")
    assert first.status_code == 200
    assert http.call("GET", "/episodes/E/trace").content == first.content


HEAVY: list[dict[str, Any]] = [
    {"tool_calls": [{"name": "catalog_search", "args": {"query": "lamp"}}]},
    {"tool_calls": [{"name": "cart_view", "args": {}}, {"name": "catalog_search", "args": {"query": "lamp"}}]},
    {"text": '{"tool_calls": [{"name": "catalog_search", "args": {"query": "lamp"}}]}'},
    {"text": "no action at all"},
]
LIGHT: list[dict[str, Any]] = [HELLO, {"tool_calls": [{"name": "cart_view", "args": {}}]}, {"answer": {"done": True}}]


class Watch:
    """Notes in which kind of thread episodes are built and stepped."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.built: list[bool] = []
        self.stepped: list[bool] = []
        build, step = Episode.__init__, Episode.step

        def watched_build(*args: Any, **kwargs: Any) -> None:
            self.built.append(threading.current_thread() is threading.main_thread())
            build(*args, **kwargs)

        def watched_step(*args: Any) -> Observation:
            self.stepped.append(threading.current_thread() is threading.main_thread())
            return step(*args)

        monkeypatch.setattr(Episode, "__init__", watched_build)
        monkeypatch.setattr(Episode, "step", watched_step)


@pytest.mark.parametrize(("pool_above", "is_large"), [(1_000_000, False), (400, False), (399, True), (0, True)])
def test_on_a_large_catalog_what_may_scan_it_leaves_the_event_loop(
    api: Any, monkeypatch: pytest.MonkeyPatch, pool_above: int, *, is_large: bool
) -> None:
    """The catalog has 400 products."""
    http, watch = api(pool_above_products=pool_above), Watch(monkeypatch)
    for number, action in enumerate((*HEAVY, *LIGHT)):
        http.reset(env_id="CART", seed=1, episode_id=f"e{number}")
        assert http.step(f"e{number}", action).status_code == 200
    assert watch.built == [not is_large] * len(watch.built)
    assert len(watch.built) == len(watch.stepped) == len(HEAVY) + len(LIGHT)
    assert watch.stepped == [not is_large] * len(HEAVY) + [True] * len(LIGHT)


def test_on_a_large_catalog_the_environments_are_listed_off_the_event_loop(
    api: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    http, seen = api(pool_above_products=0), []
    listed = http.service._listed

    def watched() -> Any:
        seen.append(threading.current_thread() is threading.main_thread())
        return listed()

    monkeypatch.setattr(http.service, "_listed", watched)
    assert http.call("GET", "/envs").status_code == 200
    assert seen == [False]


@pytest.mark.parametrize("pool_above", [1_000_000, 0])
@pytest.mark.parametrize("verb", ["step", "state"])
def test_no_episode_expires_in_the_middle_of_a_request(
    api: Any, clock: Any, monkeypatch: pytest.MonkeyPatch, verb: str, pool_above: int
) -> None:
    """A request may take longer than an idle episode is kept; the time begins when it is over."""
    http = api(idle_ttl_s=60, pool_above_products=pool_above)
    http.reset(env_id="CART", seed=1, episode_id="E")
    record = http._runner.run(http.service.record("E"))
    plain, reaped = getattr(Episode, verb), []

    def slow(*args: Any) -> Any:
        clock.seconds += 61
        reaped.append((record.in_flight, http.service.sessions.reap()))
        return plain(*args)

    with monkeypatch.context() as patch:
        patch.setattr(Episode, verb, slow)
        answer = http.step("E", HEAVY[0]) if verb == "step" else http.call("GET", "/state", params={"episode_id": "E"})
    assert answer.status_code == 200
    assert reaped == [(1, 0)]
    assert record.in_flight == 0
    clock.seconds += 60
    assert http._runner.run(http.service.record("E")) is record
    clock.seconds += 1
    assert http.call("GET", "/state", params={"episode_id": "E"}).status_code == 404


def test_a_request_that_fails_is_in_flight_no_longer(http: Any) -> None:
    http.reset(env_id="CART", seed=1, episode_id="E")
    record = http._runner.run(http.service.record("E"))
    assert http.step("E", {"assistant_message": 3}).status_code == 422
    assert record.in_flight == 0
