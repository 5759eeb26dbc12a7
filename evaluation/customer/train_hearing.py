"""Trains the classifier of questions from a corpus, and writes its integer weights (SPEC §7, Hearing).

``python -m ecom_rlve.evaluation.customer.train_hearing FOLDER OUTPUT`` reads every ``*.jsonl`` of the folder, in order
of name; the format is that of :mod:`ecom_rlve.evaluation.customer.hearing`. The same corpus gives the same bytes.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from ecom_rlve.envs.customer.hearing.classifier import SCALE
from ecom_rlve.envs.customer.hearing.features import ITEM, features

_LEAST = 4
"""Texts that a feature must occur in."""
_ITERATIONS = 400
_MOST = 127


def examples(folder: Path) -> list[tuple[str, str]]:
    """Return casefolded texts that ask for one thing, each with its topic or class, in the order of the corpus."""
    found = []
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            entry = json.loads(line)
            if len(entry["topics"]) == 1:
                text = entry["text"].replace("{items}", ITEM).replace("{item}", ITEM)
                found.append((text.casefold().replace("’", "'"), entry["topics"][0]))
    return found


def trained(texts: Sequence[tuple[str, str]]) -> dict[str, NDArray[Any]]:
    """Return the arrays of the classifier: names of features and classes, weights and bias."""
    seen = [features(text) for text, _ in texts]
    counts = Counter(name for names in seen for name in names)
    names = sorted(name for name, count in counts.items() if count >= _LEAST)
    places = {name: at for at, name in enumerate(names)}
    rows = [(row, places[name]) for row, found in enumerate(seen) for name in sorted(found) if name in places]
    at = np.array(rows, dtype=np.int32).T
    matrix = csr_matrix((np.ones(len(rows)), at), shape=(len(seen), len(names)))
    model = LogisticRegression(max_iter=_ITERATIONS).fit(matrix, [topic for _, topic in texts])
    scaled = np.rint(np.clip(model.coef_.T * SCALE, -_MOST, _MOST)).astype(np.int8)
    return {
        "features": np.frombuffer("\n".join(names).encode(), dtype=np.uint8),
        "labels": np.frombuffer("\n".join(model.classes_).encode(), dtype=np.uint8),
        "weights": scaled,
        "bias": np.rint(model.intercept_ * SCALE).astype(np.int32),
    }


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
