"""The error table: complete, closed, and silent about what was sent."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from ecom_rlve.envs.errors import EnvsError
from ecom_rlve.models import ErrorCode, ErrorResponse, ResetRequest, StepRequest
from ecom_rlve.server.errors import TABLE, CapacityError, EpisodeExistsError, ServerError, translate

OPENENV_CODES = {
    ErrorCode.INVALID_JSON,
    ErrorCode.UNKNOWN_TYPE,
    ErrorCode.VALIDATION_ERROR,
    ErrorCode.EXECUTION_ERROR,
    ErrorCode.CAPACITY_REACHED,
    ErrorCode.SESSION_ERROR,
}


def _leaves(kind: type[Exception]) -> list[type[Exception]]:
    return [leaf for sub in kind.__subclasses__() for leaf in (sub, *_leaves(sub))]


@pytest.mark.parametrize("kind", [*_leaves(ServerError), *_leaves(EnvsError)])
def test_every_error_of_ours_has_a_row(kind: type[Exception]) -> None:
    assert kind in TABLE


@pytest.mark.parametrize("row", TABLE.values())
def test_a_row_speaks_openenvs_codes_in_frames_and_error_statuses_over_http(row: Any) -> None:
    assert row.frame in OPENENV_CODES
    assert 400 <= row.status < 600


def test_an_own_condition_begins_the_frames_message_and_is_its_token() -> None:
    frame = json.loads(translate(EpisodeExistsError("taken")).frame())
    data = {"message": "EPISODE_EXISTS: taken", "code": "EXECUTION_ERROR", "token": "EPISODE_EXISTS"}
    assert frame == {"type": "error", "data": data}


def test_a_capacity_refusal_says_how_many_in_both_transports() -> None:
    fault = translate(CapacityError(5, 5))
    assert fault.response().headers["retry-after"]
    data = json.loads(fault.frame())["data"]
    assert (data["code"], data["active_sessions"], data["max_sessions"]) == ("CAPACITY_REACHED", 5, 5)


def test_validation_errors_are_short_and_hold_nothing_of_the_values() -> None:
    hostile: dict[str, Any] = {
        "action": "SECRET" * 1000,
        "episode_id": 5,
        **{"k" * 100_000 + str(n): 1 for n in range(99)},
    }
    with pytest.raises(ValidationError) as raised:
        StepRequest.model_validate(hostile)
    text = bytes(translate(raised.value).response().body).decode()
    assert "SECRET" not in text
    assert len(text) < 10_000
    assert ErrorResponse.model_validate_json(text).error.errors


def test_values_that_json_cannot_carry_are_not_echoed() -> None:
    with pytest.raises(ValidationError) as raised:
        ResetRequest.model_validate({"axes": {"p_oos": b"\xff"}, "difficulty": float("nan"), "seed": object()})
    assert json.loads(bytes(translate(raised.value).response().body))["error"]["code"] == "VALIDATION_ERROR"


def test_what_is_not_in_the_table_is_ours_and_told_by_an_id_only(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        try:
            raise KeyError("B07SECRET")
        except KeyError as error:
            fault = translate(error)
    assert (fault.row.status, fault.row.code, fault.row.frame) == (500, "INTERNAL_ERROR", "SESSION_ERROR")
    assert "type=KeyError" in caplog.text
    assert "test_errors.py" in caplog.text
    assert "SECRET" not in fault.message + caplog.text


@pytest.mark.parametrize(("status", "expected"), [(404, "NOT_FOUND"), (405, "NOT_FOUND"), (400, "VALIDATION_ERROR")])
def test_the_frameworks_own_errors_have_the_same_shape(status: int, expected: str) -> None:
    fault = translate(HTTPException(status))
    assert (fault.row.status, fault.row.code) == (status, expected)
    assert ErrorResponse.model_validate_json(bytes(fault.response().body))
