"""The routes of OpenEnv's task discovery; what they answer is told in :mod:`ecom_rlve.server.openenv.task_list`."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import BaseModel, ConfigDict
from starlette.requests import Request
from starlette.responses import Response

from ecom_rlve.envs.registry import environment
from ecom_rlve.server.errors import BadRequestError
from ecom_rlve.server.openenv.task_list import TaskList
from ecom_rlve.server.service import Service
from ecom_rlve.server.transport.limits import parse_json, read_body


class SplitRequest(BaseModel):
    """Names a split."""

    model_config = ConfigDict(extra="forbid")

    split: str


class TaskRequest(SplitRequest):
    """Names a task."""

    index: int


class TaskRangeRequest(SplitRequest):
    """Names tasks one after the other; bounds are those of a Python slice."""

    start: int | None = None
    stop: int | None = None


class TaskRoutes:
    """The handlers over one service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self.routes: tuple[tuple[str, str, Callable[[Request], Awaitable[Response]], str], ...] = (
            ("GET", "/list_environments", self.environments, "The names of the environments"),
            ("GET", "/{env}/splits", self.splits, "The splits of an environment's tasks"),
            ("POST", "/{env}/num_tasks", self.count, "How many tasks a split lists"),
            ("POST", "/{env}/tasks", self.first, "The first tasks of a split"),
            ("POST", "/{env}/task", self.task, "One task, to reset with"),
            ("POST", "/{env}/task_range", self.some, "Tasks of a range"),
        )
        """Method, path, handler and summary of each."""

    async def environments(self, _request: Request) -> Response:
        """Name the environments."""
        return _json(list(await self._highest()))

    async def splits(self, request: Request) -> Response:
        """List the splits, each with the kind that OpenEnv knows."""
        await self._listed(request)
        return _json(TaskList.splits())

    async def count(self, request: Request) -> Response:
        """Count the tasks that a split lists."""
        asked = SplitRequest.model_validate(await self._body(request))
        _, tasks = await self._listed(request)
        return _json({"num_tasks": tasks.count(asked.split)})

    async def first(self, request: Request) -> Response:
        """List the beginning of a split, 1,000 tasks; ``task_range`` lists the others."""
        asked = SplitRequest.model_validate(await self._body(request))
        env_id, tasks = await self._listed(request)
        return _json({"tasks": tasks.first(asked.split), "env_name": env_id})

    async def task(self, request: Request) -> Response:
        """Return one task: its fields are arguments of a reset."""
        asked = TaskRequest.model_validate(await self._body(request))
        _, tasks = await self._listed(request)
        try:
            return _json({"task": tasks.task(asked.split, asked.index)})
        except IndexError as error:
            raise BadRequestError(str(error)) from None

    async def some(self, request: Request) -> Response:
        """List the tasks of a range, at most 1,000."""
        asked = TaskRangeRequest.model_validate(await self._body(request))
        _, tasks = await self._listed(request)
        return _json({"tasks": tasks.some(asked.split, asked.start, asked.stop)})

    async def _listed(self, request: Request) -> tuple[str, TaskList]:
        env_id = environment(request.path_params["env"]).about.id
        return env_id, TaskList({env_id: (await self._highest())[env_id]})

    async def _highest(self) -> dict[str, int]:
        """Return the highest difficulty of each environment, -1 where the catalog serves none."""
        listed = json.loads(await self._service.environments())
        return {each["env_id"]: each["max_difficulty"] for each in listed}

    async def _body(self, request: Request) -> Any:
        return parse_json(await read_body(request, self._service.settings.max_body_bytes))


def _json(value: Any) -> Response:
    return Response(json.dumps(value), media_type="application/json")
