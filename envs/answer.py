"""The answer that ends an episode."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ConfigDict

from ecom_rlve.envs.written_numbers import ReadsNumbers

Own = TypeVar("Own", bound="Answer")


class Answer(ReadsNumbers):
    """Base of every environment's answer; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)

    done: bool
    """True submits; false proposes."""

    @classmethod
    def forms(cls) -> tuple[type[Answer], ...]:
        """Return the models that an answer may have: this one, or one for each intent that it may name (JOURNEY)."""
        return (cls,)

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> Answer:
        """Return the answer with these fields; raises ``ValidationError`` if it has none of the forms."""
        return cls.model_validate(fields)

    def names(self, env_id: str) -> bool:  # noqa: ARG002 - every implementation gets it, this one decides without
        """Tell whether this answers an intent of the environment: always, unless the answer names one (JOURNEY)."""
        return True

    def own(self, model: type[Own]) -> Own | None:
        """Return the answer in the form that an environment takes; None if it does not fit that form."""
        return self if isinstance(self, model) else None
