"""TRL's GRPO trainer with DAPO's dynamic sampling, which TRL 1.16 does not have, and figures for each environment.

What is overridden are two of its private methods, so the extra ``[trl]`` pins TRL by its minor version:

- ``_calculate_rewards`` is called once all rollouts have ended, in training and in evaluation: the episodes are read.
- ``_generate_and_score_completions`` makes a step's batch. What it returns keeps its shape; rollouts that are not kept
  lose their advantage and their tokens in the loss mask. The token-level loss divides by the number of tokens in that
  mask, so it is the mean over the tokens of kept groups: as if only those had been sampled. Where no group is mixed,
  new ones are played.

The batch is not filled up to a fixed number of mixed groups, as DAPO's own sampler does: that would hold the whole
batch back for the slowest groups. A step that should learn from more mixed groups plays more prompts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from accelerate.utils import gather
from torch import Tensor
from trl import GRPOTrainer

from ecom_rlve.training.episode_figures import figures
from ecom_rlve.training.groups import mixed, share_of_mixed_groups

Row = dict[str, Any]


class MixedGroupsTrainer(GRPOTrainer):
    """Learns from groups with 0 < correct < G only."""

    def __init__(
        self, *arguments: Any, redraws: int = 0, frontiers: Callable[[], dict[str, int]] = dict, **options: Any
    ) -> None:
        """``redraws``: how often new groups are played because none was mixed.

        ``frontiers`` returns the run's frontiers by environment, for the log. The rest is GRPOTrainer's.
        """
        self._redraws = redraws
        self._frontiers = frontiers
        self._correct: Tensor = torch.empty(0)
        super().__init__(*arguments, **options)

    def _calculate_rewards(
        self, inputs: list[Row], prompts: list[Any], completions: list[Any], completion_ids_list: list[list[int]]
    ) -> Tensor:
        rewards: Tensor = super()._calculate_rewards(inputs, prompts, completions, completion_ids_list)
        correct = []
        for environment, tokens in zip(self.environments, completion_ids_list, strict=True):
            result = environment.result
            correct.append(torch.nan if result is None else float(result.is_correct))
            for name, value in figures(environment, len(tokens)):
                self._log_metric(name, value)
        self._correct = gather(torch.tensor(correct, device=self.accelerator.device))
        return rewards

    def _generate_and_score_completions(self, inputs: list[Row]) -> dict[str, Any]:
        if not self.model.training:
            judged: dict[str, Any] = super()._generate_and_score_completions(inputs)
            return judged
        for draw in range(self._redraws + 1):
            batch = super()._generate_and_score_completions([redrawn(row, draw) for row in inputs])
            kept = mixed(self._correct, self.num_generations)
            self._metrics["train"]["groups/mixed"].append(share_of_mixed_groups(kept, self.num_generations))
            if kept.any():
                break
        if self.accelerator.is_main_process:
            for name, level in self._frontiers().items():
                self._metrics["train"][f"{name}/frontier"].append(float(level))
        return self._only(batch, kept)

    def _only(self, batch: dict[str, Any], kept: Tensor) -> dict[str, Any]:
        """Return the batch of this process with nothing to learn from rollouts that are not kept."""
        size = len(batch["advantages"])
        start = self.accelerator.process_index * size
        own = kept[start : start + size]
        tool_mask = batch["tool_mask"] * own.unsqueeze(1)
        tokens = (batch["completion_mask"] * tool_mask).sum()
        return batch | {
            "advantages": batch["advantages"] * own,
            "tool_mask": tool_mask,
            "num_items_in_batch": self.accelerator.gather(tokens).sum(),
        }


def redrawn(row: Row, draw: int) -> Row:
    """Return the row of the ``draw``-th group that is played in a prompt's place; the 0th is the prompt's own.

    The name follows from the prompt's, so a run that is resumed plays the same groups.
    """
    return row if draw == 0 else {**row, "group_id": f"{row['group_id']}-again-{draw}"}
