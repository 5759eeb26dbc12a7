"""HTTP: one handler per route, mounted at the root and under ``/envs/{env}``, which chooses the environment.

FastAPI finds the route and writes the OpenAPI document, but it neither parses bodies nor serialises answers:

- a body is read up to a limit and as strict JSON, whatever its content type says (curl's says it is a form);
- an answer is a JSON text, made once, sent, and stored for a repeated ``request_id``;
- FastAPI's own parsing and serialising add 60 microseconds to the 130 that a step takes beside its episode.

So a handler takes the raw request and returns finished bytes. What ``/docs`` shows of it is declared in :func:`_add`
by ``responses`` and ``openapi_extra``, which FastAPI provides for such handlers.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from fastapi import APIRouter, Request
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic.json_schema import models_json_schema
from starlette.responses import Response

from ecom_rlve.envs.registry import environment
from ecom_rlve.models import (
    Action,
    EnvironmentInfo,
    EpisodeState,
    ErrorResponse,
    FinishRequest,
    ResetRequest,
    StepRequest,
    StepResponse,
)
from ecom_rlve.run_models import (
    ForkRequest,
    ImportRequest,
    LiveEpisode,
    Report,
    ReportAnswer,
    RunExport,
    RunSettings,
    RunState,
    Sample,
    SampleRequest,
)
from ecom_rlve.server.admission.leases import HEADER, client
from ecom_rlve.server.admission.tokens import Scope, require
from ecom_rlve.server.errors import RETRY_AFTER_S, BadRequestError, translate
from ecom_rlve.server.mcp.rpc import Rpc
from ecom_rlve.server.openenv.task_routes import TaskRoutes
from ecom_rlve.server.operations.readiness import answer_text
from ecom_rlve.server.run_episodes import delete_episodes, live_episodes
from ecom_rlve.server.service import Service, schemas
from ecom_rlve.server.transport.limits import parse_json, read_body
from ecom_rlve.server.transport.run_routes import RunRoutes

Handler = Callable[[Request], Awaitable[Response]]
_NEEDED = {"StepRequest", "ImportRequest", "ForkRequest", "Report"}
"""Bodies that may not be empty."""
# As long as OpenEnv lets an episode's id be.
_MAX_ID = 255
_ENV = {"name": "env", "in": "path", "required": True, "schema": {"type": "string"}}
_RUN_ID = {"name": "run_id", "in": "query", "required": True, "schema": {"type": "string", "minLength": 1}}
_EPISODE_ID = {"name": "episode_id", "required": True, "schema": {"type": "string", "maxLength": _MAX_ID}}


class Routes:
    """The handlers over one service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._rpc = Rpc(service)
        self._schema = json.dumps(schemas())

    def add_to(self, router: APIRouter) -> None:
        """Register every route of the server but the sockets.

        It is the application's own router: one that is included in it costs each request a look at all its routes.
        """
        self._mount(router, "", [])
        self._mount(router, "/envs/{env}", [_ENV])
        _add(router, "GET", "/envs", self.environments, "What can be played", list[EnvironmentInfo])
        _add(router, "POST", "/heartbeat", self.heartbeat, "Keep a client's places", dict[str, float])
        _add(router, "GET", "/metrics", self.metrics, "Figures for Prometheus", scope=Scope.JUDGE)
        _add(router, "GET", "/ready", self.ready, "Whether the server can do its work", dict[str, Any])
        path_id = {**_EPISODE_ID, "in": "path"}
        trace = "/episodes/{episode_id:path}/trace"
        _add(router, "GET", trace, self.trace, "An ended episode as JSON lines", parameters=[path_id])
        step = "/episodes/{episode_id:path}/step"
        _add(router, "POST", step, self.step, "Take one step", StepResponse, [path_id], body="StepRequest")
        state = "/episodes/{episode_id:path}/state"
        _add(router, "GET", state, self.state, "The conversation so far", EpisodeState, [path_id])
        finish = "/episodes/{episode_id:path}/finish"
        what = "End an episode early"
        _add(router, "POST", finish, self.finish, what, StepResponse, [path_id], body="FinishRequest")
        _add(router, "DELETE", "/episodes/{episode_id:path}", self.delete, "Forget an episode", None, [path_id], 204)
        self._mount_runs(router)
        of_run: dict[str, Any] = {"parameters": [_RUN_ID], "scope": Scope.ADMIN}
        _add(router, "GET", "/episodes", self.live, "The live episodes of a run", list[LiveEpisode], **of_run)
        _add(router, "DELETE", "/episodes", self.delete_run, "Forget a run's live episodes", dict[str, int], **of_run)
        for method, path, handler, what in TaskRoutes(self._service).routes:
            _add(router, method, path, handler, what, parameters=[_ENV] if "{env}" in path else None)

    def _mount(self, router: APIRouter, prefix: str, env: list[dict[str, Any]]) -> None:
        anything = dict[str, Any]
        of_episode = [*env, {**_EPISODE_ID, "in": "query"}]
        _add(router, "POST", f"{prefix}/reset", self.reset, "Start an episode", StepResponse, env, body="ResetRequest")
        _add(router, "POST", f"{prefix}/step", self.step, "Take one step", StepResponse, env, body="StepRequest")
        _add(router, "GET", f"{prefix}/state", self.state, "The conversation so far", EpisodeState, of_episode)
        _add(router, "GET", f"{prefix}/health", self.health, "Whether the server is up", anything, env)
        _add(router, "GET", f"{prefix}/metadata", self.metadata, "What this server is", anything, env)
        _add(router, "GET", f"{prefix}/schema", self.schema, "JSON schemas of what travels", anything, env)
        _add(router, "POST", f"{prefix}/mcp", self.mcp, "JSON-RPC 2.0: sessions and tools", anything, env)

    def _mount_runs(self, router: APIRouter) -> None:
        runs = RunRoutes(self._service)
        of_run = [
            {"name": "run_id", "in": "path", "required": True, "schema": {"type": "string", "maxLength": _MAX_ID}}
        ]
        _add(router, "POST", "/episodes/sample", runs.sample, "Draw episodes of a run", Sample, body="SampleRequest")
        path = "/curriculum/{run_id:path}"
        _add(
            router,
            "GET",
            f"{path}/export",
            runs.export,
            "A run's curriculum as data",
            RunExport,
            of_run,
            scope=Scope.JUDGE,
        )
        merge = "Merge exported curricula into a run"
        changing: dict[str, Any] = {"parameters": of_run, "scope": Scope.ADMIN}
        _add(router, "POST", f"{path}/import", runs.import_, merge, RunState, body="ImportRequest", **changing)
        fork = "Go on with a run's frontiers as a new run"
        _add(router, "POST", f"{path}/fork", runs.fork, fork, RunState, body="ForkRequest", **changing)
        count = "Count episodes that were played elsewhere"
        _add(router, "POST", f"{path}/report", runs.report, count, ReportAnswer, of_run, body="Report")
        _add(router, "GET", path, runs.read, "A run and its frontiers", RunState, of_run)
        _add(router, "PUT", path, runs.put, "Set or make a run", RunState, body="RunSettings", **changing)
        _add(router, "DELETE", path, runs.delete, "Forget a run", status=204, **changing)

    async def reset(self, request: Request) -> Response:
        """Start an episode; the body may be empty."""
        raw = await read_body(request, self._service.settings.max_body_bytes)
        asked = ResetRequest.model_validate(parse_json(raw) if raw.strip() else {})
        return _json(await self._service.reset(asked, env=_env(request)))

    async def step(self, request: Request) -> Response:
        """Take one step of a live episode."""
        raw = await read_body(request, self._service.settings.max_body_bytes)
        asked = StepRequest.model_validate(_in_path(request, parse_json(raw)))
        request_id = chosen_request_id(asked.action, asked.request_id)
        record = await self._service.record(asked.episode_id, _env(request))
        return _json(await self._service.step(record, asked.action, request_id))

    async def state(self, request: Request) -> Response:
        """Return the conversation of an episode, live or ended."""
        episode_id = request.path_params.get("episode_id") or request.query_params.get("episode_id")
        if not episode_id:
            raise BadRequestError("episode_id: say which episode, as in /state?episode_id=…")
        return _json(await self._service.state(await self._service.record(episode_id, _env(request), to_read=True)))

    async def delete(self, request: Request) -> Response:
        """Forget an episode and free its place."""
        await self._service.delete(await self._service.record(request.path_params["episode_id"]))
        return Response(status_code=204)

    async def finish(self, request: Request) -> Response:
        """End an episode as with its budget spent; the body may be empty."""
        raw = await read_body(request, self._service.settings.max_body_bytes)
        asked = FinishRequest.model_validate(parse_json(raw) if raw.strip() else {})
        record = await self._service.record(request.path_params["episode_id"])
        return _json(await self._service.finish(record, asked.request_id))

    async def live(self, request: Request) -> Response:
        """List the live episodes of a run."""
        return _json(live_episodes(self._service, _run_id(request)))

    async def delete_run(self, request: Request) -> Response:
        """Forget the live episodes of a run and free their places."""
        return _json(json.dumps({"deleted": await delete_episodes(self._service, _run_id(request))}))

    async def trace(self, request: Request) -> Response:
        """Return an ended episode, ready to be replayed."""
        record = await self._service.record(request.path_params["episode_id"], to_read=True)
        return Response(await self._service.trace(record), media_type="application/x-ndjson")

    async def heartbeat(self, _request: Request) -> Response:
        """Keep the places of the client that the header ``Ecom-Client`` names, for as many seconds as are answered."""
        named = client()
        if named is None:
            raise BadRequestError(f"name the client in the header {HEADER}, as in its resets")
        self._service.leases.beat(named)
        return _json(json.dumps({"lease_s": self._service.leases.lease_s}))

    async def metrics(self, _request: Request) -> Response:
        """Return what an operator watches."""
        return Response(self._service.metrics.text(), media_type=CONTENT_TYPE_LATEST)

    async def environments(self, _request: Request) -> Response:
        """List the environments."""
        return _json(await self._service.environments())

    async def health(self, _request: Request) -> Response:
        """Answer as long as the event loop runs."""
        return _json('{"status":"healthy"}')

    async def ready(self, _request: Request) -> Response:
        """Answer 200 while store, catalog and customer can be used; else 503 with what is missing."""
        missing = await self._service.missing()
        status, headers = (503, {"Retry-After": str(RETRY_AFTER_S)}) if missing else (200, {})
        return Response(answer_text(missing), status, headers, media_type="application/json")

    async def metadata(self, request: Request) -> Response:
        """Describe the server."""
        env = _env(request)
        fixed = {} if env is None else {"env_id": environment(env).about.id}
        return _json(json.dumps({**self._service.metadata(), **fixed}))

    async def schema(self, request: Request) -> Response:
        """Return the JSON schemas; of an unknown environment an error."""
        env = _env(request)
        if env is not None:
            environment(env)
        return _json(self._schema)

    async def mcp(self, request: Request) -> Response:
        """Answer a JSON-RPC request: 200 where the body fits, 202 without a body to a notification."""
        raw = await read_body(request, self._service.settings.max_body_bytes)
        answer = await self._rpc.answer_text(raw, _env(request))
        return Response(status_code=202) if answer is None else _json(answer)


