"""How well the customer hears: a corpus of questions, each asked where its fact is unsaid (SPEC §7, Hearing).

``python -m ecom_rlve.evaluation.customer.hearing FILE …`` prints by environment and topic how many questions were told
their fact, how many were denied it ("I don't mind", "I don't know"), and how many got something else. A line of a file
is a JSON object: ``env`` (ids, joined by slashes), ``topics`` (the facts asked for, in order), ``text`` with ``{item}``
and ``{items}`` for the thing's noun, and ``manner``.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from ecom_rlve.envs.customer.answers import MOST_FACTS
from ecom_rlve.envs.episode.episode import Episode, EpisodeSpec
from ecom_rlve.envs.goal import Slot
from ecom_rlve.envs.language.acts import ActKind
from ecom_rlve.envs.language.phrases import LABELS
from ecom_rlve.envs.world.shop import Shop

_DIFFICULTIES = (12, 6, 3)
"""Where a customer has many facts, then fewer: what a topic needs is found in one of them."""
_SEEDS = 150
_ALL_UNSAID = (("p_missing", 1.0), ("p_noise", 0.0), ("p_oos", 0.0), ("t_max", 100.0))
_DENIALS = (ActKind.NO_PREFERENCE, ActKind.DONT_KNOW)


class Line(NamedTuple):
    """One question of a corpus."""

    env_ids: tuple[str, ...]
    topics: tuple[str, ...]
    text: str
    manner: str


class Place(NamedTuple):
    """An episode in which a topic's fact is unsaid, and the position of its item."""

    spec: EpisodeSpec
    item: int


@dataclass(slots=True)
class Tally:
    """What became of the questions for one topic."""

    told: int = 0
    denied: int = 0
    other: int = 0

    @property
    def asked(self) -> int:
        """Number of questions."""
        return self.told + self.denied + self.other


def read_corpus(path: Path) -> Iterator[Line]:
    """Yield the lines of a file that ask for facts; raises ``ValueError`` that names a line of another shape."""
    for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            entry = json.loads(text)
            line = Line(tuple(entry["env"].split("/")), tuple(entry["topics"]), entry["text"], entry["manner"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path.name}, line {number}: {error!r}") from error
        if line.env_ids != ("ANY",):
            yield line


class Listeners:
    """Finds customers who have a topic's fact in mind and have not said it."""

    def __init__(self, shop: Shop) -> None:
        self._shop = shop
        self._places = cache(self._found)

    def place(self, env_id: str, topic: str, number: int) -> Place | None:
        """Return one of the places for a topic; None if the environment has none."""
        places = self._places(env_id).get(topic, ())
        return places[number % len(places)] if places else None

    def _found(self, env_id: str) -> Mapping[str, Sequence[Place]]:
        found: dict[str, list[Place]] = defaultdict(list)
        for difficulty in _DIFFICULTIES:
            for seed in range(_SEEDS):
                spec = EpisodeSpec(env_id, difficulty, seed, axes=_ALL_UNSAID)
                episode = Episode(self._shop, spec, "listener")
                for slot in episode.intent.slots:
                    if not slot.is_essential:
                        found[topic_of(slot)].append(Place(spec, slot.item))
        return found


def topic_of(slot: Slot) -> str:
    """Return the topic of a slot: its kind of fact, or the attribute that it is about."""
    kinds = ("variant", "quantity", "compatibility", "requirement", "other_items")
    return slot.name if slot.fact.kind is not None or slot.name in kinds else slot.fact.constraint.attribute


def outcomes(shop: Shop, place: Place, line: Line) -> dict[str, str]:
    """Ask one question; return ``told``, ``denied`` or ``other`` for each topic that this customer has in mind.

    What comes after the third fact of one turn counts as not asked. A customer who asks which of several topics is
    meant ("the size or the capacity?") is told which, once.
    """
    episode = Episode(shop, place.spec, "hearing")
    subject, before = episode.intent.subjects[place.item], set(episode.customer.said)
    words = line.text.replace("{items}", subject.plural).replace("{item}", subject.singular)
    episode.step({"assistant_message": words})
    offered = [name for act in episode.acts if act.kind is ActKind.CLARIFY for name in act.attributes]
    if wanted := [LABELS.get(name, name.replace("_", " ")) for name in offered if name in line.topics]:
        episode.step({"assistant_message": f"The {wanted[0]}."})
    told = set[str]()
    for slot in episode.customer.said - before:
        told |= {topic_of(slot), slot.fact.constraint.attribute}
    denied = {name for act in episode.acts if act.kind in _DENIALS for name in act.attributes}
    subjects = episode.intent.subjects
    is_full = len(episode.customer.said - before) >= MOST_FACTS and bool(told.intersection(line.topics))
    about = {place.item, *(item for item, subject in enumerate(subjects) if subject.is_whole)}
    in_mind = {topic_of(slot) for slot in episode.intent.slots if slot not in before and slot.item in about}
    return {
        topic: "told" if topic in told else "denied" if topic in denied else "other"
        for topic in line.topics
        if topic in in_mind and (topic in told or not is_full)
    }


def heard(shop: Shop, lines: Sequence[Line]) -> dict[tuple[str, str, str], Tally]:
    """Ask every question in one of its environments; return what became of them by environment, topic and manner."""
    listeners, tallies = Listeners(shop), defaultdict[tuple[str, str, str], Tally](Tally)
    for number, line in enumerate(lines):
        for turn in range(len(line.env_ids)):
            env_id = line.env_ids[(number + turn) % len(line.env_ids)]
            place = listeners.place(env_id, line.topics[0], number)
            if place is not None:
                for topic, outcome in outcomes(shop, place, line).items():
                    tally = tallies[env_id, topic, line.manner]
                    setattr(tally, outcome, getattr(tally, outcome) + 1)
                break
    return tallies


def summed(tallies: Mapping[tuple[str, str, str], Tally], part: slice) -> dict[tuple[str, ...], Tally]:
    """Add up tallies whose names are the same in ``part``; in order of these names."""
    found: dict[tuple[str, ...], Tally] = {}
    for name in sorted(tallies):
        one, tally = tallies[name], found.setdefault(tuple(name[part]), Tally())
        tally.told, tally.denied, tally.other = (
            tally.told + one.told,
            tally.denied + one.denied,
            tally.other + one.other,
        )
    return found


def main(
    files: Annotated[list[Path], typer.Argument(help="Corpora, one JSON object a line.")],
    catalog: Annotated[str, typer.Option(help="Source of products, as for `serve`.")] = "synthetic",
) -> None:
    """Print how many questions were told their fact."""
    tallies = heard(Shop.open(catalog), [line for path in files for line in read_corpus(path)])
    console = Console(width=100)
    for title, part in (("environment and topic", slice(0, 2)), ("manner", slice(2, 3))):
        table = Table(title, "asked", "told", "denied", "other", box=box.MARKDOWN)
        for name, tally in summed(tallies, part).items():
            share = f"{tally.told / tally.asked:.3f}"
            table.add_row(" ".join(name), str(tally.asked), share, str(tally.denied), str(tally.other))
        console.print(table)
    whole: dict[str, Any] = {name: sum(getattr(each, name) for each in tallies.values()) for name in ("told", "denied")}
    asked = sum(tally.asked for tally in tallies.values())
    console.print(f"{whole['told']} of {asked} told ({whole['told'] / max(1, asked):.3f}), {whole['denied']} denied")


if __name__ == "__main__":
    typer.run(main)
