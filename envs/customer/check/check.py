"""The check of a wording: it must say all that the acts hold and nothing else (SPEC §7).

First, everything that must or may be said is looked for and covered. A number, value, kind of goods or id that is then
still uncovered must not be said. Tables of words tell what the sentences do (approve, refuse, leave).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ecom_rlve.envs.customer.check.courtesy import strange_part, strange_word
from ecom_rlve.envs.customer.check.cues import (
    ALL_TOLD,
    ALLOWED_BY,
    APPROVE,
    APPROVES_ALL,
    CONTRADICTS,
    CORRECTING,
    DISAPPROVE,
    INDIFFERENT,
    NEGATION,
    REQUIRED,
    UNKNOWING,
)
from ecom_rlve.envs.customer.check.facts import FactFinder, Found, Noun
from ecom_rlve.envs.customer.check.lexicon import (
    ENGLISH,
    ID_LIKE,
    LABEL_WORDS,
    MONTH,
    NUMBER_WORD,
    WORD,
    bank_sentences,
    category_values,
    fixed_sentences,
    grams,
    is_english,
    is_product_id,
    lexicon,
    names_of,
    names_of_fact,
    names_of_kind,
    nouns_of_goods,
    own_words,
    placed_words,
    values_of,
    words_about,
)
from ecom_rlve.envs.customer.check.limits import (
    COUNTING,
    ONE,
    forbidden_by,
    lacking_telling_word,
    nouns_of,
    passages_of,
    uncounted_in,
    unsaid_names,
)
from ecom_rlve.envs.customer.check.roles import speaks_as_another
from ecom_rlve.envs.customer.check.sheet import COVER, Sheet, folded, phrases_in
from ecom_rlve.envs.customer.check.values import shape_of
from ecom_rlve.envs.customer.hearing.question_words import COMMON_WORDS
from ecom_rlve.envs.customer.outcome import Finding, Outcome
from ecom_rlve.envs.errand import Intent
from ecom_rlve.envs.language.acts import Act, ActKind, Fact
from ecom_rlve.envs.language.phrases import LABELS

_MARKUP = re.compile(
    r"[{}\[\]<>|\\_*#`~^=@]|https?:|www\.|[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffd]"
)
_ENDS = re.compile(r"""[.!?…]["')]*$""")
_SIGN = re.compile("[$€£%]")
_DIGITS = re.compile(r"[$€£%]?\d[\d.,:/%]*")
_MOST_LETTERS = 3000
_ASKS_BACK = re.compile(r"^\W*(?:is|are|does|should|was|were|what|which|how|do i|would it)\b")
_ENGLISH_SHARE, _LEAST_SHARE = 0.4, 0.25
"""Least share of plain English among the words of a message, and among those of each of its longer sentences."""
_LEAST_WORDS = 4
"""A sentence with fewer words is too short for its share of English to mean anything."""
_REFUSE_NOTHING = (INDIFFERENT, UNKNOWING, ALL_TOLD)


