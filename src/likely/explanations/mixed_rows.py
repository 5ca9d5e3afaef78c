"""Tables whose cells come from different rows: some columns of one row, the others of another."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from likely._typing import Array, Codes, Matrix
from likely.caching import cached_property
from likely.data.frames import is_sparse
from likely.errors import InvalidInput
from likely.inputs.tables import as_frame, is_frame


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
class CodedRows(MixedRows):
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
