"""The environments as an ``openenv.core`` environment, for hosts that serve those. Needs the extra ``openenv``.

::

    from openenv.core.env_server import create_app
    from ecom_rlve.server.openenv.environment import ShopAction, ShopEnvironment, ShopObservation, ShopState

    app = create_app(ShopEnvironment, ShopAction, ShopObservation, state_cls=ShopState, max_concurrent_envs=64)

``functools.partial(ShopEnvironment, "CART")`` in its place plays one environment alone. All of a process share one
catalog, which the settings of this project's server name, and its curricula and groups.
"""

from __future__ import annotations

import json
from typing import Any

from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, EnvironmentMetadata, State
from openenv.core.env_server.types import Observation as HostObservation
from pydantic import ConfigDict, Field

import ecom_rlve
from ecom_rlve.envs.registry import environment
from ecom_rlve.models import Format, Message, Observation, Split, Style
from ecom_rlve.server.openenv.hosting import Hosted, Seat, hosted
from ecom_rlve.server.openenv.task_list import Task, TaskList


class ShopAction(Action):
    """One action; :class:`ecom_rlve.models.Action` says what its fields mean.

    Further fields reach the episode, which reads those of a chat API's message and tells what is wrong with others.
    """

    model_config = ConfigDict(extra="allow")

    assistant_message: str = ""
    tool_calls: list[dict[str, Any]] = Field(default_factory=list)
    answer: dict[str, Any] | None = None
    end_turn: bool | None = None
    text: str | None = None


class ShopObservation(Observation, HostObservation):
    """What the policy may see; ``metadata`` holds the resolved arguments of the episode."""

    def model_dump(self, **options: Any) -> dict[str, Any]:
        """Return the fields that are set.

        Without ``metadata``, which a host sends beside the observation too: difficulty and seed are not for the policy.
        """
        left_out = {"metadata", *(options.pop("exclude", None) or ())}
        dumped: dict[str, Any] = super().model_dump(exclude=left_out, exclude_unset=True, **options)
        return dumped


class ShopState(State):
    """The whole conversation so far; before a reset there is none, and ``episode_id`` is None."""

    turn: int = 0
    done: bool = False
    env_id: str | None = None
    difficulty: int | None = None
    seed: int | None = None
    split: Split | None = None
    style: Style | None = None
    format: Format | None = None
    messages: list[Message] = Field(default_factory=list)


class ShopEnvironment(Environment):
    """One session of a host: one episode at a time."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, env: str | None = None, host: Hosted | None = None) -> None:
        """Play one environment, or where ``env`` is None the one that each reset names.

        ``host`` is the service to play on; None is that of the process. Raises ``UnknownEnvironmentError``.
        """
        super().__init__()
        self._env = None if env is None else environment(env).about.id
        self._host = host or hosted()
        self._seat = Seat(self._host.service, self._env)

    def reset(self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any) -> ShopObservation:
        """Start an episode; ``kwargs`` are further arguments of a reset. Raises ``RefusedError``."""
        return _observation(self._host.wait(self._seat.reset({"seed": seed, "episode_id": episode_id, **kwargs})))

    async def reset_async(
        self, seed: int | None = None, episode_id: str | None = None, **kwargs: Any
    ) -> ShopObservation:
        """Start an episode; as :meth:`reset`."""
        arguments = {"seed": seed, "episode_id": episode_id, **kwargs}
        return _observation(await self._host.awaited(self._seat.reset(arguments)))

    def step(
        self,
        action: ShopAction,
        timeout_s: float | None = None,  # noqa: ARG002 - a host may pass it
        **kwargs: Any,  # noqa: ARG002 - a host may pass them
    ) -> ShopObservation:
        """Take a step. Raises ``RefusedError``: before a reset, after the end, and for an action that is none."""
        return _observation(self._host.wait(self._seat.step(action.model_dump(exclude_unset=True))))

    async def step_async(
        self,
        action: ShopAction,
        timeout_s: float | None = None,  # noqa: ARG002 - a host may pass it
        **kwargs: Any,  # noqa: ARG002 - a host may pass them
    ) -> ShopObservation:
        """Take a step; as :meth:`step`."""
        return _observation(await self._host.awaited(self._seat.step(action.model_dump(exclude_unset=True))))

    @property
    def state(self) -> ShopState:
        """The conversation so far."""
        return ShopState(**(self._host.wait(self._seat.state()) or {}))

    def get_metadata(self) -> EnvironmentMetadata:
        """Describe the environment."""
        facts = self._host.service.metadata()
        described = {name: facts[name] for name in ("name", "description")}
        return EnvironmentMetadata(version=ecom_rlve.__version__, **described)

    def close(self) -> None:
        """Free the place in the service; a live episode is dropped."""
        self._host.wait(self._seat.leave())

    def list_splits(self) -> list[dict[str, str]]:
        """Return the splits with their kinds."""
        return TaskList.splits()

    def list_tasks(self, split: str) -> list[Task]:
        """Return the first tasks of a split."""
        return self._tasks().first(split)

    def num_tasks(self, split: str) -> int:
        """Return how many tasks a split lists."""
        return self._tasks().count(split)

    def get_task(self, split: str, index: int) -> Task:
        """Return one task, whose fields are arguments of a reset; raises ``IndexError``."""
        return self._tasks().task(split, index)

    def get_task_range(self, split: str, start: int | None = None, stop: int | None = None) -> list[Task]:
        """Return the tasks of a range."""
        return self._tasks().some(split, start, stop)

    def _tasks(self) -> TaskList:
        listed = json.loads(self._host.wait(self._host.service.environments()))
        chosen = [each for each in listed if self._env in (None, each["env_id"])]
        return TaskList({each["env_id"]: each["max_difficulty"] for each in chosen})


def _observation(answer: dict[str, Any]) -> ShopObservation:
    return ShopObservation.model_validate({**answer["observation"], "metadata": answer["metadata"]})
