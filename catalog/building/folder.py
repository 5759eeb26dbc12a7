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
_REFUSED = "refused"
_NEW_SOURCE = "new_source"
_KEEP_NONE = frozenset(("format", "versions"))
"""Parts are of no use for another format or other versions."""


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

        A build whose source has changed, and one that ended because its source was refused, may be continued with any
        state: parts of the same rows are kept. Raises :class:`StoreError` where another build, or something else,
        already lies there, and ``OSError``.
        """
        known = self.done(_STATE)
        if known is not None and known != dict(state):
            different = sorted(key for key in {*known, *state} if known.get(key) != state.get(key))
            if different != ["identity"] and not self._file(_REFUSED).exists():
                raise StoreError(
                    f"{self.root} holds an unfinished build that differs in {', '.join(different)}; "
                    "delete it or choose another --out"
                )
            self._start_over(keeps_parts=_KEEP_NONE.isdisjoint(different))
            self.mark(_STATE, state)
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
        self._file(_REFUSED).unlink(missing_ok=True)
        return True

    @property
    def is_source_new(self) -> bool:
        """Whether parts may be of rows that the source no longer has; until all rows were read again."""
        return self._file(_NEW_SOURCE).exists()

    def refuse(self) -> None:
        """Note that the source was refused; leave nothing where no part was made of it. Raises ``OSError``."""
        if any(self.parts.glob("*.npz")):
            self.mark(_REFUSED, {})
        else:
            shutil.rmtree(self.root, ignore_errors=True)

    def _start_over(self, *, keeps_parts: bool) -> None:
        """Remove what depends on the state, all but parts."""
        self.mark(_NEW_SOURCE, {})
        for path in self.root.glob("*.json"):
            if path not in (self._file(_STATE), self._file(_NEW_SOURCE), self._file(_REFUSED)):
                path.unlink()
        for folder in (self.plan, self.store, *(() if keeps_parts else (self.parts,))):
            shutil.rmtree(folder, ignore_errors=True)

    def part(self, number: int) -> Path:
        """Return where the part of a chunk lies."""
        return self.parts / f"part-{number:06d}.npz"

    def mark(self, stage: str, facts: Mapping[str, Any]) -> None:
        """Note that a stage is done, with what later stages need from it; raises ``OSError``."""
        with whole_file(self._file(stage)) as stream:
            stream.write(json.dumps(dict(facts), indent=2, sort_keys=True).encode())

    def read_to_the_end(self) -> None:
        """Note that all parts are of rows that the source has; raises ``OSError``."""
        self._file(_NEW_SOURCE).unlink(missing_ok=True)

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
