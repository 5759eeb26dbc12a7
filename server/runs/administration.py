"""What may be done to a run: read, set, forked, exported, merged, deleted."""

from __future__ import annotations

from collections.abc import Sequence

from ecom_rlve.envs.curriculum.ledger import Frontier
from ecom_rlve.envs.curriculum.merging import merged
from ecom_rlve.envs.registry import environment
from ecom_rlve.run_models import EXPORT_FORMAT, RunExport, RunSettings, RunState
from ecom_rlve.server.errors import RunConflictError
from ecom_rlve.server.runs.pins import difference, read_pins
from ecom_rlve.server.runs.runs import Runs, read_settings
from ecom_rlve.server.store.frontier_rows import export_frontiers, frontiers_of, put_frontiers
from ecom_rlve.server.store.ledger import StoredLedger
from ecom_rlve.server.store.run_rows import RunRow


def read_run(runs: Runs, name: str) -> RunState:
    """Return a run as it is; raises ``UnknownRunError``."""
    with runs.transaction():
        return _told(runs, runs.known(name))


def put_run(runs: Runs, name: str, settings: RunSettings) -> RunState:
    """Set a run's settings; make the run if there is none.

    Raises:
        RunConflictError: the run has counted episodes with another reward profile or size of observations.
        UnknownEnvironmentError: there is no environment of a name in the weights.
        RunPinnedError, RunsFullError: see there.
    """
    weights = {environment(each).about.id: weight for each, weight in settings.weights.items()}
    settings = settings.model_copy(update={"weights": weights})
    with runs.transaction():
        run = runs.opened(name)
        was = read_settings(run.settings)
        if run.counted and _fixed(was) != _fixed(settings):
            raise RunConflictError(
                f"run {name[:64]!r} has counted {run.counted} episodes: its reward_profile and observation_bytes "
                "cannot change any more; make a run of another name"
            )
        runs.rows.change(run, settings=settings.model_dump_json())
        return _told(runs, runs.known(run.name))


def fork_run(runs: Runs, name: str, new_name: str) -> RunState:
    """Make a run with a run's settings and levels on what this server serves; nothing else is taken over.

    Levels that the catalog cannot serve become the highest that it can. Repeating the request changes nothing.

    Raises:
        UnknownRunError: there is no run to fork.
        RunConflictError: the new name is taken.
        RunsFullError: see there.
    """
    with runs.transaction():
        run, known = runs.known(name), runs.rows.find(new_name)
        if known is not None:
            if known.forked_from == name and not known.counted:
                return _told(runs, known)
            raise RunConflictError(f"there is a run {new_name[:64]!r} already; choose another name, or delete it")
        fork = runs.added(new_name, read_settings(run.settings), forked_from=name)
        ledger = StoredLedger(runs.database, fork.id)
        for each in frontiers_of(runs.database, run.id):
            if each.env_id in runs.pins.environments:
                highest = max(0, runs.highest(each.env_id))
                ledger.put_frontier((each.env_id, each.style, each.format), Frontier(min(each.level, highest)))
        return _told(runs, runs.known(new_name))


def export_run(runs: Runs, name: str) -> RunExport:
    """Return a run's curriculum as plain data; raises ``UnknownRunError``."""
    with runs.transaction():
        return _exported(runs, runs.known(name))


def import_run(runs: Runs, name: str, exports: Sequence[RunExport]) -> RunState:
    """Merge exports into a run, or into a new one; the order of exports, and of imports, changes nothing.

    A new run gets the pins of the exports, also where they are not this server's: such a run can be forked.

    Raises:
        RunConflictError: the exports, or the run, differ in what must agree.
        RunsFullError: see there.
    """
    with runs.transaction():
        run = runs.rows.find(name)
        every = [*exports, *([] if run is None else [_exported(runs, run)])]
        _require_equal(every, is_new=run is None)
        if run is None:
            run = runs.added(name, every[0].settings, every[0].pins.model_dump_json())
        put_frontiers(runs.database, run.id, merged(each for export in every for each in export.frontiers))
        runs.rows.change(run, counted=max(each.counted for each in every))
        return _told(runs, runs.known(name))


def delete_run(runs: Runs, name: str) -> None:
    """Forget a run with its curriculum and groups; raises ``UnknownRunError``."""
    with runs.transaction():
        runs.rows.remove(runs.known(name))


def _fixed(settings: RunSettings) -> tuple[object, ...]:
    return settings.reward_profile, settings.observation_bytes


def _require_equal(exports: Sequence[RunExport], *, is_new: bool) -> None:
    first = exports[0]
    for other in exports[1:]:
        if (differs := difference(first.pins, other.pins) or difference(other.pins, first.pins)) is not None:
            raise RunConflictError(f"these runs were played on different things ({differs}) and cannot be merged")
        if _fixed(other.settings) != _fixed(first.settings):
            raise RunConflictError(
                "these runs have different reward_profile or observation_bytes; they cannot be merged"
            )
        if is_new and other.settings != first.settings:
            raise RunConflictError("these runs have different settings; PUT those of the new run first, then import")


def _exported(runs: Runs, run: RunRow) -> RunExport:
    return RunExport(
        export_format=EXPORT_FORMAT,
        run_id=run.name,
        settings=read_settings(run.settings),
        pins=read_pins(run.pins),
        counted=run.counted,
        frontiers=export_frontiers(runs.database, run.id),
    )


def _told(runs: Runs, run: RunRow) -> RunState:
    pins = read_pins(run.pins)
    return RunState(
        run_id=run.name,
        settings=read_settings(run.settings),
        pins=pins,
        is_playable=difference(pins, runs.pins) is None,
        forked_from=run.forked_from,
        counted=run.counted,
        groups=run.groups,
        frontiers=frontiers_of(runs.database, run.id),
    )
