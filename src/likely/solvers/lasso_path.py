"""The lasso, or elastic net, at a whole sequence of penalties.

    F_λ(β, γ) = ½ Σ_i w_i (y_i − z_iᵀγ − x_iᵀβ)² + λ Σ_j f_j (ρ|β_j| + ½(1 − ρ) β_j²)

z has the unpenalised columns: the intercept, and those of penalty factor f_j = 0.  They are
projected out: Z = QR with QᵀWQ = I, so that every residual below is r = (I − QQᵀW)(y − Xβ).

    1  extrapolate the gradients c = XᵀWr, nearly linear in λ, over the next few penalties; columns
       that come near their bound λ f_j ρ join the active set A
    2  coordinate descent on the Gram matrix of A, from each penalty to the next
    3  c for all columns and all these penalties, in one pass over X; where the duality gap is
       within tol they are done, and elsewhere the columns beyond their bound join A

The dual point of a penalty is s·r, with s ≤ 1 the largest that brings every |c_j − κ_jβ_j| within
its bound, and s·√κ_jβ_j for the ridge, taken as rows of data:

    gap = F_λ(β) − s yᵀWr + ½ s² (Σ w r² + Σ κ_j β_j²)        κ_j = λ f_j (1 − ρ)

It bounds F_λ(β) − min F_λ, and is given relative to F_∞ = ½ Σ w (y − ŷ)², ŷ from z alone.

References
----------
Friedman, Hastie & Tibshirani, Regularization paths for GLMs via coordinate descent, 2010.
Tibshirani et al., Strong rules for discarding predictors in lasso-type problems, 2012.
Efron et al., Least angle regression, 2004 (the path is piecewise linear in λ).
Fercoq, Gramfort & Salmon, Mind the duality gap, 2015.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, final

import numpy as np
from scipy.linalg import solve_triangular
from scipy.linalg.lapack import dposv

from likely._typing import Array
from likely.solvers.coordinate_descent import conjugate_gradients

MOST_AT_ONCE = 16  # penalties checked by one pass over X
NEAR = 0.97  # of its bound: where an extrapolated gradient makes its column join
INNER = 0.3  # part of tol that the gap on A may take
SWEEPS = 30  # before solving for the nonzero coefficients, which pays only where sweeps are slow
ROUNDS = 100
TIGHTER = 0.2
FIRST_HELD = 256
MOST_GROWTH = 0.5  # of A, on a forecast: far ahead it brings in columns that stay at 0
EXPLAINED = 1e-28  # the part of Σ w y² that is rounding, where the free columns explain y
ROUGH = 1e-16  # the least part of Σ w y² that a gap can be seen against
SMALLEST = 1e-150  # in place of a penalty or a total of 0; its square can still be divided by
SMALLEST_FREE = 1e-10  # a free column's part outside the earlier ones, relative to its length


class PathObjective(ABC):
    """Least squares on columns.  ``y`` is net of any offset."""

    y: Array
    weight: Array
    n_columns: int

    @abstractmethod
    def pulls(self, R: Array) -> Array:
        """XᵀWR, (n_columns, k), for R of shape (n, k)."""

    @abstractmethod
    def rows_of(self, columns: Array) -> Array:
        """The given columns as rows, (len(columns), n), C-contiguous."""


@final
@dataclass(frozen=True, eq=False)
class PathSolution:
    """One θ per penalty, in the order of the penalties."""

    penalties: Array  # λ, falling
    coefficients: Array  # β, (n_penalties, n_columns)
    intercepts: Array
    gaps: Array  # certified, relative to F_∞
    passes: int  # over all the data

    @property
    def n_active(self) -> Array:
        return np.asarray(np.count_nonzero(self.coefficients, axis=1))


def lasso_path(
    objective: PathObjective,
    *,
    penalties: Array | None = None,
    n_penalties: int = 100,
    ratio: float = 1e-3,
    l1_ratio: float = 1.0,
    factors: Array | None = None,
    intercept: bool = True,
    tol: float = 1e-4,
    max_passes: int = 10_000,
) -> PathSolution:
    """Solve at every penalty, from the largest; by default from the smallest λ with β = 0."""
    f = np.ones(objective.n_columns) if factors is None else np.asarray(factors, dtype=float)
    free = FreeColumns.of(objective, np.flatnonzero(f == 0), intercept)
    held = HeldColumns.start(objective, free)
    largest = float(np.max(np.abs(held.moments[f > 0]) / (f[f > 0] * l1_ratio), initial=0.0))
    if penalties is None:
        penalties = max(largest, SMALLEST) * np.geomspace(1.0, ratio, n_penalties)
    grid = np.sort(np.asarray(penalties, dtype=float))[::-1]
    search = _Search(objective, free, held, grid, f, l1_ratio, tol, before=max(largest, grid[0]))
    while search.done < len(grid) and search.passes < max_passes:
        search.advance()
    return search.solution()


@final
@dataclass(frozen=True, eq=False)
class FreeColumns:
    """Q with QᵀWQ = I, spanning the intercept and unpenalised columns, without dependent ones."""

    Q: Array  # (n, k)
    R: Array  # (k, k): Z = QR
    columns: Array  # which column each is; −1 is the intercept
    U: Array  # QᵀWX, (k, n_columns)

    @classmethod
    def of(cls, objective: PathObjective, columns: Array, intercept: bool) -> "FreeColumns":
        w, n = objective.weight, len(objective.y)
        Z = objective.rows_of(columns)
        names = columns
        if intercept:
            Z, names = np.vstack([np.ones(n), Z]), np.concatenate([[-1], columns])
        Q: Array = np.empty((0, n))
        R, kept = np.zeros((len(Z), len(Z))), list[int]()
        for z, name in zip(Z, names, strict=True):
            part = np.dot(Q, w * z)
            rest = z - np.dot(part, Q)
            again = np.dot(Q, w * rest)  # once is not enough for columns nearly in the span
            rest, part = rest - np.dot(again, Q), part + again
            length = float(np.sqrt(np.dot(w, rest**2)))
            if length > SMALLEST_FREE * float(np.sqrt(np.dot(w, z**2))):
                R[: len(kept), len(kept)], R[len(kept), len(kept)] = part, length
                Q = np.vstack([Q, rest / length])
                kept.append(name)
        k = len(kept)
        U = objective.pulls(Q.T).T if k else np.empty((0, objective.n_columns))
        return cls(np.ascontiguousarray(Q.T), R[:k, :k], np.array(kept, dtype=np.intp), U)

    def project(self, E: Array, weight: Array) -> tuple[Array, Array]:
        """(I − QQᵀW)E, and the γ of the part taken out."""
        part = np.dot(self.Q.T, (weight * E.T).T)
        return E - np.dot(self.Q, part), solve_triangular(self.R, part) if len(part) else part


@dataclass(eq=False)
class HeldColumns:
    """The columns of A and what the descent reads of them; arrays grow by doubling."""

    objective: PathObjective
    free: FreeColumns
    moments: Array  # XᵀWr₀ for all columns, r₀ the projected y
    y2: float  # Σ w r₀²
    index: Array = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    rows: Array = field(init=False)  # the columns themselves, (capacity, n)
    gram: Array = field(  # of the projected columns, (capacity, capacity)
        default_factory=lambda: np.empty((0, 0))
    )

    @classmethod
    def start(cls, objective: PathObjective, free: FreeColumns) -> "HeldColumns":
        r, _ = free.project(objective.y[:, None], objective.weight)
        y2 = float(np.dot(objective.weight, r[:, 0] ** 2))
        if y2 <= EXPLAINED * float(np.dot(objective.weight, objective.y**2)):
            r, y2 = 0.0 * r, 0.0
        return cls(objective, free, objective.pulls(r)[:, 0], y2)

    def __post_init__(self) -> None:
        self.rows = np.empty((0, len(self.objective.y)))

    def join(self, columns: Array) -> None:
        """Gram entries of the new columns with all active ones, from the columns themselves."""
        m, total = len(self.index), len(self.index) + len(columns)
        self._reserve(total)
        self.rows[m:total] = self.objective.rows_of(columns)
        self.index = np.concatenate([self.index, columns])
        U = self.free.U
        new = np.dot(self.rows[m:total] * self.objective.weight, self.rows[:total].T)
        new -= np.dot(U[:, columns].T, U[:, self.index])
        self.gram[m:total, :total] = new
        self.gram[:m, m:total] = new[:, :m].T

    def _reserve(self, total: int) -> None:
        m, capacity = len(self.index), len(self.gram)
        if total <= capacity:
            return
        capacity = max(2 * capacity, total, FIRST_HELD)
        rows, gram = np.empty((capacity, len(self.objective.y))), np.empty((capacity, capacity))
        rows[:m], gram[:m, :m] = self.rows[:m], self.gram[:m, :m]
        self.rows, self.gram = rows, gram


def minimise_gram(
    gram: Array, q: Array, y2: float, l1: Array, l2: Array, beta: Array, tol: float
) -> Array:
    """argmin ½βᵀGβ − qᵀβ + Σ l1|β| + ½Σ l2β², to a duality gap of ``tol`` where rounding allows.

    After a few sweeps the nonzero coefficients are solved for with the signs found; one that would
    change sign is set to 0.  ``gram`` may be larger than β.
    """
    from likely.fast.columns import descend_gram

    G = gram[: len(q), : len(q)]
    c = q - np.dot(G, beta)
    for _ in range(ROUNDS):
        if descend_gram(gram, q, c, beta, l1, l2, y2, tol, SWEEPS) <= SWEEPS:
            break
        for found in _with_these_signs(G, c, l1, l2, beta):
            pulls = q - np.dot(G, found)
            if _model(q, pulls, l1, l2, found) < _model(q, c, l1, l2, beta):
                beta, c = found, pulls
                break
    return beta


def _with_these_signs(G: Array, c: Array, l1: Array, l2: Array, beta: Array) -> Iterator[Array]:
    """The minimum at these signs, with 0 for what would turn; then the way to the first turn."""
    on = np.flatnonzero(beta)
    start, signs = beta[on], np.sign(beta[on])
    H = G[np.ix_(on, on)]
    H[np.diag_indices(len(on))] += l2[on]
    step = _solve(H, c[on] - l2[on] * start - l1[on] * signs)
    turns = (start + step) * signs <= 0
    found = np.zeros_like(beta)
    found[on] = np.where(turns, 0.0, start + step)
    yield found
    if turns.any():
        parts = np.where(turns, -start / np.where(turns, step, 1.0), 1.0)
        first = int(np.argmin(parts))
        found[on] = start + parts[first] * step
        found[on[first]] = 0.0
        yield found


def _solve(H: Array, right: Array) -> Array:
    """H⁻¹ right; nearly, by conjugate gradients, if H is singular."""
    _, x, singular = dposv(H, right)
    if singular == 0 and np.isfinite(x).all():
        return np.asarray(x)
    return conjugate_gradients(partial(np.dot, H), right, np.diag(H))


def _model(q: Array, c: Array, l1: Array, l2: Array, beta: Array) -> float:
    """The minimised value, with Gβ = q − c."""
    return float(np.dot(l1, np.abs(beta)) + 0.5 * np.dot(beta, l2 * beta - q - c))


class _Checked(NamedTuple):
    """Some penalties after a pass over all the data."""

    betas: Array  # on A, one row per penalty
    gamma: Array  # one column per penalty
    pulls: Array  # c, one column per penalty
    gaps: Array


@dataclass(eq=False)
class _Search:
    """The state of one path."""

    objective: PathObjective
    free: FreeColumns
    held: HeldColumns
    grid: Array
    factors: Array
    l1_ratio: float
    tol: float
    before: float  # a penalty at which β = 0

    def __post_init__(self) -> None:
        L, p = len(self.grid), self.objective.n_columns
        self.coefficients, self.intercepts = np.zeros((L, p)), np.zeros(L)
        self.gaps = np.full(L, np.inf)
        self.done, self.passes, self.size, self.inner = 0, 0, 1, INNER
        whole = float(np.dot(self.objective.weight, self.objective.y**2))
        self.unit = max(0.5 * self.held.y2, ROUGH * whole, SMALLEST)  # F_∞
        self.known: list[tuple[float, Array]] = [(self.before, self.held.moments)]
        self.warm: dict[int, Array] = {}
        self.inside = self.factors == 0  # columns that need not join

    def advance(self) -> None:
        """One pass over all the data: accept what it certifies, prepare for what it does not."""
        batch = self._ahead()
        self._join(self._near(float(batch[-1])))
        here = self._check(batch, self._descend(batch))
        self.passes += 1
        fine = here.gaps <= self.tol
        accepted = len(batch) if fine.all() else int(np.argmin(fine))
        failed = min(accepted, len(batch) - 1)
        beyond = np.abs(here.pulls[:, failed]) > self._bound(batch[failed])
        joining = beyond & ~self.inside & (accepted < len(batch))
        if accepted == 0 and not joining.any():
            self.inner *= TIGHTER
            accepted = int(self.inner < np.finfo(float).eps)  # rounding: as good as it gets
        self._accept(here, batch, accepted)
        self._join(joining)
        grown = 2 * self.size if accepted == len(batch) else max(1, accepted)
        self.size = min(grown, MOST_AT_ONCE)

    def _ahead(self) -> Array:
        """The next penalties, limited so that not too many columns enter at once."""
        batch = self.grid[self.done : self.done + self.size]
        most = max(FIRST_HELD, MOST_GROWTH * len(self.held.index))
        while len(batch) > 1 and np.count_nonzero(self._near(float(batch[-1]))) > most:
            batch = batch[:-1]
        return batch

    def _bound(self, penalty: Array | float) -> Array:
        """λ f_j ρ, one row per column and one column per penalty."""
        return np.multiply.outer(self.factors * self.l1_ratio, penalty)

    def _near(self, end: float) -> Array:
        """Columns whose gradient, extrapolated to the penalty ``end``, comes near its bound."""
        last, c = self.known[-1]
        if len(self.known) < 2:  # the strong rule: a gradient changes no faster than its bound
            return np.asarray(np.abs(c) >= self._bound(2 * end - last)) & ~self.inside
        earlier, before = self.known[-2]
        ahead = c + (c - before) * ((end - last) / (last - earlier))
        return np.asarray(np.abs(ahead) >= NEAR * self._bound(end)) & ~self.inside

    def _join(self, chosen: Array) -> None:
        columns = np.flatnonzero(chosen & ~self.inside)
        if columns.size:
            self.held.join(columns)
            self.inside[columns] = True

    def _descend(self, batch: Array) -> Array:
        """β on A at each penalty."""
        held, m = self.held, len(self.held.index)
        model = held.gram, held.moments[held.index], held.y2
        f = self.factors[held.index]
        for i, penalty in enumerate(batch, start=self.done):
            l1, l2 = penalty * f * self.l1_ratio, penalty * f * (1 - self.l1_ratio)
            allowed = self.inner * self.tol * self.unit
            self.warm[i] = minimise_gram(*model, l1, l2, self._start(i, m), allowed)
        return np.array([self.warm[self.done + i] for i in range(len(batch))])

    def _start(self, i: int, m: int) -> Array:
        """The earlier attempt; or a linear extrapolation of the last two solutions."""

        def known(k: int) -> Array:
            beta = self.warm.get(k, np.empty(0))
            return np.pad(beta, (0, m - len(beta)))

        if i in self.warm or i < 2:
            return known(i if i in self.warm else i - 1)
        last, before = known(i - 1), known(i - 2)
        far, here, there = self.grid[i - 2], self.grid[i - 1], self.grid[i]
        if far == here:
            return last
        ahead = last + (last - before) * ((there - here) / (here - far))
        return np.asarray(np.where(ahead * last > 0, ahead, 0.0))

    def _check(self, batch: Array, betas: Array) -> _Checked:
        """Gradients of all columns, and the certified gaps."""
        held, w, y = self.held, self.objective.weight, self.objective.y
        m = len(held.index)
        E = y[:, None] - np.dot(held.rows[:m].T, betas.T)
        r, gamma = self.free.project(E, w)
        c = self.objective.pulls(r)
        kappa = np.multiply.outer(self.factors[held.index], batch * (1 - self.l1_ratio))
        forces = np.abs(c)
        forces[held.index] = np.abs(c[held.index] - kappa * betas.T)
        bound, penalised = self._bound(batch), self.factors > 0
        worst = np.max(forces[penalised] / bound[penalised], axis=0, initial=1.0)
        s = 1.0 / worst
        squares = np.dot(w, r**2) + (kappa * betas.T**2).sum(axis=0)
        size = (bound[held.index] * np.abs(betas.T)).sum(axis=0)
        gap = 0.5 * squares + size - s * np.dot(w * y, r) + 0.5 * s**2 * squares
        return _Checked(betas, gamma, c, np.maximum(gap, 0.0) / self.unit)

    def _accept(self, here: _Checked, batch: Array, accepted: int) -> None:
        at = self.done + np.arange(len(batch))
        self.gaps[at] = here.gaps
        self.coefficients[np.ix_(at, self.held.index)] = here.betas
        penalised = self.free.columns >= 0
        self.coefficients[np.ix_(at, self.free.columns[penalised])] = here.gamma[penalised].T
        self.intercepts[at] = here.gamma[~penalised].sum(axis=0)
        for i in range(max(0, accepted - 2), accepted):
            if batch[i] < self.known[-1][0]:
                self.known = [self.known[-1], (float(batch[i]), here.pulls[:, i])]
        self.done += accepted

    def solution(self) -> PathSolution:
        return PathSolution(self.grid, self.coefficients, self.intercepts, self.gaps, self.passes)
