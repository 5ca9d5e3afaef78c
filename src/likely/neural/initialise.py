"""Start values of the parameters: random weights that break the symmetry of units, biases 0.

    Glorot:  Var w = 2 / (fan-in + fan-out)      uniform bound √(6 / (fan-in + fan-out))
    He:      Var w = 2 / fan-in                  uniform bound √(6 / fan-in)

Glorot's keeps the variance of values and of errors alike through layers whose activation is near
the identity at 0 (tanh, sigmoid, identity); He's makes up for the half that relu sets to 0, and is
used for softplus too.  Units with equal weights in and out have equal gradients and stay equal, so
zeros are for networks without hidden layers.

References
----------
Glorot & Bengio (2010), Understanding the difficulty of training deep networks, AISTATS, eq. 16.
He, Zhang, Ren & Sun (2015), Delving deep into rectifiers, ICCV, eq. 10.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from numbers import Real
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.names import lookup
from likely.neural.architecture import Architecture

RECTIFIERS = frozenset({"relu", "softplus"})


@final
@dataclass(frozen=True)
class Initialiser:
    """Independent weights of a given variance, uniform or normal."""

    variance: Callable[[int, int], float]  # of fan-in and fan-out
    uniform: bool

    def draw(self, shape: tuple[int, int], rng: np.random.Generator) -> Array:
        """Weights of shape (fan-out, fan-in)."""
        scale = sqrt(self.variance(shape[1], shape[0]))
        if self.uniform:
            bound = sqrt(3.0) * scale  # Var of U(−b, b) is b²/3
            return rng.uniform(-bound, bound, size=shape)
        return rng.normal(scale=scale, size=shape)


def _glorot(fan_in: int, fan_out: int) -> float:
    return 2.0 / (fan_in + fan_out)


def _he(fan_in: int, fan_out: int) -> float:
    return 2.0 / fan_in


def _zero(fan_in: int, fan_out: int) -> float:
    return 0.0


INITIALISERS: Mapping[str, Initialiser] = {
    "glorot-uniform": Initialiser(_glorot, uniform=True),
    "glorot-normal": Initialiser(_glorot, uniform=False),
    "he-uniform": Initialiser(_he, uniform=True),
    "he-normal": Initialiser(_he, uniform=False),
    "zeros": Initialiser(_zero, uniform=True),
}


def initial_parameters(
    architecture: Architecture,
    scheme: Any = "auto",
    *,
    seed: int = 0,
    dtype: Any = np.float64,
    extra: Any = (),
) -> Array:
    """θ before the first step, with ``extra`` at its end.

    ``scheme`` is a name in ``INITIALISERS``; ``"auto"``, which is He's for relu and softplus,
    Glorot's for the others (both uniform), and zeros without hidden layers; θ as one vector; or
    (weight, bias) pairs, one for each layer.  The draws are the same for every dtype.
    """
    if isinstance(scheme, str):
        return _drawn(architecture, scheme, seed, extra).astype(dtype)
    if not isinstance(scheme, Sequence | np.ndarray):
        raise InvalidInput(
            f"initialise={scheme!r} was given; a name was expected ({', '.join(INITIALISERS)}), "
            "an array of start values, or a (weight, bias) pair for each layer. Use "
            "initialise='auto'."
        )
    given = np.asarray(scheme, dtype=np.float64) if _is_vector(scheme) else None
    if given is None:
        theta = architecture.pack(list(scheme), extra)
    elif given.shape == (architecture.n_parameters,):
        theta = given
    else:
        raise InvalidInput(
            f"Start values of shape {given.shape} were given; expected "
            f"({architecture.n_parameters},), one for each parameter, or a (weight, bias) pair for "
            "each layer."
        )
    if not np.isfinite(theta).all():
        raise InvalidInput(
            f"Start value {int(np.flatnonzero(~np.isfinite(theta))[0])} is not finite; expected "
            "finite numbers. Draw new ones, or use initialise='auto'."
        )
    return theta.astype(dtype)  # a copy: training must not change what was given


def _drawn(architecture: Architecture, scheme: str, seed: int, extra: Any) -> Array:
    chosen = None if scheme == "auto" else lookup("initialisation", scheme, INITIALISERS)
    if scheme == "zeros" and architecture.hidden:
        raise InvalidInput(
            f"initialise='zeros' was given with hidden layers {architecture.hidden}; their units "
            "would stay equal to each other. Use initialise='auto', or hidden=()."
        )
    rng = np.random.default_rng(seed)
    layers = [
        (
            (chosen or _fitting(architecture, name)).draw((outputs, inputs), rng),
            np.zeros(outputs) if has_bias else None,
        )
        for inputs, outputs, name, has_bias in zip(
            architecture.sizes[:-1],
            architecture.sizes[1:],
            architecture.activations,
            architecture.biases,
            strict=True,
        )
    ]
    return architecture.pack(layers, extra)


def _fitting(architecture: Architecture, activation: str) -> Initialiser:
    if not architecture.hidden:
        return INITIALISERS["zeros"]
    return INITIALISERS["he-uniform" if activation in RECTIFIERS else "glorot-uniform"]


def _is_vector(given: Any) -> bool:
    """Whether it is one array, or numbers in a list, not pairs."""
    return isinstance(given, np.ndarray) or all(isinstance(each, Real) for each in given)
