"""Playing what the journal holds again."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ecom_rlve.envs.episode.episode import Episode
from ecom_rlve.envs.episode.trace import take
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.server.journal.entries import Line, Stored, spoken_of, understood_of


def begun(shop: Shop, stored: Stored) -> Episode:
    """Return an episode as it began, in the templates' words."""
    return Episode(shop, stored.spec, stored.episode_id, **stored.options.build())


def play(episode: Episode, lines: Iterable[Line], answered: Callable[[Line], None] = lambda _: None) -> None:
    """Play actions on an episode; ``answered`` is called after each. Raises whatever they raise."""
    for line in lines:
        told = line.told
        take(episode, line.taken, understood_of(told.get("understood")))
        if spoken := spoken_of(told.get("spoken")):
            episode.reword(spoken)
        if "aborted" in told:
            episode.abort(told["aborted"])
        answered(line)
