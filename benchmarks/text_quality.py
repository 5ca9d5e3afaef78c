"""Accuracy and log loss on documents, beside scikit-learn's defaults and its best options.

    python -m benchmarks.text_quality FOLDER [--corpora NAME …] [--labelled 20]

FOLDER holds ``20news-bydate.tsv.xz`` (split, label, text), ``debian-descriptions.tsv.xz`` (label,
package, text) and ``sms-spam.tsv.xz`` (label, text).  20 Newsgroups has its own split; of the other
two the test documents are those whose SHA-256 is 0 modulo 5.

Ours is ``smoothing="auto", calibrate="length"`` and nothing else, for each event model.  Of
scikit-learn there are the defaults, and the best of a table of options, each chosen by the log loss
of the *test* documents, which favours them: MultinomialNB and ComplementNB with seven values of
alpha, on counts, on presence and on tf-idf; LogisticRegression with two values of C on tf-idf.

Printed last: 20 labelled documents of each newsgroup, without and with the unlabelled rest, and
the mean over five draws of them.
"""

import argparse
import hashlib
import lzma
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import ComplementNB, MultinomialNB

import likely as lk

CORPORA = ("20news", "debian", "sms")
ALPHAS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
STRENGTHS = (1.0, 10.0)  # C; 100 takes many minutes with 58 classes
WEIGHTS = (0.0, 1.0, 0.1, 0.03, 0.01, "auto")  # of unlabelled documents
LEAST = 1e-300  # a probability that is 0: its logarithm is finite


class Documents(NamedTuple):
    """Documents to learn from and to test on."""

    train: list[str]
    y: Any
    test: list[str]
    truth: Any


class Result(NamedTuple):
    """How a model did on the test documents."""

    model: str
    accuracy: float
    log_loss: float
    seconds: float  # of the processor, for fit and predict, from counts


def documents(folder: Path, corpus: str) -> Documents:
    """One of the three corpora, split."""
    names = {"20news": "20news-bydate", "debian": "debian-descriptions", "sms": "sms-spam"}
    with lzma.open(folder / f"{names[corpus]}.tsv.xz", "rt", encoding="utf8", newline="\n") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    if corpus == "20news":
        texts = [_unescaped(row[2]) for row in rows]
        labels, held = np.array([row[1] for row in rows]), np.array([r[0] == "test" for r in rows])
    else:
        texts, labels = [row[-1] for row in rows], np.array([row[0] for row in rows])
        held = np.array([_is_held_out(text) for text in texts])
    train = [text for text, out in zip(texts, held, strict=True) if not out]
    test = [text for text, out in zip(texts, held, strict=True) if out]
    return Documents(train, labels[~held], test, labels[held])


def _unescaped(text: str) -> str:
    return text.replace("\\\\", "\0").replace("\\n", "\n").replace("\0", "\\")


def _is_held_out(text: str) -> bool:
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % 5 == 0


def scored(name: str, model: Any, X: Any, y: Any, new: Any, truth: Any) -> Result:
    """Fit, predict, and the two scores."""
    began = time.process_time()
    probability = model.fit(X, y).predict_proba(new)
    seconds = time.process_time() - began
    own = probability[np.arange(len(truth)), np.searchsorted(model.classes_, truth)]
    right = model.classes_[probability.argmax(axis=1)] == truth
    loss = -float(np.mean(np.log(np.maximum(own, LEAST))))
    return Result(name, float(right.mean()), loss, seconds)


def ours(X: Any, y: Any, new: Any, truth: Any) -> Iterator[Result]:
    for event in ("multinomial", "complement", "bernoulli"):
        sets = (X.sign(), new.sign()) if event == "bernoulli" else (X, new)
        model = lk.NaiveBayes(event, smoothing="auto", calibrate="length")
        yield scored(f"likely {event}", model, sets[0], y, sets[1], truth)


def theirs(X: Any, y: Any, new: Any, truth: Any) -> Iterator[Result]:
    """The defaults, then the best of each kind."""
    weights = TfidfTransformer(sublinear_tf=True).fit(X)
    tables = {
        "counts": (X, new),
        "presence": (X.sign(), new.sign()),
        "tf-idf": (weights.transform(X), weights.transform(new)),
    }
    yield scored("MultinomialNB()", MultinomialNB(), X, y, new, truth)
    yield scored("ComplementNB()", ComplementNB(), X, y, new, truth)
    for kind in (MultinomialNB, ComplementNB):
        yield _best(
            scored(f"{kind.__name__}({alpha:g}) {table}", kind(alpha=alpha), A, y, B, truth)
            for table, (A, B) in tables.items()
            for alpha in ALPHAS
        )
    A, B = tables["tf-idf"]
    yield _best(
        scored(f"LogisticRegression(C={c:g}) tf-idf", LogisticRegression(C=c), A, y, B, truth)
        for c in STRENGTHS
    )


def _best(results: Iterator[Result]) -> Result:
    found = min(results, key=lambda result: result.log_loss)
    return found._replace(model=f"best {found.model}")


def table(corpus: str, given: Documents) -> None:
    """Print the scores on one corpus."""
    words = lk.BagOfWords()
    X, new = words.fit_transform(given.train), words.transform(given.test)
    print(
        f"\n{corpus}: {X.shape[0]:,} + {new.shape[0]:,} documents, {X.shape[1]:,} words, ", end=""
    )
    print(f"{len(np.unique(given.y))} classes")
    print(f"{'':44}{'accuracy':>9}{'log loss':>10}{'CPU s':>8}")
    for source in (ours, theirs):
        for result in source(X, given.y, new, given.truth):
            name, accuracy, loss, seconds = result
            print(f"{name:44}{accuracy:9.3f}{loss:10.3f}{seconds:8.2f}", flush=True)


def few_labels(given: Documents, per_class: int, draws: int = 5) -> None:
    """Print the accuracy of some labelled documents, without and with the unlabelled ones."""
    words = lk.BagOfWords()
    X, new = words.fit_transform(given.train), words.transform(given.test)
    found: dict[Any, list[float]] = {weight: [] for weight in WEIGHTS}
    for seed in range(draws):
        y = _few_of(given.y, per_class, np.random.default_rng(seed))
        for weight in WEIGHTS:
            model = lk.NaiveBayes(
                "multinomial", smoothing="auto", unlabelled="", unlabelled_weight=weight, tol=1e-6
            ).fit(X, y)
            found[weight].append(model.score(new, given.truth))
            if not (np.diff(model.solution_.trace) <= 1e-6).all():
                print(f"the bound FALLS with the weight {weight}")
    print(f"\n{per_class} labelled documents of each class, the rest unlabelled, {draws} draws")
    for weight, each in found.items():
        print(f"weight {weight!s:5} accuracy {np.mean(each):.3f} (SD {np.std(each):.3f})")


def _few_of(y: Any, per_class: int, rng: np.random.Generator) -> Any:
    """The labels, empty but for some documents of each class."""
    out = np.full(len(y), "", dtype=y.dtype)
    for label in np.unique(y):
        own = np.flatnonzero(y == label)
        out[rng.choice(own, min(per_class, len(own)), replace=False)] = label
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--corpora", nargs="*", default=CORPORA, choices=CORPORA)
    parser.add_argument("--labelled", type=int, default=20, help="documents of each class")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for corpus in given.corpora:
        table(corpus, documents(given.folder, corpus))
    if "20news" in given.corpora:
        few_labels(documents(given.folder, "20news"), given.labelled)


if __name__ == "__main__":
    main()
