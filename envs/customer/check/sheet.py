"""What a message must say, as a sheet of opaque places, and how code fills them (SPEC §7).

``{fact_1}`` stands for a whole phrase with its operator and value ("costing at most $25.00"), so that whoever words the
message cannot say a wrong value: every value, name and number is in a place. Places are named after what they hold:
``item``, ``count`` ("three throw blankets"), ``title``, ``fact`` (a phrase that follows a noun), ``clause`` (a
circumstance: "I paid by card"), ``thing`` (the name of an attribute), and what an environment's first message is about.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
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
_DETERMINED = re.compile(
    r"\b(an?|the|my|our|your|this|that) \{((?:item|count|title|order|thing|errand)_\d+)\}", re.IGNORECASE
)
_STARTS = re.compile(r"(?:^|[.!?] +)$")

_SAYS: Mapping[str, str] = {
    "open": "I am looking for {list}.",
    "next": "I am also looking for {list}.",
    "answer": "I would like {list}.",
    "dont_know": "I do not know {things}.",
    "no_preference": "I do not mind about {things}.",
    "nothing_left": "I have told you everything.",
    "confirm": "Yes, that is exactly what I wanted.",
    "correct": "That is wrong; I asked for {list}.",
    "skip": "Let's leave {list} and move on.",
    "reject": "Something there is not what I asked for.",
    "continue": "Please go on.",
    "stockout_fallback": "Then I'll take {list} instead.",
    "clarify": "Which one do you mean?",
    "still_there": "Are you sure? I can still see {list} in the shop.",
    "switch": "Wait, there is something else first.",
    "give_up": "This leads nowhere, I give up. Goodbye.",
    "close": "That's all for today. Goodbye.",
    "revise": "I changed my mind, make it {list} instead.",
}
"""What each kind of act says, as plainly as can be; ``{list}`` are its items with their facts."""
_ASKS: Mapping[str, str] = {
    "PD": "Could you recommend {list}?",
    "SUB": "{title} is sold out. Is there anything similar?",
    "RETURN": "I would like to return {list}.",
    "STATUS": "What is the status of {order}?",
    "ARRIVAL": "What is the status of {order}, and when does it arrive?",
    "POLICY": "Could you tell me {question}?",
    "BUNDLE": "I'm {plan} and need {list}.",
    "BACK": "Now back to {errand}.",
    "ELSE": "There is something else.",
}
"""What an environment's own first message says."""
_NOT_WANTED = "That is not {things} I want."
_LEFT_OUT = "Then leave {list} out, please."
_SKIPPED = "Let's leave {things} and move on."


@dataclass(frozen=True, slots=True)
class Part:
    """One act as a part of a sheet."""

    kind: str
    """The kind of the act, as in ``ActKind``."""
    says: str
    """What it says, in plain words with all of its places: a wording that passes the check."""
    places: Mapping[str, str]
    """Text that fills each place, by name."""
    groups: tuple[tuple[str, ...], ...] = ()
    """Names of places that belong together: an item, then its facts."""
    about: str = ""
    """Id of the environment that it belongs to; in a first message what it asks, ``ARRIVAL`` for status and date."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """All that one message must say."""

    parts: tuple[Part, ...]
    is_sloppy: bool = False
    """Sentences begin with a small letter."""

    @property
    def plain(self) -> str:
        """The plainest wording."""
        return " ".join(part.says for part in self.parts)

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
        groups = tuple(filter(None, (self._group(act, mention, own) for mention in act.mentions)))
        title = self._place("title", f'"{act.title}"') if act.title else ""
        for name in act.attributes:
            self._place("thing", f"the {LABELS.get(name, name.replace('_', ' '))}")
        about = _asked(act, env_id) if act.kind in FIRST else env_id
        says = _plain(act, about, own, groups, self._places, title)
        return Part(act.kind.value, says, self._places, groups, about)

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
        elif (
            mention.singular
            and not own.keys() & {"title", "order", "question"}
            and (others or not circumstances or act.bank)
        ):
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


def _plain(
    act: Act,
    about: str,
    own: Mapping[str, str],
    groups: Sequence[tuple[str, ...]],
    names: Iterable[str],
    title: str,
) -> str:
    """Return an act in plain words around its places."""
    frame = _frame(act, about)
    marks = {name: f"{{{place}}}" for name, place in own.items()}
    things = joined([f"{{{name}}}" for name in names if name.startswith("thing")])
    clauses = [name for name in names if name.startswith("clause")]
    facts = [[name for name in group if name not in clauses] for group in groups]
    phrases = [_phrase(group) for group in facts if group]
    # Only the first of these things goes back, or is the project.
    first, further = (phrases[:1], phrases[1:]) if frame in (_ASKS["RETURN"], _ASKS["BUNDLE"]) else (phrases, [])
    listed, also = joined(first), [f"I want {phrase}." for phrase in further]
    if title:
        listed = f"{{{title}}}" + (f" instead of {listed}" if listed else "")
        frame = frame.replace(" instead", "") if "instead of" in listed else frame
    if things and listed:
        things += f" of {listed}"
    elif listed and "{list}" not in frame:
        also.append(f"It should be {listed}.")
    if "{list}" in frame and not listed and clauses:
        frame = "That is wrong." if act.kind is ActKind.CORRECT else ""
    said = frame.format_map({"list": listed or "that", "things": things or "that", **marks})
    return " ".join([*([said] if said else []), *also, *(f"{{{name}}}." for name in clauses)])


def _phrase(group: Sequence[str]) -> str:
    """Return "{item_1} {fact_1} and {fact_2}"."""
    marks = [f"{{{name}}}" for name in group]
    if group[0].startswith("fact"):
        return joined(marks)
    return " ".join([marks[0], *([joined(marks[1:])] if marks[1:] else [])])


def _frame(act: Act, about: str) -> str:
    """Return the sentence of an act, with marks for its places."""
    if act.kind in FIRST and about in _ASKS:
        return _ASKS[about]
    if act.kind is ActKind.CORRECT and act.attributes:
        return _NOT_WANTED
    if act.kind is ActKind.SKIP and act.attributes:
        return _SKIPPED
    if act.kind is ActKind.STOCKOUT_FALLBACK and not act.title and not any(each.facts for each in act.mentions):
        return _LEFT_OUT
    return _SAYS[act.kind]
