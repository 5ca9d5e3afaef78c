"""What torch lacks: rows of a sparse table, random numbers by key, and recorded steps.

    z ← mix(z ⊕ (n G + G))   (mod 2⁶⁴)

A sparse matrix keeps for each row its values and their columns, filled up with zeros to the longest
row, so that any rows can be chosen, and made dense, where they are: a batch is small.

Random numbers have the bits of ``likely.numerics.keyed_random``.  torch has no unsigned 64-bit
arithmetic, but int64 wraps around, so sums and products have the same bits.  A shift to the right
copies the sign, which is masked; an unsigned comparison is a signed one with the top bit flipped.

A step of a small network is some dozens of kernels that take less time than their launches.  A
recording (a CUDA graph) is made once for each shape of the batches, and replayed with other numbers
in its buffers.  Where recording fails, the steps are launched one by one, with a warning.

References
----------
https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple, final

import numpy as np
from scipy import sparse

from likely._typing import Matrix
from likely.errors import LikelyWarning, warn_user
from likely.host_arrays import is_tensor
from likely.neural.devices import torch_library
from likely.numerics.keyed_random import FIRST, GOLDEN, SECOND, WORD, keyed
from likely.solvers.mini_batches import WINDOW
from likely.solvers.updates import Update

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


HALF = WORD // 2
DRAWS = 2**53  # a uniform number is k / 2⁵³ with k from 0 to 2⁵³ − 1


def signed(word: int) -> int:
    """The int64 with the bits of a word modulo 2⁶⁴."""
    word %= WORD
    return word - WORD if word >= HALF else word


G, M1, M2 = signed(int(GOLDEN)), signed(int(FIRST)), signed(int(SECOND))
TOP_BIT = signed(HALF)


def mix(z: Any) -> Any:
    """SplitMix64's bijection of 64-bit words."""
    z = (z ^ shifted(z, 30)) * M1
    z = (z ^ shifted(z, 27)) * M2
    return z ^ shifted(z, 31)


def shifted(z: Any, bits: int) -> Any:
    """z / 2^bits of the unsigned word."""
    return (z >> bits) & ((1 << (64 - bits)) - 1)


def next_key(key: Any, number: Any) -> Any:
    """The key with one more number; tensors that broadcast."""
    return mix(key ^ (number * G + G))


def keys_of(seeds: Sequence[int], number: int, device: Any) -> Any:
    """The keys (seed, number) of several seeds, (n_seeds,)."""
    words = np.array([keyed(seed, number) for seed in seeds], dtype=np.uint64)
    return torch_library().from_numpy(words.view(np.int64)).to(device)


def least_dropped(kept: float) -> int:
    """The least k with k / 2⁵³ ≥ ``kept``: whole numbers compare as the uniform numbers do."""
    return ceil(kept * DRAWS)


def kept_units(row_key: Any, size: int, least: Any) -> Any:
    """Whether units 0 … size − 1 are kept, for each key of a row: (…, size) of Booleans."""
    units = torch_library().arange(size, device=row_key.device)
    return shifted(next_key(row_key[..., None], units), 11) < least


def epoch_orders(
    n_rows: int, seeds: Sequence[int], epoch: int, device: Any, *, window: int = WINDOW
) -> Any:
    """``epoch_order`` of several seeds, (n_seeds, n_rows), sorted where the tensors are."""
    torch = torch_library()
    index = torch.arange(n_rows, device=device)
    key = next_key(keys_of(seeds, epoch, device)[:, None], index) ^ TOP_BIT
    order = torch.empty_like(key)
    for low in range(0, n_rows, window):
        order[:, low : low + window] = low + key[:, low : low + window].argsort(dim=1, stable=True)
    return order


MOST_RECORDINGS = 8
WARM_UPS = 2  # runs before a recording, in which libraries reserve their memory

TakeSteps = Callable[[Update, Any], None]  # the steps of some batches


class Recording(NamedTuple):
    graph: Any
    batches: Any  # what the graph reads


@final
class RecordedSteps:
    """The recordings of one group of networks, by the shapes of what they read."""

    def __init__(self, device: Any) -> None:
        self.device = device
        self.refused: str | None = None  # why nothing can be recorded
        self._recordings: dict[Any, Recording] = {}

    def run(self, rule: Update, batches: Any, steps: TakeSteps, state: Sequence[Any]) -> None:
        """``steps(rule, batches)``, which changes the tensors of ``state`` in place."""
        if self.refused is None:
            with on_its_device(self.device):
                recording = self._recording(rule, batches, steps, state)
                if recording is not None:
                    for here, given in zip(
                        recording.batches.tensors(), batches.tensors(), strict=True
                    ):
                        here.copy_(given)
                    recording.graph.replay()
                    return
        steps(rule, batches)

    def _recording(
        self, rule: Update, batches: Any, steps: TakeSteps, state: Sequence[Any]
    ) -> Recording | None:
        shapes = tuple(tuple(each.shape) for each in batches.tensors())
        key = (shapes, tuple(mask is None for mask in batches.masks), rule)
        if key not in self._recordings:
            if len(self._recordings) == MOST_RECORDINGS:
                self._recordings.clear()
            before = [each.clone() for each in state]
            try:
                self._recordings[key] = recorded(rule, batches.cloned(), steps)
            except RuntimeError as error:
                self.refused = str(error)
                warn_user(
                    f"The steps of training could not be recorded on {self.device}: {error}. They "
                    "are launched one by one, which is slower.",
                    LikelyWarning,
                )
                return None
            finally:
                for here, saved in zip(state, before, strict=True):
                    here.copy_(saved)
        return self._recordings[key]


def recorded(rule: Update, batches: Any, steps: TakeSteps) -> Recording:
    """A recording that reads ``batches``; making it changes what the steps change."""
    cuda = torch_library().cuda
    stream = cuda.Stream()
    stream.wait_stream(cuda.current_stream())
    with cuda.stream(stream):
        for _ in range(WARM_UPS):
            steps(rule, batches)
    cuda.current_stream().wait_stream(stream)
    graph = cuda.CUDAGraph()
    with cuda.graph(graph):
        steps(rule, batches)
    return Recording(graph, batches)


def on_its_device(device: Any) -> AbstractContextManager[Any]:
    """Within it, launches go to the device, if there are several."""
    context: AbstractContextManager[Any] = torch_library().cuda.device(device)
    return context
