"""A journey's answer: each intent's own answer and its name, under the same rules as alone (SPEC §2.2, §6)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import ValidationError

from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.registry import environment
from ecom_rlve.envs.tasks.journey.members import MEMBERS
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agent import Action, one_at_a_time
from ecom_rlve.models import Style, Termination

JOURNEY = environment("JOURNEY").about
BY_ID = {each.about.id: each for each in MEMBERS}
ENUMS = {
    "resolution": ("returned", "exchanged", "not_eligible"),
    "order_status": ("processing", "shipped", "out_for_delivery", "delivered", "delayed", "cancelled"),
}


def read(answer: type[Answer], fields: dict[str, Any]) -> dict[str, Any] | None:
    """Return what an answer is read as; None where it is refused."""
    try:
        return answer.read(fields).model_dump()
    except ValidationError:
        return None


def form_of(schema: dict[str, Any], intent: str) -> dict[str, Any]:
    """Return the variant of an intent, as one finds it who reads nothing but the schema."""
    (form,) = [form for form in schema["anyOf"] if form["properties"]["intent"]["enum"] == [intent]]
    return dict(form)


# --- The schema -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.about.id)
def test_each_form_is_the_members_own_schema_and_the_name_of_the_intent(member: Environment) -> None:
    own, form = member.about.answer_schema, form_of(JOURNEY.answer_schema, member.about.id)
    assert form == {
        "type": "object",
        "properties": {"intent": {"type": "string", "enum": [member.about.id]}, **own["properties"]},
        "required": [*own["required"], "intent"],
        "additionalProperties": False,
    }
    assert next(iter(form["properties"])) == "intent"


def test_there_is_a_form_for_every_kind_of_errand_and_no_other() -> None:
    assert tuple(BY_ID) == JOURNEY.members
    assert set(JOURNEY.answer_schema) == {"type", "anyOf"}
    assert [form["properties"]["intent"]["enum"] for form in JOURNEY.answer_schema["anyOf"]] == [[id] for id in BY_ID]
    Draft202012Validator.check_schema(JOURNEY.answer_schema)


def test_enumerations_and_dates_are_in_the_schema() -> None:
    returned, status, policy = (form_of(JOURNEY.answer_schema, name) for name in ("RETURN", "STATUS", "POLICY"))
    assert tuple(returned["properties"]["resolution"]["enum"]) == ENUMS["resolution"]
    assert tuple(status["properties"]["order_status"]["enum"]) == ENUMS["order_status"]
    assert policy["properties"]["value"]["type"] == ["number", "string"]
    assert "YYYY-MM-DD" in policy["properties"]["value"]["description"]
    assert "percent" in policy["properties"]["unit"]["description"]


def test_the_schema_is_told_and_says_nothing_of_what_was_drawn(wide_shop: Shop) -> None:
    drawn, told = set(), set()
    for seed in range(20):
        episode = Episode(wide_shop, EpisodeSpec("JOURNEY", 4, seed), "told")
        drawn.add(tuple(sorted(intent.errand.about.id for intent in episode.scenario.intents)))
        told.add(_told(episode))
    assert len(drawn) > 5
    (schema,) = told
    assert json.loads(schema) == JOURNEY.answer_schema
    assert JOURNEY.info(12).answer_schema == JOURNEY.answer_schema


def _told(episode: Episode) -> str:
    (line,) = [line for line in str(episode.opening.instructions).split("\n") if line.startswith("Answer schema: ")]
    return line.removeprefix("Answer schema: ")


# --- What is read -----------------------------------------------------------------------------------------------------

WORDS = st.sampled_from(
    ["", "7", "2.50", "2025-04-23", "2025-02-31", "days", "%", "returned", "delivered", "refunded", "lost", "x" * 65]
)
VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.just(10**400), WORDS, st.text(max_size=8),
    st.lists(st.one_of(WORDS, st.integers(), st.none()), max_size=3), st.just({}),
)  # fmt: skip
FIELDS = sorted({name for each in MEMBERS for name in each.about.answer.model_fields} - {"done"})


@st.composite
def answers(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Return an intent and an answer: mostly of the intent's own fields, now and then of another's or of no one's."""
    intent = draw(st.sampled_from(sorted(BY_ID)))
    own = sorted(set(BY_ID[intent].about.answer.model_fields) - {"done"})
    names = st.sampled_from([*own * 3, *FIELDS, "no_such_field"])
    fields = draw(st.dictionaries(names, VALUES, max_size=4))
    for name, words in ENUMS.items():
        if name in fields and draw(st.booleans()):
            fields[name] = draw(st.sampled_from(words))
    dones: list[dict[str, Any]] = [*[{"done": True}] * 8, {"done": False}, {"done": "true"}, {"done": 1}, {}]
    done = draw(st.sampled_from(dones))
    return intent, {**done, **fields}


@given(answers())
@example(("POLICY", {"done": True, "value": "2025-04-23", "unit": "date"}))
@example(("POLICY", {"done": True, "value": "12.5", "unit": "percent"}))
@example(("RETURN", {"done": True, "resolution": "refunded"}))
@example(("STATUS", {"done": True, "eta_date": None}))
@example(("CART", {"done": True, "recommended_product_ids": []}))
def test_what_is_read_alone_is_read_alike_in_a_journey_and_nothing_else_is(case: tuple[str, dict[str, Any]]) -> None:
    intent, fields = case
    alone = read(BY_ID[intent].about.answer, fields)
    named = read(JOURNEY.answer, {"intent": intent, **fields})
    # As text, for NaN equals nothing; the values are those of JSON.
    assert repr(named) == repr(None if alone is None else {**alone, "intent": intent})


