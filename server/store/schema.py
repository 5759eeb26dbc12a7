"""The tables of the store. Whoever changes them raises :data:`VERSION`, and says how an older file becomes a new one.

Every fact stands in one row that one statement can change, and nothing is kept beside the file that could not be read
from it: so several processes share it.
"""

from __future__ import annotations

APPLICATION_ID = 0x45_52_4C_56
"""Marks an SQLite file as ours: the letters ERLV."""
VERSION = 3

_CURRICULA = (
    """
    CREATE TABLE runs (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        settings TEXT NOT NULL,
        pins TEXT NOT NULL,
        key BLOB NOT NULL,
        counted INTEGER NOT NULL DEFAULT 0,
        groups INTEGER NOT NULL DEFAULT 0,
        forked_from TEXT
    ) STRICT
    """,
    """
    CREATE TABLE frontiers (
        id INTEGER PRIMARY KEY,
        run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
        env_id TEXT NOT NULL,
        style TEXT NOT NULL,
        format TEXT NOT NULL,
        level INTEGER NOT NULL DEFAULT 0,
        passes INTEGER NOT NULL DEFAULT 0,
        UNIQUE (run, env_id, style, format)
    ) STRICT
    """,
    """
    CREATE TABLE seeds (
        id INTEGER PRIMARY KEY,
        frontier INTEGER NOT NULL REFERENCES frontiers ON DELETE CASCADE,
        number INTEGER NOT NULL,
        is_grouped INTEGER NOT NULL,
        live INTEGER NOT NULL,
        counted INTEGER NOT NULL,
        ended INTEGER NOT NULL,
        correct TEXT NOT NULL,
        is_judged INTEGER NOT NULL,
        UNIQUE (frontier, number)
    ) STRICT
    """,
    "CREATE INDEX ready_seeds ON seeds (frontier) WHERE is_judged = 0 AND live = 0 AND counted > 0",
    """
    CREATE TABLE episodes (
        seed INTEGER NOT NULL REFERENCES seeds ON DELETE CASCADE,
        id TEXT NOT NULL,
        standing TEXT NOT NULL,
        PRIMARY KEY (seed, id)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE groups (
        run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
        name TEXT NOT NULL,
        spec TEXT NOT NULL,
        members INTEGER NOT NULL,
        PRIMARY KEY (run, name)
    ) STRICT, WITHOUT ROWID
    """,
)

_JOURNAL = (
    # What a server serves, which an episode can only be played again on: package, environments, catalog, bank.
    """
    CREATE TABLE stamps (
        id INTEGER PRIMARY KEY,
        text TEXT NOT NULL UNIQUE,
        is_current INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE workers (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        seen_at REAL NOT NULL,
        sockets INTEGER NOT NULL DEFAULT 0
    ) STRICT
    """,
    """
    CREATE TABLE played (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        episode_id TEXT NOT NULL UNIQUE,
        stamp INTEGER NOT NULL REFERENCES stamps,
        run TEXT NOT NULL,
        run_row INTEGER,
        spec TEXT NOT NULL,
        options TEXT NOT NULL,
        metadata TEXT NOT NULL,
        reset_id TEXT UNIQUE,
        reset_digest BLOB,
        account TEXT,
        client TEXT,
        heard_at REAL,
        worker INTEGER,
        state TEXT NOT NULL DEFAULT 'live',
        used_at REAL NOT NULL,
        ended_at REAL,
        size INTEGER NOT NULL DEFAULT 0
    ) STRICT
    """,
    "CREATE INDEX live_played ON played (used_at) WHERE state = 'live'",
    "CREATE INDEX ended_played ON played (ended_at, size) WHERE state != 'live'",
    """
    CREATE TABLE actions (
        episode INTEGER NOT NULL REFERENCES played ON DELETE CASCADE,
        n INTEGER NOT NULL,
        action TEXT,
        request_id TEXT,
        digest BLOB,
        answer BLOB NOT NULL,
        more TEXT,
        at REAL NOT NULL,
        PRIMARY KEY (episode, n)
    ) STRICT, WITHOUT ROWID
    """,
)

_SESSIONS = (
    # Those that JSON-RPC requests name: any worker answers them.
    """
    CREATE TABLE sessions (
        id TEXT PRIMARY KEY,
        account TEXT,
        client TEXT,
        heard_at REAL,
        episode INTEGER REFERENCES played ON DELETE SET NULL,
        used_at REAL NOT NULL
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX session_episodes ON sessions (episode)",
)

TABLES = (*_CURRICULA, *_JOURNAL, *_SESSIONS)
UPGRADES = {1: (*_JOURNAL, *_SESSIONS), 2: _SESSIONS}
"""What a file of an older version lacks."""
