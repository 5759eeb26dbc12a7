"""The trainer's batch, from real episodes: what is learnt from, and with which weight.

The rollouts are played by hand where TRL would let the model write: one step before the model, so that it is known who
plays what. Everything after that is TRL's and ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from datasets import Dataset
from trl import GRPOConfig, GRPOTrainer

from ecom_rlve.client.adapters.trl import (
    TrlEnvironment,
    TrlEnvironments,
    evaluation_rows,
    training_rows,
    trl_environments,
)
from ecom_rlve.training.tiny_model import tiny_model, tiny_tokenizer
from ecom_rlve.training.trainer import MixedGroupsTrainer

RUN = "trainer tests"
SIZE = 4
"""Rollouts of a group."""
PROMPT = [{"role": "user", "content": ""}]
Play = Callable[[TrlEnvironment, int, int], None]
"""Plays one rollout: its environment, its group in the batch, its number in the group."""


class HandPlayed(MixedGroupsTrainer):
    """Lets ``play`` act in the model's place."""

    play: Play

    def _generate(self, prompts: list[Any]) -> Any:
        for number, environment in enumerate(self.environments):
            self.play(environment, number // SIZE, number % SIZE)
        # Two tokens of the model, one of a tool, then the end.
        tokens = [[5, 6, 7, self.processing_class.eos_token_id] for _ in prompts]
        masks = [[1, 1, 0, 1] for _ in prompts]
        said = [[{"role": "assistant", "content": "…"}] for _ in prompts]
        return [[3, 4] for _ in prompts], tokens, masks, said, None, {}, None, []


@pytest.fixture
def environments(live_url: str) -> Iterator[TrlEnvironments]:
    with trl_environments(live_url, ["CART"], run_id=RUN) as made:
        yield made


@pytest.fixture
def make(environments: TrlEnvironments, tmp_path: Path) -> Callable[..., HandPlayed]:
    def trainer(play: Play, groups: int, redraws: int = 0) -> HandPlayed:
        tokenizer = tiny_tokenizer(["some words to learn from"])
        made = HandPlayed(
            model=tiny_model(tokenizer, 0),
            processing_class=tokenizer,
            args=GRPOConfig(
                output_dir=str(tmp_path),
                per_device_train_batch_size=SIZE * groups,
                num_generations=SIZE,
                use_cpu=True,
                bf16=False,
                report_to=[],
            ),
            train_dataset=Dataset.from_list(training_rows(["CART"], groups)),
            environment_factory=dict(environments.factories),
            redraws=redraws,
            frontiers=lambda: {"CART": 3},
        )
        made.play = play
        made.model.train()
        return made

    return trainer


def found(environment: TrlEnvironment) -> list[str]:
    """Search for the customer's words and return the products."""
    step = environment._step
    assert step is not None
    answer = tool(environment, "catalog_search")(query=step.observation.user_message)
    return re.findall('"product_id": "(.*?)"', answer)


def finish(environment: TrlEnvironment, product: str | None = None, wasted_turns: int = 0) -> None:
    """Submit, after adding a product and after some turns in which nothing is done."""
    found(environment)
    for _ in range(wasted_turns):
        tool(environment, "say")(message="One moment, please.")
    if product is not None:
        tool(environment, "cart_add")(product_id=product)
    tool(environment, "submit_answer")()


def tool(environment: TrlEnvironment, name: str) -> Callable[..., str]:
    method: Callable[..., str] = getattr(environment, name)
    return method


@pytest.fixture
def winners(environments: TrlEnvironments) -> dict[str, str]:
    """Two groups that one product of the first page wins, each with that product; found by trying."""
    scout = environments.factories["CART"]()
    won: dict[str, str] = {}
    for number in range(40):
        group = f"scouted-{number}"
        scout.reset(group_id=group)
        for product in found(scout):
            scout.reset(group_id=group)
            finish(scout, product)
            if scout.result is not None and scout.result.is_correct:
                won[group] = product
        if len(won) == 2:
            return won
    raise AssertionError("no group can be won by the first page")


def test_only_mixed_groups_are_learnt_from(make: Callable[..., HandPlayed], winners: dict[str, str]) -> None:
    """A group that is right throughout differs by speed alone; TRL would give it full-size advantages."""
    groups = list(winners)

    def play(environment: TrlEnvironment, group: int, member: int) -> None:
        product = winners[groups[group]]
        finish(environment, product if group == 0 or member % 2 else None, wasted_turns=member % 3)

    trainer = make(play, groups=2)
    rows = [{"prompt": PROMPT, "environment": "CART", "group_id": group} for group in groups for _ in range(SIZE)]
    unfiltered = GRPOTrainer._generate_and_score_completions(trainer, rows)
    assert trainer._correct.tolist() == [1, 1, 1, 1, 0, 1, 0, 1]
    assert unfiltered["advantages"][:SIZE].abs().max() > 0.5, "by r_eff alone"
    batch = trainer._generate_and_score_completions(rows)
    assert batch["advantages"][:SIZE].tolist() == [0.0] * SIZE
    assert batch["advantages"][SIZE:].tolist() == unfiltered["advantages"][SIZE:].tolist()
    assert (batch["advantages"][SIZE:] > 0).tolist() == [False, True, False, True]
    assert batch["tool_mask"].sum(dim=1).tolist() == [0] * SIZE + [3] * SIZE
    assert (int(unfiltered["num_items_in_batch"]), int(batch["num_items_in_batch"])) == (24, 12)
    assert trainer._metrics["train"]["groups/mixed"] == [0.5]
    assert trainer._metrics["train"]["CART/frontier"] == [3.0]
    assert trainer._metrics["train"]["CART/success"][-1] == pytest.approx(6 / 8)


def test_a_lost_rollout_is_neither_baseline_nor_lesson(
    make: Callable[..., HandPlayed], winners: dict[str, str], live_url: str
) -> None:
    group, product = next(iter(winners.items()))

    def play(environment: TrlEnvironment, _: int, member: int) -> None:
        if member == 3:
            assert environment.metadata is not None
            (left,) = httpx.get(f"{live_url}/episodes", params={"run_id": RUN}, timeout=None).json()
            httpx.delete(f"{live_url}/episodes/{left['episode_id']}", timeout=None).raise_for_status()
        finish(environment, product if member == 0 else None)

    rows = [{"prompt": PROMPT, "environment": "CART", "group_id": group} for _ in range(SIZE)]
    trainer = make(play, groups=1)
    batch = trainer._generate_and_score_completions(rows)
    assert trainer._correct.isnan().tolist() == [False, False, False, True]
    right, wrong, _, lost = batch["advantages"].tolist()
    assert (right, wrong, lost) == (pytest.approx(2 / 3**0.5, abs=0.01), pytest.approx(-1 / 3**0.5, abs=0.01), 0.0)
    assert batch["tool_mask"][3].sum() == 0
    assert int(batch["num_items_in_batch"]) == 9
    assert trainer._metrics["train"]["lost"] == [0.25]


def test_new_groups_are_played_until_one_is_mixed(make: Callable[..., HandPlayed], winners: dict[str, str]) -> None:
    group, product = next(iter(winners.items()))
    drawn: list[str] = []

    def play(environment: TrlEnvironment, _: int, __: int) -> None:
        assert environment.metadata is not None
        drawn.append(str(environment.metadata.group_id))
        finish(environment)

    rows = [{"prompt": PROMPT, "environment": "CART", "group_id": f"never-{group}"} for _ in range(SIZE)]
    trainer = make(play, groups=1, redraws=2)
    batch = trainer._generate_and_score_completions(rows)
    assert drawn[::SIZE] == [f"never-{group}", f"never-{group}-again-1", f"never-{group}-again-2"]
    assert batch["advantages"].tolist() == [0.0] * SIZE
    assert int(batch["num_items_in_batch"]) == 0
    assert trainer._metrics["train"]["groups/mixed"] == [0.0, 0.0, 0.0]

    def right_once(environment: TrlEnvironment, _: int, member: int) -> None:
        finish(environment, product if member == 0 else None)

    drawn.clear()
    trainer.play = right_once
    assert trainer._generate_and_score_completions([{**row, "group_id": group} for row in rows])["advantages"][0] > 0
    assert trainer._metrics["train"]["groups/mixed"][3:] == [1.0]


def test_judging_is_not_filtered(make: Callable[..., HandPlayed], winners: dict[str, str]) -> None:
    def play(environment: TrlEnvironment, _: int, __: int) -> None:
        finish(environment)

    trainer = make(play, groups=1, redraws=5)
    trainer.model.eval()
    rows = [{**row, "prompt": PROMPT} for row in evaluation_rows(["CART"], [0], [7]) for _ in range(SIZE)]
    batch = trainer._generate_and_score_completions(rows)
    assert int(batch["num_items_in_batch"]) == 12
    assert trainer._metrics["eval"]["CART/success"] == [0.0]
    assert winners
