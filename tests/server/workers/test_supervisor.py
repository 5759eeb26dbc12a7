"""What the supervisor makes of workers that die, while others serve or do not."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Iterator
from functools import partial
from multiprocessing.process import BaseProcess

import pytest

from ecom_rlve.server.workers.supervisor import Seat, Supervisor, WorkerFailedError

NEVER_S = 600
CONTEXT = multiprocessing.get_context("spawn")


@pytest.fixture
def processes() -> Iterator[list[BaseProcess]]:
    """Processes that end with the test."""
    found: list[BaseProcess] = []
    yield found
    for each in found:
        each.kill()
        each.join()


def seated(processes: list[BaseProcess], *, is_alive: bool, has_served: bool) -> Seat:
    heard, speaking = CONTEXT.Pipe(duplex=False)
    process = CONTEXT.Process(target=partial(time.sleep, NEVER_S))
    process.start()
    processes.append(process)
    if not is_alive:
        process.kill()
        process.join()
    if has_served:
        speaking.send_bytes(b".")
    speaking.close()
    return Seat(process, heard)


def test_a_worker_that_dies_while_it_starts_is_replaced_where_another_serves(processes: list[BaseProcess]) -> None:
    supervisor = Supervisor(print, 2, 1.0)
    first = seated(processes, is_alive=False, has_served=False)
    supervisor.seats = [first, seated(processes, is_alive=True, has_served=True)]
    supervisor.look()
    processes += [each.process for each in supervisor.seats]
    assert supervisor.seats[0].process is not first.process


def test_a_worker_that_dies_before_any_served_ends_the_server(processes: list[BaseProcess]) -> None:
    supervisor = Supervisor(print, 2, 1.0)
    supervisor.seats = [seated(processes, is_alive=alive, has_served=False) for alive in (True, False)]
    with pytest.raises(WorkerFailedError, match="could not start"):
        supervisor.look()
