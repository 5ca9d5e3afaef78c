"""The layers of a network, and where each weight lies in the flat vector θ of all parameters.

    h^(0) = x      a^(l+1) = W^(l) h^(l) + b^(l)      h^(l+1) = g(a^(l+1))      η = a^(L)
    θ = (W^(0), b^(0), W^(1), b^(1), …, extra)

W^(l) has shape (m_{l+1}, m_l) and lies row by row; entry (i, j) is the weight from unit j of layer
l to unit i of layer l + 1.  The last activation is the identity: the network gives the predictor η,
and its likelihood (``outputs``) turns η into a mean.  ``extra`` are parameters of the likelihood,
such as the thresholds of ordered classes.

    number of parameters = Σ_l m_l m_{l+1} + Σ_l m_{l+1} [layer l has biases] + number of extra

Start values are random weights that break the symmetry of units, and biases of 0:

    Glorot:  Var w = 2 / (fan-in + fan-out)      uniform bound √(6 / (fan-in + fan-out))
    He:      Var w = 2 / fan-in                  uniform bound √(6 / fan-in)

Glorot's keeps the variance of values and of errors alike through layers whose activation is near
the identity at 0 (tanh, sigmoid, identity); He's makes up for the half that relu sets to 0, and is
used for softplus too.  Units with equal weights in and out have equal gradients and stay equal, so
zeros are for networks without hidden layers.

References
----------
Bishop, Pattern Recognition and Machine Learning, §5.1.
Glorot & Bengio (2010), Understanding the difficulty of training deep networks, AISTATS, eq. 16.
He, Zhang, Ren & Sun (2015), Delving deep into rectifiers, ICCV, eq. 10.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from numbers import Real
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.caching import cached_property
from likely.errors import InvalidInput, UnknownName
from likely.names import known_name, lookup
from likely.output.formatting import text_table
from likely.special import ACTIVATIONS
from likely.storage.values import unlike

OUTPUT_ACTIVATION = "identity"  # the likelihood of the output has the nonlinearity


class Layer(NamedTuple):
    """The weights from one layer of units to the next."""

    weight: Array  # W^(l), (m_{l+1}, m_l)
    bias: Array | None  # b^(l), (m_{l+1},)


class LayerPlace(NamedTuple):
    """Where the parameters of a layer lie in θ."""

    weight: slice
    bias: slice  # empty without biases

    @property
    def all(self) -> slice:
        return slice(self.weight.start, self.bias.stop)


@final
@dataclass(frozen=True)
class Architecture:
    """The sizes of the layers of units, the input first, with their activations and biases.

    >>> network = Architecture.of(4, (3,), 1, activation="sigmoid", bias=False)
    >>> network.n_parameters_by_layer, network.n_parameters
    ((12, 3), 15)
    """

    sizes: tuple[int, ...]  # m_0 … m_L
    activations: tuple[str, ...]  # of the layers 1 … L
    biases: tuple[bool, ...]  # of the layers 1 … L
    n_extra: int = 0

    def __post_init__(self) -> None:
        _check_sizes(self.sizes)
        for name, given in (("activations", self.activations), ("biases", self.biases)):
            if len(given) != self.n_layers:
                raise InvalidInput(
                    f"{len(given)} {name} were given for {self.n_layers} layers of weights; "
                    "expected one for each layer after the input. Give the output one, too."
                )
        for activation in self.activations:
            known_name("activation", activation, ACTIVATIONS)
        if self.activations[-1] != OUTPUT_ACTIVATION:
            raise InvalidInput(
                f"The activation of the output is {self.activations[-1]!r}; expected "
                f"{OUTPUT_ACTIVATION!r}. Choose a response and a link instead: they map the last "
                "layer to a mean."
            )

    @classmethod
    def of(
        cls,
        n_features: int,
        hidden: Sequence[int],
        n_outputs: int,
        *,
        activation: str | Sequence[str] = "relu",
        bias: bool | Sequence[bool] = True,
        output_bias: bool | None = None,
        n_extra: int = 0,
    ) -> "Architecture":
        """A network with these hidden layers; one activation for all of them, or one for each.

        ``bias`` is for all layers, or one for each, that of the output last; ``output_bias=False``
        leaves that of the output out.
        """
        hidden = tuple(hidden)
        names = (activation,) if isinstance(activation, str) else activation
        if not isinstance(names, Sequence | np.ndarray) or not all(
            isinstance(name, str) for name in names
        ):
            raise UnknownName("activation", activation, ACTIVATIONS)
        each = (activation,) * len(hidden) if isinstance(activation, str) else tuple(activation)
        if len(each) != len(hidden):
            raise InvalidInput(
                f"{len(each)} activations were given for {len(hidden)} hidden layers; expected one "
                "for each, or one name for all."
            )
        return cls(
            (n_features, *hidden, n_outputs),
            (*(known_name("activation", name, ACTIVATIONS) for name in each), OUTPUT_ACTIVATION),
            _biases(bias, len(hidden) + 1, output_bias),
            n_extra,
        )

    @property
    def n_layers(self) -> int:
        """L, the number of layers of weights."""
        return len(self.sizes) - 1

    @property
    def hidden(self) -> tuple[int, ...]:
        """The sizes of the hidden layers."""
        return self.sizes[1:-1]

    @cached_property
    def n_parameters_by_layer(self) -> tuple[int, ...]:
        """The weights and biases that lead to each layer after the input."""
        return tuple(
            (inputs + has_bias) * outputs
            for inputs, outputs, has_bias in zip(
                self.sizes[:-1], self.sizes[1:], self.biases, strict=True
            )
        )

    @cached_property
    def n_parameters(self) -> int:
        """The length of θ."""
        return sum(self.n_parameters_by_layer) + self.n_extra

    @cached_property
    def places(self) -> tuple[LayerPlace, ...]:
        """Where each layer lies in θ."""
        found, start = [], 0
        for inputs, outputs, size in zip(
            self.sizes[:-1], self.sizes[1:], self.n_parameters_by_layer, strict=True
        ):
            middle, start = start + inputs * outputs, start + size
            found.append(LayerPlace(slice(middle - inputs * outputs, middle), slice(middle, start)))
        return tuple(found)

    def unpack(self, theta: Array) -> list[Layer]:
        """W^(l) and b^(l) as views of θ: what is written to them is written to θ."""
        return [
            Layer(theta[place.weight].reshape(shape), theta[place.bias] if has_bias else None)
            for place, shape, has_bias in self._cuts
        ]

    @cached_property
    def _cuts(self) -> tuple[tuple[LayerPlace, tuple[int, int], bool], ...]:
        """The place of each layer, the shape of its weights, and whether it has biases."""
        shapes = zip(self.sizes[1:], self.sizes[:-1], strict=True)
        return tuple(zip(self.places, shapes, self.biases, strict=True))

    def extra(self, theta: Array) -> Array:
        """The parameters of the likelihood, a view of the end of one θ, or of several."""
        return theta[..., self.n_parameters - self.n_extra :]

    def pack(self, layers: Sequence[Any], extra: Any = ()) -> Array:
        """θ of (weight, bias) pairs, in float64; a bias is None where a layer has none."""
        if len(layers) != self.n_layers:
            raise InvalidInput(
                f"{len(layers)} layers were given; expected {self.n_layers}, as pairs of weights "
                "and biases. Give one pair for each layer after the input."
            )
        theta = np.empty(self.n_parameters)
        for number, (here, given) in enumerate(zip(self.unpack(theta), layers, strict=True), 1):
            weight, bias = given
            here.weight[...] = _of_shape(f"weights of layer {number}", weight, here.weight.shape)
            if here.bias is not None:
                here.bias[...] = _of_shape(f"biases of layer {number}", bias, here.bias.shape)
            elif bias is not None:
                raise InvalidInput(
                    f"Layer {number} has no biases, but some were given; expected None."
                )
        self.extra(theta)[...] = _of_shape("extra parameters", extra, (self.n_extra,))
        return theta

    @cached_property
    def penalised(self) -> Array:
        """1 for each weight, 0 for each bias and extra parameter, (n_parameters,)."""
        mask = np.zeros(self.n_parameters)
        for place in self.places:
            mask[place.weight] = 1.0
        return mask

    def trainable_mask(self, layers: Sequence[bool]) -> Array:
        """True for the parameters of the layers that are trained; extra ones go with the last."""
        if len(layers) != self.n_layers:
            raise InvalidInput(
                f"trainable has {len(layers)} entries; expected {self.n_layers}, one for each "
                "layer after the input."
            )
        mask = np.zeros(self.n_parameters, dtype=bool)
        for place, trained in zip(self.places, layers, strict=True):
            mask[place.all] = trained
        self.extra(mask)[...] = layers[-1]
        return mask

    def summary(self) -> str:
        """A table of the layers: their sizes, activations and numbers of parameters.

        >>> print(Architecture.of(2, (3,), 1, activation="tanh").summary())
          layer   units  activation  weights  biases  parameters
          input       2
          hidden      3  tanh        3 × 2         3           9
          output      1  identity    1 × 3         1           4
          total                                               13
        """
        rows = [["input", str(self.sizes[0]), "", "", "", ""]]
        for at, size in enumerate(self.n_parameters_by_layer):
            outputs, inputs = self.sizes[at + 1], self.sizes[at]
            name = "output" if at == self.n_layers - 1 else "hidden"
            biases = str(outputs if self.biases[at] else 0)
            weights = f"{outputs} × {inputs}"
            rows.append([name, str(outputs), self.activations[at], weights, biases, str(size)])
        if self.n_extra:
            rows.append(["thresholds", "", "", "", "", str(self.n_extra)])
        rows.append(["total", "", "", "", "", str(self.n_parameters)])
        head = ["layer", "units", "activation", "weights", "biases", "parameters"]
        return "\n".join(text_table(head, rows, words=(0, 2, 3)))


def _biases(given: Any, n_layers: int, output: bool | None) -> tuple[bool, ...]:
    """Whether each layer has biases, the output last."""
    flags = [given] * n_layers if isinstance(given, bool | np.bool_) else given
    each = list(flags) if isinstance(flags, Sequence | np.ndarray) else []
    if len(each) != n_layers or not all(isinstance(flag, bool | np.bool_) for flag in each):
        raise InvalidInput(
            f"bias={given!r} was given for {n_layers} layers of weights; True or False was "
            "expected, or one of them for each layer after the input. Use bias=[True, False] for "
            "one hidden layer and an output without biases."
        )
    last = each[-1] if output is None else output
    return (*(bool(flag) for flag in each[:-1]), bool(last))


def _check_sizes(sizes: tuple[int, ...]) -> None:
    if len(sizes) < 2:
        raise InvalidInput(
            f"The sizes {sizes} were given; a network has an input and an output at least. "
            "Give the numbers of features and of outputs."
        )
    for number, size in enumerate(sizes):
        if isinstance(size, bool) or not isinstance(size, int | np.integer) or size < 1:
            raise InvalidInput(
                f"Layer {number} has {size!r} units; expected a whole number from 1 up. Leave the "
                "layer out: hidden=() is a linear model."
            )


def _of_shape(what: str, given: Any, shape: tuple[int, ...]) -> Array:
    array = np.asarray(given if given is not None else (), dtype=np.float64)
    if array.shape != shape:
        raise InvalidInput(
            f"The {what} have shape {array.shape}; expected {shape}. Give one row for each unit "
            "of the layer, and one column for each unit before it."
        )
    return array


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


LARGEST_WEIGHT = 1e9  # of a network in float32, whose layers multiply
LARGEST_PRODUCT = 1e150  # of the largest weights of all layers; answers are in float64


def check_parameters(architecture: Architecture, theta: Array, output: Any) -> None:
    """Refuse parameters of a file by which a layer overflows, by Π_l max(1, max |W^(l)|)."""
    last = architecture.places[-1].all  # of a number, in its own unit
    hidden = np.delete(theta, last) if output.n_classes is None else theta
    if not (np.abs(hidden) <= LARGEST_WEIGHT).all():
        raise unlike("parameters_", "at most 1e9")
    largest = [np.abs(theta[place.all]).max(initial=1.0) for place in architecture.places]
    if np.log10(largest).sum() > np.log10(LARGEST_PRODUCT):
        raise unlike("The largest weights of the layers", "at most 1e150, multiplied")
    output.check_extra(architecture.extra(theta))
