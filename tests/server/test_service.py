"""A fault of ours changes nothing, says nothing, and is found again in the log."""

from __future__ import annotations

import logging
import math
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
    record = http.service.record("E")
    assert [step.action for step in record.episode.log.steps] == [HELLO]


def test_a_trace_is_the_same_whenever_it_is_told(http: Any) -> None:
    http.reset(env_id="CART", seed=1, episode_id="E")
    http.step("E", {"answer": {"done": True}})
    first = http.call("GET", "/episodes/E/trace")
    assert first.status_code == 200
    assert http.call("GET", "/episodes/E/trace").content == first.content
