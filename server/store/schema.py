"""The tables of the store. Whoever changes them raises :data:`VERSION`, and says how an older file becomes a new one.

Every fact stands in one row that one statement can change, and nothing is kept beside the file that could not be read
from it: so several processes could share it.
"""

from __future__ import annotations

APPLICATION_ID = 0x45_52_4C_56
"""Marks an SQLite file as ours: the letters ERLV."""
VERSION = 1

TABLES = (
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
