"""TRL's environments without TRL: what they send, what a model reads, what is scored, and that no place is left."""

from __future__ import annotations

import asyncio
import gc
import inspect
import json
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from ecom_rlve.client import EpisodeLostError, InvalidRequestError, ServerUnavailableError
from ecom_rlve.client.adapters.trl import (
    OVER,
    UNAVAILABLE,
    TrlEnvironment,
    TrlEnvironments,
    TrlFactory,
    evaluation_rows,
    training_rows,
    trl_environments,
)
from ecom_rlve.models import Termination

NOWHERE = "http://127.0.0.1:9"
"""Nobody listens there."""
RUN = "trl tests"
VIEW = '[{"type": "function", "function": {"name": "cart_view", "description": "Show it."}}]'


@pytest.fixture
def environments(live_url: str) -> Iterator[TrlEnvironments]:
    with trl_environments(live_url, ["cart", "STATUS"], run_id=RUN) as made:
        yield made


@pytest.fixture
def cart(environments: TrlEnvironments) -> TrlEnvironment:
    return environments.factories["CART"]()


def live(url: str, run_id: str = RUN) -> list[Any]:
    listed: list[Any] = httpx.get(f"{url}/episodes", params={"run_id": run_id}, timeout=None).json()
    return listed


def tool(environment: TrlEnvironment, name: str) -> Callable[..., Any]:
    """Return a generated method."""
    method: Callable[..., Any] = getattr(environment, name)
    return method


def test_tools_are_documented_methods_with_types(cart: TrlEnvironment) -> None:
    search = tool(cart, "catalog_search")
    assert inspect.signature(search).parameters["query"].annotation is str
    assert inspect.signature(search).parameters["limit"].annotation == int | None
    described = inspect.getdoc(search) or ""
    assert described.startswith("Search the catalog.")
    assert "    limit: Results on the page. At least 1, at most 10. Default 5." in described.splitlines()
    assert '(choices: ["relevance", "price_asc", "rating_desc", "ship_days_asc"])' in described
    assert {"say", "ask_user", "submit_answer", "cart_add"} < set(dir(cart))
    assert not hasattr(cart, "order_list")


def test_classes_are_one_for_each_environment(environments: TrlEnvironments) -> None:
    first, second = environments.factories["CART"](), environments.factories["CART"]()
    other = environments.factories["STATUS"]()
    assert type(first) is type(second) is not type(other)
    assert [type(each).__name__ for each in (first, other)] == ["CART", "STATUS"]


def test_making_one_sends_nothing() -> None:
    made = TrlFactory(NOWHERE, "CART", RUN, VIEW)()
    assert made.get_reward() is None
    assert tool(made, "cart_view")() == UNAVAILABLE


def test_a_rollout_is_scored(cart: TrlEnvironment) -> None:
    text = cart.reset(group_id="scored", prompt=object(), seed=None)
    assert cart.metadata is not None
    assert (cart.metadata.style, cart.metadata.run_id, cart.metadata.counts) == ("tool", RUN, True)
    assert "You are a shop's assistant." in text
    assert "Call say to" in text
    assert "turns left" in text
    assert '"tool_calls"' not in text, "the chat template says how calls are written"
    assert '"results"' in tool(cart, "catalog_search")(query="mug", brand=None)
    assert "customer" in tool(cart, "say")(message="One moment, please.").lower()
    tool(cart, "submit_answer")()
    assert cart.result is not None
    assert cart.get_reward() == cart.result.r_total
    assert tool(cart, "cart_view")() == OVER


@pytest.mark.parametrize("env_id", ["PD", "SUB", "CART", "RETURN", "STATUS", "POLICY", "BUNDLE", "JOURNEY"])
def test_who_knows_the_solution_wins(env_id: str, wide_url: str, winner: Callable[[dict[str, Any]], Any]) -> None:
    row = {"env_id": env_id, "difficulty": 2, "seed": 11}
    with trl_environments(wide_url, [env_id], run_id="winners") as made:
        environment = made.factories[env_id]()
        offered = json.loads(made.factories[env_id].tools)
        policy = winner(row)
        environment.reset(**row)
        while environment.result is None:
            message = policy([{"role": "user", "content": ""}], offered)
            if message["content"]:
                tool(environment, "say")(message=message["content"])
            for call in message["tool_calls"]:
                tool(environment, call["function"]["name"])(**json.loads(call["function"]["arguments"]))
    assert environment.result.is_correct
    assert environment.get_reward() == environment.result.r_total > 0.5


def test_a_row_chooses_neither_environment_nor_style_nor_run(cart: TrlEnvironment) -> None:
    cart.reset(env_id="STATUS", style="turn", include=["format"], run_id="another", group_id="row")
    assert cart.metadata is not None
    assert (cart.metadata.env_id, cart.metadata.style, cart.metadata.run_id) == ("CART", "tool", RUN)


def test_arguments_that_no_schema_knows_cost_the_episode(cart: TrlEnvironment) -> None:
    cart.reset(group_id="mistake")
    tool(cart, "cart_view")(**{"self": "me", "surprise": 1})
    assert cart.get_reward() == -1.0
    assert cart.result is not None
    assert cart.result.termination is Termination.FORMAT_FAILURE


