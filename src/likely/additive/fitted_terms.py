"""What a fitted additive model says of its terms: contributions, tests, curves with bands.

    f_j(x) = (φ_j(x) − φ̄_j)ᵀβ_j        se² = (φ_j − φ̄_j)ᵀ C_j (φ_j − φ̄_j),   C = φ(H + Λ)⁻¹ + JV_ρJᵀ

φ̄ is the mean over the rows of the fit, so that each term is 0 on average, and the terms add up to
η.  C is the covariance of a posterior: bands by it cover the true curve about as often as they say,
averaged over its length, because it allows for the bias of smoothing, and for the uncertainty of
the strengths (``smoothing.py``).

A term is tested by T = f̂ᵀ C_r⁻ f̂, with C = φ(H + Λ)⁻¹, which inverts the r directions of the
covariance of f̂ with the largest variance, r being its edf, rounded (``additive_fit.py``); T is
compared with χ²_r, or T/r with F where φ is estimated.

A curve has too few functions if residuals r of neighbours along its column are alike:

    k-index = Σ ‖r_(i+1) − r_(i)‖² / 2 Σ ‖r_i‖²        about 1 without a pattern; its p-value is the
                                                       share of random orders with a smaller one

References
----------
Nychka (1988), Bayesian confidence intervals for smoothing splines, JASA 83.
Wood (2013), On p-values for smooth components of an extended generalized additive model,
Biometrika 100.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import isfinite, log
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import chi2
from scipy.stats import f as fisher
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array, Codes
from likely.additive.additive_fit import TermsFit
from likely.additive.encoded_columns import numbers_and_codes, refuse_infinity
from likely.additive.term_effects import (
    TermEffect,
    TermTest,
    draw_terms,
    table_of_levels,
    table_of_terms,
)
from likely.additive.terms import AdditiveTerms, CategoryTerm
from likely.data.layouts.base import Design
from likely.data.schema import Schema
from likely.errors import UnknownName
from likely.graphical.drawing.diagram import Diagram
from likely.graphical.model.model_plates import PlateParameter, conditional_plate
from likely.inputs.bounded_rows import note_bounded
from likely.inputs.coding import columns_coded
from likely.inputs.estimators import ColumnNeeds, columns_named, feature_names, generator
from likely.inputs.rows import encode_new_rows
from likely.inputs.tables import without_columns
from likely.output.description import ColumnsRead, Description, Fact, NamedColumn, NamedTable
from likely.output.formatting import DASH, count, fixed
from likely.storage.declarations import FITTED_COLUMNS, Numbers, Present, SameCount, Saved
from likely.storage.values import same_count, unlike

PART = 4_000_000  # cells of Φ of new rows that are in memory at once
POINTS = 100  # of a curve
LARGEST_ANSWER = 1e300  # of predictors and their variances
OF_CHECKS = (
    "k' is the largest edf. A k-index clearly below 1, with a small p-value, says that residuals "
    "of neighbours along the column are alike: where edf is near k', use more functions, "
    "terms={'x': Smooth(k=40)}; else rows may be related in this order, or a pair is missing."
)
CHECKED, ORDERS = 5_000, 400  # rows and random orders of a check
CELLS = 24  # on each side of the picture of a pair
TERMS = FITTED_COLUMNS | Saved(
    {
        "terms_": AdditiveTerms,
        "schema_": Schema,
        "strength_": Numbers(Array, "not negative"),
        "edf_": Numbers(Array, "finite"),
        "tests_": Numbers(Array, "not negative", "not NaN"),
        "covariance_": Numbers(Array, "finite"),
        "centre_": Numbers(Array, "finite"),
        "dispersion_": Numbers(float, "not negative", "not NaN"),
        "deviance_explained_": float,
        "log_likelihood_": float,
        "n_counted_": Numbers(float, "not negative", "finite"),
        "n_rows_": Numbers(float, "not negative", "finite"),
        "beside_": tuple[str, ...],
        "library_": str | None,
    },
    {"moved_by_": tuple[str, ...]},
    rules=(
        SameCount("n_features_in_", "schema_.kinds"),
        Present("linear_.coef_"),
        SameCount("terms_.n_columns", "edf_", "centre_", "linear_.n_features_in_"),
        SameCount("terms_.n_columns", "linear_.coef_.shape.-1"),
        SameCount(1, "edf_.shape", "centre_.shape"),
        SameCount("terms_.all", "tests_"),
        SameCount(2, "tests_.shape", "tests_.shape.1"),
        SameCount(3, "covariance_.shape"),
        SameCount("covariance_.shape.1", "covariance_.shape.2"),
    ),
)


class PhiPart(NamedTuple):
    """Φ of some rows."""

    phi: Array
    far: Array  # which of their numbers are far from those of the fit, (n, numeric columns)
    new: Array  # φ/λ, summed over the categories of each row that the fit did not have


class FittedTerms(ABC):
    """AdditiveTerms of columns, and a linear model of their functions; without state."""

    terms_: AdditiveTerms
    schema_: Schema
    linear_: Any
    strength_: Array
    edf_: Array
    tests_: Array
    covariance_: Array
    centre_: Array
    dispersion_: float
    deviance_explained_: float
    log_likelihood_: float
    n_counted_: float
    n_rows_: float
    library_: str | None
    alpha_: float

    interactions: Any

    @abstractmethod
    def _described(self) -> str:
        """The response, for a title."""

    @property
    @abstractmethod
    def _estimates_dispersion(self) -> bool:
        """Whether tests are by F."""

    def _store_terms(self, found: TermsFit, linear: Any, library: str | None) -> None:
        self.terms_, self.schema_, self.linear_ = found.terms, found.schema, linear
        self.strength_, self.edf_ = found.smoothing.strength, found.edf
        self.tests_, self.covariance_, self.centre_ = found.tests, found.covariance, found.centre
        self.dispersion_, self.n_rows_ = found.smoothing.dispersion, found.weight
        self.library_, self.n_counted_ = library, found.smoothing.n_counted

    def check_saved(self) -> None:
        """Refuse terms of other columns, and sizes whose sums and squares overflow."""
        terms, coef, covariance = self.terms_, self._coef(), self.covariance_
        terms.check_columns(self.schema_)
        n_groups = len(np.unique(terms.group_of_column))
        same_count("strength_", len(self.strength_), n_groups)
        if not (self.tests_[:, 1] >= 1).all():
            raise unlike("The ranks of tests", "1 or more")
        if terms.n_columns:
            same_count("covariance_", len(covariance), len(coef))
        if len(covariance[0]) not in (terms.n_columns, terms.n_columns + 1):
            same_count("A row of covariance_", len(covariance[0]), terms.n_columns + 1)
        with np.errstate(over="ignore", invalid="ignore"):
            phi = np.append(terms.largest() + np.abs(self.centre_), 1.0)
            most = max(float(covariance.max()), -float(covariance.min())) * np.square(phi.sum())
            eta = np.abs(self._base()) + np.abs(coef) @ phi[:-1]
        if not (most <= LARGEST_ANSWER and (eta <= LARGEST_ANSWER).all()):
            raise unlike("The sizes of terms, coefficients and covariances", "finite together")

    # Rows.

    def _encoded(self, X: Any) -> Design:
        check_is_fitted(self)
        beside = vars(self).get("beside_", ())
        if beside:  # a frame as it was given to fit holds the target, too
            known = set(feature_names(self))
            X = without_columns(X, [name for name in beside if name not in known])
        design = encode_new_rows(self, self.schema_, X, sparse=False).design
        with columns_named(self):
            refuse_infinity(numbers_and_codes(design)[0], self.schema_)
        return design

    def _parts(self, X: Any) -> Iterator[Array]:
        """Φ of rows, some rows at a time."""
        return (part.phi for part in self._pieces(X))

    def _pieces(self, X: object) -> Iterator[PhiPart]:
        design, bounded = self._encoded(X), self._extrapolates_bounded
        terms = self.terms_ if bounded else self.terms_.going_on()
        step = max(PART // max(self.terms_.width, 1), 1)
        for start in range(0, max(design.n_rows, 1), step):
            some = design.rows(start, min(start + step, design.n_rows))
            numeric, codes = numbers_and_codes(some)
            within = self.terms_.bounded(numeric)
            far = (numeric != within) & ~np.isnan(numeric)
            features = terms.features(within if bounded else numeric, codes)
            yield PhiPart(features, far, self._new_variance(codes))

    def _errors(self, X: object) -> Array:
        """The standard error of η of each row."""
        found = []
        for part in self._pieces(X):
            z = np.column_stack([part.phi - self.centre_, np.ones(len(part.phi))])
            size = np.abs(z).max(axis=1)  # whose square may overflow, far outside the fit
            z /= size[:, None]
            variance = np.einsum("ni,ij,nj->n", z, self.covariance_[0], z)
            known = size * np.sqrt(np.maximum(variance, 0.0))
            found.append(np.hypot(known, np.sqrt(part.new)))
        return np.concatenate(found)

    def new_spread(self, X: object) -> Array:
        """The standard deviation of η by categories that the fit did not have, of each row."""
        return np.asarray(np.sqrt(self._new_variance(numbers_and_codes(self._encoded(X))[1])))

    def _new_variance(self, codes: Codes) -> Array:
        """The prior variance φ/λ of categories that the fit did not have, summed for each row."""
        terms, out = self.terms_, np.zeros(len(codes))
        first = np.searchsorted(terms.term_of_column, np.arange(len(terms.all)))
        for j, term in enumerate(terms.columns):
            if isinstance(term, CategoryTerm) and not term.has_missing:
                strength = float(self.strength_[terms.group_of_column[first[j]]])
                variance = self.dispersion_ / strength if strength > 0 else 0.0
                out += np.where(codes[:, term.place] < 0, variance, 0.0)
        return out

    @property
    def _extrapolates_bounded(self) -> bool:
        """Whether numbers are read as not far from those of the fit."""
        return True

    def n_bounded(self, X: object) -> int:
        """How many rows are so far outside the fit that their prediction is bounded."""
        return int(sum(np.sum(part.far.any(axis=1)) for part in self._pieces(X)))

    def _note_bounded(self, far: Array, beyond: Array | None = None) -> None:
        """Warn of rows with numbers far from those of the fit, or a predictor beyond its range."""
        rows = np.asarray(far.any(axis=1)) if beyond is None else far.any(axis=1) | beyond
        if rows.any():
            names, flags = feature_names(self), self.schema_.as_codes
            own = [name for name, coded in zip(names, flags, strict=True) if not coded]
            found = [own[place] for place in np.flatnonzero(far.any(axis=0))]
            note_bounded(int(rows.sum()), len(rows), found)

    # Terms.

    @property
    def term_names_(self) -> tuple[str, ...]:
        """The name of each term: its column, or ``a × b``."""
        return self.terms_.names(feature_names(self))

    def _coef(self) -> Array:
        """β of each predictor, (K, p)."""
        return np.atleast_2d(np.asarray(self.linear_.coef_))

    def contributions(self, X: Any) -> Array:
        """f_j(x) of each term and each predictor, (n, n_terms, K)."""
        own, coef = self.terms_.term_of_column, self._coef()
        n_terms = len(self.terms_.all)
        found = []
        for phi in self._parts(X):
            out = np.zeros((len(phi), n_terms, len(coef)))
            for j in range(n_terms):
                mine = own == j
                out[:, j] = (phi[:, mine] - self.centre_[mine]) @ coef[:, mine].T
            found.append(out)
        return np.concatenate(found)

    def _base(self) -> Array:
        """η where every term is 0, one for each predictor."""
        intercept = np.atleast_1d(np.asarray(self.linear_.intercept_, dtype=float))
        return intercept + self._coef() @ self.centre_

    def effect(self, term: str, points: int = POINTS) -> TermEffect:
        """A term on a grid of its columns, with standard errors."""
        check_is_fitted(self)
        return self._effect(self._position(term), points)

    def _effect(self, j: int, points: int = POINTS) -> TermEffect:
        places = self.terms_.columns_of(j)
        grids = [self._grid(place, points if len(places) == 1 else CELLS) for place in places]
        mesh = [each.ravel() for each in np.meshgrid(*grids, indexing="ij")]
        phi = self.terms_.features_of(j, *self._rows_of(places, mesh))
        effect, se = self._of_features(phi, self.terms_.term_of_column == j)
        if effect.shape[1] == 1:
            effect, se = effect[:, 0], se[:, 0]
        names = feature_names(self)
        return TermEffect(
            self.term_names_[j],
            tuple(names[self.terms_.columns[place].column] for place in places),
            tuple(self._values(p, each) for p, each in zip(places, mesh, strict=True)),
            effect,
            se,
            self.library_,
        )

    def _grid(self, place: int, points: int) -> Array:
        """Numbers from the lowest to the highest value of the fit, or codes."""
        term = self.terms_.columns[place]
        if isinstance(term, CategoryTerm):
            return np.arange(term.n_levels, dtype=float)
        whole = term.period or float(term.low).is_integer()
        if whole and 1 <= term.high - term.low < points:
            return np.arange(term.low, term.high + 1)
        return np.linspace(term.low, term.high, points)

    def _values(self, place: int, grid: Array) -> Array:
        term = self.terms_.columns[place]
        if isinstance(term, CategoryTerm):
            labels = self.schema_.categories[term.column]
            assert labels is not None  # of a column of codes
            return np.asarray(labels)[grid.astype(int)]
        return grid

    def _rows_of(self, places: Sequence[int], values: Sequence[Array]) -> tuple[Array, Codes]:
        """Encoded rows with these values; other columns are missing."""
        n, flags = len(values[0]), self.schema_.as_codes
        numeric = np.full((n, flags.count(False)), np.nan)
        codes = np.full((n, flags.count(True)), -1)
        for place, value in zip(places, values, strict=True):
            term = self.terms_.columns[place]
            if isinstance(term, CategoryTerm):
                codes[:, term.place] = value.astype(int)
            else:
                numeric[:, term.place] = value
        return numeric, codes

    # What it says.

    @property
    def llf(self) -> float:
        """The log-likelihood of the rows of the fit, under the estimated coefficients."""
        check_is_fitted(self)
        return self.log_likelihood_

    @property
    def aic(self) -> float:
        """−2 ``llf`` + 2p, for the same categories in new rows (conditional AIC).

        p, ``n_counted_``, is the number of effective coefficients and what the estimated strengths
        add to it; an estimated α is one more, also where it is 0, a dispersion is not counted.
        """
        return 2 * self.n_counted_ - 2 * self.llf

    @property
    def bic(self) -> float:
        """−2 ``llf`` + p log n, with the p of ``aic``."""
        return self.n_counted_ * log(self.n_rows_) - 2 * self.llf

    def term_test(self, term: str) -> TermTest:
        """The effective coefficients, statistic and p-value of a term."""
        check_is_fitted(self)
        return self._test(self._position(term))

    def _position(self, term: str) -> int:
        names = self.term_names_
        if term not in names:
            raise UnknownName("term", term, list(names))
        return names.index(term)

    def _test(self, j: int) -> TermTest:
        edf = float(self.edf_[self.terms_.term_of_column == j].sum())
        effect = self._effect(j).effect
        span = float(np.max(np.ptp(effect, axis=0)))
        statistic, rank = self.tests_[j].tolist()
        if not self._estimates_dispersion:
            return TermTest(edf, statistic, float(chi2.sf(statistic, rank)), span)
        left = max(self.n_rows_ - float(self.edf_.sum()) - 1, 1.0)
        return TermTest(edf, statistic / rank, float(fisher.sf(statistic / rank, rank, left)), span)

    def _checked(self, X: object, residuals: Array, random_state: object) -> Description:
        """Whether each number has enough functions, by its residuals, (n, K)."""
        rng, (numeric, _) = generator(random_state), numbers_and_codes(self._encoded(X))
        some = rng.permutation(len(numeric))[:CHECKED]  # equal values are in no order of theirs
        numeric, r = numeric[some], residuals[some]
        chance = np.array([_roughness(r[rng.permutation(len(r))]) for _ in range(ORDERS)])
        rows = []
        for j, term in enumerate(self.terms_.columns):
            if isinstance(term, CategoryTerm):
                continue
            x = numeric[:, term.place]
            order = np.argsort(np.mod(x, term.period) if term.period else x, kind="stable")
            index = _roughness(r[order[: int(np.sum(~np.isnan(x)))]])
            edf = float(self.edf_[self.terms_.term_of_column == j].sum())
            p = (1 + int(np.sum(chance <= index))) / (1 + ORDERS)
            most = len(self._coef()) * (term.n_functions + term.has_line)
            rows.append((self.term_names_[j], most, edf, index, p))
        numbers = (("k", "k'"), ("edf", "edf"), ("k_index", "k-index"))
        columns = (
            NamedColumn("term", "term"),
            *(NamedColumn(key, name, "number") for key, name in numbers),
            NamedColumn("p", "p-value", "p"),
        )
        table = NamedTable("functions", columns, tuple(rows), noun="term", ranked=False)
        return Description(
            f"{type(self).__name__}: are the functions of each number enough?",
            fit=(Fact("n", "rows", len(some), f"{len(some):,}"),),
            tables=(table,),
            notes=(OF_CHECKS,),
        )

    def summary(self) -> Description:
        """A row for each term: effective coefficients, test and range; prints as a table."""
        return self.describe()

    def describe(self) -> Description:
        """The terms as values: facts, a table and notes."""
        check_is_fitted(self)
        tests = [self._test(j) for j in range(len(self.term_names_))]
        statistic = "F" if self._estimates_dispersion else "Chi.sq"
        kinds = [self._kind(j) for j in range(len(tests))]
        table = table_of_terms(self.term_names_, kinds, tests, statistic)
        total = float(self.edf_.sum()) + len(self._base())
        facts: tuple[Fact, ...] = (
            Fact("n", "rows", self.n_rows_, f"{self.n_rows_:,.0f}"),
            Fact("edf", "effective coefficients", total),
            Fact("deviance_explained", "deviance explained", self.deviance_explained_,
                 f"{self.deviance_explained_:.1%}" if isfinite(self.deviance_explained_)
                 else DASH),
            Fact("dispersion", "dispersion", self.dispersion_),
            *(Fact(key, name, value, fixed(value, 3) if isfinite(value) else DASH)
              for key, name, value in (("log_likelihood", "log-likelihood", self.llf),
                                       ("aic", "AIC", self.aic), ("bic", "BIC", self.bic))),
        )  # fmt: skip
        if "sigma_" in vars(self):
            facts = (*facts, Fact("sigma", "sigma of ln y", vars(self)["sigma_"]))
        title = f"{type(self).__name__}: {self._described()}, {count(len(tests), 'term')}"
        levels = (
            self._levels(j, term)
            for j, term in enumerate(self.terms_.columns)
            if isinstance(term, CategoryTerm)
        )
        return Description(title, fit=facts, tables=(table, *levels), notes=self._notes())

    def _levels(self, j: int, term: CategoryTerm) -> NamedTable:
        """What each level of a column of categories adds, and its rows in the fit."""
        mine = self.terms_.term_of_column == j
        share = self.centre_[mine]  # φ is 1 in the rows of the level
        effect, se = self._of_features(np.eye(len(share)), mine)
        labels = self.schema_.categories[term.column]
        names = [*(map(str, () if labels is None else labels)), "(missing)"][: len(share)]
        rows = np.rint(share * self.n_rows_ * 1e6) / 1e6
        return table_of_levels(self.term_names_[j], names, rows, effect, se, self._classes())

    def _of_features(self, phi: Array, mine: Array) -> tuple[Array, Array]:
        """What functions of one term add to each predictor, with standard errors, (n, K)."""
        moved, coef, p = phi - self.centre_[mine], self._coef()[:, mine], len(mine)
        cov = self.covariance_[:, :p, :p][:, mine][:, :, mine]
        variance = np.einsum("ni,kij,nj->nk", moved, cov, moved)
        return moved @ coef.T, np.sqrt(np.maximum(variance, 0.0))

    def _notes(self) -> tuple[str, ...]:
        return (
            "range is the highest minus the lowest value of a term on the scale of the linear "
            "predictor; edf is 1 for a straight line, and near 0 for a term without information.",
            "p-values are approximate: they take the strengths of the penalties as known.",
        )

    def _kind(self, j: int) -> str:
        if j >= len(self.terms_.columns):
            return "pair"
        term = self.terms_.columns[j]
        if isinstance(term, CategoryTerm):
            return "category"
        return "cyclic" if term.period else "curve" if term.n_functions else "line"

    def plate(self) -> Diagram:
        """The plate diagram: x is given, y is modelled for each row; a prior is on the curves."""
        return conditional_plate(type(self).__name__, (PlateParameter("f"),), penalised=True)

    def column_needs(self) -> ColumnNeeds:
        """Categories as they are, and missing cells too: they have a coefficient of their own."""
        return ColumnNeeds(scale=False, categories=True)

    def columns_read(self, n_rows: int | None = None) -> ColumnsRead:
        """How many columns are numbers and how many categories; which of them to check."""
        check_is_fitted(self)
        return replace(columns_coded(self.schema_, feature_names(self), n_rows), complete=False)

    def plot(self, terms: Sequence[str] | None = None, *, level: float = 0.95) -> Any:
        """Every term, or those named: curves with bands, bars of categories, maps of pairs.

        Returns the matplotlib figure.
        """
        check_is_fitted(self)
        names = self.term_names_ if terms is None else tuple(terms)
        return draw_terms([self.effect(name) for name in names], self._classes(), level)

    def _classes(self) -> tuple[str, ...]:
        """The name of each predictor; empty where there is one."""
        return ()


def _roughness(r: Array) -> float:
    """Σ ‖r_(i+1) − r_(i)‖² / 2 Σ ‖r_i‖², of residuals in an order."""
    size = float(np.mean(np.sum(np.square(r), axis=1))) if len(r) > 1 else 0.0
    steps = np.sum(np.square(np.diff(r, axis=0)), axis=1)
    return float(np.mean(steps)) / (2 * size) if size > 0 else 1.0
