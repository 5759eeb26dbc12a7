"""Both clients over a line that fails: nothing is applied twice, and every failure is typed."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from ecom_rlve.client import (
    AsyncEcomEnv,
    EcomEnv,
    EpisodeDoneError,
    EpisodeLostError,
    InfrastructureError,
    InvalidRequestError,
    NotResetError,
    ServerUnavailableError,
    UnauthorizedError,
    UnexpectedAnswerError,
)

SAY = {"assistant_message": "Hello"}


Fault = Callable[[httpx.Request], Exception | httpx.Response]


class FlakyServer:
    """Episodes that count their steps and end at ``last_step``; it remembers request ids, as the real server does.

    ``before`` holds faults met before a request is carried out, ``after`` those met by the answer on its way back;
    each is used once, None lets one request through.
    """

    def __init__(self) -> None:
        self.before: list[Fault | None] = []
        self.after: list[Fault | None] = []
        self.seen: list[httpx.Request] = []
        self.answers: dict[str, tuple[bytes, dict[str, Any]]] = {}
        self.steps: dict[str, int] = {}
        self.deleted: list[str] = []
        self.last_step = 3
        self.final_reward: float | None = 0.5

    def transport(self) -> httpx.MockTransport:
        """Return a transport, sync and async, that leads here."""
        return httpx.MockTransport(self.handle)

    def bodies(self, path: str) -> list[dict[str, Any]]:
        """Return the JSON bodies that came to ``path``."""
        return [json.loads(request.content) for request in self.seen if request.url.path == path]

    def handle(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        self.seen.append(request)
        early = meet(self.before, request)
        if early is not None:
            return early
        response = self._carry_out(request)
        return meet(self.after, request) or response

    def _carry_out(self, request: httpx.Request) -> httpx.Response:
        verb = request.url.path.rsplit("/", 1)[-1]
        if request.method == "DELETE":
            self.deleted.append(verb)
            return httpx.Response(204)
        if verb == "state":
            return self._state(request.url.params["episode_id"])
        if verb == "finish" and request.url.path.split("/")[-2] in self.steps:
            self.last_step = 0
        body = json.loads(request.content)
        known = self.answers.get(body["request_id"])
        if known is not None:
            if known[0] != request.content:
                return refusal(409, "REQUEST_CONFLICT")
            return httpx.Response(200, json=known[1])
        if verb == "reset":
            episode_id = body.get("episode_id") or f"e{len(self.steps)}"
            self.steps[episode_id] = 0
        else:
            episode_id = body.get("episode_id") or request.url.path.split("/")[-2]
            if episode_id not in self.steps:
                return refusal(404, "UNKNOWN_EPISODE")
            self.steps[episode_id] += 1
        answer = self._answer(episode_id, is_reset=verb == "reset")
        self.answers[body["request_id"]] = request.content, answer
        return httpx.Response(200, json=answer)

    def _answer(self, episode_id: str, *, is_reset: bool) -> dict[str, Any]:
        step = self.steps[episode_id]
        done = step >= self.last_step
        reward = None if is_reset else self.final_reward if done else 0.0
        observation = {
            "episode_id": episode_id,
            "turn": step,
            "turns_left": self.last_step - step,
            "tool_calls_left": 2,
            "user_message": "" if step else "A red mug, please.",
            "tool_results": [],
            "done": done,
            "reward": reward,
        }
        return {"observation": observation, "reward": reward, "done": done, "metadata": METADATA}

    def _state(self, episode_id: str) -> httpx.Response:
        if episode_id not in self.steps:
            return refusal(404, "UNKNOWN_EPISODE")
        fields = {key: METADATA[key] for key in ("env_id", "difficulty", "seed", "split", "style")}
        step = self.steps[episode_id]
        return httpx.Response(
            200,
            json={"episode_id": episode_id, "step_count": step, "turn": step, "done": False, "messages": [], **fields},
        )


def meet(faults: list[Fault | None], request: httpx.Request) -> httpx.Response | None:
    """Meet the next fault, if there is one: an exception is raised, an answer returned."""
    fault = faults.pop(0) if faults else None
    met = fault(request) if fault is not None else None
    if isinstance(met, Exception):
        raise met
    return met


METADATA: dict[str, Any] = {
    "env_id": "CART",
    "difficulty": 0,
    "seed": 1,
    "split": "train",
    "style": "turn",
    "axes": {},
    "version": "1",
    "catalog": "c",
}


def refusal(status: int, code: str, **headers: str) -> httpx.Response:
    """Return an error answer of the server."""
    return httpx.Response(status, json={"error": {"code": code, "message": f"said {code}"}}, headers=headers)


@pytest.fixture
def flaky() -> FlakyServer:
    """Return a server whose line fails on demand."""
    return FlakyServer()


def lose(request: httpx.Request) -> Exception:
    return httpx.ReadError("connection reset", request=request)


def refuse(request: httpx.Request) -> Exception:
    return httpx.ConnectError("refused", request=request)


def bad_gateway(_request: httpx.Request) -> httpx.Response:
    return httpx.Response(502, text="bad gateway")


def full(_request: httpx.Request) -> httpx.Response:
    error = {"code": "CAPACITY_REACHED", "message": "full"}
    return httpx.Response(503, json={"error": error}, headers={"Retry-After": "0"})


def who_are_you(_request: httpx.Request) -> httpx.Response:
    return httpx.Response(401, text="who are you")


def time_out(request: httpx.Request) -> Exception:
    return httpx.ReadTimeout("slow", request=request)


class InLoop:
    """The async client, called from sync tests: each verb runs to its end in one loop."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._runner = asyncio.Runner()
        self._env = AsyncEcomEnv(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._env, name)
        if not callable(value):
            return value
        return lambda *args, **kwargs: self._runner.run(value(*args, **kwargs))

    def stop(self) -> None:
        self._runner.close()


