"""Answers of JOURNEY: an intent's own answer and its name, under the rules that hold where it is alone (SPEC §2.2).

The forms are those of all members, whichever intents an episode has: they tell nothing of what was drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, cast

from pydantic import ConfigDict, ValidationError, create_model, field_validator

from ecom_rlve.envs.about import About
from ecom_rlve.envs.answer import Answer, Own
from ecom_rlve.envs.tasks.journey.members import MEMBERS


def _intent_first(schema: dict[str, Any]) -> None:
    """Put the intent before the fields that follow from it: who writes in order then knows which they are."""
    fields = schema["properties"]
    schema["properties"] = {"intent": fields["intent"], **fields}


class JourneyAnswer(Answer):
    """What every form has: the name of the intent that it settles."""

    model_config = ConfigDict(json_schema_extra=_intent_first)

    intent: str
    """Id of a member."""

    @classmethod
    def forms(cls) -> tuple[type[Answer], ...]:
        """Return one model for each member: its own answer, and its id as the intent."""
        return tuple(_FORMS.values())

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> Answer:
        """Return the answer in the form of the intent that it names; ids may be written as on reset (``e_cart``)."""
        intent = fields.get("intent")
        if not isinstance(intent, str):
            return cls.model_validate(fields)
        env_id = intent.upper().removeprefix("E_")
        return _FORMS.get(env_id, cls).model_validate({**fields, "intent": env_id})

    @field_validator("intent")
    @classmethod
    def _is_known(cls, intent: str) -> str:
        if intent not in _FORMS:
            raise ValueError(f"there are {', '.join(_FORMS)}")
        return intent

    def names(self, env_id: str) -> bool:
        """Tell whether the answer names an intent of this environment."""
        return self.intent == env_id

    def own(self, model: type[Own]) -> Own | None:
        """Return the answer in the form that a member takes, whichever intent it names; None if it does not fit."""
        if isinstance(self, model):
            return self
        try:
            return model.model_validate(self.model_dump(include=set(model.model_fields)))
        except ValidationError:
            return None


def _form(about: About) -> type[JourneyAnswer]:
    # "Any" because types know neither a class made of two bases nor a literal made of a value.
    bases: Any = (JourneyAnswer, about.answer)
    fields: dict[str, Any] = {"intent": (Literal[about.id], ...)}
    return cast("type[JourneyAnswer]", create_model(f"{about.id.title()}InJourney", __base__=bases, **fields))


_FORMS: Mapping[str, type[JourneyAnswer]] = {each.about.id: _form(each.about) for each in MEMBERS}
