"""Records brought together that belong to one product, in bounded memory, wherever they stand in a file."""

from __future__ import annotations

import pickle
import sqlite3
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from hashlib import blake2b
from typing import Protocol, TypeVar

MOST_MEMBERS = 5_000
"""A group of more is cut: no product has so many variants, and it must not fill the memory."""


class Grouped(Protocol):
    """A record that names its group."""

    @property
    def group(self) -> str:
        """Equal for the records of one product; empty for a record by itself."""


Member = TypeVar("Member", bound=Grouped)


def groups_of(read: Callable[[], Iterable[Member]]) -> Iterator[list[Member]]:
    """Yield the groups of records that ``read`` yields, in the order in which each is complete.

    The records are read twice: first to find the groups whose members do not stand together, which is rare. Those are
    kept in a temporary file, and come last, in the order of their first members.
    """
    scattered = _scattered(read())
    group: list[Member] = []
    with closing(sqlite3.connect("")) as kept:
        # Nothing of it need survive a crash.
        kept.execute("PRAGMA journal_mode = OFF")
        kept.execute("PRAGMA synchronous = OFF")
        kept.execute("CREATE TABLE members (first INTEGER, at INTEGER, body BLOB, PRIMARY KEY (first, at))")
        firsts: dict[int, int] = {}
        for at, member in enumerate(read()):
            mark = _mark(member.group)
            if member.group and mark in scattered:
                first = firsts.setdefault(mark, at)
                # The records are this process's own.
                kept.execute("INSERT INTO members VALUES (?, ?, ?)", (first, at, pickle.dumps(member)))
                continue
            is_other = bool(group) and (not member.group or member.group != group[0].group)
            if is_other or len(group) == MOST_MEMBERS:
                yield group
                group = []
            group.append(member)
        if group:
            yield group
        yield from _kept_groups(kept)


def _kept_groups(kept: sqlite3.Connection) -> Iterator[list[Member]]:
    group: list[Member] = []
    current = None
    for first, body in kept.execute("SELECT first, body FROM members ORDER BY first, at"):
        if (first != current and group) or len(group) == MOST_MEMBERS:
            yield group
            group = []
        current = first
        group.append(pickle.loads(body))
    if group:
        yield group


def _scattered(members: Iterable[Grouped]) -> frozenset[int]:
    """Return the marks of the groups whose members do not all stand together."""
    runs: array[int] = array("Q")
    last = ""
    for member in members:
        if member.group and member.group != last:
            runs.append(_mark(member.group))
        last = member.group
    return frozenset(mark for mark, count in Counter(runs).items() if count > 1)


def _mark(group: str) -> int:
    return int.from_bytes(blake2b(group.encode("utf-8", "replace"), digest_size=8).digest(), "little")
