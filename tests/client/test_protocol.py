"""The pure half of the client: retries, errors, what is sent."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.client import (
    CapacityError,
    EcomEnvError,
    EpisodeLostError,
    InfrastructureError,
    InvalidRequestError,
    ServerUnavailableError,
    UnauthorizedError,
    UnexpectedAnswerError,
)
from ecom_rlve.client import errors as client_errors
from ecom_rlve.client.answers import ERROR_CLASSES, failure_of, parse
from ecom_rlve.client.protocol import (
    FIRST_WAIT_S,
    LONGEST_WAIT_S,
    Outcome,
    Request,
    action_fields,
    backoff,
    encode,
    exchange,
    retry_after,
)
from ecom_rlve.models import Action, EpisodeState, ErrorCode, ToolCall

REQUEST = Request("POST", "/step", "id", b"{}")
LOST = httpx.ReadError("lost", request=httpx.Request("POST", "http://s/step"))


def answer(status: int, content: bytes = b"{}", **headers: str) -> httpx.Response:
    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return httpx.Response(status, content=content, headers=named, request=httpx.Request("POST", "http://s/step"))


def error(status: int, code: str, **headers: str) -> httpx.Response:
    return answer(status, json.dumps({"error": {"code": code, "message": "m"}}).encode(), **headers)


def run(replies: Sequence[httpx.Response | httpx.RequestError], retry_for: float = 60) -> tuple[bytes, list[Request]]:
    """Play replies, each of which takes a second, on a clock that the waits move."""
    operation = exchange(REQUEST, retry_for)
    sent, now, left = [next(operation)], 0.0, list(replies)
    try:
        while True:
            started = now + sent[-1].after_s
            now = started + 1
            sent.append(operation.send(Outcome(started, now, left.pop(0))))
    except StopIteration as stop:
        return stop.value, sent


def test_a_lost_answer_and_a_busy_gateway_are_asked_again_with_the_same_bytes() -> None:
    content, sent = run([LOST, answer(502), answer(503), answer(504, b"<html>"), answer(200, b"yes")])
    assert content == b"yes"
    assert len(sent) == 5
    assert {(request.method, request.path, request.content) for request in sent} == {("POST", "/step", b"{}")}
    assert sent[0].after_s == 0
    assert all(request.after_s > 0 for request in sent[1:])


@pytest.mark.parametrize("status", [400, 401, 404, 409, 413, 422, 429, 500])
def test_other_failures_are_not_retried(status: int) -> None:
    operation = exchange(REQUEST, 60)
    next(operation)
    with pytest.raises(EcomEnvError):
        operation.send(Outcome(0, 1, answer(status)))


def test_retrying_stops_at_the_deadline() -> None:
    now, tries = 0.0, 0
    operation = exchange(REQUEST, 20)
    request = next(operation)

    def fail_on() -> None:
        nonlocal now, tries, request
        while True:
            started = now + request.after_s
            now, tries = started + 1, tries + 1
            request = operation.send(Outcome(started, now, LOST))

    with pytest.raises(ServerUnavailableError, match="lost"):
        fail_on()
    assert 12 < now <= 21
    assert 3 <= tries < 20


def test_no_retry_when_none_is_wanted() -> None:
    with pytest.raises(ServerUnavailableError):
        run([LOST], retry_for=0)


def test_retry_after_is_honoured_and_ends_the_trying_where_it_is_too_long() -> None:
    _, sent = run([error(503, "CAPACITY_REACHED", Retry_After="7"), answer(200)])
    assert sent[1].after_s == 7
    with pytest.raises(CapacityError) as caught:
        run([error(503, "CAPACITY_REACHED", Retry_After="3600")])
    assert caught.value.code is ErrorCode.CAPACITY_REACHED


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, 0),
        ({"Retry_After": "5"}, 5),
        ({"Retry_After": "-5"}, 0),
        ({"Retry_After": "nan"}, 0),
        ({"Retry_After": "٣"}, 0),
        ({"Retry_After": "Sun, 06 Nov 1994 08:49:37 GMT"}, 0),
        ({"Retry_After": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:49:30 GMT"}, 7),
        ({"Retry_After": "Sun, 06 Nov 1994 08:49:30 GMT", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"}, 0),
        ({"Retry_After": "Sun, 06 Nov 1994 08:49:30", "Date": "Sun, 06 Nov 1994 08:49:37 GMT"}, 0),
    ],
)
def test_retry_after_is_read(headers: dict[str, str], seconds: float) -> None:
    assert retry_after(answer(503, b"", **headers)) == seconds
    assert retry_after(LOST) == 0


@given(st.text(max_size=20), st.integers(0, 10_000))
def test_backoff_doubles_up_to_a_cap_and_is_spread(request_id: str, attempt: int) -> None:
    full = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** min(attempt, 30))
    assert full / 2 <= backoff(request_id, attempt) <= full
    assert backoff(request_id, attempt) == backoff(request_id, attempt)


def test_each_wait_is_as_long_as_the_one_before_at_least_and_the_tenth_sixteen_times_the_first() -> None:
    for number in range(20):
        waits = [backoff(f"id{number}", attempt) for attempt in range(10)]
        doubling = waits[: 1 + round(math.log2(LONGEST_WAIT_S / FIRST_WAIT_S))]
        assert len(doubling) == 6
        assert doubling == sorted(doubling)
        assert waits[9] > 8 * waits[0]
        assert all(LONGEST_WAIT_S / 2 <= wait <= LONGEST_WAIT_S for wait in waits[5:])


def test_the_waits_between_the_tries_grow() -> None:
    _, sent = run([LOST] * 5 + [answer(200)])
    waits = [request.after_s for request in sent]
    assert waits == [0, *(backoff("id", attempt) for attempt in range(5))]
    assert waits == sorted(waits)
    assert waits[-1] > 4 * waits[1]


def test_clients_refused_together_do_not_come_back_together() -> None:
    assert len({round(backoff(f"id{n}", 5), 2) for n in range(100)}) > 50


def test_every_code_has_a_class_and_every_class_is_exported() -> None:
    assert set(ERROR_CLASSES) == set(ErrorCode)
    defined = {name for name, value in vars(client_errors).items() if isinstance(value, type) and name != "ErrorCode"}
    import ecom_rlve.client

    assert {name for name in defined if name.endswith("Error")} <= set(ecom_rlve.client.__all__)
    assert list(ecom_rlve.client.__all__) == sorted(ecom_rlve.client.__all__)


@pytest.mark.parametrize("code", list(ErrorCode))
def test_error_answers_become_typed_errors(code: ErrorCode) -> None:
    fields = [{"loc": ["action"], "msg": "missing", "type": "missing"}]
    content = json.dumps({"error": {"code": code, "message": "what to do", "errors": fields}}).encode()
    failure = failure_of(answer(422, content))
    assert type(failure) is ERROR_CLASSES[code]
    assert failure is not None
    assert (failure.code, failure.message, failure.errors) == (code, "what to do", fields)
    assert str(failure) == f"{code}: what to do"


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (401, UnauthorizedError),
        (403, UnauthorizedError),
        (407, UnauthorizedError),
        (408, UnexpectedAnswerError),
        (404, UnexpectedAnswerError),
        (422, UnexpectedAnswerError),
        (500, InfrastructureError),
        (503, ServerUnavailableError),
        (302, UnexpectedAnswerError),
    ],
)
@pytest.mark.parametrize("content", [b"", b"<html>Sorry</html>", b'{"detail": "no"}', b'{"error": {"code": "NEW"}}'])
def test_answers_of_something_else_are_told_apart(status: int, expected: type, content: bytes) -> None:
    failure = failure_of(answer(status, content))
    assert type(failure) is expected
    assert failure is not None
    assert failure.code is None
    assert "http://s/step" in failure.message


def test_what_cannot_be_sent_is_the_callers_fault() -> None:
    error = httpx.LocalProtocolError("bad header", request=httpx.Request("GET", "http://s"))
    assert isinstance(failure_of(error), InvalidRequestError)
    with pytest.raises(InvalidRequestError):
        run([error])


@pytest.mark.parametrize("content", [b"", b"hello", b"[]", b'{"episode_id": "e"}'])
def test_a_good_status_with_another_body_is_unexpected(content: bytes) -> None:
    with pytest.raises(UnexpectedAnswerError, match="EpisodeState"):
        parse(EpisodeState, content)


def test_errors_can_be_pickled() -> None:
    import pickle

    failure = EpisodeLostError("gone", ErrorCode.UNKNOWN_EPISODE, [{"loc": []}])
    copy = pickle.loads(pickle.dumps(failure))
    assert (type(copy), copy.code, copy.message, copy.errors) == (
        EpisodeLostError,
        ErrorCode.UNKNOWN_EPISODE,
        "gone",
        [{"loc": []}],
    )
    named = pickle.loads(pickle.dumps(EpisodeLostError("gone", errors=[{"loc": ["a"]}])))
    assert (named.code, named.message, named.errors) == (None, "gone", [{"loc": ["a"]}])
    assert repr(named) == "EpisodeLostError('gone', None, [{'loc': ['a']}])"


@pytest.mark.parametrize(
    ("action", "fields"),
    [
        ("<think>x</think>{}", {"text": "<think>x</think>{}"}),
        ({"assistant_message": "hi", "new": 1}, {"assistant_message": "hi", "new": 1}),
        (Action(), {"assistant_message": ""}),
        (Action(text=""), {"text": ""}),
        (
            Action(assistant_message="hi", tool_calls=[ToolCall(name="t", args={"a": None})], end_turn=False),
            {"assistant_message": "hi", "tool_calls": [{"name": "t", "args": {"a": None}}], "end_turn": False},
        ),
        (Action(answer={"done": True}), {"assistant_message": "", "answer": {"done": True}}),
    ],
)
def test_actions_take_three_forms(action: Any, fields: dict[str, Any]) -> None:
    assert action_fields(action) == fields


@pytest.mark.parametrize("action", [None, 3, [], b"{}"])
def test_other_actions_are_refused(action: Any) -> None:
    with pytest.raises(InvalidRequestError, match="mapping"):
        action_fields(action)


def test_numbers_of_numpy_are_sent_as_plain_ones() -> None:
    numpy = pytest.importorskip("numpy")
    assert json.loads(encode({"seed": numpy.int64(3), "row": numpy.arange(2)})) == {"seed": 3, "row": [0, 1]}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {1, 2}])
def test_what_is_not_json_is_refused(value: object) -> None:
    with pytest.raises(InvalidRequestError):
        encode({"x": value})


@given(st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text() | st.lists(st.text())))
def test_encoding_keeps_json(fields: dict[str, Any]) -> None:
    assert json.loads(encode(fields)) == fields
