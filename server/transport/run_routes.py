"""HTTP and frames of runs: their settings and curricula, drawn episodes, and reports of what was played elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

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
from ecom_rlve.server.service import Service
from ecom_rlve.server.transport.limits import parse_json, read_body

MOST_IMPORTED = 32 << 20
"""Largest body of an import, in bytes: exports hold every seed of the levels in progress."""


class RunRoutes:
    """The handlers of runs over one service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._runs = service.runs

    async def read(self, request: Request) -> Response:
        """Return a run's settings, its pins and its frontiers."""
        return _json(read_run(self._runs, _run_id(request)).model_dump_json())

    async def put(self, request: Request) -> Response:
        """Set a run's parameters, weights, reward profile and size of observations; make the run if there is none."""
        settings = RunSettings.model_validate(await self._body(request))
        return _json(put_run(self._runs, _run_id(request), settings).model_dump_json())

    async def export(self, request: Request) -> Response:
        """Return a run's curriculum as plain data."""
        return _json(export_run(self._runs, _run_id(request)).model_dump_json())

    async def import_(self, request: Request) -> Response:
        """Merge exports into a run; the order changes nothing, and no episode is counted twice."""
        raw = await read_body(request, max(MOST_IMPORTED, self._service.settings.max_body_bytes))
        asked = ImportRequest.model_validate_json(raw)
        return _json(import_run(self._runs, _run_id(request), asked.exports).model_dump_json())

    async def fork(self, request: Request) -> Response:
        """Make a run with the frontiers of this one, pinned to what this server serves."""
        asked = ForkRequest.model_validate(await self._body(request))
        return _json(fork_run(self._runs, _run_id(request), asked.run_id).model_dump_json())

    async def delete(self, request: Request) -> Response:
        """Forget a run with its curriculum and groups. Its live episodes can be played on and count for nothing."""
        delete_run(self._runs, _run_id(request))
        return Response(status_code=204)

    async def report(self, request: Request) -> Response:
        """Count episodes that were drawn here and played elsewhere, each once."""
        asked = Report.model_validate(await self._body(request))
        return _json(self._reported(_run_id(request), asked))

    async def sample(self, request: Request) -> Response:
        """Draw episodes of a run; each can be sent back as the arguments of resets, and counts. May be empty."""
        return _json(self._sampled(await self._body(request)))

    def answers(self) -> dict[str, Callable[[Mapping[str, Any]], str]]:
        """Return the frames that a socket understands, each with what makes its answer's data from its own."""
        return {"sample": self._sampled, "report": self._reported_frame, "curriculum": self._read_frame}

    def _sampled(self, given: Any) -> str:
        return sample(self._runs, SampleRequest.model_validate(given)).model_dump_json()

    def _reported(self, run_id: str, asked: Report) -> str:
        discloses = self._service.settings.disclose_acts and may(Scope.JUDGE)
        return report(self._runs, run_id, asked, discloses_acts=discloses).model_dump_json(exclude_none=True)

    def _reported_frame(self, given: Mapping[str, Any]) -> str:
        rest = {name: value for name, value in given.items() if name != "run_id"}
        return self._reported(_named(given), Report.model_validate(rest))

    def _read_frame(self, given: Mapping[str, Any]) -> str:
        return read_run(self._runs, _named(given)).model_dump_json()

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
