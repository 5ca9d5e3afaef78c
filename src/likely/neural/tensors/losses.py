"""The losses of ``outputs`` on tensors, in float64: (…, batch, n_outputs), any axes before.

    categorical     loss = −Σ_k t_k ln p_k                     ∂/∂η = p Σ_k t_k − t
    bernoulli       loss = max(η, 0) − y η + ln(1 + e^−|η|)    ∂/∂η = (1 − y) σ(η) − y σ(−η)
    gaussian        loss = ½ (η − y)²                          ∂/∂η = η − y
    poisson         loss = e^η − y η                           ∂/∂η = e^η − y
    square errors   loss = ½ ‖s(η) − t‖²                       ∂/∂η = sᵀ′ (s − t)

An output without a form here (another link, ordered classes) is computed by NumPy: η goes to the
host and its slope comes back, once a batch.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np

from likely.neural.outputs import BERNOULLI, CATEGORICAL, GAUSSIAN, POISSON, Output
from likely.neural.tensors.library import as_array, torch_library

Form = Callable[[Any, Any], tuple[Any, Any]]


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
    """A formula on tensors."""

    form: Form
    n_classes: int | None  # class numbers become rows of 0 and 1

    on_device = True

    def target(self, y: Any) -> Any:
        if y.dtype.is_floating_point or self.n_classes is None:
            return y
        classes = torch_library().arange(self.n_classes, device=y.device)
        return (y[..., None] == classes).double()

    def at(self, target: Any, eta: Any, extra: Any) -> TensorSlope:
        return TensorSlope(*self.form(target, eta), None)


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
    form = FORMS.get(output.compiled) or FORMS.get(output.name)
    if form is None:
        return HostLoss(output)
    return FormulaLoss(form, output.n_classes if output.n_outputs > 1 else None)


def _categorical(t: Any, eta: Any) -> tuple[Any, Any]:
    log_p = eta.log_softmax(-1)
    return -(t * log_p).sum(-1), log_p.exp() * t.sum(-1, keepdim=True) - t


def _bernoulli(y: Any, eta: Any) -> tuple[Any, Any]:
    loss = eta.clamp(min=0) - y * eta + eta.abs().neg().exp().log1p()
    # σ(η) − y would cancel where y = 1 and η is large
    return loss.sum(-1), (1 - y) * eta.sigmoid() - y * eta.neg().sigmoid()


def _gaussian(y: Any, eta: Any) -> tuple[Any, Any]:
    residual = eta - y
    return residual.square().sum(-1) / 2, residual


def _poisson(y: Any, eta: Any) -> tuple[Any, Any]:
    mean = eta.exp()
    return (mean - y * eta).sum(-1), mean - y


def _square_error_sigmoid(y: Any, eta: Any) -> tuple[Any, Any]:
    mean = eta.sigmoid()
    error = mean - y
    return error.square().sum(-1) / 2, error * mean * eta.neg().sigmoid()


def _square_error_softmax(t: Any, eta: Any) -> tuple[Any, Any]:
    s = eta.softmax(-1)
    error = s - t
    slope = s * (error - (s * error).sum(-1, keepdim=True))
    return error.square().sum(-1) / 2, slope


# by the number of the compiled loss, or by the name of an output that has none
FORMS: Mapping[int | str, Form] = {
    CATEGORICAL: _categorical,
    BERNOULLI: _bernoulli,
    GAUSSIAN: _gaussian,
    POISSON: _poisson,
    "square-error-sigmoid": _square_error_sigmoid,
    "square-error-softmax": _square_error_softmax,
}
