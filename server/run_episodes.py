"""The live episodes of a run: told to its operator, and ended all at once when its trainer has crashed."""

from __future__ import annotations

from pydantic import TypeAdapter

from ecom_rlve.run_models import LiveEpisode
from ecom_rlve.server.sessions import Record, Sessions

_LIST = TypeAdapter(list[LiveEpisode])


def live_episodes(sessions: Sessions, run_id: str) -> str:
    """Return the list of :class:`LiveEpisode` of a run, oldest first; empty for a run that nobody plays."""
    return _LIST.dump_json([_told(record) for record in sessions.live_of(run_id)]).decode()


def delete_episodes(sessions: Sessions, run_id: str) -> int:
    """Delete the live episodes of a run, which frees their places at once; return how many there were."""
    records = sessions.live_of(run_id)
    for record in records:
        sessions.delete(record)
    return len(records)


def _told(record: Record) -> LiveEpisode:
    episode = record.episode
    spec = episode.spec
    return LiveEpisode(
        episode_id=record.episode_id,
        env_id=record.env_id,
        difficulty=spec.difficulty,
        seed=spec.seed,
        split=spec.split,
        style=spec.style,
        format=spec.format,
        step_count=episode.log.taken,
    )
