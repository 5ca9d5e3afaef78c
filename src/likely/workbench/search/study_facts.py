"""A study in the types of JSON, as a RUN keeps it and the report reads it."""

from typing import TYPE_CHECKING, Any

from likely.intervals import NO_ESTIMATE

if TYPE_CHECKING:
    from likely.workbench.search.study import Study


def study_facts(study: "Study") -> dict[str, Any]:
    """The content of ``study.json`` in a RUN, which the report reads."""
    nested = {"value": study.nested_score_, "interval": study.nested_interval_}
    default, choice = study.default_trial_, study.choice_
    return {
        "model": study.question.model,
        "metric": study.metric.name,
        "better": study.metric.better,
        "search": study.question.search.name,
        "stopped": study.stopped,
        "trials": [
            {
                "number": trial.number,
                "default": trial is default,
                "parameters": trial.parameters,
                "share": trial.share,
                **(trial.score.estimate if trial.score else NO_ESTIMATE).to_json(),
                "seconds": None if trial.score is None else trial.score.seconds,
                "problem": trial.problem,
                "stopped": trial.stopped,
            }
            for trial in study.trials
        ],
        "best": {
            "number": study.best_trial_.number,
            "parameters": study.best_parameters_,
            "value": study.best_score_,
        },
        "choice": None
        if choice is None
        else {
            "default_kept": choice.is_default,
            "best_number": choice.best.number,
            "gain": choice.gain,
            "standard_error": choice.error,
        },
        "baseline": study.baseline,
        "nested": nested if study.outer else None,
        "outer": [
            {
                "fold": each.fold,
                "parameters": each.parameters,
                "cv_estimate": each.cv_estimate,
                **each.score.to_json(),
            }
            for each in study.outer
        ],
    }
