"""Numpy arrays in files, written whole or not at all; and directories of them that are trusted byte by byte."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.errors import IndexMismatchError

_MANIFEST = "manifest.json"


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Yield a stream whose content becomes the file ``path`` when the block ends well, and never in part.

    What is there then survives a loss of power. Raises :class:`OSError`.
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
    """Write one array to a ``.npy`` file, whole or not at all; raises :class:`OSError`."""
    header = {"descr": np.lib.format.dtype_to_descr(values.dtype), "fortran_order": False, "shape": values.shape}
    with whole_file(path) as stream:
        np.lib.format.write_array_header_1_0(stream, header)
        # Not numpy's own writing to files, which does not say that a disk is full.
        stream.write(np.ascontiguousarray(values).data)


def save_blocks(path: Path, blocks: Iterable[NDArray[Any]], length: int, dtype: np.dtype[Any]) -> None:
    """Write the one-dimensional ``blocks``, ``length`` elements in all, as one array without holding more than one.

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
    # A plain array over the same memory: the subclass for mapped files makes every slice several times dearer.
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


def sync(path: Path) -> None:
    """Make a file, or a folder's list of names, survive a loss of power; raises :class:`OSError`."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def write_arrays(target: Path, identity: Mapping[str, str | int], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write ``arrays`` into the directory ``target``, replacing what is there; raises :class:`OSError`.

    They are written beside it and moved into place, so that a reader never sees a part of them.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent, ignore_cleanup_errors=True) as room:
        fresh = Path(room, "fresh")
        fresh.mkdir()
        for name, values in arrays.items():
            np.save(fresh / f"{name}.npy", values, allow_pickle=False)
        digests = {name: _digest(fresh / f"{name}.npy") for name in arrays}
        manifest = json.dumps({"identity": dict(identity), "digests": digests}, indent=2, sort_keys=True)
        (fresh / _MANIFEST).write_text(manifest, encoding="utf-8")
        if target.exists():
            os.rename(target, Path(room, "old"))
        os.rename(fresh, target)


def read_arrays(source: Path, identity: Mapping[str, str | int]) -> dict[str, NDArray[Any]]:
    """Return the arrays of a directory, memory-mapped and read-only.

    Raises :class:`IndexMismatchError` where they are missing, damaged or of another identity. Reading every byte for
    the digests also brings a cold file into the page cache.
    """
    try:
        manifest = json.loads((source / _MANIFEST).read_text(encoding="utf-8"))
        if manifest["identity"] != dict(identity):
            raise IndexMismatchError(f"{source} was built for {manifest['identity']}, not for {dict(identity)}")
        arrays = {}
        for name, digest in manifest["digests"].items():
            path = source / f"{name}.npy"
            if _digest(path) != digest:
                raise IndexMismatchError(f"{path} is damaged: its content has changed since it was written")
            arrays[name] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise IndexMismatchError(f"{source} holds no readable index: {error}") from error
    return arrays


def _digest(path: Path) -> str:
    hasher = blake2b(digest_size=16)
    with path.open("rb") as stream:
        while block := stream.read(1 << 20):
            hasher.update(block)
    return hasher.hexdigest()
