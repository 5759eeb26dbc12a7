"""A customer worded by a voice: waited for without holding others up, recorded, undone, counted."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from ecom_rlve.envs.customer.model.errors import EndpointUnreachableError
from ecom_rlve.envs.customer.outcome import Outcome
from ecom_rlve.envs.customer.voice import Spoken, Utterance
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.episode.trace import Trace, replay
from ecom_rlve.envs.world.shop import Shop

ASK = {"assistant_message": "Which colour do you want?"}
VIEW = {"tool_calls": [{"name": "cart_view", "args": {}}]}
DONE = {"answer": {"done": True}}


class Script:
    """A voice that says whose turn it is, after a while, or fails as it is told."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.fault: Exception | None = None
        self.asked = 0
        self.prepared: list[int] = []

    async def say(self, utterance: Utterance) -> Spoken:
        self.asked += 1
        await asyncio.sleep(self.seconds)
        if self.fault is not None:
            raise self.fault
        return Spoken(f"Turn {utterance.turn}: {len(utterance.template_text)} letters.", Outcome.ACCEPTED)

    async def prepare(self, utterance: Utterance) -> None:
        self.prepared.append(utterance.seed)
        await asyncio.sleep(self.seconds)

    async def aclose(self) -> None:
        """Nothing is open."""


@pytest.fixture
def runner(hurried: asyncio.Runner) -> asyncio.Runner:
    """An event loop in which the voice's while passes at once."""
    return hurried


@pytest.fixture
def script() -> Script:
    return Script()


@pytest.fixture
def told(api: Callable[..., Any], script: Script) -> Any:
    """A client of a server whose customers speak by the script."""
    return api(voice=script, model_name="script", fallback="none")


def sample(http: Any, name: str) -> float:
    """Return a figure of /metrics."""
    lines = http.call("GET", "/metrics").text.splitlines()
    return float(next(line for line in lines if line.startswith(f"{name} ")).rpartition(" ")[2])


def test_the_words_are_the_voices_and_the_metadata_says_so(told: Any) -> None:
    opening = told.reset(env_id="CART", seed=1, episode_id="E")
    assert opening["observation"]["user_message"].startswith("Turn 0: ")
    assert opening["metadata"]["simulator"] == "script"
    answer = told.step("E", ASK).json()
    assert answer["observation"]["user_message"].startswith("Turn 1: ")
    assert told.step("E", VIEW).json()["observation"]["user_message"] == ""
    said = [each["content"] for each in told.state("E")["messages"] if each["role"] == "user"]
    assert said == [opening["observation"]["user_message"], answer["observation"]["user_message"]]


def test_an_episode_that_its_client_finishes_asks_for_no_words(told: Any, script: Script, shop: Shop) -> None:
    told.reset(env_id="CART", seed=1, episode_id="E")
    told.step("E", ASK)
    asked, script.fault = script.asked, EndpointUnreachableError("down")
    last = told.call("POST", "/episodes/E/finish").json()
    assert (last["done"], last["observation"]["user_message"], script.asked) == (True, "", asked)
    replay(Trace.load(told.call("GET", "/episodes/E/trace").text), shop)


def test_a_reset_without_a_seed_is_given_an_opening_that_is_ready(
    api: Callable[..., Any], script: Script, shop: Shop
) -> None:
    http = api(voice=script, model_name="script", openings_ahead=2)
    met = []
    for _ in range(4):
        answer = http.reset(env_id="CART", difficulty=1)
        met.append(answer["metadata"]["seed"])
        http._runner.run(asyncio.sleep(0.05))
    # The first reset found none; each of the others took one, which was replaced.
    assert len(script.prepared) == 5
    worded = [Episode(shop, EpisodeSpec("CART", 1, seed), "mirror").utterances[0].seed for seed in met]
    assert worded[1:] == script.prepared[:3]
    assert worded[0] not in script.prepared
    for asked in ({"seed": 7}, {"axes": {"p_missing": 0.0}}):
        http.reset(env_id="CART", difficulty=1, **asked)
    assert len(script.prepared) == 5
    # A group's seed follows from its name.
    group = [http.reset(env_id="CART", difficulty=1, group_id="g")["metadata"]["seed"] for _ in range(3)]
    runs = http.service.runs
    assert group == [runs.group_seed(runs.known("default"), "g")] * 3
    assert len(script.prepared) == 5


def test_templates_speak_by_default(http: Any, script: Script) -> None:
    assert http.reset(env_id="CART", seed=1)["metadata"]["simulator"] == "template"
    assert script.asked == 0


def test_an_episode_that_waits_holds_no_other_up(told: Any, script: Script) -> None:
    for name in ("slow", "quick"):
        told.reset(env_id="CART", seed=1, episode_id=name)
    script.seconds = 0.3

    async def together() -> tuple[list[str], float]:
        service, loop = told.service, asyncio.get_running_loop()
        slow = asyncio.create_task(service.step(await service.record("slow"), ASK))
        await asyncio.sleep(0.05)
        started = loop.time()
        for _ in range(3):
            await service.step(await service.record("quick"), VIEW)
        quick = loop.time() - started
        assert not slow.done()
        record = await service.record("slow")
        after = await asyncio.gather(service.step(record, VIEW), service.state(record))
        return [await slow, *after], quick

    (slow, view, state), quick = told._runner.run(together())
    assert quick == 0.0
    assert '"turn":1' in slow
    assert '"turn":2' in view
    assert "Turn 1: " in state


def test_a_repeated_request_is_worded_once(told: Any, script: Script) -> None:
    told.reset(env_id="CART", seed=1, episode_id="E")
    script.seconds, script.asked = 0.1, 0
    body = {"episode_id": "E", "action": ASK, "request_id": "r"}
    first, second = told.together(("POST", "/step", body), ("POST", "/step", body))
    assert first.content == second.content
    assert script.asked == 1
    assert told.step("E", ASK, request_id="r").content == first.content


