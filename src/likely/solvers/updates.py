"""Update rules of stochastic training: from a gradient g and a rate η to the next θ.

    plain        θ ← θ − η g
    momentum     Δ ← −η g + ν Δ;                    θ ← θ + Δ
    nesterov     Δ ← −η g + ν Δ;                    θ ← θ − η g + ν Δ
    adagrad      s ← s + g²;                        θ ← θ − η g / (√s + ε)
    rmsprop      s ← α s + (1 − α) g²;              θ ← θ − η g / (√s + ε)
    adam         m ← β₁ m + (1 − β₁) g;  v ← β₂ v + (1 − β₂) g²
                 θ ← θ − η m̂ / (√v̂ + ε)            m̂ = m / (1 − β₁ᵗ),  v̂ = v / (1 − β₂ᵗ)
    adamw        θ ← (1 − η λ) θ, then adam
    clip         g ← g min(1, c / ‖g‖) before any of them:  Clip(1.0) | Adam()

A rule is a value.  What it remembers are vectors like θ, the *slots*, which the caller keeps, so
that a checkpoint is θ, the slots and the number of steps.  The formulas take NumPy's vectors and
torch's tensors, of one θ or, with one more axis before, of several: a rate is then a tensor with
one number for each.  The compiled twin is in ``fast/network.py``.

References
----------
Polyak, Some methods of speeding up the convergence of iteration methods, 1964 (momentum).
Nesterov, 1983, in the form of Sutskever et al., On the importance of initialization and momentum
in deep learning, 2013.  Duchi, Hazan & Singer, Adaptive subgradient methods, 2011 (AdaGrad).
Kingma & Ba, Adam, 2015.  Loshchilov & Hutter, Decoupled weight decay regularization, 2019 (AdamW).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.host_arrays import is_tensor
from likely.names import lookup
from likely.solvers.settings import is_number, refuse_unless_number, refuse_unless_share

N_HYPER = 8  # numbers of a rule for the compiled loop
CLIP_AT = 7  # the place of the largest norm among them; 0 is none
PLAIN, MOMENTUM, NESTEROV, ADAGRAD, RMSPROP, ADAM, ADAMW = range(7)  # as in fast/network.py


class Compiled(NamedTuple):
    """A rule as numbers, for ``fast/network.py``."""

    kind: int
    hyper: Array  # (8,) of float64


def _momentum_in(momentum: float | tuple[float, ...], epoch: int) -> float:
    if not isinstance(momentum, tuple):
        return momentum
    return momentum[min(epoch, len(momentum) - 1)]


def _check_momentum(rule: str, momentum: object) -> None:
    each = momentum if isinstance(momentum, tuple) else (momentum,)
    if not each or not all(is_number(value) and 0 <= value < 1 for value in each):
        raise InvalidInput(
            f"{rule} has momentum={momentum!r}; a number from 0 up to, but not including, 1 was "
            "expected, or a tuple with one for each epoch. Use 0.9."
        )


class Update(ABC):
    """The contract of a rule."""

    @abstractmethod
    def move(self, theta: Array, gradient: Array, slots: Array, step: int, rate: float) -> Array:
        """θ_new − θ; ``slots`` (n_slots, …, p) are overwritten.  ``step`` counts from 1."""

    @abstractmethod
    def compiled(self) -> Compiled:
        """The rule as numbers for the compiled loop."""

    def apply(self, theta: Array, gradient: Array, slots: Array, step: int, rate: float) -> None:
        """One step: overwrite θ and the slots."""
        theta += self.move(theta, gradient, slots, step, rate)

    def slots_for(self, theta: Array) -> Array:
        """The slots at the start: zeros."""
        return np.zeros((self.n_slots, theta.size), dtype=theta.dtype)

    @property
    def n_slots(self) -> int:
        """How many vectors like θ it remembers."""
        return 0

    def at(self, epoch: int) -> "Update":
        """The rule in an epoch: a momentum may change from epoch to epoch."""
        return self

    def __or__(self, other: "Update") -> "Update":
        raise InvalidInput(
            f"{self!r} was put before {other!r}; only Clip changes a gradient for the rule after "
            "it. Use Clip(1.0) | Adam()."
        )


@final
@dataclass(frozen=True)
class Plain(Update):
    """θ ← θ − η g."""

    def move(self, theta: Array, gradient: Array, slots: Array, step: int, rate: float) -> Array:
        return -rate * gradient

    def compiled(self) -> Compiled:
        return _compiled(PLAIN)


@final
@dataclass(frozen=True)
class Momentum(Update):
    """Δ ← −η g + ν Δ: a constant gradient leads to steps of −η g / (1 − ν).

    ``momentum`` is ν, a number, or one for each epoch; later epochs use the last.
    """

    momentum: float | tuple[float, ...] = 0.9

    @property
    def n_slots(self) -> int:
        return 1

    def __post_init__(self) -> None:
        _check_momentum("Momentum", self.momentum)

    def at(self, epoch: int) -> "Momentum":
        return replace(self, momentum=_momentum_in(self.momentum, epoch))

    def move(self, theta: Array, gradient: Array, slots: Array, step: int, rate: float) -> Array:
        delta = slots[0]
        delta *= _momentum_in(self.momentum, 0)
        delta -= rate * gradient
        return delta

    def compiled(self) -> Compiled:
        return _compiled(MOMENTUM, _momentum_in(self.momentum, 0))


@final
@dataclass(frozen=True)
class Nesterov(Update):
    """Momentum with the gradient of the point that the momentum leads to."""

    momentum: float | tuple[float, ...] = 0.9

    @property
    def n_slots(self) -> int:
        return 1

    def __post_init__(self) -> None:
        _check_momentum("Nesterov", self.momentum)

    def at(self, epoch: int) -> "Nesterov":
        return replace(self, momentum=_momentum_in(self.momentum, epoch))

    def move(self, theta: Array, gradient: Array, slots: Array, step: int, rate: float) -> Array:
        delta, momentum = slots[0], _momentum_in(self.momentum, 0)
        delta *= momentum
        delta -= rate * gradient
        return momentum * delta - rate * gradient

    def compiled(self) -> Compiled:
        return _compiled(NESTEROV, _momentum_in(self.momentum, 0))


@final
@dataclass(frozen=True)
class AdaGrad(Update):
    """A rate for each parameter, which falls with the squares of all its gradients."""

    epsilon: float = 1e-10

    @property
    def n_slots(self) -> int:
        return 1

    def __post_init__(self) -> None:
        refuse_unless_number("AdaGrad", "epsilon", self.epsilon, "Use 1e-8.", above=True)

    def move(self, theta: Array, gradient: Array, slots: Array, step: int, rate: float) -> Array:
        squares = slots[0]
        squares += gradient * gradient
        return -rate * gradient / (_root(squares) + self.epsilon)

    def compiled(self) -> Compiled:
        return _compiled(ADAGRAD, self.epsilon)


@final
@dataclass(frozen=True)
class RMSProp(Update):
    """A rate for each parameter, by a running mean of the squares of its gradients."""

    decay: float = 0.99
    epsilon: float = 1e-8

    @property
    def n_slots(self) -> int:
        return 1

    def __post_init__(self) -> None:
        refuse_unless_share("RMSProp", "decay", self.decay, "Use 0.9.")
        refuse_unless_number("RMSProp", "epsilon", self.epsilon, "Use 1e-8.", above=True)

    def move(self, theta: Array, gradient: Array, slots: Array, step: int, rate: float) -> Array:
        squares = slots[0]
        squares *= self.decay
        squares += (1 - self.decay) * (gradient * gradient)
        return -rate * gradient / (_root(squares) + self.epsilon)

    def compiled(self) -> Compiled:
        return _compiled(RMSPROP, self.epsilon, self.decay)


@final
@dataclass(frozen=True)
class Adam(Update):
    """Running means of the gradient and of its square, corrected for their start at 0."""

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8

    @property
    def n_slots(self) -> int:
        return 2

    def __post_init__(self) -> None:
        refuse_unless_share("Adam", "beta1", self.beta1, "Use 0.9.")
        refuse_unless_share("Adam", "beta2", self.beta2, "Use 0.9.")
        refuse_unless_number("Adam", "epsilon", self.epsilon, "Use 1e-8.", above=True)

    def move(self, theta: Array, gradient: Array, slots: Array, step: int, rate: float) -> Array:
        mean, squares = slots
        mean *= self.beta1
        mean += (1 - self.beta1) * gradient
        squares *= self.beta2
        squares += (1 - self.beta2) * (gradient * gradient)
        length = rate / (1 - self.beta1**step)
        shrunk = _root(1 - self.beta2**step)  # the root of v / v̂
        return -length * mean / (_root(squares) / shrunk + self.epsilon)

    def compiled(self) -> Compiled:
        return _compiled(ADAM, self.epsilon, self.beta1, self.beta2)


@final
@dataclass(frozen=True)
class AdamW(Update):
    """Adam on a θ that has shrunk by the factor 1 − η λ; intercepts and biases shrink, too."""

    beta1: float = 0.9
    beta2: float = 0.999
    epsilon: float = 1e-8
    weight_decay: float = 0.01  # λ

    @property
    def n_slots(self) -> int:
        return 2

    def __post_init__(self) -> None:
        Adam(self.beta1, self.beta2, self.epsilon)  # the same checks
        refuse_unless_number("AdamW", "weight_decay", self.weight_decay, "Use 0.01.")

    def move(self, theta: Array, gradient: Array, slots: Array, step: int, rate: float) -> Array:
        adam = Adam(self.beta1, self.beta2, self.epsilon)
        return adam.move(theta, gradient, slots, step, rate) - rate * self.weight_decay * theta

    def compiled(self) -> Compiled:
        return _compiled(ADAMW, self.epsilon, self.beta1, self.beta2, self.weight_decay)


@final
@dataclass(frozen=True)
class Clip(Update):
    """A gradient longer than ``norm`` is shortened to it, then plain descent or the next rule.

    >>> Clip(1.0) | Adam()
    Clipped(clip=Clip(norm=1.0), then=Adam(beta1=0.9, beta2=0.999, epsilon=1e-08))
    """

    norm: float = 1.0

    def __post_init__(self) -> None:
        refuse_unless_number("Clip", "norm", self.norm, "Use 1.0.", above=True)

    def clipped(self, gradient: Array) -> Array:
        """The gradient, shortened if it is longer; of several networks, each by itself."""
        if is_tensor(gradient):
            tensor: Any = gradient
            lengths = tensor.double().square().sum(-1, keepdim=True).sqrt()
            shortened: Array = tensor * (self.norm / lengths).clamp(max=1.0).to(tensor.dtype)
            return shortened
        length = float(np.linalg.norm(gradient.astype(np.float64, copy=False)))
        return gradient * (self.norm / length) if length > self.norm else gradient

    def move(self, theta: Array, gradient: Array, slots: Array, step: int, rate: float) -> Array:
        return -rate * self.clipped(gradient)

    def compiled(self) -> Compiled:
        return Clipped(self, Plain()).compiled()

    def __or__(self, other: Update) -> Update:
        if isinstance(other, Clip):
            return Clip(min(self.norm, other.norm))
        if isinstance(other, Clipped):
            return Clipped(Clip(min(self.norm, other.clip.norm)), other.then)
        return Clipped(self, other)


@final
@dataclass(frozen=True)
class Clipped(Update):
    """A rule with a gradient that is clipped first."""

    clip: Clip
    then: Update

    @property
    def n_slots(self) -> int:
        return self.then.n_slots

    def at(self, epoch: int) -> "Clipped":
        return replace(self, then=self.then.at(epoch))

    def move(self, theta: Array, gradient: Array, slots: Array, step: int, rate: float) -> Array:
        return self.then.move(theta, self.clip.clipped(gradient), slots, step, rate)

    def compiled(self) -> Compiled:
        kind, hyper = self.then.compiled()
        hyper[CLIP_AT] = self.clip.norm
        return Compiled(kind, hyper)


UPDATES: dict[str, Update] = {
    "sgd": Plain(),
    "momentum": Momentum(),
    "nesterov": Nesterov(),
    "adagrad": AdaGrad(),
    "rmsprop": RMSProp(),
    "adam": Adam(),
    "adamw": AdamW(),
}


def update_of(update: str | Update) -> Update:
    """The rule of a name, or the one that is given."""
    found = lookup("update", update, UPDATES)
    if not isinstance(found, Update):
        raise InvalidInput(
            f"update={update!r} was given; a rule was expected, one of {', '.join(UPDATES)}, or an "
            "instance. Use Momentum(0.9)."
        )
    return found


def _root(x: Any) -> Any:
    """√x of a number, or of an array of any library, whose power 0.5 is the root itself."""
    return sqrt(x) if isinstance(x, float) else x**0.5


def _compiled(kind: int, *numbers: float) -> Compiled:
    hyper = np.zeros(N_HYPER)
    hyper[: len(numbers)] = numbers
    return Compiled(kind, hyper)
