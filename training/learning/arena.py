"""Where episodes are played: on a server over HTTP, or in this process. Both give the same episodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import NamedTuple, Protocol

from ecom_rlve.client import EcomEnv
from ecom_rlve.envs.curriculum.gate import Curriculum
from ecom_rlve.envs.curriculum.ledger import Key, MemoryLedger
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import MAX_SEED, Observation, Split, Style
from ecom_rlve.run_models import CurriculumParameters, RunSettings
from ecom_rlve.streams import stream
from ecom_rlve.training.learning.objective import GROUP
from ecom_rlve.training.learning.rollouts import Played

_STYLE: Style = "tool"
TAU_NUM = 8
"""Seeds of a gate. With the default of 32 and groups of eight, the frontier needs 15,360 episodes to reach d = 9."""
PARAMETERS = CurriculumParameters(tau_num=TAU_NUM)


class Prompt(NamedTuple):
    """A group of episodes to play, one after another."""

    difficulty: int
    episodes: Iterator[Played]
    """Ask for the next one once the last has ended."""


class Arena(Protocol):
    """Plays groups of episodes under an adaptive curriculum, unless a difficulty is given."""

    def group(self, env_id: str, number: int, difficulty: int | None) -> Prompt:
        """Start a group; every ``number`` is another one."""
        ...


class _Local:
    """An episode in this process, as the policy plays it."""

    def __init__(self, episode: Episode) -> None:
        self._episode = episode
        self.opening: Observation = episode.opening

    def step(self, action: Mapping[str, object]) -> Observation:
        return self._episode.step(dict(action))

    def finish(self) -> Observation:
        return self._episode.finish()


class InProcess:
    """Plays without a server, under the curriculum's own code."""

    def __init__(self, shop: Shop, seed: int) -> None:
        """``seed`` of the run: other runs play other episodes."""
        self._shop, self._seed = shop, seed
        self._curriculum = Curriculum(MemoryLedger(), PARAMETERS)

    def group(self, env_id: str, number: int, difficulty: int | None) -> Prompt:
        seed = int(stream(self._seed, "learning", env_id, number).integers(MAX_SEED))
        drawn = self._curriculum.draw(env_id, _STYLE, "strict", seed) if difficulty is None else difficulty
        return Prompt(drawn, self._episodes(env_id, drawn, seed, is_counted=difficulty is None))

    def _episodes(self, env_id: str, difficulty: int, seed: int, *, is_counted: bool) -> Iterator[Played]:
        key: Key = (env_id, _STYLE, "strict")
        spec = EpisodeSpec(env_id, difficulty, seed, style=_STYLE)
        played = [Episode(self._shop, spec, f"{seed}-{member}", include=()) for member in range(GROUP)]
        if is_counted:
            self._curriculum.issue(key, difficulty, seed, is_grouped=True)
            counted = [self._curriculum.begin(key, difficulty, seed, each.id) is None for each in played]
        for each in played:
            yield _Local(each)
        if is_counted:
            highest = played[0].environment.max_difficulty(self._shop)
            for each, counts in zip(played, counted, strict=True):
                if counts and each.result is not None:
                    self._curriculum.end(key, seed, each.id, Fraction(each.result.correct_share), highest)


class _Distant:
    """An episode on a server, as the policy plays it."""

    def __init__(self, env: EcomEnv, opening: Observation) -> None:
        self._env = env
        self.opening = opening

    def step(self, action: Mapping[str, object]) -> Observation:
        return self._env.step(action).observation

    def finish(self) -> Observation:
        return self._env.finish().observation


class OnServer:
    """Plays on a server over HTTP; the server draws seeds and difficulties and counts."""

    def __init__(self, env: EcomEnv, run_id: str) -> None:
        self._env, self._run_id = env, run_id
        env.curriculum(run_id).put(RunSettings(parameters=PARAMETERS))

    def group(self, env_id: str, number: int, difficulty: int | None) -> Prompt:
        first = self._reset(env_id, number, difficulty)
        return Prompt(first[1], self._episodes(env_id, number, difficulty, first[0]))

    def _episodes(self, env_id: str, number: int, difficulty: int | None, first: Observation) -> Iterator[Played]:
        yield _Distant(self._env, first)
        for _ in range(GROUP - 1):
            yield _Distant(self._env, self._reset(env_id, number, difficulty)[0])

    def _reset(self, env_id: str, number: int, difficulty: int | None) -> tuple[Observation, int]:
        result = self._env.reset(
            env_id=env_id,
            run_id=self._run_id,
            group_id=f"{env_id} {number}",
            difficulty=difficulty,
            style=_STYLE,
            include=[],
        )
        return result.observation, result.metadata.difficulty


@contextmanager
def on_server(url: str, run_id: str) -> Iterator[OnServer]:
    """Play on the server at ``url`` for as long as a ``with`` block lasts."""
    with EcomEnv(url) as env:
        yield OnServer(env, run_id)


def held_out(shop: Shop, env_id: str, difficulty: int, number: int, split: Split) -> Played:
    """Return an episode to judge by: of another split, and counted by no curriculum."""
    spec = EpisodeSpec(env_id, difficulty, number, split=split, style=_STYLE)
    return _Local(Episode(shop, spec, f"judged-{number}", include=()))
