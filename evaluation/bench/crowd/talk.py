"""A policy that plays any environment without understanding it, so that episodes end in every way there is."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from random import Random
from typing import Any

Frame = dict[str, Any]
Talk = Generator[Frame, dict[str, Any], None]

_LOOKS = ("catalog_search", "order_list", "policy_search")
_P_ASK, _P_BREAK, _P_FINISH = 0.5, 0.1, 0.1
_QUESTIONS = ("Which brand do you want?", "What should it cost?", "Which one do you mean?")


def talk(env: Mapping[str, Any], message: str, rng: Random) -> Talk:
    """Yield the frames of one episode and take what each shows: look, maybe ask, maybe add, then end somehow.

    ``env`` is the environment as ``GET /envs`` lists it, ``message`` what the customer said first.
    """
    look = next(name for name in _LOOKS if name in env["tools"])
    seen = yield _call(look, **({} if look == "order_list" else {"query": message[:200]}))
    found = dict(_ids(seen))
    if rng.random() < _P_ASK:
        seen = yield _call("ask_user", question=rng.choice(_QUESTIONS))
    if "cart_add" in env["tools"] and "product_id" in found and not seen["done"]:
        seen = yield _call("cart_add", product_id=found["product_id"])
    way = rng.random()
    if way < _P_BREAK and not seen["done"]:
        seen = yield {"type": "step", "data": {"text": "I would rather talk."}}
    elif way < _P_BREAK + _P_FINISH and not seen["done"]:
        seen = yield {"type": "finish"}
    # A journey wants an answer to each errand.
    while not seen["done"]:
        seen = yield {"type": "step", "data": {"answer": _answer(env["answer_schema"], found, rng)}}


def _call(name: str, **args: Any) -> Frame:
    return {"type": "step", "data": {"tool_calls": [{"name": name, "args": args}]}}


def _ids(seen: Mapping[str, Any]) -> Generator[tuple[str, str], None, None]:
    """Yield the ids of the first thing that the last result lists, by their names."""
    for result in seen["tool_results"]:
        listed = (result.get("result") or {}).values()
        first: Mapping[str, Any] = next((each[0] for each in listed if isinstance(each, list) and each), {})
        yield from ((name, value) for name, value in first.items() if name.endswith("_id"))


def _answer(schema: Mapping[str, Any], found: Mapping[str, str], rng: Random) -> dict[str, Any]:
    """Return an answer that fits the schema: what was found, else anything."""
    form = rng.choice(schema["anyOf"]) if "anyOf" in schema else schema
    wanted = {name: form["properties"][name] for name in form["required"] if name != "done"}
    return {"done": True, **{name: _value(name, field, found, rng) for name, field in wanted.items()}}


def _value(name: str, field: Mapping[str, Any], found: Mapping[str, str], rng: Random) -> Any:
    if "enum" in field:
        return rng.choice(field["enum"])
    if field.get("type") == "array":
        return [found["product_id"]] if "product_id" in found else []
    if field.get("type") == "string":
        return found.get(name.removeprefix("selected_"), "unknown")
    return 30