def test_a_rollout_that_was_cut_is_finished_and_scored(cart: TrlEnvironment, live_url: str) -> None:
    cart.reset(group_id="cut")
    tool(cart, "catalog_search")(query="mug")
    reward = cart.get_reward()
    assert reward is not None
    assert -1 < reward < 0
    assert cart.get_reward() == reward
    assert cart.result is not None
    assert cart.result.termination is Termination.TURN_BUDGET
    assert live(live_url) == []


def test_an_episode_that_is_lost_has_no_reward(cart: TrlEnvironment, live_url: str) -> None:
    cart.reset(group_id="lost")
    httpx.delete(f"{live_url}/episodes", params={"run_id": RUN}, timeout=None).raise_for_status()
    assert tool(cart, "cart_view")() == UNAVAILABLE
    assert isinstance(cart.failure, EpisodeLostError)
    assert (cart.get_reward(), cart.result) == (None, None)
    cart.reset(group_id="lost before the end")
    httpx.delete(f"{live_url}/episodes", params={"run_id": RUN}, timeout=None).raise_for_status()
    assert cart.get_reward() is None
    cart.reset(group_id="lost")
    assert cart.get_reward() is not None


def test_a_server_that_is_away_is_no_reward_and_no_exception() -> None:
    made = TrlFactory(NOWHERE, "CART", RUN, VIEW, retry_for=0)()
    assert made.reset(group_id="away") == UNAVAILABLE
    assert isinstance(made.failure, ServerUnavailableError)
    assert tool(made, "cart_view")() == UNAVAILABLE
    assert made.get_reward() is None


@pytest.mark.parametrize("row", [{"seed": "seven"}, {"split": "exam"}, {"difficulty": 99}])
def test_a_row_that_cannot_be_played_raises(cart: TrlEnvironment, row: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequestError):
        cart.reset(**row)


def test_an_unknown_environment_is_refused_at_once(live_url: str) -> None:
    with pytest.raises(InvalidRequestError, match="KART"):
        trl_environments(live_url, ["KART"], run_id=RUN)


def test_asking_for_the_tools_leaves_no_place_and_counts_for_nothing(live_url: str) -> None:
    trl_environments(live_url, ["CART"], run_id="never played")
    assert live(live_url, "never played") == live(live_url, "default") == []
    assert httpx.get(f"{live_url}/curriculum/never%20played", timeout=None).status_code == 404


def test_no_place_is_left_by_the_block_nor_by_what_was_dropped(live_url: str) -> None:
    def fail() -> None:
        with trl_environments(live_url, ["CART"], run_id=RUN) as made:
            kept, dropped = (made.factories["CART"]() for _ in range(2))
            kept.reset(group_id="kept")
            dropped.reset(group_id="dropped")
            assert len(live(live_url)) == 2
            del dropped
            gc.collect()
            # A collector that sends something waits for ever where it interrupts a request of the same pool.
            assert len(live(live_url)) == 2
            made.factories["CART"]()
            assert len(live(live_url)) == 1
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert live(live_url) == []


def test_no_place_is_left_by_a_process_that_ends(live_url: str) -> None:
    code = (
        "import sys\nfrom ecom_rlve.client.adapters.trl import trl_environments\n"
        "made = trl_environments(sys.argv[1], ['CART'], run_id='a process').factories['CART']()\n"
        "made.reset(group_id='left')\nprint(made.metadata.run_id)\nraise SystemExit(3)"
    )
    done = subprocess.run([sys.executable, "-c", code, live_url], capture_output=True, text=True)
    assert (done.returncode, done.stdout.strip()) == (3, "a process"), done.stderr
    assert live(live_url, "a process") == []


def test_a_factory_can_be_sent_to_another_process(environments: TrlEnvironments) -> None:
    factory = environments.factories["CART"]
    made = factory()
    copied = pickle.loads(pickle.dumps(factory))
    assert copied == factory
    assert type(copied()) is type(made)


def test_coroutines_keep_the_order_of_the_calls(live_url: str) -> None:
    async def play(environment: TrlEnvironment) -> list[str]:
        view, variants = tool(environment, "cart_view"), tool(environment, "catalog_get_variants")
        assert inspect.iscoroutinefunction(view)
        return list(await asyncio.gather(view(), variants(product_id="none"), view()))

    with trl_environments(live_url, ["CART"], run_id=RUN, asynchronous=True) as made:
        environment = made.factories["CART"]()
        environment.reset(group_id="in order")
        answers = asyncio.run(play(environment))
    assert ['"lines"' in each for each in answers] == [True, False, True]
    assert "UNKNOWN_PRODUCT" in answers[1]


def test_training_rows_name_every_group_once_and_neither_seed_nor_difficulty() -> None:
    rows = training_rows(["CART", "PD", "SUB"], 7, first=4)
    assert len({row["group_id"] for row in rows}) == 7
    assert {frozenset(row) for row in rows} == {frozenset({"prompt", "environment", "group_id"})}
    assert not {row["group_id"] for row in rows} & {row["group_id"] for row in training_rows(["CART"], 4)}


def test_rows_for_judging_count_for_nothing(cart: TrlEnvironment) -> None:
    rows = evaluation_rows(["CART"], [0, 1], iter([5, 6]))
    assert [(row["difficulty"], row["seed"]) for row in rows] == [(0, 5), (0, 6), (1, 5), (1, 6)]
    texts = [cart.reset(**rows[3]) for _ in range(2)]
    assert texts[0] == texts[1]
    assert cart.metadata is not None
    assert (cart.metadata.split, cart.metadata.counts) == ("eval", False)
