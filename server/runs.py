"""What lives longer than an episode: the curricula of runs, and the groups whose resets share one episode.

Everything here runs on the event loop and never waits.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from ecom_rlve.envs.curriculum import Curriculum
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.registry import choose_environment, environment
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import ResetRequest
from ecom_rlve.server.errors import EnvironmentConflictError, GroupConflictError
from ecom_rlve.server.openings import SEEDS

# As long as an idle episode is kept by default.
_GROUP_TTL_S = 3600.0
# A client may name as many groups as it likes, at the cost of a reset each; the oldest go.
_MOST_GROUPS = 100_000


@dataclass(frozen=True, slots=True)
class Assignment:
    """The episode that a reset gets, and who counts it."""

    spec: EpisodeSpec
    run_id: str | None
    """The run whose curriculum drew the difficulty and counts the episode; None if none does."""


@dataclass(slots=True)
class _Group:
    assignment: Assignment
    size: int
    left: int
    made_at: float


class Runs:
    """Curricula by run and open groups by (run, group)."""

    def __init__(self, shop: Shop, now: Callable[[], float], deal: Callable[[EpisodeSpec], int | None]) -> None:
        """``now`` is a monotonic clock in seconds, for the expiry of groups. ``deal`` returns a seed whose first
        message is worded already, or None; it is asked when a reset leaves the seed to the server.
        """
        self._shop = shop
        self._now = now
        self._deal = deal
        self._curricula: dict[str, Curriculum] = {}
        self._groups: dict[tuple[str, str], _Group] = {}

    def curriculum(self, run_id: str) -> Curriculum:
        """Return the curriculum of a run, a new one if the run is new."""
        return self._curricula.setdefault(run_id, Curriculum())

    def resolve(self, request: ResetRequest, env: str | None) -> Assignment:
        """Return the episode that a reset asks for; ``env`` is the environment that the address fixes.

        Raises:
            UnknownEnvironmentError: no environment or collection has this name.
            EnvironmentConflictError: address and body name different environments.
            GroupConflictError: the group plays another episode.
        """
        fixed = _named_environment(request, env)
        if request.group_id is None:
            return self._drawn(request, fixed)
        key = (request.run_id, request.group_id)
        group = self._groups.get(key)
        if group is None or group.left < 1 or self._now() - group.made_at > _GROUP_TTL_S:
            self._forget_old_groups()
            group = _Group(self._drawn(request, fixed), request.group_size, request.group_size, self._now())
            # Groups are kept in order of age, so a new one goes to the end, even if it replaces one of the same name.
            self._groups.pop(key, None)
            self._groups[key] = group
        _require_agreement(request, fixed, group.assignment.spec)
        group.left -= 1
        return group.assignment

    def give_back(self, request: ResetRequest) -> None:
        """Let a group serve one reset more, after a reset failed. A group that has served none is forgotten."""
        key = (request.run_id, request.group_id or "")
        group = self._groups.get(key)
        if group is not None and request.group_id is not None:
            group.left += 1
            if group.left == group.size:
                del self._groups[key]

    def count(self, run_id: str, episode: Episode) -> None:
        """Count an episode for its run's curriculum: it has ended, or was deleted after its first step."""
        spec, result = episode.spec, episode.result
        share = Fraction(0) if result is None else Fraction(result.correct_share)
        highest = episode.environment.max_difficulty(self._shop)
        curriculum = self.curriculum(run_id)
        curriculum.count(spec.env_id, spec.style, spec.format, spec.difficulty, spec.seed, share, highest)

    def _drawn(self, request: ResetRequest, fixed: str | None) -> Assignment:
        seed = secrets.randbelow(SEEDS) if request.seed is None else request.seed
        least = request.difficulty or 0
        env_id = fixed or choose_environment(
            request.collection, seed, lambda each: each.max_difficulty(self._shop) >= least
        )
        axes = tuple(sorted(request.axes.items()))
        spec = EpisodeSpec(env_id, request.difficulty or 0, seed, request.split, request.style, axes, request.format)
        run_id = None
        if request.difficulty is None:
            drawn = self.curriculum(request.run_id).draw(env_id, spec.style, spec.format, seed)
            spec = replace(spec, difficulty=drawn)
            run_id = request.run_id if request.split == "train" and not request.axes else None
        dealt = self._deal(spec) if request.seed is None else None
        return Assignment(spec if dealt is None else replace(spec, seed=dealt), run_id)

    def _forget_old_groups(self) -> None:
        """Forget expired groups, and the oldest ones if there are too many. Each group is removed only once."""
        now = self._now()
        while self._groups:
            key, oldest = next(iter(self._groups.items()))
            if now - oldest.made_at <= _GROUP_TTL_S and len(self._groups) < _MOST_GROUPS:
                break
            del self._groups[key]


def _named_environment(request: ResetRequest, env: str | None) -> str | None:
    fixed = None if env is None else environment(env).about.id
    asked = None if request.env_id is None else environment(request.env_id).about.id
    if fixed is not None and asked is not None and asked != fixed:
        raise EnvironmentConflictError(f"this address serves {fixed}, the request names {asked}")
    return fixed or asked


def _require_agreement(request: ResetRequest, fixed: str | None, spec: EpisodeSpec) -> None:
    given: dict[str, object] = {"env_id": fixed, "difficulty": request.difficulty, "seed": request.seed}
    given |= {name: getattr(request, name) for name in ("split", "style", "format") if name in request.model_fields_set}
    if "axes" in request.model_fields_set:
        given["axes"] = tuple(sorted(request.axes.items()))
    for name, value in given.items():
        if value is not None and value != getattr(spec, name):
            raise GroupConflictError(
                f"this group plays {name}={getattr(spec, name)!r}, not {value!r}; another episode needs another group"
            )
