"""The output of a network: the loss of y given η, its slope and the mean, and which suits a y.

    J = Σ_i w_i loss(y_i, η_i)        loss = −ln p(y | η), less terms without η

    numbers                loss = Σ_j nll(y_j, η_j)            ∂/∂η = nll′
    classes, softmax s     loss = ln Σ_k e^(η_k) − η_y         ∂/∂η = s(η) − t
    ordered classes        loss = −ln P(Y = y | η, b)          ∂/∂free = ∂/∂b · ∂b/∂free
    square errors          loss = ½ ‖s(η) − t‖²                ∂/∂η = s ∘ (e − Σ_k s_k e_k)
                           loss = ½ Σ_j (σ(η_j) − y_j)²        ∂/∂η = (σ − y) σ′

t is one-hot, or a row of probabilities, and e = s − t; thresholds b of ordered classes are
parameters, too.  For Bernoulli with the logit and for the Gaussian, ∂loss/∂η = mean − y.  The
square errors of lectures are no likelihoods of classes, and their slopes vanish where s and σ are
flat, also at a wrong class.

Everything is computed in float64, so that a network in float32 loses no digits here; the loss of
classes is finite at |η| = 1000.  ``fast/network.py`` has the compiled twins of four of them.

References
----------
Bishop, Pattern Recognition and Machine Learning, §5.2.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.likelihoods.base import Likelihood, Response
from likely.likelihoods.bernoulli import BernoulliLogit, log_probabilities
from likely.likelihoods.categorical import Categorical
from likely.likelihoods.gaussian import Gaussian, GaussianIdentity
from likely.likelihoods.ordinal import Ordinal, free_of, thresholds_jacobian, thresholds_of
from likely.likelihoods.poisson import Poisson
from likely.likelihoods.responses import likelihood_of, response_named
from likely.links import LINKS, Identity, Link, Log, Logit, UnitLink
from likely.names import lookup
from likely.objectives.overdispersion import estimated_shape
from likely.objectives.softmax import cross_entropy, cross_entropy_slope
from likely.output.formatting import all_listed
from likely.special import expit, expit_derivative, log_expit, log_softmax, softmax
from likely.storage.declarations import check_range

# numbers of the losses that the compiled epoch knows, as in fast/network.py
NOT_COMPILED, CATEGORICAL, BERNOULLI, GAUSSIAN, POISSON = -1, 0, 1, 2, 3
OF_CLASSES = ("bernoulli", "categorical", "ordinal", "square-error-sigmoid", "square-error-softmax")
EVERY_ETA = Identity.etas


class LossAndSlope(NamedTuple):
    """The loss of each example and its derivatives."""

    loss: Array  # (n,)
    slope: Array  # ∂loss/∂η, (n, n_outputs)
    extra: Array | None  # ∂loss/∂extra, (n, n_extra); None where there are no extra parameters


class Output(ABC):
    """The last stage of a network.  Instances are values; eta is (n, n_outputs)."""

    n_outputs: int
    compiled: int = NOT_COMPILED

    @property
    @abstractmethod
    def name(self) -> str: ...

    @property
    def n_extra(self) -> int:
        """How many parameters it has of its own, at the end of θ."""
        return 0

    def check_extra(self, extra: Array) -> None:
        """Refuse parameters of its own that a file has and no fit gives."""
        check_range("The parameters of the output", extra, "finite")

    @property
    def has_bias(self) -> bool:
        """Whether the last layer may have a bias; thresholds take its place."""
        return True

    @property
    def n_classes(self) -> int | None:
        """The number of classes; None for numbers."""
        return None

    @property
    def response(self) -> Response:
        """The response whose density y has; a square error is that of a Gaussian."""
        return Gaussian()

    @property
    def in_nats(self) -> bool:
        """Whether the loss is −log p of y; that of numbers lacks constants and the dispersion."""
        return self.n_classes is not None

    @abstractmethod
    def check(self, y: Array) -> None:
        """Refuse values of y that the response does not have."""

    def target(self, y: Any) -> Array:
        """y as the loss reads it: (n, n_outputs) in float64, or class numbers."""
        y = np.asarray(y, dtype=np.float64)
        return y.reshape(len(y), -1) if y.ndim == 1 else y

    @abstractmethod
    def loss(self, y: Array, eta: Array, extra: Array) -> Array:
        """The loss of each example, (n,)."""

    @abstractmethod
    def loss_and_slope(self, y: Array, eta: Array, extra: Array) -> LossAndSlope: ...

    @abstractmethod
    def mean(self, eta: Array, extra: Array) -> Array:
        """The mean of y, (n, n_outputs); of classes their probabilities, (n, n_classes)."""

    def log_probability(self, eta: Array, extra: Array) -> Array:
        """ln P(Y = k), (n, n_classes), for outputs of classes."""
        raise InvalidInput(
            f"A {self.name} output has no classes; class probabilities were asked for. "
            "Use mean instead."
        )

    def constant(self, y: Array, weight: Array | None) -> Array:
        """η of the best constant, (n_outputs,), from targets; 0 where the output knows none."""
        return np.zeros(self.n_outputs)

    def with_shape(self, y: Array, weight: Array | None) -> "Output":
        """This output, with a shape that is to be estimated set to that of the constant model."""
        return self

    def initial_extra(self, frequency: Array) -> Array:
        """Where extra parameters start; ``frequency`` is the weight of each class."""
        return np.zeros(0)


def double(eta: Array) -> Array:
    """η in float64."""
    return eta.astype(np.float64, copy=False)


class SoftmaxOutput(Output):
    """The contract of outputs with a softmax; y holds class numbers, or rows of t."""

    def __post_init__(self) -> None:
        Categorical(self.n_outputs)  # refuses fewer than two

    @property
    def n_classes(self) -> int:
        return self.n_outputs

    def check(self, y: Array) -> None:
        if np.ndim(y) == 1:
            Categorical(self.n_outputs).check(y)

    def target(self, y: Any) -> Array:
        return np.asarray(y, dtype=np.int64 if np.ndim(y) == 1 else np.float64)

    def constant(self, y: Array, weight: Array | None) -> Array:
        """ln of the classes' shares; half a row is added to each, so that none is 0."""
        if y.ndim == 1:
            count = np.bincount(y, weight, minlength=self.n_outputs)
        else:
            count = np.dot(np.ones(len(y)) if weight is None else weight, y)
        row = 1.0 if weight is None else min(1.0, weight.mean())  # a total of 1 is not one row
        eta = np.log(count + 0.5 * row)
        return np.asarray(eta - eta.mean())

    def mean(self, eta: Array, extra: Array) -> Array:
        return softmax(double(eta), axis=1)

    def log_probability(self, eta: Array, extra: Array) -> Array:
        return log_softmax(double(eta), axis=1)


