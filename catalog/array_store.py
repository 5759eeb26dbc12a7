"""A directory of numpy arrays with a manifest: written whole or not at all, trusted only if every byte is the same."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.errors import IndexMismatchError

_MANIFEST = "manifest.json"


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
