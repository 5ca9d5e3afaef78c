"""The terms of an additive model, in a basis where every penalty is a ridge.

    η = b + Σ_j f_j(x_j) + Σ_(a,b) f_ab(x_a, x_b)        f_j(x) = βx̃ + Σ_q w_q W_q(x)

A number has a line, x̃ = (x − x̄)/s, and cubic B-splines B of v with equally spaced knots, where v
is half the number on the scale from its lowest to its highest value and half its rank: where there
are many values the curve can bend more.  The splines are turned so that roughness is a sum of
squares:

    ∫ (Σ_k c_k B_k″(v))² dv = cᵀSc,  S = U diag(e) Uᵀ        W = B(v) U e^(−½), less its line in x
    ½ λ Σ_q w_q²  is then  ½ λ ∫ (f″)²                       scaled so that Σ_q mean(W_q²) = 1

The last function of each column, which S does not penalise, is penalised like the smoothest one.
W_q come in order, the smoothest first.  Outside the values of the fit the curve is constant and the
line goes on, or the tangent of both (``going_on``).  A number of a circle (hours, months, weekdays)
has waves instead:

    W = cos(2πhx/T)/h², sin(2πhx/T)/h²,  h = 1, 2, …, T/2          the same penalty, closed at T

A category has one coefficient per level, a missing cell a coefficient of its own, and a pair the
products of the functions of its columns:  W_ab = F_a(x_a) ⊗ F_b(x_b).

The functions are made from the values of a column (``QuantileSummary``: in memory all of them).

References
----------
Wood, Generalized Additive Models, 2nd ed., §4.2, §5.3 and §5.6.
Wahba, Spline Models for Observational Data, §2 (periodic splines).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple, final

import numpy as np
from scipy.interpolate import BSpline, PchipInterpolator

from likely._typing import Array, Codes
from likely.additive.encoded_columns import ColumnTotals
from likely.additive.smooth import FEWEST_VALUES, MOST_SPLINES, Smooth, period_of, refuse_period
from likely.caching import cached_property
from likely.data.schema import Schema
from likely.errors import InvalidInput
from likely.explanations.explanation import JOINED
from likely.numerics.quantiles import QuantileSummary
from likely.numerics.splines import CUBIC, CubicSplines
from likely.storage.declarations import LARGEST, Between, Increasing, InRange, SameCount
from likely.storage.values import same_count, unlike

BEYOND = 0.1  # of the width of a range, on either side: how far a line goes on
ROWS_A_SPLINE, FEW_SPLINES = 40, 10
RANKS = 33  # points between which ranks are interpolated
NEAREST = 1e-50  # of the range of a column: nearer points have one rank, or slopes overflow
SAME = 1e-6  # of the range: the ends of the ranks are those of the values
GAUSS = np.array([-1.0, 1.0]) / np.sqrt(3.0)  # exact for squares of straight lines
FLAT = 1e-9  # of the largest eigenvalue of S: not penalised
MOST_IN_PAIR = 64  # functions of a pair


@final
@dataclass(frozen=True, eq=False)
class NumberTerm:
    """A line and a curve of one numeric column."""

    column: int  # among the columns of X
    place: int  # among the numeric ones
    centre: float
    scale: float
    low: float  # the range of the values of the fit
    high: float
    grid: Array  # (m,), values with known ranks; empty without a curve
    rank: Array  # (m,), from 0 to 1
    turn: Array  # (k, q): B-splines to the functions W
    line: Array  # (2, q): what of W is a constant and a line of x̃
    period: float = 0.0  # of a circle, whose functions are waves
    has_missing: bool = False
    tangent: bool = False  # whether the curve goes on outside the values of the fit

    saved_rules = (
        *(InRange(each, "finite") for each in ("centre", "low", "high", "grid", "turn", "line")),
        InRange("scale", "finite"),
        InRange("period", "finite"),
        InRange("period", "not negative"),
        Between("rank", 0.0, 1.0),
        Increasing("grid", strictly=True),
        SameCount("grid", "rank"),
        SameCount(2, "turn.shape", "line.shape", "line"),
        SameCount("turn.shape.1", "line.shape.1"),
    )

    def check_saved(self) -> None:
        """Refuse a scale or a range that no column has, and functions without their knots."""
        if not (self.scale > 0 and self.low <= self.high):
            raise unlike("The range of a term", "from low to high, on a scale above 0")
        size, curve = len(self.turn), self.n_functions > 0
        if curve and self.period:
            most, far = MOST_SPLINES + 3, max(abs(self.low), abs(self.high))
            if size % 2 or not 2 <= size <= most or far > LARGEST * self.period / most:
                raise unlike("The waves of a term", f"pairs, {most:,} at most, of a known period")
        elif curve:
            if not CUBIC < size <= MOST_SPLINES or len(self.grid) < 2:
                raise unlike("The functions of a term", f"{CUBIC + 1} to {MOST_SPLINES:,} splines")
            grid = np.asarray(self.grid, dtype=float)
            off = max(abs(grid[0] - self.low), abs(grid[-1] - self.high))
            if np.diff(grid).min() < NEAREST * np.ptp(grid) or off > SAME * np.ptp(grid):
                raise unlike("The values of a term with known ranks", "apart, from low to high")

    def largest(self) -> Array:
        """A bound of the size of each of its columns, (n_columns,): splines are from 0 to 1."""
        ends = np.array([self.low, self.high], dtype=float)
        beyond = BEYOND * np.ptp(ends) * np.array([-1.0, 1.0])
        reach = float(np.abs((ends + beyond - self.centre) / self.scale).max())
        turn, line = (np.abs(np.asarray(each, dtype=float)) for each in (self.turn, self.line))
        straight = [reach] * self.has_line + [1.0] * self.has_missing
        return np.append(straight, turn.sum(axis=0) + line[0] + reach * line[1])

    @property
    def has_line(self) -> bool:
        return not self.period

    @property
    def n_functions(self) -> int:
        return int(self.turn.shape[1])

    @property
    def n_columns(self) -> int:
        return int(self.has_line) + int(self.has_missing) + self.n_functions

    @property
    def is_curve(self) -> Array:
        """Which of its columns are of the curve; the others are lines and indicators."""
        straight = int(self.has_line) + int(self.has_missing)
        return np.repeat([False, True], [straight, self.n_functions])

    def smoothest(self, most: int) -> "NumberTerm":
        """The term with at most so many functions of its curve; without a line at least one."""
        kept = max(most, 0 if self.has_line else 2)
        return replace(self, turn=self.turn[:, :kept], line=self.line[:, :kept])

    def features(self, numeric: Array, codes: Codes) -> Array:
        """The columns of the term, (n, n_columns); a missing cell has its indicator alone."""
        x = numeric[:, self.place]
        missing = np.isnan(x)
        parts = [] if not self.has_line else [self._straight(x, missing)[:, None]]
        if self.has_missing:
            parts.append(missing[:, None].astype(float))
        return np.hstack([*parts, self._functions(x, missing)])

    def margin(self, numeric: Array, codes: Codes, size: int) -> Array:
        """The first functions of the column, the line among them, (n, size); 0 where missing."""
        x = numeric[:, self.place]
        missing = np.isnan(x)
        found = self._functions(x, missing)
        if self.has_line:
            found = np.column_stack([self._straight(x, missing), found])
        return found[:, :size]

    @property
    def most_in_margin(self) -> int:
        return int(self.has_line) + self.n_functions

    def _straight(self, x: Array, missing: Array) -> Array:
        return np.where(missing, 0.0, (x - self.centre) / self.scale)

    def _functions(self, x: Array, missing: Array) -> Array:
        """W, (n, q)."""
        if not self.n_functions:
            return np.zeros((len(x), 0))
        inside = np.where(missing, self.centre, x)
        if self.period:
            raw = waves(np.mod(inside, self.period), self.period, len(self.turn))
        else:
            inside = np.clip(inside, self.low, self.high)
            raw = splines(len(self.turn))(half_ranks(inside, self.grid, self._ranked))
        found = raw @ self.turn
        found -= np.column_stack([np.ones(len(x)), self._straight(inside, missing)]) @ self.line
        if self.tangent and not self.period:
            low, high = self._slopes()
            beyond = np.where(missing, 0.0, x - inside)[:, None]
            found += np.minimum(beyond, 0.0) * low + np.maximum(beyond, 0.0) * high
        found[missing] = 0.0
        return found

    @cached_property
    def _ranked(self) -> PchipInterpolator:
        return rank_curve(self.grid, self.rank)

    def _slopes(self) -> Array:
        """W′ at the lowest and at the highest value, (2, q): of splines the outermost two rise."""
        k = len(self.turn)
        steep = np.zeros((2, k))
        steep[0, :2] = steep[1, -2:] = CUBIC * (k - CUBIC) * np.array([-1.0, 1.0])
        width = self.grid[-1] - self.grid[0]
        speed = (1 + self._ranked(np.array([0.0, 1.0]), 1)) / (2 * width)
        return np.asarray((steep * speed[:, None]) @ self.turn - self.line[1] / self.scale)


@final
@dataclass(frozen=True, eq=False)
class CategoryTerm:
    """A coefficient for each level of one column of categories."""

    column: int
    place: int  # among the columns of codes
    n_levels: int
    has_missing: bool = False

    @property
    def n_columns(self) -> int:
        return self.n_levels + int(self.has_missing)

    def check_saved(self) -> None:
        """Refuse a column without levels."""
        if self.n_levels < 0 or self.n_columns < 1:
            raise unlike("A category", "of at least one level")

    @property
    def is_curve(self) -> Array:
        return np.ones(self.n_columns, dtype=bool)

    def largest(self) -> Array:
        return np.ones(self.n_columns)

    def features(self, numeric: Array, codes: Codes) -> Array:
        """One column of 0 and 1 for each level, the last for missing cells."""
        code = codes[:, self.place]
        if self.has_missing:
            code = np.where(code < 0, self.n_levels, code)
        return (code[:, None] == np.arange(self.n_columns)).astype(float)

    def margin(self, numeric: Array, codes: Codes, size: int) -> Array:
        return (codes[:, [self.place]] == np.arange(size)).astype(float)

    @property
    def most_in_margin(self) -> int:
        return self.n_levels if self.n_levels <= MOST_IN_PAIR else 0


ColumnTerm = NumberTerm | CategoryTerm


@final
@dataclass(frozen=True)
class PairTerm:
    """Products of the functions of two terms."""

    first: int  # among the terms of columns
    second: int
    sizes: tuple[int, int]  # how many functions of each

    @property
    def n_columns(self) -> int:
        return self.sizes[0] * self.sizes[1]


@final
@dataclass(frozen=True, eq=False)
class AdditiveTerms:
    """All terms of a model, and the design that they make of rows."""

    columns: tuple[ColumnTerm, ...]
    pairs: tuple[PairTerm, ...] = ()

    def check_saved(self) -> None:
        """Refuse pairs of terms that are not there."""
        for pair in self.pairs:
            sizes = [(self.columns[j].most_in_margin if 0 <= j < len(self.columns) else 0)
                     for j in (pair.first, pair.second)]  # fmt: skip
            if any(not 1 <= size <= most for size, most in zip(pair.sizes, sizes, strict=True)):
                raise InvalidInput(
                    f"it has a pair of the terms {pair.first} and {pair.second} with "
                    f"{pair.sizes} functions, which they do not have. Save the model again."
                )

    def check_columns(self, schema: Schema) -> None:
        """Refuse terms of columns that a schema does not have, or has as others."""
        flags = schema.as_codes
        columns = [term.column for term in self.columns]
        if columns != sorted({*columns}) or any(not 0 <= j < len(flags) for j in columns):
            raise unlike("The columns of terms", f"from 0 to {len(flags) - 1}, each once")
        for term in self.columns:
            j, coded = term.column, isinstance(term, CategoryTerm)
            same_count(f"Term {j}", (coded, term.place), (flags[j], flags[:j].count(flags[j])))
            if isinstance(term, CategoryTerm):
                same_count(f"The levels of term {j}", term.n_levels, schema.sizes[term.place])

    def largest(self) -> Array:
        """A bound of the size of each column of Φ within the range of the fit, (n_columns,)."""
        found = [term.largest() for term in self.columns]
        most = [each.max(initial=0.0) for each in found]
        found += [np.full(p.n_columns, most[p.first] * most[p.second]) for p in self.pairs]
        return np.concatenate([np.zeros(0), *found])

    @property
    def all(self) -> tuple[ColumnTerm | PairTerm, ...]:
        return (*self.columns, *self.pairs)

    @property
    def n_columns(self) -> int:
        """The columns of Φ."""
        return sum(term.n_columns for term in self.all)

    @property
    def width(self) -> int:
        """The columns of the widest array that Φ is made of: itself, or the splines of a column."""
        splines = [len(term.turn) for term in self.columns if isinstance(term, NumberTerm)]
        return max([self.n_columns, *splines])

    @property
    def term_of_column(self) -> Codes:
        """Which term each column of Φ belongs to."""
        return np.repeat(np.arange(len(self.all)), [term.n_columns for term in self.all])

    @property
    def group_of_column(self) -> Codes:
        """Which strength each column of Φ shares: 0 is that of all lines and indicators."""
        groups, last = [], 0
        for term in self.columns:
            curved = term.is_curve
            last += int(curved.any())
            groups.append(np.where(curved, last, 0))
        groups += [np.full(pair.n_columns, last + 1 + k) for k, pair in enumerate(self.pairs)]
        found = np.concatenate([np.zeros(0, dtype=np.intp), *groups]).astype(np.intp)
        return np.unique(found, return_inverse=True)[1]  # without lines, 0 is the first curve

    def features(self, numeric: Array, codes: Codes) -> Array:
        """Φ of rows as they were encoded, (n, n_columns)."""
        parts = [self.features_of(j, numeric, codes) for j in range(len(self.all))]
        return np.hstack([np.zeros((len(numeric), 0)), *parts])

    def bounded(self, numeric: Array) -> Array:
        """Numbers within the range of the fit and a tenth of its width; of circles as they are."""
        out = numeric.copy()
        for term in self.columns:
            if isinstance(term, NumberTerm) and not term.period:
                beyond = BEYOND * (term.high - term.low)
                out[:, term.place] = out[:, term.place].clip(term.low - beyond, term.high + beyond)
        return out

    def going_on(self) -> "AdditiveTerms":
        """The same terms, whose curves go on as tangents outside the values of the fit."""
        on = (replace(t, tangent=True) if isinstance(t, NumberTerm) else t for t in self.columns)
        return replace(self, columns=tuple(on))

    def features_of(self, j: int, numeric: Array, codes: Codes) -> Array:
        """The columns of Φ of one term; of a pair, the products of the functions of its columns."""
        if j < len(self.columns):
            return self.columns[j].features(numeric, codes)
        pair = self.pairs[j - len(self.columns)]
        a, b = (
            self.columns[place].margin(numeric, codes, size)
            for place, size in zip((pair.first, pair.second), pair.sizes, strict=True)
        )
        return np.asarray((a[:, :, None] * b[:, None, :]).reshape(len(a), -1))

    def columns_of(self, j: int) -> tuple[int, ...]:
        """The terms of columns that a term is made of: itself, or the two of a pair."""
        if j < len(self.columns):
            return (j,)
        pair = self.pairs[j - len(self.columns)]
        return pair.first, pair.second

    def names(self, columns: Sequence[str]) -> tuple[str, ...]:
        """The name of each term, from those of the columns of X."""
        own = [columns[term.column] for term in self.columns]
        return (*own, *(JOINED.join((own[pair.first], own[pair.second])) for pair in self.pairs))


class TermChoice(NamedTuple):
    """How the columns of X enter, by position: a ``Smooth``, "linear", or None for the rule."""

    given: dict[int, Smooth | str]
    names: Sequence[str]

    def of_number(self, column: int, values: Array) -> Smooth | str:
        chosen = self.given.get(column)
        if chosen is not None and chosen != "auto":
            return chosen
        period = period_of(self.names[column], values)
        return Smooth(cyclic=float(period)) if period else Smooth()


def learn_terms(
    schema: Schema, choice: TermChoice, total: ColumnTotals, most: int
) -> AdditiveTerms:
    """The terms of the columns, from the totals of their values; a curve has ``most`` functions."""
    numbers = [j for j, coded in enumerate(schema.as_codes) if not coded]
    coded = [j for j, is_coded in enumerate(schema.as_codes) if is_coded]
    gaps = total.missing > 0
    found: list[ColumnTerm] = []
    for place, j in enumerate(numbers):
        summary = total.values.each[place]
        if summary.values.size:
            smooth = choice.of_number(j, summary.values)
            term = number_term(j, place, summary, smooth, has_missing=bool(gaps[place]))
            refuse_period(choice.names[j], smooth, summary.values, term.period)
            found.append(term.smoothest(most))
    for place, j in enumerate(coded):
        size = schema.sizes[place]
        missing = bool(gaps[len(numbers) + place])
        if size + missing > 1:
            found.append(CategoryTerm(j, place, size, missing))
    return AdditiveTerms(tuple(sorted(found, key=lambda term: term.column)))


def number_term(
    column: int, place: int, summary: QuantileSummary, smooth: Smooth | str, *, has_missing: bool
) -> NumberTerm:
    """The line and the curve of a column with these values."""
    x, w = summary.values, summary.weight / summary.total_weight
    low, high = float(x[0]), float(x[-1])
    centre, width = float(np.dot(w, x)), high - low
    # of the range, because squares of small numbers are 0
    scale = width * float(np.sqrt(np.dot(w, np.square((x - centre) / (width or 1.0))))) or 1.0
    plain = NumberTerm(
        column, place, centre, scale, low, high, np.zeros(0), np.zeros(0),
        np.zeros((0, 0)), np.zeros((2, 0)), has_missing=has_missing,
    )  # fmt: skip
    if isinstance(smooth, str) or len(x) < FEWEST_VALUES:
        return plain
    if smooth.cyclic:
        n_waves = min(len(x), smooth.k + 3) // 2
        turn = np.diag(np.repeat(1.0 / np.square(np.arange(1, n_waves + 1)), 2))
        raw = waves(x, smooth.cyclic, 2 * n_waves) @ turn
        straight = np.ones((len(x), 1))
        plain = replace(plain, period=float(smooth.cyclic))
    else:
        k = min(smooth.k, max(int(summary.total_weight) // ROWS_A_SPLINE, FEW_SPLINES), len(x))
        grid, rank = ranks(x, w)
        raw = splines(k)(half_ranks(x, grid, rank_curve(grid, rank))) @ (turn := turned(k))
        straight = np.column_stack([np.ones(len(x)), (x - centre) / scale])
        plain = replace(plain, grid=grid, rank=rank)
    fit = (straight * w[:, None]).T @ raw  # x̃ and the constant are orthonormal under w
    size = float(np.sqrt(np.sum(w @ np.square(raw - straight @ fit))))
    if size < FLAT:  # two or three values that a line goes through
        return replace(plain, period=0.0, grid=np.zeros(0), rank=np.zeros(0))
    line = np.vstack([fit, np.zeros((2 - len(fit), raw.shape[1]))])
    return replace(plain, turn=turn / size, line=line / size)


def ranks(x: Array, w: Array) -> tuple[Array, Array]:
    """Some of the values, and the share of the weight below each, half of its own included."""
    middle = np.cumsum(w) - w / 2
    chosen = np.unique(np.searchsorted(middle, np.linspace(0, 1, RANKS)).clip(0, len(x) - 1))
    chosen = np.unique(np.concatenate([[0], chosen, [len(x) - 1]]))
    apart = np.diff(x[chosen], append=np.inf) >= NEAREST * (x[-1] - x[0])
    chosen = chosen[apart]
    share = middle[chosen]
    return x[chosen], ((share - share[0]) / (share[-1] - share[0])).clip(0.0, 1.0)


def rank_curve(grid: Array, rank: Array) -> PchipInterpolator:
    """The rank at each place between the lowest and the highest value."""
    return PchipInterpolator((grid - grid[0]) / (grid[-1] - grid[0]), rank)


def half_ranks(x: Array, grid: Array, ranked: PchipInterpolator) -> Array:
    """v: half the place of x between the lowest and the highest value, half its rank."""
    place = (x - grid[0]) / (grid[-1] - grid[0])
    return np.clip((place + ranked(place)) / 2, 0.0, 1.0)


@cache
def splines(k: int) -> CubicSplines:
    """k cubic B-splines with equally spaced knots on [0, 1]."""
    inner = np.linspace(0.0, 1.0, k - CUBIC + 1)
    return CubicSplines(np.concatenate([np.zeros(CUBIC), inner, np.ones(CUBIC)]))


def waves(x: Array, period: float, n_functions: int) -> Array:
    """cos and sin of each harmonic, (n, n_functions)."""
    angle = 2 * np.pi / period * x[:, None] * np.arange(1, n_functions // 2 + 1)
    return np.stack([np.cos(angle), np.sin(angle)], axis=2).reshape(len(x), -1)


def turned(k: int) -> Array:
    """U e^(−½) of S = ∫B″B″ᵀ, the smoothest function first, without the constant, (k, k − 1)."""
    knots, inner = splines(k).knots, splines(k).inner
    half = np.diff(inner)[:, None] / 2
    points = (inner[:-1, None] + half + half * GAUSS).ravel()
    second = np.stack([BSpline(knots, row, CUBIC).derivative(2)(points) for row in np.eye(k)])
    S = (second * np.repeat(half.ravel(), len(GAUSS))) @ second.T
    values, vectors = np.linalg.eigh(S)
    curved = values > FLAT * values[-1]
    flat = vectors[:, ~curved]  # the constant and v, of which v is kept
    flat = flat - flat.mean(axis=0)  # splines sum to 1: the constant has equal coefficients
    direction = np.linalg.svd(flat, full_matrices=False)[0][:, :1]
    smoothest = values[curved][0]
    parts = [direction / np.sqrt(smoothest), vectors[:, curved] / np.sqrt(values[curved])]
    return np.hstack(parts)
