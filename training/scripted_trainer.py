"""The dry run's trainer: most of what the model would write is scripted, because a random model calls no tool.

Everything else is real: the chat template, the parsing of calls, the episodes, the rewards, the loss and the optimiser.
The script is sometimes right and sometimes wrong, so gradients are not zero.
"""

from __future__ import annotations

import json
from typing import Any

from numpy.random import Generator

from ecom_rlve.streams import stream
from ecom_rlve.training.scripted_calls import next_call
from ecom_rlve.training.trainer import MixedGroupsTrainer

_OWN_WORDS = 0.1
"""Share of messages that the random model writes itself; they hold no call, so the rollout ends there."""


class ScriptedTrainer(MixedGroupsTrainer):
    """Writes tool calls in the model's place."""

    def _generate_single_turn(
        self, prompt_ids: list[list[int]], images: Any, multimodal_fields: Any, num_generations: int, **options: Any
    ) -> tuple[list[list[int]], None]:
        # By step and shape, so that a resumed run draws what it would have drawn.
        draws = stream(self.args.seed, "scripted", self.state.global_step, sum(map(len, prompt_ids)))
        written = [self._written(ids, number, draws) for number, ids in enumerate(prompt_ids)]
        own = [number for number, ids in enumerate(written) if ids is None]
        if own:
            asked = [prompt_ids[number] for number in own]
            answers, _ = super()._generate_single_turn(asked, images, multimodal_fields, num_generations, **options)
            written = [answers[own.index(number)] if ids is None else ids for number, ids in enumerate(written)]
        return [ids or [] for ids in written], None

    def _written(self, prompt: list[int], pick: int, draws: Generator) -> list[int] | None:
        """Return the tokens of the next message, None where the model is to write it."""
        conversation = self.processing_class.decode(prompt)
        # After the first call, because an episode in which no step was taken counts for no curriculum.
        if draws.random() < _OWN_WORDS and "<tool_response>" in conversation:
            return None
        call = next_call(conversation, pick)
        written = "Goodbye." if call is None else f"<tool_call>\n{json.dumps(call)}\n</tool_call>"
        text = f"{written}{self.processing_class.eos_token}"
        ids: list[int] = self.processing_class(text, add_special_tokens=False)["input_ids"]
        return ids
