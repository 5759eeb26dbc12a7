"""A scripted person plays real episodes through a pipe and a terminal; what is printed is safe and readable."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from rich.console import Console

from ecom_rlve import reward_words
from ecom_rlve.client import EcomEnv
from ecom_rlve.envs.registry import environments
from ecom_rlve.envs.tools.registry import TOOLS
from ecom_rlve.evaluation.listing import listed_at
from ecom_rlve.evaluation.oracle import Oracle
from ecom_rlve.evaluation.terminal import goal_words
from ecom_rlve.evaluation.terminal.play import Game
from ecom_rlve.evaluation.terminal.screen import show_result, show_tool_results
from ecom_rlve.evaluation.terminal.seen import Seen
from ecom_rlve.evaluation.terminal.typed.arguments import kinds_of
from ecom_rlve.evaluation.terminal.typed.lines import PipedLines
from ecom_rlve.models import DomainCode, EpisodeResult, Termination, ToolResult

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

CHECKED = {"type", "enum", "minimum", "maximum", "minLength", "maxLength", "maxItems", "items"}
"""What is checked of a value before it is sent."""


@pytest.fixture(scope="module")
def revealing_app(app_with: Callable[..., FastAPI]) -> FastAPI:
    """An application that reveals goals, as the one does that ``play`` starts; it serves every environment."""
    return app_with(reveal_goal=True, catalog="synthetic:2000:0")


@pytest.fixture(scope="module")
def revealing_url(
    revealing_app: FastAPI, listening: Callable[[uvicorn.Config], AbstractContextManager[str]]
) -> Iterator[str]:
    """Serve it."""
    import uvicorn

    with listening(uvicorn.Config(revealing_app, log_level="warning", ws="none")) as url:
        yield url


def paper() -> tuple[Console, StringIO]:
    """Return a console that writes plain text into a buffer."""
    page = StringIO()
    return Console(file=page, width=160, highlight=False), page


def play(url: str, lines: list[str], **arguments: Any) -> tuple[EpisodeResult | None, str]:
    console, page = paper()
    with EcomEnv(url) as env:
        game = Game(env, console, PipedLines(lines, console), listed_at(url))
        result = game.play(**{"env_id": "CART", "difficulty": 0, "seed": 3} | arguments)
    return result, page.getvalue()


def test_a_whole_episode(live_url: str) -> None:
    lines = ["/search mug --limit 2", "", "Which colour do you want?", "/tools", "/state", "?", "/view", "/done"]
    result, page = play(live_url, lines)
    assert result is not None
    assert result.termination is Termination.ANSWERED
    for word in ("customer", "collected 1 of", "catalog_search", "product_id", "Which colour", "cart_set_quantity"):
        assert word in page
    assert f"= {result.r_total:+.2f}" in page
    assert "This server does not reveal what the customer wanted." in page


def test_slips_cost_nothing(live_url: str) -> None:
    lines = ["/serach mug", "/search mug --rating_min 6", "/view", "/view", "/view", "/undo", "/clear", "", "/quit"]
    result, page = play(live_url, lines)
    assert result is None
    assert "did you mean /search?" in page
    assert "rating_min must be from 0 to 5" in page
    assert "a turn holds 2 tool calls" in page
    assert "Forgot cart_view." in page
    assert "Nothing is collected; type words" in page
    assert "You left before the end" in page


def test_arguments_are_asked_for_until_they_fit(live_url: str) -> None:
    asked = ["", "?", "mug", "?", "limitt", "limit", "50", "2", "sort", "best", "price_asc", "brand", "", ""]
    result, page = play(live_url, ["/search", *asked, "/add", "/undo", "", "/quit"])
    assert result is None
    for said in (
        "query is needed",
        "What to look for, in words.",
        "limit: a whole number from 1 to 10; default 5",
        "did you mean limit?",
        "limit must be from 1 to 10",
        "sort must be one of relevance, price_asc",
        "Taken back; nothing was sent.",
        "catalog_search(query=mug, limit=2, sort=price_asc)",
    ):
        assert said in page


def test_a_menu_asks_for_environment_and_difficulty(live_url: str) -> None:
    result, page = play(live_url, ["kart", "status", "99", "4"], env_id=None, difficulty=None)
    assert result is None
    assert "Order tracking" in page
    assert "there are BUNDLE, CART" in page
    assert "difficulty must be from 0 to 20" in page
    assert "STATUS, difficulty 4, seed 3" in page


def test_the_menu_has_defaults(live_url: str) -> None:
    _, page = play(live_url, ["/undo", "", ""], env_id=None, difficulty=None)
    assert "CART, difficulty 0, seed 3" in page


def test_an_answers_fields_are_asked_for(revealing_url: str) -> None:
    asked = ["O1", "lost", "shipped", "?", "2025-01-02"]
    result, page = play(revealing_url, ["/propose", "/undo", "/done", *asked], env_id="STATUS")
    assert result is not None
    assert result.termination is Termination.ANSWERED
    assert "order_status must be one of processing, shipped" in page
    assert "Date of arrival, ISO 8601." in page
    for row in ("selected order id", "order status", "eta date"):
        assert row in page


def test_an_empty_answer_is_not_sent_by_mistake(live_url: str) -> None:
    result, page = play(live_url, ["/done", "", "", "no", "/done", "", "", "yes"], env_id="POLICY")
    assert result is not None
    assert page.count("Nothing is filled in; submit it all the same?") == 2
    assert page.count("answers") == 1


def test_a_journeys_answers_name_their_intent(revealing_url: str) -> None:
    lines = ['/done {"intent": "NONE"}', "/done", "nothing", "cart", "/quit"]
    result, page = play(revealing_url, lines, env_id="JOURNEY", difficulty=3)
    assert result is None
    assert "intent must be one of BUNDLE, CART" in page
    assert 'answers  {"intent": "CART", "done": true}' in page


def test_the_end_of_the_input_is_the_end_of_the_game(live_url: str) -> None:
    for lines in ([], ["/add"]):
        result, page = play(live_url, lines)
        assert result is None
        assert "CART, difficulty 0, seed 3" in page
        assert "You left before the end" in page


def test_every_rule_of_a_schema_is_checked_before_a_call_is_sent() -> None:
    schemas = [tool.schema["function"]["parameters"] for tool in TOOLS.values()]
    answers = [each.about.answer_schema for each in environments().values()]
    schemas += [form for schema in answers for form in schema.get("anyOf", [schema])]
    fields = [field for schema in schemas for field in schema["properties"].values()]
    fields += [field["items"] for field in fields if "items" in field]
    assert len(fields) > 60
    assert {rule for field in fields for rule in field} - {"description", "default"} <= CHECKED
    assert {kind for field in fields for kind in kinds_of(field)} <= {"string", "integer", "number", "boolean", "array"}


@pytest.mark.parametrize("env_id", sorted(environments()))
def test_reward_and_goal_are_explained_in_every_environment(
    revealing_app: FastAPI, revealing_url: str, env_id: str
) -> None:
    """An oracle's episode is explained as right: no part is said to be missing, and the sum is the reward."""
    agent, seen, answers = Oracle(revealing_app.state.service._shop), Seen(), []
    with EcomEnv(revealing_url, env=env_id) as env:
        step = env.reset(difficulty=3, seed=5)
        max_turns = step.observation.max_turns
        while not step.done:
            action = agent.act(step)
            answers += [action["answer"]] if action.get("answer") else []
            step = env.step(action)
            for found in step.observation.tool_results:
                seen.take(found)
    result = step.observation.result
    assert result is not None
    assert result.goal is not None
    assert max_turns is not None
    task, speed, unseen = reward_words.parts(result, max_turns, [each for a in answers for each in seen.never_shown(a)])
    assert task.why.startswith("The job is done")
    assert f"= {result.r_eff:+.2f}" in speed.why
    assert unseen.why == "Every product id that was handed in had been shown."
    assert reward_words.total(result).endswith(f"= {result.r_total:+.2f}")
    goals = goal_words.errands(result.goal)
    assert len(goals) == (1 if env_id != "JOURNEY" else len(answers))
    by_intent = {each.get("intent"): each for each in answers}
    compared = [goal_words.compared(goal, by_intent[intent], seen.cart, seen.named) for intent, goal in goals]
    assert [each for found in compared for each in found if not each.is_right] == []
    assert all(goal_words.wanted(goal, seen.named, seen.currency) for _, goal in goals)


