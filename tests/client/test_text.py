"""The text of an observation: complete, and never empty."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecom_rlve.client import render
from ecom_rlve.client.text import signature
from ecom_rlve.models import DomainCode, EpisodeResult, Observation, Termination, ToolResult


def observe(**fields: Any) -> Observation:
    plain: dict[str, Any] = {
        "episode_id": "e",
        "turn": 1,
        "turns_left": 3,
        "tool_calls_left": 2,
        "user_message": "",
        "tool_results": [],
        "done": False,
        "reward": 0.0,
    }
    return Observation(**plain | fields)


SEARCH = {
    "type": "function",
    "function": {
        "name": "catalog_search",
        "description": "Search.",
        "parameters": {
            "properties": {
                "query": {"type": "string"},
                "limit": {"type": "integer"},
                "sort": {"enum": ["relevance", "price_asc"]},
                "ids": {"type": "array", "items": {"type": "string"}},
                "brand": {"anyOf": [{"type": "string"}, {"type": "null"}]},
                "value": {"type": ["number", "string"]},
                "x": {},
            },
            "required": ["query"],
        },
    },
}


def test_the_first_text_holds_the_brief_the_tools_the_date_and_the_customer() -> None:
    seen = observe(instructions="Be brief.", tools=[SEARCH], today="2025-03-04", user_message="A mug!")
    text = render(seen)
    assert text.index("Be brief.") < text.index("catalog_search(") < text.index("2025-03-04") < text.index("A mug!")
    assert "catalog_search(" not in render(seen, tools=False)


def test_a_signature_tells_types_choices_and_what_may_be_left_out() -> None:
    assert signature(SEARCH) == (
        "catalog_search(query: string, limit?: integer, sort?: relevance|price_asc, ids?: [string], brand?: string,"
        " value?: number|string, x?: any) - Search."
    )


def test_results_and_refusals_are_shown() -> None:
    results = [
        ToolResult(name="cart_view", result={"lines": [], "note": "é"}),
        ToolResult(name="cart_add", error="pick another", code=DomainCode.OUT_OF_STOCK),
    ]
    text = render(observe(tool_results=results, truncated=2))
    assert '[cart_view] {"lines": [], "note": "é"}' in text
    assert "[cart_add] error OUT_OF_STOCK: pick another" in text
    assert "2 product cards were left out" in text


@pytest.mark.parametrize("reason", [None, "no such tool"])
def test_the_last_text_tells_how_it_ended(reason: str | None) -> None:
    result = EpisodeResult(
        r_task=-1,
        r_eff=-1,
        r_hall=0,
        r_total=-1,
        is_correct=False,
        correct_share=float(False),
        termination=Termination.FORMAT_FAILURE,
        turns=1,
        effective_turns=1,
        style="turn",
        reason=reason,
    )
    text = render(observe(done=True, reward=-1.0, result=result))
    assert "ended: format_failure" in text
    assert (reason or "ended") in text
    assert "turns left" not in text


@given(st.text(), st.booleans(), st.none() | st.text())
def test_it_is_never_empty(message: str, done: bool, instructions: str | None) -> None:
    text = render(observe(user_message=message, done=done, instructions=instructions))
    assert text.strip()
    assert message in text
