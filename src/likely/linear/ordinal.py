"""Ordinal regression with cumulative links: K ordered classes, one predictor, K − 1 thresholds.

    g(P(Y > j)) = b_j + wᵀx,   j = 0 … K − 2,   b_0 > b_1 > … > b_{K−2}

With the logit these are proportional odds: two inputs differ in their log-odds of Y > j by
wᵀ(x − x′), for every j.  Probit, cloglog, loglog and cauchit are the same model with other
noise distributions.

References
----------
McCullagh (1980), Regression models for ordinal data, JRSS B 42, 109–142.
Agresti, Analysis of Ordinal Categorical Data, 2nd ed., §3.2 and §5.1.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Self, final

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags

from likely._typing import Array
from likely.data.block import Block
from likely.errors import InvalidInput
from likely.explanations.explanation import Explanation
from likely.graphical.model.model_plates import CUTS, PlateParameter
from likely.inputs.estimators import feature_names
from likely.inputs.parameters import Estimator
from likely.inputs.soft_labels import ClassProbabilities
from likely.likelihoods.ordinal import Ordinal
from likely.linear.class_inference import check_kind
from likely.linear.coding import LinearRows
from likely.linear.contributions import predictor_explanation, remember_means
from likely.linear.formula import FormulaTerms
from likely.linear.objective import ordinal_objective
from likely.linear.ordinal_fitting import UNIT_LINKS, OrdinalFit, fit_ordinal, open_ordered
from likely.linear.path_models import PathModel, PathRows, PathSlopes
from likely.linear.surface import FittedLinear
from likely.links import UnitLink
from likely.names import lookup
from likely.objectives.model import ModelObjective, Reduction
from likely.penalties import Penalty
from likely.solvers.stopping import StoppingRule


@final
class OrdinalRegression(FittedLinear, ClassProbabilities, PathModel, ClassifierMixin, Estimator):
    """Cumulative-link models for ordered classes: proportional odds, and other links.

    It minimises −Σ wᵢ log P(Y = yᵢ | xᵢ) + l1·‖w‖₁ + ½·l2·‖w‖²; thresholds are never penalised.

    Parameters
    ----------
    link : {"logit", "probit", "cloglog", "loglog", "cauchit"}, default="logit"
        Link between P(Y > j) and b_j + wᵀx: a name, or a link of ``likely.links`` onto (0, 1).
    l2 : float, array of one per column, or mapping from column to float, default=1.0
        Strength of the L2 penalty ½·l2·Σw² on the *summed* log-likelihood; 0 is maximum likelihood.
    order : sequence or None, default=None
        The classes from lowest to highest.  None is the order of y where it is an ordered
        categorical, else of the sorted labels.
    l1 : float, array of one per column, or mapping from column to float, default=0.0
        Strength of the L1 penalty l1·Σ|w| on the *summed* log-likelihood.
    penalty : Penalty or None, default=None
        A penalty of ``likely.penalties`` in place of l1 and l2: ``Group([["length", "width"]])``
        keeps or drops columns together, ``L2.of_prior(variance)`` is a Gaussian prior, and
        penalties add.
    reference : mapping or None, default=None
        The reference category of columns of text by name, ``{"colour": "red"}``: it has no
        coefficient, and the others are compared with it.  None is the first category: in the
        order of a pandas categorical, of an ``Enum`` of polars or of an ordered dictionary of
        Arrow, else sorted.  With a penalty every category has a coefficient, and there is none.
    standard_errors : str or None, default="model"
        Kind of standard errors: ``model`` (the observed information), robust ``HC0``, ``HC1``,
        ``HC2``, ``HC3``, or ``clustered`` (needs ``groups``).  None computes none.
    solver : {"auto", "newton", "lbfgs", "gradient-descent", "proximal-newton", "fista"}
        ``auto`` is Newton; with l1 proximal Newton; above 2,000 parameters L-BFGS.
    tol : float, default=1e-8
        Stop when the gap to the optimum, as a share of the null deviance, is below it; standard
        errors are computed at a Newton decrement of 1e-10 nats or less.
    max_iter : int, default=1000
        Maximum number of steps of the solver; a fit that reaches it warns.
    stop : StoppingRule or None, default=None
        A rule of ``likely.solvers`` that may end the search before ``tol`` is reached:
        ``HeldOutPatience(5)`` holds out rows and keeps the step that is best on them,
        ``Seconds(60)`` limits the time.  ``solution_`` and the summary say that it did.
    warm_start : bool, default=False
        Start the solver from the coefficients of the last fit.
    executor : {"auto", "serial", "threads"} or Executor, default="auto"
        How sums over blocks of rows are computed: ``serial``, ``threads`` or ``auto``.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        From lowest to highest; the columns of ``predict_proba``.
    coef_ : array of shape (n_coefficients,)
        w.  A column of categories has one entry for each, or without a penalty for all but the
        first; ``terms_`` names them.
    thresholds_ : array of shape (n_classes − 1,)
        b, decreasing: the intercept of Y > j.
    inference_ : Inference or None
        Estimates and covariance of (w, b), log-likelihoods; None above 1,000 parameters.
    solution_ : Solution
        How the search ended: ``solver``, ``passes``, ``gap``, ``converged``.

    References
    ----------
    McCullagh (1980), Regression models for ordinal data, JRSS B 42, 109–142.

    Examples
    --------
    >>> import numpy as np
    >>> from likely.linear.ordinal import OrdinalRegression
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]])
    >>> y = ["low", "low", "mid", "low", "high", "mid"]
    >>> model = OrdinalRegression(order=["low", "mid", "high"]).fit(X, y)
    >>> print(model.classes_, model.predict([[-1.0], [9.0]]))
    ['low' 'mid' 'high'] ['low' 'high']
    >>> model.expected_rank([[0.0], [5.0]]).round(2)  # the lowest class has rank 1
    array([1.17, 2.26])
    """

    def __init__(
        self,
        link: str | UnitLink = "logit",
        *,
        l2: Any = 1.0,
        order: Sequence[Any] | None = None,
        l1: Any = 0.0,
        penalty: Penalty | None = None,
        reference: Mapping[Any, Any] | None = None,
        standard_errors: str | None = "model",
        solver: str = "auto",
        tol: float = 1e-8,
        max_iter: int = 1000,
        stop: StoppingRule | None = None,
        warm_start: bool = False,
        executor: Any = "auto",
    ) -> None:
        self.link = link
        self.l2 = l2
        self.order = order
        self.l1 = l1
        self.penalty = penalty
        self.reference = reference
        self.standard_errors = standard_errors
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.stop = stop
        self.warm_start = warm_start
        self.executor = executor

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn w and b.

        X may be a frame or a file; y, weights and groups may be names of its columns.
        """
        lookup("link of an ordinal response", self.link, UNIT_LINKS)  # refused before rows are read
        check_kind(self.standard_errors)
        return self.fit_opened(open_ordered(self, X, y, sample_weight, groups))

    def open_path(self, rows: PathRows) -> LinearRows:
        """Internal: the rows, checked as ``fit`` checks them and cut into blocks."""
        lookup("link of an ordinal response", self.link, UNIT_LINKS)
        return open_ordered(self, rows.X, rows.y, rows.weight)

    def fit_opened(self, rows: LinearRows) -> Self:
        """Internal: fit to rows that are checked and cut into blocks: see ``open_ordered``."""
        link = lookup("link of an ordinal response", self.link, UNIT_LINKS)
        likelihood = Ordinal(len(rows.classes), link)
        return self._store(fit_ordinal(self, rows, likelihood), rows, likelihood)

    def objective(
        self, X: Any, y: Any, sample_weight: Any = None, *, reduction: Reduction = "sum"
    ) -> ModelObjective:
        """What ``fit`` minimises on these rows, as a function of θ = (coef, thresholds)."""
        link = lookup("link of an ordinal response", self.link, UNIT_LINKS)
        model = self.for_prediction()
        rows = open_ordered(model, X, y, sample_weight)
        return ordinal_objective(model, rows, Ordinal(len(rows.classes), link), reduction)

    def _store(self, fit: OrdinalFit, rows: LinearRows, likelihood: Ordinal) -> Self:
        remember_means(self, rows)
        self.likelihood_, self.coding_, self.classes_ = likelihood, rows.coding, rows.classes
        self.coef_, self.thresholds_ = fit.coef, fit.thresholds
        self.solution_, self.inference_ = fit.solution, fit.inference
        self.separated_, self.library_ = fit.separated, rows.library
        return self

    def path_slopes(self, block: Block) -> PathSlopes:
        """Internal: the slope in the predictor, and its information."""
        eta, thresholds = self.path_predictor(block), self.thresholds_
        slope = self.likelihood_.derivatives(block.target, eta, thresholds).slope
        return PathSlopes(slope[:, None], self.likelihood_.information(eta, thresholds).eta)

    def path_deviance(self, block: Block) -> Array:
        """Internal: −2 log P(Y = y | x)."""
        eta = np.reshape(self.path_predictor(block), -1)
        log_proba = self.likelihood_.log_probability(eta, self.thresholds_)
        return np.asarray(-2 * log_proba[np.arange(block.n_rows), block.target])

    def path_intercepts(self) -> Array:
        """Internal: the thresholds."""
        return np.asarray(self.thresholds_)

    @property
    def intercept_(self) -> float:
        """0, because the thresholds replace it."""
        return 0.0

    def survival(self, X: Any) -> Array:
        """P(Y > j | x), (n, n_classes − 1); it decreases with j."""
        eta = self.linear_predictor(X)
        return self.likelihood_.survival(eta, self.thresholds_)

    def predict_log_proba(self, X: Any) -> Array:
        """log P(Y = k | x), (n, n_classes)."""
        eta = self.linear_predictor(X)
        return self.likelihood_.log_probability(eta, self.thresholds_)

    def expected_rank(self, X: Any) -> Array:
        """Σ_k k P(Y = k | x), the lowest class having rank 1; (n,)."""
        return 1 + self.survival(X).sum(axis=1)

    @classmethod
    def _intercept_setting(cls, terms: FormulaTerms, settings: Any) -> dict[str, bool]:
        """None: the thresholds take its place."""
        if not terms.intercept:
            raise InvalidInput(
                f"The formula {terms.text!r} leaves the intercept out; ordered classes have "
                "thresholds, which cannot be left out. Remove 0 + from it."
            )
        return {}

    def _plate_parameters(self) -> tuple[PlateParameter, ...]:
        return (PlateParameter("w"), PlateParameter("bₖ", CUTS))

    def _explained(self, parts: tuple[Array, Array], against: Any) -> Explanation:
        """Contributions to P(Y > j), on the scale of its link: they are the same for every j."""
        contributions, at_means = parts
        repeated = np.repeat(contributions, len(self.thresholds_), axis=2)
        return predictor_explanation(
            (repeated, at_means + self.thresholds_),
            0.0,
            feature_names(self),
            against,
            link=self.likelihood_.link.name,
            groups=[f"above {label}" for label in self.classes_.tolist()[:-1]],
        )

    def _constants(self) -> list[tuple[str, list[float]]]:
        labels = self.classes_.tolist()[:-1]
        pairs = zip(labels, self.thresholds_.tolist(), strict=True)
        return [(f"Y > {label}", [threshold]) for label, threshold in pairs]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.poor_score = True  # where the classes have no order to follow
        return tags
