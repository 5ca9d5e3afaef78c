"""A study as text for the terminal and as HTML for the notebook.

A study in the types of JSON, as a RUN keeps it and the report reads it.
"""

from math import isfinite
from typing import TYPE_CHECKING, Any

from likely.numerics.intervals import NO_ESTIMATE
from likely.output.formatting import (
    capitalised,
    count,
    estimate_cells,
    estimate_compared,
    html_block,
    html_paragraph,
    html_table,
    number,
    percent,
    percent_level,
    setting,
    text_table,
)
from likely.workbench.look.look import about_scores
from likely.workbench.search.choice import EQUAL
from likely.workbench.search.exploration import FINISHED, best_of
from likely.workbench.search.strategies import ranked

if TYPE_CHECKING:
    from likely.spaces import Parameters
    from likely.workbench.search.choice import Chosen, OuterFold
    from likely.workbench.search.study import Study
    from likely.workbench.search.trials import Trial

MOST_TRIALS = 8  # shown of a search
OUTER = "Chosen by each outer fold:"
ENDS = "95 % interval"
DEFAULT = "default"  # the trial with the model's own settings


def text_of(study: "Study") -> str:
    head, *rows = trial_rows(study)
    parts = [*sentences(study), "", *text_table(head, rows, words=(), indent=0)]
    if study.outer:
        head, *rows = outer_rows(study)
        parts += ["", OUTER, *text_table(head, rows, words=(), indent=0)]
    return "\n".join(parts)


def html_of(study: "Study") -> str:
    head, *rows = trial_rows(study)
    parts = [*map(html_paragraph, sentences(study)), html_table(head, rows, words=())]
    if study.outer:
        head, *rows = outer_rows(study)
        parts += [html_paragraph(OUTER), html_table(head, rows, words=())]
    return html_block(*parts)


def sentences(study: "Study") -> list[str]:
    """The result, with a note that the best score is optimistic."""
    question, title = study.question, capitalised(study.metric.title)
    choice = study.choice_
    if choice is None:
        return [f"{question.model}: none of {len(study.trials)} trials has a score yet."]
    scored = [trial for trial in study.trials if trial.score is not None]
    low, high = study.best_interval_
    value, ends, constant = estimate_cells(study.best_score_, low, high, study.baseline)
    folds = question.objective.folds.of_repeat(0)
    n_held = sum(len(fold.test) for fold in folds)  # by time, the first rows are in no fold
    repeats = question.objective.folds.repeats
    again = f", repeated {repeats} times," if repeats > 1 else ""
    found = [
        f"{question.model}: {title} {value} ({ENDS} {ends}) by {question.objective.n_folds}-fold "
        f"cross-validation{again} on {count(n_held, 'row')}. "
        f"Baseline (constant): {constant}.",
        choice_text(study, choice),
    ]
    found += [*_rounds(study), *about_scores(question.objective.rows)]
    if study.outer:
        found.append(_nested_sentence(study, title))
    elif len(scored) > 1 and not choice.is_default:
        found.append(
            "The best of several trials has an optimistic score; a nested search (nested=5, "
            "--nested 5) gives an unbiased one."
        )
    stopped = [trial for trial in study.trials if trial.stopped]
    if stopped:
        found.append(
            f"Stopped early, as worse than the median of the earlier trials: {len(stopped)} of "
            f"{count(len(study.trials), 'trial')}."
        )
    failed = [trial for trial in study.tried if trial.score is None and not trial.stopped]
    if failed:
        reason = f"Reason for the first: {failed[0].problem}"
        found.append(f"Trials without a score: {len(failed)}. {reason}")
    return found + _remarks(study)


def choice_text(study: "Study", choice: "Chosen") -> str:
    """Which settings are chosen, and why: the rule where it does not choose the plain minimum."""
    question, settings = study.question, settings_of(choice.trial.parameters)
    n_scored = sum(trial.score is not None for trial in study.trials)
    tried = f"{count(n_scored, 'trial')} ({question.search.name}, seed {question.plan.seed})"
    if not choice.is_default:
        text = f"Best of {tried}: {settings}."
        if choice.default is not None:
            text += f" It is better than the default by {_gain_text(choice)}."
    elif choice.best.proposal.key != choice.trial.proposal.key and choice.gain > 0:
        text = (
            f"The default settings are kept: {settings}. The best of {tried}, trial "
            f"{choice.best.number}, is better by {_gain_text(choice)}; more than one standard "
            "error was expected."
        )
    elif study.beside is not None or choice.best is not choice.trial:
        text = f"The default settings are kept: {settings}. None of {tried} is better."
    else:
        text = f"The default settings are the best of {tried}: {settings}."
    return " ".join([text, *_near_tie(study, choice)])