def test_a_wrong_cart_is_compared_line_by_line() -> None:
    goal = {
        "items": [
            {"product_id": "A", "variant_id": "v1", "quantity": 1},
            {"product_id": "B", "variant_id": None, "quantity": 2},
        ]
    }
    cart = [
        {"product_id": "A", "variant_id": "v2", "quantity": 1},
        {"product_id": "B", "variant_id": "v9", "quantity": 2},
        {"product_id": "C", "variant_id": "v3", "quantity": 1},
    ]
    found = goal_words.compared(goal, {"done": True}, cart, str.lower)
    assert [(each.what, each.wanted, each.given, each.is_right) for each in found] == [
        ("a", "1 × variant v1", "1 × variant v2", False),
        ("b", "2 ×", "2 ×", True),
        ("c", "not wanted", "1 ×", False),
    ]


def test_constraints_of_a_goal_are_words() -> None:
    goal = {
        "constraints": [["price", "at_most", 1999], ["weight", "between", [1.0, 2.5]], ["color", "none_of", ["red"]]]
    }
    assert goal_words.wanted(goal, str, "") == [
        "constraints:",
        "- price is at most $19.99",
        "- weight lies between 1 and 2.5",
        "- color is none of red",
    ]
    assert goal_words.wanted(goal, str, "EUR")[1] == "- price is at most 19.99 EUR"


