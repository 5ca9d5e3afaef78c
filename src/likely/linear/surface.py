"""Methods of fitted linear models: predictors, coefficients by name, summaries, classes.

    η = b + xᵀβ + o        o = offset + ln exposure        μ = g⁻¹(η)

Contributions of columns to a linear predictor are relative to the mean of the training rows:

    η = [b + x̄ᵀβ] + Σ_j (x_j − x̄_j) β_j

A column of categories stands for its columns of 0 and 1, whose means are the shares of the
categories, and contributes their sum.  Of sparse columns, which are mostly 0, x̄ is 0.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from likely._typing import Array
from likely.data.block import ArrayBlocks
from likely.data.coding import Coding
from likely.data.layouts.base import Csr, Design
from likely.data.layouts.intercept import Intercept, Mixed
from likely.errors import InvalidInput
from likely.explanations.explanation import (
    Explanation,
    like_its_rows,
    log_odds_explanation,
    refuse_against,
)
from likely.fitting.goodness import HypothesisTest
from likely.fitting.inference import Inference, inference_of
from likely.fitting.summary import Summary, describe_coefficients
from likely.fitting.summary_notes import ratio_of, remarks_on_held_rows, response_described
from likely.graphical.drawing.diagram import Diagram
from likely.graphical.model.model_plates import PlateParameter, conditional_plate
from likely.inputs.coding import columns_coded, new_rows, refuse_gaps
from likely.inputs.estimators import ColumnNeeds, feature_names
from likely.inputs.tables import own_columns
from likely.inputs.targets import check_offset
from likely.linear.fit import has_penalty, penalty_described
from likely.linear.formula import FormulaTerms, column_given, formula_rows, refuse_reference
from likely.linear.response_predictions import check_exposure
from likely.output.description import ColumnsRead, Description
from likely.output.formatting import count
from likely.penalties.base import Penalty
from likely.solvers.minimise import Solution
from likely.storage.declarations import (
    FITTED_COLUMNS,
    Estimates,
    Needed,
    Numbers,
    SameCount,
    SameShape,
    Saved,
)

MOST_CELLS = 50_000_000  # of one explanation: 400 MB
RELATIVE = "Contributions are relative to the mean of the training rows."
LINEAR = FITTED_COLUMNS | Saved(  # what a file holds of a linear model
    {
        "beside_": tuple[str, ...],
        "coding_": Coding,
        "coef_": Numbers("float64", "finite"),
        "solution_": Solution,
        "inference_": Inference | None,
    },
    {
        "column_means_": Numbers("float64", "finite"),
        "held_out_": tuple[float, float],
        "l2_": Numbers(float, "not negative"),
        "moved_by_": tuple[str, ...],
        "separated_": bool,
    },
    rules=(
        SameCount("n_features_in_", "coding_.schema.kinds"),
        SameCount("coding_.n_coefficients", "coef_.shape.-1"),
        SameCount("coef_.shape.-1", "column_means_"),
        Estimates("inference_.theta", "coef_"),
        Needed("solution_.held_out", "held_out_"),
    ),
)
WITH_INTERCEPT = LINEAR | Saved(
    {"intercept_": Numbers(float | Array, "finite")},
    rules=(SameShape("coef_[:-1]", "intercept_"),),
)


class NotOfThisFit(InvalidInput, AttributeError):
    """What a property says that this fit does not have; ``hasattr`` is then False."""


class StandardErrors(ABC):
    """Methods of a model that has standard errors."""

    l1: Any
    l2: Any
    penalty: Penalty | None
    solution_: Solution
    inference_: Inference | None

    @property
    @abstractmethod
    def terms_(self) -> tuple[str, ...]:
        """The name of each coefficient."""

    @abstractmethod
    def _described(self) -> str:
        """The response, for the title of a summary."""

    @property
    def n_iter_(self) -> int:
        """Steps of the search; a solution in closed form is one."""
        return max(1, self.solution_.n_iter)

    def for_prediction(self) -> Self:
        """This model, not fitted, and without standard errors, which predictions do not need."""
        return clone(self).set_params(standard_errors=None)

    def summary(self, level: float = 0.95) -> Summary:
        """Coefficients with standard errors, tests and intervals, as a table that prints well.

        Also R² or pseudo-R², and odds ratios, rate ratios or others where exp(coef) is one.
        """
        inference = self._inference()
        inference.quantile(level)  # refused here, not where the table is printed
        fitted, solution = vars(self), self.solution_
        coding = fitted.get("coding_")
        steps = count(solution.n_iter, "step") if solution.n_iter else ""
        return Summary(
            inference,
            title=f"{type(self).__name__}: {self._described()}",
            solver=", ".join(filter(None, (solution.solver, steps))),
            converged=solution.converged,
            stopped=solution.reason if solution.stopped and not solution.converged else "",
            separated=bool(fitted.get("separated_", False)),
            library=fitted.get("library_"),
            remarks=self._remarks(),
            n_iter=self.n_iter_,
            penalty=penalty_described(self) if inference.penalised else "",
            level=level,
            ratio=self._ratio(),
            references=coding.references() if isinstance(coding, Coding) else (),
        )

    # The names of statsmodels and R for what the summary shows.

    @property
    def bse(self) -> Any:
        """Standard errors of the coefficients, in the order of ``summary()``, intercept included.

        A pandas Series by term where the model was fitted on a pandas frame, else an array.
        """
        return self._by_term(self._inference().standard_errors)

    @property
    def tvalues(self) -> Any:
        """The coefficients over their standard errors, as ``bse``; z where the summary has z.

        A penalised fit has none: shrunken estimates over their errors are no test.
        """
        return self._by_term(self._tested("tvalues").z)

    @property
    def pvalues(self) -> Any:
        """Two-sided p-values of the coefficients, as ``bse``; a penalised fit has none."""
        return self._by_term(self._tested("pvalues").p)

    @property
    def llf(self) -> float:
        """The log-likelihood of the rows of the fit."""
        return float(self._inference().log_likelihood)

    @property
    def aic(self) -> float:
        """−2 ``llf`` + 2p; an estimated α is one of the p parameters, a dispersion is not.

        With a penalty, p is the effective number of parameters.
        """
        return float(self._inference().aic)

    @property
    def bic(self) -> float:
        """−2 ``llf`` + p log n, with the p of ``aic``."""
        return float(self._inference().bic)

    @property
    def rsquared(self) -> float:
        """R² of the rows of the fit, for a Gaussian response."""
        inference = self._inference()
        if inference.response != "gaussian":
            raise NotOfThisFit(
                f"rsquared was asked of a {inference.response} response; R² is the share of a sum "
                "of squares, which only a Gaussian one has. Read deviance_explained, or a "
                "pseudo-R² where there is one, from summary()."
            )
        return float(inference.r_squared)

    def _tested(self, asked: str) -> Inference:
        """The inference of a fit without a penalty, whose z and p are tests."""
        inference = self._inference()
        if inference.penalised:
            raise NotOfThisFit(
                f"{asked} were asked of a penalised fit ({penalty_described(self)}); its estimates "
                "are shrunken, so that z and p do not test whether a coefficient is 0. Fit it "
                "without a penalty (l2=0), or read summary(), whose note says what they mean."
            )
        return inference

    def _by_term(self, values: Array) -> Any:
        summary = self.summary()
        if summary.library != "pandas":
            return values.copy()
        frame = summary.to_frame()
        return type(frame["coef"])(values, index=frame.index)

    def _ratio(self) -> str:
        """The name of exp(coef); nothing where it has none."""
        likelihood = vars(self).get("likelihood_")
        return "" if likelihood is None else ratio_of(self._inference().response, likelihood.link)

    def plate(self) -> Diagram:
        """The plate diagram: x is given, y is modelled for each row, and parameters are shared."""
        parameters = self._plate_parameters()
        return conditional_plate(type(self).__name__, parameters, penalised=has_penalty(self))

    def _plate_parameters(self) -> tuple[PlateParameter, ...]:
        """The parameters in the plate diagram, the penalised one first."""
        return (PlateParameter("β"),)

    def wald_test(self, terms: Any, value: Any = 0.0) -> HypothesisTest:
        """Whether these coefficients (names, or rows of a contrast matrix) all equal ``value``.

        The name of a categorical column means all its coefficients.
        """
        given = [terms] if isinstance(terms, str) else terms
        if all(isinstance(name, str) for name in given):
            terms = [term for name in given for term in self._terms_called(name)]
        return self._inference().wald_test(terms, value)

    def _remarks(self) -> tuple[str, ...]:
        """Further notes for the summary."""
        formula = vars(self).get("formula_")
        written = () if formula is None else formula.remarks()
        return (*written, *remarks_on_held_rows(self))

    def _terms_called(self, name: str) -> list[str]:
        """The term of that name, or the levels of the column of that name."""
        levels = [term for term in self.terms_ if term.startswith(f"{name}[")]
        return [name] if name in self.terms_ or not levels else levels

    def _inference(self) -> Inference:
        check_is_fitted(self)
        return inference_of(self)


class FittedLinear(StandardErrors):
    """A linear predictor η = b + xᵀβ, without state."""

    coding_: Coding
    coef_: Array
    intercept_: Any

    @classmethod
    def from_formula(
        cls,
        formula: str,
        data: Any,
        *,
        sample_weight: Any = None,
        offset: Any = None,
        exposure: Any = None,
        groups: Any = None,
        **settings: Any,
    ) -> Self:
        """A model fitted to a frame by a formula in the notation of R: ``"y ~ a + C(b) + a:b"``.

        Needs ``pip install 'likely[formula]'``.  The other arguments are those of ``fit`` (arrays,
        or names of columns) and of the constructor.  Predictions take frames with the columns of
        the formula.  ``0 +`` leaves the intercept out.
        """
        refuse_reference(settings.get("reference"))
        rows = formula_rows(formula, data, classes=issubclass(cls, ClassifierMixin))
        model = cls(**settings, **cls._intercept_setting(rows.terms, settings))
        given = {
            "sample_weight": sample_weight,
            "offset": offset,
            "exposure": exposure,
            "groups": groups,
        }
        beside = {key: column_given(data, each) for key, each in given.items() if each is not None}
        unused = [key for key in beside if not has_fit_parameter(model, key)]
        if unused:
            raise InvalidInput(
                f"{unused[0]} was given, which {cls.__name__} does not take. Leave it out."
            )
        model.fit(rows.X, rows.y, **beside)  # type: ignore[attr-defined]  # of every model
        model.formula_, model.library_ = rows.terms, rows.library  # type: ignore[attr-defined]
        return model

    @classmethod
    def _intercept_setting(cls, terms: FormulaTerms, settings: Any) -> dict[str, bool]:
        """Whether there is an intercept, which the formula says."""
        if "fit_intercept" in settings:
            raise InvalidInput(
                "fit_intercept was given with a formula, which says whether there is an intercept. "
                "Leave it out, or write 0 + in the formula."
            )
        return {"fit_intercept": terms.intercept}

    def column_needs(self) -> ColumnNeeds:
        """Categories as they are; scaled where a penalty compares coefficients."""
        return ColumnNeeds(scale=has_penalty(self), categories=True)

    @property
    def terms_(self) -> tuple[str, ...]:
        """The name of each coefficient: its column, or column[category]."""
        return self.coding_.names()

    @property
    def deviance_trace_(self) -> Array:
        """The deviance at each step of the search, from the start to the end.

        With a penalty, plus twice its value: what decreases at every step.
        """
        try:
            saturated = self._inference().saturated_nll
        except InvalidInput as problem:  # so that dir() and notebooks can ask
            raise AttributeError(str(problem)) from problem
        return 2 * (np.asarray(self.solution_.trace) - saturated)

    def linear_predictor(self, X: Any, *, offset: Any = None, exposure: Any = None) -> Array:
        """η of each row; offset and exposure may be names of columns of a frame."""
        return self._read(X, offset, exposure)[1]

    def _read(self, X: Any, offset: Any, exposure: Any) -> tuple[Design, Array]:
        """New rows and their η, from one encoding."""
        check_is_fitted(self)
        X, offset, exposure = own_columns(X, offset, exposure)
        check_exposure(self.offset_link(), exposure)
        design = self._design(X)
        with np.errstate(invalid="ignore"):  # 0·∞, refused below
            eta = design.matmat(np.ascontiguousarray(self.coef_.T)) + self.intercept_
        if eta.ndim == 2 and eta.shape[1] == 1:
            eta = eta[:, 0]
        eta = eta + check_offset(offset, exposure, n_rows=design.n_rows)
        if not np.isfinite(eta).all():
            refuse_gaps(ArrayBlocks(design), self.coding_.names)
        return design, eta

    def offset_link(self) -> str:
        """The name of the link on whose scale an offset is added."""
        return "identity"

    @like_its_rows
    def explain(self, X: Any, against: Any = None) -> Explanation:
        """What each column adds to the linear predictor of each row, without its offset.

        Relative to the mean of the training rows.  Of classes, the log-odds against one (the
        first, unless named).
        """
        return self._explained(self._contributions(X), against)

    def _contributions(self, X: Any) -> tuple[Array, Array]:
        coef, means = np.atleast_2d(self.coef_), vars(self).get("column_means_")
        return linear_contributions(self.coding_, self._design(X), coef, means)

    def _explained(self, parts: tuple[Array, Array], against: Any) -> Explanation:
        """The explanation, from contributions to the linear predictors."""
        names, link = feature_names(self), self.offset_link()
        return predictor_explanation(
            parts, self.intercept_, names, against, link=link, groups=self._predictors()
        )

    def _described(self) -> str:
        return response_described(vars(self))

    def describe(self) -> Description:
        """The summary, as values; without standard errors, the coefficients alone."""
        check_is_fitted(self)
        if self.inference_ is not None:
            return self.summary().describe()
        groups = self._predictors()
        each = f" for each of {len(groups)} targets" if len(groups) > 1 else self._against()
        return describe_coefficients(
            f"{type(self).__name__}: {count(len(self.terms_), 'coefficient')}{each}",
            self.terms_,
            np.atleast_2d(self.coef_),
            self._constants(),
            groups,
            self.n_iter_,
            penalty_described(self),
        ).also(notes=remarks_on_held_rows(self))

    def columns_read(self, n_rows: int | None = None) -> ColumnsRead:
        """How many columns are numbers and how many categories; which of them to check."""
        check_is_fitted(self)
        return columns_coded(self.coding_.schema, feature_names(self), n_rows)

    def _predictors(self) -> list[str]:
        """The name of each linear predictor."""
        n = len(np.atleast_2d(self.coef_))
        return ["coef"] if n == 1 else [f"target {k}" for k in range(n)]

    def _against(self) -> str:
        """Which classes a single predictor compares, for a title."""
        return ""

    def _constants(self) -> list[tuple[str, list[float]]]:
        """The intercept of each predictor, or what takes its place."""
        return [("intercept", np.atleast_1d(np.asarray(self.intercept_, dtype=float)).tolist())]

    def _mean_interval(
        self, X: Any, link: Any, level: float, offset: Any = None, exposure: Any = None
    ) -> Array:
        eta, spread = self._predictor_and_error(X, offset, exposure)
        return self._inference().mean_interval(eta, spread, link=link, level=level)

    def _predictor_and_error(
        self, X: Any, offset: Any = None, exposure: Any = None
    ) -> tuple[Array, Array]:
        """η of each row, and its standard error."""
        inference = self._inference()
        design, eta = self._read(X, offset, exposure)
        if inference.theta.size > design.n_features:
            design = Intercept(design)
        return eta, inference.eta_standard_errors(design)

    def _design(self, X: Any) -> Design:
        check_is_fitted(self)
        return new_rows(self, self.coding_, X)


def linear_contributions(
    coding: Coding, design: Design, coef: Array, means: Array | None
) -> tuple[Array, Array]:
    """The contribution of each column to each predictor, (n, d, G), and the means' part (G,).

    Models of earlier versions, and those made by hand, have stored no means.
    """
    means = np.zeros(coef.shape[1]) if means is None else np.asarray(means)
    column = coding.column_of_coefficient()
    n_columns = len(coding.schema.as_codes)
    cells = design.n_rows * n_columns * len(coef)
    if cells > MOST_CELLS:
        raise InvalidInput(
            f"{design.n_rows:,} rows of {n_columns:,} columns were given, an explanation of "
            f"{cells:,} contributions; at most {MOST_CELLS:,} are computed at once. Explain fewer "
            "rows."
        )
    values: Any = design.expanded().stored() if isinstance(design, Mixed) else design.stored()
    if isinstance(design, Csr):
        values = values.toarray()
    terms = (np.asarray(values, dtype=np.float64) - means)[:, :, None] * coef.T
    if not np.isfinite(terms).all():
        refuse_gaps(ArrayBlocks(design), coding.names)
    out = np.zeros((design.n_rows, n_columns, len(coef)))
    for j, place in enumerate(column):
        out[:, place] += terms[:, j]
    return out, np.dot(coef, means)


def predictor_explanation(
    parts: tuple[Array, Array],
    intercept: Any,
    names: Sequence[str],
    against: Any,
    *,
    link: str,
    groups: Sequence[str],
) -> Explanation:
    """Contributions to linear predictors that are not of classes."""
    quantity = "prediction" if link == "identity" else f"linear predictor ({link} link)"
    refuse_against(against, quantity)
    contributions, at_means = parts
    return Explanation(
        contributions,
        np.atleast_1d(np.asarray(intercept, dtype=np.float64)) + at_means,
        np.array(groups, dtype=object),
        tuple(names),
        quantity=quantity,
        notes=(RELATIVE,),
    )


def class_explanation(
    parts: tuple[Array, Array], intercept: Any, classes: Array, names: Sequence[str], against: Any
) -> Explanation:
    """Contributions to the log-odds of classes; one predictor compares the second of two."""
    contributions, at_means = parts
    base = np.atleast_1d(np.asarray(intercept, dtype=np.float64)) + at_means
    if contributions.shape[2] == 1:
        contributions = np.concatenate([np.zeros_like(contributions), contributions], axis=2)
        base = np.append(0.0, base)
    return log_odds_explanation(
        contributions, base, classes, against, names, notes=(RELATIVE,), base_is="base"
    )
