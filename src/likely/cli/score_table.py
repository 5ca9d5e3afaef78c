"""The score of held-out rows as a table for the terminal, with what should be known about it."""

from collections.abc import Sequence
from math import isfinite

from likely.cli.show import table, wrapped
from likely.formatting import count, estimate_cells
from likely.metrics import Estimate, Score
from likely.metrics.score import CONSTANT, title_of

SHOWN = (
    "log-loss",
    "accuracy",
    "auc",
    "auc-approximate",
    "brier",
    "ranked-probability",
    "rank-error",
    "log-likelihood",
)
MOST_SHOWN = 6  # JSON has all
GAIN = "gain per row"
MEDIAN = "The baseline of the mean absolute error is the median; that of the others is the mean."


def score_text(score: Score | None, *, moved: bool = False) -> list[str]:
    """The table and a paragraph; ``moved`` where offsets move the best constant."""
    if score is None:
        return ["The model was fitted to all rows."]
    names = sorted(score.estimates, key=lambda name: name not in SHOWN)[:MOST_SHOWN]
    rows = [[title_of(name), *_cells(score.estimates[name])] for name in names]
    rows.append([GAIN, *_cells(score.gain)[:2], ""])
    first = "on held-out rows" if score.folds is None else "by cross-validation"
    about = f" {MEDIAN}" if "mae" in names and not moved else ""
    told = f"{_how(score)} The model was then fitted to all rows.{_why_dashes(score, names)}{about}"
    return [table([first, "", "95 % interval", "baseline"], rows), wrapped(told)]


def score_findings(score: Score | None, n_rows: int | None) -> tuple[str, ...]:
    """That there is no score, or that the model is not shown to be better than the constant."""
    if score is None:
        rows = "too few rows" if n_rows is None else f"only {count(n_rows, 'row')}"
        return (f"There are {rows}, too few to hold some out, so there is no honest score.",)
    if score.better_than_constant:
        return ()
    what = "" if score.beside == CONSTANT else f" ({score.beside})"
    return (f"On these rows the model is not shown to be better than the baseline{what}.",)


def _how(score: Score) -> str:
    if score.folds is None:
        return f"Scored on {count(score.n_rows, 'row')} that this fit did not see."
    groups = ""
    if score.n_groups is not None:
        groups = f", in {count(score.n_groups, 'group')} of {score.group}"
    return (
        f"Each of {count(score.n_rows, 'row')} was predicted by a fit that had not seen it "
        f"({score.how}); intervals are of these rows together{groups}."
    )


def _cells(found: Estimate) -> list[str]:
    """Value, interval and baseline; a dash in place of what is not finite."""
    known = found.value if isfinite(found.value) else None
    return estimate_cells(known, found.low, found.high, found.constant)


def _why_dashes(score: Score, names: Sequence[str]) -> str:
    gone = [title_of(name) for name in names if not isfinite(score.estimates[name].value)]
    if not gone:
        return ""
    return (
        f" – for {', '.join(gone)}: infinite, because a predicted mean is 0 or below, or a value "
        "that occurs has probability 0."
    )
