"""Play whole episodes of all eight environments with the stock client of OpenEnv, which knows nothing of this project.

Runs under ``openenv`` 0.10 and under ``openenv-core`` 0.3 and 0.2. The scripts are honest and simple: they search for
the customer's own words, look at what they find and answer. So they win now and then, which must be seen too.

python tests/openenv/play_generic.py http://127.0.0.1:8000
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Generator
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from openenv import GenericEnvClient

Action = dict[str, Any]
Observation = dict[str, Any]
Script = Generator[Action, Observation, None]

SEEDS = 10
EASY = ("CART", "STATUS")
"""Environments in which what the scripts do is right now and then."""
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
SOUNDS = {
    "SUB": "sold out",
    "PD": "priority|counts most|recommend",
    "RETURN": "send .*back|goe?s? back",
    "STATUS": "status|coming along",
    "POLICY": "how many|which date|last day|like to know|tell me",
    "BUNDLE": "in total|all together|total price",
}
"""How customers speak of an errand; of the cart as of nothing else."""


def call(name: str, **args: Any) -> Action:
    """Return an action that calls one tool."""
    return {"tool_calls": [{"name": name, "args": args}]}


def answer(**fields: Any) -> Action:
    """Return an action that submits."""
    return {"answer": {**fields, "done": True}}


def found(seen: Observation) -> dict[str, Any]:
    """Return the result of the only call."""
    (each,) = seen["tool_results"]
    assert each.get("error") is None, each
    return dict(each["result"])


def words(text: str) -> set[str]:
    """Return the words of a text that may name something."""
    return {word for word in re.findall(r"[a-z0-9]+", text.lower()) if len(word) > 3 or word.isdigit()}


def meant_order(message: str, orders: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the order that fits a message best: by its total, its day, and the words of its titles."""

    def fit(order: dict[str, Any]) -> int:
        day = date.fromisoformat(order["date"])
        told = (f"${order['total']:.2f}" in message) + (f"{day.day} {MONTHS[day.month - 1]}" in message)
        return 10 * told + max(len(words(title) & words(message)) for title in order["titles"])

    return max(orders, key=fit)


def recommending(message: str) -> Script:
    """Recommend what a search finds first."""
    seen = yield call("catalog_search", query=message[:200], in_stock=True)
    yield answer(recommended_product_ids=[card["product_id"] for card in found(seen)["results"][:3]])


def cart(message: str) -> Script:
    """Put what a search finds first into the cart."""
    seen = yield call("catalog_search", query=message[:200], in_stock=True)
    cards = found(seen)["results"]
    if cards:
        yield call("cart_add", product_id=cards[0]["product_id"])
    yield answer()


def order_status(message: str) -> Script:
    """Read the order that the message seems to mean."""
    seen = yield call("order_list", limit=50)
    order_id = meant_order(message, found(seen)["orders"])["order_id"]
    seen = yield call("order_get", order_id=order_id)
    order = found(seen)
    facts = {"order_status": order["status"], "eta_date": order.get("delivered", order.get("eta"))}
    yield answer(selected_order_id=order_id, **{name: fact for name, fact in facts.items() if fact})


def returning(message: str) -> Script:
    """Check the line that the message seems to mean, and decline."""
    seen = yield call("order_list", limit=50)
    order_id = meant_order(message, found(seen)["orders"])["order_id"]
    seen = yield call("order_get", order_id=order_id)
    line_id = max(found(seen)["lines"], key=lambda line: len(words(line["title"]) & words(message)))["line_id"]
    seen = yield call("return_check_eligibility", order_id=order_id, line_id=line_id)
    assert "eligible" in found(seen)
    yield answer(selected_order_id=order_id, selected_line_id=line_id, resolution="not_eligible")


