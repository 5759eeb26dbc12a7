"""Frames: the customer's sentences as data, and the bank that holds them (SPEC §7, Wording).

A frame is a text with places in braces that code fills, choices in parentheses ``(a|b)``, and agreement in square
brackets ``[is|are]``. Frames stand in TOML files, one table for each thing that is said:

- ``about`` tells what its frames do, ``places`` which places each frame holds exactly once, ``one_of`` places of which
  each frame holds exactly one, ``negative = true`` that they may negate what they say, and ``phrase = true`` that they
  are no sentences but fill a place of others;
- ``any``, a register (``plain``, ``terse``, ``formal``, ``chatty``) or the name of a persona: the frames of those
  customers. A customer uses the frames of all of its lists.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from hashlib import blake2b
from importlib import resources
from types import MappingProxyType
from typing import Any, NamedTuple

from ecom_rlve.envs.language.persona import PERSONAS, Persona
from ecom_rlve.envs.language.spelling import american

COMMON = "any"
"""The list of frames that every customer uses."""
LISTS = (COMMON, *dict.fromkeys(each.register for each in PERSONAS), *(each.name for each in PERSONAS))
"""Names of lists of frames, in the order in which a customer's frames are put together."""
RELATIVE = ("that ", "which ", "whose ", "where ", "who ")
"""What relative clauses begin with."""
PLACE = re.compile(r"\{(\w+)\}")
_PART = re.compile(r"\{(?P<place>\w+)\}|\((?P<choice>[^()]*)\)|\[(?P<one>[^\[\]|]*)\|(?P<many>[^\[\]|]*)\]")


class Place(NamedTuple):
    """A part of a frame that code fills."""

    name: str


class Agreement(NamedTuple):
    """A word that agrees with the number of what the sentence is about."""

    one: str
    many: str


Part = str | Place | Agreement | tuple[str, ...]
"""A piece of a frame; a plain tuple is a choice between words."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One way to say something, in British or American spelling."""

    text: str
    parts: tuple[Part, ...]
    american_parts: tuple[Part, ...]
    places: frozenset[str]
    beside: frozenset[str]
    """Words that can stand right before or after a value in it, in small letters."""


@lru_cache(maxsize=1 << 15)
def frame(text: str) -> Frame:
    """Return a text as a frame.

    >>> frame("(Hi|Hello), {item} [is|are] fine.").parts
    (('Hi', 'Hello'), ', ', Place(name='item'), ' ', Agreement(one='is', many='are'), ' fine.')
    """
    parts: list[Part] = []
    at = 0
    for match in _PART.finditer(text):
        if match.start() > at:
            parts.append(text[at : match.start()])
        at = match.end()
        if match["place"]:
            parts.append(Place(match["place"]))
        elif match["choice"] is not None:
            parts.append(tuple(match["choice"].split("|")))
        else:
            parts.append(Agreement(match["one"], match["many"]))
    if at < len(text):
        parts.append(text[at:])
    return Frame(text, tuple(parts), tuple(map(_american, parts)), frozenset(PLACE.findall(text)), _beside(text))


_BESIDE = re.compile(r"(?:([\w']+|\([^()]*\)) )?\{(?:value|bound)\}(?: ([\w']+|\([^()]*\)))?")


def _beside(text: str) -> frozenset[str]:
    """Return the words next to the place of a value; next to a choice, each of its words."""
    sides = " ".join(side for found in _BESIDE.findall(text.casefold()) for side in found)
    return frozenset(re.findall(r"[\w']+", sides))


def _american(part: Part) -> Part:
    if isinstance(part, str):
        return american(part)
    if isinstance(part, Place):
        return part
    if isinstance(part, Agreement):
        return Agreement(american(part.one), american(part.many))
    return tuple(map(american, part))


@dataclass(frozen=True, eq=False)
class Pool:
    """Frames among which one is picked, and the parts of them that fit a place."""

    frames: tuple[Frame, ...] = ()

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self.frames)

    def __iter__(self) -> Iterator[Frame]:
        """Yield them."""
        return iter(self.frames)

    @cached_property
    def without_limit(self) -> Pool:
        """Those that say nothing of the next value beyond a bound."""
        return Pool(tuple(each for each in self.frames if "limit" not in each.places))

    @cached_property
    def without_tags(self) -> Pool:
        """Those that tell facts in other ways than by their labels."""
        return Pool(tuple(each for each in self.frames if "tags" not in each.places))

    @cached_property
    def naming(self) -> Pool:
        """Those that name the item."""
        return Pool(tuple(each for each in self.frames if "item" in each.places))

    @cached_property
    def free(self) -> Pool:
        """Those that can also stand where no noun is right before them."""
        return Pool(tuple(each for each in self.frames if not each.text.startswith(RELATIVE)))


def pool_of(texts: Iterable[str]) -> Pool:
    """Return texts as frames to choose from."""
    return Pool(tuple(map(frame, texts)))


