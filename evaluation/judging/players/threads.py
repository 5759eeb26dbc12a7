"""Agents that answer when they are called, each call in a thread that may be left behind."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def in_thread(work: Callable[[], T]) -> T:
    """Return what ``work`` returns, or raise what it raises, without holding up the event loop.

    Its thread is a daemon: one that hangs neither takes a place from others nor keeps the process from ending.
    ``SystemExit`` and its like are raised as ``RuntimeError``: an agent may end itself, not the run.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def tell(tell_it: Callable[[], None]) -> None:
        # The loop may be closed, or nobody may wait any more.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(lambda: None if done.done() else tell_it())

    def run() -> None:
        try:
            value = work()
        except Exception as error:
            failure = error if not isinstance(error, StopIteration) else RuntimeError("StopIteration")
            tell(lambda: done.set_exception(failure))
        except BaseException as error:
            ended = RuntimeError(f"{type(error).__name__}: {error}")
            tell(lambda: done.set_exception(ended))
        else:
            tell(lambda: done.set_result(value))

    threading.Thread(target=run, daemon=True, name="agent").start()
    return await done
