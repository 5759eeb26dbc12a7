"""The objective of the small policy, against its definition."""

from __future__ import annotations

import numpy as np
import pytest

from ecom_rlve.streams import stream
from ecom_rlve.training.learning.objective import (
    CLIP_HIGH,
    CLIP_LOW,
    Episode,
    Learner,
    Rates,
    advantages,
    by_candidate,
    is_mixed,
)
from ecom_rlve.training.learning.policy import Batch, Candidate, Choices, Decision, Floats, Policy, choices_of

ENTROPY = 0.05


def decisions(policy: Policy, count: int = 12) -> list[Decision]:
    """Return decisions among three to five candidates, drawn by the policy."""
    rng = stream(5, "decisions")
    found = []
    for number in range(count):
        candidates = [Candidate(f"skill {at}", {}, (f"own:{number % 3}",)) for at in range(3 + number % 3)]
        choices = choices_of(candidates, (f"state:{number % 2}",), ("w:hello",))
        chosen, log = policy.draw(choices, rng)
        found.append(Decision(choices, chosen, log, candidates[chosen].skill))
    return found


def test_a_policy_that_knows_nothing_draws_a_skill_first() -> None:
    candidates = [*(Candidate("ask", {}, (f"topic:{at}",)) for at in range(3)), Candidate("submit", {})]
    found = np.exp(Policy().log_probabilities(choices_of(candidates, (), ("w:hello",))))
    assert found == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2])


def objective(batch: Batch, weights: Floats, advantage: Floats) -> float:
    """Return what is maximised, as it is written in the paper, with the entropy bonus."""
    logs = batch.log_probabilities(weights)
    ratio = np.exp(logs[batch.chosen] - batch.old)
    surrogate = np.minimum(ratio * advantage, np.clip(ratio, 1 - CLIP_LOW, 1 + CLIP_HIGH) * advantage)
    entropies = -np.add.reduceat(np.exp(logs) * logs, batch.firsts)
    counts = np.bincount(batch.decision_of)
    return float(np.mean(surrogate + ENTROPY * entropies / np.log(counts)))


def test_the_gradient_is_that_of_the_objective() -> None:
    rng = stream(6, "weights")
    made = decisions(Policy())
    batch, advantage = Batch(made), rng.normal(size=len(made))
    weights: Floats = np.zeros_like(Policy().weights)
    used = np.unique(batch.features)
    weights[used] = rng.normal(size=len(used)) * 0.2
    gradient = batch.gradient(by_candidate(batch, weights, advantage, ENTROPY))
    step = 1e-6
    for place in used[:20].tolist():
        up, down = weights.copy(), weights.copy()
        up[place] += step
        down[place] -= step
        slope = (objective(batch, up, advantage) - objective(batch, down, advantage)) / (2 * step)
        assert gradient[place] == pytest.approx(slope, abs=1e-5)
    assert np.abs(gradient).max() > 0.001


def group(rewards: list[float], correct: list[bool]) -> list[Episode]:
    return [Episode((), reward, right) for reward, right in zip(rewards, correct, strict=True)]


def test_both_filters_decide_which_groups_teach() -> None:
    assert is_mixed(group([1.0, 0.2], [True, False]))
    assert not is_mixed(group([1.0, 0.8], [True, True])), "only the speed differs"
    assert not is_mixed(group([-0.9, -1.0], [False, False]))
    assert not is_mixed(group([0.5, 0.5], [True, False])), "there is no spread"


def test_advantages_are_normalised_within_the_group() -> None:
    found = advantages(group([1.0, 0.0, 0.0, 1.0], [True, False, False, True]))
    assert found == [1.0, -1.0, -1.0, 1.0]


def test_probabilities_of_a_batch_are_those_of_single_decisions() -> None:
    policy = Policy(stream(7, "weights").normal(size=len(Policy().weights)))
    made = decisions(policy)
    single = np.concatenate([policy.log_probabilities(each.choices) for each in made])
    assert Batch(made).log_probabilities(policy.weights) == pytest.approx(single)


def test_a_rewarded_choice_becomes_likelier() -> None:
    policy = Policy()
    learner, rng = Learner(policy, Rates()), stream(8, "learning")
    choices = Choices(np.array([1, 2, 3], np.int32), np.array([0, 1, 2], np.int32), np.zeros(3))
    for _ in range(20):
        episodes = []
        for _ in range(8):
            chosen, log = policy.draw(choices, rng)
            episodes.append(Episode((Decision(choices, chosen, log, "a"),), float(chosen == 1), chosen == 1))
        learner.learn([episodes], rng)
    assert np.exp(policy.log_probabilities(choices))[1] > 0.7
