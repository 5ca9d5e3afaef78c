"""The rows that a network is trained or judged on: in memory, or read from a file in windows.

    window k: the rows k·W, …, (k + 1)·W − 1 of the training rows, in the order of the data

Rows are shuffled inside windows, and a batch does not span two of them, so that a file that is read
from start to end and an array give the same batches.  Of a file, the targets and the weights stay
in memory, and the columns are read again in every epoch.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, NamedTuple, final

import numpy as np
from scipy import sparse

from likely._typing import Array, Matrix
from likely.data.arrow import arrow_table_of
from likely.data.block import ArrayBlocks, Block, Blocks
from likely.data.coding import Coding
from likely.data.copies import words_of_rows
from likely.data.frames import is_sparse
from likely.data.layouts.base import Csr, Design
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Mixed
from likely.errors import InvalidInput, SortedRows, UnscaledColumns, warn_user
from likely.host_arrays import on_host
from likely.inputs.coding import refuse_gaps
from likely.inputs.tables import n_rows_of, rows_at, total_is_finite, without_columns
from likely.neural.engine import Engine
from likely.neural.formulas import NetworkRows
from likely.neural.options import FEW_ROWS, MANY_ROWS, Options
from likely.neural.settings import Batches
from likely.output.formatting import quoted
from likely.solvers.mini_batches import WINDOW, ShuffledBatches, share_between_windows

COMPARED = 256  # rows at once, until more than a few of them differ
MOST_DENSE = 512  # columns: with more, indicators of categories are stored as sparse rows

Names = Callable[[], tuple[str, ...]]


class Window(NamedTuple):
    """Some of the rows, as an engine reads them."""

    rows: NetworkRows
    start: int  # of the window among these rows
    n_rows: int  # of the window
    first: int  # the global index of the first of these rows


class PreparedExamples(ABC):
    """Rows as an engine reads them."""

    @abstractmethod
    def windows(self, size: int) -> Iterator[Window]:
        """The rows in order, ``size`` at a time."""

    @abstractmethod
    def whole(self) -> NetworkRows:
        """All rows in memory."""

    @abstractmethod
    def loss(self, theta: Array) -> float:
        """Their mean loss."""


class Examples(ABC):
    """Rows with their targets and weights; no engine is known yet."""

    y: Array
    weight: Array | None

    @property
    def n_rows(self) -> int:
        return len(self.y)

    @property
    def weight_total(self) -> float:
        return float(self.n_rows if self.weight is None else self.weight.sum())

    @abstractmethod
    def some_columns(self) -> Matrix:
        """X, or its first rows, for the choice of an engine."""

    @abstractmethod
    def columns(self, size: int) -> Iterator[tuple[slice, Matrix]]:
        """X of ``size`` rows at a time, and which rows they are."""

    @abstractmethod
    def prepared(self, engine: Engine, window: int) -> PreparedExamples: ...

    @abstractmethod
    def where(self, mask: Array) -> "Examples":
        """The rows of a mask."""

    @abstractmethod
    def having(self, y: Array, weight: Array | None) -> "Examples":
        """The same rows with other targets and weights."""


@final
@dataclass(frozen=True, eq=False)
class ExamplesInMemory(Examples):
    """Rows of an array, dense or CSR."""

    X: Matrix
    y: Array
    weight: Array | None = None

    def some_columns(self) -> Matrix:
        return self.X

    def columns(self, size: int) -> Iterator[tuple[slice, Matrix]]:
        for low in range(0, self.n_rows, size):
            part = slice(low, low + size)
            yield part, self.X[part]

    def prepared(self, engine: Engine, window: int) -> "PreparedInMemory":
        return PreparedInMemory(engine, engine.prepare(self.X, self.y, self.weight))

    def where(self, mask: Array) -> "ExamplesInMemory":
        weight = None if self.weight is None else self.weight[mask]
        return ExamplesInMemory(self.X[mask], self.y[mask], weight)

    def having(self, y: Array, weight: Array | None) -> "ExamplesInMemory":
        return ExamplesInMemory(self.X, y, weight)

    def joined(self, other: "ExamplesInMemory") -> "ExamplesInMemory":
        """These rows, and then those of another set."""
        X = (
            sparse.vstack([self.X, other.X], format="csr")
            if sparse.issparse(self.X)
            else np.concatenate([self.X, other.X])
        )
        weights = [
            np.ones(each.n_rows) if each.weight is None else each.weight for each in (self, other)
        ]
        given = self.weight is not None or other.weight is not None
        weight = np.concatenate(weights) if given else None
        return ExamplesInMemory(X, np.concatenate([self.y, other.y]), weight)

    def merged(self) -> "ExamplesInMemory":
        """Each different row once, with the weight of all its copies."""
        X = self.X.toarray() if sparse.issparse(self.X) else self.X
        both = np.column_stack([X, self.y])
        _, first, unit = np.unique(both, axis=0, return_index=True, return_inverse=True)
        total = np.bincount(unit.ravel(), self.weight, len(first)).astype(np.float64)
        return ExamplesInMemory(self.X[first], self.y[first], total)


@final
@dataclass(frozen=True, eq=False)
class PreparedInMemory(PreparedExamples):
    """Rows of an array, converted once."""

    engine: Engine
    rows: NetworkRows

    def windows(self, size: int) -> Iterator[Window]:
        for low in range(0, self.rows.n_rows, size):
            yield Window(self.rows, low, min(size, self.rows.n_rows - low), 0)

    def whole(self) -> NetworkRows:
        return self.rows

    def loss(self, theta: Array) -> float:
        return self.engine.loss(theta, self.rows)


@final
@dataclass(frozen=True, eq=False)
class ExamplesInFile(Examples):
    """Rows of a file, of which a mask chooses some."""

    blocks: Blocks
    y: Array
    weight: Array | None
    names: Names
    dtype: Any  # in which squares must not overflow
    mask: Array | None = None  # of the rows of the file; None is all

    @classmethod
    def of(cls, blocks: Blocks, names: Names, dtype: Any) -> "ExamplesInFile":
        """The rows of the file; targets and weights are read here.  Rows of weight 0 stay out."""
        y, weight = list[Array](), list[Array | None]()
        for block in blocks:
            y.append(np.asarray(block.target))
            weight.append(block.weight)
        if weight[0] is None:
            return cls(blocks, np.concatenate(y), None, names, dtype)
        weights = np.concatenate([each for each in weight if each is not None])
        present = weights > 0
        mask = None if present.all() else present
        return cls(blocks, np.concatenate(y)[present], weights[present], names, dtype, mask)

    def some_columns(self) -> Matrix:
        return matrix_of(next(iter(self.blocks)).X)

    def prepared(self, engine: Engine, window: int) -> "PreparedInFile":
        return PreparedInFile(engine, self, window)

    def where(self, mask: Array) -> "ExamplesInFile":
        of_file = mask if self.mask is None else self.mask.copy()
        if self.mask is not None:
            of_file[of_file] = mask
        weight = None if self.weight is None else self.weight[mask]
        return replace(self, y=self.y[mask], weight=weight, mask=of_file)

    def having(self, y: Array, weight: Array | None) -> "ExamplesInFile":
        return replace(self, y=y, weight=weight)

    def columns(self, size: int) -> Iterator[tuple[slice, Matrix]]:
        waiting, n_waiting, first = list[Matrix](), 0, 0
        for block in self.blocks:
            X = finite_matrix(block, self.names, self.dtype)
            if self.mask is not None:
                X = X[self.mask[block.start : block.start + block.n_rows]]
            while n_waiting + X.shape[0] >= size:
                cut = size - n_waiting
                yield slice(first, first + size), _stacked([*waiting, X[:cut]])
                first, waiting, n_waiting, X = first + size, [], 0, X[cut:]
            if X.shape[0]:
                waiting.append(X)
                n_waiting += X.shape[0]
        if n_waiting:
            yield slice(first, first + n_waiting), _stacked(waiting)


@final
@dataclass(frozen=True, eq=False)
class PreparedInFile(PreparedExamples):
    """Rows of a file, converted as they are read."""

    engine: Engine
    examples: ExamplesInFile
    window: int

    def windows(self, size: int) -> Iterator[Window]:
        y, weight = self.examples.y, self.examples.weight
        for part, X in self.examples.columns(size):
            rows = self.engine.prepare(X, y[part], None if weight is None else weight[part])
            yield Window(rows, 0, X.shape[0], part.start)

    def whole(self) -> NetworkRows:
        ((rows, *_),) = self.windows(self.examples.n_rows)
        return rows

    def loss(self, theta: Array) -> float:
        total = 0.0
        for window in self.windows(self.window):
            total += self.engine.loss(theta, window.rows) * window.rows.total_weight
        return total / self.examples.weight_total


def matrix_of(design: Design) -> Matrix:
    """The columns as one array, dense or CSR, with a column of 0 and 1 for each category."""
    if not isinstance(design, Mixed):
        return design.stored()
    return design.expanded().values if design.n_features <= MOST_DENSE else design.sparse()


def finite_matrix(block: Block, names: Names, dtype: Any = np.float64) -> Matrix:
    """The columns of a block, all finite, with squares that do not overflow in a dtype.

    ``names`` are those of the columns, for an error.
    """
    X = matrix_of(block.X)
    cells = X.data if sparse.issparse(X) else X
    if not total_is_finite(cells):
        layout = Csr(X) if sparse.issparse(X) else Dense(X)
        refuse_gaps([replace(block, X=layout)], names)
    largest = sqrt(float(np.finfo(dtype).max)) / 10
    if cells.size and max(float(cells.max()), -float(cells.min())) > largest:
        sizes = np.abs(X).max(axis=0)
        column = int((sizes.toarray() if sparse.issparse(sizes) else sizes).ravel().argmax())
        raise InvalidInput(
            f"Column {names()[column]!r} holds numbers whose squares overflow in "
            f"{np.dtype(dtype).name} (beyond about {largest:.0e}). Divide it by a constant."
        )
    return X


def n_examples(X: Any, y: Any, sample_weight: Any) -> int | None:
    """How many rows were given, as they came; where few differ, how many do.  None: no length.

    Copies have the same target, too.  Large tables, whose training is that of many rows in any
    case, are not looked through.
    """
    try:
        n_rows = n_rows_of(X)
    except TypeError:  # no length, but perhaps an array inside; else the fit refuses it
        return next(iter(np.shape(np.asarray(X))), None)
    if y is None or not FEW_ROWS < n_rows < MANY_ROWS:
        return n_rows
    try:
        found = _n_different(X, y, sample_weight, n_rows)
    except (TypeError, ValueError, LookupError, NotImplementedError):  # which the fit refuses
        return n_rows
    return found if found <= FEW_ROWS else n_rows


def _n_different(X: Any, y: Any, sample_weight: Any, n_rows: int) -> int:
    """How many rows differ, or how many of the first ones, if these are more than a few."""
    tables = [without_columns(X, [sample_weight]) if isinstance(sample_weight, str) else X]
    if not isinstance(y, str):
        tables.append(np.asarray(on_host(y)))
    seen = set[Any]()
    for low in range(0, n_rows, COMPARED):
        rows = np.arange(low, min(low + COMPARED, n_rows))
        keys = [_keys_of_rows(rows_at(on_host(table), rows)) for table in tables]
        seen |= {*zip(*keys, strict=True)}
        if len(seen) > FEW_ROWS:
            break
    return len(seen)


def _keys_of_rows(rows: Any) -> Sequence[Any]:
    """Something for each row that is equal where all cells are."""
    rows = rows.toarray() if is_sparse(rows) else rows
    rows = np.asarray(rows) if isinstance(rows, list | tuple) else rows
    if not isinstance(rows, np.ndarray):
        return words_of_rows(arrow_table_of(rows)).tolist()
    if rows.dtype.kind in "fiub":
        return [(row + 0.0).tobytes() for row in rows.astype(np.float64)]  # −0 becomes 0
    return [repr(row) for row in rows.tolist()]


def in_memory(blocks: ArrayBlocks, names: Names, dtype: Any) -> ExamplesInMemory:
    """The rows of blocks in memory."""
    X = finite_matrix(Block(blocks.X), names, dtype)
    return ExamplesInMemory(X, blocks.target, blocks.weight)


def _stacked(parts: list[Matrix]) -> Matrix:
    if len(parts) == 1:
        return parts[0]
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    return np.concatenate(parts)


ROWS_FOR_SCALE = 10_000
LARGE_COLUMN = 200.0  # root mean square
SMALL_COLUMN = 1e-3  # largest |x|: rare flags are 1
LARGEST_WEIGHT = 1e30  # float32 ends at 1e38
SORTED = 0.05  # of the variance of y between windows; rows in random order have about 1e-5


def refuse_extreme_weights(weight: Array | None) -> None:
    """Refuse weights whose products with slopes are 0 or infinite in float32."""
    largest = 1.0 if weight is None else float(weight.max(initial=0.0))
    if not 1 / LARGEST_WEIGHT <= largest <= LARGEST_WEIGHT:
        raise InvalidInput(
            f"The largest sample_weight is {largest:.3g}; one between {1 / LARGEST_WEIGHT:g} and "
            f"{LARGEST_WEIGHT:g} was expected. Divide all weights by it, and l1 and l2 too."
        )


def warn_of_unscaled_columns(model: str, examples: Examples, coding: Coding) -> None:
    """Warn of columns that kill units, or that no unit sees, because of their scale."""
    X = examples.some_columns()
    X = X[:: 1 + X.shape[0] // ROWS_FOR_SCALE].astype(np.float64)
    square = np.asarray((X.multiply(X) if sparse.issparse(X) else np.square(X)).mean(axis=0))
    most = abs(X).max(axis=0)
    most = np.ravel(most.toarray() if sparse.issparse(most) else most)
    far = (np.sqrt(np.ravel(square)) > LARGE_COLUMN) | ((most > 0) & (most < SMALL_COLUMN))
    if not far.any():
        return
    names = np.array(coding.names(), dtype=object)[far]
    size = most[far][0]
    warn_user(
        f"{model}: {quoted(names.tolist())} {'is' if len(names) == 1 else 'are'} "
        f"far from unit scale (|x| up to {size:.3g} in {str(names[0])!r}); one learning rate "
        "serves all weights, so that units can die and columns be ignored. Standardise the "
        "columns: likely.Prepared(model), or scikit-learn's StandardScaler.",
        UnscaledColumns,
    )


def warn_of_sorted_rows(options: Options, examples: Examples) -> None:
    """Warn where batches would have one class after another, though they are to be shuffled."""
    given = options.batch
    if isinstance(given, Batches):
        window = WINDOW if given.shuffle and not given.balanced and given.size != "full" else None
    else:
        window = None
        if isinstance(given, ShuffledBatches) and given.shuffle:
            window = given.window
    if options.quasi_newton or window is None or examples.n_rows <= window:
        return
    if share_between_windows(examples.y, window) > SORTED:
        warn_user(
            f"The rows are sorted by y, or nearly so, and are shuffled only inside windows of "
            f"{window} rows, so that many batches have targets of one kind. Shuffle the rows "
            "before the fit.",
            SortedRows,
        )
