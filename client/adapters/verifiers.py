"""A taskset of verifiers (its API ``verifiers.v1``) and the harness that plays it.

The harness runs the conversation in its own process: every model call goes through verifiers' interception, every
action to the server. A limit that verifiers sets finishes the episode, with a score. Where the server fails the rollout
has an error and no reward, so that verifiers neither scores it nor trains on it.

Verifiers finds a taskset by the name of a top-level module, so a file of one's own names what this one defines::

    from ecom_rlve.client.adapters.verifiers import ShoppingHarness, ShoppingTaskset

    __all__ = ["ShoppingHarness", "ShoppingTaskset"]
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import verifiers.v1 as vf
from pydantic import Field

from ecom_rlve.client.adapters.chat_model import ChatModel
from ecom_rlve.client.adapters.openai_tools import EpisodeRecord, run_episode_async
from ecom_rlve.client.client import DEFAULT_URL, AsyncEcomEnv
from ecom_rlve.client.tool_chat import ChatMessage, Schema

__all__ = ["ShoppingHarness", "ShoppingTaskset"]

TOKEN_VARIABLE = "ECOM_RLVE_TOKEN"
"""Variable with the server's bearer token: configurations are written into traces, variables are not."""


class ShoppingData(vf.TaskData):
    """One episode to play."""

    url: str
    row: dict[str, Any]
    """Arguments of the reset."""


class ShoppingState(vf.State):
    """What became of it."""

    reward: float | None = None
    """The total in [-1, 1]; None until the episode has ended."""
    metrics: dict[str, float] = Field(default_factory=dict)


class ShoppingTask(vf.Task[ShoppingData, ShoppingState]):
    """Scores an episode with the server's own reward."""

    @vf.reward
    async def r_total(self, trace: vf.Trace[ShoppingState]) -> float:
        """Return the episode's total; raises where it has none, so that the rollout counts as failed."""
        state: ShoppingState = trace.state
        if state.reward is None:
            raise RuntimeError("the episode has no reward: it was not played to its end")
        return state.reward

    @vf.metric
    async def result(self, trace: vf.Trace[ShoppingState]) -> Mapping[str, float]:
        """Return correctness, the parts of the reward, and turns."""
        state: ShoppingState = trace.state
        return state.metrics


class ShoppingConfig(vf.TasksetConfig):
    """Which episodes there are."""

    url: str = DEFAULT_URL
    rows: list[dict[str, Any]] = Field(min_length=1)
    """Arguments of a reset each. For judging they name environment, difficulty and seed; for training environment, run
    and a group, and a new group at every pass, or the first pass is played for ever."""


class ShoppingTaskset(vf.Taskset[ShoppingTask, ShoppingConfig]):
    """One task for each row of its configuration."""

    def load(self) -> Iterator[ShoppingTask]:
        """Yield the tasks in the order of the rows."""
        for index, row in enumerate(self.config.rows):
            name = f"{row.get('env_id') or row.get('collection') or 'C8'}#{index}"
            # Verifiers starts no rollout without a prompt; the model reads what the server says instead.
            data = ShoppingData(
                name=name, prompt=f"Episode {name}: see the conversation.", url=self.config.url, row=row
            )
            yield ShoppingTask(data, self.config.task)


class ShoppingHarnessConfig(vf.HarnessConfig):
    """Forwards the server's token."""

    forward_env: list[str] = Field(default_factory=lambda: [TOKEN_VARIABLE])


class ShoppingHarness(vf.Harness[ShoppingHarnessConfig]):
    """Plays an episode with native tool calls."""

    APPENDS_SYSTEM_PROMPT = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self,
        ctx: vf.ModelContext,
        trace: vf.Trace[ShoppingState],
        runtime: vf.Runtime,
        endpoint: str,
        secret: str,
        mcp_urls: dict[str, str],
        data: ShoppingData,
    ) -> vf.ProgramResult:
        """Play the episode to its end; raises where it has no reward."""
        token = self.config.resolved_env.get(TOKEN_VARIABLE)
        async with httpx.AsyncClient(timeout=None) as http, AsyncEcomEnv(data.url, token=token) as env:
            model = ChatModel(http, endpoint, secret, model=ctx.model)

            async def policy(messages: list[ChatMessage], tools: list[Schema]) -> Mapping[str, Any] | None:
                try:
                    return await model(messages, tools)
                except httpx.HTTPStatusError:
                    # Verifiers refuses a call beyond a limit of the run, and says so in the trace first.
                    if trace.stop_condition is None:
                        raise
                    return None

            record = await run_episode_async(env, policy, data.row)
        if record.failure is not None:
            raise record.failure
        trace.state.reward, trace.state.metrics = record.reward, _metrics(record)
        return vf.ProgramResult(exit_code=0, stdout="", stderr="")


def _metrics(record: EpisodeRecord) -> dict[str, float]:
    """Return the figures of a result; none where the server gave no result."""
    names = ("is_correct", "correct_share", "r_task", "r_eff", "r_hall", "turns", "effective_turns")
    return {name: float(getattr(record.result, name)) for name in names if record.result is not None}
