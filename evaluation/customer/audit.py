"""Comparing voices of the customer: variety of the words, readability, fallbacks.

The built-in expert plays the same episodes with each voice. Everything that the customer says is kept and measured.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from statistics import fmean
from typing import Any

from rich.console import Console
from rich.progress import MofNCompleteColumn, Progress

from ecom_rlve.envs.customer.model.voice import ModelVoice
from ecom_rlve.envs.customer.outcome import Outcome
from ecom_rlve.envs.customer.voice import Spoken, Voice
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.language.frames import known_frames
from ecom_rlve.envs.language.persona import PERSONAS
from ecom_rlve.envs.world.shop import Shop
from ecom_rlve.evaluation.agents import make_expert
from ecom_rlve.evaluation.customer.variety import (
    most_frequent_share,
    repeated,
    self_bleu,
    without_values,
    word_types,
)
from ecom_rlve.evaluation.customer.wording_statistics import (
    distinct_n,
    distinct_texts,
    reading_ease,
    type_token_ratio,
    words_in,
)
from ecom_rlve.evaluation.in_process import told
from ecom_rlve.models import Observation

DIFFICULTIES = (0, 3, 6, 9)
_FIRST_SEED = 1000
_RECORDED_AS = "before the bank, 1,000 episodes"
_RECORDED = {
    "utterances": "5139",
    "word types, without values": "731",
    "distinct-2, without values": "0.079",
    "distinct-3, without values": "0.197",
    "self-BLEU-4 of openings, without values": "0.821",
    "repeated messages of ten words or more": "0.007",
}
"""The same figures of the sentences that the customer had before there was a bank, on the same 1,000 episodes; shown
beside the others, and no longer measured."""
_NO_NOISE = (("p_noise", 0.0),)
"""Typing errors would count as variety."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message of the customer."""

    persona: str
    spoken: Spoken
    masked: str
    """The text without its values."""
    opening_frame: str
    """The frame of the environment's own that it opens with; empty for a later message."""


@dataclass(frozen=True, slots=True)
class Dialogue:
    """One episode for people to read."""

    spec: EpisodeSpec
    lines: tuple[str, ...]
    said: tuple[Said, ...]
    is_correct: bool
    seconds: float
    """Seconds from reset to end; most of it is waiting for the voice."""


@dataclass(slots=True)
class Sitting:
    """All episodes of one voice."""

    name: str
    dialogues: list[Dialogue]
    requests: int = 0
    """Number of requests to a model."""
    tokens: int = 0
    """Tokens of prompts and answers, as the model server counts them."""
    texts: list[str] = field(init=False)
    masked: list[str] = field(init=False)
    """The texts without their values."""

    def __post_init__(self) -> None:
        self.texts = [said.spoken.text for said in self.said]
        self.masked = [said.masked for said in self.said]

    @property
    def said(self) -> list[Said]:
        """Every message of the customer."""
        return [said for dialogue in self.dialogues for said in dialogue.said]

    def of_persona(self, name: str) -> list[str]:
        """Return what customers of one persona said."""
        return [said.spoken.text for said in self.said if said.persona == name]

    def openings(self) -> list[str]:
        """Return the first messages, without their values."""
        return [said.masked for said in self.said if said.opening_frame]

    def opening_frames(self) -> dict[str, list[str]]:
        """Return the frames of the first messages, by environment."""
        found: dict[str, list[str]] = {}
        for dialogue in self.dialogues:
            found.setdefault(dialogue.spec.env_id, []).extend(
                said.opening_frame for said in dialogue.said if said.opening_frame
            )
        return found

    def outcomes(self) -> Counter[Outcome]:
        """Return how often words had each outcome."""
        return Counter(said.spoken.outcome for said in self.said)


