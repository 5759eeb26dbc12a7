"""What an agent's message claims: that things are sold out, that the work is done.

Works on casefolded text. Questions, conditions and denials ("is it sold out?", "if it is sold out", "it is not sold
out") claim nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable

ITEM_MARK = "\ue000"
"""Mark before an item's number, which together replace the item in rewritten text. A character for private use, which
is removed from messages."""

FindItems = Callable[[str], tuple[int, ...]]
"""Returns the items that a text names, in order."""

_SOLD_OUT = re.compile(
    r"\b(?:(?<!\bthe )(?<!\ba )(?<!\byour )sold-out|sold ?out|"
    r"out[ -]of[ -]stock|unavailable|ran out|no stock|none (?:left|in stock)|no more in stock"
    r"|(?:no longer|not|isn't|aren't|wasn't|weren't)(?: (?:currently|any longer|now|actually|presently))?"
    r" (?:available|in stock|carried|stocked))\b"
)
_HINTS = ("sold", "stock", "availab", "ran out", "none left", "carried")
_CLAUSE_END = re.compile(
    r"[,;()]|\s[-–—]+\s|—|(?<= )(?=(?:because|while|whereas|although|though|since)\b)|\b(?:but|however|so)\b"
)
_DENIED = re.compile(
    r"(?:\bnot|\bnever|n't|\bno longer)\s+(?:\w+\s+){0,2}$"
    r"|\b(?:nothing|none|neither|nobody|no (?:item|product|thing))\b"
)
_CONDITIONAL = re.compile(
    r"\b(?:if|whether|in case|unless|until|once|before|hope|suppose|assuming)\b"
    r"|\b(?:might|may|could|would|will|should|can) (?:\w+ )?(?:be|become|get|go|have been|appear) (?:\w+ )?$"
)
_INTERROGATIVE = re.compile(
    r"\s*(?:(?:and|but|so|or|ok|okay|also|then|please)\s+)*"
    r"(?:(?:is|are|was|were|has|have|do|does|did)\s+(?:the|it|this|that|these|those|they|your|my|any|there|all|you|i|we)"
    r"|can|could|would|will|should|shall|what|how|why|when|where|who|which(?!\s+(?:is|are|was|were|has)\b))\b"
)
_BARE_INTERROGATIVE = re.compile(r"\s*(?:is|are|was|were|has|have|do|does|did|which)\b")
_ASKS_AFTERWARDS = re.compile(r"\b(?:what|which|would|do|shall|should|can|could|how|may)\b")
_GIVES_REASON = re.compile(r"\s*(?:and\s+)?(?:since|as|because|given|now that|which|although|though)\b")
_VERB = re.compile(
    r"\b(?:is|are|was|were|has|have|had|added|put|found|checked|see|saw|looks?|exists?|comes?|remains?|got|removed)\b"
)

_PRONOUN = re.compile(r"\b(?:it|they|that|this|these|those|everything)\b")
_MOST_VERBS = 8
"""How many verbs of a clause, counted from its end, are tried as the start of a subject. This bounds the cost."""
_NAME_WORDS = 6
"""Most words of a clause that only names an item."""

_DONE = re.compile(
    r"\b(?:(?<!shall )(?<!should )(?<!can )(?<!could )(?<!may )(?<!if )(?<!did )(?<!do )"
    r"(?:i|we)(?:'ve| have|'d| had)?(?: (?:now|just|already|also|successfully|both|all|gone ahead and))*"
    r" (?:added|put|placed|updated|changed|removed|replaced|swapped|adjusted|set|fixed|corrected|completed|finished"
    r"|returned|exchanged|initiated|processed|switched|increased|reduced)\b"
    r"|(?:your|the) (?:\w+ )?(?:cart|basket|order|return|exchange|list|selection|items?|products?) (?:is|are|has been"
    r"|have been|now|should now|contains|holds|includes|looks) ?(?:now |all |been |be )*"
    r"(?:ready|complete|completed|done|set|updated|correct|placed|prepared|added|filled|in (?:the|your) cart|contains?"
    r"|holds?|has|have|the|one|two|three|four|five|\d)"
    r"|(?:does|do|did) (?:this|that|it|these|those|everything|all|the cart|your cart|the order|the selection)(?: \w+)?"
    r" (?:look|seem|sound|match|fit|work|suit|appear)\b"
    r"|(?:is|are) (?:this|that|it|these|everything|all|the cart|your cart|the order)(?: \w+){0,4}"
    r" (?:right|correct|ok|okay|fine|good|alright|what you (?:want|need|asked|ordered|wanted|meant))\b(?! (?:if|to)\b)"
    r"|(?:everything|all)(?: \w+){0,3}(?:'s| is| are)(?: now)?"
    r" (?:done|set|ready|complete|correct|in (?:place|your|the))"
    r"|all (?:done|set)\b|(?:it|this|that|they|both) (?:is|are) now in (?:your|the) (?:cart|basket)"
    r"|(?:please|kindly|you) (?:please )?(?:confirm|check|review|verify) (?:that |if |whether )?"
    r"(?:this|everything|it is|it's|the cart|your cart|the order|all)\b"
    r"|i(?:'m| am)(?: all| now)? (?:done|finished)\b"
    r"|(?:has|have|was|were) (?:now |just |already |both |all )*(?:been )?(?:added|placed in|put in)\b"
    r"|(?<![\w,;:'-]\s)(?:done|added|finished|completed)\b)"
)


_WORK = r"(?:(?:the|your|this|my|our) )?(?:cart|basket|order|list|selection|choice|return|it|this|that|these|those)"
_START = r"(?:^|[.!,;:]\s*)"
_END = r"\s*(?:[?,;]|$)"
_ASKS_WHETHER_RIGHT = re.compile(
    "|".join(
        (
            r"\b(?:did|do|have) (?:i|we) (?:now )?(?:get|got|have) (?:it|this|that|everything|all)"
            r"(?: \w+){0,3}? (?:right|correct)",
            r"\b(?:have|did) (?:i|we) (?:forg[eo]t(?:ten)?|miss(?:ed)?|overlook(?:ed)?) (?:any|some)thing\b",
            r"\bis (?:there )?(?:any|some)thing (?:that (?:is|looks) )?(?:wrong|missing|amiss|incorrect|off)\b",
            rf"{_START}(?:is )?anything (?:wrong|missing|to (?:correct|change|fix))\b",
            rf"\bare you (?:happy|satisfied|okay|ok|fine|content)(?: with {_WORK})?{_END}",
            r"\b(?:shall|should|can|may|could) (?:i|we) (?:now )?"
            rf"(?:check ?out|finish|finali[sz]e|complete|place|submit|confirm|close)(?: {_WORK})?(?: now)?{_END}",
            r"\bare we (?:done|good|all set)\b",
            rf"{_START}(?:all|is everything|everything) (?:good|in order|fine|set|okay|ok)\b",
            r"\bready to (?:check ?out|order|go)\b|\bgood to go\b|\bdo you approve\b",
            r"\bwhat do you think of (?:it|the|your|this)\b",
            rf"\bdo(?:es)? {_WORK} (?:now )?(?:meet|suit|cover|satisfy) your\b",
            r"\b(?:would you like|do you want|do you wish) (?:me )?to (?:change|correct|fix) (?:any|some)thing\b",
            rf"{_START}any (?:changes|corrections|mistakes|errors|objections)\b",
            rf"\b(?:is|are) {_WORK} (?:now )?(?:as you|what you had in mind|the (?:right )?ones? you)\b",
            rf"\bis {_WORK} the right one\b",
            r"\b(?:have|take) a look at (?:the|your) (?:cart|basket|order|selection|list)\b",
            r"\b(?:tell me|let me know) (?:if|whether) (?:any|some)thing (?:is|looks|needs|must|should|has to)\b",
            rf"{_START}please confirm\s*[?.!]*\s*$|{_START}(?:right|correct|okay|ok|agreed)\s*\?",
        )
    )
)
"""Ways to ask whether the work is right as it stands."""


def may_claim_stockout(folded: str) -> bool:
    """Tell cheaply whether a casefolded text may say that something is sold out."""
    return any(hint in folded for hint in _HINTS)


def says_done(text: str) -> bool:
    """Tell whether the text claims that work is done, or asks whether it is right as it stands."""
    return _DONE.search(text) is not None or _ASKS_WHETHER_RIGHT.search(text) is not None


def sold_out_claims(sentence: str, find_items: FindItems) -> tuple[tuple[int | None, ...], str]:
    """Return the items that a sentence claims to be sold out, and the sentence without these claims.

    A claim that names no item gives ``None``. A clause with a claim is reduced to the items in it, so that none of its
    other words is read as something asked for.
    """
    if not may_claim_stockout(sentence):
        return (), sentence
    clauses = _clauses(sentence)
    named: list[tuple[int, ...]] | None = None
    is_question = sentence.rstrip(" \"')”").endswith(("?", "？"))
    claimed: list[int | None] = []
    kept: list[str] = []
    for at, clause in enumerate(clauses):
        match = _SOLD_OUT.search(clause)
        is_asked = is_question and at == len(clauses) - 1
        if match is None or not _is_stated(clause, match, at, is_asked=is_asked, is_question=is_question):
            kept.append(clause)
            continue
        if named is None:
            named = [find_items(each) for each in clauses]
        claimed += _named_in(clauses, named, at, match, find_items) or [None]
        asked_afterwards = _ASKS_AFTERWARDS.search(clause, match.end())
        rest = clause[asked_afterwards.start() :] if asked_afterwards else ("?" if is_asked else "")
        kept.append(_without_values(clause[: match.start()], find_items) + rest)
    return tuple(claimed), ", ".join(kept)


def _clauses(sentence: str) -> list[str]:
    return [clause for clause in _CLAUSE_END.split(sentence) if clause.strip()]


def _without_values(text: str, find_items: FindItems) -> str:
    return "".join(f"{ITEM_MARK}{item} , " for item in find_items(text))


def _is_stated(clause: str, match: re.Match[str], at: int, *, is_asked: bool, is_question: bool) -> bool:
    before = clause[: match.start()]
    if _DENIED.search(before) or _CONDITIONAL.search(before):
        return False
    if is_asked and not (_ASKS_AFTERWARDS.search(clause, match.end()) or _GIVES_REASON.match(clause)):
        return False
    if at and _GIVES_REASON.match(clause):
        return True
    if (is_question or not at) and _INTERROGATIVE.match(clause):
        return False
    return bool(at) or not _BARE_INTERROGATIVE.match(clause)


def _named_in(
    clauses: list[str], named: list[tuple[int, ...]], at: int, match: re.Match[str], find_items: FindItems
) -> list[int]:
    """Return the items that the claim in clause ``at`` is about: its subject, the items after it, or the last named."""
    before = clauses[at][: match.start()]
    subject = _subject(before, find_items)
    if subject:
        return [*_listed_before(clauses, named, at), *subject]
    after = find_items(clauses[at][match.end() :])
    if after or _PRONOUN.search(before):
        return list(after)
    return list(next(filter(None, reversed(named[:at])), ()))


def _subject(before: str, find_items: FindItems) -> tuple[int, ...]:
    """Return the items in the subject of the last verb: "the lamp is here and the top is" gives the top."""
    verbs = [match.end() for match in _VERB.finditer(before)]
    for cut in reversed([0, *verbs[-_MOST_VERBS:]]):
        named = find_items(before[cut:])
        if named:
            return named
    return ()


def _listed_before(clauses: list[str], named: list[tuple[int, ...]], at: int) -> list[int]:
    """Return the items of the preceding clauses that are mere names: "the lamp, the top and the fan are sold out"."""
    listed: list[int] = []
    for clause, items in zip(reversed(clauses[:at]), reversed(named[:at]), strict=True):
        if len(items) != 1 or _VERB.search(clause) or len(clause.split()) > _NAME_WORDS:
            break
        listed[:0] = items
    return listed