def _near_tie(study: "Study", choice: "Chosen") -> list[str]:
    """The rule of near ties, where the best is not the plain minimum."""
    best, minimum, metric = choice.best, choice.minimum, study.metric
    lowest = "lowest" if metric.better == "lower" else "highest"
    worse = minimum.value > best.value if metric.better == "lower" else minimum.value < best.value
    if best is minimum or worse:  # worse: the default beside a grid is better than all of it
        return []
    names = [
        "the default" if each is choice.default else f"trial {each.number}"
        for each in (minimum, best)
    ]
    own = "the same" if best.value == minimum.value else f"{best.value:.6g}"
    return [
        f"The {lowest} {metric.title} is that of {names[0]}, {minimum.value:.6g}; {names[1]} has "
        f"{own}. Scores that differ by at most {percent_level(EQUAL)} of the width of the interval "
        "count as equal, and of such trials the most penalised or smallest model is taken."
    ]


def _gain_text(choice: "Chosen") -> str:
    error = f" (standard error {number(choice.error)})" if isfinite(choice.error) else ""
    return f"{number(choice.gain)}{error}"


def settings_of(parameters: "Parameters") -> str:
    shown = ", ".join(f"{name}={setting(value)}" for name, value in parameters.items())
    return shown or "default settings"


def trial_rows(study: "Study") -> list[list[str]]:
    """A head and the best trials, those on the most rows first."""
    names = study.settings
    partial = any(trial.share != 1.0 for trial in study.tried)
    head = ["trial", study.metric.title, ENDS, *names, *(["rows"] if partial else []), "seconds"]
    order = ranked(study.tried, study.metric.better)
    best = sorted(order, key=lambda trial: -trial.share)
    usual, choice = study.default_trial_, study.choice_
    first = [] if choice is None else [choice.trial]
    if usual is not None and usual not in first and best.index(usual) >= MOST_TRIALS:
        best.insert(MOST_TRIALS - 1, usual)  # it is always shown
    rows = [*first, *(trial for trial in best if trial not in first)][:MOST_TRIALS]
    return [head, *(_trial_row(trial, names, usual, partial=partial) for trial in rows)]


def outer_rows(study: "Study") -> list[list[str]]:
    names = study.question.space.names
    head = ["fold", study.metric.title, ENDS, "baseline", "inner estimate", *names]
    rows = [head]
    for each in study.outer:
        numbers = estimate_cells(*each.score, each.cv_estimate)
        chosen = [setting(each.parameters.get(name, "")) for name in names]
        rows.append([str(each.fold), *numbers, *chosen])
    return rows


def _rounds(study: "Study") -> list[str]:
    """How many settings were tried on each share of the rows, and the best score of each."""
    searched = [trial for trial in study.trials if trial.number >= 0]
    shares = sorted({trial.share for trial in searched})
    if len(shares) < 2:
        return []
    parts = []
    for share in shares:
        trials = [trial for trial in searched if trial.share == share]
        best = best_of(trials, study.metric.better)
        reached = "none has a score" if best is None else f"best {number(best.value)}"
        rows = "all" if share == 1.0 else percent(share)
        parts.append(f"{len(trials)} on {rows} ({reached})")
    return [f"Rounds, by share of the training rows: {', '.join(parts)}."]


def _nested_sentence(study: "Study", title: str) -> str:
    n, planned = len(study.outer), study.question.nested
    folds = f"{n} outer folds" if n == planned else f"{n} of {planned} outer folds"
    inner_mean = sum(each.cv_estimate for each in study.outer) / n
    value, inner = estimate_compared(
        study.nested_score_, *study.nested_interval_, inner_mean, level=0.95
    )
    return (
        f"Nested cross-validation: {title} {value} over {folds} (unbiased). Mean score inside the "
        f"searches: {inner}."
    )


def _remarks(study: "Study") -> list[str]:
    found = []
    choice = study.choice_
    if choice is not None and choice.trial.number < 0:
        nested = " The nested score is that of the search without them." if study.outer else ""
        found.append(f"The best settings were added by hand.{nested}")
    warned = [trial for trial in study.tried if trial.score and trial.score.warnings]
    if warned:
        first = warned[0].score.warnings[0] if warned[0].score else ""
        found.append(f"Trials with warnings: {len(warned)}. The first: {first}")
    if study.stopped != FINISHED:
        where = "" if study.folder is None else f" in {study.folder}"
        found.append(f"The search is not finished ({study.stopped}){where}; resume() continues it.")
    return found


def _trial_row(
    trial: "Trial", names: list[str], default: "Trial | None", *, partial: bool
) -> list[str]:
    usual = default is not None and trial.parameters == default.parameters
    called = DEFAULT if usual else str(trial.number)
    chosen = [setting(trial.parameters.get(name, "")) for name in names]
    share = [percent(trial.share)] if partial else []
    if trial.score is None:
        word = "stopped" if trial.stopped else "failed"
        return [called, word, "", *chosen, *share, ""]
    score = trial.score
    numbers = estimate_cells(*score.estimate[:3])
    return [called, *numbers, *chosen, *share, f"{score.seconds:.2f}"]


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
