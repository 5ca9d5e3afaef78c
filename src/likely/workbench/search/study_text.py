"""How a study prints: the verdict, the best trials, and what the outer folds chose."""

from html import escape
from typing import TYPE_CHECKING, Any

from likely.workbench.score_text import score_text
from likely.workbench.search.exploration import FINISHED, best_of
from likely.workbench.search.strategies import ranked

if TYPE_CHECKING:
    from likely.spaces import Parameters
    from likely.workbench.search.study import Study
    from likely.workbench.search.trials import Trial

MOST_TRIALS = 8  # shown of a search


def text_of(study: "Study") -> str:
    parts = [*sentences(study), "", *_table(trial_rows(study))]
    if study.outer:
        parts += ["", "What each outer fold chose:", *_table(outer_rows(study))]
    return "\n".join(parts)


def html_of(study: "Study") -> str:
    said = "".join(f"<p style='margin:.3em 0'>{escape(each)}</p>" for each in sentences(study))
    outer = ""
    if study.outer:
        outer = "<p style='margin:.6em 0 .2em'>What each outer fold chose:</p>"
        outer += _html_table(outer_rows(study))
    body = f"{said}{_html_table(trial_rows(study))}{outer}"
    return f"<div style='font-size:.95em;overflow-x:auto'>{body}</div>"


def sentences(study: "Study") -> list[str]:
    """The verdict, with the reservation that a best score deserves."""
    question, title = study.question, study.metric.title
    title = title[0].upper() + title[1:]
    best = best_of(study.trials, study.metric.better)
    if best is None:
        return [f"{question.model}: none of {len(study.trials)} trials has a score yet."]
    scored = [trial for trial in study.trials if trial.score is not None]
    found = [
        f"{question.model}: {title} {_score(study.best_score_, study.best_interval_)} by "
        f"{question.objective.n_folds}-fold cross-validation on "
        f"{question.objective.table.num_rows:,} rows; best constant {score_text(study.constant)}. "
        "Its interval is of the held-out rows alone.",
        f"Best of {len(scored)} trials ({question.search.name}, seed {question.plan.seed}): "
        f"{settings_of(best.parameters)}.",
    ]
    found += _rounds(study)
    if study.outer:
        found.append(_nested_sentence(study, title))
    elif len(scored) > 1:
        found.append(
            "Chosen for being best, that score is too good; a nested search gives an honest one."
        )
    failed = len(study.trials) - len(scored)
    if failed:
        first = next(trial for trial in study.trials if trial.score is None)
        found.append(f"Without a score: {failed}. The first said: {first.problem}")
    return found + _remarks(study)


def settings_of(parameters: "Parameters") -> str:
    shown = ", ".join(f"{name}={_value(value)}" for name, value in parameters.items())
    return shown or "as it is"


def trial_rows(study: "Study") -> list[list[str]]:
    """A head and the best trials, those on the most rows first."""
    names = study.settings
    partial = any(trial.share != 1.0 for trial in study.trials)
    head = ["trial", study.metric.title, "95 %", *names, *(["rows"] if partial else []), "seconds"]
    order = ranked(study.trials, study.metric.better)
    best = sorted(order, key=lambda trial: -trial.share)[:MOST_TRIALS]
    return [head, *(_trial_row(trial, names, partial=partial) for trial in best)]


def outer_rows(study: "Study") -> list[list[str]]:
    names = study.question.space.names
    rows = [["fold", study.metric.title, "95 %", "promised", "constant", *names]]
    for each in study.outer:
        numbers = [score_text(each.promised), score_text(each.constant)]
        chosen = [_value(each.parameters.get(name, "")) for name in names]
        ends = _interval(each.low, each.high)
        rows.append([str(each.fold), score_text(each.score), ends, *numbers, *chosen])
    return rows


def _rounds(study: "Study") -> list[str]:
    """How many settings were tried on which share of the rows, and how well the best did."""
    searched = [trial for trial in study.trials if trial.number >= 0]
    shares = sorted({trial.share for trial in searched})
    if len(shares) < 2:
        return []
    parts = []
    for share in shares:
        trials = [trial for trial in searched if trial.share == share]
        best = best_of(trials, study.metric.better)
        reached = "none has a score" if best is None else f"best {score_text(best.mean)}"
        rows = "all" if share == 1.0 else f"{share:.0%}"
        parts.append(f"{len(trials)} on {rows} ({reached})")
    return [f"Rounds, by share of the training rows: {', '.join(parts)}."]


def _nested_sentence(study: "Study", title: str) -> str:
    n, wanted = len(study.outer), study.question.nested
    folds = f"{n} outer folds" if n == wanted else f"{n} of {wanted} outer folds"
    promised = sum(each.promised for each in study.outer) / n
    return (
        f"Nested: {title} {_score(study.nested_score_, study.nested_interval_)} over {folds}, "
        f"whose rows took no part in the choice; the searches inside had promised "
        f"{score_text(promised)}."
    )


def _remarks(study: "Study") -> list[str]:
    found = []
    best = best_of(study.trials, study.metric.better)
    if best is not None and best.number < 0:
        nested = " The nested score is of the search without them." if study.outer else ""
        found.append(f"The best settings were added by hand.{nested}")
    warned = [trial for trial in study.trials if trial.score and trial.score.warnings]
    if warned:
        said = warned[0].score.warnings[0] if warned[0].score else ""
        found.append(f"Fits that warned: {len(warned)}. The first said: {said}")
    if study.stopped != FINISHED:
        where = "" if study.folder is None else f" in {study.folder}"
        found.append(f"The search is not over ({study.stopped}){where}; resume() goes on.")
    return found


def _trial_row(trial: "Trial", names: list[str], *, partial: bool) -> list[str]:
    chosen = [_value(trial.parameters.get(name, "")) for name in names]
    share = [f"{trial.share:.0%}"] if partial else []
    if trial.score is None:
        return [str(trial.number), "failed", "", *chosen, *share, ""]
    score = trial.score
    ends = _interval(score.low, score.high)
    shown = [str(trial.number), score_text(score.mean), ends]
    return [*shown, *chosen, *share, f"{score.seconds:.2f}"]


def _score(value: float, ends: tuple[float, float]) -> str:
    return f"{score_text(value)} ({_interval(*ends)})"


def _interval(low: float, high: float) -> str:
    return f"{score_text(low)} to {score_text(high)}"


def _value(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _table(rows: list[list[str]]) -> list[str]:
    widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    return ["  ".join(cell.rjust(w) for cell, w in zip(row, widths, strict=True)) for row in rows]


def _html_table(rows: list[list[str]]) -> str:
    def cells(row: list[str], tag: str) -> str:
        style = "text-align:right;padding:.15em .7em"
        return "".join(f"<{tag} style='{style}'>{escape(cell)}</{tag}>" for cell in row)

    body = "".join(f"<tr style='background:none'>{cells(row, 'td')}</tr>" for row in rows[1:])
    return (
        "<table style='border-collapse:collapse;color:inherit'><thead>"
        f"<tr style='background:none'>{cells(rows[0], 'th')}</tr></thead>"
        f"<tbody>{body}</tbody></table>"
    )
