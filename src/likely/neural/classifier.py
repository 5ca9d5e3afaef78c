"""Neural networks for classes: layers of units below a likelihood of classes.

    p(y = k | x) = e^{η_k} / Σ_l e^{η_l}        η = W^(L) h^(L) + b^(L)
    h^(l+1) = g(W^(l) h^(l) + b^(l)),   h^(0) = x

Two classes have one output, the log-odds of the second.  Without hidden layers this is logistic or
softmax regression.

References
----------
Bishop, Pattern Recognition and Machine Learning, §5.1 to §5.3.
"""

from collections.abc import Sequence
from typing import Any, ClassVar, Self, final

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from likely._typing import Array
from likely.data.categories import ordered_categories
from likely.errors import InvalidInput
from likely.explanations.explanation import Explanation, log_odds_explanation
from likely.explanations.sampled import SampledContributions
from likely.graphical.model.model_plates import CUTS, PlateParameter
from likely.inputs.estimators import columns_named, feature_names, unchanged_if_refused
from likely.inputs.soft_labels import (
    ClassProbabilities,
    check_soft,
    soft_classes,
    soft_numbers,
    soft_of_classes,
    soft_total,
)
from likely.inputs.tables import refuse_file
from likely.inputs.targets import (
    all_classes,
    codes_among,
    is_soft,
    ordered_classes,
    refuse_one_class,
)
from likely.likelihoods.base import Response
from likely.likelihoods.categorical import Categorical
from likely.likelihoods.ordinal import Ordinal
from likely.links import Link
from likely.neural.average import Averaging, ClassAveraging
from likely.neural.examples import Examples
from likely.neural.network import NeuralNetwork
from likely.neural.options import Options
from likely.neural.outputs import Output, output_of
from likely.neural.problem import OpenedRows, Targets, class_weights, open_rows
from likely.neural.settings import Batches, EarlyStopping, Training, WeightPenalty
from likely.penalties.base import Penalty
from likely.solvers.mini_batches import BatchPlan
from likely.solvers.schedules import Schedule
from likely.solvers.updates import Update
from likely.storage.declarations import FITTED_CLASSES


