"""Wire types of runs: their settings, their curricula, what they draw, and what is reported to them."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator

from ecom_rlve.models import (
    DEFAULT_PROFILE,
    MAX_DIFFICULTY,
    MAX_OBSERVATION_BYTES,
    MAX_SEED,
    WHOLE,
    Format,
    RewardProfile,
    Split,
    Style,
    Uncounted,
)

MIN_OBSERVATION_BYTES = 4_000
"""Room for ten product cards and what stands around them: a smaller observation could not hold one page of results."""
MOST_AT_ONCE = 256
"""Episodes that one request may draw or report: nobody else is served for the fifty milliseconds that it takes."""
EXPORT_FORMAT = 1
"""Version of the form of an export."""

RunId = Annotated[str, Field(min_length=1, max_length=255)]
EpisodeId = Annotated[str, Field(min_length=1, max_length=255)]
Seed = Annotated[int, Field(ge=0, le=MAX_SEED, strict=True), WHOLE]
Difficulty = Annotated[int, Field(ge=0, le=MAX_DIFFICULTY, strict=True), WHOLE]


class CurriculumParameters(BaseModel):
    """How fast a curriculum climbs (SPEC §8)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tau_num: int = Field(default=32, ge=1, le=10_000)
    """Seeds that must be ready before the frontier is judged (32 as the original authors; 128 in RLVE)."""
    tau_acc: float = Field(default=0.9, gt=0, le=1)
    """What the mean of their correctness must reach."""
    passes: int = Field(default=2, ge=1, le=100)
    """Gates in a row that must pass before the frontier rises. One gate of 32 seeds lets a policy that is right in .75
    of episodes through three times in a hundred, by luck; two in a row raise it after less than one gate in a thousand,
    and one that is right in .95 hardly notices."""
    window: int = Field(default=4, ge=1, le=MAX_DIFFICULTY + 1)
    """Levels from which difficulties are drawn: the frontier and those right below it."""


class RunSettings(BaseModel):
    """What a trainer may choose for a run. Fields that are absent have their defaults."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    parameters: CurriculumParameters = CurriculumParameters()
    weights: dict[Annotated[str, Field(max_length=64)], Annotated[float, Field(ge=0, le=1e6)]] = Field(
        default_factory=dict
    )
    """How often each environment is drawn where a reset names neither ``env_id`` nor ``collection``, in any unit;
    empty: all are drawn equally often."""
    reward_profile: RewardProfile = DEFAULT_PROFILE
    """The weights of the reward's parts; they change ``r_total`` and nothing else."""
    observation_bytes: int = Field(default=MAX_OBSERVATION_BYTES, ge=MIN_OBSERVATION_BYTES, le=MAX_OBSERVATION_BYTES)
    """Greatest size of an observation as JSON. From a larger one whole cards of tool results are dropped from the
    end; what the first observation explains is never cut."""

    @field_validator("weights")
    @classmethod
    def _require_a_choice(cls, weights: dict[str, float]) -> dict[str, float]:
        if weights and not any(weights.values()):
            raise ValueError("one of the weights must be above 0")
        return weights


class Pins(BaseModel):
    """What a run is played on, from its first episode to its last."""

    model_config = ConfigDict(frozen=True)

    package: str
    """Version of the package at the run's beginning; it may change, as long as no environment does."""
    environments: dict[str, str]
    """Version of each environment: it rises with every change that moves scores."""
    catalog: str
    """Fingerprint of the catalog."""
    bank: str
    """Fingerprint of the sentences that the customer is worded with."""


class FrontierState(BaseModel):
    """Where one environment stands in one style and format."""

    env_id: str
    style: Style
    format: Format
    level: int
    """The highest difficulty that is drawn."""
    passes: int
    """Gates that passed in a row at this level."""
    ready_seeds: int
    """Seeds that wait for the next gate: none of their episodes is live, and at least one was counted."""
    live_seeds: int
    """Seeds that have live episodes."""
    mean: float | None
    """Mean correctness of the ready seeds; None without any."""


class RunState(BaseModel):
    """A run as it is."""

    run_id: str
    settings: RunSettings
    pins: Pins
    is_playable: bool
    """Whether the pins are this server's; if not, the run can be forked."""
    forked_from: str | None
    """The run that this one was forked from."""
    counted: int
    """Episodes that were counted since the run began."""
    groups: int
    frontiers: list[FrontierState]


