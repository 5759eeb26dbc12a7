"""Errors of the store.

StoreError                   the store cannot be opened: the server does not start
StoreUnavailableError        it cannot be read or written now, and is as it was
"""

from __future__ import annotations


class StoreError(Exception):
    """The store cannot be opened; the message says why and what to do."""


class StoreUnavailableError(Exception):
    """The store cannot be read or written now; the change that was tried is not in it."""
