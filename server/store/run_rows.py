"""The rows of runs and of their groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ecom_rlve.server.store.database import Database

_RUN = "id, name, settings, pins, key, counted, groups, forked_from"


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run as the store keeps it."""

    id: int
    name: str
    settings: str
    """Its ``RunSettings`` as JSON."""
    pins: str
    """Its ``Pins`` as JSON."""
    key: bytes
    """Without it nobody can tell the seed of a group from its name."""
    counted: int
    """Episodes that were counted since the run began."""
    groups: int
    forked_from: str | None


@dataclass(frozen=True, slots=True)
class GroupRow:
    """One group as the store keeps it."""

    spec: str
    """The episode that it plays, as JSON."""
    members: int
    """Resets that have begun it."""


class RunRows:
    """Runs and groups in a store; every change belongs to the transaction that is open."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def find(self, name: str) -> RunRow | None:
        """Return the run of this name."""
        row = self._database.row(f"SELECT {_RUN} FROM runs WHERE name = ?", (name,))
        return None if row is None else RunRow(*row)

    def names(self) -> list[str]:
        """Return the names of all runs, in order."""
        return [name for (name,) in self._database.rows("SELECT name FROM runs ORDER BY name")]

    def of_row(self, row: int) -> RunRow | None:
        """Return the run with this row."""
        found = self._database.row(f"SELECT {_RUN} FROM runs WHERE id = ?", (row,))
        return None if found is None else RunRow(*found)

    def count(self) -> int:
        """Return the number of runs."""
        return int(self._database.row("SELECT count(*) FROM runs")[0])

    def add(self, name: str, settings: str, pins: str, key: bytes, forked_from: str | None = None) -> RunRow:
        """Add a run."""
        row = self._database.row(
            f"INSERT INTO runs (name, settings, pins, key, forked_from) VALUES (?, ?, ?, ?, ?) RETURNING {_RUN}",
            (name, settings, pins, key, forked_from),
        )
        return RunRow(*row)

    def change(self, run: RunRow, **columns: Any) -> None:
        """Set columns of a run, by name."""
        names = ", ".join(f"{name} = ?" for name in columns)
        self._database.row(f"UPDATE runs SET {names} WHERE id = ?", (*columns.values(), run.id))

    def add_counted(self, run: int, episodes: int) -> None:
        """Note that episodes were counted for the run with this row."""
        self._database.row("UPDATE runs SET counted = counted + ? WHERE id = ?", (episodes, run))

    def remove(self, run: RunRow) -> None:
        """Remove a run with everything that belongs to it."""
        self._database.row("DELETE FROM runs WHERE id = ?", (run.id,))

    def group(self, run: int, name: str) -> GroupRow | None:
        """Return a group of the run with this row."""
        row = self._database.row("SELECT spec, members FROM groups WHERE run = ? AND name = ?", (run, name))
        return None if row is None else GroupRow(*row)

    def add_group(self, run: int, name: str, spec: str) -> None:
        """Add a group that nobody has begun."""
        self._database.row("INSERT INTO groups (run, name, spec, members) VALUES (?, ?, ?, 0)", (run, name, spec))
        self._database.row("UPDATE runs SET groups = groups + 1 WHERE id = ?", (run,))

    def add_member(self, run: int, name: str) -> int:
        """Note that a reset begins a group's episode; return which of them it is, from 1."""
        (members,) = self._database.row(
            "UPDATE groups SET members = members + 1 WHERE run = ? AND name = ? RETURNING members", (run, name)
        )
        return int(members)
