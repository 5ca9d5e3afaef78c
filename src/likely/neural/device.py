"""torch: its devices, and what it lacks: losses, sparse rows, random numbers, recorded steps.

    z ← mix(z ⊕ (n G + G))   (mod 2⁶⁴)

torch is no dependency: it is imported when it is first needed.

The losses of outputs are formulas, which torch differentiates; an output without one (another link,
ordered classes) is computed by NumPy.

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

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from math import ceil
from typing import Any, NamedTuple, final

import numpy as np
from scipy import sparse

from likely._typing import Matrix
from likely.errors import InvalidInput, LikelyWarning, OutOfDeviceMemory, warn_user
from likely.host_arrays import is_tensor, on_host
from likely.neural.outputs import BERNOULLI, CATEGORICAL, GAUSSIAN, POISSON, Output
from likely.numerics.keyed_random import FIRST, GOLDEN, SECOND, WORD, keyed
from likely.solvers.mini_batches import WINDOW
from likely.solvers.updates import Update

DEVICE_NAMES = "'cpu', 'cuda', 'cuda:0', …"
DEVICE_NAME = re.compile(r"(cpu|cuda|mps|xpu)(:\d+)?")
CELL_PARTS = 3  # a stored value has its number, in float32, and its column, in int64


def torch_library() -> Any:
    """The module torch."""
    try:
        import torch
    except ImportError:
        raise InvalidInput(
            "A device was given; devices need the package torch, which is not installed. Run: "
            "pip install 'likely[torch]', or leave device out to compute with NumPy."
        ) from None
    return torch


def cuda_is_there() -> bool:
    """Whether torch is installed and finds a GPU; torch is imported where it is installed."""
    return find_spec("torch") is not None and bool(torch_library().cuda.is_available())


def checked_device(device: Any) -> Any:
    """A torch device that is there."""
    unknown = InvalidInput(
        f"device={device!r} was given; expected {DEVICE_NAMES}, or None for NumPy."
    )
    if isinstance(device, str) and not DEVICE_NAME.fullmatch(device):
        raise unknown  # said without torch, too
    torch = torch_library()
    try:
        chosen = torch.device(device)
    except (RuntimeError, TypeError):
        raise unknown from None
    if chosen.type == "cuda" and (chosen.index or 0) >= torch.cuda.device_count():
        raise InvalidInput(
            f"device={str(device)!r} was given; torch finds {torch.cuda.device_count()} CUDA "
            "devices here. Use device='cpu', or leave device out to compute with NumPy."
        )
    return chosen


@contextmanager
def memory_of(device: Any) -> Iterator[None]:
    """Say what to change where a device has too little memory."""
    try:
        yield
    except torch_library().cuda.OutOfMemoryError as error:
        why = str(error).partition(". ")[0]
        raise OutOfDeviceMemory(
            f"{why}; {device} has too little memory for this training. Lower batch, or the units "
            "of hidden; use dtype='float32' if it is float64; train fewer networks at once; or "
            "leave device out to compute on the processor."
        ) from error


def as_array(values: Any) -> np.ndarray[Any, Any]:
    """A tensor of any device, or an array, as a NumPy array."""
    return np.asarray(on_host(values))


ACTIVATIONS: Mapping[str, Callable[[Any], Any]] = {
    "identity": lambda a: a,
    "relu": lambda a: a.relu(),
    "sigmoid": lambda a: a.sigmoid(),
    "tanh": lambda a: a.tanh(),
    # torch's softplus is linear above 20, which loses digits in float64
    "softplus": lambda a: a.logaddexp(a.new_zeros(())),
}
# The loss of each example, of a target and η in float64 (…, batch, n_outputs): by the number of the
# compiled loss, or by the name of an output that has none.
LOSSES: Mapping[int | str, Callable[[Any, Any], Any]] = {
    CATEGORICAL: lambda t, eta: -(t * eta.log_softmax(-1)).sum(-1),
    BERNOULLI: lambda y, eta: -(y * _log_expit(eta) + (1 - y) * _log_expit(-eta)).sum(-1),
    GAUSSIAN: lambda y, eta: (eta - y).square().sum(-1) / 2,
    POISSON: lambda y, eta: (eta.exp() - y * eta).sum(-1),
    "square-error-sigmoid": lambda y, eta: (eta.sigmoid() - y).square().sum(-1) / 2,
    "square-error-softmax": lambda t, eta: (eta.softmax(-1) - t).square().sum(-1) / 2,
}


def _log_expit(a: Any) -> Any:
    return torch_library().nn.functional.logsigmoid(a)


class TensorSlope(NamedTuple):
    """The loss of each example and its derivatives."""

    loss: Any  # (…, batch)
    slope: Any  # ∂loss/∂η, (…, batch, n_outputs)
    extra: Any | None  # ∂loss/∂extra, (…, batch, n_extra)


class TensorLoss(ABC):
    """The contract: what an output computes, on tensors."""

    on_device: bool  # whether nothing is sent to the host

    @abstractmethod
    def target(self, y: Any) -> Any:
        """y of some rows, class numbers or numbers, as ``at`` reads it."""

    @abstractmethod
    def at(self, target: Any, eta: Any, extra: Any) -> TensorSlope:
        """The loss and its slopes; ``eta`` is (n_networks, batch, n_outputs) in float64."""


@final
@dataclass(frozen=True)
class FormulaLoss(TensorLoss):
    """A formula on tensors, which torch differentiates."""

    loss: Callable[[Any, Any], Any]
    n_classes: int | None  # class numbers become rows of 0 and 1

    on_device = True

    def target(self, y: Any) -> Any:
        if y.dtype.is_floating_point or self.n_classes is None:
            return y
        classes = torch_library().arange(self.n_classes, device=y.device)
        return (y[..., None] == classes).double()

    def at(self, target: Any, eta: Any, extra: Any) -> TensorSlope:
        torch = torch_library()
        loss, slope_of = torch.func.vjp(partial(self.loss, target), eta)
        return TensorSlope(loss, slope_of(torch.ones_like(loss))[0], None)


@final
@dataclass(frozen=True)
class HostLoss(TensorLoss):
    """The loss by NumPy, one network after the other."""

    output: Output

    on_device = False

    def target(self, y: Any) -> Any:
        return y

    def at(self, target: Any, eta: Any, extra: Any) -> TensorSlope:
        torch, target = torch_library(), as_array(target)
        target = np.broadcast_to(target, (len(eta), *target.shape[1:]))
        parts = zip(target, as_array(eta), as_array(extra), strict=True)
        with np.errstate(over="ignore", invalid="ignore"):
            found = [self.output.loss_and_slope(*each) for each in parts]

        def stacked(arrays: list[Any]) -> Any:
            return torch.from_numpy(np.stack(arrays).astype(np.float64)).to(eta.device)

        return TensorSlope(
            stacked([each.loss for each in found]),
            stacked([each.slope for each in found]),
            None if found[0].extra is None else stacked([each.extra for each in found]),
        )


def tensor_loss(output: Output) -> TensorLoss:
    """The loss of an output, on the device where it has a formula here."""
    loss = LOSSES.get(output.compiled) or LOSSES.get(output.name)
    if loss is None:
        return HostLoss(output)
    return FormulaLoss(loss, output.n_classes if output.n_outputs > 1 else None)


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
        array = np.require(X, dtype=dtype, requirements=["C", "W"])  # torch warns of read-only ones
        return torch.from_numpy(array).to(device)
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
