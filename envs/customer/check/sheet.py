"""What a message must say, as a sheet of opaque places, and how code fills them (SPEC §7).

``{fact_1}`` stands for a whole phrase with its operator and value ("costing at most $25.00"), so that whoever words the
message cannot say a wrong value: every value, name and number is in a place. Places are named after what they hold:
``item``, ``count`` ("three throw blankets"), ``title``, ``fact`` (a phrase that follows a noun), ``clause`` (a circumstance:
"I paid by card"), ``thing`` (the name of an attribute), and what an environment's first message is about.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Formatter

from ecom_rlve.envs.language.acts import Act, ActKind, Mention
from ecom_rlve.envs.language.phrases import LABELS, after_noun, after_should, counted
from ecom_rlve.envs.language.speaker import joined, split_quantity
from ecom_rlve.streams import Draws, stream

FIRST = frozenset(("open", "next", "switch"))
"""Acts that begin an errand."""
PLACE = re.compile(r"\{(\w+)\}")
_ARTICLE = re.compile(r"^(?:an?|the) ")
_DETERMINED = re.compile(r"\b(an?|the|my|our|your|this|that) \{((?:item|count|title|order|thing|errand)_\d+)\}", re.IGNORECASE)
_STARTS = re.compile(r"(?:^|[.!?] +)$")

_SAYS: Mapping[str, str] = {
    "open": "begin the conversation and say that you want {list}",
    "next": "say that you also want {list}",
    "answer": "answer the question: {list}",
    "dont_know": "say that you do not know {things}",
    "no_preference": "say that you do not mind about {things}",
    "nothing_left": "say that you have told everything and nothing is left",
    "confirm": "say yes, all of it is right, it is what you wanted",
    "correct": "say that it is wrong as it is: you asked for {list}",
    "skip": "ask to stop talking about {list} and to move on",
    "reject": "say that something that they picked is not what you asked for; do not say what",
    "continue": "tell them to go on; add nothing",
    "stockout_fallback": "it is sold out: ask to take {list} instead",
    "clarify": "ask which one they mean",
    "still_there": "say that it is not sold out, you still see {list} in the shop",
    "switch": "interrupt: say that something else comes first",
    "give_up": "say that this leads nowhere and that you leave; goodbye",
    "close": "say that this was all, and goodbye",
    "revise": "say that you changed your mind: now it is {list}",
}
"""What each kind of act does, for a prompt; ``{list}`` are its items with their facts."""
_ASKS: Mapping[str, str] = {
    "PD": "ask them to recommend {list}",
    "SUB": "say that {title} is sold out and ask for something like it: {list}",
    "RETURN": "say that you want to send back {list}",
    "STATUS": "ask for the status of {order}",
    "ARRIVAL": "ask for the status of {order} and for the day of its arrival",
    "POLICY": "ask: {question}",
    "BUNDLE": "say that you are {plan} and need help with {list}",
    "BACK": "say that you come back to {errand}",
    "ELSE": "say that there is something else",
}
"""What an environment's own first message does."""
_REFUSED, _LEFT_OUT = "say that {things} is not what you want for {list}", "it is sold out: ask to leave out {list}"


@dataclass(frozen=True, slots=True)
class Part:
    """One act as a part of a sheet."""

    kind: str
    """The kind of the act, as in ``ActKind``."""
    says: str
    """What it does, in plain words with places."""
    places: Mapping[str, str]
    """Text that fills each place, by name."""
    groups: tuple[tuple[str, ...], ...] = ()
    """Names of places that belong together: an item, then its facts."""
    about: str = ""
    """Id of the environment that it belongs to; ``ARRIVAL`` for a status with a date. In a first message: what it asks."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """All that one message must say."""

    parts: tuple[Part, ...]
    is_sloppy: bool = False
    """Sentences begin with a small letter."""

    @property
    def places(self) -> dict[str, str]:
        """Text that fills each place, by name."""
        return {name: text for part in self.parts for name, text in part.places.items()}

    def fill(self, wording: str) -> str:
        """Return a wording with its places filled: their articles, and a capital at the start of a sentence, put right.

        Raises :class:`KeyError` for a place that is not on the sheet.
        """
        places = self.places
        text, at = "", 0
        # "my {item_1}" with "the desk lamp" is "my desk lamp", but "a {item_1}" is what code says: "the desk lamp".
        wording = _DETERMINED.sub(lambda match: _determined(match, places), wording)
        for match in PLACE.finditer(wording):
            text += wording[at : match.start()]
            said = places[match[1].removesuffix("_bare")]
            if match[1].endswith("_bare"):
                said = _ARTICLE.sub("", said)
            if _STARTS.search(text) and not self.is_sloppy:
                said = said[:1].upper() + said[1:]
            text, at = text + said, match.end()
        return text + wording[at:]


def _determined(match: re.Match[str], places: Mapping[str, str]) -> str:
    """Return a place with its determiner, of which only one may stay: the place's own article, or "my" and the like."""
    word, name = match[1], match[2]
    if not _ARTICLE.match(places[name]):
        return match[0]
    return f"{{{name}}}" if word.lower() in ("a", "an", "the") else f"{word} {{{name}_bare}}"


