"""What a run plays: its configuration, and the episodes that follow from it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from ecom_rlve.evaluation.judging.errors import JudgingError
from ecom_rlve.models import MAX_DIFFICULTY, Format, Split, Style
from ecom_rlve.streams import stream

MOST_SEED = 2**31
"""Seeds are drawn below it: every reader of JSON holds such a number exactly."""
Calls = Literal["native", "text"]


class Task(NamedTuple):
    """One episode of a run; equal but for ``trial`` they are the same episode, played again."""

    env_id: str
    difficulty: int
    seed: int
    trial: int

    @property
    def episode(self) -> tuple[str, int, int]:
        """What the trials of one episode have in common."""
        return self.env_id, self.difficulty, self.seed

    def __str__(self) -> str:
        return f"{self.env_id} d={self.difficulty} seed {self.seed} trial {self.trial}"


class Plan(BaseModel):
    """The configuration of a run. Two runs of equal plans against equal servers play the same episodes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    agent: str
    """``expert``, another built-in agent, ``openai:MODEL``, or ``python:module:factory``."""
    calls: Calls = "native"
    """How a chat model acts: with the API's own tool calls, or in raw text that is read as ``format`` says."""
    request: dict[str, Any] = Field(default_factory=dict)
    """Further fields of each request to a chat model, such as ``temperature`` and ``max_tokens``."""
    envs: tuple[str, ...]
    """Environments in the order in which they are played."""
    difficulties: tuple[int, ...]
    episodes: int = Field(ge=1, le=100_000)
    """Episodes of each environment at each difficulty."""
    trials: int = Field(ge=1, le=1000)
    """How often each episode is played."""
    seed: int = Field(default=0, ge=0)
    """Feeds the stream that the episodes' seeds are drawn from."""
    split: Split = "eval"
    style: Style = "turn"
    format: Format = "strict"
    suite: str | None = None
    """The frozen suite that the episodes are those of."""
    suite_hash: str | None = None

    @property
    def size(self) -> int:
        """Number of episodes, every trial counted."""
        return len(self.envs) * len(self.difficulties) * self.episodes * self.trials


def tasks_of(plan: Plan) -> Iterator[Task]:
    """Yield every episode of a plan. First trials of all episodes come first: a run that is cut short has seen most."""
    for trial in range(plan.trials):
        for env_id in plan.envs:
            for d in plan.difficulties:
                for seed in seeds_of(plan, env_id, d):
                    yield Task(env_id, d, seed, trial)


def seeds_of(plan: Plan, env_id: str, d: int) -> list[int]:
    """Return the seeds of a cell. More episodes begin with the same ones, and no other cell has any effect on them."""
    source = stream(plan.seed, "judging", plan.suite or "", plan.split, env_id, d)
    # One after another: what a batch draws may depend on its size. A seed that comes twice would be one episode.
    seeds: dict[int, None] = {}
    while len(seeds) < plan.episodes:
        seeds.setdefault(int(source.integers(MOST_SEED)))
    return list(seeds)


def difficulties_of(text: str) -> tuple[int, ...]:
    """Return the difficulties that ``0-12``, ``0,3,6`` or ``0-3,9`` name, in order and once each.

    Raises :class:`JudgingError` for anything else.

    >>> difficulties_of("0-2,6")
    (0, 1, 2, 6)
    """
    found: set[int] = set()
    for part in text.split(","):
        first, dash, last = (each.strip() for each in part.partition("-"))
        ends = (first, last if dash else first)
        if not all(end.isascii() and end.isdecimal() and int(end) <= MAX_DIFFICULTY for end in ends):
            raise JudgingError(f"no difficulties {text!r}; write 0-12 or 0,3,6, from 0 to {MAX_DIFFICULTY}")
        found |= set(range(int(ends[0]), int(ends[1]) + 1))
    if not found:
        raise JudgingError(f"no difficulties {text!r}: the first of a range is the lower one")
    return tuple(sorted(found))
