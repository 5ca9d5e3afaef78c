"""fastText:  one pass over vectors of words of 10 dimensions; another model than ours.

It reads a file in its own format, which is written before the clock runs.
"""

from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.race import needs
from benchmarks.text_corpora import Corpus

SETTINGS = {"dim": 10, "epoch": 1, "lr": 0.5, "thread": 1, "verbose": 0}


def written(corpus: Corpus, folder: str) -> Path:
    codes = np.unique(corpus.labels, return_inverse=True)[1]
    path = Path(folder) / "texts.ft"
    with path.open("w", encoding="utf8") as out:
        for code, text in zip(codes.tolist(), corpus.texts, strict=True):
            out.write(f"__label__{code} {' '.join(text.lower().split())}\n")
    return path


def fit(path: Path, n_classes: int) -> Any:
    return needs("fasttext").train_supervised(str(path), **SETTINGS)


def predict(model: Any, path: Path) -> Any:
    """The codes of the predicted classes; by the compiled part, whose wrapper needs NumPy 1."""
    with path.open(encoding="utf8") as lines:
        texts = [line.partition(" ")[2] for line in lines]
    found, _ = model.f.multilinePredict(texts, 1, 0.0, "strict")
    return np.array([int(each[0].removeprefix("__label__")) if each else -1 for each in found])
