"""The POLICY expert: reads every section that governs the case, and asks for each condition once it knows of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ecom_rlve.models import Style


@pytest.mark.parametrize("style", ["turn", "tool"])
@pytest.mark.parametrize("d", [0, 6, 12])
def test_it_reads_all_governing_sections_and_no_other(play: Callable[..., Any], d: int, style: Style) -> None:
    for seed in range(20):
        game = play("POLICY", d, seed, style=style)
        read = game.episode.intent.world.sections_read
        assert read == set(game.episode.intent.goal.section_ids), seed


def test_it_asks_for_what_was_left_out_and_for_nothing_else(play: Callable[..., Any]) -> None:
    for seed in range(20):
        for p_missing in (0.0, 1.0):
            game = play("POLICY", 9, seed, p_missing=p_missing)
            asked = " ".join(game.messages)
            assert game.result.is_correct, seed
            for slot in game.episode.intent.slots:
                assert (f"What is the {slot.fact.kind.label}?" in asked) == bool(p_missing)
            assert bool(asked) == bool(p_missing)