class LiveEpisode(BaseModel):
    """One live episode of a run."""

    episode_id: str
    env_id: str
    difficulty: int
    seed: int
    split: Split
    style: Style
    format: Format
    step_count: int
    """Steps applied since reset."""


class SampleRequest(BaseModel):
    """Draws episodes of a run, each a group of its own."""

    model_config = ConfigDict(extra="forbid")

    run_id: RunId = "default"
    n: int = Field(default=1, ge=1, le=MOST_AT_ONCE)
    env_id: Annotated[str, Field(max_length=64)] | None = None
    """As in a reset."""
    collection: str | list[str] | None = None
    """As in a reset."""
    split: Split = "train"
    style: Style = "turn"
    format: Format = "strict"


class SampledEpisode(BaseModel):
    """One drawn episode. All fields together are arguments of a reset, and count as they are."""

    env_id: str
    difficulty: int
    seed: int
    split: Split
    style: Style
    format: Format
    group_id: str
    """No other group of the run has this name."""
    run_id: str


class Sample(BaseModel):
    """Episodes that were drawn."""

    episodes: list[SampledEpisode]


class ReportedEpisode(BaseModel):
    """An episode that was drawn by ``/episodes/sample``, played elsewhere and ended there."""

    model_config = ConfigDict(extra="ignore")

    episode_id: EpisodeId
    """Whoever reports an episode again names the same id."""
    env_id: Annotated[str, Field(max_length=64)]
    difficulty: Difficulty
    seed: Seed
    split: Split = "train"
    style: Style = "turn"
    format: Format = "strict"
    axes: dict[str, float] = Field(default_factory=dict)
    correct_share: float = Field(ge=0, le=1)
    """As in a result: 1 if correct, else 0; in a journey the share of correct errands."""


class Report(BaseModel):
    """Results of episodes that were played elsewhere."""

    model_config = ConfigDict(extra="forbid")

    episodes: list[ReportedEpisode] = Field(max_length=MOST_AT_ONCE)


class Reported(BaseModel):
    """What became of one reported episode."""

    episode_id: str
    counts: bool
    why_uncounted: Uncounted | None = None


class ReportAnswer(BaseModel):
    """What became of a report."""

    counted: int
    episodes: list[Reported]
    """In the order of the report."""


def _fraction(text: str) -> str:
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError):
        value = Fraction(-1)
    if not 0 <= value <= 1:
        raise ValueError("a fraction between 0 and 1 is wanted, such as '1/2'")
    return text


Share = Annotated[str, Field(max_length=16), AfterValidator(_fraction)]
"""A correctness as an exact fraction: ``1``, ``0``, ``2/3``."""


class ExportedSeed(BaseModel):
    """A seed that was drawn at the frontier and not judged yet."""

    model_config = ConfigDict(extra="forbid")

    seed: Seed
    is_grouped: bool
    episodes: dict[EpisodeId, Share | Literal["left"]]
    """Correctness by episode; ``left``: it was given up. Live episodes are left out."""


class ExportedFrontier(BaseModel):
    """A frontier with everything that was counted at its level."""

    model_config = ConfigDict(extra="forbid")

    env_id: str
    style: Style
    format: Format
    level: Difficulty
    passes: int = Field(ge=0)
    seeds: list[ExportedSeed]
    judged: list[Seed]
    """Seeds that were judged at this level, in order."""


class RunExport(BaseModel):
    """A run's curriculum as plain data; groups are no part of it."""

    model_config = ConfigDict(extra="forbid")

    export_format: Literal[1]
    run_id: RunId
    settings: RunSettings
    pins: Pins
    counted: int = Field(ge=0)
    frontiers: list[ExportedFrontier]


class ImportRequest(BaseModel):
    """Exports to merge into a run, in any order."""

    model_config = ConfigDict(extra="forbid")

    exports: list[RunExport] = Field(min_length=1, max_length=64)


class ForkRequest(BaseModel):
    """Asks for a run with the frontiers of another, on what this server serves today."""

    model_config = ConfigDict(extra="forbid")

    run_id: RunId
    """Name of the new run."""
