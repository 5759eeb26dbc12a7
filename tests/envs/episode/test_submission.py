"""The tool of style ``tool`` that submits: the answer's fields, as function calling takes them (SPEC §2.3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import pytest
from jsonschema import Draft202012Validator

from ecom_rlve.envs.about import About
from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.episode.submission import submit_tool
from ecom_rlve.envs.registry import environment, environments

SINGLE = [each for each in environments().values() if not each.about.members]
JOURNEY = environment("JOURNEY").about


def parameters_of(about: About) -> dict[str, Any]:
    tool = submit_tool(about)
    assert tool["type"] == "function"
    return dict(tool["function"]["parameters"])


@pytest.mark.parametrize("each", SINGLE, ids=lambda each: each.about.id)
def test_alone_it_takes_the_answers_fields_and_ends_the_episode(each: Environment) -> None:
    own = each.about.answer_schema
    properties = {name: field for name, field in own["properties"].items() if name != "done"}
    required = [name for name in own["required"] if name != "done"]
    assert parameters_of(each.about) == {**own, "properties": properties, "required": required}
    assert "ends the episode" in submit_tool(each.about)["function"]["description"]


def test_in_a_journey_it_closes_what_was_spoken_of_last() -> None:
    description = submit_tool(JOURNEY)["function"]["description"]
    assert "ends the episode" not in description
    assert "the customer spoke of last" in description
    assert "closes that intent" in description


@pytest.mark.parametrize("each", environments().values(), ids=lambda each: each.about.id)
def test_the_parameters_are_what_function_calling_takes(each: Environment) -> None:
    """OpenAI's refuses parameters that are no object, or a choice, an enumeration or a negation at the top."""
    schema = parameters_of(each.about)
    Draft202012Validator.check_schema(schema)
    assert set(schema) == {"type", "properties", "required", "additionalProperties"}
    assert schema["type"] == "object"
    assert set(schema["required"]) <= set(schema["properties"])
    assert "done" not in schema["properties"]


def test_a_journey_has_every_field_of_every_intent_with_all_that_is_known_of_it() -> None:
    schema = parameters_of(JOURNEY)
    assert schema["required"] == ["intent"]
    assert schema["properties"]["intent"] == {"type": "string", "enum": list(JOURNEY.members)}
    members = [each for each in SINGLE if each.about.id in JOURNEY.members]
    fields = {(each.about.id, name) for each in members for name in each.about.answer_schema["properties"]}
    fields = {(env_id, name) for env_id, name in fields if name != "done"}
    assert set(schema["properties"]) == {"intent", *(name for _, name in fields)}
    kept = ("type", "enum", "items", "maxLength", "minimum", "maximum")
    for env_id, name in fields:
        own, shared = environment(env_id).about.answer_schema["properties"][name], schema["properties"][name]
        assert {key: shared.get(key) for key in kept} == {key: own.get(key) for key in kept}, name
        assert env_id in shared["description"]
        assert own.get("description", "") in shared["description"]
    assert len(fields) > len(schema["properties"])


def test_fields_of_one_name_and_several_types_are_a_choice() -> None:
    class Form(Answer):
        @classmethod
        def forms(cls) -> tuple[type[Answer], ...]:
            return (Counted, Worded)

    class Counted(Answer):
        intent: Literal["COUNTED"]
        amount: int

    class Worded(Answer):
        intent: Literal["WORDED"]
        amount: str = ""

    schema = parameters_of(replace(JOURNEY, answer=Form, members=("COUNTED", "WORDED")))
    assert schema["properties"]["amount"]["anyOf"][0] == {"type": "integer"}
    assert schema["properties"]["amount"]["anyOf"][1]["type"] == "string"
    # What one intent may leave out nobody has to give.
    assert schema["required"] == ["intent"]
