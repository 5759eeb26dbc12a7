"""The live episodes of a run: told to its operator, and ended all at once when its trainer has crashed."""

from __future__ import annotations

from pydantic import TypeAdapter

from ecom_rlve.envs.episode.spec import EpisodeSpec
from ecom_rlve.run_models import LiveEpisode
from ecom_rlve.server.service import Service

_LIST = TypeAdapter(list[LiveEpisode])


def live_episodes(service: Service, run_id: str) -> str:
    """Return the list of :class:`LiveEpisode` of a run, oldest first; empty for a run that nobody plays."""
    journal = service.journal
    if journal is None:
        records = service.sessions.live_of(run_id)
        found = [_told(each.episode_id, each.episode.spec, each.episode.log.taken) for each in records]
    else:
        found = [_told(each.episode_id, each.spec, journal.head(each.row) or 0) for each in journal.live_of(run_id)]
    return _LIST.dump_json(found).decode()


async def delete_episodes(service: Service, run_id: str) -> int:
    """Delete the live episodes of a run, which frees their places at once; return how many there were.

    Raises:
        StoreUnavailableError: the store cannot be written.
    """
    journal = service.journal
    if journal is None:
        records = service.sessions.live_of(run_id)
        for record in records:
            service.sessions.delete(record)
        return len(records)
    # What the journal has counts; other workers drop their copies when they next look.
    rows = await journal.leave_all_of(run_id)
    for record in service.sessions.live_of(run_id):
        if record.row in rows:
            service.forget(record)
    return len(rows)


def _told(episode_id: str, spec: EpisodeSpec, taken: int) -> LiveEpisode:
    return LiveEpisode(
        episode_id=episode_id,
        env_id=spec.env_id,
        difficulty=spec.difficulty,
        seed=spec.seed,
        split=spec.split,
        style=spec.style,
        format=spec.format,
        step_count=taken,
    )