@final
@dataclass(frozen=True)
class CategoricalOutput(SoftmaxOutput):
    """The cross-entropy."""

    n_outputs: int

    name = "categorical"
    compiled = CATEGORICAL

    def loss(self, y: Array, eta: Array, extra: Array) -> Array:
        return cross_entropy(y, double(eta))

    def loss_and_slope(self, y: Array, eta: Array, extra: Array) -> LossAndSlope:
        return LossAndSlope(*cross_entropy_slope(y, double(eta)), None)


@final
@dataclass(frozen=True)
class SquareErrorSoftmax(SoftmaxOutput):
    """½ ‖s(η) − t‖²."""

    n_outputs: int

    name = "square-error-softmax"
    in_nats = False

    def loss(self, y: Array, eta: Array, extra: Array) -> Array:
        return np.square(self._errors(y, eta)[1]).sum(axis=1) / 2

    def loss_and_slope(self, y: Array, eta: Array, extra: Array) -> LossAndSlope:
        s, error = self._errors(y, eta)
        slope = s * (error - (s * error).sum(axis=1, keepdims=True))
        return LossAndSlope(np.square(error).sum(axis=1) / 2, slope, None)

    def _errors(self, y: Array, eta: Array) -> tuple[Array, Array]:
        """s(η), and s(η) − t."""
        s = softmax(double(eta), axis=1)
        return s, s - (np.eye(self.n_outputs)[y] if y.ndim == 1 else y)


@final
@dataclass(frozen=True)
class OrdinalOutput(Output):
    """K ordered classes and one η; the thresholds are extra parameters, in their free form."""

    likelihood: Ordinal

    n_outputs = 1
    name = "ordinal"
    has_bias = False  # a constant in η moves all thresholds alike

    @property
    def n_extra(self) -> int:
        return self.likelihood.n_classes - 1

    @property
    def n_classes(self) -> int:
        return self.likelihood.n_classes

    def check_extra(self, extra: Array) -> None:
        with np.errstate(over="ignore"):
            thresholds = thresholds_of(extra)
        check_range("The thresholds of the classes", thresholds, "a threshold")

    def check(self, y: Array) -> None:
        self.likelihood.check(y)

    def target(self, y: Any) -> Array:
        return np.asarray(y, dtype=np.int64)

    def loss(self, y: Array, eta: Array, extra: Array) -> Array:
        return self.likelihood.nll(y, double(eta)[:, 0], thresholds_of(extra))

    def loss_and_slope(self, y: Array, eta: Array, extra: Array) -> LossAndSlope:
        found = self.likelihood.derivatives(y, double(eta)[:, 0], thresholds_of(extra))
        on_thresholds = np.zeros((len(y), self.n_classes + 1))  # b_{−1} and b_{K−1} are infinite
        rows = np.arange(len(y))
        on_thresholds[rows, y] += found.upper
        on_thresholds[rows, y + 1] += found.lower
        extra_slope = on_thresholds[:, 1:-1] @ thresholds_jacobian(extra)
        return LossAndSlope(found.nll, found.slope[:, None], extra_slope)

    def mean(self, eta: Array, extra: Array) -> Array:
        return self.likelihood.probability(double(eta)[:, 0], thresholds_of(extra))

    def log_probability(self, eta: Array, extra: Array) -> Array:
        return self.likelihood.log_probability(double(eta)[:, 0], thresholds_of(extra))

    def initial_extra(self, frequency: Array) -> Array:
        return free_of(self.likelihood.thresholds_of_frequencies(frequency))


