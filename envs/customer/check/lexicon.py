"""Words with which a text could say more than it should: values, kinds of goods, numbers, ids, names of facts."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, lru_cache

import numpy as np

from ecom_rlve.catalog.attributes import DISCRETE
from ecom_rlve.catalog.errors import UnknownProductError
from ecom_rlve.envs.customer.hearing.question_words import COMMON_WORDS, FOREIGN_WORDS, PHRASES
from ecom_rlve.envs.language import templates
from ecom_rlve.envs.language.acts import Act, ActKind, Bank, Fact, SlotKind
from ecom_rlve.envs.language.persona import PERSONAS
from ecom_rlve.envs.language.phrases import LABELS, forms_of
from ecom_rlve.envs.world.shop import Shop

WORD = re.compile(r"[^\W_]+(?:[-'&][^\W_]+)*")
NUMBER_WORD = re.compile(
    r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|"
    r"twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundreds?|thousands?|dozens?)\b(?! (?:minutes?|seconds?)\b)"
)
"""Spelled numbers, except for "one", which has other senses, and for "five minutes", which is a way of speaking."""
MONTH = re.compile(
    r"\b(?:january|february|april|june|july|august|september|october|november|december)\b|[\d\x01]\s+(?:march|may)\b"
)
"""A month; "march" and "may" only after a number, because they are common words."""
ID_LIKE = re.compile(r"(?<![\w-])(?=[\w-]*\d)(?=[\w-]*[^\W\d_])[\w-]{6,}(?![\w-])")
"""Letters and digits in one word: an id, or a number glued to its unit."""
_LONGEST = 6
"""Number of words of the longest value or kind of goods that is looked for."""
_LARGE_VOCABULARY = 5000
"""With more values than this, any common word may be some value; single words then count only if they are colours."""

ENGLISH: frozenset[str] = COMMON_WORDS | frozenset(
    """
    able about above actually after afternoon again ahead along already although always around away back bad because
    been behind below bit bought bring bye came care carry case cause cheers come comes comfortable coming considering
    cool curious currently dear definitely down during easy enough especially even evening every everyone exciting
    expect far few final finally fits fit forward friend gets getting gift glad goes gone goodbye gotta guess guys hand
    hard hear here's hiya hope hoping however hurry i'd i'll i'm i've idea ideal ideally important interested isn't it's
    its kind kindly large later least left less lovely made main makes makes many matter matters maybe means mine
    missing moment morning move much myself near necessary needed needs never new nice nope nothing number offer okay
    old ones order ordered orders ought own per perhaps place plan planning plus possible possibly prefer preference
    pretty probably purchase quick quickly quite rather reason receive regarding require required rest return right
    running rush said saw search seems send sent set shop shopping simply since small soon sorry sort special spend
    start stay stuff suit super support sure thank that'd that's there's they're thing time times tired told tonight
    toward under unfortunately usual usually various wait wanting wants wear week weekend well went were what's whatever
    whether while whole with won't wonderful work works worth wow year yep yourself you'd you're you've
    """.split()
)
"""English words that any customer may use; texts in other languages have few of them."""
_FOREIGN = FOREIGN_WORDS | frozenset(
    """
    ik heb nodig graag een alsjeblieft dank dziękuję proszę jest nie szukam potrzebuję chcę lütfen bir için istiyorum
    teşekkürler tôi muốn cảm ơn saya mau ingin yang untuk dengan terima kasih jag vill ha tack och är för inte det som
    minä haluan kiitos ja jeg vil gerne tak og ikke takk ninataka asante kwa na ya bonjour merci gracias hola obrigado
    danke hallo grazie ciao necesito busco quiero cherche besoin suche brauche möchte vorrei cerco preciso quero
    """.split()
)


def lexicon(shop: Shop) -> Mapping[str, str]:
    """Return every word value and every kind of goods of the catalog, casefolded → attribute, ``item`` for goods."""
    found: dict[str, str] = {}
    for attribute in DISCRETE:
        for value in shop.catalog.column(attribute).vocabulary or ():
            name = value.casefold()
            if name not in COMMON_WORDS and len(name) > 1:
                found.setdefault(name, attribute)
    if len(found) > _LARGE_VOCABULARY:
        # In a catalog of millions any word is some value. The values of the goal's own categories are checked as well.
        found = {name: attribute for name, attribute in found.items() if " " in name or attribute == "color"}
    for noun in nouns_of_goods(shop):
        found.setdefault(noun, "item")
    return found


def nouns_of_goods(shop: Shop) -> tuple[str, ...]:
    """Return the nouns of all kinds of goods of the catalog, singular and plural, casefolded."""
    nouns = (noun for category in shop.catalog.categories for noun in (category.singular, category.plural))
    return tuple(dict.fromkeys(noun.casefold() for noun in nouns))


def category_values(shop: Shop, category: str) -> Mapping[str, str]:
    """Return the word values, including brands, that the products of a category have: value → attribute."""
    catalog = shop.catalog
    rows = catalog.rows_of_category(category)
    found: dict[str, str] = {}
    for name in ("brand", *DISCRETE):
        column = catalog.column(name)
        codes = column.values[rows]
        for code in np.unique(codes[codes >= 0]).tolist():
            found.setdefault(str((column.vocabulary or ())[code]).casefold(), name)
    own = catalog.categories[catalog.category_index[category]]
    pool = (value for value in shop.variant_pool(own) if isinstance(value, str))
    found |= {value.casefold(): own.variant_attribute for value in pool}
    return {name: attribute for name, attribute in found.items() if name not in COMMON_WORDS and len(name) > 1}


def values_of(shop: Shop, attribute: str, category: str | None = None) -> frozenset[str]:
    """Return the values of a word attribute, casefolded: those of a category, or of the whole catalog for None."""
    everything = lexicon(shop) if category is None else category_values(shop, category)
    return frozenset(value for value, name in everything.items() if name == attribute)


def is_product_id(shop: Shop, word: str) -> bool:
    """Tell whether a word, as it is or in capitals, is the id of a product."""
    for spelled in (word, word.upper()):
        try:
            shop.catalog.row_of(spelled)
        except UnknownProductError:
            continue
        return True
    return False


def grams(text: str) -> Iterator[tuple[str, int]]:
    """Yield every run of one to six adjacent words and its position, the longest first at each position."""
    words = [(match[0], match.start(), match.end()) for match in WORD.finditer(text)]
    for first, (_, start, _) in enumerate(words):
        last = first
        while (
            last + 1 < len(words)
            and last + 1 - first < _LONGEST
            and text[words[last][2] : words[last + 1][1]] in _JOINTS
        ):
            last += 1
        for end in range(last, first - 1, -1):
            yield text[start : words[end][2]], start


_JOINTS = (" ", ", ", "-", "/", " & ")


@cache
def names_of(attribute: str) -> frozenset[str]:
    """Return the phrases that name an attribute, or something that no customer knows."""
    found = {" ".join(phrase.words) for phrases in PHRASES.values() for phrase in phrases if phrase.name == attribute}
    return frozenset({*found, LABELS.get(attribute, attribute.replace("_", " ")).casefold()})


@lru_cache(maxsize=1024)
def names_of_kind(kind: SlotKind) -> frozenset[str]:
    """Return the phrases that name a kind of fact: its label, the words of questions for it, those of its sentences."""
    texts = [text.casefold() for form in kind.forms for text in form]
    words = {word for text in texts for word in content_words(text.replace("%s", " "))}
    return frozenset({kind.label.casefold(), *(word.casefold() for word in kind.words), *words, *phrases_of_kind(kind)})


@lru_cache(maxsize=1024)
def phrases_of_kind(kind: SlotKind) -> frozenset[str]:
    """Return the phrases of several words that tell a kind of fact and nothing else."""
    parts = [part.strip().casefold() for form in kind.forms for text in form for part in text.split("%s")]
    texts = (*parts, *kind.words, kind.label)
    return frozenset(text for text in texts if text.count(" ") > 1 or (" " in text and content_words(text)))


@lru_cache(maxsize=4096)
def names_of_fact(fact: Fact) -> frozenset[str]:
    """Return the phrases that name what a fact is about."""
    if fact.kind is not None:
        return names_of_kind(fact.kind)
    own = names_of(fact.constraint.attribute) | names_of(fact.slot)
    return own | {word for pair in forms_of(fact) for text in pair for word in content_words(text.replace("%s", " "))}


def content_words(text: str) -> frozenset[str]:
    """Return the words of a text that have a meaning of their own, casefolded."""
    return frozenset(
        word for word in WORD.findall(text.casefold()) if len(word) > 2 and word not in COMMON_WORDS and word.isalpha()
    )


@cache
def sentences_of(kind: ActKind) -> tuple[str, ...]:
    banks: dict[ActKind, tuple[Bank, ...]] = {
        ActKind.OPEN: (templates.FIRST_WANT, templates.NEXT_WANT),
        ActKind.ANSWER: (templates.ANSWER_ITEM, templates.ANSWER_BARE, templates.ANSWER_COUNT, templates.ANSWER_NOUN),
        ActKind.CORRECT: (
            templates.CORRECT_ITEM,
            templates.CORRECT_BARE,
            templates.CORRECT_COUNT,
            templates.CORRECT_CIRCUMSTANCES,
            templates.REFUSE,
        ),
        ActKind.STOCKOUT_FALLBACK: (templates.TAKE_TITLE, templates.TAKE_VARIANT, templates.LEAVE_OUT),
        ActKind.DONT_KNOW: (templates.DONT_KNOW,),
        ActKind.NO_PREFERENCE: (templates.NO_PREFERENCE,),
        ActKind.NOTHING_LEFT: (templates.NOTHING_LEFT,),
        ActKind.CONFIRM: (templates.CONFIRM,),
        ActKind.SKIP: (templates.SKIP,),
        ActKind.REJECT: (templates.REJECT,),
        ActKind.CONTINUE: (templates.CONTINUE,),
        ActKind.CLARIFY: (templates.CLARIFY, templates.CLARIFY_BETWEEN),
        ActKind.STILL_THERE: (templates.STILL_THERE,),
        ActKind.GIVE_UP: (templates.GIVE_UP,),
        ActKind.CLOSE: (templates.CLOSE,),
    }
    wishes = (templates.WISH_FOLLOW_UP, templates.WISH_ITEM, templates.WISH_BARE)
    sentences = bank_sentences(*banks.get(kind, ()), templates.CIRCUMSTANCES, templates.FOLLOW_UP, *wishes)
    greetings = tuple(text for persona in PERSONAS for text in (*persona.greetings, *persona.closings))
    return (
        *sentences,
        *(greetings if kind is ActKind.OPEN else ()),
        *(templates.LISTED_WANT if kind is ActKind.OPEN else ()),
    )


def bank_sentences(*banks: Bank) -> tuple[str, ...]:
    """Return the sentences of the banks, without repeats."""
    return tuple(dict.fromkeys(text for bank in banks for texts in bank.values() for text in texts))


@lru_cache(maxsize=256)
def _words_of_sentences(sentences: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for text in sentences for word in WORD.findall(_without_places(text).casefold()))


def own_words(acts: Iterable[Act]) -> frozenset[str]:
    """Return the words that the template bank itself uses for such acts; in its sentences they are no values."""
    return frozenset().union(*(_words_of_sentences(sentences_for(act)) for act in acts))


def placed_words(acts: Iterable[Act]) -> frozenset[str]:
    """Return those of :func:`own_words` that stand in sentences with places for values."""
    sentences = (tuple(text for text in sentences_for(act) if _without_places(text) != text) for act in acts)
    return frozenset().union(*map(_words_of_sentences, sentences))


def fixed_sentences(acts: Iterable[Act]) -> tuple[str, ...]:
    """Return the sentences of the template bank for such acts that have no places, casefolded."""
    texts = (text for act in acts for text in sentences_for(act) if _without_places(text) == text)
    return tuple(dict.fromkeys(text.casefold() for text in texts))


def sentences_for(act: Act) -> tuple[str, ...]:
    return (*sentences_of(act.kind), *(bank_sentences(act.bank) if act.bank else ()))


@lru_cache(maxsize=4096)
def words_about(fact: Fact) -> frozenset[str]:
    """Return the words by which the template bank says what a fact is about."""
    if fact.kind is None and fact.slot == "quantity":
        return frozenset()
    label = fact.kind.label if fact.kind else LABELS[fact.constraint.attribute]
    return _words_of_sentences((label, *(text for pair in forms_of(fact) for text in pair)))


def places_of(template: str) -> frozenset[str]:
    """Return the names of the places of a sentence."""
    return frozenset(name for _, name, _, _ in string.Formatter().parse(template) if name)


def _without_places(text: str) -> str:
    return re.sub(r"\{\w*\}|%s", " ", text)


@lru_cache(maxsize=256)
def telling_words(sentences: tuple[str, ...]) -> frozenset[str]:
    """Return a small set of words such that each sentence has one of them: what all sentences say in some way.

    Empty if some sentence has no word with a meaning of its own.
    """
    left = [content_words(_without_places(text)) for text in sentences]
    if not all(left):
        return frozenset()
    chosen: set[str] = set()
    while left:
        counts: dict[str, int] = {}
        for words in left:
            for word in words:
                counts[word] = counts.get(word, 0) + 1
        best = min(counts, key=lambda word: (-counts[word], word))
        chosen.add(best)
        left = [words for words in left if best not in words]
    return frozenset(chosen)


LABEL_WORDS: frozenset[str] = frozenset(word for label in LABELS.values() for word in WORD.findall(label.casefold()))
"""The words in the names of facts."""


def is_english(text: str, known: frozenset[str], share: float) -> bool:
    """Tell whether the uncovered rest of a casefolded text is English.

    Words in ``known`` count as English; ``share`` is the least share of English words, 0 to 1.
    """
    letters = [letter for letter in text if letter.isalpha()]
    if len([letter for letter in letters if not letter.isascii()]) * 10 > len(letters):
        return False
    words = WORD.findall(text)
    if not words:
        return True
    english = len([word for word in words if word in ENGLISH or word in LABEL_WORDS or word in known])
    foreign = len([word for word in words if word in _FOREIGN and word not in ENGLISH and word not in known])
    return english >= foreign and english >= share * len(words)
