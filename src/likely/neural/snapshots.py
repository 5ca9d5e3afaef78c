"""A network at its start and after each epoch of one training, each a model of its own."""

from copy import copy
from typing import Any

import numpy as np
from sklearn.base import clone

from likely._typing import Array
from likely.neural.average import refuse_several
from likely.neural.training.loop import Epoch
from likely.neural.training.options import check_callbacks


def epoch_snapshots(model: Any, X: Any, y: Any, validation: Any) -> list[Any]:
    """Train a copy of the model on these rows; the copy at its start, and after each epoch.

    With validation rows, they judge the training.  All have the dispersion of the end.
    """
    model = clone(model)
    refuse_several(model, "a record of its epochs")
    path = list[Array]()

    def record(epoch: Epoch) -> None:
        path.append(np.array(epoch.theta))

    own = {"n_networks": 1} | ({} if validation is None else {"validation": validation})
    called = (*check_callbacks(model.callbacks), record)
    fitted = clone(model).set_params(**own, callbacks=called).fit(X, y)
    start = clone(model).set_params(**own, max_epochs=0, tol=None, callbacks=None).fit(X, y)
    return [_at(fitted, start.parameters_), *(_at(fitted, theta) for theta in path)]


def _at(fitted: Any, theta: Array) -> Any:
    """The fitted network with other parameters."""
    found = copy(fitted)
    found.parameters_ = theta
    return found
