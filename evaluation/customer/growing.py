"""Growing the bank: a language model proposes frames offline, and each is checked and verified once (SPEC §7, Wording).

A proposal passes if it is a valid frame that nobody has said before, and if the model, asked a second time with the
places filled and without the first question, finds the same act and the same facts in it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

from ecom_rlve.envs.customer.model.endpoint import ChatMessage, Endpoint
from ecom_rlve.envs.language.bank_files import faults_of, variants
from ecom_rlve.envs.language.frames import COMMON, PLACE, Frames, known_frames
from ecom_rlve.streams import stream

_EXAMPLES = 8
"""Frames that a proposer is shown."""
_AT_ONCE = 10
"""Frames that are asked for in one request."""
_OTHERS = 5
"""Wrong acts beside the right one, among which the verifier chooses."""
_SEEDS = 2**31
_SAMPLES = {
    "thing": "a wall charger", "goods": "two throw blankets and a yoga mat", "title": "Brask Wall Charger",
    "noun": "desk lamp", "order": "my order of 3 May", "question": "how many days a gift card stays valid",
    "plan": "setting up a home office", "project": "home office", "errand": "the return", "item": "the desk lamp",
    "facts": "in black", "preds": "be black", "tags": "colour black", "clause": "the desk lamp should be black",
    "clauses": "I paid by card", "count": "three mugs", "list": "desk lamp: colour black", "things": "the size",
    "of_item": " for the desk lamp", "instead": " instead of the mug", "options": "the colour or the size",
    "date": "3 May", "money": "$40.00",
}  # fmt: skip
"""What stands in the places of all tables while a frame is verified."""
_PROPOSE = (
    "You write lines for the simulated customers of an online shop. Answer with a JSON array of strings and nothing "
    "else. Each line is {shape}, as a real person would say it, in British English, ASCII only. Words in "
    "braces are places that code fills: keep each of them exactly as it is, once. Say no number, price, colour, "
    "material or name; add no other fact, question or wish."
)
_SENTENCES = "one or two sentences"
_PHRASE = "a phrase that stands within a sentence, without a full stop"
_VERIFY = (
    'A customer of an online shop said something. Answer with a JSON object and nothing else: {"does": the letter of '
    'what the customer does, "says": an array with the phrases of the list that occur in the text}.'
)


@dataclass(slots=True)
class Growth:
    """What became of the proposals."""

    frames: dict[str, list[str]] = field(default_factory=dict)
    """Frames that passed, by table."""
    refused: Counter[str] = field(default_factory=Counter)
    """How many did not, by reason."""

    def toml(self) -> str:
        """Return the frames as a file for ``--bank``."""
        tables = (
            f"[{name}]\n{COMMON} = [\n" + "".join(f"  {json.dumps(each)},\n" for each in texts) + "]\n"
            for name, texts in self.frames.items()
        )
        return "\n".join(tables)


async def grow(endpoint: Endpoint, names: Sequence[str], count: int, seed: int, values: Collection[str] = ()) -> Growth:
    """Ask for ``count`` frames for each of the tables ``names``, and return those that pass.

    ``values`` are words that no frame may hold, see :func:`~ecom_rlve.envs.language.bank_files.read_bank`. Raises
    ``KeyError`` for an unknown table and :class:`EndpointError` where the endpoint fails.
    """
    growth = Growth()
    for name in names:
        frames = known_frames()[name]
        kept = growth.frames.setdefault(name, [])
        for batch in range(-(-count // _AT_ONCE)):
            for text in await _proposed(endpoint, frames, batch, seed):
                why = _fault(frames, kept, text, values) or await _unverified(endpoint, frames, text, seed)
                if why:
                    growth.refused[why] += 1
                elif len(kept) < count:
                    kept.append(text)
    growth.frames = {name: texts for name, texts in growth.frames.items() if texts}
    return growth


async def _proposed(endpoint: Endpoint, frames: Frames, batch: int, seed: int) -> list[str]:
    """Return the lines of one answer; none if the answer is no list of texts."""
    rng = stream(seed, "examples", frames.name, batch)
    known = [text for texts in frames.lists.values() for text in texts]
    shown = [known[at] for at in rng.permutation(len(known))[:_EXAMPLES].tolist()]
    asked = (
        f"What the line does: {frames.about}\nPlaces: {', '.join(f'{{{each}}}' for each in frames.places) or 'none'}"
        + (f", and one of {', '.join(f'{{{each}}}' for each in frames.one_of)}" if frames.one_of else "")
        + "\nExamples:\n"
        + "\n".join(variants(each)[0] for each in shown)
        + f"\nWrite {_AT_ONCE} more, each different from the others and from the examples."
    )
    system = _PROPOSE.format(shape=_PHRASE if frames.is_phrase else _SENTENCES)
    return [each for each in _json_in(await _said(endpoint, system, asked, rng), list) if isinstance(each, str)]


def _fault(frames: Frames, kept: Sequence[str], text: str, values: Collection[str]) -> str:
    """Return why a proposal is no frame; empty if it is one."""
    faults = list(faults_of({frames.name: {COMMON: [*kept, text]}}, values))
    return faults[-1][1] if faults else ""


async def _unverified(endpoint: Endpoint, frames: Frames, text: str, seed: int) -> str:
    """Return why the filled frame is not understood as what it should say; empty if it is."""
    rng = stream(seed, "verification", frames.name, text)
    others = [each for name, each in sorted(known_frames().items()) if name != frames.name]
    choices = [frames, *(others[at] for at in rng.permutation(len(others))[:_OTHERS].tolist())]
    order = [choices[at] for at in rng.permutation(len(choices)).tolist()]
    letters = {chr(ord("A") + at): each for at, each in enumerate(order)}
    phrases = {place: _SAMPLES[place].strip() for place in PLACE.findall(variants(text)[0])}
    offered = sorted({*phrases.values(), *(_SAMPLES[place].strip() for place in ("count", "facts", "things"))})
    asked = "\n".join(
        [
            f"Text: {variants(text)[0].format_map(_SAMPLES)}",
            *(f"{letter}: {each.about}" for letter, each in letters.items()),
            f"Phrases: {json.dumps(offered)}",
        ]
    )
    found = _json_in(await _said(endpoint, _VERIFY, asked, rng), dict)
    if letters.get(str(found.get("does"))) is not frames:
        return "understood as something else"
    said = found.get("says")
    heard = {each for each in said if isinstance(each, str)} if isinstance(said, list) else set()
    return "" if heard == set(phrases.values()) else "other facts understood"


async def _said(endpoint: Endpoint, system: str, asked: str, rng: Any) -> str:
    messages: list[ChatMessage] = [{"role": "system", "content": system}, {"role": "user", "content": asked}]
    return (await endpoint.complete(messages, int(rng.integers(_SEEDS)))).text


def _json_in(text: str, kind: type[Any]) -> Any:
    """Return the JSON value of a kind, a list or an object, that an answer holds; an empty one if it holds none."""
    opening, closing = ("[", "]") if kind is list else ("{", "}")
    try:
        found = json.loads(text[text.index(opening) : text.rindex(closing) + 1])
    except (ValueError, RecursionError):
        return kind()
    return found if isinstance(found, kind) else kind()
