"""Scores of documents that are sums over their terms, without a matrix of documents and terms.

    s_k(d) = b_k + Σ_v x_dv W_vk

Naive Bayes of counts and presences, and softmax regression, have this form: the log-likelihood of
each class, or its linear predictor, up to a term that the classes share.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array, Codes
from likely.data.sequences import TermIds
from likely.distributions import Bernoulli, Complement, Multinomial
from likely.errors import InvalidInput
from likely.explanations.explanation import log_odds_explanation, reference_class
from likely.generative.naive_bayes import NaiveBayes
from likely.inputs.estimators import feature_names
from likely.linear.logistic import LogisticRegression
from likely.linear.softmax import SoftmaxRegression
from likely.special import log_softmax
from likely.text.bag_of_words import BagOfWords
from likely.text.documents import over_parts
from likely.text.text_explanation import TermPlaces, TextExplanation, term_places


class DocumentScores(NamedTuple):
    """The scores of documents, and the numbers of their terms."""

    scores: Array  # (n, n_classes)
    lengths: Array  # (n,)


@final
@dataclass(frozen=True, eq=False)
class LinearScores:
    """A score for each class, linear in the counts of terms."""

    weights: Array  # W, (n_terms, n_classes)
    intercept: Array  # b, (n_classes,): the score of a document without any term

    def of_terms(self, found: TermIds, *, once: bool) -> DocumentScores:
        """The scores of documents whose terms are known."""
        from likely.fast.text_scores import add_weights, add_weights_once

        n = found.stops.size
        scores, lengths = np.zeros((n, self.weights.shape[1])), np.zeros(n)
        if once:
            last = np.zeros(len(self.weights), np.int64)
            add_weights_once(found.ids, found.stops, last, self.weights, scores, lengths)
        else:
            add_weights(found.ids, found.stops, self.weights, scores, lengths)
        scores += self.intercept
        return DocumentScores(scores, lengths)

    def largest(self, model: Any, most: int) -> dict[Any, dict[str, float]]:
        """For each class the columns with the largest weights against the mean of the others."""
        names, n_classes = feature_names(model), self.weights.shape[1]
        relative = self.weights - self.weights.mean(axis=1, keepdims=True)
        relative *= n_classes / max(1, n_classes - 1)  # the mean of the others, without the class
        order = np.argsort(-relative, axis=0, kind="stable")[:most]
        return {
            label: {names[j]: float(relative[j, k]) for j in order[:, k]}
            for k, label in enumerate(model.classes_.tolist())
        }

    def of_documents(
        self, words: BagOfWords, documents: Any, answer: Callable[[DocumentScores], Array]
    ) -> Array:
        """What ``answer`` makes of the scores of documents, a part of them at a time."""
        words._known()  # made here, not by every thread

        def of_part(part: Any) -> Array:
            return answer(self.of_terms(words._columns(part), once=bool(words.binary)))

        found = list(over_parts(words.executor, of_part, documents))
        if found:
            return np.concatenate(found)
        return answer(DocumentScores(np.zeros((0, self.intercept.size)), np.zeros(0)))


def linear_scores(model: Any, *, once: bool) -> LinearScores | None:
    """The linear scores of a fitted model of counts, or (``once``) of presences; None without.

    Those of naive Bayes are its log p(x | k); the class prior is not in them.
    """
    if type(model) is NaiveBayes:
        return _of_naive_bayes(model, once=once)
    if type(model) is SoftmaxRegression:
        return _of_coefficients(model)
    if type(model) is LogisticRegression and model.likelihood_.link.name == "logit":
        return _of_coefficients(model)
    return None


def _of_naive_bayes(model: NaiveBayes, *, once: bool) -> LinearScores | None:
    """Naive Bayes with one family for all columns, whose log p(x | k) is linear in x."""
    if len(model.distribution_.parts) > 1 or any(model.schema_.as_codes):
        return None
    (member,) = model.distribution_.parts
    if isinstance(member, Bernoulli) and not once:
        return None  # it refuses counts
    if not isinstance(member, Bernoulli | Complement | Multinomial):
        return None
    form = member.linear_form()
    is_count = isinstance(member, Multinomial)  # −∞: a term that a class cannot have
    if not is_count and not np.isfinite(form.coef).all():
        return None
    return LinearScores(_for_loops(form.coef.T), form.intercept)


def _of_coefficients(model: Any) -> LinearScores:
    coef, intercept = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    if len(coef) == 1:  # of the second of two classes
        coef, intercept = np.vstack([np.zeros_like(coef), coef]), np.append(0.0, intercept)
    return LinearScores(_for_loops(coef.T), intercept)


def _for_loops(weights: Array) -> Array:
    """The weights of a term side by side, as the compiled loops read them."""
    return np.require(weights, np.float64, ["C", "W"])


def log_posterior(model: Any, found: DocumentScores) -> Array:
    """log p(k | d) of a model from the linear scores of documents, (n, n_classes)."""
    if type(model) is NaiveBayes:
        prior = model.class_log_prior_
        return model._evidence.log_posterior_or_prior(prior, found.scores, found.lengths)
    return log_softmax(found.scores, axis=1)


def most_probable(model: Any, found: DocumentScores) -> Codes:
    """The class of the largest log p(k | d) of each document, as its index."""
    if type(model) is not NaiveBayes:
        return found.scores.argmax(axis=1)
    if model._evidence.is_calibrated:
        return log_posterior(model, found).argmax(axis=1)
    joint = model.class_log_prior_ + found.scores
    impossible = np.isneginf(joint.max(axis=1, keepdims=True))
    return np.where(impossible, model.class_log_prior_, joint).argmax(axis=1)


# ── Contributions of the terms of a document to the log-odds of its classes ───────────────────────
#     log p(k | d) = b_k + Σ_v x_dv W_vk + const
#
# x_dv is the count of a term, its presence or its weight by tf-idf; what a term adds is divided
# equally among its occurrences.  The evidence of a calibrated naive Bayes is divided as its
# ``explain`` divides it.

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
    names = [term.name for term in places.terms]
    if words.analyzer != "word":  # the spaces of runs of characters are seen
        names = [name.replace(" ", "␣") for name in names]
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
