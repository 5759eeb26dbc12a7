"""What lives longer than an episode: the curricula of runs, and the groups whose resets play one episode.

A run lives, with its curriculum and all of its groups, until room is needed and nobody has used it for an hour. Single
groups are never forgotten: one half of a group would then play another episode than the other. Everything here runs on
the event loop and never waits.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from hashlib import blake2b

from ecom_rlve.envs.curriculum import Curriculum
from ecom_rlve.envs.curriculum import Key as FrontierKey
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.registry import choose_environment, collection_members, environment
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import ResetRequest
from ecom_rlve.server.errors import EnvironmentConflictError, GroupConflictError, RunsFullError
from ecom_rlve.server.openings import SEEDS

MOST_RUNS = 1_000
"""Runs that are kept at the same time."""
MOST_GROUPS = 200_000
"""Groups of all of these runs: ten trainings of 300 steps with 64 prompts each. A group takes 300 bytes."""
# A trainer may learn for a while between two rollouts. As long as an idle episode is kept by default.
_IDLE_S = 3600.0


@dataclass(slots=True)
class Group:
    """One group of a run."""

    spec: EpisodeSpec
    counts_for: str | None
    members: int = 0
    """Resets that have begun its episode."""
    waiting: int = 0
    """Resets that are about to."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """The episode that a reset gets, and who counts it."""

    spec: EpisodeSpec
    run_id: str | None
    """The run whose curriculum drew the difficulty and counts the episode; None if none does."""
    group: Group | None = None


@dataclass(slots=True)
class _Run:
    used_at: float
    curriculum: Curriculum = field(default_factory=Curriculum)
    groups: dict[str, Group] = field(default_factory=dict)


class Runs:
    """The runs of one server, those unused for longest first."""

    def __init__(
        self,
        shop: Shop,
        now: Callable[[], float],
        deal: Callable[[EpisodeSpec], int | None],
        played: Callable[[], Collection[str | None]],
    ) -> None:
        """``now`` is a monotonic clock in seconds. ``deal`` returns a seed whose first message is worded already, or
        None; it is asked when a reset leaves the seed to the server. ``played`` returns the runs that have live
        episodes.
        """
        self._shop = shop
        self._now = now
        self._deal = deal
        self._played = played
        self._runs: dict[str, _Run] = {}
        self._groups = 0
        """Groups of all runs."""
        self._key = secrets.token_bytes(32)
        """Without it nobody can tell the seed of a group from its name."""

    def curriculum(self, run_id: str) -> Curriculum:
        """Return the curriculum of a run, a new one if the run is new; raises as :meth:`resolve` for too many runs."""
        return self._used(run_id).curriculum

    def frontiers(self, run_ids: Iterable[str]) -> Iterator[tuple[str, FrontierKey, int]]:
        """Yield run, environment with style and format, and frontier, for those of the runs that live."""
        for run_id in run_ids:
            if run_id in self._runs:
                for key, level in self._runs[run_id].curriculum.frontiers():
                    yield run_id, key, level

    def group_seed(self, run_id: str, group_id: str) -> int:
        """Return the seed of a group: a hash of both names, keyed by a secret of this server."""
        names = json.dumps([run_id, group_id]).encode()
        return int.from_bytes(blake2b(names, key=self._key, digest_size=8).digest()) % SEEDS

    def resolve(self, request: ResetRequest, env: str | None) -> Assignment:
        """Return the episode that a reset asks for; ``env`` is the environment that the address fixes.

        Where it names a group, :meth:`join` or :meth:`give_back` must follow.

        Raises:
            UnknownEnvironmentError: no environment or collection has this name.
            EnvironmentConflictError: address and body name different environments.
            GroupConflictError: the group plays another episode.
            RunsFullError: there is no room for another run, or another group.
        """
        fixed = _named_environment(request, env)
        run = self._used(request.run_id)
        if request.group_id is None:
            return Assignment(*self._drawn(request, fixed, run.curriculum))
        group = run.groups.get(request.group_id)
        if group is None:
            self._make_room(lambda: self._groups < MOST_GROUPS)
            group = Group(*self._drawn(request, fixed, run.curriculum))
            run.groups[request.group_id] = group
            self._groups += 1
        _require_agreement(request, fixed, group.spec)
        group.waiting += 1
        return Assignment(group.spec, group.counts_for, group)

    def join(self, group: Group) -> None:
        """Note that a reset has begun the group's episode."""
        group.waiting -= 1
        group.members += 1

    def give_back(self, request: ResetRequest, group: Group) -> None:
        """Note that a reset failed. A group whose episode nobody has begun, or is about to, is forgotten."""
        group.waiting -= 1
        groups = self._runs[request.run_id].groups if request.run_id in self._runs else {}
        group_id = request.group_id or ""
        if not group.members and not group.waiting and groups.get(group_id) is group:
            del groups[group_id]
            self._groups -= 1

    def count(self, run_id: str, episode: Episode) -> None:
        """Count an episode for its run's curriculum: it has ended, or was deleted after its first step.

        Nothing is counted for a run that was forgotten meanwhile.
        """
        if run_id not in self._runs:
            return
        spec, result = episode.spec, episode.result
        share = Fraction(0) if result is None else Fraction(result.correct_share)
        highest = episode.environment.max_difficulty(self._shop)
        curriculum = self.curriculum(run_id)
        curriculum.count(spec.env_id, spec.style, spec.format, spec.difficulty, spec.seed, share, highest)

    def _drawn(
        self, request: ResetRequest, fixed: str | None, curriculum: Curriculum
    ) -> tuple[EpisodeSpec, str | None]:
        """Return a new episode for a reset, and the run that counts it."""
        seed, is_anyones = request.seed, False
        if seed is None and request.group_id is not None:
            seed = self.group_seed(request.run_id, request.group_id)
        elif seed is None:
            seed, is_anyones = secrets.randbelow(SEEDS), True
        least = request.difficulty or 0
        env_id = fixed or choose_environment(
            request.collection, seed, lambda each: each.max_difficulty(self._shop) >= least
        )
        axes = tuple(sorted(request.axes.items()))
        spec = EpisodeSpec(env_id, request.difficulty or 0, seed, request.split, request.style, axes, request.format)
        run_id = None
        if request.difficulty is None:
            spec = replace(spec, difficulty=curriculum.draw(env_id, spec.style, spec.format, seed))
            run_id = request.run_id if request.split == "train" and not request.axes else None
        dealt = self._deal(spec) if is_anyones else None
        return spec if dealt is None else replace(spec, seed=dealt), run_id

    def _used(self, run_id: str) -> _Run:
        """Return a run, a new one if there is none, and note that it is used now."""
        run = self._runs.pop(run_id, None)
        if run is None:
            self._make_room(lambda: len(self._runs) < MOST_RUNS)
            run = _Run(self._now())
        run.used_at = self._now()
        # Runs are kept in the order of their use.
        self._runs[run_id] = run
        return run

    def _make_room(self, has_room: Callable[[], bool]) -> None:
        """Forget runs that are long unused and not played, until there is room; raise ``RunsFullError`` without any."""
        if has_room():
            return
        played = self._played()
        for run_id, run in list(self._runs.items()):
            if self._now() - run.used_at <= _IDLE_S:
                break
            if run_id not in played:
                del self._runs[run_id]
                self._groups -= len(run.groups)
            if has_room():
                return
        raise RunsFullError(
            f"at most {MOST_RUNS} runs with {MOST_GROUPS} groups are kept; a run that is neither played nor named by a "
            "reset for an hour makes room for others"
        )


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
    if fixed is None and request.collection is not None and spec.env_id not in collection_members(request.collection):
        given["env_id"] = request.collection
    for name, value in given.items():
        if value is not None and value != getattr(spec, name):
            raise GroupConflictError(
                f"this group plays {name}={getattr(spec, name)!r}, not {value!r}; another episode needs another group"
            )