def _in_path(request: Request, body: Any) -> Any:
    """Return the body of a step with the episode's id from the address, where it stands there.

    Raises:
        BadRequestError: the body names another one.
    """
    episode_id = request.path_params.get("episode_id")
    if episode_id is None or not isinstance(body, dict):
        return body
    if body.get("episode_id", episode_id) != episode_id:
        raise BadRequestError("episode_id: the address names another episode; leave it out of the body")
    return {**body, "episode_id": episode_id}


def chosen_request_id(action: dict[str, Any], outer: str | None = None) -> str | None:
    """Return the request id of a step: beside the action, or in the action's metadata.

    Raises:
        BadRequestError: it is not a string of 1 to 255 characters, the two differ, or the metadata are no object.
    """
    metadata = action.get("metadata")
    if metadata is not None and type(metadata) is not dict:
        raise BadRequestError("action.metadata: an object is wanted")
    inner = metadata.get("request_id") if metadata else None
    if inner is None:
        return outer
    if not isinstance(inner, str) or not 1 <= len(inner) <= _MAX_ID:
        raise BadRequestError(f"action.metadata.request_id: a string of 1 to {_MAX_ID} characters is wanted")
    if outer is not None and outer != inner:
        raise BadRequestError("request_id: differs from action.metadata.request_id")
    return inner


