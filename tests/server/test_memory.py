"""A long episode takes little memory, whatever is said in it, and still repeats every stored answer."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

STEPS, SAID = 200, 32_000


def talking(number: int) -> dict[str, Any]:
    thought = f"Let me look at number {number}. " * (SAID // 24)
    searching = json.dumps({"tool_calls": [{"name": "catalog_search", "args": {"query": "shirt"}}]})
    return {"text": f"<think>{thought[:SAID]}</think>{searching}"}


@pytest.mark.parametrize("store", ["memory", "file"])
def test_steps_of_a_long_episode_are_kept_small_and_answered_again(
    api: Callable[..., Any], tmp_path: Path, store: str
) -> None:
    http = api(store="memory" if store == "memory" else tmp_path / "store.sqlite3")
    http.reset(env_id="CART", difficulty=10, seed=1, episode_id="E", axes={"t_max": STEPS + 10}, include=[])
    first = http.step("E", talking(0), request_id="r0").text
    tracemalloc.start()
    try:
        for number in range(1, STEPS):
            answer = http.step("E", talking(number), request_id=f"r{number}")
        grown, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert not answer.json()["done"]
    # What was thought alone has six million characters.
    assert grown < STEPS * SAID / 2
    assert http.step("E", talking(0), request_id="r0").text == first
    assert http.step("E", talking(1), request_id="r0").status_code == 409
    assert http.state("E")["step_count"] == STEPS


def test_answers_that_disclose_acts_are_repeated_with_theirs(api: Callable[..., Any]) -> None:
    http = api(disclose_acts=True)
    http.reset(env_id="PD", difficulty=1, seed=2, episode_id="E")
    asking = {"assistant_message": "Which colour and which size do you want?"}
    answers = [http.step("E", asking, request_id=f"r{number}").text for number in range(6)]
    http._runner.run(http.service.record("E")).episode.log.pack()
    assert [http.step("E", asking, request_id=f"r{number}").text for number in range(6)] == answers
    assert any('"acts":[{' in answer for answer in answers)