@final
@dataclass(frozen=True)
class ScalarOutput(Output):
    """Numbers, each with a response and a link; two classes, with a Bernoulli response."""

    likelihood: Likelihood
    n_outputs: int = 1
    classes: bool = False  # whether y is the number of a class, 0 or 1

    @property
    def name(self) -> str:
        return f"{self.likelihood.response.name} ({self.likelihood.link.name} link)"

    @property
    def response(self) -> Response:
        return self.likelihood.response

    @property
    def compiled(self) -> int:  # type: ignore[override]  # a value of the instance here
        """The number of the loss in the compiled epoch."""
        if isinstance(self.likelihood, BernoulliLogit):
            return BERNOULLI
        if isinstance(self.likelihood, GaussianIdentity):
            return GAUSSIAN
        poisson = isinstance(self.likelihood.response, Poisson)
        return POISSON if poisson and isinstance(self.likelihood.link, Log) else NOT_COMPILED

    @property
    def n_classes(self) -> int | None:
        return 2 if self.classes else None

    def check(self, y: Array) -> None:
        self.likelihood.check(np.ravel(y))

    def constant(self, y: Array, weight: Array | None) -> Array:
        """g of the mean of y."""
        return np.asarray(self.likelihood.eta_of_mean(np.average(y, axis=0, weights=weight)))

    def with_shape(self, y: Array, weight: Array | None) -> "ScalarOutput":
        """α of a negative binomial that is to be estimated, around the mean of y."""
        response, y = self.response, self.target(y)
        if response.shape_is_known:
            return self
        weight = np.ones(len(y)) if weight is None else weight
        mean = np.broadcast_to(np.average(y, axis=0, weights=weight), y.shape)
        each_weight = np.repeat(weight, y.shape[1])
        found = estimated_shape(response, y.ravel(), mean.ravel(), each_weight)
        return replace(self, likelihood=found.with_link(self.likelihood.link))

    def loss(self, y: Array, eta: Array, extra: Array) -> Array:
        return np.asarray(self.likelihood.nll(y, double(eta))).sum(axis=1)

    def loss_and_slope(self, y: Array, eta: Array, extra: Array) -> LossAndSlope:
        nll, slope, _ = self.likelihood.derivatives(y, double(eta))
        return LossAndSlope(nll.sum(axis=1), slope, None)

    def mean(self, eta: Array, extra: Array) -> Array:
        """μ, (n, n_outputs); of two classes (1 − μ, μ)."""
        if self.classes:
            return np.exp(self.log_probability(eta, extra))
        return self.likelihood.mean(double(eta))

    def log_probability(self, eta: Array, extra: Array) -> Array:
        if not self.classes:
            return Output.log_probability(self, eta, extra)
        return np.column_stack(log_probabilities(self.likelihood, double(eta)[:, 0]))


@final
@dataclass(frozen=True)
class SquareErrorSigmoid(Output):
    """½ Σ_j (σ(η_j) − y_j)² for y between 0 and 1; its slope vanishes where σ is flat."""

    n_outputs: int = 1
    classes: bool = False  # whether y is the number of a class, 0 or 1

    name = "square-error-sigmoid"
    in_nats = False

    @property
    def n_classes(self) -> int | None:
        return 2 if self.classes else None

    def check(self, y: Array) -> None:
        inside = (np.asarray(y) >= 0) & (np.asarray(y) <= 1)
        if not inside.all():
            found = np.ravel(y)[~np.ravel(inside)][0]
            raise InvalidInput(
                f"The square error of a sigmoid needs y between 0 and 1; found {found:g}. Scale y, "
                "or use response='gaussian'."
            )

    def loss(self, y: Array, eta: Array, extra: Array) -> Array:
        return np.square(expit(double(eta)) - y).sum(axis=1) / 2

    def loss_and_slope(self, y: Array, eta: Array, extra: Array) -> LossAndSlope:
        eta = double(eta)
        slope = (expit(eta) - y) * expit_derivative(eta)
        return LossAndSlope(self.loss(y, eta, extra), slope, None)

    def mean(self, eta: Array, extra: Array) -> Array:
        """σ(η), (n, n_outputs); of two classes (1 − σ, σ)."""
        if self.classes:
            return np.exp(self.log_probability(eta, extra))
        return expit(double(eta))

    def log_probability(self, eta: Array, extra: Array) -> Array:
        if not self.classes:
            return Output.log_probability(self, eta, extra)
        return np.column_stack([log_expit(-double(eta)), log_expit(double(eta))])


