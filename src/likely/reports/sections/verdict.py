"""The result: one sentence with interval and baseline, a picture, and all metrics."""

from collections.abc import Sequence
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from likely.metrics import METRICS, Estimate, Score
from likely.metrics.registry import LOSSES
from likely.metrics.score import (
    about_median,
    groups_text,
    right_in_words,
    score_sentence,
    title_of,
    why_dashes,
)
from likely.numerics.intervals import NO_ESTIMATE, measures_from_json
from likely.output.formatting import (
    DASH,
    capitalised,
    count,
    estimate,
    estimate_cells,
    estimate_compared,
    percent_level,
)
from likely.reports.figures import ACCENT, INK, MUTED, few_ticks, picture
from likely.reports.section import (
    Block,
    Gallery,
    LeftOut,
    Picture,
    Remark,
    Section,
    TableBlock,
    Tone,
)
from likely.reports.sections.question import badge_of, warning_of
from likely.runs.folder import RunFacts
from likely.sealing.final_score import FinalScore, upwards
from likely.workbench.data.folds import split_text
from likely.workbench.scoring.validation import Validation
from likely.workbench.verdict.checks import evidence_in_run
from likely.workbench.verdict.verdict import Verdict, verdict_on

NATS = (
    "Log loss is −log of the probability given to the class that occurred, on average, in nats: "
    "0 is certain and right, 0.69 is a fair coin."
)
ROOM = 0.08  # on both sides of the marks, as a share of their distance
EDGE = 0.25  # of the ruler: here names lean inwards


class ScoreVerdict(NamedTuple):
    """A score, and the verdict on its model; None where the score is not that of this model."""

    sentence: str
    title: str  # of the metric
    score: Estimate
    judged: Verdict | None
    level: float = 0.95  # of the interval

    @property
    def tone(self) -> Tone:
        return "plain" if self.judged is None else self.judged.severity

    @property
    def judgement(self) -> str:
        return "" if self.judged is None else self.judged.conclusion


def verdict(facts: RunFacts) -> Section | LeftOut:
    found = verdict_of(facts)
    if found is None:
        return LeftOut("Result", "the run has no score, because no rows were held out")
    parts = [_right(facts), found.sentence, found.judgement, _flattery(facts)]
    text = " ".join(filter(None, parts))
    remark = Remark(text, tone=found.tone)
    blocks: list[Block] = [remark]
    if found.judged is not None and isfinite(sum(found.score)):
        blocks = [Gallery((remark, _ruler(found)))]
    if found.judged is not None:
        blocks += [Remark(each.text, tone=each.severity) for each in found.judged.reasons]
    score = score_of_run(facts)
    if score is not None:
        blocks.append(metrics_table(facts, score))
    return Section("verdict", "Result", tuple(blocks))


def _right(facts: RunFacts) -> str:
    """How often the model is right, on the rows of the verdict; empty of numbers."""
    score, validation = score_of_run(facts), facts.validation
    measures = {} if score is None else score.estimates
    if facts.final is not None:
        measures = measures_from_json(facts.final.get("measures", ()))
    always = None
    if validation is not None and validation.has_classes:
        weight = np.bincount(validation.truth.y, validation.truth.weights)
        always = validation.labels[int(weight.argmax())]
    said = right_in_words(measures.get("accuracy"), always)
    return f"{capitalised(said)}." if said else ""


def verdict_of(facts: RunFacts) -> ScoreVerdict | None:
    """The score of the sealed rows if there is one, else that of held-out rows."""
    if facts.final is None:
        return held_out_verdict(facts)
    score = FinalScore.from_json(facts.final)
    shown, title = score.shown, score.title
    return ScoreVerdict(str(score), title, shown, _judged(facts, score), level=score.level)


def held_out_verdict(facts: RunFacts) -> ScoreVerdict | None:
    """The score of training rows while they were held out."""
    score = score_of_run(facts)
    if score is None:
        return None
    found, title = score.main, title_of(score.metric)
    sentence = score_sentence(title, found, rows_held(facts, score), score.baseline)
    return ScoreVerdict(sentence, title, found, _judged(facts))


def _judged(facts: RunFacts, final: FinalScore | None = None) -> Verdict | None:
    evidence = evidence_in_run(
        facts.run,
        look=facts.look,
        held=facts.validation,
        final=final,
        effects=facts.effects,
        comparisons=facts.comparisons,
    )
    return verdict_on(evidence)


def _flattery(facts: RunFacts) -> str:
    """A sentence that the best score of a search is optimistic; not for sealed rows."""
    if facts.final is not None or facts.study is None:
        return ""
    trials = count(len(facts.study["trials"]), "trial")
    nested = facts.study.get("nested")
    if not nested:
        return f"Its settings are the best of {trials} on these rows, so this score is optimistic."
    score = estimate(nested["value"], *nested["interval"])
    return f"Its settings are the best of {trials} on these rows; the nested score is {score}."