@final
class NeuralNetworkClassifier(ClassProbabilities, ClassifierMixin, NeuralNetwork):
    """A neural network whose output is a class.

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
    response : str, Categorical, Ordinal or None, default=None
        The likelihood of the output: ``bernoulli`` (two classes), ``categorical``, ``ordinal``
        (ordered classes); the lectures' square errors ``square-error-sigmoid`` and
        ``square-error-softmax``.  None is ``bernoulli`` for two classes, else ``categorical``.
    link : str, Link or None, default=None
        Of ``bernoulli`` and ``ordinal``; None is the logit.
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
        they are shuffled or balanced by class; those of ``likely.solvers`` draw them.
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
    class_weight : "balanced", mapping or None, default=None
        Weights of rows by their class; ``balanced`` gives all classes the same total.
    order : sequence or None, default=None
        The order of ``classes_``, from lowest to highest for ``response="ordinal"``.  None is that
        of the sorted labels; for an ordinal response, of y where it is an ordered categorical.
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
    classes_ : array of shape (n_classes,)
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
        With ``n_networks``: the parameters and the history of each network, and ``shrinkage``;
        ``parameters_`` and ``history_`` are those of the first.

    Examples
    --------
    >>> import numpy as np
    >>> from likely import NeuralNetworkClassifier
    >>> X, y = np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), [0, 1, 1, 0]
    >>> model = NeuralNetworkClassifier(
    ...     (4,), activation="tanh", learning_rate=0.1, tol=None, random_state=0
    ... ).fit(X, y)
    >>> model.predict(X)
    array([0, 1, 1, 0])
    >>> model.n_parameters_  # 2·4 + 4 and 4·1 + 1
    17
    """

    saved: ClassVar = NeuralNetwork.saved | FITTED_CLASSES

    def __init__(
        self,
        hidden: Sequence[int] = (100,),
        *,
        activation: str | Sequence[str] = "relu",
        bias: bool | Sequence[bool] = True,
        response: str | Response | Categorical | Ordinal | None = None,
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
        class_weight: Any = None,
        order: Sequence[Any] | None = None,
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
        self.class_weight = class_weight
        self.order = order
        self.initialise = initialise
        self.training = training
        self.dtype = dtype
        self.device = device
        self.n_networks = n_networks
        self.random_state = random_state

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Train for one epoch on these rows, from where the network is.

        ``classes``, in the first call, names all classes that will occur.  Categories of columns
        are those of the first call.
        """
        advice = "Call fit, which reads it in windows, or pass its batches one by one."
        refuse_file(X, f"partial_fit of {type(self).__name__}", advice)
        first = "parameters_" not in vars(self)
        known = all_classes(classes, None if first else self.classes_)
        with unchanged_if_refused(self), columns_named(self):
            if not first:
                return self._one_epoch(X, y, sample_weight, None)
            if self.order is not None or self._is_ordinal:
                known = ordered_classes(known, self.order).classes

            def opened(options: Options) -> OpenedRows:
                if is_soft(y):
                    soft = soft_of_classes(y, known)
                    rows = self._opened_soft(options, X, soft, sample_weight)
                    return rows._replace(classes=known)
                rows = open_rows(self, options, X, y, sample_weight, "class")
                codes = codes_among(rows.classes, known)[rows.examples.y]
                examples = rows.examples.having(codes, rows.examples.weight)
                return rows._replace(examples=self._rows_of(examples, known), classes=known)

            return self._one_epoch(X, y, sample_weight, opened)

    def decision_function(self, X: Any) -> Array:
        """log p(k | x), (n, n_classes); for two classes the log-odds of the second, (n,)."""
        log_proba = self.predict_log_proba(X)
        if log_proba.shape[1] > 2:
            return log_proba
        return np.asarray(log_proba[:, 1] - log_proba[:, 0])

    def predict_log_proba(self, X: Any) -> Array:
        """log p(k | x), (n, n_classes)."""
        check_is_fitted(self)
        return self._explained_score(self._matrix(X))

    def _explanation(self, found: SampledContributions, against: Any) -> Explanation:
        return log_odds_explanation(
            found.contributions,
            found.base,
            self.classes_,
            against,
            feature_names(self),
            base_is="base",
        )

    def log_likelihoods(self, X: Any, y: Any) -> Array:
        """log p(y_i | x_i) of each row; for soft labels t, Σ_k t_ik log p(k | x_i)."""
        if not is_soft(y):
            return super().log_likelihoods(X, y)
        return soft_total(y, self.predict_log_proba(X), self.classes_)

    @property
    def _is_ordinal(self) -> bool:
        return self.response == "ordinal" or isinstance(self.response, Ordinal)

    def _opened(self, options: Options, X: Any, y: Any, sample_weight: Any) -> OpenedRows:
        if is_soft(y):
            return self._opened_soft(options, X, y, sample_weight)
        rows = open_rows(self, options, X, y, sample_weight, "class")
        refuse_one_class(rows.classes, self)
        if self._is_ordinal or self.order is not None:
            order = ordered_categories(y) if self.order is None else self.order
            classes, rank = ordered_classes(rows.classes, order)
            examples = rows.examples.having(rank[rows.examples.y], rows.examples.weight)
            rows = rows._replace(examples=examples, classes=classes)
        return rows._replace(examples=self._rows_of(rows.examples, rows.classes))

    def _opened_soft(self, options: Options, X: Any, y: Any, sample_weight: Any) -> OpenedRows:
        """Rows whose labels are probabilities of the classes."""
        self._refuse_soft_beside_classes()
        rows = open_rows(self, options, X, soft_numbers(y), sample_weight, "numbers")
        check_soft(rows.examples.y)
        soft = self._of_output(rows.examples.y)
        examples = rows.examples.having(soft, rows.examples.weight)
        return rows._replace(examples=examples, classes=soft_classes(y))

    def _refuse_soft_beside_classes(self) -> None:
        balanced = isinstance(self.batch, Batches) and self.batch.balanced
        if self.class_weight is not None or balanced or self._is_ordinal:
            raise InvalidInput(
                "y holds soft labels, with class_weight, balanced or an ordinal response, which "
                "need one class for each row. Leave them out, or give labels."
            )

    def _of_output(self, soft: Array) -> Array:
        """Soft labels as the output reads them: of two classes with one output, of the second."""
        if soft.shape[1] != 2:
            return soft
        one = output_of(self.response, n_classes=2, link=self.link).n_outputs == 1
        return np.ascontiguousarray(soft[:, 1]) if one else soft

    def _output(self, rows: OpenedRows) -> Output:
        return output_of(self.response, n_classes=len(rows.classes), link=self.link)

    def _targets(self, classes: Array) -> Targets:
        def read(y: Any, n_rows: int) -> Array:
            if not is_soft(y):
                return codes_among(y, classes, n_rows=n_rows)
            self._refuse_soft_beside_classes()
            return self._of_output(soft_of_classes(y, classes))

        return read

    def _rows_of(self, examples: Examples, classes: Array) -> Examples:
        if self.class_weight is None:
            return examples
        weight = class_weights(self.class_weight, classes, examples.y, examples.weight)
        weighted = examples.having(examples.y, weight)
        return weighted if weight is None or weight.all() else weighted.where(weight > 0)

    def _own_meaning(self) -> dict[str, Any]:
        balanced = isinstance(self.batch, Batches) and self.batch.balanced
        return {"class_weight": self.class_weight, "balanced": balanced}

    def _averaging(self, output: Output) -> Averaging:
        return ClassAveraging()

    def _plate_parameters(self) -> tuple[PlateParameter, ...]:
        cuts = (PlateParameter("bₖ", CUTS),) if self._is_ordinal else ()
        return (PlateParameter("W"), *cuts)
