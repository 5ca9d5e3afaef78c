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
from likely.distributions import Bernoulli, Complement, Multinomial
from likely.generative.naive_bayes import NaiveBayes
from likely.inputs.estimators import feature_names
from likely.linear.logistic import LogisticRegression
from likely.linear.softmax import SoftmaxRegression
from likely.special import log_softmax
from likely.text.bag_of_words import BagOfWords
from likely.text.parts import over_parts
from likely.text.term_tables import TermIds


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
    if type(model) is SoftmaxRegression or _is_logistic(model):
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


def _is_logistic(model: Any) -> bool:
    return type(model) is LogisticRegression and model.likelihood_.link.name == "logit"


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