@dataclass(frozen=True, eq=False)
class Frames:
    """The frames for one thing that a customer says."""

    name: str
    about: str
    places: tuple[str, ...]
    """Places that each frame holds exactly once."""
    one_of: tuple[str, ...]
    """Places of which each frame holds exactly one; may be empty."""
    lists: Mapping[str, tuple[str, ...]]
    """Texts by the name of their list, see :data:`LISTS`."""
    is_negative: bool = False
    """Its frames may negate what they say."""
    is_phrase: bool = False
    """Its frames are no sentences but fill a place of others."""

    def of(self, persona: Persona) -> Pool:
        """Return the frames of a customer: everybody's, those of the register and those of the persona."""
        return self._by_persona[persona.name]

    @cached_property
    def _by_persona(self) -> Mapping[str, Pool]:
        return {each.name: pool_of(self._texts_of(each)) for each in PERSONAS}

    def _texts_of(self, persona: Persona) -> Iterator[str]:
        for name in dict.fromkeys((COMMON, persona.register, persona.name)):
            yield from self.lists.get(name, ())

    def extended(self, lists: Mapping[str, Sequence[str]]) -> Frames:
        """Return these frames and further ones."""
        joined = {name: (*self.lists.get(name, ()), *lists.get(name, ())) for name in {**self.lists, **lists}}
        return replace(self, lists=joined)


FACTS = "facts"
"""Name of the file that says how single facts are phrased."""
FORMS = ("before", "noun", "should", "clause", "bound")
"""How a fact can be phrased: before a noun, after it, after "should", as a clause of its own; ``bound``: only the value
with its direction ("at most 3 kg")."""
Forms = Mapping[str, Pool]
"""Frames of a fact by form."""


def frames_in(package: str, file: str = "frames.toml") -> Mapping[str, Frames]:
    """Return the tables of a TOML file of a package by name; they count as known from then on.

    Raises :class:`ValueError` if another package has a table of the same name.
    """
    text = resources.files(package).joinpath(file).read_text(encoding="utf-8")
    return MappingProxyType({name: _known(name, table) for name, table in tomllib.loads(text).items()})


_KNOWN: dict[str, Frames] = {}


def known_frames() -> Mapping[str, Frames]:
    """Return every table, by name: the common ones, and those of each environment that was imported."""
    acts_in_bank()  # Else the common ones would be missing until a customer needs one.
    return MappingProxyType(_KNOWN)


def _known(name: str, table: Mapping[str, Any]) -> Frames:
    lists = {key: tuple(table[key]) for key in LISTS if key in table}
    places, one_of = tuple(table.get("places", ())), tuple(table.get("one_of", ()))
    flags = bool(table.get("negative")), bool(table.get("phrase"))
    found = Frames(name, table["about"], places, one_of, lists, *flags)
    known = _KNOWN.setdefault(name, found)
    if known.lists != lists:
        raise ValueError(f"there are two tables of frames named {name}; name one of them otherwise")
    return known


_PACKAGE = "ecom_rlve.envs.language.bank"


@cache
def facts_in_bank() -> Mapping[tuple[str, str], Forms]:
    """Return how facts are phrased, by kind of fact and operator."""
    text = resources.files(_PACKAGE).joinpath(f"{FACTS}.toml").read_text(encoding="utf-8")
    return MappingProxyType(
        {
            (kind, op): MappingProxyType({form: pool_of(table[form]) for form in FORMS if form in table})
            for kind, ops in tomllib.loads(text).items()
            for op, table in ops.items()
        }
    )


@cache
def acts_in_bank() -> Mapping[str, Frames]:
    """Return the frames that every environment uses, by name."""
    files = sorted(each.name for each in resources.files(_PACKAGE).iterdir() if each.name.endswith(".toml"))
    return MappingProxyType(
        {name: each for file in files if file != f"{FACTS}.toml" for name, each in frames_in(_PACKAGE, file).items()}
    )


@dataclass(frozen=True, eq=False)
class Bank:
    """All that customers can say: the frames that come with the package, and further ones from files."""

    added: Mapping[str, Frames] = field(default_factory=dict)
    """Tables with further frames, by name; each stands in the place of the known one."""
    added_facts: Mapping[tuple[str, str], Forms] = field(default_factory=dict)
    """The same for how facts are phrased, by kind of fact and operator."""

    def frames(self, frames: Frames) -> Frames:
        """Return the frames with those that were added to them."""
        return self.added.get(frames.name, frames)

    def act(self, name: str) -> Frames:
        """Return the frames for something that every environment's customers say."""
        return self.frames(acts_in_bank()[name])

    def forms(self, kind: str, op: str) -> Forms:
        """Return how a kind of fact is phrased; empty if the bank does not know it."""
        return self.added_facts.get((kind, op)) or facts_in_bank().get((kind, op), {})

    @cached_property
    def fingerprint(self) -> str:
        """16 hexadecimal digits that depend on every frame; read it once the environments are imported."""
        digest = blake2b(digest_size=8)
        for name, known in sorted(known_frames().items()):
            digest.update(f"{name}\x1f{self.frames(known).lists}\x1e".encode())
        for key in sorted({**facts_in_bank(), **self.added_facts}):
            forms = self.forms(*key)
            texts = {form: [each.text for each in pool.frames] for form, pool in forms.items()}
            digest.update(f"{key}\x1f{texts}\x1e".encode())
        return digest.hexdigest()


DEFAULT_BANK = Bank()
