"""What is kept with an episode, and the socket that it lives on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from ecom_rlve.envs.episode.episode import Episode
from ecom_rlve.server.admission import tokens
from ecom_rlve.server.admission.leases import client
from ecom_rlve.server.metrics import Tally
from ecom_rlve.server.runs.runs import Entry


class StoredAnswer(NamedTuple):
    """The answer that was given to a request id."""

    digest: bytes
    """Digest of the request's body."""
    body: str


class Record:
    """One episode and what the server keeps with it."""

    __slots__ = (
        "account",
        "answers",
        "build",
        "client",
        "discloses",
        "entry",
        "env_id",
        "episode",
        "episode_id",
        "gone",
        "in_flight",
        "lock",
        "metadata",
        "owner",
        "reset_answer",
        "reset_id",
        "row",
        "run_id",
        "tally",
        "used_at",
    )

    def __init__(self, build: Callable[[], Episode]) -> None:
        """Build the episode; ``build`` returns an equal episode each time."""
        self.build = build
        self.episode = build()
        metadata = self.episode.metadata
        self.env_id = metadata.env_id
        self.episode_id = self.episode.id
        self.metadata = metadata.model_dump_json()
        """The answer's ``metadata``, already JSON."""
        self.account: str | None = None
        """Whose episode it is; None on a server that is open to all."""
        self.client: str | None = None
        """The client that made it, whose heartbeats keep it; None if that did not name itself."""
        self.discloses = False
        """Its answers tell what the customer said as acts."""
        self.answers: dict[str, StoredAnswer] = {}
        self.entry: Entry | None = None
        """What its run's curriculum waits for; None if it does not, or has got it."""
        self.run_id: str | None = None
        """The run whose episode this is, whether it counts or not."""
        self.tally: Tally | None = None
        """The figures that have yet to count its end; None if none have to, or it is done."""
        self.row: int | None = None
        """Where the journal holds it; None without a journal."""
        self.reset_id: str | None = None
        self.reset_answer: StoredAnswer | None = None
        self.lock = asyncio.Lock()
        """Keeps the steps of one episode in order."""
        self.owner: Connection | None = None
        """The socket it lives on; None over HTTP."""
        self.in_flight = 0
        """Number of requests that are using it now; meanwhile it does not expire."""
        self.used_at = 0.0
        self.gone = False
        """Deleted, expired or replaced."""


class Connection:
    """One socket, or one JSON-RPC session, which sockets may attach to: one place, at most one episode."""

    __slots__ = ("account", "client", "is_kept", "record", "session_id", "used_at", "users")

    def __init__(self, is_kept: bool) -> None:
        """``is_kept``: it stays when a socket of it goes, until it is closed or expires."""
        self.record: Record | None = None
        self.account = tokens.account()
        self.client = client()
        self.is_kept = is_kept
        self.session_id: str | None = None
        """By which JSON-RPC requests name it; None while none can."""
        self.users = 0
        """Sockets that are attached and requests that are using it; meanwhile it does not expire."""
        self.used_at = 0.0
