"""One answer per key: sought once, the first one given stays, errors are remembered by nobody."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from ecom_rlve.envs.customer.model.asked_once import Flights, Pace


def _seeker(calls: list[str], answer: str, delay_s: float = 0.0) -> Callable[[], Awaitable[str]]:
    async def sought() -> str:
        calls.append(answer)
        await asyncio.sleep(delay_s)
        return answer

    return sought


async def _never() -> str:
    raise AssertionError("nothing stands in here")


def test_those_who_ask_at_once_share_an_answer() -> None:
    async def asked() -> None:
        flights: Flights[str] = Flights()
        calls: list[str] = []
        seek = _seeker(calls, "a", 0.01)
        assert await asyncio.gather(*(flights.answer("k", seek, None, _never) for _ in range(8))) == ["a"] * 8
        assert await flights.answer("k", _seeker(calls, "b"), None, _never) == "a"
        assert calls == ["a"]

    asyncio.run(asked())


def test_what_stood_in_for_a_late_answer_stays(hurried: asyncio.Runner) -> None:
    async def asked() -> None:
        flights: Flights[str] = Flights()
        seek, otherwise = _seeker([], "late", 0.2), _seeker([], "stand-in")
        first = asyncio.create_task(flights.answer("k", seek, 0.02, otherwise))
        await asyncio.sleep(0.01)
        second = asyncio.create_task(flights.answer("k", seek, 5.0, otherwise))
        assert await first == "stand-in"
        assert await second == "stand-in"
        assert await flights.answer("k", seek, None, _never) == "stand-in"

    hurried.run(asked())


def test_one_who_goes_away_takes_nothing_from_the_others() -> None:
    async def asked() -> None:
        flights: Flights[str] = Flights()
        seek = _seeker([], "a", 0.02)
        leaving = asyncio.create_task(flights.answer("k", seek, None, _never))
        staying = asyncio.create_task(flights.answer("k", seek, None, _never))
        await asyncio.sleep(0)
        leaving.cancel()
        assert await staying == "a"

    asyncio.run(asked())


def test_an_error_reaches_all_and_is_not_remembered() -> None:
    async def asked() -> None:
        flights: Flights[str] = Flights()

        async def failed() -> str:
            await asyncio.sleep(0.01)
            raise OSError("gone")

        both = (flights.answer("k", failed, None, _never) for _ in range(2))
        assert all(isinstance(found, OSError) for found in await asyncio.gather(*both, return_exceptions=True))
        assert await flights.answer("k", _seeker([], "b"), None, _never) == "b"

    asyncio.run(asked())


def test_closing_gives_up_what_is_sought() -> None:
    async def asked() -> None:
        flights: Flights[str] = Flights()
        waiting = asyncio.create_task(flights.answer("k", _seeker([], "a", 60.0), None, _seeker([], "stand-in")))
        await asyncio.sleep(0)
        await flights.aclose()
        assert await waiting == "stand-in"

    asyncio.run(asked())


def test_the_oldest_answers_are_forgotten() -> None:
    async def asked() -> None:
        flights: Flights[str] = Flights(kept=2)
        for name in "abc":
            await flights.answer(name, _seeker([], name), None, _never)
        assert await flights.answer("c", _seeker([], "new"), None, _never) == "c"
        assert await flights.answer("a", _seeker([], "new"), None, _never) == "new"

    asyncio.run(asked())


def test_nothing_stands_in_where_that_fails(hurried: asyncio.Runner) -> None:
    async def asked() -> None:
        flights: Flights[str] = Flights()
        with pytest.raises(AssertionError, match="nothing stands in"):
            await flights.answer("k", _seeker([], "a", 60.0), 0.01, _never)
        await flights.aclose()

    hurried.run(asked())


def test_a_burst_leaves_turns_to_others() -> None:
    order: list[str] = []

    async def piece(pace: Pace) -> None:
        await pace.turn()
        order.append("piece")

    async def other() -> None:
        for _ in range(50):
            await asyncio.sleep(0)
            order.append("other")

    async def all_at_once() -> None:
        pace = Pace()
        await asyncio.gather(*(piece(pace) for _ in range(10)), other())

    asyncio.run(all_at_once())
    assert "piece piece piece" not in " ".join(order)
