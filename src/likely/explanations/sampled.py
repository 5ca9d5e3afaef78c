"""Contributions of columns to any function of a row, by replacing cells in random orders.

    c_j(x) = E_b,π [ f(x on the columns up to j, b on the others) − f(… before j …) ]

b is a row of a background table and π a random order of the columns: from b to x, one cell after
the other is replaced, and the change of f at a cell belongs to its column.  The changes add up to
f(x) − f(b), so contributions add up to the score exactly; each is an estimate of a Shapley value,
whose error falls with the number of orders.  Each order is also walked backwards, which cancels
errors of the first order in pairs of columns.  Background rows and orders are the same for all
rows, so a row is explained alike alone and among others.

References: Štrumbelj & Kononenko, Explaining prediction models and individual predictions with
feature contributions, KAIS 2014, §3; Mitchell et al., Sampling permutations for Shapley value
estimation, JMLR 2022, §3.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, final

import numpy as np

from likely._typing import Array, Codes, Matrix
from likely.caching import cached_property
from likely.data.frames import is_sparse
from likely.errors import InvalidInput
from likely.inputs.tables import as_frame, is_frame

N_ORDERS = 25  # each is walked in both directions
MOST_CELLS = 2_000_000  # of a table that is predicted at once
SEED = 0


# ── Tables whose cells come from different rows: some columns of one row, the others of another ───


class MixedRows(ABC):
    """Rows of a table, from which tables are made cell by cell."""

    names: tuple[str, ...] | None

    @property
    @abstractmethod
    def n_columns(self) -> int: ...

    @abstractmethod
    def table(self, source: Codes) -> Any:
        """A table of the same kind; ``source[i, j]`` is the row that cell (i, j) comes from."""


@final
@dataclass(frozen=True, eq=False)
class ArrayRows(MixedRows):
    """The rows of an array."""

    values: Array
    names: tuple[str, ...] | None = None

    @property
    def n_columns(self) -> int:
        return int(self.values.shape[1])

    def table(self, source: Codes) -> Array:
        return np.asarray(self.values[source, np.arange(self.n_columns)])


@final
@dataclass(frozen=True, eq=False)
class NumberRows(MixedRows):
    """Rows of numbers, several of which may stand for one column; after them, a row of 0."""

    values: Matrix
    column: Codes  # the column that each number belongs to
    width: int  # columns: one of a single category has no number
    names: tuple[str, ...] | None = None

    @property
    def n_columns(self) -> int:
        return self.width

    def table(self, source: Codes) -> Array:
        return np.asarray(self._known[source[:, self.column], np.arange(len(self.column))])

    @cached_property
    def _known(self) -> Array:
        values = self.values.toarray() if is_sparse(self.values) else np.asarray(self.values)
        return np.vstack([values, np.zeros((1, len(self.column)))])


@final
@dataclass(frozen=True, eq=False)
class FrameRows(MixedRows):
    """The rows of a data frame; its library and types are kept."""

    frame: Any  # of narwhals

    @classmethod
    def of(cls, X: Any, *others: Any) -> Self:
        import narwhals.stable.v2 as nw

        first, *rest = (nw.from_native(as_frame(each), eager_only=True) for each in (X, *others))
        same = [each.select(first.columns) for each in rest]
        return cls(nw.concat([first, *same], how="vertical") if same else first)

    @property
    def names(self) -> tuple[str, ...]:  # type: ignore[override]  # read-only here
        return tuple(map(str, self.frame.columns))

    @property
    def n_columns(self) -> int:
        return len(self.frame.columns)

    def table(self, source: Codes) -> Any:
        import narwhals.stable.v2 as nw

        own = np.arange(len(self.frame))
        if len(source) == len(own) and not self.frame.implementation.is_pandas_like():
            moved = np.flatnonzero((source != own[:, None]).any(axis=0)).tolist()
            names = [self.frame.columns[j] for j in moved]
            pairs = zip(names, moved, strict=True)
            changed = [self.frame.get_column(name)[source[:, j]] for name, j in pairs]
            return self.frame.with_columns(*changed).to_native()  # most columns are as they were
        columns = {
            name: self.frame.get_column(name)[source[:, j]]
            for j, name in enumerate(self.frame.columns)
        }
        return nw.from_dict(columns).to_native()


def mixed_rows(X: Any, background: Any = None) -> MixedRows:
    """The rows of X, and after them those of a background table with the same columns."""
    if is_sparse(X):
        raise InvalidInput(
            "X is sparse; cells of several rows are mixed here, which needs a dense table. Give "
            "some rows of it as X[:100].toarray()."
        )
    if is_frame(as_frame(X)):
        return FrameRows.of(X) if background is None else FrameRows.of(X, background)
    parts = [np.asarray(X)] if background is None else [np.asarray(X), np.asarray(background)]
    return ArrayRows(np.concatenate(parts))


# ── The contributions ─────────────────────────────────────────────────────────────────────────────


class SampledContributions(NamedTuple):
    """Contributions (n, d, G), and the mean score of the background rows (G,)."""

    contributions: Array
    base: Array


def sampled_contributions(
    score: Callable[[Any], Array],
    rows: MixedRows,
    explained: Codes,
    background: Codes,
    *,
    n_orders: int = N_ORDERS,
    seed: int = SEED,
) -> SampledContributions:
    """The contributions to ``score``, a function from tables to (n, G).

    ``explained`` and ``background`` are positions among the rows; with one background row, or
    fewer than ``n_orders``, each is used several times.
    """
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(background)[:n_orders]
    starts = np.resize(chosen, max(1, -(-n_orders // len(chosen))) * len(chosen))
    orders = [rng.permutation(rows.n_columns) for _ in starts]
    found = None
    for start, order in zip(starts, orders, strict=True):
        for walk in (order, order[::-1]):
            changes = _walked(score, rows, explained, int(start), walk)
            found = changes if found is None else found + changes
    assert found is not None
    base = score(rows.table(np.repeat(chosen[:, None], rows.n_columns, axis=1))).mean(axis=0)
    return SampledContributions(found / (2 * len(starts)), base)


def _walked(
    score: Callable[[Any], Array], rows: MixedRows, explained: Codes, start: int, order: Codes
) -> Array:
    """The change of the score at each column, from one background row to each explained row."""
    d = len(order)
    size = max(1, MOST_CELLS // (d * (d + 1)))
    place = np.argsort(order)  # of each column in the order
    replaced = np.arange(d + 1)[:, None] > place  # (steps, columns): cells already of the row
    parts = []
    for low in range(0, len(explained), size):
        some = explained[low : low + size]
        source = np.where(replaced, some[:, None, None], start)  # (rows, steps, columns)
        values = score(rows.table(source.reshape(-1, d)))
        values = values.reshape(len(some), d + 1, -1)
        parts.append(np.diff(values, axis=1)[:, place])
    return np.concatenate(parts)


def background_rows(n_explained: int, n_background: int | None, who: str) -> Codes:
    """The positions of background rows: those given after the explained rows, else these."""
    if n_background is not None and n_background > 0:
        return np.arange(n_explained, n_explained + n_background)
    if n_explained < 2:
        raise InvalidInput(
            f"X has {n_explained} row, and {who} is explained by replacing cells with those of "
            "other rows; two or more were expected. Give rows of the training table as background=."
        )
    return np.arange(n_explained)
