"""The protocol of a client, without any I/O: what to send, how to read the answer, when to try again.

An operation (reset, step, finish, state, end) is a generator. It yields the :class:`Request` to send, receives the
:class:`Outcome`, and returns the result of the operation. The two clients only perform requests, so retries, errors and
the bookkeeping of an episode exist only once.

Nothing is applied twice: every reset and step carries a ``request_id``, all its tries send the same bytes, and the
server answers a repeated id with the stored answer. An operation that got no answer (deadline, cancellation) stays
pending: if the same call is made again, the same request is sent again.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from hashlib import blake2b
from typing import Any, TypeVar
from urllib.parse import quote
from uuid import uuid4

import httpx
from pydantic import BaseModel

from ecom_rlve.client.answers import failure_of, is_retried, parse
from ecom_rlve.client.errors import (
    EcomEnvError,
    EpisodeDoneError,
    EpisodeLostError,
    InfrastructureError,
    InvalidRequestError,
    NotResetError,
    ServerUnavailableError,
    UnexpectedAnswerError,
)
from ecom_rlve.client.text import render
from ecom_rlve.models import Action, EpisodeState, ErrorCode, Observation, StepMetadata, StepResponse

FIRST_WAIT_S = 0.25
LONGEST_WAIT_S = 8.0
# Who leaves waits no longer: an episode that nobody ends is forgotten when it has been idle.
GOODBYE_TIMEOUT_S = 5.0

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Request:
    """One HTTP request to perform."""

    method: str
    path: str
    request_id: str
    content: bytes | None = None
    params: Mapping[str, str] | None = None
    timeout_s: float | None = None
    """None: the client's own timeout."""
    after_s: float = 0.0
    """Seconds to wait before sending."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The answer to a request, or its failure; times are seconds of one monotonic clock."""

    started: float
    ended: float
    reply: httpx.Response | httpx.RequestError


Operation = Generator[Request, Outcome, T]


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of a reset or a step."""

    observation: Observation
    reward: float | None
    """None on reset, 0.0 on every non-final step, the episode's total in [-1, 1] at the end."""
    done: bool
    metadata: StepMetadata

    @property
    def text(self) -> str:
        """The observation as the text a policy reads; never empty."""
        return render(self.observation)


class Session:
    """One client's episode: which one it is, whether it is live, and the request that still lacks an answer."""

    def __init__(self, env: str | None, retry_for: float) -> None:
        self._prefix = f"/envs/{quote(env, safe='')}" if env else ""
        self._retry_for = retry_for
        self._pending: tuple[bytes, Request] | None = None
        self._owned = False
        self._unheard: str | None = None
        self.episode_id: str | None = None
        self.done = False

    @property
    def is_live(self) -> bool:
        """Whether an episode that began here still goes on."""
        return self._owned and self.episode_id is not None and not self.done

    def reset(self, arguments: Mapping[str, Any]) -> Operation[StepResult]:
        """Start an episode. A live one is ended first, because a client plays one at a time.

        If ``arguments`` name its id, it is ended too where it began but no answer said so.
        """
        named = arguments.get("episode_id")
        path, body = f"{self._prefix}/reset", encode(arguments)
        if isinstance(named, str):
            path = f"{path}?{_routed(named)}"
        if not self._is_pending(path, body):
            yield from self.end()
        self._unheard = named if isinstance(named, str) else None
        try:
            content = yield from self._submit(path, body)
        except EcomEnvError:
            if self._pending is None:
                self._unheard = None
            raise
        self._owned = True
        return self._accept(content)

    def step(self, action: Mapping[str, Any] | Action | str) -> Operation[StepResult]:
        """Take one agent turn."""
        episode_id = self._live_id()
        body = encode({"episode_id": episode_id, "action": action_fields(action)})
        content = yield from self._submit(f"{self._prefix}/step?{_routed(episode_id)}", body)
        return self._accept(content)

    def finish(self) -> Operation[StepResult]:
        """End the episode as with its budget spent."""
        path = f"/episodes/{quote(self._live_id(), safe='')}/finish"
        content = yield from self._submit(path, encode({}))
        return self._accept(content)

    def state(self) -> Operation[EpisodeState]:
        """Read the conversation so far."""
        request = Request("GET", f"{self._prefix}/state", uuid4().hex, params={"episode_id": self._required_id()})
        content = yield from self._exchanged(request)
        return parse(EpisodeState, content)

    def end(self) -> Operation[None]:
        """Forget the episode. If it is live, tell the server: one try, whose failure does not matter.

        So too if a reset that named it got no answer, because it may have begun.
        """
        live = self.episode_id if self.is_live else None
        unheard = self._unheard
        if unheard is not None:
            self._pending = None
        self.episode_id, self.done, self._owned, self._unheard = None, False, False, None
        for episode_id in (live, unheard):
            if episode_id is not None:
                path = f"/episodes/{quote(episode_id, safe='')}"
                yield Request("DELETE", path, uuid4().hex, timeout_s=GOODBYE_TIMEOUT_S)

    def disown(self) -> None:
        """Leave the episode to another process. It can still be played from here, but is not ended from here."""
        self._owned = False
        if self._unheard is not None:
            self._unheard = self._pending = None

    def _live_id(self) -> str:
        if self.done:
            raise EpisodeDoneError("the episode has ended; call reset", ErrorCode.EPISODE_DONE)
        return self._required_id()

    def _required_id(self) -> str:
        if self.episode_id is None:
            raise NotResetError("no episode is being played; call reset first", ErrorCode.NOT_RESET)
        return self.episode_id

    def _is_pending(self, path: str, body: bytes) -> bool:
        return self._pending is not None and self._pending[0] == body and self._pending[1].path == path

    def _submit(self, path: str, body: bytes) -> Operation[bytes]:
        """Send what may be applied only once. If the same was sent last and got no answer, it keeps its request id."""
        if self._pending is None or not self._is_pending(path, body):
            fields: dict[str, Any] = json.loads(body)
            request_id = str(fields.get("request_id") or uuid4().hex)
            self._pending = body, Request("POST", path, request_id, encode(fields | {"request_id": request_id}))
        try:
            content = yield from self._exchanged(self._pending[1])
        except (ServerUnavailableError, UnexpectedAnswerError):
            raise
        except EcomEnvError:
            self._pending = None
            raise
        return content

    def _exchanged(self, request: Request) -> Operation[bytes]:
        try:
            return (yield from exchange(request, self._retry_for))
        except EpisodeLostError:
            self._owned = False
            raise

    def _accept(self, content: bytes) -> StepResult:
        response = parse(StepResponse, content)
        # Not before: an answer that cannot be read is fetched again, and the step not taken twice.
        self._pending = self._unheard = None
        self.episode_id, self.done = response.observation.episode_id, response.done
        if response.done and response.reward is None:
            why = response.observation.infra_error or "the server failed"
            raise InfrastructureError(f"the episode ended without a reward, do not score it: {why}")
        return StepResult(response.observation, response.reward, response.done, response.metadata)


