"""Runs at work: the episode that a reset gets, and what counts for which curriculum.

Everything that outlives an episode stands in the store, and every answer's changes are one transaction. Only groups
whose first episode is still being built are kept beside it: they are nowhere if that fails. Resets ask on the event
loop; with a journal its thread makes the changes, over a connection and an object of its own.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b

from ecom_rlve.envs.curriculum.gate import Curriculum
from ecom_rlve.envs.curriculum.ledger import Key, Outcome
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.registry import environment
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import ResetRequest, Uncounted
from ecom_rlve.run_models import FrontierState, RunSettings
from ecom_rlve.server.errors import RunPinnedError, RunsFullError, UnknownRunError
from ecom_rlve.server.openings import SEEDS
from ecom_rlve.server.runs.pins import difference, pins_of, read_pins
from ecom_rlve.server.runs.specs import (
    asked_spec,
    chosen_environment,
    named_environment,
    read_spec,
    require_agreement,
    spec_text,
)
from ecom_rlve.server.store.database import Database
from ecom_rlve.server.store.frontier_rows import frontiers_of
from ecom_rlve.server.store.ledger import StoredLedger
from ecom_rlve.server.store.run_rows import RunRow, RunRows

MOST_RUNS = 1_000
"""Runs that are kept at the same time."""
MOST_GROUPS = 1_000_000
"""Groups of one run: fifty trainings of 300 steps with 64 prompts each. A group takes 300 bytes of the store."""
NOBODYS_RUN = "default"
"""The run of resets that name none."""


class GroupTakenError(Exception):
    """A group plays another episode than a reset has just drawn for it: resolve the reset again."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An episode that a curriculum waits for."""

    run: int
    """The run's row."""
    key: Key
    seed: int
    episode_id: str


@dataclass(frozen=True, slots=True)
class Assignment:
    """The episode that a reset gets."""

    run: RunRow
    spec: EpisodeSpec
    group_id: str | None
    is_drawn: bool
    """The server has just drawn both seed and difficulty, for this run."""


@dataclass(frozen=True, slots=True)
class Begun:
    """An episode as it begins."""

    entry: Entry | None
    """None if no curriculum counts it."""
    why_uncounted: Uncounted | None
    member: int | None
    """Which of its group's episodes it is, from 1; None without a group."""


@dataclass(slots=True)
class _Opening:
    """A group whose first episode is being built."""

    assignment: Assignment
    waiting: int = 0
    """Resets that are about to begin it."""


