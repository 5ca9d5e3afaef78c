"""Rows of a table on a device: dense, or sparse rows that are padded to one length.

A sparse matrix keeps for each row its values and their columns, filled up with zeros to the
longest row, so that any rows can be chosen, and made dense, where they are: a batch is small.
"""

from dataclasses import dataclass
from typing import Any, final

import numpy as np
from scipy import sparse

from likely._typing import Matrix
from likely.host_arrays import is_tensor
from likely.neural.tensors.library import torch_library

CELL_PARTS = 3  # a stored value has its number, in float32, and its column, in int64


@final
@dataclass(frozen=True, eq=False)
class PaddedRows:
    """Sparse rows on a device; entries beyond the length of a row are 0 in column 0."""

    values: Any  # (n, longest)
    columns: Any  # (n, longest)
    n_columns: int

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.values), self.n_columns

    def __getitem__(self, rows: Any) -> "PaddedRows":
        return PaddedRows(self.values[rows], self.columns[rows], self.n_columns)

    def dense(self) -> Any:
        """(n, n_columns)."""
        out = self.values.new_zeros(*self.values.shape[:-1], self.n_columns)
        return out.scatter_add_(-1, self.columns, self.values)


def on_device(X: Any, dtype: Any, device: Any) -> Any:
    """X as a tensor, or as padded rows where a sparse X is smaller so."""
    torch = torch_library()
    if is_tensor(X):
        return X.detach().to(device=device, dtype=tensor_dtype(dtype)).contiguous()
    if not sparse.issparse(X):
        array = np.ascontiguousarray(X, dtype=dtype)
        return torch.from_numpy(_writable(array)).to(device)
    X = sparse.csr_array(X, dtype=dtype)
    X.sum_duplicates()
    longest = int(np.diff(X.indptr).max(initial=0))
    if CELL_PARTS * longest >= X.shape[1]:
        return torch.from_numpy(X.toarray()).to(device)
    return _padded(X, longest, device)


def dense_rows(X: Any, rows: Any) -> Any:
    """Some rows of what ``on_device`` gave, dense, with the shape of ``rows`` before."""
    return X[rows].dense() if isinstance(X, PaddedRows) else X[rows]


def tensor_dtype(dtype: Any) -> Any:
    """torch's name of a NumPy type."""
    return getattr(torch_library(), np.dtype(dtype).name)


def _padded(X: Matrix, longest: int, device: Any) -> PaddedRows:
    torch = torch_library()
    length = np.diff(X.indptr)
    row = np.repeat(np.arange(X.shape[0]), length)
    place = np.arange(X.nnz) - np.repeat(X.indptr[:-1], length)
    values = np.zeros((X.shape[0], longest), dtype=X.dtype)
    columns = np.zeros((X.shape[0], longest), dtype=np.int64)
    values[row, place], columns[row, place] = X.data, X.indices
    return PaddedRows(
        torch.from_numpy(values).to(device), torch.from_numpy(columns).to(device), X.shape[1]
    )


def _writable(array: Any) -> Any:
    """The array, or a copy of one that must not be written: torch would warn of it."""
    return array if array.flags.writeable else array.copy()
