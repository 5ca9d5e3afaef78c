"""What the verbs of the command line do, as functions of a request, with progress as events.

Each verb parses its options, calls one of these functions, and prints the result.  The functions
tell of their progress by events, which ``listening`` hands to a listener, and which ``start`` gives
one by one, of a task that runs in a thread and can be stopped.

>>> from likely import tasks
>>> running = tasks.start(lambda: tasks.train("iris", model="naive-bayes"))
>>> [event.what for event in running if isinstance(event, tasks.StageStarted)]
['scoring naive-bayes', 'fitting naive-bayes', 'measuring what the columns do']
>>> running.result().score.metric
'log-loss'
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from likely.output.progress import (
        ModelScored,
        ProgressStep,
        StageEnded,
        StageStarted,
        listening,
    )
    from likely.reports.report import report
    from likely.runs.seal_surface import open_seal, seal
    from likely.tasks.final_run import Evaluated, final
    from likely.tasks.prediction_run import Predictions, predict
    from likely.tasks.row_explanations import ExplainedRows, ExplainedTexts, explain
    from likely.tasks.running import Running, start
    from likely.tasks.training_run import Trained, train
    from likely.workbench.comparison.comparison import compare
    from likely.workbench.curves.curves import learning_curve
    from likely.workbench.look.look import look
    from likely.workbench.search.tune import tune

__all__ = [
    "Evaluated",
    "ExplainedRows",
    "ExplainedTexts",
    "ModelScored",
    "Predictions",
    "ProgressStep",
    "Running",
    "StageEnded",
    "StageStarted",
    "Trained",
    "compare",
    "explain",
    "final",
    "learning_curve",
    "listening",
    "look",
    "open_seal",
    "predict",
    "report",
    "seal",
    "start",
    "train",
    "tune",
]

_HOME = {
    "Evaluated": "likely.tasks.final_run",
    "ExplainedRows": "likely.tasks.row_explanations",
    "ExplainedTexts": "likely.tasks.row_explanations",
    "ModelScored": "likely.output.progress",
    "ProgressStep": "likely.output.progress",
    "Running": "likely.tasks.running",
    "StageEnded": "likely.output.progress",
    "StageStarted": "likely.output.progress",
    "final": "likely.tasks.final_run",
    "listening": "likely.output.progress",
    "start": "likely.tasks.running",
}


def __getattr__(name: str) -> object:
    """The public name, imported now: the command line imports this room before it needs a task."""
    if name not in __all__:
        raise AttributeError(f"module 'likely.tasks' has no attribute {name!r}")
    if name not in _HOME:
        return getattr(import_module("likely"), name)
    return getattr(import_module(_HOME[name]), name)