def result_of(**changes: Any) -> EpisodeResult:
    """Return a result: a right answer after three turns, one of which was the customer's."""
    given: dict[str, Any] = {
        "r_task": 1,
        "r_eff": 1 / 3,
        "r_hall": 0,
        "r_total": 0.8,
        "is_correct": True,
        "correct_share": 1.0,
        "termination": Termination.ANSWERED,
        "turns": 3,
        "effective_turns": 2,
        "style": "turn",
    }
    return EpisodeResult(**given | changes)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ["1 of them the customer's, so T_eff = 2: 1 - 2·(2 - 1)/(4 - 1) = +0.33", "The job is done"]),
        ({"is_correct": False, "r_task": 0.2, "r_eff": 0}, ["Partly right", "speed earns nothing"]),
        ({"is_correct": False, "r_task": -1, "r_eff": -1}, ["Nothing of what counts", "speed earns -1"]),
        ({"is_correct": False, "r_hall": -0.5, "r_eff": 0}, ["50% of the product ids", "had never been shown: X9"]),
        (
            {"is_correct": False, "r_task": -1, "r_eff": -1, "termination": Termination.TURN_BUDGET},
            ["turns were used up", "Nothing was handed in"],
        ),
        (
            {"is_correct": False, "termination": Termination.FORMAT_FAILURE, "r_total": -1, "reason": "no such tool"},
            ["(no such tool)", "a broken format costs everything"],
        ),
    ],
)
def test_a_reward_is_explained(changes: dict[str, Any], said: list[str]) -> None:
    result = result_of(**changes)
    why = [part.why for part in reward_words.parts(result, 4, ["X9"] if result.r_hall else [])]
    told = "\n".join([reward_words.ending(result), *why, reward_words.total(result)])
    assert len(why) == 3
    assert [each for each in said if each not in told] == []


def test_only_some_results_show_a_product_and_the_cart_is_followed() -> None:
    seen = Seen()
    seen.take(ToolResult(name="catalog_search", result={"results": [{"product_id": "A", "title": "Mug"}]}))
    seen.take(ToolResult(name="cart_add", result={"line": {"line_id": "L1", "product_id": "B", "quantity": 2}}))
    assert seen.never_shown({"recommended_product_ids": ["A", "C"]}) == ["B", "C"]
    assert seen.named("A") == "A (Mug)"
    assert seen.currency == ""
    assert seen.named("Z") == "Z"
    assert list(seen.known("product_ids")) == ["A", "B"]
    assert list(seen.known("line_id")) == ["L1"]
    assert seen.known("query") == {}
    seen.take(ToolResult(name="cart_remove", result={"removed": "L1", "currency": "EUR"}))
    assert seen.cart == []
    assert seen.currency == "EUR"


@pytest.mark.skipif(sys.platform == "win32", reason="has no pseudo-terminals")
def test_a_person_plays_at_a_terminal(live_url: str) -> None:
    """Keys are completed and sent; Ctrl-C takes back a call, Ctrl-D leaves."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-P", "-W", "error", "-m", "ecom_rlve.cli", "play", "--url", live_url, "--seed", "3"]
    environment = {**os.environ, "TERM": "xterm", "PROMPT_TOOLKIT_NO_CPR": "1", "COLUMNS": "100"}
    keys = [
        ("environment [CART]", "cart\r"),
        ("difficulty (", "0\r"),
        ("calls 0 of 2", "/sea"),
        ("catalog_search", "\t"),
        ("rch", "\r"),
        ("query (", "mug\r"),
        ("another argument", "\r"),
        ("collected 1 of 2", "/add\r"),
        ("product_id (", "\x03"),
        ("Taken back", "\r"),
        ("store", "/add\r"),
        ("product_id (", "\x04"),
        ("You left before the end", ""),
    ]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment) as process:
        os.close(theirs)
        page, at = "", 0
        for shown, pressed in keys:
            while shown not in page[at:]:
                page += os.read(ours, 4096).decode(errors="replace")
            at = page.index(shown, at) + len(shown)
            os.write(ours, pressed.encode())
    os.close(ours)
    assert process.returncode == 0
    assert "catalog_search(query=mug)" in page


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
    show_result(console, result_of(goal=goal))
    for word in ("+1.00", "+0.33", "+0.00", "+0.80", "yes", "answered", "3 (2 counted)"):
        assert word in page.getvalue()
    assert ("items" in page.getvalue()) == (goal is not None)
