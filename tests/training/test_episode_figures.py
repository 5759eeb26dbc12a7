"""What a rollout adds to the log, read from real episodes."""

from __future__ import annotations

from ecom_rlve.client.adapters.trl import TrlFactory, trl_environments
from ecom_rlve.models import Termination
from ecom_rlve.training.episode_figures import figures


def test_a_rollout_adds_its_parts_and_its_ending(live_url: str) -> None:
    with trl_environments(live_url, ["CART"], run_id="figures") as environments:
        made = environments.factories["CART"]()
        made.reset(group_id="one")
        assert made.get_reward() is not None
        logged = dict(figures(made, 321))
    result = made.result
    assert result is not None
    assert (logged["CART/reward"], logged["CART/r_task"]) == (result.r_total, result.r_task)
    assert (logged["CART/success"], logged["CART/tokens"], logged["lost"]) == (0.0, 321, 0.0)
    assert logged["CART/difficulty"] == 0
    endings = {ending: logged[f"CART/ended/{ending.value}"] for ending in Termination}
    assert {ending for ending, share in endings.items() if share} == {Termination.TURN_BUDGET}


def test_a_lost_rollout_adds_only_that() -> None:
    made = TrlFactory("http://127.0.0.1:9", "CART", "figures", "[]", retry_for=0)()
    made.reset()
    assert list(figures(made, 5)) == [("lost", 1.0)]
