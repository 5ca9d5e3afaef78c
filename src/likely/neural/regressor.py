"""Neural networks for numbers: layers of units below any response of a generalised linear model.

    E[y | x] = g⁻¹(η)        η = W^(L) h^(L) + b^(L),   h^(l+1) = a(W^(l) h^(l) + b^(l))

Without hidden layers this is least squares, or the generalised linear model of the response.

References
----------
Bishop, Pattern Recognition and Machine Learning, §5.1 to §5.3.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Self, final

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.errors import InvalidInput, OutsideLink, warn_user
from likely.explanations.explanation import PREDICTION, Explanation, refuse_against
from likely.explanations.sampled import SampledContributions
from likely.graphical.model.model_plates import PlateParameter
from likely.inputs.estimators import columns_named, feature_names, generator, unchanged_if_refused
from likely.inputs.tables import own_columns, refuse_file
from likely.inputs.targets import check_response, check_weight
from likely.likelihoods.base import Response
from likely.likelihoods.gaussian import GaussianIdentity
from likely.likelihoods.negative_binomial import NegativeBinomial
from likely.likelihoods.poisson import Poisson
from likely.likelihoods.predictive import PredictiveDistribution, PredictiveFamily
from likely.links import Identity, Link
from likely.neural.average import (
    AverageFit,
    NumberAveraging,
    ResponseSpread,
    judged_rows,
)
from likely.neural.network import NeuralNetwork
from likely.neural.options import Options
from likely.neural.outputs import Output, ScalarOutput, output_of
from likely.neural.problem import OpenedRows, Targets, TrainingProblem, open_rows
from likely.neural.settings import Batches, EarlyStopping, Training, WeightPenalty
from likely.objectives.linear import weighted_sum
from likely.output.formatting import count
from likely.penalties.base import Penalty
from likely.solvers.mini_batches import BatchPlan
from likely.solvers.schedules import Schedule
from likely.solvers.updates import Update
from likely.storage.declarations import Numbers, Saved


@final
class NeuralNetworkRegressor(RegressorMixin, NeuralNetwork):
    """A neural network whose output is a number, or several.

    Columns should have similar scales, because one learning rate serves all weights:
    ``likely.Prepared`` standardises them.

    Parameters
    ----------
    hidden : sequence of int, default=(100,)
        Units of each hidden layer; ``()`` is a linear model.
    activation : str or sequence of str, default="relu"
        ``identity``, ``sigmoid``, ``tanh``, ``relu`` or ``softplus``: one for all hidden layers, or
        one for each.
    bias : bool or sequence of bool, default=True
        Whether units have biases; a sequence has one for each hidden layer and one for the output.
    response : str, Response or None, default=None
        The likelihood of the output: ``gaussian`` (None), ``bernoulli`` (y from 0 to 1),
        ``poisson``, ``gamma``, ``inverse-gaussian``, ``tweedie(1.5)``, ``negative-binomial``
        (``alpha_`` is estimated; ``negative-binomial(0.5)`` fixes it), or a response of
        ``likely.likelihoods``; the lectures' ``square-error-sigmoid``.
    link : str, Link or None, default=None
        Between the mean and the last layer; None is the response's own, and the log for ``gamma``
        and ``inverse-gaussian``, because the last layer may be negative.
    solver : str or Update, default="auto"
        ``sgd`` (plain steps), ``momentum``, ``nesterov``, ``adagrad``, ``rmsprop``, ``adam``,
        ``adamw``, or a rule of ``likely.solvers``, such as ``Clip(1.0) | Adam()``; ``lbfgs``, which
        reads all rows in every step.  ``auto`` is ``lbfgs`` without hidden layers, and for up to 30
        rows, from 20 starts of which the best is kept; else it is ``adam``.  ``chosen_`` says what
        it was, with the values of the other arguments that are ``auto``.
    learning_rate : float or "auto", default="auto"
        The rate of the first epoch, if ``schedule`` is a name.  ``lbfgs`` has none.  ``auto`` is
        0.001, and 0.003 where ``solver="auto"`` takes Adam.
    schedule : str or Schedule, default="constant"
        ``constant``, ``inverse-time``, ``hold-then-decay``, ``step``, ``cosine``, ``warm-up``,
        ``reduce-on-plateau``, or a schedule of ``likely.solvers``, which has its own rate.
    momentum : float, default=0.9
        Of the solvers ``momentum`` and ``nesterov``; a tuple has one for each epoch.
    batch : int, {"auto", "full"} or Batches, default="auto"
        Rows in a step; ``auto`` is 32, and 128 from 10,000 rows on.  ``Batches`` also says whether
        they are shuffled; those of ``likely.solvers`` draw them.
    max_epochs : int or "auto", default="auto"
        Passes over the rows at most; 0 leaves the network at its start values.  ``auto`` is 200,
        and 500 where ``solver="auto"`` takes Adam.
    tol : float, None or "auto", default="auto"
        The smallest fall of the watched mean loss that counts; ``auto`` is 1e-4.  None trains for
        ``max_epochs``, unless early stopping ends it.  Of ``lbfgs`` the gap to the optimum in nats
        a row, 1e-5, and 1e-14 without hidden layers.
    early_stopping : bool, int, "auto" or EarlyStopping, default="auto"
        Whether the validation loss is watched, and the best epoch restored, in place of the
        training loss and the last one.  ``auto`` is True where ``solver="auto"`` takes Adam.
        A number is the epochs to wait for a fall, 30 for ``EarlyStopping(patience=30)``.
    validation : float, tuple or None, default=None
        A share of the rows to hold out, of each class, or a set ``(X, y)`` or ``(X, y, weight)``.
        None holds out a tenth for early stopping, and nothing without it.
    end_game : {"epochs", "loss"} or None, default=None
        After early stopping, retrain on all rows, those for validation included: for the best
        number of epochs, or until the mean loss is down to the training loss of the best epoch.
    dropout : float or sequence of float, default=0.0
        The share of the units of hidden layers that are set to 0 at random in training; a sequence
        has one for each hidden layer, or also one for the input before them.
    l1, l2 : float, default=0.0
        Strengths of the penalties l1·Σ|w| + ½·l2·Σw² on the weights, not the biases.
    penalty : WeightPenalty, Penalty or None, default=None
        In place of l1 and l2, or beside them to scale them (``WeightPenalty(scaling="mean")``);
        ``L1``, ``L2`` or ``ElasticNet`` of ``likely.penalties``, or a sum of them.
    scale_response : bool, default=True
        Whether a Gaussian response with the identity link is centred and scaled in training, so
        that rates and ``tol`` (then in variances of y) do not depend on its unit.  Everything that
        is given or shown is in the unit of y: weights, start values, losses, penalties.
    initialise : str, array, sequence of pairs or StartValues, default="auto"
        A scheme by name, ``auto`` (by the activation), all parameters, or a pair of weights and
        biases for each layer.  ``StartValues`` also names the layers that are trained.
    training : Training or None, default=None
        Callbacks, checkpoints, what to resume from, and whether training losses are evaluated.
    dtype : {"float32", "float64"} or None, default=None
        Of the parameters in training; None is float32, and float64 for ``lbfgs``.
    device : str, torch.device or None, default=None
        Where epochs are computed: ``cuda`` is a GPU, by torch, with the same steps to rounding.
        None is the device of X if that is a CUDA tensor, else the processor, like ``cpu``; a
        ``torch.device`` always means torch.  Answers are NumPy arrays.
    n_networks : int or "auto", default="auto"
        Networks to train with different seeds and to average.  ``auto`` is 1, and 5 where
        ``solver="auto"`` takes Adam, for fewer than 10,000 rows in memory.  With early stopping
        each holds out another part of the rows, and the average is shrunk towards the constant
        model by ``average_.shrinkage``, which is estimated on those held-out rows.
    random_state : int, RandomState, Generator or None, default=None
        Seed of start values, orders, dropout and held-out rows.

    Attributes
    ----------
    parameters_ : array of shape (n_parameters,)
        All weights and biases, layer by layer; ``weights_`` and ``biases_`` are views of it.
    architecture_ : Architecture
        Sizes, activations and places of the layers.
    chosen_ : dict
        How it was trained: the solver, the number of starts, and the value of each argument that
        may be ``auto``.
    history_ : History
        Losses, rates and seconds of each epoch; prints as a table, ``plot()``, ``to_frame()``.
    end_game_ : History or None
        Of the training on all rows, with ``end_game``.
    average_ : NetworkAverage or None
        With ``n_networks``: each network, and ``shrinkage``; other attributes are of the first.
    response_centre_, response_scale_ : float or array of shape (n_responses,), float
        What training subtracted from y and divided it by; 0 and 1 without ``scale_response``.
    dispersion_ : float
        ψ in Var[y] = ψ V(μ): 1 where the response fixes it, else the mean of (y − μ)²/V(μ) over the
        validation rows, or over the training rows where there are none.
    alpha_ : float or None
        α in Var[y] = μ + αμ² of ``negative-binomial``, by maximum likelihood given the means of the
        same rows; 0 is the Poisson.  None for other responses, and where α was given.  Training
        itself uses the α of the constant model, because means hardly depend on α.

    Examples
    --------
    >>> import numpy as np
    >>> from likely import NeuralNetworkRegressor
    >>> X = np.linspace(-2, 2, 100)[:, None]
    >>> model = NeuralNetworkRegressor(
    ...     (20,), activation="tanh", solver="lbfgs", tol=None, random_state=0
    ... )
    >>> model.fit(X, np.sin(2 * X[:, 0])).predict([[np.pi / 4]]).round(2)
    array([1.])
    """

    saved: ClassVar = NeuralNetwork.saved | Saved(
        {"dispersion_": Numbers(float, "not negative")}, {"alpha_": float | None}
    )

    dispersion_: float
    alpha_: float | None

    def __init__(
        self,
        hidden: Sequence[int] = (100,),
        *,
        activation: str | Sequence[str] = "relu",
        bias: bool | Sequence[bool] = True,
        response: str | Response | None = None,
        link: str | Link | None = None,
        solver: str | Update = "auto",
        learning_rate: float | str = "auto",
        schedule: str | Schedule = "constant",
        momentum: float | tuple[float, ...] = 0.9,
        batch: int | str | Batches | BatchPlan = "auto",
        max_epochs: int | str = "auto",
        tol: float | str | None = "auto",
        early_stopping: bool | int | str | EarlyStopping = "auto",
        validation: Any = None,
        end_game: str | None = None,
        dropout: float | Sequence[float] = 0.0,
        l1: float = 0.0,
        l2: float = 0.0,
        penalty: WeightPenalty | Penalty | None = None,
        scale_response: bool = True,
        initialise: Any = "auto",
        training: Training | None = None,
        dtype: Any = None,
        device: Any = None,
        n_networks: int | str = "auto",
        random_state: Any = None,
    ) -> None:
        self.hidden = hidden
        self.activation = activation
        self.bias = bias
        self.response = response
        self.link = link
        self.solver = solver
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.momentum = momentum
        self.batch = batch
        self.max_epochs = max_epochs
        self.tol = tol
        self.early_stopping = early_stopping
        self.validation = validation
        self.end_game = end_game
        self.dropout = dropout
        self.l1 = l1
        self.l2 = l2
        self.penalty = penalty
        self.scale_response = scale_response
        self.initialise = initialise
        self.training = training
        self.dtype = dtype
        self.device = device
        self.n_networks = n_networks
        self.random_state = random_state

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train for one epoch on these rows, from where the network is.

        Categories of columns, and the units of the response, are those of the first call.
        """
        advice = "Call fit, which reads it in windows, or pass its batches one by one."
        refuse_file(X, f"partial_fit of {type(self).__name__}", advice)
        with unchanged_if_refused(self), columns_named(self):
            first = "parameters_" not in vars(self)

            def opened(options: Options) -> OpenedRows:
                return self._opened(options, X, y, sample_weight)

            return self._one_epoch(X, y, sample_weight, opened if first else None)

    def predict(self, X: Any) -> Array:
        """E[y | x] of each row, (n,), or (n, n_responses)."""
        check_is_fitted(self)
        with np.errstate(invalid="ignore"):  # where the link has no mean, which is told
            mean = self._explained_score(self._matrix(X))
        self._warn_outside(mean)
        return np.asarray(mean[:, 0] if mean.shape[1] == 1 else mean)

    def predict_distribution(self, X: Any) -> PredictiveDistribution:
        """The distribution of y given each row: the response around its mean."""
        return PredictiveDistribution(self._response, self.predict(X), self.dispersion_)

    def predictive_family(self) -> PredictiveFamily | None:
        """The response, with the dispersion of the fit; None for several responses."""
        if self.output_.n_outputs > 1:
            return None
        return PredictiveFamily.of(self._response, self.dispersion_)

    def log_likelihoods(self, X: Any, y: Any) -> Array:
        """log p(y_i | x_i) of each row, with all its terms, at ``dispersion_``."""
        X, y = own_columns(X, y)
        mean = self.predict(X)
        y = self._responses(y, len(mean))
        each = self._response.log_prob(y, mean, self.dispersion_)
        return np.asarray(each if each.ndim == 1 else each.sum(axis=1))

    def log_likelihood(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Σ w_i log p(y_i | x_i), with all its terms, at ``dispersion_``."""
        X, y, sample_weight = own_columns(X, y, sample_weight)
        each = self.log_likelihoods(X, y)
        return weighted_sum(check_weight(sample_weight, n_rows=len(each)), each)

    def deviance(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Twice the log-likelihood of the saturated model minus that of the model."""
        X, y, sample_weight = own_columns(X, y, sample_weight)
        mean = self.predict(X)
        weight = check_weight(sample_weight, n_rows=len(mean))
        return float(self._deviances(self._responses(y, len(mean)), mean, weight).sum())

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """D², the share of the constant model's deviance that is explained; R² for a Gaussian.

        Of several responses, their mean.
        """
        X, y, sample_weight = own_columns(X, y, sample_weight)
        mean = self.predict(X)
        y, weight = self._responses(y, len(mean)), check_weight(sample_weight, n_rows=len(mean))
        constant = np.broadcast_to(np.average(y, axis=0, weights=weight), y.shape)
        left, null = (self._deviances(y, each, weight) for each in (mean, constant))
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(null > 0, 1 - left / null, np.nan)
        return float(shares.mean())

    def sample(self, X: Any, random_state: Any = None) -> Array:
        """One y for each row, drawn from the fitted model."""
        rng = generator(self.random_state if random_state is None else random_state)
        return self._response.sample(self.predict(X), rng, self.dispersion_)

    @property
    def _response(self) -> Response:
        """The response whose density y has, with its estimated α."""
        alpha = vars(self).get("alpha_")
        if alpha is None:
            return self.output_.response
        return NegativeBinomial(alpha) if alpha > 0 else Poisson()

    def _deviances(self, y: Array, mean: Array, weight: Array | None) -> Array:
        """The deviance of each response, (n_responses,)."""
        each = self._response.deviance(y, mean).reshape(len(y), -1)
        return np.dot(np.ones(len(y)) if weight is None else weight, each)

    def _responses(self, y: Any, n_rows: int) -> Array:
        several = self.output_.n_outputs > 1
        y = check_response(y, n_rows=n_rows, estimator=self, several=several)
        self.output_.check(y)
        return y

    def _warn_outside(self, mean: Array) -> None:
        """Warn of rows whose η, which may be any number, has no mean under the link."""
        output, without = self.output_, np.isnan(mean).any(axis=1)
        if without.any() and isinstance(output, ScalarOutput):
            link, means = output.likelihood.link, output.response.means
            if link.etas == Identity.etas:  # of every number
                return
            warn_user(
                f"The output of the network for row {int(without.argmax())} has no mean under the "
                f"link {link.name!r}, so its prediction is nan, for "
                f"{count(int(without.sum()), 'row')}. Use the "
                f"{'logit' if means.high == 1 else 'log'} link, which has a mean everywhere.",
                OutsideLink,
            )

    def _explanation(self, found: SampledContributions, against: Any) -> Explanation:
        refuse_against(against, PREDICTION)
        names = [PREDICTION] if len(found.base) == 1 else range(len(found.base))
        groups = np.array([str(name) for name in names], dtype=object)
        return Explanation(*found, groups, feature_names(self), quantity=PREDICTION)

    def _opened(self, options: Options, X: Any, y: Any, sample_weight: Any) -> OpenedRows:
        if options.balanced:
            raise InvalidInput(
                "batch=Batches(balanced=True) was given for numbers; batches are balanced by "
                "class. Leave balanced out, or use NeuralNetworkClassifier."
            )
        return open_rows(self, options, X, y, sample_weight, "numbers")

    def _output(self, rows: OpenedRows) -> Output:
        y = rows.examples.y
        n_outputs = 1 if y.ndim == 1 else y.shape[1]
        output = output_of(self.response, n_outputs=n_outputs, link=self.link)
        output.check(y)
        return output.with_shape(y, rows.examples.weight)

    def _targets(self, classes: Array) -> Targets:
        def read(y: Any, n_rows: int) -> Array:
            return check_response(y, n_rows=n_rows, estimator=self, several=True)

        return read

    def _averaging(self, output: Output) -> NumberAveraging:
        given = output_of(self.response, link=self.link)
        return NumberAveraging((output if given.response.shape_is_known else given).response)

    def _own_meaning(self) -> dict[str, Any]:
        return {"scale_response": self.scale_response}

    def _scales_response(self, output: Output) -> bool:
        least_squares = isinstance(output, ScalarOutput) and isinstance(
            output.likelihood, GaussianIdentity
        )
        return bool(self.scale_response) and least_squares

    def _finish_average(self, fit: AverageFit) -> None:
        held, averaging = fit.held, self._averaging(self.output_)
        if held is None or self.average_ is None:
            return  # the spread is that of the first network
        moved = averaging.shrunk(held.prediction, fit.constant, self.average_.shrinkage)
        self._keep(averaging.spread(held.y, moved, held.weight))
        if not self._response.dispersion_is_known:  # the constant has seen these rows
            self.dispersion_ *= len(held.y) / max(len(held.y) - 1, 1)

    def _finish(self, problem: TrainingProblem) -> None:
        rows = problem.training if problem.validation is None else problem.validation
        averaging = self._averaging(self.output_)
        if averaging.response.dispersion_is_known and averaging.response.shape_is_known:
            self.dispersion_, self.alpha_ = 1.0, None
            return
        found = judged_rows(rows, self.architecture_, self.output_, self.parameters_, averaging)
        self._keep(averaging.spread(found.y, found.prediction, found.weight))

    def _keep(self, spread: ResponseSpread) -> None:
        given = output_of(self.response, link=self.link).response
        self.alpha_ = None if given.shape_is_known else spread.alpha
        self.dispersion_ = spread.dispersion

    def _plate_parameters(self) -> tuple[PlateParameter, ...]:
        given = output_of(self.response, link=self.link).response
        spread = "" if given.dispersion_is_known else "ψ"
        spread = spread if given.shape_is_known else "α"
        return tuple(PlateParameter(name) for name in ("W", spread) if name)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        try:
            output = output_of(self.response, link=self.link)
        except InvalidInput:  # fit says so
            return tags
        low = output.likelihood.response.means.low if isinstance(output, ScalarOutput) else 0.0
        tags.target_tags.positive_only = low >= 0
        return tags
