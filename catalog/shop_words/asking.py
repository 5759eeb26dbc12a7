"""Which words of a query say what is sought. Talk around it, stop words, amounts of money and bounds do not."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from ecom_rlve.catalog.shop_words.splitting import MAX_WORDS, forms_of, singular_word, split_pieces

_BOUNDS = re.compile(
    r"[$€£¥]\s*\d[\d.,]*k?"
    r"|\d[\d.,]*\s*(?:dollars?|bucks?|usd|eur|euros?|gbp|cents?)\b"
    r"|\b\d+(?:\.\d+)?[ -]?(?:stars?|days?)\b"
    r"|\b\d+(?:\.\d+)? out of (?:5|five)\b",
    re.IGNORECASE,
)
"""Shoppers set bounds for prices, ratings and days; bounds are filters, and these numbers are no words of a product."""
_SENTENCE_ENDS = frozenset(".!?;:")
JOINING = frozenset(("and", "or"))
"""Words between phrases that may each name something sought."""
_DESCRIBING = frozenset(
    """
    above around as at because behind beside by for from in inside into like matching near on onto over since so that to
    under using when where whereas which while with without
    """.split()
)
"""Words that open a clause which only describes what was said before it."""
_MARKS = _SENTENCE_ENDS | {","}
_ENDS = _MARKS | JOINING | _DESCRIBING
_MOST_PIECES = 2 * MAX_WORDS
_CACHED = 256
_STOP_WORDS = frozenset(
    map(
        singular_word,
        """
        a about after again all also am an and another any anyone anything are aren as ask at be because been
        before being below best better but by can cannot could couldn did didn do does doesn doing don dear due
        each either else etc ever every few find for from further get getting gets give given gives go goes
        going good got great had has hasn have haven having he hello help her here hers hey hi him his how
        however i if in into is isn it its itself just kind know least less let like ll look looking looks lot
        make many may maybe me mean might more most much must my myself need needed needs never next nice no nor
        not now of oh ok okay on once one only onto or other otherwise ought our ours out own perhaps please
        possible preferably prefer quite rather re really right said say says see seem shall she should shouldn
        show since so some someone something somewhere sort still such sure take tell than thank thanks that the
        their theirs them then there these they thing things think this those though through thus till to too
        try under unless until upon us ve very via want wanted wanting wants was way we well were what whatever
        when where whether which while who whom whose why will wish with within without won wonder wondering
        would wouldn yes yet you your yours yourself buy buying purchase shopping shop shopper order priced
        price prices cost costs budget cheap cheaper cheapest affordable inexpensive rated rating ratings review
        reviews delivered delivery deliver shipping available maximum max minimum min above around between
        exceed
        """.split(),
    )
)


class Clause(NamedTuple):
    """Words that follow each other in a query."""

    opener: str
    """The word that parts it from those before: "for", "and"; empty at the start of a sentence and after a comma."""
    words: tuple[str, ...]
    is_fronted: bool = False
    """Whether a describing clause comes first: "for my phone, a case"."""

    @property
    def is_describing(self) -> bool:
        """Whether it only describes what stands before it, or what follows a comma where it is fronted."""
        return self.opener in _DESCRIBING


class Asking(NamedTuple):
    """A query, read once."""

    groups: tuple[tuple[str, ...], ...]
    """The different words that say what is sought, or all words if there is none of that sort. Several readings of one
    word ("usb-c") are a group."""
    sentences: tuple[tuple[Clause, ...], ...]
    """The clauses of each sentence, in order; none is empty."""

    @property
    def words(self) -> tuple[str, ...]:
        """The different words of the groups."""
        return tuple(dict.fromkeys(chain.from_iterable(self.groups)))


@lru_cache(_CACHED)
def read_query(query: str) -> Asking:
    """Return the words of a query.

    >>> asking = read_query("Hi! I'm looking for a women's rain jacket with pockets, 300 g, under $45.50")
    >>> asking.groups
    (('woman',), ('rain',), ('jacket',), ('pocket',), ('300', '300g'))
    >>> [[(clause.opener, " ".join(clause.words)) for clause in sentence] for sentence in asking.sentences]
    [[('', 'hi')], [('', 'i looking'), ('for', 'a woman rain jacket'), ('with', 'pocket'), ('', '300 300g')]]
    """
    pieces = split_pieces(_BOUNDS.sub(" ", query))[:_MOST_PIECES]
    groups = dict.fromkeys(forms_of(piece) for piece in pieces if piece not in _MARKS)
    said = [group for group in groups if len(group) > 1 or group[0] not in _STOP_WORDS]
    return Asking(tuple(said or groups), tuple(_sentences(pieces)))


def _sentences(pieces: Iterable[str]) -> Iterator[tuple[Clause, ...]]:
    """Yield the clauses of each sentence that has words."""
    clauses: list[Clause] = []
    opener, words, is_fronted = "", list[str](), False
    for piece in chain(pieces, "."):
        if piece not in _ENDS:
            words.extend(forms_of(piece))
            continue
        if words:
            clauses.append(Clause(opener, tuple(words), is_fronted))
        if piece in _SENTENCE_ENDS:
            if clauses:
                yield tuple(clauses)
            clauses = []
        # "Hi, for my phone": nothing stands between the comma and the word that opens the clause.
        is_fronted = piece in _DESCRIBING and not words and not opener
        opener, words = "" if piece in _MARKS else piece, []


@lru_cache(4096)
def is_stop_word(word: str) -> bool:
    """Tell whether a word, as :func:`split_words` returns it, says nothing about a product."""
    return word in _STOP_WORDS