def test_the_form_is_that_of_the_named_intent() -> None:
    answer = {"done": True, "resolution": "returned"}
    assert read(JOURNEY.answer, {**answer, "intent": "RETURN"}) is not None
    assert read(JOURNEY.answer, {**answer, "intent": "CART"}) is None
    assert read(JOURNEY.answer, answer) is None


@given(answers())
def test_what_the_schema_refuses_is_refused(case: tuple[str, dict[str, Any]]) -> None:
    """The schema is no wider than the rules; a null or a number written as a string may be read beside it."""
    intent, fields = case
    written = {name: value for name, value in fields.items() if value is not None and not isinstance(value, str)}
    if read(JOURNEY.answer, {"intent": intent, **written}) is not None:
        assert Draft202012Validator(JOURNEY.answer_schema).is_valid({"intent": intent, **written})


@pytest.mark.parametrize("intent", BY_ID)
def test_ids_may_be_written_as_on_reset(intent: str) -> None:
    for spelling in (intent, intent.lower(), f"E_{intent}", f"e_{intent.lower()}"):
        assert read(JOURNEY.answer, {"done": True, "intent": spelling}) == read(
            JOURNEY.answer, {"done": True, "intent": intent}
        )


# --- An agent that follows the schema ---------------------------------------------------------------------------------


def follow(schema: dict[str, Any], facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts that an object schema has places for, once they are valid under it."""
    answer = {name: facts[name] for name in schema["properties"] if name in facts}
    Draft202012Validator(schema).validate(answer)
    return answer


def submitted(episode: Episode, action: Action) -> Action:
    """Return an action with its answer written by what the first observation says alone."""
    facts = {"intent": episode.intent.errand.about.id, **action["answer"]}
    if episode.spec.style == "turn":
        schema = json.loads(_told(episode))
        answer = follow(form_of(schema, facts["intent"]), facts)
        Draft202012Validator(schema).validate(answer)
        return {**action, "answer": answer}
    assert episode.opening.tools is not None
    (tool,) = [tool["function"] for tool in episode.opening.tools if tool["function"]["name"] == "submit_answer"]
    call = {"name": "submit_answer", "args": follow(tool["parameters"], facts)}
    return {"tool_calls": [*action.get("tool_calls", []), call]}


@pytest.mark.parametrize("style", ["turn", "tool"])
def test_who_follows_the_schema_can_give_every_right_answer(wide_shop: Shop, style: Style) -> None:
    """Whatever an errand's right answer is, dates, statuses and resolutions included; it is scored as alone."""
    given_: dict[str, set[Any]] = {"value": set(), "resolution": set(), "order_status": set()}
    closed = set[str]()
    for seed in range(60):
        episode = Episode(wide_shop, EpisodeSpec("JOURNEY", seed % 9, seed, style=style), "follows")
        while not episode.done:
            action = one_at_a_time(episode.solve(), style)
            if action.get("answer"):
                closed.add(episode.intent.errand.about.id)
                answer = action["answer"]
                given_["resolution"].add(answer.get("resolution"))
                given_["order_status"].add(answer.get("order_status"))
                given_["value"].add(type(answer.get("value")))
                action = submitted(episode, action)
            episode.step(action)
        assert episode.result is not None
        assert episode.result.termination is Termination.ANSWERED, (seed, episode.result.reason)
        assert (episode.result.r_task, episode.result.is_correct) == (1.0, True), seed
    assert closed == set(BY_ID)
    assert str in given_["value"]
    assert {int, float} & given_["value"]
    assert {"returned", "not_eligible"} <= given_["resolution"]
    assert len(given_["order_status"] - {None}) >= 3


@pytest.mark.parametrize("member", MEMBERS, ids=lambda member: member.about.id)
def test_the_same_answer_is_worth_the_same_as_alone(wide_shop: Shop, member: Environment) -> None:
    """Right or wrong, and whatever it leaves out."""
    scores = set[float]()
    for seed in range(12):
        episode = Episode(wide_shop, EpisodeSpec(member.about.id, seed % 5, seed), "alone")
        intent = episode.intent
        action = episode.solve()
        while not action.get("answer"):
            episode.step(action)
            action = episode.solve()
        right = action["answer"]
        for answer in (right, {"done": True}, {**right, **_spoilt(right)}):
            named = JOURNEY.answer.read({"intent": member.about.id, **answer})
            assert named.names(member.about.id)
            own = named.own(member.about.answer)
            assert own is not None
            verdict = member.verify(intent, own)  # type: ignore[attr-defined]  # every member is an errand
            assert verdict == member.verify(intent, member.about.answer.read(answer))  # type: ignore[attr-defined]  # as above
            scores.add(float(verdict.r_task))
    # The cart is CART's answer: no words make it better or worse.
    assert len(scores) > (0 if member.about.id == "CART" else 1)


def _spoilt(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: None for name in ("selected_order_id", "value") if name in answer} | {
        name: ["NONE SUCH", *answer[name]] for name in ("recommended_product_ids",) if name in answer
    }