def components() -> dict[str, Any]:
    """Return the OpenAPI schemas of the request bodies, which FastAPI cannot know: no handler declares a body."""
    of_runs = (RunSettings, ImportRequest, ForkRequest, Report, SampleRequest)
    models = (ResetRequest, StepRequest, FinishRequest, Action, *of_runs)
    pairs: list[Any] = [(model, "validation") for model in models]
    _, schema = models_json_schema(pairs, ref_template="#/components/schemas/{model}")
    found: dict[str, Any] = schema["$defs"]
    found["StepRequest"]["properties"]["action"] = {"$ref": "#/components/schemas/Action"}
    return found


def _env(request: Request) -> str | None:
    env: str | None = request.path_params.get("env")
    return env


def _run_id(request: Request) -> str:
    run_id = request.query_params.get("run_id")
    if not run_id:
        raise BadRequestError("run_id: say which run, as in /episodes?run_id=…")
    return run_id


def _json(text: str) -> Response:
    return Response(text, media_type="application/json")


def _answering(handler: Handler, scope: Scope) -> Handler:
    """Wrap a handler so that only visitors of ``scope`` reach it, and whatever it raises becomes an error answer.

    An exception handler of the application would not do: starlette raises a fault again once it is answered, the log
    would then hold its message, and a message may hold a value of the goal.
    """

    async def endpoint(request: Request) -> Response:
        try:
            require(scope)
            return await handler(request)
        except Exception as error:
            return translate(error).response()

    return endpoint


def _add(
    router: APIRouter,
    method: str,
    path: str,
    handler: Handler,
    summary: str,
    answer: Any = None,
    parameters: list[dict[str, Any]] | None = None,
    status: int = 200,
    body: str | None = None,
    scope: Scope = Scope.PLAY,
) -> None:
    """Register ``handler`` for tokens of ``scope`` and declare what it takes and returns; FastAPI only documents it."""
    extra: dict[str, Any] = {"parameters": parameters} if parameters else {}
    if body is not None:
        content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{body}"}}}
        extra["requestBody"] = {"content": content, "required": body in _NEEDED}
    responses: dict[int | str, dict[str, Any]] = {"4XX": {"model": ErrorResponse}, "5XX": {"model": ErrorResponse}}
    if answer is not None:
        responses[status] = {"model": answer}
    router.add_api_route(
        path,
        _answering(handler, scope),
        methods=[method],
        name=handler.__name__,
        summary=summary,
        description=handler.__doc__,
        status_code=status,
        response_class=Response,
        response_model=None,
        responses=responses,
        openapi_extra=extra,
    )