class WordingCheck:
    """Tells whether a text words the given acts. Immutable; built from them and from all that the customer can say."""

    def __init__(self, acts: Sequence[Act], intents: Sequence[Intent[Any]], template_text: str) -> None:
        """``intents`` are all intents of the episode, in their state right after the acts were chosen."""
        self._acts = tuple(acts)
        self._shop = intents[0].world.shop
        self._most_letters = min(_MOST_LETTERS, max(160, 2 * len(template_text) + 80))
        # An act with its environment's own sentences may mention things of which nothing is said yet.
        self._mentions = [mention for act in acts for mention in act.mentions if mention.facts or act.bank is None]
        slots = [slot for intent in intents for slot in intent.slots]
        subjects = [subject for intent in intents for subject in intent.subjects]
        self._categories = tuple(dict.fromkeys(subject.category for subject in subjects if subject.category))
        nouns = dict.fromkeys(folded(text) for subject in subjects for text in (subject.singular, subject.plural))
        everything = (*nouns, *self._shop.derive(nouns_of_goods))
        self._facts = FactFinder(self._mentions, [slot.fact for slot in slots], everything, self._values_of)
        self._passages = passages_of(self._acts)
        told = [fact for mention in self._mentions for fact in mention.facts]
        self._own_words = own_words(self._acts).union(*map(words_about, told))
        self._banked = " ".join(text for act in self._acts if act.bank for text in bank_sentences(act.bank)).casefold()
        self._fixed = fixed_sentences(self._acts)
        placed = placed_words(self._acts).union(*map(words_about, told))
        self._forbidden = forbidden_by(slots, told, placed)
        self._forbidden |= dict.fromkeys(nouns, "item")
        self._uncounted = uncounted_in(intents, told)
        self._unsaid_names = unsaid_names(slots, told, [name for act in self._acts for name in act.attributes])
        kinds = [slot.fact.kind for slot in slots if slot.fact.kind] + [
            kind for each in intents for kind in each.unknown
        ]
        self._kinds = {kind.name: kind for kind in kinds}
        labels = [word for kind in kinds for word in WORD.findall(kind.label.casefold())]
        self._known_words = self._own_words | frozenset(labels)
        self._label_words = LABEL_WORDS.union(labels)
        named = (fact for fact in told if shape_of(fact) != "count")
        self._told_words = frozenset(word for fact in named for name in names_of_fact(fact) for word in name.split())
        self._order_ids = frozenset(
            name.casefold()
            for order in intents[0].world.__dict__.get("orders", ())
            for name in (order.order_id, *(line.line_id for line in order.lines))
        )

    def __call__(self, text: str) -> Finding | None:
        """Return why the text does not pass, None if it does."""
        found = self._form(text)
        if found:
            return found
        sheet = Sheet(text)
        missing = [passage.text for passage in self._passages if not sheet.holds(passage.folded) and passage.is_needed]
        titles = [
            Noun(at, at + len(passage.folded), passage.thing, is_plural=False)
            for passage in self._passages
            if passage.is_title
            for at in sheet.cover_all(passage.folded)
        ]
        nouns = sorted([*titles, *self._facts.find_nouns(sheet)])
        spelled = {noun for noun, _, _ in self._facts.nouns}
        for passage in self._passages:
            if passage.folded not in spelled:
                # A passage ("July") may also be a part of a fact that must be said (a date): leave that part uncovered.
                sheet.cover_where(passage.folded, self._facts.around(passage.folded))
        if _MARKUP.search(sheet.rest.replace(COVER, " ")):
            return Finding(Outcome.FELL_BACK_BRACE, "write plain sentences, without brackets, markup or links")
        if not _ENDS.search(text) or text != text.strip() or "\n" in text:
            return Finding(Outcome.FELL_BACK_LENGTH, "write whole sentences in one line")
        facts = self._facts.search(sheet, nouns)
        facts.missing[:0] = [f"'{text}'" for text in missing]
        return (
            self._speaker(sheet)
            or self._ids(sheet)
            or self._required(facts, nouns)
            or self._extras(sheet, nouns)
            or self._meaning(sheet)
            or self._beside(sheet)
        )

    def _values_of(self, fact: Fact) -> frozenset[str]:
        """Return the values that a fact with a word as its value could have, casefolded."""
        if fact.kind is not None and fact.kind.values:
            return frozenset(value.casefold() for value in fact.kind.values)
        attribute = fact.constraint.attribute
        return self._shop.derive(values_of, attribute).union(
            *(self._shop.derive(values_of, attribute, category) for category in self._categories)
        )

    def _form(self, text: str) -> Finding | None:
        if not re.search(r"\w", text):
            return Finding(Outcome.FELL_BACK_EMPTY, "write one message")
        if len(text) > self._most_letters:
            return Finding(Outcome.FELL_BACK_LENGTH, f"use fewer than {self._most_letters} letters")
        return None

    def _speaker(self, sheet: Sheet) -> Finding | None:
        other = speaks_as_another(sheet.rest)
        if other:
            return Finding(Outcome.FELL_BACK_ROLE, f"you are the customer and nobody else; do not say '{other}'")
        sentences = [part for part in sheet.sentences() if len(WORD.findall(part)) >= _LEAST_WORDS]
        is_english_all = is_english(sheet.rest, self._known_words, _ENGLISH_SHARE)
        if not is_english_all or not all(is_english(part, self._known_words, _LEAST_SHARE) for part in sentences):
            return Finding(Outcome.FELL_BACK_LANGUAGE, "write plain English")
        return None

    def _ids(self, sheet: Sheet) -> Finding | None:
        for match in re.finditer(r"[\w-]{6,}", sheet.rest.replace(COVER, " ")):
            word = match[0]
            if word in self._order_ids or ID_LIKE.fullmatch(word) or is_product_id(self._shop, word):
                return Finding(Outcome.FELL_BACK_ID, f"do not say '{word}'")
        return None

    def _extras(self, sheet: Sheet, nouns: Sequence[Noun]) -> Finding | None:
        patterns = (_DIGITS, NUMBER_WORD, MONTH, _SIGN)
        extra = next(filter(None, (pattern.search(sheet.rest) for pattern in patterns)), None)
        said = extra[0] if extra else self._value_in(sheet) or self._count_in(sheet, nouns)
        if said:
            return Finding(
                Outcome.FELL_BACK_EXTRA_VALUE, f"do not say '{said.strip()}', which you were not told to say"
            )
        return None

    def _value_in(self, sheet: Sheet) -> str:
        """Return a value or a kind of goods that is left uncovered; empty if there is none."""
        for sentence in sheet.sentences():
            # "The price" next to a covered value names a fact. Alone it may be a value: the thing that matters most.
            if COVER not in sentence:
                for name in self._unsaid_names:
                    if any(True for _ in phrases_in(sentence, name)):
                        return name
        everything = self._shop.derive(lexicon)
        own = [self._shop.derive(category_values, category) for category in self._categories]
        rest = sheet.rest
        for sentence in self._fixed:
            rest = rest.replace(sentence, COVER * len(sentence))
        for text, _ in grams(rest):
            if text in self._forbidden and text not in COMMON_WORDS and text not in self._banked:
                return text
            if text in self._own_words or text in COMMON_WORDS:
                continue
            if (text in everything or any(text in values for values in own)) and text not in ENGLISH:
                return text
        return ""

    def _count_in(self, sheet: Sheet, nouns: Sequence[Noun]) -> str:
        """Return words that tell a quantity (one or many) which the acts do not tell; empty if there are none."""
        if self._uncounted and (single := ONE.search(sheet.rest)):
            return single[0]
        for noun in nouns:
            if noun.thing in self._uncounted:
                counting = COUNTING.search(sheet.rest[: noun.start].replace(COVER, ""))
                if noun.is_plural or counting:
                    return f"{counting['count'] if counting else ''} {sheet.whole[noun.start : noun.end]}"
        return ""

    def _required(self, facts: Found, nouns: Sequence[Noun]) -> Finding | None:
        if facts.twisted:
            return Finding(Outcome.FELL_BACK_MEANING, facts.twisted[0])
        named = {noun.thing for noun in nouns}
        missing = list(facts.missing)
        for act in self._acts:
            missing += [f"'the {noun}'" for noun in nouns_of(act, len(self._mentions)) if folded(noun) not in named]
        if missing:
            return Finding(Outcome.FELL_BACK_MISSING_VALUE, f"say exactly {', '.join(dict.fromkeys(missing))}")
        return None

    def _meaning(self, sheet: Sheet) -> Finding | None:
        wrong = self._does_too_much(sheet) or self._does_too_little(sheet)
        return Finding(Outcome.FELL_BACK_MEANING, wrong[0]) if wrong else None

    def _beside(self, sheet: Sheet) -> Finding | None:
        """Find what is said besides the facts and the acts: unusual words, or parts that do nothing of what acts do."""
        names = {name for act in self._acts for attribute in act.attributes for name in self._names_of(attribute)}
        known = self._known_words.union(*map(WORD.findall, names), self._told_words)
        if word := strange_word(sheet.rest, known):
            return Finding(Outcome.FELL_BACK_EXTRA_VALUE, f"do not say '{word}', which you were not told to say")
        for name in sorted(names, key=len, reverse=True):
            sheet.cover_all(name)
        if part := strange_part(sheet.rest, self._acts, self._label_words):
            return Finding(Outcome.FELL_BACK_MEANING, f"do not say '{part}', only what the message says")
        return None

    def _does_too_much(self, sheet: Sheet) -> list[str]:
        kinds = {act.kind for act in self._acts}
        for what, pattern, allowed in ALLOWED_BY:
            if kinds & allowed:
                continue
            for sentence in sheet.sentences():
                match = pattern.search(sentence)
                is_turned = pattern is APPROVES_ALL and NEGATION.search(sentence)
                if match and not is_turned and match[0] not in self._banked:
                    return [f"your message {what} ('{match[0]}'); it must not"]
        if (
            len(kinds) == 1
            and (against := CONTRADICTS.get(next(iter(kinds))))
            and (match := against.search(sheet.rest))
        ):
            return [f"do not say '{match[0]}'"]
        if kinds <= {ActKind.ANSWER, ActKind.CORRECT}:
            for sentence in re.split(r"(?<=[.!?])\s", sheet.rest):
                if sentence.endswith("?") and COVER in sentence and _ASKS_BACK.match(sentence):
                    return ["tell it, do not ask about it"]
        return []

    def _does_too_little(self, sheet: Sheet) -> list[str]:
        sentences = sheet.sentences()
        for act in self._acts:
            rule = REQUIRED.get(act.kind)
            if act.kind is ActKind.CORRECT:
                rule = ("say that it is wrong as it is", DISAPPROVE if act.attributes else CORRECTING)
            if act.kind in (ActKind.CORRECT, ActKind.REJECT):
                # A sentence such as "I have no preference" refuses nothing, though it holds a word that refuses.
                blaming = [one for one in sentences if not any(other.search(one) for other in _REFUSE_NOTHING)]
            else:
                blaming = sentences
            if rule and not any(rule[1].search(sentence) for sentence in blaming):
                return [rule[0]]
            if act.kind is ActKind.CONFIRM and not any(
                APPROVE.search(sentence) and not NEGATION.search(sentence) for sentence in sentences
            ):
                return ["say that it is right"]
            lacking = self._lacking_names(act, sheet) or lacking_telling_word(act, sheet)
            if lacking:
                return [lacking]
        return []

    def _lacking_names(self, act: Act, sheet: Sheet) -> str:
        for attribute in act.attributes:
            if not any(True for name in self._names_of(attribute) for _ in phrases_in(sheet.whole, name)):
                return f"name the {LABELS.get(attribute, attribute.replace('_', ' '))}"
        return ""

    def _names_of(self, attribute: str) -> frozenset[str]:
        kind = self._kinds.get(attribute)
        return names_of(attribute) | (names_of_kind(kind) if kind else frozenset())