def _ruler(found: ScoreVerdict) -> Picture:
    """The interval and the baseline on one line."""
    middle, low, high, constant = found.score
    value, ends, baseline = estimate_cells(*found.score)
    marks = (
        (middle, f"model {value}", ACCENT, True),
        (constant, f"baseline {baseline}", MUTED, False),
    )

    def draw(ax: Any) -> None:
        ax.plot([low, high], [0, 0], color=ACCENT, linewidth=5, alpha=0.35)
        ax.plot([middle], [0], "o", color=ACCENT, markersize=8)
        ax.plot([constant], [0], "|", color=INK, markersize=18, markeredgewidth=2)
        places = sorted((low, high, constant))
        room = ROOM * (places[-1] - places[0] or 1.0)
        ax.set_xlim(places[0] - room, places[-1] + room)
        ax.set_ylim(-2.2, 1.8)
        for x, name, colour, up in marks:
            _tag(ax, x, name, colour, up=up)
        ax.set_yticks([])
        ax.grid(visible=False)  # lines would cross the names
        few_ticks(ax.xaxis)
        ax.spines["left"].set_visible(False)
        ax.set_xlabel(capitalised(found.title))

    label = (
        f"{found.title}: model {value}, {percent_level(found.level)} interval {ends}; "
        f"baseline {baseline}."
    )
    caption = f"The bar is a {percent_level(found.level)} interval."
    if found.judged is not None:
        caption += " Model and baseline are compared row by row."
    return picture(draw, label, caption=caption, size=(4.8, 1.4))


def _tag(ax: Any, x: float, text: str, colour: str, *, up: bool) -> None:
    """A name above or below a mark, kept inside the picture."""
    low, high = ax.get_xlim()
    place = (x - low) / (high - low)
    side = "left" if place < EDGE else "right" if place > 1 - EDGE else "center"
    offset = {"left": -5, "center": 0, "right": 5}[side]
    ax.annotate(
        text,
        (x, 0),
        xytext=(offset, 10 if up else -12),
        textcoords="offset points",
        ha=side,
        va="bottom" if up else "top",
        color=colour,
        fontsize=9,
        fontweight="bold" if up else "normal",
    )


# ── All metrics in one table: on sealed rows, if they were evaluated, and on held-out rows ────────

SEALED, HELD = "sealed rows", "held out"


def score_of_run(facts: RunFacts) -> Score | None:
    """The score of the held-out rows of a run; None if it has none."""
    if facts.run.get("scores"):
        return Score.from_json(facts.run["scores"])
    return None if facts.validation is None else facts.validation.score


def rows_held(facts: RunFacts, score: Score) -> str:
    """``960 rows, each held out once in 5 folds``."""
    if score.folds is None:
        return f"{count(score.n_rows, 'row')} not used for the scored fit"
    parts = f" in {groups_text(score.n_groups, score.group)}" if score.n_groups else ""
    rows = f"{count(score.n_rows, 'row')}{parts}"
    return f"{rows}, each held out once in {folds_of(facts, score)}"


def folds_of(facts: RunFacts, score: Score) -> str:
    """``5 folds, whole groups of shop``."""
    by_time = facts.run.get("by_time")
    if by_time is None and facts.validation is not None:
        by_time = facts.validation.facts.get("by_time")
    return f"{count(score.folds or 0, 'fold')}{split_text(score.group, by_time)}"


def metrics_table(facts: RunFacts, score: Score) -> TableBlock:
    """One row per metric; a value that is not finite is a dash, and the caption says why."""
    final, validation = facts.final or {}, facts.validation
    sealed = measures_from_json(final.get("measures", ()))
    baselines = {} if validation is None else _kinds_of_baseline(validation, score)
    rows, gone = [], []
    for name, found in score.estimates.items():
        cells = estimate_cells(*found)
        if cells[0] == DASH:
            gone.append(title_of(name))
        if sealed:
            cells = [*estimate_cells(*sealed.get(name, NO_ESTIMATE)), *cells]
        kind = baselines.get(name, "")
        cells = [f"{cell}{kind}" if i % 3 == 2 else cell for i, cell in enumerate(cells)]
        arrow = "↓" if METRICS[name].better == "lower" else "↑"
        rows.append((f"{capitalised(title_of(name))} {arrow}", *cells))
    level = percent_level(final.get("level", 0.95))
    first = (SEALED, f"{level} interval", "baseline") if sealed else ()
    head = ("metric", *first, HELD, "95 % interval", "baseline")
    caption = [_held(facts, score), "↓ lower is better, ↑ higher is better."]
    if "log-loss" in score.estimates:
        caption.append(NATS)
    if validation is not None:
        caption += _about_two(validation)
    caption += filter(
        None, [about_median(score), why_dashes(gone, of_classes="accuracy" in score.estimates)]
    )
    return TableBlock(head, tuple(rows), caption=" ".join(caption))


def _held(facts: RunFacts, score: Score) -> str:
    if score.folds is None:
        return f"Held out: {count(score.n_rows, 'row')} not used for the scored fit."
    return (
        f"Held out: training rows, in {folds_of(facts, score)}; intervals are for these rows taken "
        "together."
    )


def _kinds_of_baseline(validation: Validation, score: Score) -> dict[str, str]:
    """What a baseline predicts, for metrics whose baseline is not the usual one."""
    if not validation.has_classes:
        return {"mae": " (median)"} if about_median(score) else {}
    weight = np.bincount(validation.truth.y, validation.truth.weights)
    always = {"accuracy": validation.labels[int(weight.argmax())]}
    if validation.kind == "binary":
        always["f1"] = validation.labels[1]
    return {name: f" (always {label})" for name, label in always.items()}


def _about_two(validation: Validation) -> list[str]:
    """One of two classes is the positive one of F₁."""
    if validation.kind != "binary":
        return []
    positive = validation.labels[1]
    return [
        f"F₁ is for {positive}, predicted if its probability is above 0.5; its baseline predicts "
        f"{positive} for every row, that of accuracy the more common class; those of probabilities "
        "are the class shares."
    ]


# ── Several runs side by side: their scores on held-out training rows and on sealed rows ──────────
# They have separate columns: a score by which settings were chosen is optimistic, and must
# not be compared with one on sealed rows.

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