def test_deleted_while_it_was_worded(told: Any, script: Script) -> None:
    told.reset(env_id="CART", seed=1, episode_id="E", run_id="run")
    script.seconds = 0.1
    body = {"episode_id": "E", "action": ASK}
    stepped, deleted = told.together(("POST", "/step", body), ("DELETE", "/episodes/E", None))
    assert deleted.status_code == 204
    assert (stepped.status_code, stepped.json()["error"]["code"]) == (404, "UNKNOWN_EPISODE")
    assert told.service.sessions.active == 0
    script.seconds = 0.0
    assert told.reset(env_id="CART", seed=1, episode_id="E")


def test_replaced_while_its_last_words_were_chosen(told: Any, script: Script) -> None:
    told.reset(env_id="CART", seed=1, episode_id="E")
    script.seconds = 0.05
    last = ("POST", "/step", {"episode_id": "E", "action": DONE})
    ended, new = told.together(last, ("POST", "/reset", {"env_id": "CART", "seed": 2, "episode_id": "E"}))
    assert ended.json()["done"]
    assert new.json()["metadata"]["seed"] == 2
    assert told.service.sessions.active == 1
    assert not told.state("E")["done"]


def test_without_words_the_episode_ends_as_nobodys_fault(told: Any, script: Script, shop: Shop) -> None:
    told.reset(env_id="CART", episode_id="E", run_id="run", seed=3)
    told.step("E", ASK)
    script.fault = EndpointUnreachableError("gone")
    answer = told.step("E", DONE).json()
    assert (answer["reward"], answer["done"]) == (None, True)
    assert answer["observation"]["infra_error"]
    assert "result" not in answer["observation"]
    assert told.service.sessions.active == 0
    assert told.call("GET", "/curriculum/run").json()["counted"] == 0
    assert told.step("E", DONE).json()["error"]["code"] == "EPISODE_DONE"
    assert sample(told, "ecom_rlve_infra_errors_total") == 1
    assert sample(told, 'ecom_rlve_endings_total{env="CART",reason="infra_error",run="run"}') == 1
    replay(Trace.load(told.call("GET", "/episodes/E/trace").text), shop)


def test_without_words_there_is_no_reset(told: Any, script: Script) -> None:
    group = {"env_id": "CART", "group_id": "g"}
    first = told.reset(**group)["metadata"]
    script.fault = EndpointUnreachableError("gone")
    for _ in range(3):
        answer = told.call("POST", "/reset", json=group)
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "SIMULATOR_UNAVAILABLE")
        assert answer.headers["Retry-After"]
    assert told.service.sessions.active == 1
    script.fault = None
    # A reset that failed is no member.
    assert told.reset(**group)["metadata"] == {**first, "group_member": 2}


def test_a_fault_of_the_voice_undoes_the_step(told: Any, script: Script) -> None:
    for name in ("E", "clean"):
        told.reset(env_id="CART", seed=1, episode_id=name)
        told.step(name, ASK)
    before = told.state("E")
    script.fault = RuntimeError("a bug")
    assert told.step("E", ASK, request_id="r").status_code == 500
    assert told.state("E") == before
    script.fault = None
    again, clean = told.step("E", ASK, request_id="r").json(), told.step("clean", ASK).json()
    assert again["observation"] | {"episode_id": "clean"} == clean["observation"]


def test_a_cancelled_request_undoes_the_step(told: Any, script: Script) -> None:
    told.reset(env_id="CART", seed=1, episode_id="E")
    before = told.state("E")
    script.seconds = 5.0

    async def given_up() -> None:
        service = told.service
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(service.step(await service.record("E"), ASK, "r"), 0.05)

    told._runner.run(given_up())
    script.seconds = 0.0
    assert told.state("E") == before
    assert told.step("E", ASK, request_id="r").json()["observation"]["turn"] == 1


@pytest.mark.parametrize("is_worded", [False, True])
def test_an_ended_episode_leaves_a_trace(api: Callable[..., Any], script: Script, shop: Shop, is_worded: bool) -> None:
    http = api(voice=script) if is_worded else api(reveal_goal=True)
    sent = [http.reset(env_id="CART", seed=4, episode_id="a/b c")["observation"]]
    early = http.call("GET", "/episodes/a%2Fb%20c/trace")
    assert (early.status_code, early.json()["error"]["code"]) == (409, "EPISODE_LIVE")
    sent += [http.step("a/b c", action).json()["observation"] for action in (ASK, VIEW, DONE)]
    answer = http.call("GET", "/episodes/a%2Fb%20c/trace")
    assert answer.headers["content-type"].startswith("application/x-ndjson")
    trace = Trace.load(answer.text)
    replay(trace, shop)
    assert [trace.result is not None, len(trace.actions)] == [True, 3]
    assert [json.loads(text) for text in trace.observations] == sent
    assert bool(trace.spoken) == is_worded
    assert http.call("GET", "/episodes/nobody/trace").status_code == 404


def test_metrics_tell_what_happened(told: Any) -> None:
    told.reset(env_id="CART", seed=1, episode_id="E")
    told.step("E", ASK)
    answer = told.call("GET", "/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=")
    assert sample(told, 'ecom_rlve_wordings_total{outcome="accepted"}') == 2
    assert sample(told, "ecom_rlve_live_sessions") == 1
    told.step("E", DONE)
    assert sample(told, "ecom_rlve_live_sessions") == 0
    assert sample(told, "ecom_rlve_readable_episodes") == 1
