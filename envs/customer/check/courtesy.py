"""What a text may say besides the facts: words of courtesy, and what the acts do anyway.

In a part of a text that tells no fact a model could put anything: that all is well, that the shop has none left, that
the agent should finish. So such a part must be one of the template bank's own, do what one of the acts does, or be
courtesy. No part may hold a word that a customer does not need besides the facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache

from ecom_rlve.envs.customer.check.cues import CORRECTING, DISAPPROVE, REQUIRED
from ecom_rlve.envs.customer.check.lexicon import (
    ENGLISH,
    LABEL_WORDS,
    WORD,
    bank_sentences,
    sentences_for,
    sentences_of,
)
from ecom_rlve.envs.customer.check.sheet import COVER, folded
from ecom_rlve.envs.language.acts import Act, ActKind

_PARTS = re.compile(
    r"[!?;\n]+|\.(?!\d)| [-–—] |[:(),](?!\d)|\b(?:and|but) |\b(?:so|then|because|since|while|if|as|which) (?=(?:"
    r"just|please|you|your|i|i'm|i'll|i've|i'd|it|it's|that|that's|this|we|do|don't|no|yes|there|there's|they|make)\b)"
)
_EDGES = " \"'(),-…"
_PLACE = re.compile(r"\{\w*\}|%s")
_JOINING = frozenset(
    """
    a about an and any are as be can could find for have i i'd i'm in is it like looking me must my need of or please
    should something that the thing this to want what with would you
    """.split()
)
"""Words that join the words of an act's own sentences."""
_HARMLESS = frozenset(
    """
    alternative appreciative arrives arriving asap asking assistance bother bunch called chat comes coming completes
    concludes confusion context costing costs couple delayed delighted delivered different doing eager excited
    explain extra fantastic folks grateful greatly happen happened happily having heard hearing here's hold honestly
    including kindness lifesaver listening little lots lovely mind mix-up named pardon patience pleased pleasure
    pressed priced properly rated rating reference rush set sincerely spare spend spent suggestion suggestions sure
    talking terribly thankful thankfully thoughts thrilled trouble truly uh um understand understanding weighing
    weighs welcome wondering yourself
    """.split()
)
"""Further words of courtesy and of telling facts, which the lexicon lacks. Some may be values of a catalog; such values
are refused before these words are looked at."""


def _any_of(lines: str) -> str:
    """Return a pattern of one of the alternatives, each on a line of its own."""
    return f"(?:{'|'.join(line.strip() for line in lines.strip().splitlines())})"


_VERY = r"(?:so |very |really |quite |a bit |a little |most )*"
_COURTESIES = _any_of(
    rf"""
    (?:hello|hiya|hi|heya|hey|yo|greetings|good (?:day|morning|afternoon|evening))(?: (?:there|hello|hi|to you|all))?
    (?:(?:many |a million |lots of )?thanks|thank you|thx|cheers|(?:much |greatly |really )?appreciated){{thanked}}
    i(?:'d| would)? (?:really |greatly |truly )?appreciate (?:it|that|your \w+|any help|the help){{thanked}}
    i(?:'d| would) be {_VERY}(?:grateful|thankful){{thanked}}
    (?:i )?(?:do )?hope you(?:'re| are) (?:doing |all |very )?(?:well|great|good|fine)
    (?:i )?hope (?:you(?:'re| are) having|you have|you had) an? \w+ (?:day|morning|afternoon|evening|week|weekend)
    (?:i )?hope (?:your|the) (?:day|week|morning|weekend) is going (?:well|great)
    (?:i )?hope (?:you can help(?: me)?(?: out)?|this helps|that helps)
    how are you(?: doing)?(?: today)?|have an? (?:\w+ )?(?:day|evening|one|weekend|time)|take care|see you(?: soon)?
    (?:it's |so |very |how )*(?:nice|lovely|great|good|a pleasure) to (?:meet|see|talk to) you
    (?:it's |so |very |how )*(?:nice|lovely|great|good) to have (?:some|your) help(?: with this)?
    (?:can|could|would|will) you (?:please |kindly |maybe |perhaps )?(?:help|assist)(?: me)?{{helped}}
    i (?:could (?:really )?use|need)(?: a| some| your)?(?: (?:little|quick|more))? (?:help|hand|advice){{helped}}
    i(?:'d| would) (?:love|like|appreciate)(?: some| your| any)?(?: (?:little|quick|more))? (?:help|advice){{helped}}
    help(?: me)?{{helped}}
    (?:i(?:'m| am) )?{_VERY}(?:excited|thrilled|delighted|busy|tired|late)(?: today| now)?
    (?:i(?:'m| am) )?in (?:such |quite )?a (?:bit of a |big )?(?:rush|hurry)(?: today| now)?
    (?:i(?:'m| am) )?(?:short on|short of|pressed for) time(?: today| now)?
    (?:i(?:'m| am) )?{_VERY}(?:curious|eager|looking forward)(?: to (?:see|hear|know|find out|hearing|seeing))?{{news}}
    i can(?:'t|not) wait(?: to (?:see|hear|know|find out))?{{news}}
    (?:my|the) (?:whole )?(?:weekend|week|day|morning) (?:was|has been) all about making a list
    i(?:'ve| have)? (?:just |finally )?(?:spent|found|had|have|got)(?: (?:the|my|some|all|a|whole|few|five))*{{spent}}
    (?:got|have) (?:only )?(?:five|a few|a couple of) minutes?(?: only)?|here (?:goes|we go)|let me (?:see|think)
    (?:sorry|apologies|pardon)(?: (?:about|for) (?:that|this|the (?:trouble|bother|confusion|mix-up)))?
    be quick|hurry(?: up)?|make it quick|as soon as possible|asap|let me know|any (?:ideas|suggestions|thoughts)
    you(?:'re| are) (?:a star|the best|very kind|so kind|wonderful|a lifesaver|amazing)
    (?:my )?(?:kind|best|warm)(?:est)? (?:regards|wishes)|regards|sincerely|best
    i(?:'m| am) (?:afraid|sorry)|(?:would|do) you (?:happen to )?know|i was (?:just )?wondering|i wonder
    oh|ah|well|so|and|but|then|also|now|great|lovely|hmm|um|uh|please|kindly|sir|madam
    honestly|really|actually|anyway|however|by the way|for context|for reference|if possible|if you don't mind
    next up|next|another thing|one more thing|(?:one |a )?(?:quick )?question|quick one|quick(?:ly)?
    """
)
_AFTER = {
    "thanked": r"(?: (?:so much|very much|a lot|a bunch|again|in advance|kindly|for asking|for (?:all )?(?:your|"
    r"the) (?:\w+ )?(?:help|time|patience|kindness|support|assistance|advice|understanding)))*",
    "helped": r"(?: out| today| here| now)*(?: with (?:this|that|it|something))?",
    "news": r"(?: (?:what|which|how|back|from|your|you|about|it|come|up|with|find|found|suggest|think|say|reply|"
    r"answer|suggestions?|ideas?|recommendations?|can|hear))*",
    "spent": r" (?:weekend|week|day|morning|time|minutes?)(?: (?:making|to|for|do|doing|my|a|the|some|this|"
    r"list|shopping|only|today))*",
}
_COURTESY = re.compile(rf"(?>{_COURTESIES})(?:[ ,]+(?>{_COURTESIES}))*+".format_map(_AFTER))
"""Phrases that tell nothing, alone or in a row. The groups are atomic: without backtracking no text takes long."""
_FURTHER = re.compile(
    r"(?:now |then |next |and |so |also |great |there is |there's |i have |on to |for |just )*"
    r"(?:something|an?|another|one more|the next)(?: quick| small)?(?: else| different| other| further)?"
    r"(?: matter| thing| topic| question| request)?(?: for you| too| as well| then| now| please)?"
)
_LOOK_UP = re.compile(
    r"(?:please |kindly |could you |can you |you(?:'d| would|'ll| will) (?:have|need) to |you should |best to )*"
    r"(?:check|look)(?: (?:that|this|it|those|them|these))?(?: (?:up|for me|yourself))*"
)
_DOES: Mapping[ActKind, re.Pattern[str]] = {
    ActKind.NEXT: _FURTHER,
    ActKind.SWITCH: _FURTHER,
    ActKind.DONT_KNOW: _LOOK_UP,
}
"""What else a part of such an act's sentences may say."""