def sheet_of(acts: Sequence[Act], env_id: str, seed: int, *, is_sloppy: bool = False) -> Sheet:
    """Return the sheet of a message; ``seed`` chooses the spelling of its values.

    ``env_id`` is the environment of the episode: what a first message is about where its act does not say so.
    """
    writer = _Writer(Draws(stream(seed, "places")))
    return Sheet(tuple(writer.part(act, act.intent or env_id) for act in acts), is_sloppy)


class _Writer:
    """Numbers places and fills them."""

    def __init__(self, draws: Draws) -> None:
        self._draws = draws
        self._count: Counter[str] = Counter()
        self._places: dict[str, str] = {}

    def part(self, act: Act, env_id: str) -> Part:
        """Return an act as a part of a sheet."""
        self._places = {}
        own = self._own_places(act)
        groups = tuple(self._group(act, mention, own) for mention in act.mentions)
        title = self._place("title", f'"{act.title}"') if act.title else ""
        things = [self._place("thing", f"the {LABELS.get(name, name.replace('_', ' '))}") for name in act.attributes]
        listed = "; ".join(" ".join(f"{{{name}}}" for name in group) for group in groups if group)
        if title:
            listed = f"{{{title}}}" + (f" (not {listed})" if listed else "")
        about = _asked(act, env_id) if act.kind in FIRST else env_id
        said = joined([f"{{{name}}}" for name in things]) or "that"
        marks = {name: f"{{{place}}}" for name, place in own.items()}
        says = _words(act, about).format_map({"list": listed or "that", "things": said, **marks})
        return Part(act.kind.value, says, self._places, tuple(filter(None, groups)), about)

    def _place(self, name: str, text: str) -> str:
        self._count[name] += 1
        numbered = f"{name}_{self._count[name]}"
        self._places[numbered] = text
        return numbered

    def _own_places(self, act: Act) -> dict[str, str]:
        """Return the numbered places of an environment's own sentences, by their names there."""
        if act.bank is None:
            return {}
        texts, names = dict(act.places), Formatter().parse(act.bank["plain"][0])
        named = {name: texts[name] for _, name, _, _ in names if name}
        is_noun = {name: any(text.endswith(each.singular) for each in act.mentions) for name, text in named.items()}
        return {
            name: self._place(name, f'"{text}"' if name == "title" else text)
            for name, text in named.items()
            if name not in ("item", "project") or not is_noun[name]
        }

    def _group(self, act: Act, mention: Mention, own: Mapping[str, str]) -> tuple[str, ...]:
        quantity, facts = split_quantity(mention)
        circumstances = [fact for fact in facts if fact.kind is not None and fact.kind.is_circumstance]
        others = [fact for fact in facts if fact not in circumstances]
        names = []
        if quantity is not None:
            value = float(str(quantity.constraint.value))
            names.append(self._place("count", counted(value, mention.singular, mention.plural, self._draws, [])))
        elif mention.singular and not own.keys() & {"title", "order", "question"} and (others or not circumstances or act.bank):
            given = [text for _, text in act.places if act.bank and text.endswith(mention.singular)]
            is_whole = bool(given) and _ARTICLE.match(given[0])
            names.append(self._place("item", given[0] if is_whole else f"the {mention.singular}"))
        for fact in others:
            phrase = after_noun(fact, self._draws, [])
            names.append(self._place("fact", f"preferably {phrase}" if fact.is_wish else phrase))
        names += [self._place("clause", after_should(fact, self._draws, [])) for fact in circumstances]
        return tuple(names)


def _asked(act: Act, env_id: str) -> str:
    """Return what a first message asks."""
    if act.bank is None:
        return "CART"
    if not act.places and not act.mentions:
        return "ELSE"
    if dict(act.places).keys() == {"errand"}:
        return "BACK"
    return "ARRIVAL" if dict(act.says).get("asks") == "status and arrival" else env_id


def _words(act: Act, about: str) -> str:
    """Return what an act does, with marks for its places."""
    if act.kind in FIRST and about in _ASKS:
        return _ASKS[about]
    if act.kind is ActKind.CORRECT and act.attributes:
        return _REFUSED
    if act.kind is ActKind.STOCKOUT_FALLBACK and not act.title and not any(each.facts for each in act.mentions):
        return _LEFT_OUT
    return _SAYS[act.kind]
