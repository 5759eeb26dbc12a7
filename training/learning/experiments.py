"""What ``make learn`` runs: the proof on a server, the judgement on held-out episodes, and the controls."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.statistics import clopper_pearson
from ecom_rlve.models import Split
from ecom_rlve.training.learning.arena import InProcess, on_server
from ecom_rlve.training.learning.objective import GROUP
from ecom_rlve.training.learning.policy import Floats
from ecom_rlve.training.learning.runs import PROMPTS, Judged, Plan, Progress, Trained, judge, train

CATALOG = "synthetic"
OTHER_CATALOG = "synthetic:10000:7"
"""The same kinds of products, all others: no brand, model or title of it was seen in training."""
EPISODES: Mapping[str, int] = {"STATUS": 5_120, "POLICY": 6_400, "CART": 5_120, "RETURN": 3_200, "PD": 3_200}
"""Of one training run: whole batches."""
_BATCH = GROUP * PROMPTS
_SERVED = 3
"""Seeds of each environment that are trained on the server. A run over HTTP takes three times the CPU seconds of one in
process, which plays by the same code under the same curriculum: with all five on it, half an hour would hardly do."""
_CONTROLS = 0.4
"""Share of the usual episodes that controls train on, so that everything fits into half an hour on two cores."""
_CONTROLS_JUDGED = 60
_CHANCE_JUDGED = 100
_SHUFFLED_SEEDS = 3
_WARM = 0.4
"""Length of a warm start in control runs: long enough to know a little, too short to leave nothing to be learnt."""
LEVELS: Mapping[str, tuple[int, ...]] = {
    "STATUS": (0, 3, 6, 9),
    "POLICY": (0, 3, 6, 9),
    "CART": (0, 1, 3),
    "RETURN": (0,),
    "PD": (0,),
}
"""Where success is judged."""
ADAPTIVE = "adaptive"
SHORT = "adaptive, as short"
WARM = "only the warm start"
SHUFFLED = "shuffled rewards from a warm start"


class Cell(NamedTuple):
    """What is judged together."""

    name: str
    """``adaptive`` or the name of a control."""
    env_id: str
    difficulty: int
    seed: int
    where: str
    """``eval`` or ``test`` split, or ``other catalog``."""


@dataclass(frozen=True, slots=True)
class Job:
    """One training run and where its policy is judged."""

    name: str
    plan: Plan
    judged: int
    """Held-out episodes of a difficulty."""
    levels: tuple[tuple[str, int], ...]
    url: str | None = None
    """Server to train on; None trains in process."""
    warm: Plan | None = None
    """What the policy learns before, with true rewards."""
    is_everywhere: bool = False
    """Also judge on the test split and on the other catalog."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A finished job."""

    job: Job
    progress: Progress
    found: tuple[tuple[Cell, Judged], ...]

    @property
    def cells(self) -> Mapping[Cell, Judged]:
        """What was found, by where it was judged."""
        return dict(self.found)


@cache
def _shop(source: str) -> Shop:
    return Shop.open(source)


def run(job: Job) -> Outcome:
    """Train and judge."""
    start = None if job.warm is None else _trained(job.warm, None, None).weights
    trained = _trained(job.plan, job.url, start)
    cells: dict[Cell, Judged] = {}
    for env_id, difficulty in job.levels:
        if start is not None:
            cell = Cell(WARM, env_id, difficulty, job.plan.seed, "eval")
            cells[cell] = _judged(cell, start, job.judged)
        for where in ("eval", "test", "other catalog") if job.is_everywhere else ("eval",):
            cell = Cell(job.name, env_id, difficulty, job.plan.seed, where)
            cells[cell] = _judged(cell, trained.weights, job.judged, asks=job.plan.asks)
    return Outcome(job, trained.progress, tuple(cells.items()))


def _trained(plan: Plan, url: str | None, start: Floats | None) -> Trained:
    if url is None:
        return train(InProcess(_shop(CATALOG), plan.seed), plan, start)
    with on_server(url, f"learning {'+'.join(plan.env_ids)} {plan.seed}") as arena:
        return train(arena, plan, start)