class Runs:
    """The runs of one server."""

    def __init__(self, shop: Shop, database: Database, deal: Callable[[EpisodeSpec], int | None]) -> None:
        """``deal`` returns a seed whose first message is worded already, or None; it is asked when a reset leaves the
        seed to the server.
        """
        self._shop = shop
        self.database = database
        self.rows = RunRows(database)
        self.pins = pins_of(shop)
        self._pins_text = self.pins.model_dump_json()
        self._deal = deal
        self._openings: dict[tuple[int, str], _Opening] = {}
        self._highest: dict[str, int] = {}

    def transaction(self) -> AbstractContextManager[None]:
        """Make all changes of a block or none; see :meth:`Database.transaction`."""
        return self.database.transaction()

    def known(self, name: str) -> RunRow:
        """Return a run; raises ``UnknownRunError``."""
        run = self.rows.find(name)
        if run is None:
            raise UnknownRunError(f"no run is called {name[:64]!r}: play it, or make it by PUT /curriculum/…")
        return run

    def opened(self, name: str) -> RunRow:
        """Return a run that may be played here, a new one if there is none of this name.

        Raises:
            RunPinnedError: it was played on something else.
            RunsFullError: there is no room for another run.
        """
        run = self.rows.find(name)
        if run is None:
            return self.added(name, RunSettings())
        if run.pins == self._pins_text:
            return run
        differs = difference(read_pins(run.pins), self.pins)
        if differs is None:
            return run
        if not run.counted and not run.groups:
            return self._pinned_anew(run)
        if name == NOBODYS_RUN:
            return self._begun_anew(run)
        raise RunPinnedError(
            f"run {name[:64]!r} was played on something else: {differs}; POST /curriculum/{name[:64]}/fork makes a new "
            "run with its frontiers on what this server serves"
        )

    def is_open(self, name: str) -> bool:
        """Tell whether :meth:`opened` would find a run and change nothing."""
        run = self.rows.find(name)
        return run is not None and (run.pins == self._pins_text or difference(read_pins(run.pins), self.pins) is None)

    def added(self, name: str, settings: RunSettings, pins: str = "", forked_from: str | None = None) -> RunRow:
        """Add a run, by default with this server's pins; raises ``RunsFullError``."""
        if self.rows.count() >= MOST_RUNS:
            raise RunsFullError(f"at most {MOST_RUNS} runs are kept; DELETE /curriculum/{{run_id}} makes room")
        pins = pins or self._pins_text
        return self.rows.add(name, settings.model_dump_json(), pins, secrets.token_bytes(32), forked_from)

    def highest(self, env_id: str) -> int:
        """Return the highest difficulty that the catalog can serve in an environment."""
        if env_id not in self._highest:
            self._highest[env_id] = environment(env_id).max_difficulty(self._shop)
        return self._highest[env_id]

    def curriculum(self, run: RunRow) -> Curriculum:
        """Return the curriculum of a run, for one transaction."""
        return Curriculum(StoredLedger(self.database, run.id), read_settings(run.settings).parameters)

    def frontiers(self, names: Iterable[str]) -> Iterator[tuple[str, FrontierState]]:
        """Yield run and frontier, for those of the runs that there are."""
        for name in names:
            run = self.rows.find(name)
            for frontier in () if run is None else frontiers_of(self.database, run.id):
                yield name, frontier

    def group_seed(self, run: RunRow, group_id: str) -> int:
        """Return the seed of a group: a hash of both names, keyed by a secret of the run."""
        names = json.dumps([run.name, group_id]).encode()
        return int.from_bytes(blake2b(names, key=run.key, digest_size=8).digest()) % SEEDS

    def resolve(self, request: ResetRequest, env: str | None) -> Assignment:
        """Return the episode that a reset asks for; ``env`` is the environment that the address fixes.

        :meth:`release` must follow, after :meth:`begin` if it comes to that.

        Raises:
            UnknownEnvironmentError: no environment or collection has this name.
            EnvironmentConflictError: address and body name different environments.
            GroupConflictError: the group plays another episode.
            RunPinnedError, RunsFullError, StoreUnavailableError: see there.
        """
        fixed = named_environment(request, env)
        run = self.opened(request.run_id)
        if request.group_id is None:
            return self._drawn(request, fixed, run)
        group = self.rows.group(run.id, request.group_id)
        if group is not None:
            assignment = Assignment(run, read_spec(group.spec), request.group_id, is_drawn=False)
            require_agreement(request, fixed, assignment.spec)
            return assignment
        opening = self._openings.get((run.id, request.group_id))
        if opening is None:
            if run.groups >= MOST_GROUPS:
                raise RunsFullError(f"a run has at most {MOST_GROUPS:,} groups; go on with another, such as a fork")
            opening = _Opening(self._drawn(request, fixed, run))
        require_agreement(request, fixed, opening.assignment.spec)
        self._openings[run.id, request.group_id] = opening
        opening.waiting += 1
        return opening.assignment

    def release(self, assignment: Assignment) -> None:
        """Note that a reset is over. A group whose episode nobody has begun, or is about to, is forgotten."""
        name = (assignment.run.id, assignment.group_id or "")
        opening = self._openings.get(name)
        if opening is not None and opening.assignment is assignment:
            opening.waiting -= 1
            if not opening.waiting:
                del self._openings[name]

    def begin(self, assignment: Assignment, episode_id: str, *, discloses_acts: bool) -> Begun:
        """Note that an episode begins, in the transaction that is open.

        Raises:
            UnknownRunError: the run was deleted meanwhile.
            GroupTakenError: another worker has begun the group meanwhile, with another episode.
        """
        run, spec, member = self.known(assignment.run.name), assignment.spec, None
        is_new = assignment.is_drawn
        if assignment.group_id is not None:
            group = self.rows.group(run.id, assignment.group_id)
            if group is None:
                self.rows.add_group(run.id, assignment.group_id, spec_text(spec))
            elif read_spec(group.spec) != spec:
                raise GroupTakenError
            member = self.rows.add_member(run.id, assignment.group_id)
            is_new = is_new and member == 1
        curriculum, key = self.curriculum(run), key_of(spec)
        why = Uncounted.ACTS_DISCLOSED if discloses_acts else uncounted_by_itself(spec)
        if why is None:
            if is_new:
                curriculum.issue(key, spec.difficulty, spec.seed, is_grouped=assignment.group_id is not None)
            why = curriculum.begin(key, spec.difficulty, spec.seed, episode_id)
        entry = Entry(run.id, key, spec.seed, episode_id) if why is None else None
        return Begun(entry, why, member)

    def end(self, entry: Entry, outcome: Outcome | None) -> None:
        """Count the end of an episode for its run; nothing where the run was deleted meanwhile."""
        with self.transaction():
            run = self.rows.of_row(entry.run)
            if run is None:
                return
            highest = self.highest(entry.key[0])
            if self.curriculum(run).end(entry.key, entry.seed, entry.episode_id, outcome, highest):
                self.rows.add_counted(run.id, 1)

    def sampled(self, request: ResetRequest) -> EpisodeSpec:
        """Draw an episode for a group of its own, in the transaction that is open; nobody has begun it.

        Raises as :meth:`resolve`.
        """
        fixed = named_environment(request, None)
        run = self.opened(request.run_id)
        if run.groups >= MOST_GROUPS:
            raise RunsFullError(f"a run has at most {MOST_GROUPS:,} groups; go on with another, such as a fork")
        spec = self._drawn(request, fixed, run).spec
        self.rows.add_group(run.id, request.group_id or "", spec_text(spec))
        if uncounted_by_itself(spec) is None:
            self.curriculum(run).issue(key_of(spec), spec.difficulty, spec.seed, is_grouped=True)
        return spec

    def _drawn(self, request: ResetRequest, fixed: str | None, run: RunRow) -> Assignment:
        """Return a new episode for a reset."""
        settings, seed = read_settings(run.settings), request.seed
        is_anyones = seed is None and request.group_id is None
        if seed is None:
            is_group = request.group_id is not None
            seed = self.group_seed(run, request.group_id or "") if is_group else secrets.randbelow(SEEDS)
        env_id = fixed or chosen_environment(request, settings, seed, self.highest)
        spec = asked_spec(request, settings, env_id, seed)
        if request.difficulty is None:
            drawn = self.curriculum(run).draw(env_id, spec.style, spec.format, seed)
            spec = replace(spec, difficulty=drawn)
        dealt = self._deal(spec) if is_anyones else None
        if dealt is not None:
            spec = replace(spec, seed=dealt)
        is_drawn = request.difficulty is None and request.seed is None
        return Assignment(run, spec, request.group_id, is_drawn)

    def _pinned_anew(self, run: RunRow) -> RunRow:
        """Pin a run that nobody has played to what this server serves."""
        self.rows.change(run, pins=self._pins_text)
        return self.known(run.name)

    def _begun_anew(self, run: RunRow) -> RunRow:
        """Begin the run that nobody names anew; what it was keeps living under another name."""
        taken = {*self.rows.names()}
        number = next(each for each in range(1, len(taken) + 2) if f"{run.name}-{each}" not in taken)
        with self.transaction():
            self.rows.change(run, name=f"{run.name}-{number}")
            return self.added(run.name, RunSettings())


def outcome_of(episode: Episode) -> Outcome | None:
    """Return what an episode that ended or is dropped says about the policy; None if it says nothing."""
    if not episode.log.taken or (episode.done and episode.result is None):
        return None
    return "left" if episode.result is None else Fraction(episode.result.correct_share)


def key_of(spec: EpisodeSpec) -> Key:
    """Return the frontier that an episode belongs to."""
    return spec.env_id, spec.style, spec.format


def uncounted_by_itself(spec: EpisodeSpec) -> Uncounted | None:
    """Return why an episode counts for no curriculum, whoever draws it; None if it may count."""
    if spec.split != "train":
        return Uncounted.SPLIT
    return Uncounted.AXES if spec.axes else None


@lru_cache(maxsize=1024)
def read_settings(text: str) -> RunSettings:
    """Return a run's settings from their JSON."""
    return RunSettings.model_validate_json(text)
