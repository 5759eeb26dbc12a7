"""Checks that a bad answer gives a format failure or a low score, never an exception."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from math import inf, isfinite, nan
from typing import Any, Protocol

from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.episode.episode import Episode
from ecom_rlve.envs.errors import EnvironmentFaultError
from ecom_rlve.envs.tools.tool import flat_schema
from ecom_rlve.models import Termination

_SCALARS = {"string", "number", "integer", "boolean"}
_MANY = 10_000
"""Number of ids in an overlong answer."""


class Solved(Protocol):
    """An episode played with the environment's own solution."""

    @property
    def last(self) -> dict[str, Any]:
        """The last action, which ended the episode."""


def check_schema(environment: Environment) -> None:
    """Require JSON schemas with every field of the answer's forms, each flat: scalars, enums, lists of scalars."""
    about = environment.about
    schema, forms = about.answer_schema, about.answer.forms()
    json.dumps(schema, allow_nan=False)
    schemas = schema.get("anyOf", [schema])
    if schema["type"] != "object" or len(schemas) != len(forms):
        raise EnvironmentFaultError(
            f"{about.id}: the answer schema must be an object with {len(forms)} forms: {schema}"
        )
    for form, each in zip(forms, schemas, strict=True):
        _check_form(f"{about.id}: the schema of {form.__name__}", form, each)


def _check_form(where: str, form: type[Answer], schema: dict[str, Any]) -> None:
    fields = schema["properties"]
    if set(fields) != set(form.model_fields) or "done" not in fields:
        raise EnvironmentFaultError(f"{where} has {sorted(fields)}, the answer {sorted(form.model_fields)}")
    if schema["type"] != "object" or schema["additionalProperties"] is not False:
        raise EnvironmentFaultError(f"{where} must be a closed object")
    for name, field in fields.items():
        kind = field.get("type")
        of = field.get("items", {}).get("type") if kind == "array" else kind
        kinds = set(of) if isinstance(of, list) else {of}
        if not kinds <= _SCALARS and not ("enum" in field and kind is None):
            raise EnvironmentFaultError(f"{where}: {name} is neither a scalar nor a list of scalars: {field}")


def check_answers(start: Callable[[], Episode], solved: Solved) -> None:
    """Require that every bad answer gives a score below the maximum or a format failure."""
    for answer in _bad_answers(start()):
        for done in (True, False):
            episode = start()
            _check_score(episode, {"done": done, **answer})
    for change in ({"no_such_field": 1}, {"done": "true"}, {"done": None}, {"done": 1}):
        episode = start()
        result = episode.step({"answer": {**solved.last["answer"], **change}}).result
        if result is None or result.termination is not Termination.FORMAT_FAILURE or result.r_total != -1.0:
            raise EnvironmentFaultError(f"{episode.environment.about.id}: an answer with {change} is no format failure")


def _check_score(episode: Episode, answer: dict[str, Any]) -> None:
    where = f"{episode.environment.about.id}: the answer {repr(answer)[:200]}"
    try:
        seen = episode.step({"answer": answer})
        if not seen.done and not answer["done"]:
            form = episode.environment.about.answer.forms()[0]
            seen = episode.step({"answer": {"done": True, **_least(form, "x")}})
    except Exception as error:
        raise EnvironmentFaultError(f"{where} raises {error!r}") from error
    result = seen.result
    if result is None:
        if episode.environment.about.members:
            return
        raise EnvironmentFaultError(f"{where} does not end the episode")
    numbers = (result.r_task, result.r_eff, result.r_hall, result.r_total)
    if not all(isfinite(number) and -1 <= number <= 1 for number in numbers):
        raise EnvironmentFaultError(f"{where} scores {numbers}")
    if result.is_correct or result.r_task == 1:
        raise EnvironmentFaultError(f"{where} is correct, though nothing was done")


def _least(form: type[Answer], word: str) -> dict[str, Any]:
    """Return the fields that a form requires beside ``done``, a word in each but those that take one value alone."""
    schema = flat_schema(form)
    enums = {name: field.get("enum", ()) for name, field in schema["properties"].items()}
    return {name: enums[name][0] if len(enums[name]) == 1 else word for name in schema["required"] if name != "done"}


def _bad_answers(episode: Episode) -> Iterator[dict[str, Any]]:
    world = episode.intent.world
    ids = world.shop.catalog.ids
    foreign = [str(ids[at * len(ids) // 7]) for at in range(7)]
    values: list[Any] = [
        nan, inf, -inf, 1e308, -5, -0.01, 0, 10**400, True, None, "", "none of this world", "x" * 100_000, "NaN",
        "-5", "2025-02-31", [], [""], ["none"], foreign, foreign[:1] * 3, [None], [1], [[]], {}, {"a": 1},
        [str(at) for at in range(_MANY)], [str(ids[at % len(ids)]) for at in range(_MANY)],
    ]  # fmt: skip
    for form in episode.environment.about.answer.forms():
        base = _least(form, episode.environment.about.id)
        yield base
        yield {**base, "no_such_field": 1}
        for name in form.model_fields:
            if name != "done":
                yield from ({**base, name: value} for value in values)