def strange_part(text: str, acts: Sequence[Act], names: frozenset[str]) -> str:
    """Return the first part of a text that says something that the acts do not; empty if there is none.

    The facts in ``text`` are covered already; ``names`` are the words that name them.
    """
    own = _parts_of(tuple(dict.fromkeys(sentence for act in acts for sentence in sentences_for(act))))
    doing = [REQUIRED[act.kind][1] for act in acts if act.kind in REQUIRED]
    if any(act.kind is ActKind.CORRECT for act in acts):
        doing += [DISAPPROVE, CORRECTING]
    also = [_DOES[act.kind] for act in acts if act.kind in _DOES]
    banked = _words_of(tuple(sentence for act in acts if act.bank for sentence in bank_sentences(act.bank)))
    for part in _split(text):
        words = WORD.findall(part)
        is_fine = (
            part in own
            or _COURTESY.fullmatch(part)
            or any(pattern.search(part) for pattern in doing)
            or any(pattern.fullmatch(part) for pattern in also)
            or all(word in names or word in banked or word in _JOINING for word in words)
        )
        if not is_fine:
            return part
    return ""


def strange_word(text: str, known: frozenset[str]) -> str:
    """Return the first word of a casefolded text that no customer needs besides the facts; empty if there is none.

    The facts in ``text`` are covered already. An invented wish ("sturdy", "grayish") is found this way even if the
    catalog has no such value. Words in ``known`` pass too. A numeral that is no decimal digit ("½") counts as a word.
    """
    word: str
    for word in WORD.findall(text.replace(COVER, " ")):
        if not any(word in words for words in (ENGLISH, LABEL_WORDS, _HARMLESS, known, _template_words())):
            return word
    return next((sign for sign in text if sign.isnumeric() and not sign.isdecimal()), "")


@cache
def _template_words() -> frozenset[str]:
    """Return all words of the template bank, for acts of any kind."""
    return _words_of(tuple(text for kind in ActKind for text in sentences_of(kind)))


@lru_cache(maxsize=256)
def _words_of(sentences: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for text in sentences for word in WORD.findall(_PLACE.sub(" ", text).casefold()))


def _split(text: str) -> Iterator[str]:
    """Yield those parts of a text in which nothing is covered."""
    for part in _PARTS.split(text):
        plain = part.strip(_EDGES)
        if plain and COVER not in plain:
            yield plain


@lru_cache(maxsize=1024)
def _parts_of(sentences: tuple[str, ...]) -> frozenset[str]:
    """Return those parts of the template bank's sentences that hold no place."""
    texts = (*sentences, *sentences_of(ActKind.OPEN))
    return frozenset(part for text in texts for part in _split(folded(_PLACE.sub("_", text)).replace("_", COVER)))
