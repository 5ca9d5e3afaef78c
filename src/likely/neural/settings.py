"""Arguments of a network that are several settings, and the names they had before.

    batch             200            Batches(200, shuffle=False), Batches(balanced=True)
    early_stopping    True, 30       EarlyStopping(patience=30, watch="validation")
    penalty           L2(1.0)        WeightPenalty(l2=1.0, scaling="mean")
    initialise        "he-normal"    StartValues(theta, trainable=[-1])
    training                         Training(checkpoint="file", resume=True)

What stands on the left is short for a value on the right.  ``batch__size`` names one setting.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, final

import numpy as np

from likely.errors import InvalidInput
from likely.inputs.estimators import Settings
from likely.penalties.base import Penalty
from likely.solvers.mini_batches import BatchPlan

WATCHED = {True: "validation", False: "training"}


@final
@dataclass(frozen=True)
class Batches(Settings):
    """The rows of each step of training.

    Parameters
    ----------
    size : int, {"auto", "full"}, default="auto"
        Rows in a step; 1 is stochastic gradient descent by example.  ``auto`` is 32, and 128 from
        10,000 rows on.
    shuffle : bool, default=True
        Whether each epoch has a new order; else it is that of the rows.
    balanced : bool, default=False
        Whether every batch has the same number of rows of each class, to within one; rare ones are
        repeated.  ``fine_tune`` then restores the frequencies.  For classes only.

    Examples
    --------
    >>> from likely import Batches, NeuralNetworkClassifier
    >>> model = NeuralNetworkClassifier(batch=Batches(200, balanced=True))
    >>> model.set_params(batch__size=100).batch
    Batches(size=100, shuffle=True, balanced=True)
    """

    size: int | str = "auto"
    shuffle: bool = True
    balanced: bool = False

    @classmethod
    def of(cls, given: Any) -> Self:
        if isinstance(given, BatchPlan):
            raise InvalidInput(
                f"One setting of batch was given, and batch={given!r} has no other settings; "
                "Batches were expected. Give all of it, such as batch=Batches(200)."
            )
        return given if isinstance(given, cls) else cls(given)


@final
@dataclass(frozen=True)
class EarlyStopping(Settings):
    """When training ends because the loss no longer falls.

    Parameters
    ----------
    patience : int or "auto", default="auto"
        Epochs without a fall of the watched loss after which training ends.  ``auto`` is 10, and 30
        where ``solver="auto"`` takes Adam.
    watch : {"validation", "training", "auto"}, default="validation"
        The loss that is watched: of the validation rows, and the best epoch is restored, or of the
        training rows, and the last one is kept.  ``auto`` is "validation" where ``solver="auto"``
        takes Adam.

    Examples
    --------
    >>> from likely import EarlyStopping, NeuralNetworkClassifier
    >>> model = NeuralNetworkClassifier(early_stopping=True)
    >>> model.set_params(early_stopping__patience=20).early_stopping
    EarlyStopping(patience=20, watch='validation')
    """

    patience: int | str = "auto"
    watch: str = "validation"

    @classmethod
    def of(cls, given: Any) -> Self:
        if isinstance(given, bool | np.bool_):
            return cls(watch=WATCHED[bool(given)])
        if isinstance(given, int):
            return cls(patience=given)
        return given if isinstance(given, cls) else cls(watch=given)


@final
@dataclass(frozen=True)
class WeightPenalty(Settings):
    """The penalty l1·Σ|w| + ½·l2·Σw² on the weights of all layers, not the biases.

    Parameters
    ----------
    l1, l2 : float, default=0.0
        Strengths.
    scaling : {"sum", "mean", "epoch"}, default="sum"
        ``sum`` adds the penalty to the summed loss, as in every other model; ``mean`` to the mean
        loss; ``epoch`` to each batch by its share of the rows.

    Examples
    --------
    >>> from likely import NeuralNetworkRegressor, WeightPenalty
    >>> NeuralNetworkRegressor(penalty=WeightPenalty(l2=1e-4, scaling="mean")).penalty
    WeightPenalty(l1=0.0, l2=0.0001, scaling='mean')
    """

    l1: float = 0.0
    l2: float = 0.0
    scaling: str = "sum"

    @classmethod
    def of(cls, given: Any) -> Self:
        if isinstance(given, cls):
            return given
        if isinstance(given, Penalty):
            return cls(given.strengths.l1, given.strengths.l2)  # type: ignore[arg-type]  # checked
        return cls()


@final
@dataclass(frozen=True, eq=False)
class StartValues(Settings):
    """Where the parameters start, and which of them move.

    Parameters
    ----------
    values : str, array or sequence of pairs, default="auto"
        ``glorot-uniform``, ``glorot-normal``, ``he-uniform``, ``he-normal``, ``zeros`` (without
        hidden layers), ``auto`` (by the activation), one vector of all parameters, or a pair of
        weights and biases for each layer; ``(W, None)`` where it has no biases.
    trainable : sequence of int or None, default=None
        The layers that are trained, from 0; −1 is that of the output.  None trains all.

    Examples
    --------
    >>> from likely import NeuralNetworkClassifier, StartValues
    >>> NeuralNetworkClassifier(initialise=StartValues(trainable=[-1])).initialise
    StartValues(values='auto', trainable=[-1])
    """

    values: Any = "auto"
    trainable: Sequence[int] | None = None

    @classmethod
    def of(cls, given: Any) -> Self:
        return given if isinstance(given, cls) else cls(given)


@final
@dataclass(frozen=True)
class Training(Settings):
    """How training is followed and kept; the network that is learned does not depend on it.

    Parameters
    ----------
    callbacks : function, sequence of functions or None, default=None
        Called with an ``Epoch`` (number, loss, validation, rate, seconds, theta) after each epoch;
        training ends where one returns True.  ``set_callbacks`` takes those of scikit-learn.
    checkpoint : path or None, default=None
        A file that is written after each epoch, whole or not at all; of several networks, one each:
        ``checkpoint.1``, ``checkpoint.2``, ….
    resume : path, bool or None, default=None
        A checkpoint to continue from, bit for bit; True is that of ``checkpoint``, if it exists.
    evaluate : bool, default=True
        Whether the training loss is computed after each epoch; else the mean of its batches, each
        before its step, is recorded, which costs nothing.

    Examples
    --------
    >>> from likely import NeuralNetworkClassifier, Training
    >>> keep = Training(checkpoint="churn.checkpoint", resume=True)
    >>> NeuralNetworkClassifier(training=keep).training.resume
    True
    """

    callbacks: Any = None
    checkpoint: Any = None
    resume: Any = None
    evaluate: bool = True

    @classmethod
    def of(cls, given: Any) -> Self:
        return given if isinstance(given, cls) else cls()

    @property
    def is_kept(self) -> bool:
        """Whether checkpoints are written or read."""
        return self.checkpoint is not None or bool(self.resume)

    @property
    def is_followed(self) -> bool:
        """Whether someone follows the epochs, which are those of one network then."""
        return any(each is not None for each in (self.callbacks, self.checkpoint, self.resume))


GROUPED: Mapping[str, type[Settings]] = {
    "batch": Batches,
    "early_stopping": EarlyStopping,
    "penalty": WeightPenalty,
    "initialise": StartValues,
    "training": Training,
}


def grouped_arguments(flat: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a model file that was written when each setting was an argument.

    >>> grouped_arguments({"batch": 32, "shuffle": False, "patience": "auto"})
    {'penalty': None, 'training': None, 'batch': Batches(size=32, shuffle=False, balanced=False)}
    """
    old = {"penalty": None, "training": None, **flat}
    shuffle, balanced = old.pop("shuffle", True), old.pop("balanced", False)
    patience, scaling = old.pop("patience", "auto"), old.pop("penalty_scaling", "sum")
    trainable = old.pop("trainable", None)
    training = Training(
        old.pop("callbacks", None),
        old.pop("checkpoint", None),
        old.pop("resume", None),
        old.pop("evaluate_training", True),
    )
    if (shuffle, balanced) != (True, False) and isinstance(old.get("batch"), int | str):
        old["batch"] = Batches(old["batch"], shuffle, balanced)
    if patience != "auto":
        watched = EarlyStopping.of(old.get("early_stopping", "auto")).watch
        old["early_stopping"] = EarlyStopping(patience, watched)
    if scaling != "sum":
        old["penalty"] = WeightPenalty.of(old.get("penalty")).changed({"scaling": scaling})
    if trainable is not None:
        old["initialise"] = StartValues(old.get("initialise", "auto"), trainable)
    return old if training == Training() else {**old, "training": training}
