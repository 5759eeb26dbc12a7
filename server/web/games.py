"""The episodes of the page, played through the service like those of any client.

They take places and expire, and count for no curriculum, since difficulty and seed are named. The page goes further
than a client in one thing: after the end it tells the goal, of episodes that it started itself and of no others.
"""

from __future__ import annotations

import json
import secrets
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from ecom_rlve.catalog.errors import UnknownProductError
from ecom_rlve.envs.episode.episode import Episode
from ecom_rlve.envs.errors import EnvsError
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import EnvironmentInfo, ResetRequest, Style
from ecom_rlve.server.episodes.record import Record
from ecom_rlve.server.errors import UnknownEpisodeError
from ecom_rlve.server.openings import SEEDS
from ecom_rlve.server.service import Service
from ecom_rlve.server.web.views.comparing import Revealed

RUN = "web"
"""The run that the page's episodes are filed under; it has no frontiers, because none of them counts."""
_MOST_KNOWN = 10_000
"""Most ids of episodes that are remembered as the page's own, the oldest are forgotten first."""
_MOST_STEPS = 100
"""Most steps of a solution: far more than any episode has turns."""


class Games:
    """The page's own episodes over one service."""

    def __init__(self, service: Service, shop: Shop) -> None:
        """Play on ``service``, whose products are those of ``shop``."""
        self.service = service
        self.shop = shop
        self._own: OrderedDict[str, None] = OrderedDict()
        self.listed: dict[str, EnvironmentInfo] = {}
        """Every environment by id; :meth:`look` finds them."""

    async def look(self) -> None:
        """Find the environments."""
        listed = [EnvironmentInfo.model_validate(each) for each in json.loads(await self.service.environments())]
        self.listed = {each.env_id: each for each in listed}

    @property
    def environments(self) -> dict[str, EnvironmentInfo]:
        """Those that the catalog can serve, by id."""
        return {env_id: each for env_id, each in self.listed.items() if each.max_difficulty >= 0}

    async def start(self, env_id: str, difficulty: int, seed: int | None, style: Style, replaced: str = "") -> Record:
        """Start an episode and return its record; a live one of the page that it replaces is dropped.

        Raises as :meth:`Service.reset` does.
        """
        await self.drop(replaced)
        named = drawn() if seed is None else seed
        return await self.begin({"env_id": env_id, "difficulty": difficulty, "seed": named, "style": style})

    async def begin(self, arguments: Mapping[str, Any]) -> Record:
        """Start an episode with these arguments of a reset, difficulty and seed among them; as :meth:`start` raises."""
        request = ResetRequest.model_validate({**arguments, "run_id": RUN})
        answer = json.loads(await self.service.reset(request))
        record = await self.service.record(answer["observation"]["episode_id"])
        self._own[record.episode_id] = None
        while len(self._own) > _MOST_KNOWN:
            self._own.popitem(last=False)
        return record

    async def record(self, episode_id: str) -> Record:
        """Return an episode of the page; raises ``UnknownEpisodeError`` for any other, and for one that is gone."""
        if episode_id not in self._own:
            raise UnknownEpisodeError("the page has no such episode: the server was restarted, or it expired")
        return await self.service.record(episode_id)

    async def step(self, episode_id: str, action: Mapping[str, Any]) -> Record:
        """Take a step and return the record; raises as :meth:`record` and :meth:`Service.step` do."""
        record = await self.record(episode_id)
        await self.service.step(record, action)
        return record

    async def drop(self, episode_id: str) -> None:
        """Forget a live episode of the page, so that its place is free; nothing where it has ended or is gone."""
        try:
            record = await self.record(episode_id)
        except UnknownEpisodeError:
            return
        if not record.episode.done:
            await self.service.delete(record)

    async def reveal(self, record: Record) -> Revealed | None:
        """Return what is told of an ended episode of the page; None before the end."""
        if not record.episode.done or record.episode_id not in self._own:
            return None
        return Revealed(
            record.episode.goal_json(),
            solution(self.shop, record.episode),
            self.title_of,
            self.shop.catalog.currency,
            await self.service.trace(record),
        )

    def title_of(self, text: str) -> str | None:
        """Return the title of the product with this id; None if there is none."""
        try:
            row = self.shop.catalog.row_of(text)
        except UnknownProductError:
            return None
        return str(self.shop.card(row)["title"])


def drawn() -> int:
    """Return a seed for an episode of which none was named."""
    return secrets.randbelow(SEEDS)


def solution(shop: Shop, episode: Episode) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the calls and answers of an agent that knows the goal, in an episode of the same specification.

    Searches are left out: that agent looks for titles that it knows already.
    """
    mirror = Episode(shop, episode.spec, "solution", include=())
    found: list[tuple[str, Mapping[str, Any]]] = []
    for _ in range(_MOST_STEPS):
        action = mirror.solve()
        called = [(each["name"], each["args"]) for each in action.get("tool_calls") or ()]
        found += [(name, args) for name, args in called if not name.endswith("_search")]
        if action.get("answer"):
            found.append(("submit_answer", {k: v for k, v in action["answer"].items() if k != "done"}))
        try:
            if mirror.step(action).done:
                break
        except EnvsError:
            break
    return found
