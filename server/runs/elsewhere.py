"""Episodes that are drawn here and may be played elsewhere: sampled, and reported when they have ended."""

from __future__ import annotations

import secrets
from fractions import Fraction

from ecom_rlve.envs.curriculum.gate import Curriculum
from ecom_rlve.envs.episode.episode import EpisodeSpec
from ecom_rlve.envs.registry import environment
from ecom_rlve.models import ResetRequest, Uncounted
from ecom_rlve.run_models import (
    Report,
    ReportAnswer,
    Reported,
    ReportedEpisode,
    Sample,
    SampledEpisode,
    SampleRequest,
)
from ecom_rlve.server.errors import RunPinnedError
from ecom_rlve.server.runs.pins import difference, read_pins
from ecom_rlve.server.runs.runs import Runs, key_of, uncounted_by_itself

_NAME_BYTES = 8


def sample(runs: Runs, request: SampleRequest) -> Sample:
    """Draw episodes, each a group that nobody has begun; raises as :meth:`Runs.resolve`."""
    fields = request.model_dump(exclude={"n"}, exclude_none=True)
    with runs.transaction():
        return Sample(episodes=[_sampled(runs, fields) for _ in range(request.n)])


def _sampled(runs: Runs, fields: dict[str, object]) -> SampledEpisode:
    # Random, so that it meets no group that a trainer names.
    group_id = f"sampled-{secrets.token_hex(_NAME_BYTES)}"
    asked = ResetRequest.model_validate({**fields, "group_id": group_id})
    spec = runs.sampled(asked)
    return SampledEpisode(
        env_id=spec.env_id,
        difficulty=spec.difficulty,
        seed=spec.seed,
        split=spec.split,
        style=spec.style,
        format=spec.format,
        group_id=group_id,
        run_id=asked.run_id,
    )


def report(runs: Runs, run_id: str, reported: Report, *, discloses_acts: bool) -> ReportAnswer:
    """Count episodes that ended elsewhere, each once, and say of each whether it counts.

    All of them begin before the first ends, so that a group that is reported as a whole is judged as a whole.

    Raises:
        UnknownRunError: there is no such run.
        RunPinnedError: it was played on something else than this server serves.
        UnknownEnvironmentError: an environment does not exist; nothing is counted then.
    """
    with runs.transaction():
        run = runs.known(run_id)
        differs = difference(read_pins(run.pins), runs.pins)
        if differs is not None:
            raise RunPinnedError(f"run {run_id[:64]!r} was played on something else: {differs}; fork it")
        curriculum = runs.curriculum(run)
        specs = [_spec(each) for each in reported.episodes]
        reasons = [
            Uncounted.ACTS_DISCLOSED if discloses_acts else _begun(curriculum, spec, each.episode_id)
            for spec, each in zip(specs, reported.episodes, strict=True)
        ]
        for at, (spec, each) in enumerate(zip(specs, reported.episodes, strict=True)):
            key, share, highest = key_of(spec), Fraction(each.correct_share), runs.highest(spec.env_id)
            if reasons[at] is None and not curriculum.end(key, spec.seed, each.episode_id, share, highest):
                # Those before it have lifted the frontier.
                reasons[at] = curriculum.why_not(key, spec.difficulty, spec.seed, each.episode_id)
        counted = reasons.count(None)
        runs.rows.add_counted(run.id, counted)
    told = [
        Reported(episode_id=each.episode_id, counts=why is None, why_uncounted=why)
        for each, why in zip(reported.episodes, reasons, strict=True)
    ]
    return ReportAnswer(counted=counted, episodes=told)


def _begun(curriculum: Curriculum, spec: EpisodeSpec, episode_id: str) -> Uncounted | None:
    return uncounted_by_itself(spec) or curriculum.begin(key_of(spec), spec.difficulty, spec.seed, episode_id)


def _spec(each: ReportedEpisode) -> EpisodeSpec:
    env_id = environment(each.env_id).about.id
    axes = tuple(sorted(each.axes.items()))
    return EpisodeSpec(env_id, each.difficulty, each.seed, each.split, each.style, axes, each.format)
