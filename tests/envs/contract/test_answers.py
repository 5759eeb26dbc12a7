"""The checker of answers, against schemas and episodes that are wrong in one place each."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, nan
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import ValidationError

from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.contract.answers import check_answers, check_schema
from ecom_rlve.envs.errors import EnvironmentFaultError
from ecom_rlve.models import Termination


class Guess(Answer):
    """An answer with a field that must be there and one that need not."""

    word: str
    parts: tuple[str, ...] = ()


SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "done": {"type": "boolean"},
        "word": {"enum": ["a", "b"]},
        "parts": {"type": "array", "items": {"type": "string"}},
    },
}


BAD: tuple[Any, ...] = (None, "", -5, True, [], {}, 10**400, ["none"])


def declared(**changes: Any) -> Any:
    return SimpleNamespace(about=SimpleNamespace(id="GUESS", answer=Guess, answer_schema={**SCHEMA, **changes}))


def fields(**changes: Any) -> dict[str, Any]:
    return {"properties": {**SCHEMA["properties"], **changes}}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        fields(word={"type": "string"}),
        fields(word={"type": "string", "enum": ["a"]}),
        fields(word={"type": ["number", "string"]}),
        fields(parts={"type": "array", "items": {"type": ["integer", "string"]}}),
    ],
)
def test_flat_schemas_pass(changes: dict[str, Any]) -> None:
    check_schema(declared(**changes))
    with pytest.raises(EnvironmentFaultError):
        check_schema(declared(**changes, type="array"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"properties": {"done": {"type": "boolean"}, "word": {"type": "string"}}},
            "GUESS: the schema of Guess has .'done', 'word'., the answer",
        ),
        (fields(more={"type": "string"}), "'more'"),
        ({"type": "array"}, "must be an object with 1 forms"),
        ({"additionalProperties": True}, "must be a closed object"),
        (fields(word={"type": "object"}), "word is neither a scalar nor a list of scalars"),
        (fields(word={"type": "object", "enum": [{}]}), "word is neither"),
        (fields(word={}), "word is neither"),
        (fields(parts={"type": "array", "items": {"type": "object"}}), "parts is neither"),
        (fields(parts={"type": "array"}), "parts is neither"),
        (fields(word={"type": ["string", "object"]}), "word is neither"),
    ],
)
def test_other_schemas_are_faults(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(EnvironmentFaultError, match=message):
        check_schema(declared(**changes))


def test_a_schema_without_done_is_a_fault() -> None:
    form = SimpleNamespace(__name__="Form", model_fields={"word": 1})
    about = SimpleNamespace(id="X", answer=SimpleNamespace(forms=lambda: (form,)), answer_schema=dict(SCHEMA))
    about.answer_schema["properties"] = {"word": {"type": "string"}}
    with pytest.raises(EnvironmentFaultError, match=r"the schema of Form has \['word'\], the answer"):
        check_schema(SimpleNamespace(about=about))  # type: ignore[arg-type]  # all that is read of an environment


def result(**changes: Any) -> Any:
    plain = {"r_task": -1.0, "r_eff": 0.0, "r_hall": 0.0, "r_total": -0.75, "is_correct": False}
    return SimpleNamespace(**{"termination": Termination.ANSWERED, **plain, **changes})


class Game:
    """What is read of an episode: ids, the answer's model, and what comes of an answer."""

    def __init__(self, score: Callable[[dict[str, Any]], Any], members: tuple[str, ...] = ()) -> None:
        ids = [f"ID{number:05}" for number in range(70)]
        self.intent = SimpleNamespace(world=SimpleNamespace(shop=SimpleNamespace(catalog=SimpleNamespace(ids=ids))))
        self.environment = SimpleNamespace(about=SimpleNamespace(id="GUESS", answer=Guess, members=members))
        self.given: list[dict[str, Any]] = []
        self._score = score

    def step(self, action: dict[str, Any]) -> Any:
        answer = action["answer"]
        self.given.append(answer)
        try:
            Guess.model_validate(answer)
        except ValidationError:
            failed = result(termination=Termination.FORMAT_FAILURE, r_total=-1.0)
            return SimpleNamespace(done=True, result=failed)
        scored = self._score(answer) if answer["done"] else None
        return SimpleNamespace(done=scored is not None, result=scored)


