"""What a run writes down: one line for each episode, and one for each that failed through no fault of the agent."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ecom_rlve.evaluation.judging.plan import Plan, Task
from ecom_rlve.models import EnvironmentInfo, EpisodeResult, Format, Split, Style

FORMAT = 1
"""Version of the files; readers refuse another one."""
FaultKind = Literal["timeout", "crash", "unreadable", "refused", "truncated"]


class Usage(BaseModel):
    """What an agent used up."""

    model_config = ConfigDict(extra="forbid")

    requests: int = 0
    """Requests to a chat model, those included that were tried again."""
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.prompt_tokens + self.completion_tokens

    def add(self, other: Usage) -> None:
        """Count what another one counted too."""
        self.requests += other.requests
        self.prompt_tokens += other.prompt_tokens
        self.completion_tokens += other.completion_tokens


class Fault(BaseModel):
    """What an agent did wrong where its action could not even be sent; the episode has a result all the same."""

    model_config = ConfigDict(extra="forbid")

    kind: FaultKind
    """``timeout``, ``crash``, ``refused`` and ``truncated`` finish the episode; ``unreadable`` is a format failure."""
    message: str


class TaskLine(BaseModel):
    """Which episode a line is about."""

    model_config = ConfigDict(extra="forbid")

    env_id: str
    difficulty: int
    seed: int
    trial: int
    usage: Usage = Field(default_factory=Usage)

    @property
    def task(self) -> Task:
        """The episode."""
        return Task(self.env_id, self.difficulty, self.seed, self.trial)


class EpisodeLine(TaskLine):
    """One episode as it was played; the trace is the whole of it."""

    reward: float
    result: EpisodeResult
    fault: Fault | None = None
    split: Split
    style: Style
    format: Format
    axes: dict[str, float]
    version: str
    """Of the package and of the environment: ``0.1.0/4``."""
    catalog: str
    bank: str
    simulator: str
    discloses_acts: bool
    """Whether the server told the customer's acts: such an episode is for no board."""
    max_turns: int
    asked: int
    """Turns in which the agent asked the customer something."""
    answered: int
    """Those of them to which the customer said something."""
    trace: str
    """As ``GET /episodes/{id}/trace`` gave it: ``ecom-rlve replay`` verifies it."""


class FailureLine(TaskLine):
    """An episode without a result. It counts for nothing, and is played again when the run goes on."""

    kind: Literal["infrastructure", "unservable", "capped"]
    """``capped``: it was left when the run had spent all that it may."""
    message: str


class ServerStamp(BaseModel):
    """The server that a run plays against."""

    model_config = ConfigDict(extra="forbid")

    version: str
    catalog: str
    """Fingerprint of the catalog."""
    source: str
    """Where the server has its products from, for whoever replays a trace."""


class Config(BaseModel):
    """``config.json`` of a folder of results."""

    model_config = ConfigDict(extra="forbid")

    format: int = FORMAT
    run_id: str
    """The run that all episodes name at the server, so that those of a killed process can be found and ended."""
    plan: Plan
    server: ServerStamp
    environments: list[EnvironmentInfo]
    """What the server told of those that are played."""
