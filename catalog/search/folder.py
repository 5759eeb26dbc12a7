"""Where the arrays of a search index lie: in memory, or in a folder that a build fills stage by stage.

The manifest of a folder is written last, and a folder without one is not read. Until then a record says which stages
are finished, so that a killed build can continue.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

import faiss
import numpy as np
from numpy.typing import NDArray

from ecom_rlve.catalog.columns.array_store import map_array, save_array, whole_file
from ecom_rlve.catalog.errors import IndexMismatchError

Facts = dict[str, str | int]
_MANIFEST = "manifest.json"
_RECORD = "unfinished.json"
_BLOCK = 1 << 20
"""Bytes that are read at a time."""


class Place(Protocol):
    """Where a build keeps what it makes, stage by stage."""

    arrays: dict[str, NDArray[Any]]
    """The arrays kept so far, by name."""

    def has(self, stage: str) -> bool:
        """Tell whether a stage is finished."""

    def keep(self, name: str, values: NDArray[Any]) -> None:
        """Keep an array."""

    def create(self, name: str, shape: tuple[int, int], dtype: type[np.generic]) -> NDArray[Any]:
        """Return an array to be filled; what was filled before a kill is still there."""

    def keep_index(self, name: str, index: faiss.Index) -> None:
        """Keep a FAISS index."""

    def index(self, name: str) -> NDArray[np.uint8] | Path:
        """Return a kept FAISS index: its bytes, or the file that holds them."""

    def rows_done(self) -> int:
        """Return how many rows of the unfinished stage are filled."""

    def mark_rows(self, rows: int) -> None:
        """Remember that so many rows of the unfinished stage are filled."""

    def finish(self, stage: str) -> None:
        """Remember that all of a stage is kept."""


class Memory:
    """A :class:`Place` in memory."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self._indexes: dict[str, NDArray[np.uint8]] = {}

    def has(self, stage: str) -> bool:  # noqa: ARG002 - every implementation gets it, this one decides without
        """Tell that nothing is finished."""
        return False

    def keep(self, name: str, values: NDArray[Any]) -> None:
        """Keep an array."""
        self.arrays[name] = values

    def create(self, name: str, shape: tuple[int, int], dtype: type[np.generic]) -> NDArray[Any]:
        """Return an array to be filled."""
        self.arrays[name] = np.empty(shape, dtype=dtype)
        return self.arrays[name]

    def keep_index(self, name: str, index: faiss.Index) -> None:
        """Keep a FAISS index as its bytes."""
        self._indexes[name] = np.asarray(faiss.serialize_index(index))

    def index(self, name: str) -> NDArray[np.uint8]:
        """Return the bytes of a FAISS index."""
        return self._indexes[name]

    def rows_done(self) -> int:
        """Return 0: nothing is filled."""
        return 0

    def mark_rows(self, rows: int) -> None:
        """Remember nothing."""

    def finish(self, stage: str) -> None:
        """Remember nothing."""


