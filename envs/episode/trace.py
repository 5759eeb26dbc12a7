"""Traces: an episode written to text, and replayed to see that nothing has changed (SPEC §11).

A trace has a header line with the resolved arguments, a line for the opening, then one line per step with the action
and the observation that followed. Observations are kept as the JSON text that was sent: a replay compares bytes. If a
model worded the customer, each line also holds the words of each utterance and how they came about. A replay uses these
words and asks no model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from ecom_rlve.envs.customer.outcome import Outcome
from ecom_rlve.envs.customer.turn import NOTHING_UNDERSTOOD, Understood
from ecom_rlve.envs.customer.voice import Spoken
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.episode.instructions import included_in
from ecom_rlve.envs.episode.log import FINISH, Log
from ecom_rlve.envs.errors import EnvsError, TraceMismatchError
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.models import EpisodeMetadata, EpisodeResult, Observation

_ROOM = 40
"""Characters shown on each side of a difference."""


@dataclass(frozen=True, slots=True)
class Trace:
    """One episode as it was played."""

    episode_id: str
    metadata: EpisodeMetadata
    actions: tuple[Mapping[str, Any], ...]
    observations: tuple[str, ...]
    """JSON texts: the opening, then one for each action."""
    spoken: tuple[tuple[Spoken, ...], ...] = ()
    """What the customer said in each observation if a model worded it; empty if the templates did."""
    understood: tuple[Understood, ...] = ()
    """The topics that a model found in the questions of each action; empty if no model was asked."""

    @property
    def spec(self) -> EpisodeSpec:
        """What determines the episode, given catalog and version of :attr:`metadata`."""
        return EpisodeSpec.of(self.metadata)

    @property
    def result(self) -> EpisodeResult | None:
        """How the episode ended; None if the trace stops before the end."""
        return Observation.model_validate_json(self.observations[-1]).result

    @property
    def rewards(self) -> tuple[float | None, ...]:
        """The reward of each observation; None for the opening."""
        return tuple(json.loads(text)["reward"] for text in self.observations)

    def dump(self) -> str:
        """Return the trace as JSON lines, which :meth:`load` reads."""
        header = {"episode_id": self.episode_id, "metadata": self.metadata.model_dump()}
        steps: list[dict[str, Any]] = [{"observation": self.observations[0]}]
        for action, seen in zip(self.actions, self.observations[1:], strict=True):
            steps.append({"action": dict(action), "observation": seen})
        for step, spoken in zip(steps, self.spoken, strict=False):
            if spoken:
                step["spoken"] = [list(each) for each in spoken]
        for step, understood in zip(steps[1:], self.understood, strict=False):
            if understood:
                step["understood"] = dict(understood)
        lines = [header, *steps]
        return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)

    @classmethod
    def load(cls, text: str) -> Trace:
        """Return the trace that :meth:`dump` wrote; raises ``ValueError`` for anything else."""
        try:
            # Not splitlines(): JSON text may hold line separators that end no line of a JSON-lines file.
            header, opening, *steps = (json.loads(line) for line in text.split("\n") if line)
            spoken = tuple(
                tuple(Spoken(str(words), Outcome(outcome)) for words, outcome in step.get("spoken", ()))
                for step in (opening, *steps)
            )
            understood = tuple(
                {str(text): tuple(map(str, names)) for text, names in step.get("understood", {}).items()}
                for step in steps
            )
            return cls(
                episode_id=str(header["episode_id"]),
                metadata=EpisodeMetadata.model_validate(header["metadata"]),
                actions=tuple(FINISH if step["action"] == FINISH else dict(step["action"]) for step in steps),
                observations=(str(opening["observation"]), *(str(step["observation"]) for step in steps)),
                spoken=spoken if any(spoken) else (),
                understood=understood if any(understood) else (),
            )
        except (AttributeError, KeyError, TypeError, ValueError, ValidationError) as error:
            raise ValueError(f"this is no trace: {error!r}") from None


def trace_of(episode: Episode) -> Trace:
    """Return the trace of an episode so far."""
    log = episode.log
    spoken = (log.spoken, *(step.spoken for step in log.steps))
    understood = tuple(step.understood for step in log.steps)
    return Trace(
        episode.id,
        episode.metadata,
        tuple(step.action for step in log.steps),
        (_text(log.opening), *(_text(step.observation) for step in log.steps)),
        spoken if any(spoken) else (),
        understood if any(understood) else (),
    )


def take(episode: Episode, action: Mapping[str, Any], understood: Understood = NOTHING_UNDERSTOOD) -> Observation:
    """Apply an action as ``Episode.step`` does, or finish the episode if it is :data:`FINISH` itself."""
    return episode.finish() if action is FINISH else episode.step(action, understood)


def play_again(build: Callable[[], Episode], log: Log) -> Episode:
    """Build a new episode and play all steps of a log on it; the result equals the episode that was logged."""
    episode = build()
    if log.spoken:
        episode.reword(log.spoken)
    for step in log.steps:
        take(episode, step.action, step.understood)
        if step.spoken:
            episode.reword(step.spoken)
    if log.aborted is not None:
        episode.abort(log.aborted)
    return episode


def replay(trace: Trace, shop: Shop) -> None:
    """Play a trace again and compare every byte.

    Raises :class:`TraceMismatchError` with the first step that differs; step 0 is the opening.
    """
    opening, last = _ends(trace)
    try:
        episode = Episode(
            shop,
            trace.spec,
            trace.episode_id,
            include=(*included_in(opening.get("instructions")), *(("tools",) if "tools" in opening else ())),
            disclose="seed" in opening,
            reveal_goal="goal" in (last.get("result") or {}),
            simulator=trace.metadata.simulator,
        )
    except EnvsError as refusal:
        raise TraceMismatchError(0, f"the episode cannot be made: {refusal}") from refusal
    for name, was in trace.metadata:
        now = getattr(episode.metadata, name)
        if now != was:
            raise TraceMismatchError(0, f"{name} was {was!r} and is {now!r}")
    spoken = trace.spoken or ((),) * len(trace.observations)
    understood = trace.understood or (NOTHING_UNDERSTOOD,) * len(trace.actions)
    _compare(0, trace.observations[0], _text(_reworded(0, episode, episode.opening, spoken[0])))
    for number, (action, seen) in enumerate(zip(trace.actions, trace.observations[1:], strict=True), 1):
        try:
            observation = take(episode, action, understood[number - 1])
        except EnvsError as refusal:
            raise TraceMismatchError(number, f"the action is refused: {refusal}") from refusal
        observation = _reworded(number, episode, observation, spoken[number])
        if number == len(trace.actions) and last.get("infra_error"):
            observation = episode.abort(last["infra_error"])
        _compare(number, seen, _text(observation))


def _reworded(number: int, episode: Episode, observation: Observation, spoken: Sequence[Spoken]) -> Observation:
    if not spoken:
        return observation
    try:
        return episode.reword(spoken)
    except ValueError as error:
        raise TraceMismatchError(number, str(error)) from error


def _ends(trace: Trace) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the first and the last observation; they show what the server was set to include and reveal."""
    try:
        opening, last = json.loads(trace.observations[0]), json.loads(trace.observations[-1])
    except ValueError as error:
        raise TraceMismatchError(0, f"an observation is no JSON: {error}") from None
    return opening, last


def _text(observation: Observation) -> str:
    return observation.model_dump_json(exclude_unset=True)


def _compare(number: int, was: str, now: str) -> None:
    if was == now:
        return
    pairs = enumerate(zip(was, now, strict=False))
    at = next((at for at, (one, other) in pairs if one != other), min(len(was), len(now)))
    shown = [text[max(0, at - _ROOM) : at + _ROOM] for text in (was, now)]
    raise TraceMismatchError(number, f"from character {at} on it was …{shown[0]}… and is …{shown[1]}…")
