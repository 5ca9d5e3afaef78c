"""Contributions of the terms of a document to the log-odds of its classes.

    log p(k | d) = b_k + Σ_v x_dv W_vk + const

x_dv is the count of a term, its presence or its weight by tf-idf; what a term adds is divided
equally among its occurrences.  The evidence of a calibrated naive Bayes is divided as its
``explain`` divides it.
"""

from typing import Any

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.explanations.explanation import log_odds_explanation, reference_class
from likely.generative.naive_bayes import NaiveBayes
from likely.text.bag_of_words import BagOfWords
from likely.text_models.linear_scores import LinearScores
from likely.text_models.term_places import TermPlaces, term_places
from likely.text_models.text_explanation import TextExplanation

ABSENT = "terms that are absent"  # their part of the log-likelihood of presences
RUNS = "A term of several words or characters adds an equal part to each of them."


def explain_document(
    words: BagOfWords,
    model: Any,
    scores: LinearScores,
    document: str,
    classes: tuple[int, int],
    probability: float,
) -> TextExplanation:
    """What the words of a document add to the log-odds of the first class against the second."""
    row = words.transform([document])
    parts, absent, base = _contributions(model, scores, row.indices, row.data.astype(np.float64))
    places = term_places(words._analysis(), document)
    pair = list(classes[::-1])  # the reference first
    of_term = _per_occurrence(words, places, row.indices, parts)[:, pair]
    names = [_visible(term.name, words.analyzer) for term in places.terms]
    sums, distinct = _by_name(names, of_term)
    if absent.any():
        sums, distinct = np.vstack([sums, absent[pair]]), [*distinct, ABSENT]
    explanation = log_odds_explanation(
        sums[None],
        base[pair],
        model.classes_[pair],
        None,
        distinct,
        notes=(RUNS,) if any(len(term.words) > 1 for term in places.terms) else (),
        base_is="prior" if type(model) is NaiveBayes else "intercept",
    )
    with np.errstate(invalid="ignore"):  # −inf − (−inf)
        by_word = places.by_word(of_term[:, 1] - of_term[:, 0])
    return TextExplanation(explanation, places, by_word, probability)


def two_classes(log_proba: Array, classes: Array, label: Any, against: Any) -> tuple[int, int]:
    """The positions of the class that is explained, and of the one that it is compared with."""
    if len(classes) < 2:
        raise InvalidInput(
            f"the model knows one class, {classes.tolist()[0]!r}; log-odds compare two. Fit it to "
            "documents of at least two classes."
        )
    order = np.argsort(-log_proba, kind="stable")
    other = None if against is None else reference_class(classes, against)
    if label is not None:
        chosen = reference_class(classes, label)
    else:
        chosen = int(next(k for k in order if k != other))
    if other is None:
        other = int(next(k for k in order if k != chosen))
    if chosen == other:
        raise InvalidInput(
            f"the class {classes.tolist()[chosen]!r} was to be compared with itself; two classes "
            "were expected. Leave label or against out."
        )
    return chosen, other


def _contributions(
    model: Any, scores: LinearScores, columns: Array, values: Array
) -> tuple[Array, Array, Array]:
    """What each column adds to each class, what absent ones add, and the base of each class."""
    parts = np.zeros((len(columns), len(scores.intercept)))
    np.multiply(values[:, None], scores.weights[columns], where=values[:, None] != 0, out=parts)
    if type(model) is not NaiveBayes:
        return parts, np.zeros(len(scores.intercept)), scores.intercept
    together = np.vstack([parts, scores.intercept])[None]
    prior, length = model.class_log_prior_, np.array([values.sum()])
    absent = np.vstack([np.zeros(parts.shape), scores.intercept])
    found = model._evidence.contributions(together, prior, length, absent)[0]
    return found[:-1], found[-1], prior


def _per_occurrence(words: BagOfWords, places: TermPlaces, columns: Array, parts: Array) -> Array:
    """What each occurrence of a term adds to each class; 0 for terms without a column."""
    of_term = words.columns_of([term.name for term in places.terms])
    place = {column: i for i, column in enumerate(columns.tolist())}
    row = np.array([place.get(column, -1) for column in of_term.tolist()], dtype=np.int64)
    times = np.bincount(row[row >= 0], minlength=len(columns))
    out = np.zeros((len(row), parts.shape[1]))
    out[row >= 0] = (parts / np.maximum(times, 1)[:, None])[row[row >= 0]]
    return out


def _by_name(names: list[str], of_term: Array) -> tuple[Array, list[str]]:
    """The sums of the terms of a name, of those that add anything, in the order of the document."""
    place: dict[str, int] = {}
    rows = [place.setdefault(name, len(place)) for name in names]
    sums = np.zeros((len(place), of_term.shape[1]))
    np.add.at(sums, rows, of_term)
    kept = np.flatnonzero((sums != 0).any(axis=1))
    distinct = list(place)
    return sums[kept], [distinct[i] for i in kept]


def _visible(term: str, analyzer: str) -> str:
    """A term for a table; the spaces of runs of characters are seen."""
    return term if analyzer == "word" else term.replace(" ", "␣")