class Folder:
    """A :class:`Place` on disk. A killed build of the same identity is continued. Writing raises ``OSError``."""

    def __init__(self, home: Path, identity: Facts) -> None:
        self._home, self._identity = home, identity
        self.arrays: dict[str, NDArray[Any]] = {}
        self._fresh: list[str] = []
        home.mkdir(parents=True, exist_ok=True)
        (home / _MANIFEST).unlink(missing_ok=True)
        self._stages: dict[str, list[str]] = {}
        self._rows = 0
        record = _json(home / _RECORD)
        if record.get("identity") == identity and all((home / name).is_file() for name in _names(record["stages"])):
            self._stages, self._rows = record["stages"], record["rows"]
        else:
            for path in (*home.glob("*.npy"), *home.glob("*.faiss")):
                path.unlink()
            self._record()
        for name in _names(self._stages):
            if name.endswith(".npy"):
                self.arrays[name.removesuffix(".npy")] = map_array(home / name)

    def has(self, stage: str) -> bool:
        """Tell whether a stage is finished."""
        return stage in self._stages

    def keep(self, name: str, values: NDArray[Any]) -> None:
        """Keep an array, from here on memory-mapped."""
        path = self._new(f"{name}.npy")
        save_array(path, values)
        self.arrays[name] = map_array(path)

    def create(self, name: str, shape: tuple[int, int], dtype: type[np.generic]) -> NDArray[Any]:
        """Return a memory-mapped array to be filled; what was filled before a kill is still there."""
        path = self._new(f"{name}.npy")
        mode = "r+" if self._rows and path.exists() else "w+"
        values = np.lib.format.open_memmap(path, mode=mode, dtype=dtype, shape=shape)
        # The file's blocks are allocated now: writing to a mapped file on a full disk would kill the process.
        with path.open("r+b") as stream:
            os.posix_fallocate(stream.fileno(), 0, path.stat().st_size)
        self.arrays[name] = values
        return np.asarray(values)

    def keep_index(self, name: str, index: faiss.Index) -> None:
        """Keep a FAISS index as a file."""
        path = self._new(f"{name}.faiss")
        with path.open("wb") as stream:
            writer = faiss.PyCallbackIOWriter(stream.write, _BLOCK)  # type: ignore[attr-defined]  # faiss has it, its stubs leave it out
            faiss.write_index(index, writer)

    def index(self, name: str) -> Path:
        """Return the file of a FAISS index."""
        return self._home / f"{name}.faiss"

    def rows_done(self) -> int:
        """Return how many rows of the unfinished stage are filled."""
        return self._rows

    def mark_rows(self, rows: int) -> None:
        """Remember that so many rows of the unfinished stage are filled."""
        self._sync()
        self._rows = rows
        self._record()

    def finish(self, stage: str) -> None:
        """Remember that all of a stage is kept."""
        self._sync()
        self._stages[stage] = self._fresh
        self._fresh, self._rows = [], 0
        self._record()

    def seal(self, scaffolding: Iterable[str], facts: Facts) -> None:
        """Write the manifest: now the folder can be opened. ``scaffolding`` names arrays that it does not need."""
        dropped = {f"{name}.npy" for name in scaffolding}
        kept = [name for name in _names(self._stages) if name not in dropped]
        files = {
            name: {"bytes": (self._home / name).stat().st_size, "digest": _digest(self._home / name)} for name in kept
        }
        _write_json(self._home / _MANIFEST, {"identity": self._identity, "facts": facts, "files": files})
        self.arrays.clear()
        for name in (*dropped, _RECORD):
            (self._home / name).unlink(missing_ok=True)

    def _new(self, name: str) -> Path:
        self._fresh.append(name)
        return self._home / name

    def _sync(self) -> None:
        """Make sure that all that this stage wrote is on the disk, including mapped arrays."""
        for name in self._fresh:
            with (self._home / name).open("r+b") as stream:
                os.fsync(stream.fileno())

    def _record(self) -> None:
        _write_json(self._home / _RECORD, {"identity": self._identity, "stages": self._stages, "rows": self._rows})


class SealedFolder:
    """A finished folder, opened."""

    def __init__(self, home: Path, is_verified: bool = False) -> None:
        """Map all arrays; raises :class:`IndexMismatchError` where a file is missing or of another length.

        ``is_verified`` reads every byte and compares digests; this also loads the files into the page cache.
        """
        self._home = home
        if not (home / _MANIFEST).is_file():
            raise IndexMismatchError(f"{home} holds no finished search index; build it (again)")
        manifest = _json(home / _MANIFEST)
        try:
            self.identity: Facts = dict(manifest["identity"])
            self.facts: Facts = dict(manifest["facts"])
            files: dict[str, dict[str, Any]] = dict(manifest["files"])
            for name, written in files.items():
                self._check(home / name, written, is_verified)
            self._files = frozenset((_MANIFEST, *files))
            self.arrays = {name.removesuffix(".npy"): map_array(home / name) for name in files if name.endswith(".npy")}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            problem = f"{type(error).__name__}: {error}"
            raise IndexMismatchError(f"{home} holds no readable search index, build it again ({problem})") from error

    def index(self, name: str) -> Path:
        """Return the file of a FAISS index."""
        return self._home / f"{name}.faiss"

    def sweep(self) -> None:
        """Remove what a build left that was killed after it wrote the manifest."""
        for path in self._home.iterdir():
            if path.name not in self._files:
                path.unlink()

    def _check(self, path: Path, written: Mapping[str, Any], is_verified: bool) -> None:
        size = path.stat().st_size
        if size != written["bytes"]:
            raise IndexMismatchError(f"{path} has {size} bytes, not {written['bytes']} as written; build it again")
        if is_verified and _digest(path) != written["digest"]:
            raise IndexMismatchError(f"{path} is damaged: its content has changed since it was written; build it again")


def _names(stages: Mapping[str, list[str]]) -> list[str]:
    return sorted(name for names in stages.values() for name in names)


def _json(path: Path) -> dict[str, Any]:
    """Return the JSON object in a file, an empty one if it holds none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) else {}


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    with whole_file(path) as stream:
        stream.write(json.dumps(content, indent=1, sort_keys=True).encode())


def _digest(path: Path) -> str:
    hasher = blake2b(digest_size=16)
    with path.open("rb") as stream:
        while block := stream.read(_BLOCK):
            hasher.update(block)
    return hasher.hexdigest()
