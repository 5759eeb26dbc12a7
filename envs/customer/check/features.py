"""What the classifier of wordings sees of one: its words in their order, and where they stand towards the places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from ecom_rlve.envs.customer.check.sheet import FIRST, Sheet
from ecom_rlve.envs.customer.check.words import class_of

_TOKEN = re.compile(r"\{([a-z]+)\w*\}|[a-z]+(?:'[a-z]+)?|[.!?,;:]|-(?= )")
_STOPS = frozenset(".!?")
_BREAKS = frozenset((*".!?,;:-<>", *"and but so because since while though although as".split()))
"""What ends a clause."""
_PERSONS = frozenset("i i'm i've i'd i'll me my we we're we've our he she his her they their mum dad kids".split())
_POINTERS = frozenset("it one ones that this them those these something".split())
_TELLING = frozenset(("FACT", "COUNT", "TITLE", "CLAUSE"))
_OPERATORS = frozenset("not no but or if except and any all both each only".split())
"""Words that stand for themselves where others stand for their class."""
_FAR = 2
"""From so many words between on, a place is far."""
_LONG = 8
"""From so many tokens on, a clause is long."""


def labels_of(sheet: Sheet) -> list[str]:
    """Return what a sheet's message does: kinds of acts, and what its first messages ask."""
    return sorted({f"{part.kind}:{part.about}" if part.kind in FIRST else part.kind for part in sheet.parts})


def features(labels: Sequence[str], text: str) -> set[str]:
    """Return the features of a folded and spelled out text whose sheet has these labels.

    >>> sorted(each for each in features((), "{item_1} please?") if "please" in each and "?" not in each)
    ['< ITEM please', '< _ please', '@p|please', 'ITEM please', 'please', 'please _ >', 'please<00']
    """
    tokens = ["<", *(match[1].upper() if match[1] else match[0] for match in _TOKEN.finditer(text)), ">"]
    pairs = {f"{one} {other}" for one, other in pairwise(tokens)}
    found = {*tokens, *pairs}
    for one, middle, other in zip(tokens, tokens[1:], tokens[2:], strict=False):
        found |= {f"{one} {middle} {other}", f"{one} _ {other}"}
    found.update(f"{label}|{each}" for label in labels for each in (*tokens, *pairs))
    found.update(_relations(tokens))
    for is_break, clause in groupby(tokens, _BREAKS.__contains__):
        if not is_break:
            found.update(_clause(list(clause)))
    shapes = [token if _is_mark(token) or token in _OPERATORS else class_of(token) for token in tokens]
    found.update(f"~{' '.join(shapes[at : at + 3])}" for at in range(len(shapes) - 2))
    found.add(f"{'first' if any(':' in label for label in labels) else 'later'}{'?' in tokens}")
    return found


def _is_mark(token: str) -> bool:
    """Tell whether a token is a place or a sign."""
    return token.isupper() or not token[0].isalpha()


def _relations(tokens: Sequence[str]) -> Iterator[str]:
    """Yield for each word how it stands to the nearest place of its sentence on either side."""
    for at, word in enumerate(tokens):
        if not _is_mark(word):
            for side, others in (("<", tokens[at - 1 : 0 : -1]), (">", tokens[at + 1 : -1])):
                yield from _relation(word, side, others)


def _relation(word: str, side: str, others: Sequence[str]) -> Iterator[str]:
    is_parted = 0
    for between, other in enumerate(others):
        if other in _STOPS:
            return
        if other.isupper():
            where = f"{side}{min(between, _FAR)}{is_parted}"
            yield f"{word}{where}"
            yield f"#{class_of(word)}{where}{other}"
            return
        is_parted |= other in ",;:-"


def _clause(tokens: Sequence[str]) -> Iterator[str]:
    """Yield what a clause is about, with each of its words and their classes."""
    places = sorted({token for token in tokens if token.isupper()})
    about = "P" * (not _PERSONS.isdisjoint(tokens)) + "Q" * (not _POINTERS.isdisjoint(tokens))
    kind = ("T" if not _TELLING.isdisjoint(places) else "p" if places else "-") + about
    whole = ("+".join(places) or "-") + about
    yield f"@{kind}|{min(len(tokens), _LONG) // 2}"
    for word in tokens:
        if not word.isupper():
            yield f"@{kind}|{word}"
            yield f"@{kind}|{class_of(word)}"
            yield f"@{whole}|{class_of(word)}"
