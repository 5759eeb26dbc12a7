"""Stage 1 of a build: every chunk of rows becomes a part, in this process or in several others."""

from __future__ import annotations

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context, parent_process
from pathlib import Path

from ecom_rlve.catalog.building.chunks import Chunks
from ecom_rlve.catalog.building.folder import BuildFolder
from ecom_rlve.catalog.building.parts import Chunk, Part, save_part
from ecom_rlve.catalog.errors import SourceError, StoreError

Progress = Callable[[str, int, int], None]
"""Called with a stage's name, how much of it is done, and how much there is (0: not known)."""
STAGE = "reading"


def read_parts(
    source: Chunks, folder: BuildFolder, *, chunk_rows: int, limit: int | None, workers: int, progress: Progress
) -> list[Part]:
    """Make the parts that are missing and return all parts, in row order.

    Raises the errors of the source, ``OSError``, and :class:`StoreError` where a worker process died.
    """
    facts = folder.done(STAGE)
    if facts is None:
        identity = dict(source.identity)
        facts = _read(source, folder, chunk_rows, limit, workers, progress)
        if dict(source.identity) != identity:
            raise SourceError(f"{source.name} changed while it was read; run the command again")
        folder.mark(STAGE, facts)
        folder.read_to_the_end()
    progress(STAGE, facts["rows"], facts["rows"])
    return [Part(folder.part(number)) for number in range(facts["parts"])]


def _read(
    source: Chunks, folder: BuildFolder, chunk_rows: int, limit: int | None, workers: int, progress: Progress
) -> dict[str, int]:
    total = min(filter(None, (source.total, limit)), default=0)
    if folder.is_source_new:
        # Rows may have been mended: those before are read again, and parts of the same rows are kept.
        return _counted(source.chunks(0, limit, chunk_rows), folder, 0, (0, total), workers, progress)
    missing_part = next(number for number in range(1 << 30) if not folder.part(number).exists())
    # An existing part is skipped here too: if it is the last one, the source need not be read at all.
    first = max(0, missing_part - 1)
    rows = first * chunk_rows
    return _counted(source.chunks(rows, limit, chunk_rows), folder, first, (rows, total), workers, progress)


def _counted(
    chunks: Iterator[Chunk],
    folder: BuildFolder,
    first: int,
    rows_and_total: tuple[int, int],
    workers: int,
    progress: Progress,
) -> dict[str, int]:
    (rows, total), number = rows_and_total, first
    progress(STAGE, rows, total)
    for chunk_size in _saved(_missing(chunks, folder, first), workers):
        rows, number = rows + chunk_size, number + 1
        progress(STAGE, rows, total)
    return {"parts": number, "rows": rows}


def _missing(chunks: Iterator[Chunk], folder: BuildFolder, first: int) -> Iterator[tuple[Chunk, Path | None]]:
    """Yield each chunk with the path of its part, None where that part exists and is surely of these rows."""
    for number, chunk in enumerate(chunks, first):
        path = folder.part(number)
        yield chunk, None if path.exists() and not folder.is_source_new else path


def _saved(chunks: Iterator[tuple[Chunk, Path | None]], workers: int) -> Iterator[int]:
    """Save the parts of all chunks and yield the size of each, in order."""
    if workers == 1:
        for chunk, path in chunks:
            yield _save(chunk, path)
        return
    # Not forked: libraries that were loaded here may hold threads and locks.
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_follow_parent)
    try:
        waiting: deque[Future[int]] = deque()
        for chunk, path in chunks:
            waiting.append(pool.submit(_save, chunk, path))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    except BrokenProcessPool as error:
        raise StoreError(
            "a worker process died, perhaps for lack of memory; run the command again with fewer --workers"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _save(chunk: Chunk, path: Path | None) -> int:
    if path is not None and not (path.exists() and Part(path).is_of(chunk)):
        save_part(path, chunk)
    return len(chunk)


def _follow_parent() -> None:
    """Leave Ctrl-C to the parent, and end when it ends: else a worker whose parent was killed would wait for ever."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