def specs_of(env_ids: Sequence[str], episodes: int) -> list[EpisodeSpec]:
    """Return ``episodes`` episodes, evenly distributed over environments and difficulties."""
    return [
        EpisodeSpec(
            env_ids[number % len(env_ids)],
            DIFFICULTIES[number // len(env_ids) % len(DIFFICULTIES)],
            _FIRST_SEED + number,
            "eval",
            axes=_NO_NOISE,
        )
        for number in range(episodes)
    ]


async def compare(voices: Mapping[str, Voice], shop: Shop, specs: Sequence[EpisodeSpec], at_once: int) -> list[Sitting]:
    """Play the episodes with one voice after the other, and close the voices; progress goes to standard error."""
    sittings = []
    with Progress(*Progress.get_default_columns(), MofNCompleteColumn(), console=Console(stderr=True)) as progress:
        for name, voice in voices.items():
            bar = progress.add_task(name, total=len(specs))
            sittings.append(await sit(name, voice, shop, specs, at_once, partial(progress.advance, bar)))
            await voice.aclose()
    return sittings


async def sit(
    name: str, voice: Voice, shop: Shop, specs: Sequence[EpisodeSpec], at_once: int, done: Callable[[], None]
) -> Sitting:
    """Play the episodes with a voice, ``at_once`` at a time; ``done`` is called after each."""
    places = asyncio.Semaphore(at_once)

    async def one(spec: EpisodeSpec) -> Dialogue:
        async with places:
            dialogue = await _played(voice, shop, spec)
            done()
            return dialogue

    dialogues = list(await asyncio.gather(*map(one, specs)))
    spent = (voice.tally.requests, voice.tally.tokens) if isinstance(voice, ModelVoice) else (0, 0)
    return Sitting(name, dialogues, *spent)


async def _played(voice: Voice, shop: Shop, spec: EpisodeSpec) -> Dialogue:
    started = time.perf_counter()
    episode = Episode(shop, spec, f"audit-{spec.env_id}-{spec.seed}")
    agent = make_expert(spec.env_id)
    said: list[Said] = []
    lines: list[str] = []
    observation = await _worded(voice, episode, said, lines)
    while not observation.done:
        action = agent.act(told(episode, observation))
        lines += _shown(action)
        observation = episode.step(action)
        if episode.has_spoken:
            observation = await _worded(voice, episode, said, lines)
    is_correct = episode.result is not None and episode.result.is_correct
    return Dialogue(spec, tuple(lines), tuple(said), is_correct, time.perf_counter() - started)


async def _worded(voice: Voice, episode: Episode, said: list[Said], lines: list[str]) -> Observation:
    utterances = episode.utterances
    spoken = [await voice.say(each) for each in utterances]
    for each, words in zip(utterances, spoken, strict=True):
        own = next((text for text in each.frames if text in _openings()), "") if not each.turn else ""
        said.append(Said(each.persona.name, words, without_values(words.text, each.acts), own))
    lines += (f"customer ({each.outcome}): {each.text}" for each in spoken)
    return episode.reword(spoken)


@cache
def _openings() -> frozenset[str]:
    """Return the frames with which environments open."""
    return frozenset(
        text
        for name, frames in known_frames().items()
        if name.startswith("open_")
        for texts in frames.lists.values()
        for text in texts
    )


def _shown(action: Mapping[str, Any]) -> list[str]:
    """Return an action as lines of a dialogue: what was said, and the names of the tools that were called."""
    calls = [str(call["name"]) for call in action.get("tool_calls") or ()]
    asked = [str(call["args"]["question"]) for call in action.get("tool_calls") or () if call["name"] == "ask_user"]
    spoken = [text for text in (action.get("assistant_message") or "", *asked) if text]
    shown = [f"agent: {text}" for text in spoken]
    if names := [name for name in calls if name != "ask_user"]:
        shown.append(f"agent calls {', '.join(names)}")
    if (action.get("answer") or {}).get("done"):
        shown.append("agent answers")
    return shown


def table(sittings: Sequence[Sitting]) -> str:
    """Return the figures as Markdown, a column for each voice."""
    rows: list[tuple[str, Callable[[Sitting], str]]] = [
        ("episodes", lambda each: str(len(each.dialogues))),
        ("utterances", lambda each: str(len(each.texts))),
        ("word types, without values", lambda each: str(word_types(each.masked))),
        ("distinct-2, without values", lambda each: f"{distinct_n(each.masked, 2):.3f}"),
        ("distinct-3, without values", lambda each: f"{distinct_n(each.masked, 3):.3f}"),
        ("self-BLEU-4 of openings, without values", lambda each: f"{self_bleu(each.openings()):.3f}"),
        ("repeated messages of ten words or more", lambda each: f"{repeated(each.texts):.3f}"),
        ("most frequent opening frame", lambda each: f"{most_frequent_share(each.opening_frames()):.3f}"),
        ("distinct utterances", lambda each: f"{distinct_texts(each.texts):.3f}"),
        ("type-token ratio (100 words)", lambda each: f"{type_token_ratio(each.texts):.3f}"),
        ("Flesch reading ease", lambda each: f"{reading_ease(each.texts):.1f}"),
        ("words per utterance", lambda each: _mean_words(each.texts)),
        *(
            (f"words per utterance, {persona.name}", lambda each, name=persona.name: _mean_words(each.of_persona(name)))
            for persona in PERSONAS
        ),
        ("expert correct", lambda each: f"{fmean(dialogue.is_correct for dialogue in each.dialogues):.3f}"),
        ("seconds per episode", lambda each: f"{fmean(dialogue.seconds for dialogue in each.dialogues):.3f}"),
        ("requests per episode", lambda each: f"{each.requests / len(each.dialogues):.2f}"),
        ("tokens per episode", lambda each: f"{each.tokens / len(each.dialogues):.0f}"),
        ("fallback rate", lambda each: f"{_share(each, lambda outcome: outcome.is_fallback):.3f}"),
        *((str(outcome), lambda each, seen=outcome: f"{_share(each, seen.__eq__):.3f}") for outcome in _seen(sittings)),
    ]
    names = [*(each.name for each in sittings), _RECORDED_AS]
    lines = [f"| | {' | '.join(names)} |", "|---|" + "---|" * len(names)]
    lines += [f"| {label} | {' | '.join([*map(cell, sittings), _RECORDED.get(label, '')])} |" for label, cell in rows]
    return "\n".join(lines)


def _mean_words(texts: Sequence[str]) -> str:
    return f"{fmean(len(words_in(text)) for text in texts):.1f}" if texts else "–"


def _share(sitting: Sitting, counts: Callable[[Outcome], bool]) -> float:
    outcomes = sitting.outcomes()
    return sum(number for outcome, number in outcomes.items() if counts(outcome)) / max(1, outcomes.total())


def _seen(sittings: Sequence[Sitting]) -> list[Outcome]:
    seen = {outcome for sitting in sittings for outcome in sitting.outcomes()}
    return [outcome for outcome in Outcome if outcome in seen]


def samples(sittings: Sequence[Sitting], each: int = 10) -> str:
    """Return the first dialogues of each environment, those of all voices one after the other."""
    parts: list[str] = []
    shown: Counter[str] = Counter()
    for spec in sorted(
        (dialogue.spec for dialogue in sittings[0].dialogues), key=lambda spec: (spec.env_id, spec.seed)
    ):
        if shown[spec.env_id] == each:
            continue
        shown[spec.env_id] += 1
        for sitting in sittings:
            dialogue = next(dialogue for dialogue in sitting.dialogues if dialogue.spec == spec)
            head = f"## {spec.env_id}, difficulty {spec.difficulty}, seed {spec.seed}: {sitting.name}"
            parts.append("\n".join((head, "", *dialogue.lines)))
    return "\n\n".join(parts)
