"""An environment of SkyRL-Gym: text in, text out, one episode of a server.

The interface knows messages alone, so the list of tools and the form of an action stand in the first of them, and the
policy's raw output is the action. It has no step without a reward: a failure of the server is raised, and a reward is
never made up.
"""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from skyrl_gym import register
from skyrl_gym.envs.base_text_env import BaseTextEnv, BaseTextEnvStepOutput, ConversationType

from ecom_rlve.client.client import DEFAULT_URL, EcomEnv
from ecom_rlve.client.protocol import StepResult
from ecom_rlve.client.text import render
from ecom_rlve.models import ResetRequest

ID = "ecom_rlve"
"""Name under which :func:`register_shopping` registers the environment: the ``env_class`` of a dataset's rows."""


class ShoppingEnv(BaseTextEnv):
    """One episode. SkyRL makes one for each trajectory, calls it from a pool of threads, and closes it."""

    def __init__(
        self, env_config: Any = None, extras: dict[str, Any] | None = None, url: str = DEFAULT_URL, token: str = ""
    ) -> None:
        """``extras`` is the dataset's row: what of it is no argument of a reset is left out. Nothing is connected yet.

        ``env_config`` is SkyRL's own and not read.
        """
        super().__init__()
        row = extras or {}
        given = {name: row[name] for name in ResetRequest.model_fields if row.get(name) is not None}
        # With an id of its own the episode can be ended even if the answer to its reset is lost.
        self._arguments = {"episode_id": uuid4().hex, **given}
        self._env = EcomEnv(url, token=token or None)
        self._result: StepResult | None = None

    def init(self, prompt: ConversationType) -> tuple[ConversationType, dict[str, Any]]:
        """Start the episode; return the row's prompt with the first observation after it, and the metadata."""
        self._result = self._env.reset(**self._arguments)
        self.max_turns = self._result.observation.max_turns or 0
        return [*prompt, self._message(self._result)], self._result.metadata.model_dump(mode="json")

    def step(self, action: str) -> BaseTextEnvStepOutput:
        """Take one turn with the policy's raw output.

        Raises :class:`ecom_rlve.client.EcomEnvError` where there is no reward.
        """
        self.turns += 1
        self._result = result = self._env.step(action)
        return BaseTextEnvStepOutput(
            observations=[] if result.done else [self._message(result)],
            reward=result.reward,
            done=result.done,
            metadata=result.metadata.model_dump(mode="json"),
        )

    def close(self) -> None:
        """End the episode if it is live. May be called again."""
        self._env.close()

    def get_metrics(self) -> dict[str, Any]:
        """Return correctness, the parts of the reward and turns; nothing of an episode that was not played out."""
        result = self._result.observation.result if self._result is not None else None
        names = ("is_correct", "correct_share", "r_task", "r_eff", "r_hall", "turns")
        return {} if result is None else {name: float(getattr(result, name)) for name in names}

    @staticmethod
    def _message(result: StepResult) -> dict[str, str]:
        return {"role": "user", "content": render(result.observation)}


def register_shopping(url: str = DEFAULT_URL, *, token: str = "") -> None:
    """Register the environment with SkyRL-Gym, to be played on the server at ``url``; call it once in each process."""
    register(id=ID, entry_point=f"{__name__}:ShoppingEnv", kwargs={"url": url, "token": token})