@pytest.fixture(params=["sync", "async"])
def make_env(request: pytest.FixtureRequest, flaky: FlakyServer) -> Iterator[Any]:
    """Return a maker of clients, of both kinds in turn, that lead to ``flaky``."""
    made: list[Any] = []

    def make(**options: Any) -> Any:
        client = EcomEnv if request.param == "sync" else InLoop
        made.append(client("http://server", transport=flaky.transport(), **options))
        return made[-1]

    yield make
    for env in made:
        env.close()
        if isinstance(env, InLoop):
            env.stop()


def test_an_episode(make_env: Any, flaky: FlakyServer) -> None:
    env = make_env()
    result = env.reset(env_id="CART", seed=1, prompt="a column of the trainer's")
    assert (result.reward, result.done, result.metadata.env_id) == (None, False, "CART")
    assert "A red mug, please." in result.text
    rewards = []
    while not result.done:
        result = env.step(SAY)
        rewards.append(result.reward)
    assert rewards == [0.0, 0.0, 0.5]
    assert flaky.bodies("/reset")[0]["prompt"] == "a column of the trainer's"
    assert env.state().step_count == 3
    with pytest.raises(EpisodeDoneError):
        env.step(SAY)
    env.close()
    assert flaky.deleted == []


def test_nothing_is_sent_before_the_first_call(make_env: Any, flaky: FlakyServer) -> None:
    env = make_env()
    for call in (lambda: env.step(SAY), env.state):
        with pytest.raises(NotResetError):
            call()
    env.close()
    env.close()
    assert flaky.seen == []
    assert env.episode_id is None


def test_routes_of_one_environment_and_the_token(make_env: Any, flaky: FlakyServer) -> None:
    env = make_env(env="cart", token="secret")
    env.reset()
    env.step("raw text")
    env.state()
    env.close()
    paths = [request.url.path for request in flaky.seen]
    assert paths == ["/envs/cart/reset", "/envs/cart/step", "/envs/cart/state", "/episodes/e0"]
    assert {request.headers["authorization"] for request in flaky.seen} == {"Bearer secret"}
    assert flaky.bodies("/envs/cart/step")[0]["action"] == {"text": "raw text"}


@pytest.mark.parametrize("faults", [[lose], [time_out], [bad_gateway, lose]])
def test_a_lost_answer_is_fetched_again_and_the_step_applied_once(
    make_env: Any, flaky: FlakyServer, faults: list[Any]
) -> None:
    env = make_env()
    env.reset()
    flaky.after = list(faults)
    result = env.step(SAY)
    assert result.observation.turn == 1
    assert flaky.steps == {"e0": 1}
    sent = [request.content for request in flaky.seen if request.url.path == "/step"]
    assert len(sent) == len(faults) + 1
    assert len(set(sent)) == 1


def test_a_lost_reset_makes_one_episode(make_env: Any, flaky: FlakyServer) -> None:
    env = make_env()
    flaky.before = [refuse, None]
    flaky.after = [lose]
    assert env.reset().observation.episode_id == "e0"
    assert flaky.steps == {"e0": 0}


def test_every_call_has_its_own_request_id(make_env: Any, flaky: FlakyServer) -> None:
    env = make_env()
    env.reset()
    env.step(SAY)
    env.step(SAY)
    ids = [body["request_id"] for path in ("/reset", "/step") for body in flaky.bodies(path)]
    assert len(set(ids)) == 3
    env.reset(request_id="mine")
    assert flaky.bodies("/reset")[-1]["request_id"] == "mine"


def test_a_step_given_up_is_taken_up_by_the_same_action(make_env: Any, flaky: FlakyServer) -> None:
    env = make_env(retry_for=0)
    env.reset()
    flaky.after = [lose]
    with pytest.raises(ServerUnavailableError, match="connection reset"):
        env.step(SAY)
    assert env.step(SAY).observation.turn == 1
    assert env.step(SAY).observation.turn == 2
    assert flaky.steps == {"e0": 2}