def _judged(cell: Cell, weights: Floats | None, episodes: int, *, asks: bool = True) -> Judged:
    split: Split = "test" if cell.where == "test" else "eval"
    shop = _shop(OTHER_CATALOG if cell.where == "other catalog" else CATALOG)
    return judge(shop, cell.env_id, cell.difficulty, weights, episodes, split=split, asks=asks)


def proof(env_ids: Sequence[str], seeds: int, judged: int, url: str | None, scale: float = 1.0) -> list[Job]:
    """Return the runs of the proof: every environment and seed under the adaptive curriculum."""
    return [
        Job(
            ADAPTIVE,
            Plan((env_id,), _episodes(env_id, scale), seed),
            judged,
            _levels(env_id),
            url if seed < _SERVED else None,
            # One seed shows whether other products change anything; more would only take longer.
            is_everywhere=seed == 0,
        )
        for env_id in env_ids
        for seed in range(seeds)
    ]


def controls(seeds: int, judged: int, scale: float = 1.0) -> list[Job]:
    """Return the controls: what learns less, or nothing, if the environments are what they claim to be.

    They train in process, on fewer episodes than the proof. ``adaptive, as short`` is the proof's run at their length.
    """
    jobs = []
    scale, judged = scale * _CONTROLS, min(judged, _CONTROLS_JUDGED)
    for env_id in ("STATUS", "POLICY", "CART"):
        plan = Plan((env_id,), _episodes(env_id, scale), 0)
        jobs += [
            Job(SHORT, plan, judged, _levels(env_id)),
            Job("static d=0", replace(plan, difficulty=0), judged, _levels(env_id)),
            Job("static d=12", replace(plan, difficulty=12), judged, _levels(env_id)),
            Job("uniform d=0…12", replace(plan, difficulty="uniform"), judged, _levels(env_id)),
            Job("never asks", replace(plan, asks=False), judged, _levels(env_id)),
        ]
    for seed in range(min(seeds, _SHUFFLED_SEEDS)):
        plan = Plan(("STATUS",), _episodes("STATUS", scale), seed, reward="shuffled")
        warm = replace(plan, episodes=_episodes("STATUS", scale * _WARM), reward="total")
        jobs.append(Job(SHUFFLED, plan, judged, _levels("STATUS"), warm=warm))
    cart = Plan(("CART",), _episodes("CART", scale), 0)
    jobs.append(Job("no hallucination term", replace(cart, reward="no hallucination term"), judged, _levels("CART")))
    mixes = {"C1": ("CART",), "C4": ("CART", "PD", "RETURN"), "C8": ("CART", "PD", "RETURN", "STATUS", "POLICY")}
    everywhere = tuple((env_id, 0) for env_id in mixes["C8"])
    for name, env_ids in mixes.items():
        jobs.append(Job(name, replace(cart, env_ids=env_ids), judged, everywhere))
    return jobs


def chance(judged: int) -> dict[Cell, Judged]:
    """Return how a policy does that draws candidates at random."""
    judged = min(judged, _CHANCE_JUDGED)
    cells = [Cell("random", env_id, difficulty, 0, "eval") for env_id in LEVELS for _, difficulty in _levels(env_id)]
    return {cell: _judged(cell, None, judged) for cell in cells}


def _episodes(env_id: str, scale: float) -> int:
    """Return how many episodes a run trains on: whole batches."""
    return max(1, round(EPISODES[env_id] * scale / _BATCH)) * _BATCH


def _levels(env_id: str) -> tuple[tuple[str, int], ...]:
    return tuple((env_id, difficulty) for difficulty in LEVELS[env_id])


def interval(cell: Judged) -> str:
    """Return success with its exact 95 % interval."""
    low, high = clopper_pearson(cell.correct, cell.episodes)
    return f"{cell.success:.3f} [{low:.2f}, {high:.2f}]"


def pooled(cells: Iterable[Judged]) -> Judged:
    """Return several judgements as one."""
    found = list(cells)
    episodes = sum(each.episodes for each in found)
    reward = sum(each.mean_reward * each.episodes for each in found) / max(1, episodes)
    skills: Any = sum((each.skills for each in found), start=type(found[0].skills)())
    return Judged(episodes, sum(each.correct for each in found), reward, skills)
