"""The judge of the soundness table: it passes a sound table and names what is wrong with an unsound one."""

from collections.abc import Callable

import pytest

from ecom_rlve.envs.registry import environments
from ecom_rlve.evaluation.agents import policies_of
from ecom_rlve.evaluation.runner import Record
from ecom_rlve.evaluation.soundness import Table, judge, markdown, summary, tabulate
from ecom_rlve.models import MAX_DIFFICULTY, EpisodeResult, Style, Termination

LEVELS = (0, 3, 12)
LISTED = {name: each.about.info(MAX_DIFFICULTY) for name, each in environments().items()}
CART = policies_of("CART", LISTED)
LAZY, EMPTY, BLIND = CART.lazy, CART.empty, CART.blind
EPISODES = 120


def result(r_task: float, *, correct: bool = False, end: Termination = Termination.ANSWERED) -> EpisodeResult:
    total = -1.0 if end is Termination.FORMAT_FAILURE else 0.75 * r_task + (0.05 if correct else -0.15)
    return EpisodeResult(
        r_task=r_task, r_eff=0.0, r_hall=0.0, r_total=total, is_correct=correct, correct_share=float(correct),
        termination=end, turns=3, effective_turns=3, style="turn",
    )  # fmt: skip


def outcome(policy: str, d: int, seed: int) -> EpisodeResult:
    """What a sound environment would give."""
    if policy == "oracle":
        return result(1.0, correct=True)
    if policy == "break_format":
        return result(-1.0, end=Termination.FORMAT_FAILURE)
    if policy in EMPTY or policy in BLIND:
        return result(-1.0)
    share = {"expert": (1.0, 0.7, 0.5), "ignores_stock": (1.0, 0.6, 0.3)}.get(policy, (0.8, 0.1, 0.0))
    is_correct = (seed * 37) % EPISODES < share[LEVELS.index(d)] * EPISODES
    return result(1.0, correct=True) if is_correct else result(0.2 if seed % 2 else -1.0)


def table(changed: Callable[[str, str, int, int], EpisodeResult | None] = lambda *_: None) -> Table:
    policies: list[tuple[str, Style]] = [("oracle", "turn"), ("oracle", "tool")]
    policies += [(name, "turn") for name in ("expert", "break_format", *LAZY, *EMPTY, *BLIND)]
    records = [
        Record(policy, d, seed, style, changed(policy, style, d, seed) or outcome(policy, d, seed))
        for policy, style in policies
        for d in LEVELS
        for seed in range(EPISODES)
    ]
    return tabulate(CART, EPISODES, records)


def failures(made: Table) -> list[str]:
    judge(made, LEVELS)
    return made.failures


def test_a_sound_table_passes_and_prints_every_policy() -> None:
    made = table()
    assert failures(made) == []
    printed = markdown(made, LEVELS)
    assert all(f"| {name} |" in printed for name in ("expert", *LAZY, *EMPTY, *BLIND))
    assert printed.count("**1.000**") == len(LEVELS)
    assert "| CART, d=0, 3, 12 | 1.000 | 1.000, 0.700, 0.500 | 1.000 |" in summary([made])


@pytest.mark.parametrize(
    ("policy", "style", "level", "every", "expected"),
    [
        ("oracle", "turn", 3, 100, "oracle (turn) misses r_task = 1"),
        ("oracle", "tool", 12, 100, "oracle (tool) misses r_task = 1"),
        ("say_nothing", "turn", 0, 5, "empty policy say_nothing"),
        ("say_nothing", "turn", 12, 60, "d=12: J = 0.983 < 0.99"),
        ("random_of_history", "turn", 0, 2, "blind policy random_of_history"),
        ("first_shown", "turn", 3, 5, "blind policy first_shown"),
    ],
)
def test_a_broken_cell_is_named(policy: str, style: str, level: int, every: int, expected: str) -> None:
    def changed(name: str, its_style: str, d: int, seed: int) -> EpisodeResult | None:
        if (name, its_style, d) != (policy, style, level) or seed % every:
            return None
        return result(0.5) if policy == "oracle" else result(1.0, correct=True)

    assert any(expected in failure for failure in failures(table(changed)))


def test_a_lazy_policy_as_good_as_the_expert_is_named() -> None:
    found = failures(table(lambda name, _, d, seed: outcome("expert", d, seed) if name == "first_hit" else None))
    assert [failure for failure in found if "first_hit" in failure]


def test_an_expert_that_rises_or_fails_at_zero_is_named() -> None:
    def changed(name: str, _: str, d: int, seed: int) -> EpisodeResult | None:
        return outcome("expert", LEVELS[2 - LEVELS.index(d)], seed) if name == "expert" else None

    found = failures(table(changed))
    assert any("success rises" in failure for failure in found)
    assert any("expert at d=0" in failure for failure in found)


def test_rewards_out_of_order_are_named() -> None:
    def changed(name: str, *_: object) -> EpisodeResult | None:
        return result(-1.0).model_copy(update={"r_total": 0.9}) if name in ("decline", "answer_at_once") else None

    assert any("mean reward of" in failure for failure in failures(table(changed)))
