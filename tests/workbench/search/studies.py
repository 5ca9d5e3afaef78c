"""A small study, and what of it must come out again."""

from typing import Any

from likely.workbench.search.study import Study

SMALL: dict[str, Any] = {"trials": 3, "folds": 2, "nested": 2, "executor": "serial"}


def timeless(trials: Any) -> Any:
    return [
        (t.number, t.parameters, t.share, t.problem, t.score and t.score._replace(seconds=0.0))
        for t in trials
    ]


def answers(study: Study) -> Any:
    """All that must not depend on how often it was interrupted: no times."""
    return (
        timeless(study.trials),
        study.outer,
        study.best_parameters_,
        study.best_score_,
        study.stopped,
    )
