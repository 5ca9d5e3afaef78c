"""A study in the types of JSON, as a RUN keeps it and the report reads it."""

from typing import TYPE_CHECKING, Any

from likely.intervals import NO_ESTIMATE
from likely.workbench.search.study_text import choice_text

if TYPE_CHECKING:
    from likely.workbench.search.choice import Chosen
    from likely.workbench.search.nested import OuterFold
    from likely.workbench.search.study import Study
    from likely.workbench.search.trials import Trial


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
        "trials": [_trial_facts(trial, default) for trial in study.trials],
        "beside": None if study.beside is None else _trial_facts(study.beside, default),
        "best": {
            "number": study.best_trial_.number,
            "parameters": study.best_parameters_,
            "value": study.best_score_,
        },
        "choice": None if choice is None else _choice_facts(study, choice),
        "baseline": study.baseline,
        "nested": nested if study.outer else None,
        "outer": [_fold_facts(fold) for fold in study.outer],
    }


def _trial_facts(trial: "Trial", default: "Trial | None") -> dict[str, Any]:
    return {
        "number": trial.number,
        "default": trial is default,
        "parameters": trial.parameters,
        "share": trial.share,
        **(trial.score.estimate if trial.score else NO_ESTIMATE).to_json(),
        "seconds": None if trial.score is None else trial.score.seconds,
        "problem": trial.problem,
        "stopped": trial.stopped,
    }


def _choice_facts(study: "Study", choice: "Chosen") -> dict[str, Any]:
    return {
        "default_kept": choice.is_default,
        "best_number": choice.best.number,
        "minimum_number": choice.minimum.number,
        "minimum_value": choice.minimum.value,
        "gain": choice.gain,
        "standard_error": choice.error,
        "text": choice_text(study, choice),
    }


def _fold_facts(fold: "OuterFold") -> dict[str, Any]:
    return {
        "fold": fold.fold,
        "parameters": fold.parameters,
        "cv_estimate": fold.cv_estimate,
        **fold.score.to_json(),
    }
