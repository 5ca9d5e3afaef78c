"""Additive models of classes: smooth curves below the logit, the softmax and ordered classes.

    two classes       log-odds = b + Σ_j f_j(x_j)
    several classes   p(y = k | x) ∝ exp(b_k + Σ_j f_jk(x_j)), the classes sharing the λ of a term
    ordered classes   P(y > k | x) = σ(b_k + Σ_j f_j(x_j))

No λ is below 0.03: where classes are nearly separated, Laplace's approximation of the marginal
likelihood would want curves that are too steep.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import expit, ndtri, xlogy
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.additive.additive_fit import Wishes, encoded, fit_terms
from likely.additive.fitted_terms import TERMS, FittedTerms
from likely.compute.executor import Executor
from likely.data.block import ArrayBlocks, Block, Blocks, MappedBlocks
from likely.data.categories import ordered_categories
from likely.data.schema import Schema
from likely.errors import InvalidInput
from likely.explanations.explanation import Explanation, like_its_rows
from likely.inputs.estimators import Estimator, columns_named, feature_names
from likely.inputs.rows import EncodedRows, RowExtras, check_rows
from likely.inputs.soft_labels import ClassProbabilities
from likely.inputs.tables import own_columns
from likely.inputs.targets import codes_among, ordered_classes, refuse_one_class
from likely.likelihoods.bernoulli import Bernoulli
from likely.linear.logistic import LogisticRegression
from likely.linear.ordinal import OrdinalRegression, recoded
from likely.linear.response_predictions import check_interval_of, refuse_zero_or_one
from likely.linear.softmax import SoftmaxRegression
from likely.linear.surface import RELATIVE, NotOfThisFit, class_explanation
from likely.numerics.intervals import refuse_level
from likely.objectives.linear import Total
from likely.output.description import Description
from likely.storage.declarations import FITTED_CLASSES, Same, Saved

RESPONSES = ("auto", "softmax", "ordinal")


def refuse_unless_two(model: "AdditiveClassifier") -> bool:
    """Refuse intervals where the covariance between predictors or thresholds is not known."""
    linear = vars(model).get("linear_")
    if linear is None or isinstance(linear, LogisticRegression):
        return True
    raise NotOfThisFit(
        f"An interval for a probability was asked of {model._described()}; one predictor with its "
        "intercept was expected, of two classes. Use AdditiveClassifier() for one class against "
        "the others, or effect(term).se, the standard errors of a term."
    )


class AdditiveClassifier(ClassProbabilities, FittedTerms, ClassifierMixin, Estimator):
    """A generalized additive model (GAM) of classes: a smooth curve for each number.

    Parameters
    ----------
    response : {"auto", "softmax", "ordinal"}, default="auto"
        ``"ordinal"`` has one curve for each column and ordered classes, ``"softmax"`` a curve for
        each class; two classes have one.  ``"auto"`` is ordinal if ``order`` is given.
    terms : "auto" or mapping, default="auto"
        How columns enter, by name: ``Smooth(k=20)``, ``Smooth(cyclic=24)``, ``"linear"`` or
        ``"category"``.  Others are chosen by the rule: curves, and circles for whole numbers in
        columns that are called hour, month or weekday.
    interactions : int or sequence of pairs, default=0
        How many pairs of columns may be added at most, where the evidence for them is clear, or
        the pairs themselves.
    order : sequence or None, default=None
        The classes from lowest to highest, for an ordinal response; None is the order of an ordered
        categorical, else of the sorted labels.
    executor : str or Executor, default="auto"
        How sums over blocks of rows are computed: ``serial``, ``threads`` or ``auto``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    terms_ : AdditiveTerms
        The functions of each column; ``term_names_`` names them.
    edf_ : array
        The effective number of coefficients, one for each function; ``summary()`` adds them up.
    strength_ : array
        λ of each group of functions.
    deviance_explained_ : float
        The share of the deviance of the class shares that the model explains.
    log_likelihood_, n_counted_ : float
        Of the rows of the fit, and how many parameters ``aic`` and ``bic`` count.
    linear_ : LogisticRegression, SoftmaxRegression or OrdinalRegression
        The linear model of the functions.

    Examples
    --------
    >>> import numpy as np
    >>> from likely import AdditiveClassifier
    >>> x = np.linspace(-1, 1, 200)[:, None]
    >>> y = np.where(np.abs(x[:, 0]) < 0.5, "inside", "outside")
    >>> AdditiveClassifier().fit(x, y).predict([[-0.9], [0.0], [0.9]]).tolist()
    ['outside', 'inside', 'outside']
    """

    saved: ClassVar = (
        TERMS
        | FITTED_CLASSES
        | Saved(
            {"linear_": LogisticRegression | OrdinalRegression | SoftmaxRegression},
            rules=(Same("classes_", "linear_.classes_"),),
        )
    )

    def __init__(
        self,
        response: str = "auto",
        *,
        terms: Any = "auto",
        interactions: Any = 0,
        order: Any = None,
        executor: str | Executor = "auto",
    ) -> None:
        self.response = response
        self.terms = terms
        self.interactions = interactions
        self.order = order
        self.executor = executor

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit to rows X with labels y.

        X is an array, a data frame, or a file (its path, or ``likely.read``); with a frame or a
        file, the other arguments may be names of its columns.
        """
        if self.response not in RESPONSES:
            raise InvalidInput(
                f"response={self.response!r} was given; one of {', '.join(RESPONSES)} was "
                "expected. Use AdditiveModel for numbers."
            )
        named = (y, sample_weight)
        self.beside_ = tuple(name for name in named if isinstance(name, str))
        checked = check_rows(self, X, y, RowExtras(sample_weight), target="class", sparse=False)
        names, wishes = feature_names(self), Wishes(self.terms, self.interactions)
        rows = encoded(checked, wishes, names)
        refuse_one_class(rows.classes, self)
        ordinal = self.response == "ordinal" or (self.response == "auto" and self.order is not None)
        linear: LogisticRegression | OrdinalRegression | SoftmaxRegression
        likelihood = None
        if ordinal:
            order = ordered_categories(y) if self.order is None else self.order
            rows = in_order(rows, order)
            linear = OrdinalRegression(standard_errors=None, executor=self.executor)
        elif len(rows.classes) == 2:
            linear = LogisticRegression(standard_errors=None, executor=self.executor)
            likelihood = Bernoulli().likelihood()
        else:
            linear = SoftmaxRegression(standard_errors=None, executor=self.executor)
        several = isinstance(linear, SoftmaxRegression)
        with columns_named(self):
            found = fit_terms(
                self,
                linear,
                rows,
                wishes,
                names,
                likelihood=likelihood,
                n_predictors=len(rows.classes) if several else 1,
            )
        self._store_terms(found, linear, rows.library)
        self.classes_ = rows.classes
        term = partial(block_classes, len(rows.classes))
        weight = np.asarray(rows.executor.sum(term, rows.blocks).value)
        null = float(np.sum(xlogy(weight, weight.sum() / weight)))
        self.deviance_explained_ = 1 - found.smoothing.loss / null
        self.log_likelihood_ = -found.smoothing.loss
        self.n_counted_ -= several  # a shift of all intercepts changes nothing
        return self

    def predict_log_proba(self, X: Any) -> Array:
        """log p(k | x), (n, n_classes)."""
        check_is_fitted(self)
        return self._of_phi(self.linear_.predict_log_proba, X)

    def linear_predictor(self, X: Any) -> Array:
        """η of each row: the log-odds of two classes, one for each of several, (n,) or (n, K)."""
        check_is_fitted(self)
        return self._of_phi(self.linear_.linear_predictor, X)

    @available_if(refuse_unless_two)
    def predict_interval(self, X: object, level: float = 0.95, *, of: str = "auto") -> Array:
        """An interval for p(class 1 | x) of each row, (n, 2), of two classes.

        The probability is the mean of a class that is 0 or 1: ``of="mean"``, as ``of="auto"``.  It
        covers the true probability about as often as it says, averaged over rows like those of the
        fit, where curves are not so steep that their λ is at its least.
        """
        check_is_fitted(self)
        refuse_level(level)
        if check_interval_of(of, numbers=False) == "y":
            refuse_zero_or_one(Bernoulli.name)
        reach = float(ndtri((1 + level) / 2)) * self._errors(X)
        eta = self.linear_predictor(X)
        return expit(np.column_stack([eta - reach, eta + reach]))

    def _of_phi(self, answer: Callable[[Array], Array], X: object) -> Array:
        """An answer of the linear model for all rows; a warning names those outside the fit."""
        found = [(answer(part.phi), part.far) for part in self._pieces(X)]
        values, far = zip(*found, strict=True)
        self._note_bounded(np.concatenate(far))
        return np.concatenate(values)

    def check_k(self, X: object, y: object, *, random_state: object = 0) -> Description:
        """Whether each number has enough functions, by the order of the residuals 1 − p and −p."""
        X, y = own_columns(X, y)
        proba = self.predict_proba(X)
        codes = codes_among(y, self.classes_, n_rows=len(proba))
        return self._checked(X, np.eye(len(self.classes_))[codes] - proba, random_state)

    @like_its_rows
    def explain(self, X: Any, against: Any = None) -> Explanation:
        """What each term adds to the log-odds of the classes, relative to the training rows' mean.

        Of ordered classes, to the score that orders them.
        """
        check_is_fitted(self)
        if self._is_ordinal:
            return Explanation(
                self.contributions(X),
                self._coef() @ self.centre_,
                np.array(["score"], dtype=object),
                self.term_names_,
                quantity="score of the ordered classes",
                notes=(RELATIVE,),
            )
        at_means = self._base() - np.atleast_1d(np.asarray(self.linear_.intercept_))
        parts = self.contributions(X), at_means
        return class_explanation(
            parts, self.linear_.intercept_, self.classes_, self.term_names_, against
        )

    @property
    def _is_ordinal(self) -> bool:
        return isinstance(self.linear_, OrdinalRegression)

    def _described(self) -> str:
        if self._is_ordinal:
            return f"{len(self.classes_)} ordered classes, logit link"
        if len(self.classes_) == 2:
            return f"P(y = {self.classes_.tolist()[1]!r}), logit link"
        return f"{len(self.classes_)} classes, softmax link"

    def _classes(self) -> tuple[str, ...]:
        several = len(self._coef()) > 1
        return tuple(str(label) for label in self.classes_.tolist()) if several else ()

    @property
    def _estimates_dispersion(self) -> bool:
        return False

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def in_order(rows: EncodedRows[Schema], order: Any) -> EncodedRows[Schema]:
    """Rows whose class codes increase from the lowest class to the highest."""
    classes, rank = ordered_classes(rows.classes, order)
    blocks: Blocks = rows.blocks
    if isinstance(blocks, ArrayBlocks):
        blocks = replace(blocks, y=rank[blocks.target])
    else:
        blocks = MappedBlocks(blocks, partial(recoded, rank), blocks.n_features)
    return rows._replace(blocks=blocks, classes=classes)


def block_classes(n_classes: int, block: Block) -> Total:
    """The weight of each class."""
    return Total(np.bincount(block.target, weights=block.weight, minlength=n_classes).astype(float))
