"""Lines of the log: as text, as JSON, and what never stands in them."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.server.operations.logs import Event, JsonFormatter
from ecom_rlve.server.operations.notes import short_form

SECRET = "capability-of-an-episode"


def record(message: Any, **more: Any) -> logging.LogRecord:
    """Return what a logger would hand on."""
    return logging.LogRecord("ecom_rlve.server", logging.INFO, "file", 1, message, None, more.get("exc_info"))


@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), st.text() | st.integers()))
def test_an_event_is_one_line_in_either_form(fields: dict[str, Any]) -> None:
    event = Event("happened", **{name: value for name, value in fields.items() if name != "name"})
    told = json.loads(JsonFormatter().format(record(event)))
    assert {name: told[name] for name in event.fields if name not in ("time", "level", "logger", "event")} == {
        name: value for name, value in event.fields.items() if name not in ("time", "level", "logger", "event")
    }
    assert str(event).splitlines() == [str(event)]


def test_a_line_of_a_library_is_json_too() -> None:
    told = json.loads(JsonFormatter().format(record("it %s")))
    assert (told["event"], told["level"], told["logger"]) == ("it %s", "INFO", "ecom_rlve.server")
    try:
        raise ValueError("why")
    except ValueError as error:
        failure = (type(error), error, error.__traceback__)
    assert "ValueError: why" in json.loads(JsonFormatter().format(record("x", exc_info=failure)))["exception"]


def test_access_lines_hold_routes_and_short_forms(api: Any, caplog: pytest.LogCaptureFixture) -> None:
    http = api(access_log=True)
    with caplog.at_level(logging.INFO, "ecom_rlve.server"):
        http.reset(env_id="CART", episode_id=SECRET)
        http.step(SECRET, {}, request_id="r-1")
        http.call("GET", f"/state?episode_id={SECRET}")
        http.call("POST", f"/episodes/{SECRET}/finish")
        http.call("GET", f"/nowhere/{SECRET}?episode_id={SECRET}")
        http.call("GET", f"/episodes/{SECRET}-unknown/trace")
    lines = [each.getMessage() for each in caplog.records]
    assert SECRET not in " ".join(lines)
    episode = f"episode={short_form(SECRET)}"
    assert [(episode in line, line.split()[1:4]) for line in lines] == [
        (True, ["method=POST", "route=/reset", "status=200"]),
        (True, ["method=POST", "route=/step", "status=200"]),
        (True, ["method=GET", "route=/state", "status=200"]),
        (True, ["method=POST", "route=/episodes/{episode_id}/finish", "status=200"]),
        (False, ["method=GET", "route=none", "status=404"]),
        (False, ["method=GET", "route=/episodes/{episode_id}/trace", "status=404"]),
    ]
    assert f"request={short_form('r-1')}" in lines[1]
    assert lines[-1].endswith("code=UNKNOWN_EPISODE")


def test_a_fault_of_ours_names_the_episode_by_its_short_form(
    http: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    http.reset(env_id="CART", episode_id=SECRET)

    def break_(*_: Any) -> None:
        raise KeyError(SECRET)

    monkeypatch.setattr(http.service._steps, "_apply", break_)
    with caplog.at_level(logging.ERROR, "ecom_rlve"):
        assert http.step(SECRET, {}).status_code == 500
    (line,) = [each.getMessage() for each in caplog.records]
    assert f"episode={short_form(SECRET)}" in line
    assert SECRET not in line