SOLVED: Any = SimpleNamespace(last={"answer": {"done": True, "word": "right"}})


def checked(score: Callable[[dict[str, Any]], Any], members: tuple[str, ...] = ()) -> list[Game]:
    games: list[Game] = []

    def start() -> Any:
        games.append(Game(score, members))
        return games[-1]

    check_answers(start, SOLVED)
    return games


def test_an_honest_environment_passes_and_every_kind_of_answer_is_tried() -> None:
    games = checked(lambda _: result())
    given = [answer for game in games for answer in game.given]
    assert {"done": True, "word": "GUESS"} in given
    assert {"done": True, "word": "x"} in given, "a proposal is followed by an answer"
    assert {"done": True, "word": "GUESS", "no_such_field": 1} in given
    assert {"done": True, "word": "right", "no_such_field": 1} in given
    for name in ("word", "parts"):
        tried = [answer.get(name) for answer in given]
        assert [value for value in BAD if value not in tried] == []
    foreign = {word for answer in given if isinstance(answer.get("parts"), list) for word in map(str, answer["parts"])}
    assert {"ID00000", "ID00010", "ID00060", "ID00069"} <= foreign
    assert max(len(answer["parts"]) for answer in given if isinstance(answer.get("parts"), list)) == 10_000
    assert all(isinstance(answer["done"], bool) or answer["word"] == "right" for answer in given)


@pytest.mark.parametrize("name", ["r_task", "r_eff", "r_hall", "r_total"])
@pytest.mark.parametrize("value", [nan, inf, -1.01, 1.01])
def test_a_score_out_of_range_is_a_fault(name: str, value: float) -> None:
    with pytest.raises(EnvironmentFaultError, match="scores"):
        checked(lambda _: result(**{name: value}))


@pytest.mark.parametrize("bounds", [{"r_eff": 1.0, "r_total": 1.0}, {"r_eff": -1.0, "r_hall": -1.0, "r_total": -1.0}])
def test_the_bounds_themselves_are_scores(bounds: dict[str, float]) -> None:
    assert checked(lambda _: result(**bounds))


@pytest.mark.parametrize("change", [{"is_correct": True}, {"r_task": 1.0}])
def test_a_bad_answer_that_is_right_is_a_fault(change: dict[str, Any]) -> None:
    with pytest.raises(EnvironmentFaultError, match="is correct, though nothing was done"):
        checked(lambda _: result(**change))


def test_what_raises_or_never_ends_is_a_fault_unless_there_is_more_to_do() -> None:
    def fails(_: dict[str, Any]) -> Any:
        raise ArithmeticError("no square root")

    with pytest.raises(EnvironmentFaultError, match="raises ArithmeticError"):
        checked(fails)
    with pytest.raises(EnvironmentFaultError, match="does not end the episode"):
        checked(lambda _: None)
    assert checked(lambda answer: None if answer["word"] != "right" else result(), members=("PD", "CART"))


@pytest.mark.parametrize("change", [{"termination": Termination.ANSWERED}, {"r_total": -0.99}])
def test_a_wrong_envelope_must_be_a_format_failure(change: dict[str, Any]) -> None:
    class Forgiving(Game):
        def step(self, action: dict[str, Any]) -> Any:
            seen = super().step(action)
            if action["answer"].get("word") == "right" and action["answer"]["done"] is None:
                seen.result = result(**{"termination": Termination.FORMAT_FAILURE, "r_total": -1.0, **change})
            return seen

    with pytest.raises(EnvironmentFaultError, match=r"'done': None.* is no format failure"):
        check_answers(lambda: Forgiving(lambda _: result()), SOLVED)  # type: ignore[arg-type, return-value]  # a stand-in
