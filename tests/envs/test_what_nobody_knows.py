"""Asked for what is no part of the goal, a customer says that any will do only where that is true (SPEC §7)."""

from __future__ import annotations

import pytest

from ecom_rlve.envs.customer.turn import ClosedTurn
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.language.acts import ActKind
from ecom_rlve.envs.policy.conditions import CONDITIONS
from ecom_rlve.envs.world.shop import Shop

SILENT = (("p_missing", 1.0), ("p_noise", 0.0), ("t_max", 100.0))


@pytest.fixture(scope="module")
def store(wide_shop: Shop) -> Shop:
    return wide_shop


def started(store: Shop, env_id: str, seed: int) -> Episode:
    return Episode(store, EpisodeSpec(env_id, 3, seed, axes=SILENT), "asked")


def acts(episode: Episode, question: str) -> list[ActKind]:
    turn = ClosedTurn("", (question,), changed=False, answer=None, met_stockout=False)
    return [act.kind for act in episode.customer.reply(turn, episode.customer.hear(turn)).acts]


@pytest.mark.parametrize("question", ["Which colour is it?", "What brand was it?", "What is the material?"])
@pytest.mark.parametrize("env_id", ["POLICY", "STATUS"])
def test_of_what_was_bought_nothing_is_a_matter_of_preference(store: Shop, env_id: str, question: str) -> None:
    for seed in range(20):
        assert acts(started(store, env_id, seed), question) == [ActKind.DONT_KNOW]


def test_a_return_has_preferences_only_about_something_new(store: Shop) -> None:
    seen = set()
    for seed in range(40):
        episode = started(store, "RETURN", seed)
        wants_new = episode.intent.goal.replacement is not None
        known = {slot.fact.constraint.attribute for slot in episode.intent.slots}
        if "scent" not in known:
            expected = ActKind.NO_PREFERENCE if wants_new else ActKind.DONT_KNOW
            assert acts(episode, "Which scent should it have?") == [expected]
            seen.add(wants_new)
    assert seen == {False, True}


def test_a_condition_that_does_not_count_is_not_answered_with_one_that_does(store: Shop) -> None:
    met = 0
    for seed in range(30):
        episode = started(store, "POLICY", seed)
        told = {slot.name for slot in episode.intent.slots}
        for name in CONDITIONS:
            if name not in told:
                assert acts(episode, f"What is the {CONDITIONS[name].label}?") == [ActKind.DONT_KNOW]
                met += 1
    assert met > 100


def test_how_many_things_a_project_needs_is_told_by_naming_them(store: Shop) -> None:
    for seed in range(20):
        assert acts(started(store, "BUNDLE", seed), "How many things do you need?") == [ActKind.ANSWER]
