"""Callbacks in scikit-learn's way: a task for the fit, and one inside it for each epoch.

``ProgressBar`` and ``ScoringMonitor`` of ``sklearn.callback`` are set by ``set_callbacks``.
"""

from typing import Any

import numpy as np

from likely.neural.training.loop import Callback, Epoch


def scikit_learn_callbacks(
    model: Any, learned: dict[str, Any], X: Any, y: Any
) -> tuple[Callback, ...]:
    """The callbacks that were set in scikit-learn's way, as one that is called with each epoch."""
    context = model._init_callback_context(max_subtasks=int(model.max_epochs))
    if not vars(model).get("_skl_callbacks"):
        return ()
    context.call_on_fit_task_begin(estimator=model, X=X, y=y)

    def after(epoch: Epoch) -> bool:
        part = context.subcontext(task_name="epoch")
        part.call_on_fit_task_begin(estimator=model, X=X, y=y)
        fitted = {**learned, "parameters_": np.array(epoch.theta)}
        return bool(
            part.call_on_fit_task_end(estimator=model, X=X, y=y, reconstruction_attributes=fitted)
        )

    return (after,)


def end_of_fit(model: Any, X: Any, y: Any) -> None:
    """Tell the callbacks of scikit-learn that the fit is done."""
    if vars(model).get("_skl_callbacks"):
        fitted = {name: value for name, value in vars(model).items() if name.endswith("_")}
        model._callback_fit_ctx.call_on_fit_task_end(
            estimator=model, X=X, y=y, reconstruction_attributes=fitted
        )
