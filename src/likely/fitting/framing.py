"""The design that a search sees: centred numbers, an intercept, and rows to start from.

    η = b + xᵀβ = b̃ + (x − c)ᵀβ        b̃ = b + cᵀβ

Centring changes neither β nor the fit while the intercept is free, and it keeps the Hessian
well-conditioned where columns are far from 0.  The centre need not be exact: the mean of some rows
is enough.

Weights that are given to start from, such as the linear form of a naive Bayes, are for the data as
they are:

    log p(x, k) = b_k + w_kᵀx + (a shared term)        log-odds of two classes: w₁ − w₀, b₁ − b₀

The optimum does not depend on them.  Those of naive Bayes are close to it where the columns are
independent given the class.  Of words, which are not, they are far too large, the more for rare
words: a search from them takes as many steps as one from the constant model.

Rows that a rule holds out to stop a search are, of each class, the same share by weight.  The
responses are read once to choose them.  A row that is held out has weight 0 for the fit, and one
that is not has weight 0 for the loss.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, final

import numpy as np
from scipy.linalg import solve_triangular

from likely._typing import Array, Codes
from likely.compute.executor import Executor
from likely.data.block import (
    ArrayBlocks,
    Block,
    Blocks,
    CountedBlocks,
    MappedBlocks,
    first_rows,
    redesigned,
)
from likely.data.copies import copies_in_blocks
from likely.data.hashed_splits import share_of_each_class
from likely.data.layouts.base import Csr, Design
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Intercept
from likely.distributions.base import NamedForm
from likely.errors import InvalidInput
from likely.inputs.coding import refuse_gaps
from likely.numerics.additive import FieldwiseAdditive
from likely.objectives.linear import weighted
from likely.solvers.stopping import HeldOutPatience, StoppingRule

START_SHARE = 0.1  # of the rows are enough to start from
ROWS_PER_COEFFICIENT = 20  # fewer would start a search worse than the constant model does
FEWEST_TO_SHARE = 20_000  # rows; below, a pass costs next to nothing
MOST_ROWS = 100_000  # of a start, unless there are very many coefficients
LARGEST = 1e150  # squares of larger numbers overflow where they are summed
SAME = 1e-12  # relative: what a mean of many equal numbers may differ by from them
ROWS_TO_SUSPECT = 1000  # of the first block
UNKNOWN_SHARE = 0.02  # of a file whose length is not known


@final
@dataclass(frozen=True, eq=False)
class Framing:
    """How the design of a search is computed from that of the data; the intercept comes last."""

    n_coefficients: int
    intercept: bool
    centre: Array | None  # of the first columns
    basis: Array | None = None  # R, (p, p), if columns are made orthogonal; 0 for redundant ones

    @property
    def n_parameters(self) -> int:
        return self.n_coefficients + int(self.intercept)

    def __call__(self, design: Design) -> Design:
        if self.basis is not None:
            inner: Design = Dense(self._orthogonal(design))
        else:
            inner = design if self.centre is None else design.centred(self.centre)
        return Intercept(inner) if self.intercept else inner

    def _orthogonal(self, design: Design) -> Array:
        """Z with ZR = X − c, by a triangular solve of each row, which loses no digits of x."""
        X = design.matmat(np.eye(design.n_features))
        return np.ascontiguousarray(
            self._solved(X if self.centre is None else X - self.centre, "T")
        )

    def _solved(self, values: Array, transposed: str) -> Array:
        """R⁻¹ times each row of values, or R⁻ᵀ; 0 for redundant columns."""
        assert self.basis is not None
        kept = np.flatnonzero(np.diag(self.basis))
        out = np.zeros(values.shape)
        R = self.basis[np.ix_(kept, kept)]
        out[..., kept] = solve_triangular(
            R, values[..., kept].T, trans=transposed, check_finite=False
        ).T
        return out

    def coefficients(self, theta: Array) -> Array:
        """β of the columns as they are, from that of the columns of a search, (…, p)."""
        return theta if self.basis is None else self._solved(theta, "N")

    def to_user(self, theta: Array) -> Array:
        """θ of the data as they are, from θ of the centred data, (…, n_parameters)."""
        out, p = np.array(theta, dtype=np.float64), self.n_coefficients
        out[..., :p] = self.coefficients(out[..., :p])
        if self.centre is not None:
            out[..., -1] -= np.dot(out[..., : len(self.centre)], self.centre)
        return out

    def from_user(self, theta: Array) -> Array:
        """The inverse of ``to_user``, but for redundant columns."""
        out, p = np.array(theta, dtype=np.float64), self.n_coefficients
        if self.centre is not None:
            out[..., -1] += np.dot(out[..., : len(self.centre)], self.centre)
        if self.basis is not None:
            out[..., :p] = np.dot(out[..., :p], self.basis.T)
        return out

    def jacobian(self) -> Array:
        """∂ to_user / ∂θ."""
        return self.to_user(np.eye(self.n_parameters)).T


class Framed(NamedTuple):
    """Blocks as a search sees them."""

    blocks: Blocks
    start: Blocks  # the rows that a search starts from: some, or all where they are few
    share: float  # of the rows that ``start`` has
    framing: Framing
    passes: list[float]  # grows with every pass over the data
    rows: Blocks  # as given, for solvers that read rows or columns in their own order


@final
@dataclass(frozen=True, eq=False)
class Sums(FieldwiseAdditive):
    """Σw and Σwx."""

    weight: float
    x: Array


def block_sums(block: Block) -> Sums:
    weight = weighted(block.weight, np.ones(block.n_rows))
    return Sums(float(weight.sum()), block.X.rmatmat(weight))


def block_sums_about(centre: Array, block: Block) -> Sums:
    """Σw and Σw(x − c) of the first columns, whose rows are copied: digits that Σwx has lost."""
    weight = weighted(block.weight, np.ones(block.n_rows))
    X = block.X.matmat(np.eye(block.X.n_features)[:, : len(centre)]) - centre
    return Sums(float(weight.sum()), np.dot(weight, X))


@final
@dataclass(frozen=True, eq=False)
class ResponseSums(FieldwiseAdditive):
    """Σw and Σwy."""

    weight: float
    y: Array | float


def block_response(block: Block) -> ResponseSums:
    weight = weighted(block.weight, np.ones(block.n_rows))
    with np.errstate(over="ignore", invalid="ignore"):  # sums that are not finite are refused later
        return ResponseSums(float(weight.sum()), np.asarray(np.dot(weight, block.target)))


def framed(
    blocks: Blocks,
    executor: Executor,
    *,
    names: Callable[[], tuple[str, ...]],
    intercept: bool = True,
    centre: bool = True,
) -> Framed:
    """The blocks centred and with an intercept, and the first rows of each to start from.

    ``names`` gives those of the columns, for errors about a cell that is not finite.
    """
    passes: list[float] = []
    counted = CountedBlocks(blocks, passes)
    share = start_share(blocks.n_rows, blocks.n_features)
    some: Blocks = counted
    if share < 1:
        some = first_rows(counted, share)
        passes[-1] = share
    where = centre_of(blocks, some, executor) if centre and intercept else None
    if where is not None and not np.isfinite(where).all():
        refuse_gaps(blocks, names)  # by their row in the data, not among some
    if where is not None:
        refuse_too_large(where, names)
    refuse_too_small(blocks, names)
    framing = Framing(blocks.n_features, intercept, where)
    return Framed(
        blocks=redesigned(counted, framing, framing.n_parameters),
        start=redesigned(some, framing, framing.n_parameters),
        share=share,
        framing=framing,
        passes=passes,
        rows=blocks,
    )


def nearer_mean(blocks: Blocks, mean: Array, executor: Executor) -> Array:
    """The mean of columns that were not centred, such as sparse ones, by one more pass."""
    about = executor.sum(partial(block_sums_about, mean), blocks)
    return np.asarray(mean + about.x / about.weight)


def refuse_too_large(mean: Array, names: Callable[[], tuple[str, ...]]) -> None:
    """Refuse columns with so large a mean that squares overflow."""
    beyond = np.abs(mean) > LARGEST
    if beyond.any():
        raise InvalidInput(
            f"Column {names()[int(beyond.argmax())]!r} holds numbers whose squares overflow "
            f"(beyond about {LARGEST:g}); a linear model sums squares. Divide it by a constant."
        )


def refuse_too_small(blocks: Blocks, names: Callable[[], tuple[str, ...]]) -> None:
    """Refuse columns of an array whose cells differ by so little that their squares are 0.

    The first rows raise a suspicion, and all rows confirm it.
    """
    if not isinstance(blocks, ArrayBlocks):
        return
    if isinstance(blocks.X, Dense):
        cells = blocks.X.values
        suspects = _differ_by_too_little(cells[:ROWS_TO_SUSPECT])
        if suspects.any():
            suspects[suspects] = _differ_by_too_little(cells[:, suspects])
    elif isinstance(blocks.X, Csr) and blocks.X.values.nnz:
        suspects = _stored_too_small(blocks.X)
    else:
        return
    if suspects.any():
        raise InvalidInput(
            f"Column {names()[int(suspects.argmax())]!r} holds numbers that differ by less than "
            f"{1 / LARGEST:g}, so that their squares are 0; a linear model sums squares. Multiply "
            "it by a round number."
        )


def _stored_too_small(design: Csr) -> Array:
    """Which sparse columns have cells other than 0, and only very small ones."""
    size, found = np.abs(design.values.data), np.zeros(design.n_features, dtype=bool)
    if size.min() < 1 / LARGEST:
        largest = np.zeros(design.n_features)
        np.maximum.at(largest, design.values.indices, size)
        found = (largest > 0) & (largest < 1 / LARGEST)
    return found


def _differ_by_too_little(cells: Array) -> Array:
    if not len(cells):
        return np.zeros(cells.shape[1], dtype=bool)
    with np.errstate(invalid="ignore", over="ignore"):  # cells that are not finite, refused later
        spread = np.ptp(cells, axis=0)
        return np.asarray((spread > 0) & (spread < 1 / LARGEST))


def refuse_extreme_responses(blocks: Blocks) -> None:
    """Refuse responses whose squares overflow, or are 0, in double precision."""
    if not isinstance(blocks, ArrayBlocks) or not np.size(blocks.target):
        return  # those of a file are found where sums are not finite
    largest = float(np.abs(blocks.target).max())
    if largest > LARGEST:
        change = "too large: their squares overflow. Divide y by a round number."
    elif 0 < largest < 1 / LARGEST:
        change = "too small: their squares are 0. Multiply y by a round number."
    else:
        return
    raise InvalidInput(
        f"The largest response is {largest:.3g}; numbers between {1 / LARGEST:g} and {LARGEST:g} "
        f"were expected. They are {change}"
    )


def start_share(n_rows: int | None, n_features: int) -> float:
    """The part of the rows that a search starts from."""
    if n_rows is None:
        return UNKNOWN_SHARE
    if n_rows < FEWEST_TO_SHARE or START_SHARE * n_rows < ROWS_PER_COEFFICIENT * n_features:
        return 1.0
    return min(START_SHARE, max(MOST_ROWS, ROWS_PER_COEFFICIENT * n_features) / n_rows)


def mean_response(blocks: Blocks, executor: Executor) -> Array | float:
    """The weighted mean of y."""
    total = executor.sum(partial(block_response), blocks)
    return total.y / total.weight


def centre_of(blocks: Blocks, some: Blocks, executor: Executor) -> Array | None:
    """The means of the columns of numbers, over some rows; None if there are no such columns."""
    n_centred = next(iter(blocks)).X.n_centred  # of the blocks as they are: no pass is counted
    if not n_centred:
        return None
    total = executor.sum(partial(block_sums), some)
    mean = np.asarray(total.x[:n_centred] / total.weight)
    first = next(iter(blocks)).X.rows(0, 1).rmatmat(np.ones(1))[:n_centred]
    # a constant such as 0.1 is not the rounded mean of its copies, and any centre will do
    with np.errstate(invalid="ignore"):  # an infinite cell, refused later
        same = np.isfinite(mean) & (np.abs(first - mean) <= SAME * np.abs(mean))
    return np.where(same, first, mean)


def weights_given(start: object) -> tuple[Array, Array]:
    """The weights and intercepts of a mapping, or of a linear form."""
    if isinstance(start, NamedForm):
        start = {"coef": start.coef, "intercept": start.intercept}
    if not isinstance(start, Mapping) or set(start) != {"coef", "intercept"}:
        raise InvalidInput(
            f"start={start!r:.200} was given; a mapping with coef and intercept was expected, or a "
            "linear form. Use start=bayes.logistic_form() of a fitted NaiveBayes, or "
            "start={'coef': model.class_coef_, 'intercept': model.class_intercept_}."
        )
    coef, intercept = (np.asarray(start[name], dtype=float) for name in ("coef", "intercept"))
    return coef, intercept


def predictor_given(start: object, framing: Framing) -> Array:
    """θ of one predictor, from its own weights or from those of two classes."""
    coef, intercept = weights_given(start)
    if coef.ndim == 2 and len(coef) == 2 and intercept.shape == (2,):
        coef, intercept = coef[1] - coef[0], intercept[1] - intercept[0]
    coef, intercept = np.ravel(coef), np.ravel(intercept)
    if coef.shape != (framing.n_coefficients,) or intercept.shape != (1,):
        d = framing.n_coefficients
        raise InvalidInput(
            f"start holds {coef.size} weights and {intercept.size} intercepts; weights of shape "
            f"{(1, d)} and one intercept were expected, or {(2, d)} and two, class by class."
            " Give one weight for each column."
        )
    theta = np.append(coef, intercept) if framing.intercept else coef
    return np.asarray(framing.from_user(theta))


class HeldRows(NamedTuple):
    """Rows to fit, rows to judge the steps by, and how many are held out and left."""

    fitted: Blocks
    held: Blocks | None = None
    counts: tuple[int, int] | None = None


def hold_out(stop: StoppingRule | None, blocks: Blocks) -> HeldRows:
    """What a rule holds out: nothing without one that needs it."""
    if stop is None:
        return HeldRows(blocks)
    if not isinstance(stop, StoppingRule):
        raise InvalidInput(
            f"stop={stop!r} was given; a rule of likely.solvers was expected. "
            "Use stop=HeldOutPatience(5), or max_iter for a number of steps."
        )
    rule = stop.held_out_rule()
    if rule is None:
        return HeldRows(blocks)
    target = np.concatenate([np.asarray(block.target) for block in blocks])
    held = held_mask(rule, target, copies_in_blocks(blocks))
    counts = (int(held.sum()), int((~held).sum()))
    return HeldRows(_only(blocks, ~held), _only(blocks, held), counts)


def held_mask(rule: HeldOutPatience, target: Array, copies: Codes | None = None) -> Array:
    """A share of the rows, of each class where y holds codes; at least one, and never all."""
    held = share_of_each_class(target, rule.share, rule.random_state, copies)
    if not held.any():
        raise InvalidInput(
            f"HeldOutPatience(share={rule.share:g}) holds out none of {len(target)} rows; one or "
            "more were expected. Raise the share, or give more rows."
        )
    return held


def _only(blocks: Blocks, mask: Array) -> Blocks:
    if isinstance(blocks, ArrayBlocks):
        weight = mask.astype(float) if blocks.weight is None else blocks.weight * mask
        return replace(blocks, weight=weight)
    return MappedBlocks(blocks, partial(_masked, mask), blocks.n_features)


def _masked(mask: Array, block: Block) -> Block:
    own = mask[block.start : block.start + block.n_rows]
    weight = own.astype(float) if block.weight is None else block.weight * own
    return replace(block, weight=weight)
