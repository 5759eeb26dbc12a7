"""Built-in agents against the real server: the oracle wins in both styles, the empty ones never do."""

from collections.abc import Callable
from itertools import product

import pytest

from ecom_rlve.client import EcomEnv
from ecom_rlve.envs.registry import environments
from ecom_rlve.evaluation.agent import Agent
from ecom_rlve.evaluation.agents import make_expert, policies_of
from ecom_rlve.evaluation.oracle import DivergedError, oracles
from ecom_rlve.models import MAX_DIFFICULTY, EpisodeResult

LISTED = {name: each.about.info(MAX_DIFFICULTY) for name, each in environments().items()}
CART = policies_of("CART", LISTED)


def played(env: EcomEnv, agent: Agent, **arguments: object) -> EpisodeResult:
    step = env.reset(env_id="CART", **arguments)
    while not step.done:
        step = env.step(agent.act(step))
    assert step.observation.result is not None
    return step.observation.result


@pytest.fixture(scope="module")
def live_oracle() -> Callable[[], Agent]:
    """Return a maker of oracles for the catalog that ``live_url`` serves."""
    return oracles("synthetic:600:0")


@pytest.mark.parametrize("style", ["turn", "tool"])
def test_the_oracle_scores_exactly_one(live_url: str, live_oracle: Callable[[], Agent], style: str) -> None:
    with EcomEnv(live_url) as env:
        for seed, d in product(range(4), (0, 5, 12)):
            ended = played(env, live_oracle(), seed=seed, difficulty=d, style=style)
            assert (ended.r_task, ended.is_correct, ended.style) == (1.0, True, style)


def test_an_oracle_with_another_catalog_notices(live_url: str) -> None:
    with EcomEnv(live_url) as env, pytest.raises(DivergedError):
        played(env, oracles("synthetic:50:7")(), seed=1, difficulty=0)


@pytest.mark.parametrize("name", [*CART.empty, *CART.blind])
def test_policies_that_do_not_read_the_customer_finish_and_are_not_correct(live_url: str, name: str) -> None:
    with EcomEnv(live_url) as env:
        ended = [played(env, CART.make(name, seed), seed=seed, difficulty=6) for seed in range(3)]
    assert not any(result.is_correct for result in ended)
    assert all(-1 <= result.r_total < 0 for result in ended)


def test_every_named_agent_can_be_made_and_no_other() -> None:
    assert all(CART.make(name) for name in CART.names)
    with pytest.raises(ValueError, match="there are expert"):
        CART.make("wizard")
    with pytest.raises(ValueError, match="no environment XX; there are BUNDLE"):
        policies_of("XX", LISTED)
    with pytest.raises(ValueError, match="no built-in expert for XX; there is one for BUNDLE"):
        make_expert("XX")
    with pytest.raises(ValueError, match="no rung 'wizard'; there are expert, first_hit"):
        make_expert("CART", "wizard")
