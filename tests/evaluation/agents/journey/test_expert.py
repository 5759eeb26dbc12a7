"""The JOURNEY expert: knows which errand is spoken of, and does each of them as its own expert does."""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean
from typing import Any

import pytest

from ecom_rlve.client import StepResult
from ecom_rlve.evaluation.agent import Action, Agent
from ecom_rlve.evaluation.agents.journey import expert
from ecom_rlve.evaluation.expert.skill import Skill
from ecom_rlve.models import Style


class Listener:
    """One of the experts, which keeps what it hears and the tools whose results it sees."""

    def __init__(self, name: str, agent: Agent, heard: dict[str, set[str]], seen: dict[str, set[str]]) -> None:
        self._agent = agent
        self._heard, self._seen = heard.setdefault(name, set()), seen.setdefault(name, set())

    def act(self, result: StepResult) -> Action:
        self._heard |= {item.singular for act in result.metadata.acts or () for item in act.items}
        self._seen |= {shown.name for shown in result.observation.tool_results}
        return self._agent.act(result)


def test_each_expert_hears_and_sees_its_own_errand_alone(
    play: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    played = set()
    for seed in range(12):
        heard: dict[str, set[str]] = {}
        seen: dict[str, set[str]] = {}

        def listening(name: str, make: Callable[[Skill], Agent]) -> Callable[[Skill], Agent]:
            return lambda skill: Listener(name, make(skill), heard, seen)  # noqa: B023 - called within this round

        with monkeypatch.context() as patched:
            listeners = {name: listening(name, make) for name, make in expert._EXPERTS.items()}
            patched.setattr(expert, "_EXPERTS", listeners)
            game = play("JOURNEY", 9, seed, p_switch=1.0)
        for intent in game.episode.scenario.intents:
            name = intent.errand.about.id
            nouns = {subject.singular for subject in intent.subjects} | {""}
            assert heard.get(name, set()) <= nouns, (seed, name)
            assert seen.get(name, set()) <= set(intent.errand.about.tool_names), (seed, name)
        played |= heard.keys() & seen.keys()
    assert len(played) >= 6


@pytest.mark.parametrize("p_switch", [0.0, 1.0])
def test_it_names_every_errand_that_it_settles(play: Callable[..., Any], p_switch: float) -> None:
    for seed in range(12):
        game = play("JOURNEY", 9, seed, p_switch=p_switch)
        finals = [action["answer"]["intent"] for action in game.actions if (action.get("answer") or {}).get("done")]
        intents = [intent.errand.about.id for intent in game.episode.scenario.intents]
        assert len(set(finals)) == len(finals)
        assert finals == (intents if not p_switch else intents[::-1])[: len(finals)]


@pytest.mark.parametrize("style", ["turn", "tool"])
@pytest.mark.parametrize("p_switch", [0.0, 1.0])
def test_it_does_the_job(play: Callable[..., Any], style: Style, p_switch: float) -> None:
    games = [play("JOURNEY", 0, seed, style=style, p_switch=p_switch) for seed in range(40)]
    assert fmean(game.result.is_correct for game in games) >= 0.95


@pytest.mark.slow
@pytest.mark.parametrize("style", ["turn", "tool"])
@pytest.mark.parametrize("d", [3, 6, 9, 12])
def test_it_is_right_and_its_lazy_rungs_fall_behind(
    play: Callable[..., Any], lazy: Callable[[str], list[str]], d: int, style: Style
) -> None:
    played = {
        name: [play("JOURNEY", d, seed, name, style).result for seed in range(30)]
        for name in ("expert", *lazy("JOURNEY"))
    }
    assert fmean(result.correct_share for result in played["expert"]) >= 0.85
    rewards = {name: fmean(result.r_total for result in results) for name, results in played.items()}
    assert max(rewards, key=lambda name: rewards[name]) == "expert", rewards
