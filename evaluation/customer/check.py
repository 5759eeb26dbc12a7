"""How often the check of wordings is right: files of wordings that should pass, and of lies that should not.

``python -m ecom_rlve.evaluation.customer.check FILE …`` prints for each file how many wordings pass, and which others
do not. A line is a JSON object: ``env``, ``acts`` (each with ``kind``, ``says`` and ``places``: name → text), the
``text`` with its places, and in a lie ``why`` it is one; where an act has ``groups`` of places that belong together, it
says ``about`` what it is, too; else both are found in what it ``says``. ``--show`` prints the lines judged wrongly.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from ecom_rlve.envs.customer.check.check import WordingCheck
from ecom_rlve.envs.customer.check.sheet import FIRST, Part, Sheet
from ecom_rlve.envs.customer.outcome import Finding

_FACTS = ("fact", "clause")
_ASKS = (
    ("BACK", r"comes? back"),
    ("ELSE", r"interrupt"),
    ("SUB", r"sold out"),
    ("ARRIVAL", r"status.*(?:arriv|deliver)"),
    ("STATUS", r"status"),
    ("RETURN", r"send back|exchange this|return this"),
    ("BUNDLE", r"planning"),
    ("POLICY", r"in their case|return something"),
    ("PD", r"product of this kind|recommend"),
    ("CART", r""),
)
"""What a first message asks, by what is written of it."""
_OWNER = re.compile(r"(\w+_\d+) is about (\w+)")


class Wording(NamedTuple):
    """A wording of a file."""

    number: int
    sheet: Sheet
    text: str
    is_lie: bool


class Judged(NamedTuple):
    """A wording of a file, and what the check found in it."""

    number: int
    text: str
    is_lie: bool
    found: Finding | None

    @property
    def is_right(self) -> bool:
        """Whether the check is right."""
        return (self.found is not None) == self.is_lie


def wordings(path: Path) -> Iterator[Wording]:
    """Read every line of a file; raises ``ValueError`` that names a line of another shape."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            entry = json.loads(line)
            sheet = Sheet(tuple(_part(act, entry["env"]) for act in entry["acts"]))
            wording = Wording(number, sheet, entry["text"], "why" in entry)
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path.name}, line {number}: {error!r}") from error
        yield wording


def judged(path: Path) -> Iterator[Judged]:
    """Check every line of a file; raises as :func:`wordings` does."""
    for each in wordings(path):
        yield Judged(each.number, each.text, each.is_lie, WordingCheck(each.sheet)(each.text))


def _part(act: Mapping[str, Any], env_id: str) -> Part:
    kind, says, places = act["kind"], act.get("says", ""), act.get("places", {})
    if "groups" in act:
        return Part(kind, says, places, tuple(map(tuple, act["groups"])), act["about"])
    about = next(name for name, pattern in _ASKS if re.search(pattern, says)) if kind in FIRST else env_id
    return Part(kind, says, places, _groups(list(places), says), about)


def _groups(names: Sequence[str], says: str) -> tuple[tuple[str, ...], ...]:
    """Return the facts of each item: as it is written, else those that follow it; all are a single item's."""
    heads = [name for name in names if name.startswith(("item", "count"))]
    facts = [name for name in names if name.startswith(_FACTS)]
    owners = dict(_OWNER.findall(says)) or _owners(names, heads)
    if len(heads) < 2:
        return ((*heads, *facts),) if heads or facts else ()
    return tuple((head, *(name for name in facts if owners.get(name) == head)) for head in heads)


def _owners(names: Sequence[str], heads: Sequence[str]) -> dict[str, str]:
    owners, head = {}, ""
    for name in names:
        head = name if name in heads else head
        owners[name] = head
    return owners


def main(
    paths: Annotated[list[Path], typer.Argument(help="Files of wordings, one JSON object a line.")],
    show: Annotated[bool, typer.Option(help="Print the wordings that are judged wrongly.")] = False,
) -> None:
    """Print how many wordings of each file pass."""
    for path in paths:
        found = list(judged(path))
        for is_lie, what in ((False, "good wordings"), (True, "lies")):
            some = [each for each in found if each.is_lie is is_lie]
            if some:
                passed = sum(each.found is None for each in some)
                print(f"{path.name}: {passed} of {len(some)} {what} pass ({passed / len(some):.3f})")
        outcomes = Counter(each.found.outcome for each in found if each.found)
        print("  refused:", ", ".join(f"{outcome} {count}" for outcome, count in outcomes.most_common()))
        for each in found if show else ():
            if not each.is_right:
                print(f"  {each.number}: {each.text}\n    {each.found.explanation if each.found else 'passes'}")


if __name__ == "__main__":
    typer.run(main)
