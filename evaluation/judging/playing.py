"""Playing one episode to its end, whatever the agent does (SPEC §2.4, §10).

An agent's fault never looks like a failure of the infrastructure. Where an agent gives nothing (it hangs, crashes, is
cut off, or its server refuses the conversation) the episode is finished: it ends as with its budget spent. Where what
it gives is no action, the episode ends with a format failure. In between the server judges: tools that do not exist,
text without an action, too many calls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import quote

from ecom_rlve.client import InvalidRequestError, StepResult
from ecom_rlve.evaluation.judging.plan import Plan, Task
from ecom_rlve.evaluation.judging.players.player import PROSE, AgentFaultError, Player
from ecom_rlve.evaluation.judging.records import EpisodeLine, Fault
from ecom_rlve.evaluation.judging.traces import questions_in


class LiveEpisode(Protocol):
    """What playing needs of an episode that has begun; :class:`~ecom_rlve.client.AsyncEcomEnv` is one."""

    async def step(self, action: Mapping[str, Any] | str, /) -> StepResult:
        """Take a step; raises ``InvalidRequestError`` for what no server takes."""
        ...

    async def finish(self) -> StepResult:
        """End the episode as with its budget spent."""
        ...


def reset_of(plan: Plan, task: Task, run_id: str) -> dict[str, Any]:
    """Return the arguments of an episode's reset."""
    is_text = plan.agent.startswith(("python:", "openai:")) and not is_chat(plan)
    return {
        "env_id": task.env_id,
        "difficulty": task.difficulty,
        "seed": task.seed,
        "split": plan.split,
        "style": plan.style,
        "format": plan.format,
        "run_id": run_id,
        # Who writes no raw text need not be told how it is written.
        "include": ["tools", "brief", "format"] if is_text else ["tools", "brief"],
    }


def is_chat(plan: Plan) -> bool:
    """Tell whether a plan's agent is a model that writes native tool calls."""
    return plan.agent.startswith("openai:") and plan.calls == "native"


async def play(
    env: LiveEpisode, first: StepResult, player: Player, patience_s: float
) -> tuple[StepResult, Fault | None]:
    """Play an episode that has begun, and return its last answer and the agent's fault, if there was one.

    The agent gets ``patience_s`` seconds for each action.
    """
    result = first
    while not result.done:
        try:
            action = await asyncio.wait_for(player.act(result), patience_s)
            result = await _step(env, action)
        except TimeoutError:
            fault = Fault(kind="timeout", message=f"no action within {patience_s:g} s")
            return await env.finish(), fault
        except AgentFaultError as error:
            ended = await env.step(PROSE) if error.fault.kind == "unreadable" else await env.finish()
            return ended, error.fault
    return result, None


async def _step(env: LiveEpisode, action: Mapping[str, Any] | str) -> StepResult:
    # An agent's own request id could make the server answer for ever with what it has answered before.
    fields = {"text": action} if isinstance(action, str) else {k: v for k, v in action.items() if k != "metadata"}
    try:
        return await env.step(fields)
    except InvalidRequestError as error:
        # The agent wrote the whole of it, so what no server takes is its fault and not this client's.
        raise AgentFaultError("unreadable", f"the server does not take the action: {error}") from error


def line_of(task: Task, player: Player, ended: StepResult, fault: Fault | None, trace: str) -> EpisodeLine:
    """Return what is written down of an episode that has ended."""
    meta, result = ended.metadata, ended.observation.result
    assert result is not None
    assert ended.reward is not None
    seen = questions_in(trace)
    return EpisodeLine(
        **task._asdict(),
        usage=player.usage,
        reward=ended.reward,
        result=result,
        fault=fault,
        split=meta.split,
        style=meta.style,
        format=meta.format,
        axes=meta.axes,
        version=meta.version,
        catalog=meta.catalog,
        bank=meta.bank,
        simulator=meta.simulator,
        discloses_acts=meta.acts is not None,
        max_turns=seen.max_turns,
        asked=seen.asked,
        answered=seen.answered,
        trace=trace,
    )


def trace_path(episode_id: str) -> str:
    """Return the path of an ended episode's trace."""
    return f"/episodes/{quote(episode_id, safe='')}/trace"
