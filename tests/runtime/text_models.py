"""Text classifiers that the runtime has, documents to fit them to, and others to predict."""

import numpy as np

import likely as lk
from tests.runtime.vectors import DOCUMENTS

WORDS = [
    "cheap",
    "pills",
    "buy",
    "now",
    "lunch",
    "noon",
    "free",
    "agenda",
    "straße",
    "日本語",
    "ΣΑΣ",
]


def _text(rng, k):
    share = np.ones(len(WORDS))
    share[3 * k : 3 * k + 4] += 4
    return " ".join(rng.choice(WORDS, rng.integers(1, 15), p=share / share.sum()))


def _texts(seed, n):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, n)
    return [_text(rng, k) for k in labels], np.array(["spam", "ham", "work"])[labels]


TEXTS, Y = _texts(0, 90)
NEW = [*DOCUMENTS, *_texts(1, 40)[0], ""]


def text_models():
    """Classifiers by name, not fitted."""
    bag, bayes = lk.BagOfWords, lk.NaiveBayes
    length = bayes("multinomial", smoothing="auto", calibrate="length")
    return {
        "default": lk.TextClassifier(),
        "length": lk.TextClassifier(length),
        "without smoothing": lk.TextClassifier(bayes("multinomial", smoothing=0.0)),
        "complement": lk.TextClassifier(bayes("complement")),
        "presence": lk.TextClassifier(bayes("bernoulli"), bag(binary=True)),
        "presence without smoothing": lk.TextClassifier(
            bayes("bernoulli", smoothing=0.0), bag(binary=True)
        ),
        "hashed": lk.TextClassifier(words=bag(n_features=2**12, ngram_range=(1, 2))),
        "softmax": lk.TextClassifier(lk.SoftmaxRegression(), bag(use_idf=True, norm="l2")),
        "characters": lk.TextClassifier(words=bag(analyzer="char_wb", ngram_range=(2, 3))),
        "unknown words": lk.TextClassifier(words=bag(unknown="count", min_df=2)),
    }