def _routed(episode_id: str) -> str:
    """Return a query by which a balancer may send an episode's requests to one server; servers do not need it."""
    return f"episode_id={quote(episode_id, safe='')}"


def exchange(request: Request, retry_for: float) -> Operation[bytes]:
    """Send ``request`` until it is answered, and return the answer's body.

    After a lost connection or answer and the statuses 502, 503, 504 the same bytes are sent again, until the next try
    would start more than ``retry_for`` seconds after the first. Every other failure is raised at once.
    """
    outcome = yield request
    first, attempt = outcome.started, 0
    while (failure := failure_of(outcome.reply)) is not None:
        if not is_retried(outcome.reply):
            raise failure
        wait = max(backoff(request.request_id, attempt), retry_after(outcome.reply))
        if outcome.ended + wait - first > retry_for:
            raise failure
        attempt += 1
        outcome = yield replace(request, after_s=wait)
    assert isinstance(outcome.reply, httpx.Response)
    return outcome.reply.content


def backoff(request_id: str, attempt: int) -> float:
    """Return the seconds to wait after try number ``attempt`` (from 0): they double up to a maximum.

    They are multiplied by a factor from ½ to 1 that depends on the request's id, so that clients that were refused at
    the same moment do not all come back at the same moment.
    """
    digest = blake2b(f"{request_id}:{attempt}".encode(), digest_size=8).digest()
    share = int.from_bytes(digest, "big") / 2**64
    return min(LONGEST_WAIT_S, FIRST_WAIT_S * 2.0 ** min(attempt, 16)) * (1 + share) / 2


def retry_after(reply: httpx.Response | httpx.RequestError) -> float:
    """Return the seconds that a Retry-After header asks for; 0 without a readable one.

    If it is a date, it is compared with the answer's Date header, so that the clocks of both sides need not agree.
    """
    if not isinstance(reply, httpx.Response):
        return 0.0
    value = reply.headers.get("retry-after", "")
    if value.isascii() and value.isdecimal():
        return float(value)
    try:
        wait = parsedate_to_datetime(value) - parsedate_to_datetime(reply.headers.get("date", ""))
    except (ValueError, TypeError):
        return 0.0
    return max(0.0, wait.total_seconds())


def action_fields(action: Mapping[str, Any] | Action | str) -> Mapping[str, Any]:
    """Return the JSON object of an action; a string is a model's raw output."""
    if isinstance(action, str):
        return {"text": action}
    if isinstance(action, Action):
        fields = action.model_dump(mode="json", exclude_defaults=True)
        return fields if action.text is not None else {"assistant_message": action.assistant_message} | fields
    if isinstance(action, Mapping):
        return action
    raise InvalidRequestError(
        f"an action is a mapping, an Action or a str, not {type(action).__name__}", ErrorCode.VALIDATION_ERROR
    )


def encode(fields: Mapping[str, Any]) -> bytes:
    """Return ``fields`` as JSON; numpy scalars and arrays, which seeds often are, become plain numbers."""
    try:
        return json.dumps(dict(fields), allow_nan=False, default=_plain).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidRequestError(f"the request is not JSON: {error}", ErrorCode.INVALID_JSON) from error


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, Mapping):
        return dict(value)
    if callable(convert := getattr(value, "tolist", None)):
        return convert()
    raise TypeError(f"{type(value).__name__} is no JSON type")
