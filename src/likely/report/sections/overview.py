"""Several runs side by side: what training rows say of each, and what sealed rows say.

The two are never in one column: a score that chose the settings is too good, and a run that was
never opened must not look best for it.
"""

from collections.abc import Sequence

from likely.formatting import DASH, capitalised, count, estimate_cells, percent_level
from likely.metrics import METRICS, Estimate
from likely.metrics.score import title_of
from likely.report.section import Table
from likely.report.sections.broken_ledger import warning_of
from likely.report.sections.scores import folds_of, score_of_run
from likely.report.sections.verdict import verdict_of
from likely.runs.folder import RunFacts

AS_LOSS = "negative log-likelihood"  # of sealed rows: there every score is a loss
HEAD = ("run", "model", "score", "sealed rows", "baseline", "training rows", "baseline")
CAPTION = (
    "Choose a run by its training rows, each held out from the fit that is scored. Sealed rows are "
    "for the run that was chosen, and not for choosing: a score by which a run was chosen is "
    "optimistic."
)


def overview(runs: Sequence[RunFacts]) -> Table:
    rows = tuple(map(_row, runs))
    return Table(HEAD, rows, left=4, words=frozenset({5}), caption=CAPTION)


def _row(facts: RunFacts) -> tuple[str, ...]:
    first = (facts.name, str(facts.run.get("model", "")))
    found = verdict_of(facts)
    if found is None:
        return (*first, "No score", *_sealed(facts), DASH, DASH)
    metric = capitalised(found.metric)
    return (*first, metric, *_sealed(facts), *_held_out(facts, found.metric))


def _held_out(facts: RunFacts, title: str) -> tuple[str, str]:
    """By the metric of the sealed rows where it can be had, with what kind of score it is."""
    found = _estimate(facts, title)
    if found is None:
        return DASH, DASH
    value, ends, constant = estimate_cells(found.value, found.low, found.high, found.constant)
    return f"{value} (95 % interval {ends}); {_how(facts)}", constant


def _estimate(facts: RunFacts, title: str) -> Estimate | None:
    """Of training rows while they were held out; nested, where that was asked for."""
    as_loss = title == AS_LOSS
    shown = METRICS["log-likelihood"].title if as_loss else title
    score = score_of_run(facts)
    estimates = {} if score is None else score.estimates
    name = next((each for each in estimates if title_of(each) == shown), None)
    if name is None:
        return None
    value, low, high, constant = estimates[name]
    study = facts.study or {}
    if study.get("nested") and name == study.get("metric"):
        value, low, high = (study["nested"][key] for key in ("value", "low", "high"))
    if not as_loss:
        return Estimate(value, low, high, constant)
    return Estimate(-value, -high, -low, -constant)


def _how(facts: RunFacts) -> str:
    """What kind of score the held-out one is."""
    study, score = facts.study, score_of_run(facts)
    if study is not None and study.get("nested"):
        return "nested"
    if score is not None and score.folds is not None:
        how = f"cross-validated, {folds_of(facts, score)}"
    else:
        how = "one part held out"
    if study is None:
        return how
    return f"{how}, best of {count(len(study['trials']), 'trial')}"


def _sealed(facts: RunFacts) -> tuple[str, str]:
    """The look at the sealed rows, or that there was none."""
    final = facts.final
    if final is None:
        return ("not opened" if facts.run.get("seal") else "none sealed"), DASH
    numbers = (final[key] for key in ("value", "low", "high", "constant"))
    value, ends, constant = estimate_cells(*numbers)
    level = percent_level(final.get("level", 0.95))
    own = "" if final.get("of_this_model", True) else ", of an earlier model"
    evaluation = f"evaluation {final['look']} of {final['budget']}"
    broken = "" if warning_of(facts) is None else "; ledger broken"
    return f"{value} ({level} interval {ends}); {evaluation}{own}{broken}", constant
