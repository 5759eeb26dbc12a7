"""The folder of an unfinished build: which build it is, and which of its stages are done.

It lies beside the place of the finished catalog, so that one rename puts the whole catalog there.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ecom_rlve.catalog.columns.array_store import sync, whole_file
from ecom_rlve.catalog.errors import StoreError
from ecom_rlve.catalog.store import TABLE, building_folder

_STATE = "state"


class BuildFolder:
    """What a build has done so far. Each of its files is complete or does not exist."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.root = building_folder(out)
        self.parts, self.plan = self.root / "parts", self.root / "plan"
        self.store = self.root / "catalog"
        """Renamed at the end, it is the catalog."""
        self.table = self.store / TABLE

    def enter(self, state: Mapping[str, Any]) -> bool:
        """Start the build that ``state`` describes, or continue it; False where only tidying up is left to do.

        Raises :class:`StoreError` where another build, or something else, already lies there, and ``OSError``.
        """
        known = self.done(_STATE)
        if known is not None and known != dict(state):
            different = sorted(key for key in {*known, *state} if known.get(key) != state.get(key))
            raise StoreError(
                f"{self.root} holds an unfinished build that differs in {', '.join(different)}; "
                "delete it or choose another --out"
            )
        is_left = self.root.exists() and (known is not None or not any(self.root.iterdir()))
        if self.out.exists() and not (self.out.is_dir() and not any(self.out.iterdir())):
            if is_left and not self.store.exists():
                return False
            raise StoreError(f"{self.out} exists; delete it or choose another --out")
        if known is None and self.root.exists() and any(not path.name.startswith(".") for path in self.root.iterdir()):
            raise StoreError(f"{self.root} exists and is no unfinished build; delete it or choose another --out")
        for folder in (self.parts, self.plan, self.table):
            folder.mkdir(parents=True, exist_ok=True)
        if known is None:
            self.mark(_STATE, state)
        return True

    def part(self, number: int) -> Path:
        """Return where the part of a chunk lies."""
        return self.parts / f"part-{number:06d}.npz"

    def mark(self, stage: str, facts: Mapping[str, Any]) -> None:
        """Note that a stage is done, with what later stages need from it; raises ``OSError``."""
        with whole_file(self._file(stage)) as stream:
            stream.write(json.dumps(dict(facts), indent=2, sort_keys=True).encode())

    def done(self, stage: str) -> dict[str, Any] | None:
        """Return what was noted of a stage, None where it is not done; raises ``OSError`` or :class:`StoreError`."""
        path = self._file(stage)
        try:
            facts: dict[str, Any] = json.loads(path.read_bytes())
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise StoreError(f"{path} is damaged ({error}); delete {self.root} and build again") from error
        return facts

    def sweep(self) -> None:
        """Remove unfinished files that an interruption left; raises ``OSError``."""
        for path in sorted(self.store.rglob(".*")):
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    def publish(self) -> None:
        """Put the finished catalog into place; raises ``OSError``."""
        for path in sorted(self.store.rglob("*")):
            sync(path)
        sync(self.store)
        self.store.rename(self.out)
        sync(self.out.parent)

    def tidy(self) -> None:
        """Remove what is no longer needed. The record that the build is finished goes last. Raises ``OSError``."""
        for path in self.root.iterdir():
            if path.is_dir():
                shutil.rmtree(path)
            elif path != self._file(_STATE):
                path.unlink()
        self._file(_STATE).unlink(missing_ok=True)
        self.root.rmdir()

    def _file(self, stage: str) -> Path:
        return self.root / f"{stage}.json"
