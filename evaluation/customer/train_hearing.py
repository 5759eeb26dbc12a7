"""Trains the classifier of questions from a corpus, and writes its integer weights (SPEC §7, Hearing).

``python -m ecom_rlve.evaluation.customer.train_hearing FOLDER OUTPUT`` reads every ``*.jsonl`` of the folder, in order
of name; the format is that of :mod:`ecom_rlve.evaluation.customer.hearing`. The same corpus gives the same bytes.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from ecom_rlve.envs.customer.hearing.classifier import SCALE, STATEMENT
from ecom_rlve.envs.customer.hearing.features import ITEM, features
from ecom_rlve.envs.customer.hearing.nouns import words_of
from ecom_rlve.envs.customer.hearing.question_words import COMMON_WORDS
from ecom_rlve.envs.customer.hearing.sentences import asking
from ecom_rlve.envs.customer.hearing.spelling import Speller

_LEAST = 2
"""Texts that a feature must occur in."""
_LEAST_WORDS = 3
"""Texts that a word must occur in to be known."""
_MISSPELT = ("typo", "slang")
"""Manners of texts whose words are not spelt as in a dictionary."""
_NOUNS = {"STATUS": ("order", "orders")}
"""Nouns that are common words, which the reader leaves as they are."""
_WORD = re.compile(r"[a-z']+")
_STATEMENTS = 300
"""So many are weighed like a topic's texts; the others only teach what a statement is that asks."""
_ITERATIONS = 60
_MOST = 127


class Example(NamedTuple):
    """A text to learn from."""

    folded: str
    topic: str
    """What it asks for, or its class."""
    is_misspelt: bool


def examples(folder: Path) -> list[Example]:
    """Return the texts that ask for one thing, in the order of the corpus."""
    found = []
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            if len(entry["topics"]) == 1:
                singular, plural = _NOUNS.get(entry["env"], (ITEM, ITEM))
                text = entry["text"].replace("{items}", plural).replace("{item}", singular)
                folded = text.casefold().replace("’", "'")
                found.append(Example(folded, entry["topics"][0], is_misspelt=entry["manner"] in _MISSPELT))
    return found


def vocabulary(texts: Sequence[Example]) -> tuple[list[str], list[str]]:
    """Return the words that several texts hold, the most frequent first, and those of fewer.

    Misspelt texts do not count.
    """
    counts = Counter(
        word for example in texts if not example.is_misspelt for word in set(_WORD.findall(example.folded))
    )
    counts.update(dict.fromkeys(sorted(COMMON_WORDS), _LEAST_WORDS))
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    frequent = [word for word in ranked if counts[word] >= _LEAST_WORDS]
    return frequent, ranked[len(frequent) :]


def plain(folded: str, speller: Speller) -> str:
    """Return a casefolded text as the reader gives it to the classifier: spelt right, without punctuation."""
    spelt = speller.corrected(folded.replace("_", " "), ())
    return " ".join(word for word in words_of(spelt) if word[0].isalnum() or word[0] == "$")


def trained(texts: Sequence[Example]) -> dict[str, NDArray[Any]]:
    """Return the arrays of the classifier: names of features and classes, weights and bias."""
    words, rare = vocabulary(texts)
    speller = Speller(words, rare)
    seen = [features(plain(example.folded, speller)) for example in texts]
    counts = Counter(name for names in seen for name in names)
    names = sorted(name for name, count in counts.items() if count >= _LEAST)
    places = {name: at for at, name in enumerate(names)}
    rows = [(row, places[name]) for row, found in enumerate(seen) for name in sorted(found) if name in places]
    at = np.array(rows, dtype=np.int32).T
    matrix = csr_matrix((np.ones(len(rows)), at), shape=(len(seen), len(names)))
    model = LogisticRegression(max_iter=_ITERATIONS).fit(
        matrix, [example.topic for example in texts], sample_weight=_weights(texts)
    )
    scaled = np.rint(np.clip(model.coef_.T * SCALE, -_MOST, _MOST)).astype(np.int8)
    stated = [at for at, example in enumerate(texts) if not any(asking([example.folded]))]
    asks = [texts[at].topic != STATEMENT for at in stated]
    asking_model = LogisticRegression(max_iter=_ITERATIONS, class_weight="balanced").fit(matrix[stated], asks)
    return {
        "asks_weights": np.rint(asking_model.coef_[0] * SCALE).astype(np.int16),
        "asks_bias": np.rint(asking_model.intercept_ * SCALE).astype(np.int32),
        "vocabulary": np.frombuffer("\n".join(words).encode(), dtype=np.uint8),
        "rare": np.frombuffer("\n".join(rare).encode(), dtype=np.uint8),
        "features": np.frombuffer("\n".join(names).encode(), dtype=np.uint8),
        "labels": np.frombuffer("\n".join(model.classes_).encode(), dtype=np.uint8),
        "weights": scaled,
        "bias": np.rint(model.intercept_ * SCALE).astype(np.int32),
    }


def _weights(texts: Sequence[Example]) -> list[float]:
    """Return how much each text counts: all statements together as much as :data:`_STATEMENTS` texts."""
    statements = sum(example.topic == STATEMENT for example in texts)
    share = min(1.0, _STATEMENTS / max(1, statements))
    return [share if example.topic == STATEMENT else 1.0 for example in texts]


def main(
    folder: Annotated[Path, typer.Argument(help="Folder of the corpus.")],
    output: Annotated[Path, typer.Argument(help="File to write, .npz.")],
) -> None:
    """Train, and write the weights."""
    arrays = trained(examples(folder))
    np.savez_compressed(output, allow_pickle=False, **arrays)
    print(f"{len(arrays['weights'])} features of {arrays['weights'].shape[1]} classes, {output.stat().st_size} bytes")


if __name__ == "__main__":
    typer.run(main)
