"""scikit-learn: CountVectorizer or HashingVectorizer, then MultinomialNB."""

from typing import Any

from benchmarks.text_corpora import Corpus

HASHED = 2**20


def _words(*, hashed: bool) -> Any:
    from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer

    if hashed:
        return HashingVectorizer(n_features=HASHED, alternate_sign=False, norm=None)
    return CountVectorizer()


def fit(corpus: Corpus, *, hashed: bool = False) -> Any:
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    return make_pipeline(_words(hashed=hashed), MultinomialNB()).fit(corpus.texts, corpus.labels)


def predict(model: Any, corpus: Corpus) -> Any:
    return model.predict(corpus.texts)


def stream(corpus: Corpus, batch: int) -> Any:
    import numpy as np
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    words, model = _words(hashed=True), MultinomialNB()
    classes = np.unique(corpus.labels)
    for first in range(0, len(corpus.texts), batch):
        here = slice(first, first + batch)
        model.partial_fit(words.transform(corpus.texts[here]), corpus.labels[here], classes=classes)
    return make_pipeline(words, model)
