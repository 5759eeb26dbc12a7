"""Trains the classifier of wordings, and writes its integer weights (SPEC §7, Wording).

``python -m ecom_rlve.evaluation.customer.train_check FOLDER OUTPUT`` reads the files of wordings and lies in the folder
whose names begin with one of :data:`WRITERS`; the others measure. The same files give the same weights.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression

from ecom_rlve.envs.customer.check.classifier import SCALE
from ecom_rlve.envs.customer.check.features import features, labels_of
from ecom_rlve.envs.customer.check.phrases import folded, spelled_out
from ecom_rlve.evaluation.customer.check import wordings

WRITERS = ("", "voices_", "kept_", "manners_", "plain_")
"""Prefixes of the files that it learns from, ``good.jsonl`` and ``lies.jsonl``; the last has no lies."""
_LEAST = 2
"""Wordings that a feature must occur in."""
_STRENGTH = 0.3
"""Inverse of the penalty of weights; the best of a few when each writer's files were held out in turn."""
_ITERATIONS = 200
_MOST = 127


class Example(NamedTuple):
    """A wording to learn from."""

    seen: frozenset[str]
    is_lie: bool


def examples(folder: Path, writers: Sequence[str] = WRITERS) -> list[Example]:
    """Return the wordings and lies of some writers."""
    return [
        Example(frozenset(features(labels_of(each.sheet), spelled_out(folded(each.text)))), each.is_lie)
        for writer in writers
        for name in ("good", "lies")
        if (path := folder / f"{writer}{name}.jsonl").exists()
        for each in wordings(path)
    ]


def trained(texts: Sequence[Example]) -> dict[str, NDArray[Any]]:
    """Return the arrays of the classifier: names of features, weights and bias."""
    counts = Counter(name for example in texts for name in example.seen)
    names = sorted(name for name, count in counts.items() if count >= _LEAST)
    places = {name: at for at, name in enumerate(names)}
    rows = [(row, places[name]) for row, each in enumerate(texts) for name in sorted(each.seen) if name in places]
    at = np.array(rows, dtype=np.int32).T
    matrix = csr_matrix((np.ones(len(rows)), at), shape=(len(texts), len(names)))
    model = LogisticRegression(C=_STRENGTH, max_iter=_ITERATIONS, class_weight="balanced")
    model.fit(matrix, [each.is_lie for each in texts])
    weights = np.rint(np.clip(model.coef_[0] * SCALE, -_MOST, _MOST)).astype(np.int8)
    kept = np.flatnonzero(weights)
    return {
        "features": np.frombuffer("\n".join(names[each] for each in kept).encode(), dtype=np.uint8),
        "weights": weights[kept],
        "bias": np.rint(model.intercept_[0] * SCALE).astype(np.int32),
    }


def main(
    folder: Annotated[Path, typer.Argument(help="Folder of the wordings.")],
    output: Annotated[Path, typer.Argument(help="File to write, .npz.")],
) -> None:
    """Train, and write the weights."""
    arrays = trained(examples(folder))
    np.savez_compressed(output, allow_pickle=False, **arrays)
    print(f"{len(arrays['weights'])} features, {output.stat().st_size} bytes")


if __name__ == "__main__":
    typer.run(main)
