"""What TRL makes of the generated methods, through transformers, is what the server offers."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from typing import Any

import pytest
from transformers.utils import get_json_schema

from ecom_rlve.client.adapters.trl import trl_environments
from ecom_rlve.evaluation.local_server import local_server

ENVIRONMENTS = ("PD", "SUB", "CART", "RETURN", "STATUS", "POLICY", "BUNDLE", "JOURNEY")


@pytest.fixture(scope="module")
def wide_url() -> Iterator[str]:
    """Serve a shop that has enough for every environment."""
    with local_server("--catalog", "synthetic:2000:0") as url:
        yield url


@pytest.mark.parametrize("env_id", ENVIRONMENTS)
def test_schemas_survive(env_id: str, wide_url: str) -> None:
    with trl_environments(wide_url, [env_id], run_id="schemas") as environments:
        factory = environments.factories[env_id]
    offered = {each["function"]["name"]: each["function"] for each in json.loads(factory.tools)}
    made = factory()
    # As TRL finds them.
    names = [name for name, _ in inspect.getmembers(type(made), inspect.isfunction) if not name.startswith("_")]
    assert set(names) == offered.keys() | {"reset", "get_reward"}
    assert {"say", "ask_user", "submit_answer"} <= offered.keys()
    read = {name: get_json_schema(getattr(made, name))["function"] for name in offered}
    assert {name: shape(each) for name, each in read.items()} == {name: shape(each) for name, each in offered.items()}


def shape(function: dict[str, Any]) -> dict[str, Any]:
    """Return what a policy must know of a function: its words, and of each argument the type and the choices."""
    parameters = function["parameters"]
    return {
        "description": function["description"],
        "required": set(parameters.get("required", ())),
        "arguments": {
            name: (
                sorted(each["type"]) if isinstance(each["type"], list) else each["type"],
                each.get("items", {}).get("type"),
                each.get("enum"),
            )
            for name, each in parameters["properties"].items()
        },
    }