def test_after_a_step_given_up_another_action_is_what_is_sent(make_env: Any, flaky: FlakyServer) -> None:
    """An unanswered step may have been applied or not; what is asked for now is a step of its own."""
    other = {"assistant_message": "Which colour?"}
    for is_applied in (False, True):
        env = make_env(retry_for=0)
        env.reset(episode_id=f"applied {is_applied}")
        flaky.seen.clear()
        (flaky.after if is_applied else flaky.before)[:] = [lose]
        with pytest.raises(ServerUnavailableError):
            env.step(SAY)
        assert env.step(other).observation.turn == 1 + is_applied
        sent = flaky.bodies("/step")
        assert [body["action"] for body in sent] == [SAY, other]
        assert sent[0]["request_id"] != sent[1]["request_id"]
        # The first is forgotten: sent once more, it is a new step too.
        assert env.step(SAY).observation.turn == 2 + is_applied


def test_after_a_step_given_up_a_finish_and_a_reset_are_themselves(make_env: Any, flaky: FlakyServer) -> None:
    env = make_env(retry_for=0)
    env.reset()
    for verb in ("reset", "finish"):
        flaky.before = [lose]
        with pytest.raises(ServerUnavailableError):
            env.step(SAY)
        assert getattr(env, verb)().done == (verb == "finish")
    assert flaky.steps == {"e0": 0, "e1": 1}, "the finish"


def test_a_refused_step_is_not_pending_any_more(make_env: Any, flaky: FlakyServer) -> None:
    env = make_env()
    env.reset()
    flaky.before = [who_are_you]
    with pytest.raises(UnauthorizedError):
        env.step(SAY)
    env.step(SAY)
    first, second = flaky.bodies("/step")
    assert first["request_id"] != second["request_id"]


def test_a_full_server_is_asked_again_after_the_time_it_names(make_env: Any, flaky: FlakyServer) -> None:
    env = make_env()
    flaky.before = [full]
    env.reset()
    assert len(flaky.bodies("/reset")) == 2


def test_a_live_episode_is_given_up_by_close_and_by_the_next_reset(make_env: Any, flaky: FlakyServer) -> None:
    env = make_env()
    env.reset(episode_id="a/b")
    env.reset()
    assert flaky.seen[1].url.raw_path == b"/episodes/a%2Fb"
    flaky.before = [lose]
    env.close()
    assert flaky.seen[-1].method == "DELETE"
    env.reset()
    assert env.episode_id == "e2"


def test_arguments_that_cannot_be_sent_do_not_cost_the_episode(make_env: Any, flaky: FlakyServer) -> None:
    env = make_env()
    env.reset()
    calls: list[Callable[[], Any]] = [
        lambda: env.reset(x=object()),
        lambda: env.step({"answer": object()}),
        lambda: env.step(3),
    ]
    for call in calls:
        with pytest.raises(InvalidRequestError):
            call()
    assert env.step(SAY).observation.turn == 1
    assert flaky.deleted == []


def test_refusals_are_typed_and_not_repeated(make_env: Any, flaky: FlakyServer) -> None:
    env = make_env()
    env.reset()
    flaky.before = [who_are_you]
    with pytest.raises(UnauthorizedError):
        env.step(SAY)
    flaky.steps.clear()
    with pytest.raises(EpisodeLostError):
        env.step(SAY)
    assert len(flaky.bodies("/step")) == 2


@pytest.mark.parametrize("verb", ["step", "finish", "state"])
def test_an_episode_that_the_server_lost_is_an_infrastructure_failure(
    make_env: Any, flaky: FlakyServer, verb: str
) -> None:
    """A restarted server knows no episode: that is nobody's fault in it, and nothing to be scored."""
    env = make_env()
    env.reset()
    flaky.steps.clear()
    with pytest.raises(InfrastructureError, match="UNKNOWN_EPISODE") as caught:
        env.step(SAY) if verb == "step" else getattr(env, verb)()
    assert type(caught.value) is EpisodeLostError
    env.reset()
    assert flaky.deleted == [], "what is lost is not given up again"
    assert env.step(SAY).observation.turn == 1


def test_a_finished_episode_has_a_result_and_is_finished_once(make_env: Any, flaky: FlakyServer) -> None:
    env = make_env(env="cart", retry_for=0)
    with pytest.raises(NotResetError):
        env.finish()
    env.reset()
    flaky.after = [lose]
    with pytest.raises(ServerUnavailableError):
        env.finish()
    result = env.finish()
    assert (result.done, result.reward) == (True, 0.5)
    sent = [request for request in flaky.seen if request.url.path.endswith("/finish")]
    assert {request.url.path for request in sent} == {"/episodes/e0/finish"}
    assert len({request.content for request in sent}) == 1 < len(sent)
    with pytest.raises(EpisodeDoneError):
        env.finish()
    env.close()
    assert flaky.deleted == []


