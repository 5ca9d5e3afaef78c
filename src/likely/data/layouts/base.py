"""The contract of a layout of the design matrix: the few operations that models need.

    matmat(Θ)        XΘ                 (n,) or (n, K)
    rmatmat(R)       XᵀR                (p,) or (p, K)
    sandwich(d)      Xᵀ diag(d) X       (p, p), or on some columns; sandwiches(D) for several d
    row_quadratic(M) diag(X M Xᵀ)       (n,), for leverages
    stored()         what distributions read

Results are new arrays, float64 also where X is float32: blocks are added in float64.  A layout
hands large blocks to compiled loops, which trust the shapes of their arguments: a layout checks
them first (``for_columns``, ``for_rows``), whoever made them.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Self

import numpy as np

from likely._typing import Array, Matrix, NumbersAndCodes
from likely.errors import InvalidInput

FAST_CELLS = 100_000  # in a block: below, the readable version is quicker than loading Numba


def pays(n_cells: int) -> bool:
    """Whether a compiled loop pays for this many stored cells, and can be compiled."""
    return n_cells >= FAST_CELLS and _can_compile()


@cache
def _can_compile() -> bool:
    """Whether Numba is installed; ``likely.runtime`` predicts without it."""
    try:
        return find_spec("numba") is not None
    except ImportError:
        return False


def for_loop(values: Array, dtype: type = np.float64) -> Array:
    """An array as compiled loops need it: one dtype, C order, writable (others compile again)."""
    return np.require(values, dtype, ["C", "W"])


def refuse_other_length(what: str, found: tuple[int, ...], expected: tuple[int, ...]) -> None:
    """Refuse an array that a compiled loop would read past its end."""
    if found != expected:
        raise InvalidInput(
            f"{what} has shape {found}; the design matrix needs {expected}. Give one number for "
            "each of its columns or rows; if the model is from a file, save the model again."
        )


class Design(ABC):
    """The contract of a layout."""

    @property
    @abstractmethod
    def n_rows(self) -> int: ...

    @property
    @abstractmethod
    def n_features(self) -> int:
        """The number of columns of the matrix."""

    @property
    @abstractmethod
    def nbytes(self) -> int: ...

    @abstractmethod
    def rows(self, start: int, stop: int) -> Self:
        """Rows ``start`` to ``stop``, as a view where the layout allows it."""

    @abstractmethod
    def taken(self, order: Array) -> Self:
        """The rows of these numbers, in their order, copied."""

    @abstractmethod
    def joined(self, others: Sequence[Self]) -> Self:
        """These rows and then those of the others, copied."""

    @abstractmethod
    def matmat(self, theta: Array) -> Array: ...

    @abstractmethod
    def rmatmat(self, residual: Array) -> Array: ...

    @abstractmethod
    def sandwich(self, d: Array, columns: Array | None = None) -> Array:
        """Xᵀ diag(d) X; on ``columns`` (distinct) alone, nothing (p, p) is built."""

    def sandwiches(self, D: Array, columns: Array | None = None) -> Iterator[Array]:
        """Xᵀ diag(d) X for each column d of D, one after another."""
        return (self.sandwich(d, columns) for d in np.ascontiguousarray(D.T))

    @abstractmethod
    def row_quadratic(self, M: Array) -> Array: ...

    @abstractmethod
    def stored(self) -> Matrix | NumbersAndCodes: ...

    def for_columns(self, theta: Array, n_axes: int = 1) -> Array:
        """An array for a compiled loop, with an entry for each column in its first axes."""
        expected = (self.n_features,) * n_axes
        refuse_other_length("An array of coefficients", theta.shape[:n_axes], expected)
        return for_loop(theta)

    def for_rows(self, values: Array) -> Array:
        """An array for a compiled loop, with an entry for each row."""
        refuse_other_length("An array of rows", values.shape[:1], (self.n_rows,))
        return for_loop(values)

    @property
    def n_centred(self) -> int:
        """How many columns ``centred`` changes: the first ones."""
        return 0

    def centred(self, centre: Array) -> "Design":
        """The numbers minus ``centre``, (n_centred,); sparse ones stay, to keep their zeros."""
        return self
