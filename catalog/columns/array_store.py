"""Numpy arrays in files, which are written completely or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a stream whose content becomes the file ``path`` if the block ends without an error, else no file.

    The file then survives a loss of power. Raises :class:`OSError`.
    """
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with fresh.open("wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(fresh, path)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


def save_array(path: Path, values: NDArray[Any]) -> None:
    """Write one array to a ``.npy`` file, completely or not at all; raises :class:`OSError`."""
    header = {"descr": np.lib.format.dtype_to_descr(values.dtype), "fortran_order": False, "shape": values.shape}
    with whole_file(path) as stream:
        np.lib.format.write_array_header_1_0(stream, header)
        # numpy's own writing to files is not used, because it does not report a full disk.
        stream.write(np.ascontiguousarray(values).data)


def save_blocks(path: Path, blocks: Iterable[NDArray[Any]], length: int, dtype: np.dtype[Any]) -> None:
    """Write the one-dimensional ``blocks`` as one array of ``length`` elements, holding one block at a time.

    Raises :class:`OSError`, and ``ValueError`` where the blocks have another length.
    """
    header = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": (length,)}
    with whole_file(path) as stream:
        np.lib.format.write_array_header_1_0(stream, header)
        written = 0
        for block in blocks:
            stream.write(np.ascontiguousarray(block, dtype=dtype).data)
            written += len(block)
        if written != length:
            raise ValueError(f"{path}: {written} elements instead of {length}")


def map_array(path: Path) -> NDArray[Any]:
    """Return the array of a ``.npy`` file, memory-mapped and read-only; raises ``OSError`` and ``ValueError``."""
    # A plain array over the same memory, because slicing a memmap costs several times as much.
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


def sync(path: Path) -> None:
    """Make a file, or a folder's list of names, survive a loss of power; raises :class:`OSError`."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
