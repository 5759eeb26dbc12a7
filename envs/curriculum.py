"""The adaptive curriculum of RLVE: a frontier per environment, style and format that climbs with success (SPEC §8)."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from ecom_rlve.models import Format, Style
from ecom_rlve.streams import stream

Key = tuple[str, Style, Format]
"""Environment, style and how raw text is read: neither styles nor formats are ever mixed."""


class CurriculumParameters(BaseModel):
    """How fast a curriculum climbs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tau_num: int = Field(default=32, ge=1)
    """Episodes at the frontier before it is judged (32 as the original authors; 128 in RLVE)."""
    tau_acc: float = Field(default=0.9, gt=0, le=1)
    """Share of them that must be correct."""
    window: int = Field(default=4, ge=1)
    """Levels from which difficulties are drawn: the frontier and those right below it."""
    least_seeds: int = Field(default=16, ge=1)
    """Distinct seeds among them, so that one group of rollouts does not decide alone."""


@dataclass(slots=True)
class Frontier:
    """Where one environment stands in one style and format."""

    level: int = 0
    correct: Fraction = Fraction(0)
    """Sum of the successes at the level so far, each in [0, 1]."""
    counted: int = 0
    """Episodes at the level so far."""
    seeds: set[int] = field(default_factory=set)


class Curriculum:
    """The curriculum of one run. Difficulties never go down; an episode is counted once, by whoever knows its end."""

    def __init__(self, parameters: CurriculumParameters | None = None) -> None:
        self.parameters = parameters or CurriculumParameters()
        self._frontiers: dict[Key, Frontier] = {}

    def frontier(self, env_id: str, style: Style, format: Format) -> int:
        """Return the highest difficulty that is drawn."""
        return self._at(env_id, style, format).level

    def frontiers(self) -> list[tuple[Key, int]]:
        """Return every frontier that was asked for so far, with its environment, style and format."""
        return [(key, frontier.level) for key, frontier in sorted(self._frontiers.items())]

    def draw(self, env_id: str, style: Style, format: Format, seed: int) -> int:
        """Return the difficulty of an episode, uniform over the window below the frontier; a function of the seed."""
        high = self.frontier(env_id, style, format)
        low = max(0, high - self.parameters.window + 1)
        return int(stream(seed, "difficulty", env_id, style).integers(low, high + 1))

    def count(
        self,
        env_id: str,
        style: Style,
        format: Format,
        difficulty: int,
        seed: int,
        success: Fraction,
        highest: int,
    ) -> None:
        """Count the end of an episode whose difficulty this curriculum drew.

        ``success`` is 1 for a correct episode, 0 otherwise, the share of correct intents in a journey. Only episodes
        at the frontier count; ``highest`` is the most difficult level that the catalog can serve: the frontier stops
        there.
        """
        frontier = self._at(env_id, style, format)
        if difficulty != frontier.level:
            return
        frontier.correct += success
        frontier.counted += 1
        frontier.seeds.add(seed)
        rules = self.parameters
        if frontier.counted < rules.tau_num or len(frontier.seeds) < rules.least_seeds:
            return
        climbs = frontier.correct >= Fraction(str(rules.tau_acc)) * frontier.counted
        self._frontiers[env_id, style, format] = Frontier(min(frontier.level + climbs, max(0, highest)))

    def export(self) -> dict[str, Any]:
        """Return the whole state as plain JSON; :meth:`restore` takes it."""
        return {
            "parameters": self.parameters.model_dump(),
            "frontiers": [
                {
                    "env_id": env_id,
                    "style": style,
                    "format": format,
                    "level": frontier.level,
                    "correct": str(frontier.correct),
                    "counted": frontier.counted,
                    "seeds": sorted(frontier.seeds),
                }
                for (env_id, style, format), frontier in sorted(self._frontiers.items())
            ],
        }

    @classmethod
    def restore(cls, state: dict[str, Any]) -> Curriculum:
        """Return the curriculum that :meth:`export` described; raises ``ValueError`` for anything else."""
        try:
            curriculum = cls(CurriculumParameters.model_validate(state["parameters"]))
            for entry in state["frontiers"]:
                # An export that names no format is older than the lenient one.
                key = str(entry["env_id"]), entry["style"], entry.get("format", "strict")
                curriculum._frontiers[key] = Frontier(
                    int(entry["level"]),
                    Fraction(entry["correct"]),
                    int(entry["counted"]),
                    set(map(int, entry["seeds"])),
                )
        except (KeyError, TypeError) as error:
            raise ValueError(f"this is no exported curriculum: {error!r}") from None
        return curriculum

    def _at(self, env_id: str, style: Style, format: Format) -> Frontier:
        return self._frontiers.setdefault((env_id, style, format), Frontier())
