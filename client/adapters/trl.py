"""Environments for TRL's ``environment_factory``, made from the tools that a server lists.

TRL makes one object a rollout, calls ``reset`` with the dataset's row, offers the other public methods to the model as
tools, and takes the reward from ``get_reward``. One class is made for each environment, because a class is what TRL
reads the tools from. Their schemas are asked for once, by :func:`trl_environments`: only the server knows which filters
its catalog has. From then on nothing is sent before a reset.

TRL tells an environment neither that a rollout was cut by its token limit nor that the model stopped calling tools. It
does ask for the reward of every rollout, so an episode that is still live then is *finished*: it ends as with its
budget spent, and has a result. Places are given back by the ``with`` block and when the interpreter exits; that of an
object that was dropped, when the next one is made. Those of a killed trainer expire, or ``DELETE /episodes?run_id=``
frees them.

Nothing of TRL is imported here.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import weakref
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from queue import Empty, SimpleQueue
from types import MappingProxyType, TracebackType
from typing import Any, Self
from uuid import uuid4

from ecom_rlve.client.adapters.trl_methods import tool_method
from ecom_rlve.client.client import EcomEnv
from ecom_rlve.client.errors import (
    CapacityError,
    InfrastructureError,
    ServerUnavailableError,
    UnexpectedAnswerError,
)
from ecom_rlve.client.protocol import StepResult
from ecom_rlve.client.tool_chat import (
    CHAT_RESET,
    call_action,
    opening_text,
    reply_text,
    reset_arguments,
    system_text,
    tool_schemas,
)
from ecom_rlve.models import EpisodeResult, Split, StepMetadata

UNAVAILABLE = "The shop cannot be reached; nothing can be done any more."
"""What the model reads after an infrastructure failure."""
OVER = "The conversation has ended; nothing can be done any more."

_FAILURES = (InfrastructureError, ServerUnavailableError, CapacityError, UnexpectedAnswerError)
"""Faults of the server or of the way to it: the rollout has no reward. Any other error is the caller's, and raised."""
_WITHOUT_TOOLS: Mapping[str, Any] = MappingProxyType({"include": ["brief"]})
"""The chat template shows the tools, so no first observation need carry them."""
_EMPTY_PROMPT = [{"role": "user", "content": ""}]
"""TRL appends what ``reset`` returns to the last user message."""


