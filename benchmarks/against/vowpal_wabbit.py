"""Vowpal Wabbit:  one pass of a hashed linear model, one against all; another model than ours.

It reads a file in its own format, which is written before the clock runs; words are what is between
spaces, in lower case and with its own signs ``|`` and ``:`` removed.
"""

import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.race import needs
from benchmarks.text_corpora import Corpus

OPTIONS = "--bit_precision 20 --quiet"
SIGNS = re.compile(r"[|:\s]+")


def written(corpus: Corpus, folder: str) -> Path:
    """The corpus as a file; classes are numbered from 1."""
    codes = np.unique(corpus.labels, return_inverse=True)[1]
    path = Path(folder) / "texts.vw"
    with path.open("w", encoding="utf8") as out:
        for code, text in zip((codes + 1).tolist(), corpus.texts, strict=True):
            out.write(f"{code} |w {SIGNS.sub(' ', text.lower())}\n")
    return path


def fit(path: Path, n_classes: int) -> Path:
    """The file of a model."""
    module = needs("vowpalwabbit")
    model = path.with_suffix(".model")
    options = f"--oaa {n_classes} --loss_function logistic {OPTIONS} -d {path} -f {model}"
    module.Workspace(options).finish()
    return model


def predict(model: Path, path: Path) -> Any:
    """The codes of the predicted classes."""
    module = needs("vowpalwabbit")
    with tempfile.TemporaryDirectory() as folder:
        answers = Path(folder) / "answers"
        module.Workspace(f"{OPTIONS} -t -i {model} -d {path} -p {answers}").finish()
        return np.loadtxt(answers, dtype=int) - 1
