"""The breaker as a table: what happens at which time, what it admits, and its state after."""

from __future__ import annotations

import pytest

from ecom_rlve.envs.customer.model.breaker import Breaker, Phase

CLOSED, OPEN, HALF = Phase.CLOSED, Phase.OPEN, Phase.HALF_OPEN
THRESHOLD, COOLDOWN_S = 3, 10.0

TABLE: dict[str, list[tuple[float, str, bool, Phase]]] = {
    "successes keep it closed": [(0, "ok", True, CLOSED), (1, "ok", True, CLOSED)],
    "a success forgives failures": [
        (0, "fail", True, CLOSED), (1, "fail", True, CLOSED), (2, "ok", True, CLOSED), (3, "fail", True, CLOSED),
        (4, "fail", True, CLOSED),
    ],
    "failures in a row open it": [
        (0, "fail", True, CLOSED), (1, "fail", True, CLOSED), (2, "fail", True, OPEN), (3, "", False, OPEN),
        (11.9, "", False, OPEN),
    ],
    "after the cool-down one is let through, and closes it": [
        (0, "fail", True, CLOSED), (0, "fail", True, CLOSED), (0, "fail", True, OPEN), (10, "ask", True, HALF),
        (10, "", False, HALF), (11, "report ok", True, CLOSED), (11, "ok", True, CLOSED),
    ],
    "or opens it again for the whole time": [
        (0, "fail", True, CLOSED), (0, "fail", True, CLOSED), (0, "fail", True, OPEN), (10, "fail", True, OPEN),
        (19.9, "", False, OPEN), (20, "ok", True, CLOSED),
    ],
    "a trial that was given up makes room for another": [
        (0, "fail", True, CLOSED), (0, "fail", True, CLOSED), (0, "fail", True, OPEN), (10, "abandon", True, HALF),
        (10, "ok", True, CLOSED),
    ],
}  # fmt: skip


@pytest.mark.parametrize("steps", TABLE.values(), ids=TABLE)
def test_table(steps: list[tuple[float, str, bool, Phase]]) -> None:
    breaker = Breaker(THRESHOLD, COOLDOWN_S)
    assert steps
    for now, event, is_admitted, phase in steps:
        if not event.startswith("report"):
            assert breaker.admits(now) is is_admitted, (now, event)
        if event == "fail":
            breaker.failed(now)
        elif event in ("ok", "report ok"):
            breaker.succeeded()
        elif event == "abandon":
            breaker.abandoned()
        assert breaker.phase(now) is phase, (now, event)


def test_requests_under_way_when_it_opens_may_still_fail() -> None:
    breaker = Breaker(1, COOLDOWN_S)
    assert breaker.admits(0)
    assert breaker.admits(0)
    breaker.failed(1)
    breaker.failed(5)
    assert breaker.phase(14.9) is OPEN
    assert breaker.phase(15) is HALF


@pytest.mark.parametrize(("threshold", "cooldown"), [(0, 1.0), (1, -1.0)])
def test_senseless_settings_are_refused(threshold: int, cooldown: float) -> None:
    with pytest.raises(ValueError, match="a breaker needs"):
        Breaker(threshold, cooldown)
