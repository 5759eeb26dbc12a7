"""A tool: a typed argument model, a function of the world, and a declared effect.

Schemas, instructions and docs are generated from these objects; tools are described nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from ecom_rlve.envs.world.world import World
from ecom_rlve.envs.written_numbers import ReadsNumbers
from ecom_rlve.models import WHOLE as WHOLE


class Args(ReadsNumbers):
    """Base of every tool's arguments: unknown fields are refused, and every coercion but that of written numbers."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


A = TypeVar("A", bound=Args)


@dataclass(frozen=True)
class Tool(Generic[A]):
    """One tool."""

    name: str
    description: str
    """One line for the agent's model."""
    args: type[A]
    run: Callable[[World, A], dict[str, Any]]
    """Returns the result; raises ``DomainError`` if the store refuses the call."""
    writes: bool = False
    """Whether it changes the world. What a result shows does not count as a change."""
    is_heavy: bool = False
    """It scans the catalog, which takes longer on a large catalog than an event loop should wait."""
    is_free: bool = False
    """It costs no call and closes the turn (``ask_user``)."""
    aliases: tuple[tuple[str, str], ...] = ()
    """Other accepted names of arguments: (given, meant)."""

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The tool as an OpenAI function schema."""
        return {
            "type": "function",
            "function": {"name": self.name, "description": self.description, "parameters": flat_schema(self.args)},
        }


_KEPT = (
    "type",
    "description",
    "enum",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "minLength",
    "maxLength",
    "items",
    "maxItems",
)


def flat_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return a model's JSON schema without titles, null defaults and null branches: short, and flat for trainers."""
    schema = model.model_json_schema()
    properties = {name: _flat(field) for name, field in schema.get("properties", {}).items()}
    return {
        "type": "object",
        "properties": properties,
        "required": schema.get("required", []),
        "additionalProperties": False,
    }


def _flat(field: dict[str, Any]) -> dict[str, Any]:
    branches = [branch for branch in field.get("anyOf", []) if branch.get("type") != "null"]
    merged = {**(branches[0] if branches else {}), **field}
    flat = {key: merged[key] for key in _KEPT if key in merged}
    if merged.get("default") is not None:
        flat["default"] = merged["default"]
    if "const" in merged:
        flat["enum"] = [merged["const"]]
    return flat