def test_an_answer_that_cannot_be_read_is_fetched_again_and_the_step_taken_once(
    make_env: Any, flaky: FlakyServer
) -> None:
    env = make_env()
    env.reset()
    flaky.after = [lambda _: httpx.Response(200, text="<html>Welcome</html>")]
    with pytest.raises(UnexpectedAnswerError):
        env.step(SAY)
    assert env.step(SAY).observation.turn == 1
    assert flaky.steps == {"e0": 1}
    first, second = flaky.bodies("/step")
    assert first == second, "the same request id"
    assert env.step(SAY).observation.turn == 2, "what was read is not pending any more"


@pytest.mark.parametrize(
    "unreadable",
    [
        httpx.Response(200, text="<html>Welcome</html>"),
        httpx.Response(200, json={"observation": {}}),
        httpx.Response(404, text="nothing here"),
        httpx.Response(302, text="elsewhere"),
    ],
)
def test_whatever_cannot_be_read_keeps_the_step_pending(
    make_env: Any, flaky: FlakyServer, unreadable: httpx.Response
) -> None:
    env = make_env(retry_for=0)
    env.reset()
    for turn in (1, 2):
        flaky.after = [lambda _: httpx.Response(unreadable.status_code, content=unreadable.content)]
        with pytest.raises(UnexpectedAnswerError):
            env.step(SAY)
        assert env.step(SAY).observation.turn == turn
    assert flaky.steps == {"e0": 2}


def test_an_end_without_reward_is_no_result(make_env: Any, flaky: FlakyServer) -> None:
    flaky.last_step, flaky.final_reward = 1, None
    env = make_env()
    env.reset()
    with pytest.raises(InfrastructureError):
        env.step(SAY)
    with pytest.raises(EpisodeDoneError):
        env.step(SAY)


@pytest.mark.parametrize("url", ["", "server:8000", "ftp://server", "http://"])
def test_a_wrong_address_is_refused_at_once(url: str) -> None:
    for client in (EcomEnv, AsyncEcomEnv):
        with pytest.raises(ValueError, match="base_url"):
            client(url)


def test_an_address_may_have_a_path(flaky: FlakyServer) -> None:
    with EcomEnv("http://server/shop/", transport=flaky.transport()) as env:
        env.reset()
    assert [request.url.path for request in flaky.seen] == ["/shop/reset", "/shop/episodes/e0"]


def test_threads_take_turns(flaky: FlakyServer) -> None:
    flaky.last_step = 100
    with EcomEnv("http://server", transport=flaky.transport()) as env:
        env.reset()
        turns: list[int] = []
        threads = [
            threading.Thread(target=lambda: turns.extend(env.step(SAY).observation.turn for _ in range(5)))
            for _ in range(8)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(turns) == list(range(1, 41))


def test_a_cancelled_step_leaves_the_client_usable(flaky: FlakyServer, hurried: asyncio.Runner) -> None:
    stuck = asyncio.Event()

    async def handler(request: httpx.Request) -> httpx.Response:
        response = flaky.handle(request)
        if request.url.path == "/step" and len(flaky.bodies("/step")) == 1:
            await stuck.wait()
        return response

    async def play() -> list[int]:
        async with AsyncEcomEnv("http://server", transport=httpx.MockTransport(handler)) as env:
            await env.reset()
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(env.step(SAY), 0.05)
            return [(await env.step(SAY)).observation.turn, (await env.step(SAY)).observation.turn]

    assert hurried.run(play()) == [1, 2]


def test_a_client_moves_to_another_loop(flaky: FlakyServer) -> None:
    env = AsyncEcomEnv("http://server", transport=flaky.transport())
    asyncio.run(env.reset())
    assert asyncio.run(env.step(SAY)).observation.turn == 1
    asyncio.run(env.close())
    assert flaky.deleted == ["e0"]


class Transport(httpx.MockTransport):
    """A network of the caller's own that knows whether it was closed."""

    closed = False

    def close(self) -> None:
        self.closed = True

    async def aclose(self) -> None:
        self.closed = True


def test_a_transport_of_the_caller_is_closed_with_the_env(flaky: FlakyServer) -> None:
    transport, other = Transport(flaky.handle), Transport(flaky.handle)
    env = EcomEnv("http://server", transport=transport)
    env.reset()
    assert not transport.closed
    env.close()
    assert transport.closed

    async def play() -> list[bool]:
        env = AsyncEcomEnv("http://server", transport=other)
        await env.reset()
        before = other.closed
        await env.close()
        return [before, other.closed]

    assert asyncio.run(play()) == [False, True]
