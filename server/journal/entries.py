"""What the journal holds, as plain values."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from pydantic_core import PydanticSerializationError, to_json

from ecom_rlve.envs.customer.outcome import Outcome
from ecom_rlve.envs.customer.turn import NOTHING_UNDERSTOOD, Understood
from ecom_rlve.envs.customer.voice import Spoken
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.episode.log import FINISH
from ecom_rlve.server.encoding import digest_of_text
from ecom_rlve.server.runs.runs import Entry, key_of


class Line(NamedTuple):
    """One action of an episode, with everything that playing it again needs. A tuple, because each step makes one."""

    n: int
    """Which of the episode's actions it is, from 1."""
    action: str | None
    """Its JSON as it was read; None for the client's ending the episode."""
    request_id: str | None
    digest: bytes | None
    """Digest of the request; None without a request id."""
    answer: bytes
    """Digest of the answer: what is played again must come to the same."""
    more: str | None
    """JSON of what a model said, and of why the server ended the episode; None where nothing of that happened."""

    @classmethod
    def of(cls, episode: Episode, request_id: str | None, digest: bytes | None, body: str) -> Line:
        """Return the line of an episode's latest step, which was answered with ``body``."""
        log = episode.log
        step = log.steps[-1]
        more: dict[str, Any] = {}
        if step.understood:
            more["understood"] = dict(step.understood)
        if step.spoken:
            more["spoken"] = step.spoken
        if log.aborted is not None:
            more["aborted"] = log.aborted
        return cls(
            len(log.steps),
            None if step.action is FINISH else _text_of(step.action),
            request_id,
            digest,
            digest_of_text(body),
            json.dumps(more) if more else None,
        )

    @property
    def taken(self) -> Mapping[str, Any]:
        """The action."""
        if self.action is None:
            return FINISH
        action: dict[str, Any] = json.loads(self.action)
        return action

    @property
    def told(self) -> dict[str, Any]:
        """What :attr:`more` holds."""
        found: dict[str, Any] = json.loads(self.more) if self.more else {}
        return found


@dataclass(frozen=True, slots=True)
class Options:
    """How an episode is shown, beside its spec."""

    include: tuple[str, ...]
    disclose: bool
    reveal_goal: bool
    simulator: str
    discloses: bool
    """Answers tell what the customer said as acts."""

    def build(self) -> dict[str, Any]:
        """Return the arguments with which an episode is built."""
        return {
            "include": self.include,
            "disclose": self.disclose,
            "reveal_goal": self.reveal_goal,
            "simulator": self.simulator,
        }


@dataclass(frozen=True, slots=True)
class Stored:
    """One episode as the journal holds it."""

    row: int
    episode_id: str
    stamp: str
    """What it was played on: :class:`~ecom_rlve.run_models.Pins` as JSON."""
    run: str
    run_row: int | None
    """The run whose curriculum waits for its end; None if none does."""
    spec: EpisodeSpec
    options: Options
    spoken: tuple[Spoken, ...]
    """Its opening, if a model worded that."""
    metadata: str
    reset_id: str | None
    reset_digest: bytes | None
    account: str | None
    """Whose it is; None on a server that is open to all."""
    client: str | None
    """The client that made it, whose heartbeats keep it; None if that did not name itself."""
    state: str
    """``live``, ``ended``, or ``damaged``: it cannot be played again."""

    @property
    def is_live(self) -> bool:
        """Whether it can be played on."""
        return self.state == "live"


def _text_of(action: Mapping[str, Any]) -> str:
    try:
        # Four times as fast as ``json``, and each step needs it.
        return to_json(action).decode()
    except PydanticSerializationError:
        # Half a character, which only a caller in the same process can send, is no UTF-8, but can be written as JSON.
        return json.dumps(action)


def spoken_of(written: Any) -> tuple[Spoken, ...]:
    """Return what was said, from its JSON."""
    return tuple(Spoken(str(words), Outcome(outcome)) for words, outcome in written or ())


def understood_of(written: Any) -> Understood:
    """Return what a model understood, from its JSON."""
    if not written:
        return NOTHING_UNDERSTOOD
    return {str(text): tuple(map(str, names)) for text, names in written.items()}


def entry_of(stored: Stored) -> Entry | None:
    """Return what a curriculum waits for; None if none does."""
    if stored.run_row is None:
        return None
    return Entry(stored.run_row, key_of(stored.spec), stored.spec.seed, stored.episode_id)
