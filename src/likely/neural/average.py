"""Several networks averaged, and shrunk towards the constant model by their held-out loss.

    p(k | x) ∝ p̄(k | x)^s π_k^{1−s}        p̄ = (1/m) Σ_j p_j(k | x),  π_k the shares of the classes
    E[y | x] = ȳ + s (μ̄(x) − ȳ)            μ̄ = (1/m) Σ_j μ_j(x)

    s = argmin over [0, 1] of  Σ_i w_i ℓ_i(s),    ℓ_i(s) the loss of row i, which its network has
                                                  not seen;  g_i = ℓ_i(0) − ℓ_i(s)
    s = 0 unless  Σ_i w_i g_i − s (m + 1)  >  1.5 √(Σ_i w_i² (g_i − ḡ)²)

With early stopping each network is trained without another part of the rows, which judges it, so
that every row is held out once.  Networks that have learned nothing give s = 0, which is the
constant model itself.  The m numbers of epochs, and s, were chosen on the same rows, and each
choice is expected to gain a nat there that it does not gain elsewhere, as in Akaike's criterion;
what is left of the gain must be clearly above its own standard error.

References
----------
Breiman, Stacked regressions, Machine Learning 24, 1996.
Breiman, Friedman, Olshen & Stone, Classification and Regression Trees, §3.4.3 (the standard error).
Lakshminarayanan, Pritzel & Blundell, Simple and scalable predictive uncertainty estimation using
deep ensembles, NeurIPS 2017.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, final

import numpy as np
from scipy.optimize import minimize_scalar

from likely._typing import Array, Codes
from likely.errors import InvalidInput
from likely.likelihoods.base import Response
from likely.neural.architecture import Architecture
from likely.neural.examples import Examples
from likely.neural.fitting import NetworkFit
from likely.neural.formulas import predictor
from likely.neural.history import History
from likely.neural.outputs import Output
from likely.neural.problem import FitInput, TrainingProblem, copies_of_examples
from likely.objectives.overdispersion import estimated_shape
from likely.output.formatting import count, text_table
from likely.solvers.mini_batches import WINDOW
from likely.special import log_softmax, logsumexp
from likely.storage.declarations import InRange, SameCount

LEAST_LOG = -745.0  # the smallest log of a float64
# Standard errors of the gain.  In 160 fits to noise (n from 50 to 160) 1.5 gave the constant in
# each, and 1 in all but two; 1.5 gives up about 0.002 nats a row more of a signal with R² = 0.06.
CLEAR_GAIN = 1.5


@final
@dataclass(frozen=True, eq=False, repr=False)
class NetworkAverage:
    """Several networks of one shape, and how far they are followed.  Prints as a table.

    Attributes
    ----------
    parameters : array of shape (n_networks, n_parameters)
    shrinkage : float
        s, from 0 (the constant model) to 1 (the average of the networks).
    constant : array of shape (n_classes,) or (n_outputs,)
        log π of the classes, or ȳ.
    histories : tuple of History
        The training of each network.
    """

    saved_rules = (
        InRange("constant", "finite"),
        SameCount(2, "parameters.shape"),
        SameCount("parameters", "histories"),
        InRange("shrinkage", "a share"),
    )

    parameters: Array
    shrinkage: float
    constant: Array
    histories: tuple[History, ...]

    def __repr__(self) -> str:
        n_networks, n_parameters = self.parameters.shape
        title = (
            f"Average of {count(n_networks, 'network')} with {count(n_parameters, 'parameter')} "
            f"each, shrinkage {self.shrinkage:.3g} (0 is the constant model, 1 the average)."
        )
        rows = [
            [str(number), str(each.n_epochs), str(each.kept_epoch), each.ending]
            for number, each in enumerate(self.histories)
        ]
        head = ["network", "epochs", "kept epoch", "ending"]
        return "\n".join([title, "", *text_table(head, rows, words=(3,))])


class Averaging(ABC):
    """How predictions are averaged, shrunk towards a constant, and judged."""

    @abstractmethod
    def prediction(self, output: Output, eta: Array, extra: Array) -> Array:
        """Of one network, (n, n_classes) or (n, n_outputs)."""

    @abstractmethod
    def mean(self, predictions: Array) -> Array:
        """Of several networks, from (n_networks, n, …)."""

    @abstractmethod
    def constant(self, output: Output, y: Array, weight: Array | None) -> Array:
        """The prediction of the constant model."""

    @abstractmethod
    def shrunk(self, prediction: Array, constant: Array, s: float) -> Array: ...

    @abstractmethod
    def losses(self, y: Array, prediction: Array, weight: Array) -> Array:
        """−log p of each row in nats, (n,); weights matter where a spread is estimated."""


@final
@dataclass(frozen=True)
class ClassAveraging(Averaging):
    """Predictions are log-probabilities of classes."""

    def prediction(self, output: Output, eta: Array, extra: Array) -> Array:
        return output.log_probability(eta, extra)

    def mean(self, predictions: Array) -> Array:
        return np.asarray(logsumexp(predictions, axis=0) - np.log(len(predictions)))

    def constant(self, output: Output, y: Array, weight: Array | None) -> Array:
        target = _one_hot(y, output.n_classes or 2)
        share = np.average(target, axis=0, weights=weight)
        with np.errstate(divide="ignore"):
            return np.maximum(np.log(share / share.sum()), LEAST_LOG)

    def shrunk(self, prediction: Array, constant: Array, s: float) -> Array:
        # a probability of 0 times s = 0 would be nan
        moved = constant + s * (np.maximum(prediction, LEAST_LOG) - constant)
        return np.asarray(log_softmax(moved, axis=1)) if s < 1 else prediction

    def losses(self, y: Array, prediction: Array, weight: Array) -> Array:
        target = _one_hot(y, prediction.shape[1])
        return np.asarray(-(target * np.maximum(prediction, LEAST_LOG)).sum(axis=1))


class ResponseSpread(NamedTuple):
    """How y is spread around its means."""

    response: Response
    dispersion: float

    @property
    def alpha(self) -> float:
        """α of counts: 0 for the Poisson."""
        return float(vars(self.response).get("alpha", 0.0))


@final
@dataclass(frozen=True)
class NumberAveraging(Averaging):
    """Predictions are means; the spread around them is that of the rows that are judged by."""

    response: Response  # whose shape may be left to be estimated

    def prediction(self, output: Output, eta: Array, extra: Array) -> Array:
        return output.mean(eta, extra)

    def mean(self, predictions: Array) -> Array:
        return np.asarray(predictions.mean(axis=0))

    def constant(self, output: Output, y: Array, weight: Array | None) -> Array:
        return np.atleast_1d(np.average(y, axis=0, weights=weight))

    def shrunk(self, prediction: Array, constant: Array, s: float) -> Array:
        if s == 0:  # a mean of infinity times s = 0 would be nan
            return np.broadcast_to(constant, prediction.shape).astype(float)
        return np.asarray(constant + s * (prediction - constant))

    def losses(self, y: Array, prediction: Array, weight: Array) -> Array:
        y = y.reshape(len(prediction), -1)
        response, dispersion = self.spread(y, prediction, weight)
        if not dispersion > 0:  # all means are exact, or none is a number
            return np.full(len(y), -np.inf if dispersion == 0 else np.inf)
        return -np.asarray(response.log_prob(y, prediction, dispersion)).sum(axis=1)

    def spread(self, y: Array, mean: Array, weight: Array) -> ResponseSpread:
        """The response with its shape, and ψ: 1 where it is fixed, else the mean of (y − μ)²/V(μ).

        α of a negative binomial is that of maximum likelihood, given the means.
        """
        y = y.reshape(len(mean), -1)
        each_weight = np.repeat(weight, y.shape[1])
        response = estimated_shape(self.response, y.ravel(), mean.ravel(), each_weight)
        if response.dispersion_is_known:
            return ResponseSpread(response, 1.0)
        each = (np.square(y - mean) / response.variance(mean)).mean(axis=1)
        return ResponseSpread(response, float(np.dot(weight, each) / weight.sum()))


class JudgedRows(NamedTuple):
    """Rows that a network did not see, and what it predicts for them."""

    y: Array
    weight: Array
    prediction: Array


class AverageFit(NamedTuple):
    """What several networks say together, and the rows that judge them; None if none was held."""

    held: JudgedRows | None
    constant: Array
    shrinkage: float


def problems_of_several(given: FitInput, seed: int, n_networks: int) -> Iterator[TrainingProblem]:
    """The problem of each network: other seeds, ``seed`` first, and other rows to judge by."""
    rows, options = given.rows, given.options
    if options.held_out is None:  # a validation set, or none
        for j in range(n_networks):
            yield given.problem(seed + j)
        return
    part = parts_of_rows(rows.examples.y, n_networks, seed)
    copies = copies_of_examples(rows.examples)
    part = part if copies is None else part[copies]
    own = given._replace(options=replace(options, held_out=None))
    parts = [j for j in range(n_networks) if (part == j).any() and (part != j).any()]
    if not parts:
        raise InvalidInput(
            f"Early stopping was given with {count(rows.examples.n_rows, 'row')}, none of which "
            "can be held out: each class needs one to learn from. Give more rows, or "
            "early_stopping=False."
        )
    for j in parts:  # fewer than networks where rows are few
        held = part == j
        training = rows._replace(examples=rows.examples.where(~held))
        judging = rows.examples.where(held)
        yield own._replace(rows=training, validation=judging).problem(seed + j)


def averaged(
    averaging: Averaging, problems: Sequence[TrainingProblem], fits: Sequence[NetworkFit]
) -> AverageFit:
    """What networks say together, each with its problem."""
    first = problems[0]
    output = first.output
    every = [first.training] if first.validation is None else [first.training, first.validation]
    y = np.concatenate([output.target(each.y) for each in every])
    weight = np.concatenate([_weight(each) for each in every])
    constant = averaging.constant(output, y, weight)
    common = all(each.validation is first.validation for each in problems)
    held = _held_rows(fits, problems, averaging, common=common)
    s = 1.0 if held is None else best_shrinkage(held, constant, averaging, len(fits) + 1)
    return AverageFit(held, constant, s)


def best_shrinkage(
    held: JudgedRows, constant: Array, averaging: Averaging, optimism: float
) -> float:
    """s, by the loss of rows that the networks have not seen; 0 unless the gain is clear.

    ``optimism`` is what choices on these rows are expected to gain here alone, in nats, at s = 1.
    """
    weight = _as_counts(held.weight)

    def losses(s: float) -> Array:
        moved = averaging.shrunk(held.prediction, constant, s)
        return averaging.losses(held.y, moved, weight)

    def total(s: float) -> float:
        return float(np.dot(weight, losses(s)))

    without = losses(0.0)
    if not np.isfinite(without).all():  # a constant without an error, which nothing improves
        return 0.0
    found = minimize_scalar(total, bounds=(0.0, 1.0), method="bounded")
    s = float(min((0.0, float(found.x), 1.0), key=total))
    gain = without - losses(s)
    if not np.isfinite(gain).all():  # networks without an error
        return s
    error = np.sqrt(np.dot(np.square(weight), np.square(gain - np.average(gain, weights=weight))))
    clear = float(np.dot(weight, gain)) - s * optimism > CLEAR_GAIN * error
    return s if clear else 0.0


def average_prediction(
    average: NetworkAverage,
    averaging: Averaging,
    architecture: Architecture,
    output: Output,
    eta: Callable[[Array], Array],
) -> Array:
    """What several networks predict together; ``eta`` gives the predictor of parameters."""
    each = [
        averaging.prediction(output, eta(theta), architecture.extra(theta))
        for theta in average.parameters.astype(np.float64)
    ]
    mean = averaging.mean(np.stack(each))
    return averaging.shrunk(mean, average.constant, average.shrinkage)


def parts_of_rows(y: Array, n_parts: int, seed: int) -> Codes:
    """The part of each row, from 0, with the same share of each class in all parts.

    −1 for a row that is the only one of its class, which no training can do without.
    """
    n = len(y)
    order = np.random.default_rng(seed).permutation(n)
    if y.dtype.kind in "iu" and y.ndim == 1:
        order = order[np.argsort(y[order], kind="stable")]  # classes one after another
    part = np.empty(n, dtype=np.intp)
    part[order] = np.arange(n) % n_parts
    if y.dtype.kind in "iu" and y.ndim == 1:
        part[np.bincount(y)[y] == 1] = -1
    return part


def _held_rows(
    fits: Sequence[NetworkFit],
    problems: Sequence[TrainingProblem],
    averaging: Averaging,
    *,
    common: bool,
) -> JudgedRows | None:
    """Each network on the rows that judged it; on one common set, their average."""
    parts = list[JudgedRows]()
    for fit, problem in zip(fits, problems, strict=True):
        if problem.validation is None:
            return None
        theta = fit.trained.theta  # before any end game
        parts.append(
            judged_rows(problem.validation, problem.architecture, problem.output, theta, averaging)
        )
    if common:
        mean = averaging.mean(np.stack([part.prediction for part in parts]))
        return parts[0]._replace(prediction=mean)
    return JudgedRows(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def judged_rows(
    rows: Examples, architecture: Architecture, output: Output, theta: Array, averaging: Averaging
) -> JudgedRows:
    """What a network predicts for some rows."""
    theta = theta.astype(np.float64)
    each = [
        averaging.prediction(
            output,
            predictor(architecture, theta, X.astype(np.float64, copy=False)),
            architecture.extra(theta),
        )
        for _, X in rows.columns(WINDOW)
    ]
    return JudgedRows(output.target(rows.y), _weight(rows), np.concatenate(each))


def _as_counts(weight: Array) -> Array:
    """Weights with a total of (Σ w)²/Σ w², the number of rows of equal weight that say as much.

    The scale of weights then does not matter: a total of 1 is not taken for one row.
    """
    relative = weight / weight.max()
    return np.asarray(relative * (relative.sum() / np.square(relative).sum()))


def _weight(examples: Examples) -> Array:
    return np.ones(examples.n_rows) if examples.weight is None else examples.weight


def _one_hot(y: Array, n_classes: int) -> Array:
    """Class numbers, or soft labels, as rows of probabilities."""
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim == 2:
        return y
    if n_classes == 2 and y.dtype.kind == "f":  # the probability of the second
        return np.stack([1.0 - y, y], axis=1)
    return np.eye(n_classes)[y.astype(np.intp)]
