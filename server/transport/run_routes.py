"""HTTP and frames of runs: their settings and curricula, drawn episodes, and reports of what was played elsewhere."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import Response

from ecom_rlve.run_models import (
    ForkRequest,
    ImportRequest,
    Report,
    RunSettings,
    SampleRequest,
)
from ecom_rlve.server.admission.tokens import Scope, may
from ecom_rlve.server.errors import BadRequestError
from ecom_rlve.server.runs.administration import (
    delete_run,
    export_run,
    fork_run,
    import_run,
    put_run,
    read_run,
)
from ecom_rlve.server.runs.elsewhere import report, sample
from ecom_rlve.server.runs.runs import Runs
from ecom_rlve.server.service import Service
from ecom_rlve.server.transport.limits import parse_json, read_body

MOST_IMPORTED = 32 << 20
"""Largest body of an import, in bytes: exports hold every seed of the levels in progress."""


class RunRoutes:
    """The handlers of runs over one service."""

    def __init__(self, service: Service) -> None:
        self._service = service

    async def read(self, request: Request) -> Response:
        """Return a run's settings, its pins and its frontiers."""
        return _json(await self._read(_run_id(request)))

    async def put(self, request: Request) -> Response:
        """Set a run's parameters, weights, reward profile and size of observations; make the run if there is none."""
        name, settings = _run_id(request), RunSettings.model_validate(await self._body(request))
        return _json(await self._told(lambda runs: put_run(runs, name, settings)))

    async def export(self, request: Request) -> Response:
        """Return a run's curriculum as plain data."""
        name = _run_id(request)
        return _json(await self._told(lambda runs: export_run(runs, name)))

    async def import_(self, request: Request) -> Response:
        """Merge exports into a run; the order changes nothing, and no episode is counted twice."""
        raw = await read_body(request, max(MOST_IMPORTED, self._service.settings.max_body_bytes))
        name, asked = _run_id(request), ImportRequest.model_validate_json(raw)
        return _json(await self._told(lambda runs: import_run(runs, name, asked.exports)))

    async def fork(self, request: Request) -> Response:
        """Make a run with the frontiers of this one, pinned to what this server serves."""
        name, asked = _run_id(request), ForkRequest.model_validate(await self._body(request))
        return _json(await self._told(lambda runs: fork_run(runs, name, asked.run_id)))

    async def delete(self, request: Request) -> Response:
        """Forget a run with its curriculum and groups. Its live episodes can be played on and count for nothing."""
        name = _run_id(request)
        await self._service.administer(lambda runs: delete_run(runs, name))
        return Response(status_code=204)

    async def report(self, request: Request) -> Response:
        """Count episodes that were drawn here and played elsewhere, each once."""
        asked = Report.model_validate(await self._body(request))
        return _json(await self._reported(_run_id(request), asked))

    async def sample(self, request: Request) -> Response:
        """Draw episodes of a run; each can be sent back as the arguments of resets, and counts. May be empty."""
        return _json(await self._sampled(await self._body(request)))

    def answers(self) -> dict[str, Callable[[Mapping[str, Any]], Awaitable[str]]]:
        """Return the frames that a socket understands, each with what makes its answer's data from its own."""
        return {"sample": self._sampled, "report": self._reported_frame, "curriculum": self._read_frame}

    async def _told(self, change: Callable[[Runs], BaseModel]) -> str:
        """Return the JSON of what is read or changed; it may be long, so it is made where the change is."""
        return await self._service.administer(lambda runs: change(runs).model_dump_json())

    async def _read(self, name: str) -> str:
        return await self._told(lambda runs: read_run(runs, name))

    async def _sampled(self, given: Any) -> str:
        asked = SampleRequest.model_validate(given)
        return await self._told(lambda runs: sample(runs, asked))

    async def _reported(self, run_id: str, asked: Report) -> str:
        discloses = self._service.settings.disclose_acts and may(Scope.JUDGE)

        def counted(runs: Runs) -> str:
            return report(runs, run_id, asked, discloses_acts=discloses).model_dump_json(exclude_none=True)

        return await self._service.administer(counted)

    async def _reported_frame(self, given: Mapping[str, Any]) -> str:
        rest = {name: value for name, value in given.items() if name != "run_id"}
        return await self._reported(_named(given), Report.model_validate(rest))

    async def _read_frame(self, given: Mapping[str, Any]) -> str:
        return await self._read(_named(given))

    async def _body(self, request: Request) -> Any:
        raw = await read_body(request, self._service.settings.max_body_bytes)
        return parse_json(raw) if raw.strip() else {}


def _named(given: Mapping[str, Any]) -> str:
    run_id = given.get("run_id", "default")
    if not isinstance(run_id, str) or not run_id:
        raise BadRequestError("run_id: the name of a run is wanted")
    return run_id


def _run_id(request: Request) -> str:
    run_id: str = request.path_params["run_id"]
    if not 1 <= len(run_id) <= 255:
        raise BadRequestError("run_id: 1 to 255 characters are wanted")
    return run_id


def _json(text: str) -> Response:
    return Response(text, media_type="application/json")
