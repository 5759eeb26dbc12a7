"""The contract of environments, checked by one call: ``check_environment(MyEnvironment(), shop)``.

The author of a new environment runs the same checks that CI runs for the built-in ones. The environment need not be
registered.
"""

from __future__ import annotations

from collections.abc import Collection
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

from ecom_rlve.envs.answer import Answer
from ecom_rlve.envs.contract.answers import check_answers, check_schema
from ecom_rlve.envs.contract.messages import check_clean, check_slots
from ecom_rlve.envs.contract.tools import check_reads
from ecom_rlve.envs.difficulty import AXES, axes_of
from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.episode.verdict import episode_verdict
from ecom_rlve.envs.errors import DifficultyError, EnvironmentFaultError
from ecom_rlve.envs.parts.solving import in_style
from ecom_rlve.envs.tools.registry import TOOLS
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import MAX_DIFFICULTY, EpisodeResult, Style

DIFFICULTIES = (0, 3, 6, 9, 12, MAX_DIFFICULTY)
_STYLES: tuple[Style, ...] = ("turn", "tool")
_MOST_STEPS = 1000
_MOST_CHANCE = 1 / 12
"""Highest chance of being right without reading the customer (SPEC §11)."""


class Played(NamedTuple):
    """One episode played with the environment's own solution."""

    episode: Episode
    transcript: tuple[str, ...]
    """JSON texts of the observations, the opening first."""
    messages: tuple[str, ...]
    """The customer's messages, without empty ones."""
    last: dict[str, Any]
    """The action that ended the episode."""
    result: EpisodeResult


def check_environment(environment: Environment, shop: Shop, *, seeds: int = 20) -> None:
    """Raise ``EnvironmentFaultError`` if an environment breaks the contract (SPEC §2, §4, §7).

    Plays the environment's own solution on ``seeds`` seeds at each of :data:`DIFFICULTIES` that the shop serves, in
    both styles, and tries its tools, its customer and bad answers on a few of them. A synthetic shop of 2,000 products
    serves every built-in environment.
    """
    _check_declarations(environment)
    check_schema(environment)
    most = _check_max_difficulty(environment, shop)
    for d in sorted({min(d, most) for d in DIFFICULTIES}):
        for seed in range(seeds):
            _check_solution(environment, shop, d, seed)
        for seed in range(min(seeds, 5)):
            check_reads(started(environment, shop, d, seed))
            check_slots(partial(started, environment, shop, d, seed))
    solved = solution(environment, shop, EpisodeSpec(environment.about.id))
    check_answers(lambda: started(environment, shop, 0, 0), solved)


def started(environment: Environment, shop: Shop, d: int, seed: int, style: Style = "turn", **axes: float) -> Episode:
    """Return a new episode of an environment that need not be registered."""
    spec = EpisodeSpec(environment.about.id, d, seed, style=style, axes=tuple(sorted(axes.items())))
    return Episode(shop, spec, "checked", unregistered=environment)


def solution(environment: Environment, shop: Shop, spec: EpisodeSpec) -> Played:
    """Play the environment's own solution to the end."""
    episode = Episode(shop, spec, "checked", unregistered=environment)
    seen = episode.opening
    transcript, messages = [seen.model_dump_json(exclude_unset=True)], [seen.user_message]
    for _ in range(_MOST_STEPS):
        action = in_style(episode.solve(), spec.style)
        seen = episode.step(action)
        transcript.append(seen.model_dump_json(exclude_unset=True))
        messages += [seen.user_message] * bool(seen.user_message)
        if episode.result is not None:
            return Played(episode, tuple(transcript), tuple(messages), action, episode.result)
    raise EnvironmentFaultError(f"{_where(spec)}: solve does not come to an end in {_MOST_STEPS} steps")


def _check_declarations(environment: Environment) -> None:
    about = environment.about
    for name in ("id", "title", "version", "called"):
        value = getattr(about, name)
        _require(
            isinstance(value, str) and bool(value.strip()), f"{environment!r}: {name} must be a word, not {value!r}"
        )
    _check_names(f"{about.id}: tool_names", "tool", about.tool_names, TOOLS)
    _check_names(f"{about.id}: axes", "axis", about.axes, AXES)
    _require(issubclass(about.answer, Answer), f"{about.id}: answer must be a kind of Answer")
    _require(about.id == about.id.upper(), f"{about.id}: the id must be in capitals")
    for d in range(MAX_DIFFICULTY + 1):
        brief = environment.brief(axes_of(d))
        _require(len(brief) > len(about.title), f"{about.id} d={d}: the brief says nothing")
        chance = about.chance(d)
        _require(0 <= chance <= _MOST_CHANCE, f"{about.id} d={d}: a blind pick is right with probability {chance:.3f}")


def _check_names(where: str, kind: str, names: Collection[str], known: Collection[str]) -> None:
    strange = sorted(set(names) - set(known))
    _require(not strange, f"{where}: no {kind} {strange}; there are {list(known)}")
    _require(len(set(names)) == len(names), f"{where}: one is named twice")


def _check_max_difficulty(environment: Environment, shop: Shop) -> int:
    most = environment.max_difficulty(shop)
    where = f"{environment.about.id}: max_difficulty"
    _require(type(most) is int and -1 <= most <= MAX_DIFFICULTY, f"{where} must lie in -1..{MAX_DIFFICULTY}: {most!r}")
    _require(most >= 0, f"{where}: this shop can serve no difficulty; check with one that can")
    _require(environment.max_difficulty(shop) == most, f"{where} differs from call to call")
    if most < MAX_DIFFICULTY:
        try:
            started(environment, shop, most + 1, 0)
        except DifficultyError:
            return most
        raise EnvironmentFaultError(
            f"{where}: difficulty {most + 1} can be played, though {most} is said to be the most"
        )
    return most


def _check_solution(environment: Environment, shop: Shop, d: int, seed: int) -> None:
    for style in _STYLES:
        spec = EpisodeSpec(environment.about.id, d, seed, style=style)
        where, first = _where(spec), solution(environment, shop, spec)
        _check_result(first, where)
        for message in first.messages:
            check_clean(message, first.episode, where)
        again = solution(environment, shop, spec)
        for at, (one, other) in enumerate(zip(first.transcript, again.transcript, strict=False)):
            _require(one == other, f"{where}: step {at} differs when repeated: {one[:300]} / {other[:300]}")
        _require(len(first.transcript) == len(again.transcript), f"{where}: repeated, it takes another number of steps")


def _check_result(played: Played, where: str) -> None:
    episode, result = played.episode, played.result
    _require(result.is_correct, f"{where}: solve is not correct: {result}, goal {episode.goal_json()}")
    _require(result.r_task == 1.0, f"{where}: solve scores {result.r_task}, not 1")
    _require(result.r_hall == 0.0, f"{where}: solve names products that no result has shown")
    verdict = episode_verdict(episode.conversation)
    is_exact = isinstance(verdict.r_task, Fraction) and verdict.r_task == 1
    _require(is_exact, f"{where}: verify says {verdict.r_task!r}, not exactly Fraction(1)")
    used = result.turns - episode.customer_caused
    _require(used <= episode.t_max, f"{where}: solve takes {used} turns of {episode.t_max}")


def _where(spec: EpisodeSpec) -> str:
    return f"{spec.env_id} d={spec.difficulty} seed={spec.seed} style={spec.style}"


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise EnvironmentFaultError(message)


__all__ = ["EnvironmentFaultError", "check_environment", "solution", "started"]
