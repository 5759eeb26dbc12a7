"""What an environment is tried with follows from what a server tells of it, whoever it is."""

from __future__ import annotations

from typing import Any

import pytest

from ecom_rlve.client import StepResult
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.language.said import with_acts
from ecom_rlve.envs.registry import COLLECTIONS, environments
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agents import policies_of, suites
from ecom_rlve.evaluation.agents.policies import constants
from ecom_rlve.evaluation.expert.skill import RUNGS
from ecom_rlve.evaluation.listing import listed_at
from ecom_rlve.models import MAX_DIFFICULTY, EnvironmentInfo, Termination

LISTED = {name: each.about.info(MAX_DIFFICULTY) for name, each in environments().items()}
EVERYWHERE = {"say_nothing", "answer_at_once", "answer_constants", "decline", "ask_forever", "ask_in_answer"} | {
    "repeat_customer",
    "inject_prompt",
}


def info(*tools: str, axes: tuple[str, ...] = (), **fields: Any) -> EnvironmentInfo:
    """Return what a server would tell of an environment that nobody has written an expert for."""
    schema = {"properties": {"done": {"type": "boolean"}, **fields}, "required": ["done"]}
    return EnvironmentInfo(
        env_id="NEW",
        title="New",
        version="1",
        max_difficulty=20,
        tools=list(tools),
        answer_schema=schema,
        axes=list(axes),
    )


def answer_of(made: EnvironmentInfo, name: str = "answer_constants") -> Any:
    """Return the final answer of a policy that gives one at once."""
    action = policies_of("NEW", {"NEW": made}).make(name).act(None)  # type: ignore[arg-type]  # these policies look at no observation
    return action["answer"]


def test_every_built_in_environment_has_an_expert() -> None:
    assert set(suites()) == set(COLLECTIONS["C8"])


def test_an_environment_without_an_expert_gets_empty_and_blind_policies_only() -> None:
    listed = {"NEW": info("catalog_search", axes=("p_oos",), recommended_product_ids={"type": "array"})}
    found = policies_of("NEW", listed)
    assert not found.rungs
    assert found.lazy == ()
    assert set(found.empty) == {*EVERYWHERE, "random_ids", "recommend_everything_shown"}
    assert set(found.blind) == {"first_shown", "random_shown"}
    assert found.names == (*found.empty, *found.blind, "break_format")


@pytest.mark.parametrize(
    ("made", "more"),
    [
        (info(), set()),
        (info("catalog_search"), set()),
        (info("cart_add"), {"random_ids"}),
        (info("cart_add", "catalog_search"), {"random_ids", "add_everything_shown"}),
        (info("cart_add", "user_get_visit_history"), {"random_ids", "add_whole_history"}),
        (info(recommended_product_ids={"type": "array"}), {"random_ids"}),
    ],
)
def test_tools_and_answer_decide_what_else_is_tried(made: EnvironmentInfo, more: set[str]) -> None:
    assert set(policies_of("NEW", {"NEW": made}).empty) == EVERYWHERE | more


@pytest.mark.parametrize("env_id", sorted(suites()))
def test_a_rung_leaves_something_undone_where_its_axis_is_live(env_id: str) -> None:
    axes = LISTED[env_id].axes
    rungs = tuple(name for name, rung in RUNGS.items() if rung.axis in ("", *axes))
    assert policies_of(env_id, LISTED).lazy == (*rungs, *suites()[env_id].lazy)
    without = LISTED | {env_id: LISTED[env_id].model_copy(update={"axes": [each for each in axes if each != "p_oos"]})}
    assert "ignores_stock" not in policies_of(env_id, without).lazy


def test_constants_have_the_right_type() -> None:
    fields: dict[str, Any] = {
        "state": {"type": "string", "enum": ["new", "used"]},
        "count": {"type": "integer", "maximum": 9},
        "share": {"type": "number", "minimum": 100},
        "either": {"type": ["number", "string"]},
        "ids": {"type": "array"},
        "sure": {"type": "boolean"},
        "note": {"type": "string"},
    }
    expected = {"state": "new", "count": 9, "share": 100, "either": 30, "ids": [], "sure": False}
    assert answer_of(info(**fields)) == {"done": True, **expected}
    assert answer_of(info(**fields), "answer_at_once") == {"done": True}
    schema = {"properties": fields, "required": ["note", "count"]}
    assert constants(schema, only_required=True) == {"count": 9, "note": "unknown"}
    assert constants(schema) == {**expected, "note": "unknown"}


@pytest.mark.parametrize("env_id", sorted(LISTED))
def test_constants_are_an_answer_that_the_environment_takes(wide_shop: Shop, env_id: str) -> None:
    """None of the policies that answer at once breaks the format."""
    policies = policies_of(env_id, LISTED)
    for name in ("answer_at_once", "answer_constants", "decline", "ask_in_answer"):
        episode = Episode(wide_shop, EpisodeSpec(env_id), "constant")
        agent, seen = policies.make(name), episode.opening
        while not seen.done:
            known = with_acts(episode.metadata, episode.acts)
            seen = episode.step(agent.act(StepResult(seen, seen.reward, seen.done, known)))
        assert episode.result is not None
        assert episode.result.termination is not Termination.FORMAT_FAILURE, episode.result.reason
        assert not episode.result.is_correct


def test_a_journey_is_tried_with_what_each_of_its_errands_is_tried_with() -> None:
    journey = policies_of("JOURNEY", LISTED)
    members = [policies_of(name, LISTED) for name in LISTED["JOURNEY"].members]
    assert set(journey.empty) == {name for each in members for name in each.empty}
    assert not journey.blind
    agent = journey.make("answer_constants")
    answers = [agent.act(None)["answer"] for _ in members]  # type: ignore[arg-type]  # these policies look at no observation
    assert [answer["intent"] for answer in answers] == LISTED["JOURNEY"].members
    assert {"intent": "STATUS", "done": True, "order_status": "delivered"} in answers
    assert {"intent": "POLICY", "done": True, "value": 30, "unit": "days"} in answers


@pytest.mark.parametrize("env_id", sorted(suites()))
def test_what_picks_blindly_may_be_right_as_often_as_declared(env_id: str) -> None:
    policies = policies_of(env_id, LISTED)
    about = environments()[env_id].about
    for name, blind in policies.blind.items():
        for d in range(MAX_DIFFICULTY + 1):
            assert policies.chance(name, d) == (about.chance(d) if blind.picks else 0.0)
    # A declared chance that no policy tries would be no bound of anything.
    assert any(blind.picks for blind in policies.blind.values()) == bool(LISTED[env_id].chance)


def test_a_server_tells_all_that_policies_follow_from(live_url: str) -> None:
    told = listed_at(live_url)
    assert {name: each.model_copy(update={"max_difficulty": MAX_DIFFICULTY}) for name, each in told.items()} == LISTED