def policy(message: str) -> Script:
    """Read the section that is found first, and give a number of it."""
    seen = yield call("policy_search", query=message[:200])
    seen = yield call("policy_get", section_id=found(seen)["results"][0]["section_id"])
    numbers = re.findall(r"\d+", found(seen)["text"])
    yield answer(value=int(numbers[0]) if numbers else 0, unit="days")


def journey(message: str) -> Script:
    """Settle each errand by the script of the environment that the message sounds like."""
    while True:
        env_id = next((name for name, sound in SOUNDS.items() if re.search(sound, message)), "CART")
        script = SCRIPTS[env_id](message)
        action = next(script)
        while "answer" not in action:
            action = script.send((yield action))
        seen = yield answer(intent=env_id, **action["answer"])
        message = seen["user_message"]


SCRIPTS: dict[str, Callable[[str], Script]] = {
    "BUNDLE": recommending,
    "CART": cart,
    "JOURNEY": journey,
    "PD": recommending,
    "POLICY": policy,
    "RETURN": returning,
    "STATUS": order_status,
    "SUB": recommending,
}


def in_style(action: Action, style: str) -> Action:
    """Return an action as clients of a style write it: those of style ``tool`` submit by a tool."""
    if style == "turn" or "answer" not in action:
        return action
    return call("submit_answer", **{name: value for name, value in action["answer"].items() if name != "done"})


def play(env: Any, env_id: str, style: str, seed: int, is_named: bool) -> tuple[float, bool]:
    """Play one episode; return its reward, and whether it was won. Any broken promise is an AssertionError."""
    asked = {"difficulty": 0, "seed": seed, "style": style, **({"env_id": env_id} if is_named else {})}
    start = env.reset(**asked)
    assert (start.reward, start.done) == (None, False), start
    message = start.observation["user_message"]
    assert message, "the customer speaks first"
    assert start.observation["env_id"] == env_id
    names = {tool["function"]["name"] for tool in start.observation["tools"]}
    assert ("submit_answer" in names) == (style == "tool"), names
    if seed == 0:
        assert env.reset(**asked).observation["user_message"] == message, "the same seed is the same episode"
    script, steps = SCRIPTS[env_id](message), 1
    step = env.step(in_style(next(script), style))
    assert found(step.observation), "a tool call is answered with a result"
    while not step.done:
        assert step.reward == 0.0, step.reward
        assert env.state()["step_count"] == steps
        step, steps = env.step(in_style(script.send(step.observation), style)), steps + 1
    assert steps > 1, "an answer ended the episode"
    assert env.state()["step_count"] == steps
    result = step.observation["result"]
    assert result["termination"] == "answered", result
    assert isinstance(step.reward, float)
    assert -1.0 <= step.reward == result["r_total"] <= 1.0, result
    return step.reward, bool(result["is_correct"])


def installed() -> str:
    """Return name and version of the stock package."""
    for name in ("openenv", "openenv-core"):
        try:
            return f"{name} {version(name)}"
        except PackageNotFoundError:
            continue
    raise AssertionError("no OpenEnv here")


def main(base_url: str, *, has_paths: bool = True) -> None:
    """Play every environment: in style ``turn`` through the root, in style ``tool`` under its own path, if any."""
    for env_id in SCRIPTS:
        for style, path in (("turn", ""), ("tool", f"/envs/{env_id}" if has_paths else "")):
            # In openenv-core the plain client is for async code alone.
            with GenericEnvClient(base_url=base_url + path).sync() as env:
                ends = [play(env, env_id, style, seed, is_named=not path) for seed in range(SEEDS)]
            rewards, wins = [reward for reward, _ in ends], sum(is_won for _, is_won in ends)
            print(
                f"  {env_id:<8} {style}: {len(ends)} episodes, {wins} won,"
                f" rewards {min(rewards):+.2f} to {max(rewards):+.2f}"
            )
            assert wins or env_id not in EASY, "none of so many honest tries was right"


if __name__ == "__main__":
    print(f"played over /ws with the stock client of {installed()}:")
    main(sys.argv[1])
