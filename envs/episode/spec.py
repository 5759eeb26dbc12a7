"""What determines an episode."""

from __future__ import annotations

from dataclasses import dataclass

from ecom_rlve.models import (
    DEFAULT_PROFILE,
    MAX_OBSERVATION_BYTES,
    EpisodeMetadata,
    Format,
    RewardProfile,
    Split,
    Style,
)


@dataclass(frozen=True, slots=True)
class EpisodeSpec:
    """What determines an episode, given catalog and version: equal specs give equal episodes."""

    env_id: str
    difficulty: int = 0
    seed: int = 0
    split: Split = "train"
    style: Style = "turn"
    axes: tuple[tuple[str, float], ...] = ()
    """Overrides of single axes, by name."""
    format: Format = "strict"
    """How raw text is read; nothing else depends on it."""
    reward_profile: RewardProfile = DEFAULT_PROFILE
    """The weights of the reward's parts; only the total depends on them."""
    observation_bytes: int = MAX_OBSERVATION_BYTES
    """Greatest size of an observation."""

    @classmethod
    def of(cls, metadata: EpisodeMetadata) -> EpisodeSpec:
        """Return the spec of the episode that has this metadata."""
        return cls(
            metadata.env_id,
            metadata.difficulty,
            metadata.seed,
            metadata.split,
            metadata.style,
            tuple(sorted(metadata.axes.items())),
            metadata.format,
            metadata.reward_profile,
            metadata.observation_bytes,
        )
