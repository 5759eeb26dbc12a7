"""What is kept with an episode, and the socket that it lives on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from ecom_rlve.envs.episode.episode import Episode
from ecom_rlve.envs.language.said import said_acts
from ecom_rlve.server.admission import tokens
from ecom_rlve.server.admission.leases import client
from ecom_rlve.server.encoding import answer_text, metadata_with_acts
from ecom_rlve.server.metrics import Tally
from ecom_rlve.server.runs.runs import Entry

LOOSE_BYTES = 1 << 17
"""Bytes of answers whose objects an episode may hold. Packing costs 10 µs for each thousand of them, and most episodes
never come so far."""


class StoredAnswer(NamedTuple):
    """The answer that was given to the request id of a reset."""

    digest: bytes
    """Digest of the request's body."""
    body: str


class Answered(NamedTuple):
    """The step that was taken for a request id: its answer stands in the episode's log, and is kept nowhere else."""

    digest: bytes
    """Digest of the request's body."""
    step: int
    """Which of the episode's steps it was, from 1."""
    metadata: str
    """The answer's ``metadata``, JSON already."""


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
        "loose",
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
        self.answers: dict[str, Answered] = {}
        self.loose = 0
        """Bytes of answers that its log was given since it was packed last."""
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

    @property
    def told(self) -> str:
        """The ``metadata`` of the answer to the latest step, as JSON."""
        return metadata_with_acts(self.metadata, said_acts(self.episode.acts)) if self.discloses else self.metadata

    @property
    def latest_answer(self) -> str:
        """The answer that the latest observation is sent in."""
        return answer_text(self.episode.log.latest, self.told)

    def answer_to(self, answered: Answered) -> str:
        """Return the answer to an earlier request again, byte for byte."""
        return answer_text(self.episode.log.steps[answered.step - 1].observation, answered.metadata)

    def keep_answer(self, request_id: str, digest: bytes) -> None:
        """Note which request the latest step was taken for."""
        self.answers[request_id] = Answered(digest, len(self.episode.log.steps), self.told)

    def pack(self, more: int) -> None:
        """Note that so many bytes were answered, and keep earlier steps in few bytes once they are many."""
        self.loose += more
        if self.loose >= LOOSE_BYTES:
            self.loose = 0
            self.episode.log.pack()


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

    @property
    def kept_as(self) -> str | None:
        """The id of a session that is kept; None for a socket."""
        return self.session_id if self.is_kept else None
