"""likely's text classifiers, as the benchmarks of text call them."""

from typing import Any

import numpy as np

from benchmarks.text_corpora import Corpus
from likely import BagOfWords, NaiveBayes, TextClassifier

HASHED = 2**20


def fit(corpus: Corpus, *, executor: str = "serial", hashed: bool = False) -> Any:
    """Multinomial naive Bayes, add-one smoothed, ready to predict."""
    words = BagOfWords(n_features=HASHED if hashed else None, executor=executor)
    model = TextClassifier(NaiveBayes("multinomial"), words)
    model.fit(corpus.texts, corpus.labels)
    model.complete_fit()  # the clock of the fit runs until it can predict
    return model


def predict(model: Any, corpus: Corpus) -> Any:
    return model.predict(corpus.texts)


def stream(corpus: Corpus, batch: int, *, smoothing: float = 1.0) -> Any:
    """``partial_fit`` of batches with hashed columns."""
    model = TextClassifier(
        NaiveBayes("multinomial", smoothing=smoothing), BagOfWords(n_features=HASHED)
    )
    classes = np.unique(corpus.labels)
    for first in range(0, len(corpus.texts), batch):
        here = slice(first, first + batch)
        model.partial_fit(corpus.texts[here], corpus.labels[here], classes=classes)
    model.complete_fit()
    return model
