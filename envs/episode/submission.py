"""The tools with which clients of style ``tool`` submit and speak (SPEC §2.3).

The arguments of ``submit_answer`` are the fields of the answer. ``say`` is for clients that can only call tools; others
write a message beside their calls, so no list of an episode's tools names it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import Field

from ecom_rlve.envs.about import About
from ecom_rlve.envs.tools.registry import SAY, SUBMIT_ANSWER
from ecom_rlve.envs.tools.tool import Args, flat_schema

_ENDS = "Submit the final answer; ends the episode."
_CLOSES = (
    "Submit the final answer to what the customer spoke of last: closes that intent, and they move on. Give the fields "
    "of that intent, no others."
)

Schema = dict[str, Any]


class SayArgs(Args):
    """Arguments of ``say``."""

    message: str = Field(min_length=1, max_length=20_000, description="What the customer reads.")


def say_tool() -> Schema:
    """Return the OpenAI function schema of the tool that speaks to the customer."""
    function = {
        "name": SAY,
        "description": "Say something to the customer (free; ends the turn).",
        "parameters": flat_schema(SayArgs),
    }
    return {"type": "function", "function": function}


def submit_tool(about: About) -> Schema:
    """Return the OpenAI function schema of the tool."""
    forms = about.answer_schema.get("anyOf", [about.answer_schema])
    function = {
        "name": SUBMIT_ANSWER,
        "description": _CLOSES if about.members else _ENDS,
        "parameters": _without_done(forms[0] if len(forms) == 1 else _flat(forms)),
    }
    return {"type": "function", "function": function}


def _without_done(schema: Schema) -> Schema:
    properties = {name: field for name, field in schema["properties"].items() if name != "done"}
    return {**schema, "properties": properties, "required": [name for name in schema["required"] if name != "done"]}


def _flat(forms: Sequence[Schema]) -> Schema:
    """Return one object with the fields of every form, each said to belong to its intents.

    Function calling takes no choice between objects as parameters: OpenAI's refuses ``anyOf`` at the top.
    """
    takers: dict[str, dict[str, Schema]] = {}
    for form in forms:
        (intent,) = form["properties"]["intent"]["enum"]
        for name, field in form["properties"].items():
            takers.setdefault(name, {})[intent] = field
    return {
        "type": "object",
        "properties": {
            name: {"type": "string", "enum": list(fields)} if name == "intent" else _shared(fields)
            for name, fields in takers.items()
        },
        "required": [name for name in takers if all(name in form["required"] for form in forms)],
        "additionalProperties": False,
    }


def _shared(fields: Mapping[str, Schema]) -> Schema:
    """Return one field for the intents that have it: a choice where their schemas differ."""
    kinds: list[Schema] = []
    for field in fields.values():
        kind = {key: value for key, value in field.items() if key != "description"}
        if kind not in kinds:
            kinds.append(kind)
    described = {"description": " ".join(_descriptions(fields))}
    return {**kinds[0], **described} if len(kinds) == 1 else {**described, "anyOf": kinds}


def _descriptions(fields: Mapping[str, Schema]) -> Iterator[str]:
    """Yield each description after the intents that it is for."""
    for text in dict.fromkeys(field.get("description", "") for field in fields.values()):
        intents = ", ".join(intent for intent, field in fields.items() if field.get("description", "") == text)
        yield f"For {intents}: {text}" if text else f"For {intents}."
