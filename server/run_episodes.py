"""The live episodes of a run, as its operator sees them."""

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