class TrlEnvironment:
    """Base of the generated classes: one rollout's episode. Its public methods are TRL's, and the tools."""

    def __init__(self, factory: TrlFactory) -> None:
        self._run_id = factory.run_id
        self._env_id = factory.env_id
        self._client = EcomEnv(factory.url, token=factory.token, timeout=factory.timeout, retry_for=factory.retry_for)
        self._step: StepResult | None = None
        self._failure: Exception | None = None
        self._in_order = asyncio.Lock()
        # The collector may run inside any call, even one that holds a lock of the connections that all clients share:
        # to send something from there waits for ever. So the client of a dropped object is only laid aside.
        weakref.finalize(self, factory.dropped.put, self._client).atexit = False

    def reset(self, **row: Any) -> str:
        """Start the episode of a dataset's row and return what the model reads: the brief and the customer's message.

        Columns that no reset knows are ignored, and so are an environment, a run and an id: the first two are the
        factory's, and an id of our own lets the episode be ended even if the answer to the reset is lost. Where the
        server cannot be reached the text says so and :meth:`get_reward` returns None; a row that asks for what does not
        exist raises.
        """
        self._step, self._failure = None, None
        own = {"env_id": self._env_id, "run_id": self._run_id, "episode_id": uuid4().hex}
        arguments = reset_arguments(row) | {**_WITHOUT_TOOLS, **own}
        try:
            self._step = self._client.reset(**arguments)
        except _FAILURES as failure:
            self._failure = failure
            return UNAVAILABLE
        return f"{system_text(self._step, says_by_tool=True)}\n\n{opening_text(self._step)}"

    def get_reward(self) -> float | None:
        """Return the episode's reward in [-1, 1], None after an infrastructure failure; a live episode is finished."""
        if self._step is not None and self._failure is None and not self._step.done:
            try:
                self._step = self._client.finish()
            except _FAILURES as failure:
                self._failure = failure
        return None if self._step is None or self._failure is not None else self._step.reward

    @property
    def result(self) -> EpisodeResult | None:
        """How the episode ended; None while it is live and after an infrastructure failure."""
        return None if self._step is None or self._failure is not None else self._step.observation.result

    @property
    def metadata(self) -> StepMetadata | None:
        """The resolved arguments of the episode; None before a reset and where it failed."""
        return None if self._step is None else self._step.metadata

    @property
    def failure(self) -> Exception | None:
        """The infrastructure failure that ended the episode; None if there was none."""
        return self._failure

    def _call(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Send one tool call and return what came of it as text."""
        if self._failure is not None or self._step is None:
            return UNAVAILABLE
        if self._step.done:
            return OVER
        try:
            self._step = self._client.step(call_action(name, arguments))
        except _FAILURES as failure:
            self._failure = failure
            return UNAVAILABLE
        return reply_text(self._step)

    async def _call_in_thread(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Send one tool call from a thread. Calls that are gathered keep the order in which the model wrote them."""
        async with self._in_order:
            return await asyncio.to_thread(self._call, name, arguments)

    def _close(self) -> None:
        """End a live episode without a result."""
        self._client.close()


@dataclass(frozen=True)
class TrlFactory:
    """Makes the environments of one id; can be pickled, as trainers with worker processes need it."""

    url: str
    env_id: str
    run_id: str
    tools: str
    """The function schemas, as JSON."""
    token: str | None = None
    timeout: float = 30
    retry_for: float = 60
    asynchronous: bool = False
    """Whether the tools are coroutines."""
    dropped: SimpleQueue[EcomEnv] = field(default_factory=SimpleQueue, compare=False, repr=False)
    """Clients of environments that were dropped, with whatever they still play. Its ``put`` may interrupt anything."""
    _made: weakref.WeakSet[TrlEnvironment] = field(default_factory=weakref.WeakSet, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Let nothing live on after the interpreter."""
        atexit.register(self.close)

    def __call__(self) -> TrlEnvironment:
        """Return a new environment; nothing is sent, but that dropped ones end."""
        self._end_dropped()
        environment = _class_of(self.env_id, self.tools, self.asynchronous)(self)
        self._made.add(environment)
        return environment

    def close(self) -> None:
        """End what the environments made in this process are still playing."""
        for environment in list(self._made):
            environment._close()
        self._end_dropped()

    def _end_dropped(self) -> None:
        with suppress(Empty):
            while True:
                self.dropped.get_nowait().close()

    def __reduce__(self) -> tuple[type[TrlFactory], tuple[Any, ...]]:
        """Leave out what was made in this process."""
        fields = (self.url, self.env_id, self.run_id, self.tools, self.token)
        return TrlFactory, (*fields, self.timeout, self.retry_for, self.asynchronous)


@dataclass(frozen=True)
class TrlEnvironments:
    """The environments of a run; leaving the ``with`` block ends every live episode of this process."""

    factories: Mapping[str, TrlFactory]
    """By id: what TRL takes as ``environment_factory``, with a column ``environment`` in the dataset."""

    def close(self) -> None:
        """End every live episode of this process; the environments can be used again."""
        for factory in self.factories.values():
            factory.close()

    def __enter__(self) -> Self:
        """Return the environments."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Close them, also where the trainer raised."""
        self.close()


def trl_environments(
    url: str,
    env_ids: Sequence[str],
    *,
    run_id: str,
    token: str | None = None,
    timeout: float = 30,
    retry_for: float = 60,
    asynchronous: bool = False,
) -> TrlEnvironments:
    """Ask the server for the tools of each environment and return what makes them.

    ``run_id`` names the curriculum that draws difficulties and counts episodes. The other arguments are those of
    :class:`EcomEnv`; ``asynchronous`` makes the tools coroutines. Raises as a reset does.
    """
    factories = {}
    with EcomEnv(url, token=token, timeout=timeout, retry_for=retry_for) as env:
        for env_id in env_ids:
            # Named and held out, so that it counts for no curriculum.
            first = env.reset(env_id=env_id, difficulty=0, seed=0, split="eval", **CHAT_RESET)
            tools = json.dumps(tool_schemas(first, says_by_tool=True))
            known_as = first.metadata.env_id
            factories[known_as] = TrlFactory(url, known_as, run_id, tools, token, timeout, retry_for, asynchronous)
    return TrlEnvironments(factories)


def training_rows(env_ids: Sequence[str], prompts: int, *, first: int = 0) -> list[dict[str, Any]]:
    """Return a row for each prompt that a run plays, the environments in turn.

    ``prompts`` are all of the run, steps × prompts a step, because a group's id is played once: a row that comes back
    in a second pass would play the first one's episode again. A row names neither seed nor difficulty, so the
    curriculum draws them and counts the episodes. Ids begin at ``first``.

    >>> [(row["environment"], row["group_id"]) for row in training_rows(["CART", "PD"], 3)]
    [('CART', 'prompt-0'), ('PD', 'prompt-1'), ('CART', 'prompt-2')]
    """
    return [
        {"prompt": _EMPTY_PROMPT, "environment": env_ids[number % len(env_ids)], "group_id": f"prompt-{number}"}
        for number in range(first, first + prompts)
    ]


def evaluation_rows(
    env_ids: Sequence[str], difficulties: Iterable[int], seeds: Iterable[int], *, split: Split = "eval"
) -> list[dict[str, Any]]:
    """Return a row for each environment, difficulty and seed, for judging: such episodes count for no curriculum.

    >>> evaluation_rows(["CART"], [3], [7])[0]["difficulty"]
    3
    """
    numbered = list(seeds)
    return [
        {"prompt": _EMPTY_PROMPT, "environment": env_id, "difficulty": difficulty, "seed": seed, "split": split}
        for env_id in env_ids
        for difficulty in difficulties
        for seed in numbered
    ]


@cache
def _class_of(env_id: str, tools: str, asynchronous: bool) -> type[TrlEnvironment]:
    """Return the class of an environment; always the same one, because TRL compares classes."""
    schemas = [schema["function"] for schema in json.loads(tools)]
    call = TrlEnvironment._call_in_thread if asynchronous else TrlEnvironment._call
    methods = {schema["name"]: tool_method(schema, call) for schema in schemas}
    return type(env_id, (TrlEnvironment,), {"__doc__": f"The environment {env_id}.", **methods})
