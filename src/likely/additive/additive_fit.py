"""The fit of an additive model: terms, strengths, pairs, and a linear model of their columns.

    values of the columns → terms → Φ → λ by REML → linear model with the ridge λ → pairs → again

Φ is made block by block; of rows in memory it is kept where it is small.  What is fitted in the end
is an estimator of ``linear`` with one l2 for each column of Φ, so that every response works, and
its solution is certified as any other.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Protocol, Self, final

import numpy as np

from likely._typing import Array, Codes
from likely.additive.encoded_columns import (
    ColumnTotals,
    column_totals,
    numbers_and_codes,
    refuse_infinity,
)
from likely.additive.pairs import best_pairs, named_pairs, with_pairs
from likely.additive.smooth import Smooth
from likely.additive.terms import (
    AdditiveTerms,
    CategoryTerm,
    NumberTerm,
    TermChoice,
    learn_terms,
)
from likely.data.block import ArrayBlocks, Block, Blocks, MappedBlocks, block_rows
from likely.data.coding import Coding
from likely.data.layouts.dense import Dense
from likely.data.schema import Schema
from likely.data.source_blocks import UNKNOWN_ROWS, SourceBlocks
from likely.errors import ContinuousColumn, InvalidInput, UnknownName, warn_user
from likely.fitting.driver import LinearFit
from likely.fitting.framing import refuse_too_large
from likely.fitting.smoothing import Smoothed, inverse_factor, smooth
from likely.inputs.rows import CheckedRows, EncodedRows
from likely.kinds import ColumnKind
from likely.likelihoods.base import Likelihood
from likely.linear.fit import LinearRows, Specify, design_rows, fitted
from likely.linear.path_penalties import PathSlopes
from likely.numerics.additive import Additive
from likely.solvers.minimise import Solution

SMALLEST = 1e-10  # of the largest variance of a term
DETERMINED = 1e-6  # of the largest eigenvalue of S: other terms have the direction
EXACT = 1e-12  # of the null deviance: the search starts where λ was found, one step from it
KEPT = 1_000_000_000  # bytes of Φ in memory; beyond, it is made again in each pass
USUAL_PARAMETERS = 1_000  # of all predictors, where curves may have fewer functions
MOST_PARAMETERS = 6_000  # H has their square
MANY_LEVELS, MOST_OF_ROWS = 50, 0.5  # of a category: more are warned of
CHOICES = ("auto", "linear", "category")
CLASS_FLOOR = 0.03  # least λ of classes: near separation Laplace's approximation wants less


class TermsModel(Protocol):
    """What is needed of an estimator of ``linear``."""

    l2: object
    coef_: Array
    solution_: Solution

    def specify(self, rows: LinearRows) -> Specify: ...
    def store(self, fit: LinearFit, rows: LinearRows) -> Self: ...
    def path_slopes(self, block: Block) -> PathSlopes: ...
    def path_predictor(self, block: Block) -> Array: ...


class Wishes(NamedTuple):
    """What a user wants of the terms."""

    terms: object = "auto"  # or a mapping from columns to a Smooth, "linear" or "category"
    interactions: object = 0  # how many pairs at most, or the pairs themselves


@final
@dataclass(frozen=True, eq=False)
class TermsFit:
    """The terms, and what was found of them."""

    terms: AdditiveTerms
    schema: Schema
    smoothing: Smoothed
    edf: Array  # of each column of Φ, over all predictors
    tests: Array  # T and r of each term, (n_terms, 2)
    covariance: Array  # of the coefficients of each predictor, (K, m, m), about ``centre``
    given: Array  # the same as if the strengths were known
    centre: Array  # of the columns of Φ
    weight: float  # of the rows
    blocks: Blocks  # with Φ in place of the columns


def encoded(rows: CheckedRows, wishes: Wishes, names: tuple[str, ...]) -> EncodedRows[Schema]:
    """Checked rows as numbers and codes; a number that is to be a category is a code."""
    given = _by_position(wishes.terms, names)
    pairs = enumerate(rows.kinds.kinds)
    return rows.encode(tuple(k == "category" or given.get(j) == "category" for j, k in pairs))


def fit_terms(
    estimator: object,
    linear: TermsModel,
    rows: EncodedRows[Schema],
    wishes: Wishes,
    names: tuple[str, ...],
    *,
    likelihood: Likelihood | None = None,
    n_predictors: int = 1,
) -> TermsFit:
    """Learn the terms, and fit ``linear`` to their columns; warnings name ``estimator``.

    Where there are many columns, or many classes with a predictor of their own, curves have fewer
    functions, the smoothest ones, so that the Hessian stays small.
    """
    given = _by_position(wishes.terms, names)
    totals = column_totals(rows.blocks, rows.executor)
    _refuse_numbers(rows, totals, names)
    most = USUAL_PARAMETERS // max(n_predictors * len(totals.values.each), 1) - 1
    terms = learn_terms(rows.coding, TermChoice(given, names), totals, max(most, 0))
    _refuse_size(terms, n_predictors)
    _warn_of_identifiers(terms, rows, names)
    pairs = named_pairs(wishes.interactions, terms, names)
    if isinstance(pairs, int):
        found = _fit(estimator, linear, rows, terms, likelihood)
        if not pairs or len(terms.columns) < 2:
            return found
        slopes = partial(_slopes, linear, terms)
        dispersion = found.smoothing.dispersion
        room = MOST_PARAMETERS // n_predictors - terms.n_columns
        pairs = best_pairs(slopes, rows, terms, totals, dispersion, pairs, room)
        if not pairs:
            return found
    terms = with_pairs(terms, pairs)
    _refuse_size(terms, n_predictors)
    return _fit(estimator, linear, rows, terms, likelihood)


def _fit(
    estimator: object,
    linear: TermsModel,
    rows: EncodedRows[Schema],
    terms: AdditiveTerms,
    likelihood: Likelihood | None,
) -> TermsFit:
    """λ by REML, then the linear model with these strengths."""
    p = terms.n_columns
    coding = numbers_alone(p)
    opened = EncodedRows(
        phi_blocks(rows, terms), coding, rows.classes, rows.executor, None, rows.n_groups
    )
    linear.n_features_in_ = p  # type: ignore[attr-defined]  # as a fit stores it
    linear.beside_, linear.moved_by_ = (), ()  # type: ignore[attr-defined]
    linear.l2 = np.arange(1.0, p + 1)  # tells which parameter is of which column
    with rows.executor.session():
        specification = linear.specify(opened)(design_rows(opened))
        begun = specification.begin(specification.problem())
        problem, start = begun
        column = problem.penalty.curvature(np.zeros(start.size)).astype(np.intp) - 1
        own = terms.group_of_column
        group = np.where(column >= 0, np.append(own, -1)[column], -1)
        classes = likelihood is None or likelihood.response.has_trials
        found = smooth(
            problem,
            start,
            group,
            likelihood=likelihood,
            quasi=not classes,
            least=CLASS_FLOOR if classes else 0.0,
        )
        warm = specification.to_user(problem, found.theta)
    linear.l2 = found.strength[own] if p else 0.0
    linear.warm_start, linear.tol = True, EXACT  # type: ignore[attr-defined]
    linear.solution_ = Solution(np.ravel(warm), False, "", (np.inf,), np.inf)
    linear.store(
        fitted(linear, design_rows(opened), linear.specify(opened), warned_by=estimator), opened
    )
    centre = problem.data.framing.centre
    return TermsFit(
        terms,
        rows.coding,
        found,
        np.bincount(column[column >= 0], weights=found.edf[column >= 0], minlength=p),
        _tests(
            found,
            np.where(column >= 0, np.append(terms.term_of_column, -1)[column], -1),
            terms,
            np.where(group >= 0, np.append(found.strength, 0.0)[group], 0.0),
        ),
        _blocks_of(found.covariance + found.spread @ found.spread.T, column, p),
        _blocks_of(found.covariance, column, p),
        np.zeros(p) if centre is None else np.asarray(centre),
        found.weight,
        opened.blocks,
    )


def _tests(found: Smoothed, term: Codes, terms: AdditiveTerms, ridge: Array) -> Array:
    """T and r of each term, (n_terms, 2).

    Of a number, its β̂ in the r directions that are known best, of about as many as it has
    effective coefficients:

        M = R C Rᵀ = U D Uᵀ with H_jj = RᵀR,  T = Σ_(i ≤ r) (u_iᵀ R β̂)²/d_i
    """
    out = np.zeros((len(terms.all), 2))
    total = found.information @ found.theta + ridge * found.theta
    for j, each in enumerate(terms.all):
        mine = term == j
        if not isinstance(each, NumberTerm):
            own = np.isin(term, terms.columns_of(j)) & ~mine
            out[j] = _test_without_penalty(found, total, mine, np.where(own, 0.0, ridge))
            continue
        at = np.ix_(mine, mine)
        values, vectors = np.linalg.eigh(found.information[at])
        root = (vectors * np.sqrt(np.maximum(values, 0.0))).T
        spread, directions = np.linalg.eigh(root @ found.covariance[at] @ root.T)
        rank = min(max(round(float(found.edf[mine].sum())), 1), len(root))
        best = np.argsort(-spread)[:rank]
        best = best[spread[best] > SMALLEST * max(spread.max(initial=0.0), 0.0)]
        along = directions[:, best].T @ (root @ found.theta[mine])
        out[j] = float(np.sum(np.square(along) / spread[best])), rank
    return out


def _test_without_penalty(
    found: Smoothed, total: Array, mine: Array, ridge: Array
) -> tuple[float, int]:
    """T and r of a category or a pair, which a ridge shrinks in all directions: as if it had none.

    ``total`` is c = (H + Λ)β̂ = ΦᵀWz.  With the other terms o penalised by ``ridge`` (the columns of
    a pair by none) and B = (H_oo + Λ_o)⁻¹H_oj:

        s = c_j − Bᵀc_o        S = H_jj − BᵀH_oj − H_joB + BᵀH_ooB        T = sᵀS⁻s/φ,  r = rank S
    """
    H, other = found.information, ~mine
    root = inverse_factor(H[np.ix_(other, other)], ridge[other])
    across = H[np.ix_(other, mine)]
    B = root.T @ (root @ across)
    score = total[mine] - B.T @ total[other]
    shared = B.T @ across
    S = H[np.ix_(mine, mine)] - shared - shared.T + B.T @ H[np.ix_(other, other)] @ B
    unit = np.sqrt(np.maximum(np.diag(H)[mine], np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(S / unit[:, None] / unit)
    kept = values > DETERMINED * max(values.max(initial=0.0), 0.0)
    along = vectors[:, kept].T @ (score / unit)
    return float(np.sum(np.square(along) / values[kept])) / found.dispersion, max(
        int(kept.sum()), 1
    )


def _blocks_of(covariance: Array, column: Codes, p: int) -> Array:
    """The covariance of the coefficients of each predictor, with its intercept where it has one."""
    starts = np.flatnonzero(column == 0) if p else np.zeros(1, dtype=np.intp)
    own = len(column) // len(starts) if len(column) == len(starts) * (p + 1) else p
    at = starts[:, None] + np.arange(own)
    return np.stack([covariance[np.ix_(each, each)] for each in at])


def numbers_alone(n_columns: int) -> Coding:
    """The coding of a bare array of numbers."""
    number: ColumnKind = "number"
    kinds = (number,) * n_columns
    return Coding(Schema(None, kinds, (False,) * n_columns, (None,) * n_columns), ())


def phi_blocks(rows: EncodedRows[Schema], terms: AdditiveTerms) -> Blocks:
    """The blocks with Φ in place of the columns; in memory it is kept where it is small."""
    blocks, p = rows.blocks, terms.n_columns
    change = partial(_with_features, terms)
    if isinstance(blocks, ArrayBlocks) and 8 * blocks.n_rows * p <= KEPT:
        phi, done = np.empty((blocks.n_rows, p)), 0
        for block in blocks:
            phi[done : done + block.n_rows] = change(block).X.stored()
            done += block.n_rows
        return replace(blocks, X=Dense(phi), rows_per_block=None)
    if isinstance(blocks, ArrayBlocks | SourceBlocks):  # Φ is wider than the columns
        n_rows = blocks.n_rows or UNKNOWN_ROWS
        blocks = replace(blocks, rows_per_block=block_rows(n_rows, p, 8 * n_rows * p))
    return MappedBlocks(blocks, change, p)


def _slopes(linear: TermsModel, terms: AdditiveTerms, block: Block) -> PathSlopes:
    """The slopes of the loss of each row."""
    return linear.path_slopes(_with_features(terms, block))


def _with_features(terms: AdditiveTerms, block: Block) -> Block:
    return replace(block, X=Dense(terms.features(*numbers_and_codes(block.X))))


@final
@dataclass(frozen=True, eq=False)
class Extremes(Additive):
    """The range of the linear predictor, without offsets, and of y."""

    low: float
    high: float
    least: float
    most: float

    def __add__(self, other: "Extremes") -> "Extremes":
        return Extremes(
            min(self.low, other.low),
            max(self.high, other.high),
            min(self.least, other.least),
            max(self.most, other.most),
        )


def block_extremes(linear: TermsModel, block: Block) -> Extremes:
    eta = np.reshape(linear.path_predictor(replace(block, offset=None)), -1)
    y = block.target
    return Extremes(float(eta.min()), float(eta.max()), float(y.min()), float(y.max()))


def _by_position(given: object, names: tuple[str, ...]) -> dict[int, Smooth | str]:
    """The choice for each column that has one, by position."""
    if given is None or (isinstance(given, str) and given == "auto"):
        return {}
    if not isinstance(given, Mapping):
        raise InvalidInput(
            f"terms={given!r} was given; 'auto' or a mapping from columns to terms was expected. "
            "Use terms={'hour': Smooth(cyclic=24), 'age': 'linear'}, for instance."
        )
    found: dict[int, Smooth | str] = {}
    for name, term in given.items():
        if str(name) not in names:
            raise UnknownName("column for terms", str(name), list(names))
        if not isinstance(term, Smooth) and term not in CHOICES:
            raise InvalidInput(
                f"terms[{name!r}]={term!r} was given; a Smooth or one of 'linear', 'category' and "
                "'auto' was expected. Use Smooth(k=20), or Smooth(cyclic=24)."
            )
        found[names.index(str(name))] = term
    return found


def _refuse_numbers(
    rows: EncodedRows[Schema], totals: ColumnTotals, names: tuple[str, ...]
) -> None:
    """Refuse columns with infinite cells, or with squares that overflow."""
    ends = [np.abs(each.values[[0, -1]]).max() if each.values.size else 0.0
            for each in totals.values.each]  # fmt: skip
    if np.isinf(ends).any():
        for block in rows.blocks:
            refuse_infinity(numbers_and_codes(block.X)[0], rows.coding, block.start)
    own = tuple(names[j] for j, coded in enumerate(rows.coding.as_codes) if not coded)
    refuse_too_large(np.array(ends), lambda: own)


def _warn_of_identifiers(
    terms: AdditiveTerms, rows: EncodedRows[Schema], names: tuple[str, ...]
) -> None:
    """Warn of categories of which most are in one row each: they tell nothing of new rows."""
    n_rows = rows.blocks.n_rows or 0  # of a stream it is not known
    for term in terms.columns if n_rows else ():
        if isinstance(term, CategoryTerm) and term.n_columns > max(
            MANY_LEVELS, MOST_OF_ROWS * n_rows
        ):
            warn_user(
                f"The column {names[term.column]!r} has {term.n_columns:,} categories in "
                f"{n_rows:,} rows: like an identifier, it tells little of new rows, and makes the "
                "fit slow. Leave it out, or group its values.",
                ContinuousColumn,
            )


def _refuse_size(terms: AdditiveTerms, n_predictors: int) -> None:
    n = terms.n_columns * n_predictors
    if n > MOST_PARAMETERS:
        largest = max(term.n_columns for term in terms.all)
        raise InvalidInput(
            f"The terms have {n:,} coefficients, one of them {largest * n_predictors:,}; at most "
            f"{MOST_PARAMETERS:,} are fitted together. Group rare categories, leave out "
            "identifiers, or give fewer interactions."
        )
