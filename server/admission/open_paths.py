"""What anybody may ask: without a token, by any name of the server, and while all connections are taken."""

from __future__ import annotations

OPEN_PATHS = frozenset({"/health", "/ready"})
