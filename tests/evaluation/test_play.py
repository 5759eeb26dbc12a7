"""A scripted person plays a real episode, and what is printed is safe and readable."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from ecom_rlve.client import EcomEnv
from ecom_rlve.evaluation.terminal.play import Game
from ecom_rlve.evaluation.terminal.screen import show_result, show_tool_results
from ecom_rlve.models import DomainCode, EpisodeResult, Termination, ToolResult


def paper() -> tuple[Console, StringIO]:
    """Return a console that writes plain text into a buffer."""
    page = StringIO()
    return Console(file=page, width=120, highlight=False), page


def play(url: str, lines: list[str], **arguments: Any) -> tuple[EpisodeResult | None, str]:
    console, page = paper()
    with EcomEnv(url) as env:
        result = Game(env, console).play(lines, **{"env_id": "CART", "difficulty": 0, "seed": 3} | arguments)
    return result, page.getvalue()


def test_a_whole_episode(live_url: str) -> None:
    lines = ["/search mug --limit 2", "", "Which colour do you want?", "/tools", "/state", "/help", "/view", "/done"]
    result, page = play(live_url, lines)
    assert result is not None
    assert result.termination is Termination.ANSWERED
    for word in ("customer", "collected 1 of", "catalog_search", "product_id", "Which colour", "cart_set_quantity("):
        assert word in page
    assert page.rstrip().endswith("┘")
    assert f"{result.r_total:+.2f}" in page


def test_slips_cost_nothing(live_url: str) -> None:
    lines = ["/serach mug", "/search mug --rating_min 6", "/add", "", "/view", "/view", "/view", "/clear", "", "/quit"]
    result, page = play(live_url, lines)
    assert result is None
    assert "did you mean /search?" in page
    assert "a turn holds 2 tool calls" in page
    assert page.count("Nothing is collected") == 2
    assert "You left before the end" in page


def test_the_end_of_the_input_is_the_end_of_the_game(live_url: str) -> None:
    result, page = play(live_url, [])
    assert result is None
    assert "CART, difficulty 0, seed 3" in page


def test_tool_results_become_tables() -> None:
    console, page = paper()
    rows = [
        {"product_id": "A", "title": "Mug", "in_stock": True, "tags": ["x", "y"]},
        {"product_id": "B", "title": "[bold]Cup\x1b[31m", "in_stock": False, "tags": []},
        {"product_id": "C", "title": "Bowl", "in_stock": None, "tags": [], "wattage": 3},
    ]
    results = [
        ToolResult(name="catalog_search", result={"results": rows, "total": 3}),
        ToolResult(name="cart_add", error="pick another", code=DomainCode.OUT_OF_STOCK),
        ToolResult(name="cart_view", result={"lines": [], "subtotal": 0}),
    ]
    show_tool_results(console, results)
    text = page.getvalue()
    for word in ("total: 3", "[bold]Cup [31m", "wattage: 3", "x, y", "yes", "cart_add: OUT_OF_STOCK: pick another"):
        assert word in text
    assert "subtotal: 0" in text
    assert "\x1b" not in text
    show_tool_results(console, results[:1], 1)
    assert "and 2 more" in page.getvalue()


@pytest.mark.parametrize("goal", [None, {"items": [1]}])
def test_the_result_shows_every_part(goal: dict[str, Any] | None) -> None:
    console, page = paper()
    result = EpisodeResult(
        r_task=1,
        r_eff=1 / 3,
        r_hall=0,
        r_total=0.8,
        is_correct=True,
        correct_share=float(True),
        termination=Termination.ANSWERED,
        turns=3,
        effective_turns=2,
        style="turn",
        goal=goal,
    )
    show_result(console, result)
    for word in ("+1.00", "+0.33", "+0.00", "+0.80", "yes", "answered", "3 (2 counted)"):
        assert word in page.getvalue()
    assert ("items" in page.getvalue()) == (goal is not None)
