"""What one address may have counts over all workers, and what a dead worker had counts no more."""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ecom_rlve.server.admission.door import Door, Limits, Visit
from ecom_rlve.server.operations.shared_seats import SharedSeats

HERE = "127.0.0.1"
LIMITS = Limits(
    connections=100,
    seats=100,
    per_address=3,
    header_bytes=1024,
    url_bytes=256,
    header_timeout_s=600,
    body_timeout_s=600,
    write_timeout_s=600,
    socket_write_timeout_s=600,
)


@pytest.fixture
def other() -> Iterator[subprocess.Popen[bytes]]:
    """A process that lives until it is killed."""
    with subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE) as process:
        yield process
        process.kill()


def test_counts_are_seen_by_others_until_their_worker_is_gone(tmp_path: Path, other: subprocess.Popen[bytes]) -> None:
    theirs = SharedSeats(tmp_path, other.pid)
    ours = SharedSeats(tmp_path, os.getpid())
    theirs.add(HERE, 2)
    ours.add(HERE, 1)
    assert (ours.elsewhere(HERE), theirs.elsewhere(HERE), ours.elsewhere("10.0.0.1")) == (2, 0, 0)
    theirs.look()
    theirs.add(HERE, -1)
    assert (ours.elsewhere(HERE), theirs.elsewhere(HERE)) == (1, 1)
    other.kill()
    other.wait()
    ours.look()
    assert ours.elsewhere(HERE) == 0


def test_a_file_that_is_not_whole_counts_nothing(tmp_path: Path, other: subprocess.Popen[bytes]) -> None:
    (tmp_path / f"seats_{other.pid}.bin").write_bytes(b"half")
    assert SharedSeats(tmp_path, os.getpid()).elsewhere(HERE) == 0


def test_an_address_has_as_many_seats_at_two_workers_as_at_one(tmp_path: Path, other: subprocess.Popen[bytes]) -> None:
    async def seated() -> list[bool]:
        doors = [Door(LIMITS, SharedSeats(tmp_path, pid)) for pid in (other.pid, os.getpid())]
        for door in doors:
            door._look()
        loop = asyncio.get_running_loop()
        listener = await loop.create_server(asyncio.Protocol, HERE, 0)
        port = listener.sockets[0].getsockname()[1]
        visits: list[tuple[Door, Visit]] = []
        told = []
        for number in range(5):
            transport, _ = await loop.create_connection(asyncio.Protocol, HERE, port, family=socket.AF_INET)
            door = doors[number % 2]
            visits.append((door, door.enter(transport, lambda: None)))
            told.append(door.seat(visits[-1][1]))
        visits[0][0].leave(visits[0][1])
        told.append(visits[4][0].seat(visits[4][1]))
        for door, visit in visits:
            visit.transport.close()
            door.leave(visit)
        listener.close()
        return told

    assert asyncio.run(seated()) == [True, True, True, False, False, True]


def test_a_folder_that_is_gone_takes_no_counts_with_it(tmp_path: Path, other: subprocess.Popen[bytes]) -> None:
    folder = tmp_path / "figures"
    folder.mkdir()
    theirs = SharedSeats(folder, other.pid)
    ours = SharedSeats(folder, os.getpid())
    theirs.add(HERE, 2)
    shutil.rmtree(folder)
    ours.look()
    assert ours.elsewhere(HERE) == 2
