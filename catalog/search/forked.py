"""Work on ranges of rows in forked processes, which share what their parent has in memory or mapped."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing import get_all_start_methods, get_context
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, Any, TypeVar

from ecom_rlve.catalog.errors import CatalogError

if TYPE_CHECKING:
    from multiprocessing.context import ForkProcess

Result = TypeVar("Result")


def ranges(start: int, stop: int, step: int) -> list[tuple[int, int]]:
    """Return ``start`` to ``stop`` cut into ranges of ``step``, the last one shorter.

    >>> ranges(4, 11, 4)
    [(4, 8), (8, 11)]
    """
    return [(at, min(at + step, stop)) for at in range(start, stop, step)]


def over_ranges(work: Callable[[int, int], Result], parts: list[tuple[int, int]], workers: int) -> Iterator[Result]:
    """Yield ``work(start, stop)`` of each part in the order given, with at most ``workers`` processes at a time.

    With one worker, or where processes cannot be forked, the calling process does all the work. Each part has a process
    of its own. If the parent is killed, such a process cannot hand over its result and ends. Raises
    :class:`CatalogError` where a process ends without a result.
    """
    if workers < 2 or len(parts) < 2 or "fork" not in get_all_start_methods():
        for start, stop in parts:
            yield work(start, stop)
        return
    running: deque[tuple[ForkProcess, Connection]] = deque()
    try:
        for start, stop in parts:
            if len(running) == workers:
                yield _received(*running.popleft())
            running.append(_forked(work, start, stop))
        while running:
            yield _received(*running.popleft())
    finally:
        for process, _ in running:
            process.kill()


def _forked(work: Callable[[int, int], Result], start: int, stop: int) -> tuple[ForkProcess, Connection]:
    context = get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_answer, args=(work, start, stop, receiver, sender), daemon=True)
    with warnings.catch_warnings():
        # Python warns of forks beside threads; the child takes no lock that a thread could hold.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    sender.close()
    return process, receiver


def _answer(
    work: Callable[[int, int], object], start: int, stop: int, receiver: Connection, sender: Connection
) -> None:
    receiver.close()
    try:
        answer: tuple[object, Exception | None] = (work(start, stop), None)
    except Exception as error:
        answer = (None, error)
    sender.send(answer)


def _received(process: ForkProcess, receiver: Connection) -> Any:
    try:
        result, error = receiver.recv()
    except EOFError:
        process.join()
        raise CatalogError(
            f"a worker process ended with exit code {process.exitcode} before it was done; use fewer workers if memory "
            "is short"
        ) from None
    process.join()
    if error is not None:
        raise error
    return result
