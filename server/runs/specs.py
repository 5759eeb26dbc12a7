"""The episode that a reset asks for: drawn, agreed with a group's, and written as the text that the store keeps."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache

from ecom_rlve.envs.environment import Environment
from ecom_rlve.envs.episode.episode import EpisodeSpec
from ecom_rlve.envs.registry import choose_environment, choose_weighted, collection_members, environment
from ecom_rlve.models import ResetRequest, RewardProfile
from ecom_rlve.run_models import RunSettings
from ecom_rlve.server.errors import EnvironmentConflictError, GroupConflictError


def named_environment(request: ResetRequest, env: str | None) -> str | None:
    """Return the environment that address or body fix, None if neither does.

    Raises:
        UnknownEnvironmentError: there is none of this name.
        EnvironmentConflictError: they name different ones.
    """
    fixed = None if env is None else environment(env).about.id
    asked = None if request.env_id is None else environment(request.env_id).about.id
    if fixed is not None and asked is not None and asked != fixed:
        raise EnvironmentConflictError(f"this address serves {fixed}, the request names {asked}")
    return fixed or asked


def chosen_environment(request: ResetRequest, settings: RunSettings, seed: int, highest: Callable[[str], int]) -> str:
    """Return the environment that ``seed`` draws: from the collection, else by the run's weights, else from all.

    ``highest`` returns the highest difficulty that the catalog can serve in an environment.

    Raises:
        UnknownEnvironmentError, DifficultyError: see :func:`~ecom_rlve.envs.registry.choose_environment`.
    """
    least = request.difficulty or 0

    def can_serve(each: Environment) -> bool:
        return highest(each.about.id) >= least

    if request.collection is None and settings.weights:
        return choose_weighted(settings.weights, seed, can_serve)
    return choose_environment(request.collection, seed, can_serve)


def asked_spec(request: ResetRequest, settings: RunSettings, env_id: str, seed: int) -> EpisodeSpec:
    """Return the episode of an environment and a seed; its difficulty is 0 where the request names none."""
    return EpisodeSpec(
        env_id,
        request.difficulty or 0,
        seed,
        request.split,
        request.style,
        tuple(sorted(request.axes.items())),
        request.format,
        settings.reward_profile,
        settings.observation_bytes,
    )


def require_agreement(request: ResetRequest, fixed: str | None, spec: EpisodeSpec) -> None:
    """Raise ``GroupConflictError`` if a reset asks for another episode than ``spec``, which its group plays."""
    given: dict[str, object] = {"env_id": fixed, "difficulty": request.difficulty, "seed": request.seed}
    given |= {name: getattr(request, name) for name in ("split", "style", "format") if name in request.model_fields_set}
    if "axes" in request.model_fields_set:
        given["axes"] = tuple(sorted(request.axes.items()))
    if fixed is None and request.collection is not None and spec.env_id not in collection_members(request.collection):
        given["env_id"] = request.collection
    for name, value in given.items():
        if value is not None and value != getattr(spec, name):
            raise GroupConflictError(
                f"this group plays {name}={getattr(spec, name)!r}, not {value!r}; another episode needs another group"
            )


def spec_text(spec: EpisodeSpec) -> str:
    """Return an episode as JSON, which :func:`read_spec` reads."""
    return json.dumps({**asdict(spec), "reward_profile": spec.reward_profile.model_dump()}, separators=(",", ":"))


@lru_cache(maxsize=4096)
def read_spec(text: str) -> EpisodeSpec:
    """Return the episode that :func:`spec_text` wrote."""
    fields = json.loads(text)
    axes = tuple((str(name), float(value)) for name, value in fields.pop("axes"))
    return EpisodeSpec(**{**fields, "axes": axes, "reward_profile": RewardProfile(**fields["reward_profile"])})