def output_of(
    response: str | Response | Categorical | Ordinal | None = None,
    *,
    n_classes: int | None = None,
    n_outputs: int = 1,
    link: str | Link | None = None,
) -> Output:
    """The output of a response by name or as a part; ``n_classes`` is None for numbers.

    Without a response, two classes are Bernoulli, more are categorical, and numbers are Gaussian.
    Without a link, it is the response's own, or the log where that one needs η > 0, which the last
    layer of a network does not promise.

    >>> output_of(n_classes=2).name, output_of(n_classes=3).name, output_of("poisson").name
    ('bernoulli (logit link)', 'categorical', 'poisson (log link)')
    >>> output_of("gamma").name
    'gamma (log link)'
    """
    if n_classes is not None:
        return _of_classes(response, n_classes, link)
    name = _name_of(response)
    if name == "square-error-sigmoid":
        _refuse_link(name, link)
        return SquareErrorSigmoid(n_outputs)
    if name in OF_CLASSES and name != "bernoulli":
        raise InvalidInput(
            f"The response {name!r} is for classes; y has numbers. Use a classifier, or "
            "response='gaussian'."
        )
    assert not isinstance(response, Categorical | Ordinal)
    return ScalarOutput(_scalar(response or "gaussian", link), n_outputs)


def _of_classes(response: Any, n_classes: int, link: str | Link | None) -> Output:
    name = _name_of(response) or ("bernoulli" if n_classes == 2 else "categorical")
    if name == "ordinal":
        return OrdinalOutput(_ordinal(response, n_classes, link))
    if name == "bernoulli" and n_classes == 2:
        scalar = response if isinstance(response, Response) else name
        return ScalarOutput(_scalar(scalar, link), classes=True)
    _refuse_link(name, link)
    if name == "categorical":
        return CategoricalOutput(n_classes)
    if name == "square-error-softmax":
        return SquareErrorSoftmax(n_classes)
    if name == "square-error-sigmoid" and n_classes == 2:
        return SquareErrorSigmoid(classes=True)
    many = "" if n_classes == 2 else f" with {n_classes} classes"
    raise InvalidInput(
        f"The response {name!r} cannot be used for classes{many}; expected one of "
        f"{all_listed(OF_CLASSES, 'or')}, of which bernoulli and square-error-sigmoid are for two "
        "classes. Leave response out to have the one that fits."
    )


def _name_of(response: Any) -> str | None:
    if response is None:
        return None
    if isinstance(response, Categorical):
        return "categorical"
    if isinstance(response, Ordinal):
        return "ordinal"
    if isinstance(response, str) and response.replace("_", "-") in OF_CLASSES:
        return response.replace("_", "-")
    return response_named(response).name


def _scalar(response: str | Response, link: str | Link | None) -> Likelihood:
    found = likelihood_of(response, link)
    if not found.response.exponential_family:
        raise InvalidInput(
            f"A {found.response.name} response was given to a network, whose constant is the mean "
            "of y; a response of an exponential family was expected. Use response='gamma', or fit "
            "a Gaussian network to ln y."
        )
    return (
        found
        if link is not None or found.link.etas == EVERY_ETA
        else found.response.with_link(Log())
    )


def _ordinal(response: Any, n_classes: int, link: str | Link | None) -> Ordinal:
    if isinstance(response, Ordinal):
        if response.n_classes != n_classes:
            raise InvalidInput(
                f"The ordinal response has {response.n_classes} classes, and y has {n_classes}; "
                "expected equal numbers. Use response='ordinal'."
            )
        return response
    chosen = Logit() if link is None else lookup("link", link, LINKS)
    if not isinstance(chosen, UnitLink):
        fitting = [name for name, each in LINKS.items() if isinstance(each, UnitLink)]
        raise InvalidInput(
            f"The link {chosen.name!r} does not give probabilities; an ordinal response needs one "
            f"of {all_listed(fitting, 'or')}."
        )
    return Ordinal(n_classes, chosen)


def _refuse_link(name: str, link: Any) -> None:
    if link is not None:
        raise InvalidInput(
            f"The link {link!r} was given with response={name!r}, which has a link of its own; "
            "expected link=None."
        )
