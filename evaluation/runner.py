"""Playing many episodes of built-in agents against a server."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from ecom_rlve.client import EcomEnv
from ecom_rlve.evaluation.agent import Agent
from ecom_rlve.models import EpisodeResult, Style

_THREADS = 4


@dataclass(frozen=True, slots=True)
class Job:
    """One episode to play."""

    policy: str
    make: Callable[[], Agent]
    env_id: str
    difficulty: int
    seed: int
    style: Style = "turn"


@dataclass(frozen=True, slots=True)
class Record:
    """How one episode ended."""

    policy: str
    difficulty: int
    seed: int
    style: Style
    result: EpisodeResult


def play_all(url: str, jobs: Sequence[Job], *, done: Callable[[], None] = lambda: None) -> list[Record]:
    """Play every job and return the records in the order of the jobs; ``done`` is called after each.

    If an agent raises an exception, the run ends: its fault must not look like a low reward.
    """

    def play_some(some: Sequence[Job]) -> list[Record]:
        with EcomEnv(url) as env:
            return [_play(env, job, done) for job in some]

    shares = [jobs[start::_THREADS] for start in range(_THREADS)]
    with ThreadPoolExecutor(_THREADS) as pool:
        played = list(pool.map(play_some, shares))
    return [played[at % _THREADS][at // _THREADS] for at in range(len(jobs))]


def _play(env: EcomEnv, job: Job, done: Callable[[], None]) -> Record:
    agent = job.make()
    step = env.reset(env_id=job.env_id, difficulty=job.difficulty, seed=job.seed, style=job.style, split="train")
    while not step.done:
        step = env.step(agent.act(step))
    done()
    ended = step.observation.result
    if ended is None:
        raise RuntimeError(f"{job.policy}, difficulty {job.difficulty}, seed {job.seed}: ended without a result")
    return Record(job.policy, job.difficulty, job.seed, job.style, ended)
