"""Several runs side by side: their scores on held-out training rows and on sealed rows.

They have separate columns: a score by which settings were chosen is optimistic, and must
not be compared with one on sealed rows.
"""

from collections.abc import Sequence

from likely.formatting import (
    DASH,
    capitalised,
    count,
    estimate_cells,
    estimate_compared,
    percent_level,
)
from likely.metrics import Estimate
from likely.metrics.losses import LOSSES
from likely.reports.section import TableBlock
from likely.reports.sections.ledger import badge_of, warning_of
from likely.reports.sections.scores import folds_of, score_of_run
from likely.reports.sections.verdict import verdict_of
from likely.runs.folder import RunFacts
from likely.sealing.final_score import FinalScore, upwards

HEAD = ("run", "model", "score", "sealed rows", "baseline", "training rows", "baseline")
CAPTION = (
    "Choose a run by its score on held-out training rows, and use the sealed rows only for the "
    "chosen run: a score that was used for choosing is optimistic."
)


def overview(runs: Sequence[RunFacts]) -> TableBlock:
    rows = tuple(map(_row, runs))
    return TableBlock(HEAD, rows, left=4, words=frozenset({5}), caption=CAPTION)


def _row(facts: RunFacts) -> tuple[str, ...]:
    first = (facts.name, str(facts.run.get("model", "")))
    found = verdict_of(facts)
    if found is None:
        return (*first, "No score", *_sealed(facts), DASH, DASH)
    return (*first, capitalised(found.title), *_sealed(facts), *_held_out(facts))


def _held_out(facts: RunFacts) -> tuple[str, str]:
    """The held-out score and its baseline, by the metric of the sealed rows if possible."""
    found = _estimate(facts)
    if found is None:
        return DASH, DASH
    value, constant = estimate_compared(*found, level=0.95)
    return f"{value}; {_how(facts)}", constant


def _estimate(facts: RunFacts) -> Estimate | None:
    """The score of held-out training rows; the nested one if there is one."""
    score = score_of_run(facts)
    if score is None:
        return None
    name, loss = score.metric, None
    if facts.final is not None:  # sealed rows are scored by a loss
        name = str(facts.final["metric"])
        loss = LOSSES.get(name)
        name = name if loss is None else loss.metric.name
    if name not in score.estimates:
        return None
    found, study = score.estimates[name], facts.study or {}
    if study.get("nested") and name == study.get("metric"):
        low, high = study["nested"]["interval"]
        found = found._replace(value=study["nested"]["value"], low=low, high=high)
    return found if loss is None else upwards(loss.name, loss.of(found))


def _how(facts: RunFacts) -> str:
    """What kind of score the held-out one is."""
    study, score = facts.study, score_of_run(facts)
    if study is not None and study.get("nested"):
        return "nested"
    if score is not None and score.folds is not None:
        how = f"cross-validated, {folds_of(facts, score)}"
    else:
        how = "held-out part"
    if study is None:
        return how
    return f"{how}, best of {count(len(study['trials']), 'trial')}"


def _sealed(facts: RunFacts) -> tuple[str, str]:
    """The evaluation on the sealed rows and its baseline, or why there is none."""
    final = facts.final
    changed = "" if warning_of(facts) is None else f"; {badge_of(facts)}"
    if final is None and changed:
        return f"unknown{changed}", DASH
    if final is None:
        return ("not evaluated" if facts.run.get("seal") else "none sealed"), DASH
    score = FinalScore.from_json(final)
    value, ends, constant = estimate_cells(*score.shown)
    level = percent_level(score.level)
    own = "" if score.of_this_model else ", of an earlier model"
    beyond = ", beyond the budget" if score.evaluation > score.budget else ""
    evaluation = f"evaluation {score.evaluation}{beyond} of {score.budget}"
    return f"{value} ({level} interval {ends}); {evaluation}{own}{changed}", constant
