"""The verdict: one sentence with an interval and the best constant beside it, and a ruler."""

from math import isfinite
from typing import Any, NamedTuple

from likely.evaluate.metrics import metrics_for
from likely.report.figures import ACCENT, INK, MUTED, picture
from likely.report.run_files import Record, RunFacts
from likely.report.section import Block, LeftOut, Picture, Remark, Section, Table, Tone
from likely.report.validation import Validation
from likely.report.wording import capitalised, count, interval, number, with_interval

ROOM = 0.08  # beside the marks of the ruler, as a share of their distance
EDGE = 0.25  # of the ruler: here names lean inwards
FINAL_FIELDS = (
    *("metric", "value", "low", "high", "level", "n_rows", "look", "budget", "judge"),
    *("constant", "promised", "note", "extras"),
)


class Verdict(NamedTuple):
    """A score, its interval and the best constant's; whether it is better, worse or neither."""

    sentence: str
    metric: str
    value: float
    low: float
    high: float
    constant: float | None
    lower_is_better: bool = True

    @property
    def tone(self) -> Tone:
        if self.constant is None:
            return "plain"
        if self.lower_is_better:
            return "good" if self.high < self.constant else "warn"
        return "good" if self.low > self.constant else "warn"

    @property
    def judgement(self) -> str:
        if self.constant is None:
            return ""
        if self.tone == "good":
            return "It is better than the best constant, beyond what chance would do."
        return "It is not shown to be better than the best constant, which looks at no column."


def verdict(facts: RunFacts) -> Section | LeftOut:
    found = verdict_of(facts)
    if found is None:
        return LeftOut("The verdict", "the run has no score: too few rows, or nothing held out")
    said = f"{found.sentence} {found.judgement}".strip()
    blocks: list[Block] = [Remark(said, tone=found.tone)]
    if found.constant is not None and isfinite(found.low + found.high + found.constant):
        blocks.append(_ruler(found))
    if facts.validation is not None:
        blocks.append(_scores(facts.validation, _measured(facts.final)))
    elif facts.run.get("scores"):
        blocks.append(_measures(facts.run["scores"]))
    return Section("verdict", "The verdict", tuple(blocks))


def verdict_of(facts: RunFacts) -> Verdict | None:
    """The best evidence there is: sealed rows, held-out folds, or one held-out part."""
    if facts.final is not None:
        return _of_final(facts.final)
    if facts.validation is not None:
        return _of_validation(facts.validation)
    scores = facts.run.get("scores")
    return None if not scores else _of_scores(scores)


def _of_final(final: Any) -> Verdict:
    from likely.sealing.final_score import FinalScore

    fields = {name: final[name] for name in FINAL_FIELDS if name in final}
    score = FinalScore(**fields)
    return Verdict(str(score), score.metric, score.value, score.low, score.high, score.constant)


def _of_validation(validation: Validation) -> Verdict:
    metric = next(m for m in metrics_for(validation.kind) if m.suits(validation.prediction))
    found = metric.estimate(validation.truth, validation.truth, validation.prediction)
    sentence = (
        f"{capitalised(metric.title)} {with_interval(found.value, found.low, found.high)} on "
        f"{count(len(validation.row), 'row')}, each held out once in {_folds(validation)}; "
        f"best constant {number(found.constant)}."
    )
    return Verdict(sentence, metric.title, *found, lower_is_better=metric.better == "lower")


def _of_scores(scores: Any) -> Verdict:
    low, high = scores["interval"]
    value, constant = scores["value"], scores.get("best_constant", scores.get("one_component"))
    beside = "one component" if "one_component" in scores else "best constant"
    sentence = (
        f"{capitalised(scores['name'])} {with_interval(value, low, high)} on "
        f"{count(scores['rows'], 'held-out row')}; {beside} {number(constant)}."
    )
    lower = (scores.get("gain") or 0) * (constant - value) >= 0 if constant is not None else True
    return Verdict(sentence, scores["name"], value, low, high, constant, lower)


def _folds(validation: Validation) -> str:
    return count(int(validation.facts.get("folds", validation.fold.max() + 1)), "fold")


def _measured(final: Record | None) -> Record:
    """What else a look at the sealed rows has told, by name of the metric."""
    extras = (final or {}).get("extras") or {}
    return extras.get("measures") or {}


def _scores(validation: Validation, sealed: Record) -> Table:
    """Every metric of the task: on sealed rows, where there are, and on rows held out."""
    rows = []
    for metric in metrics_for(validation.kind):
        if not metric.suits(validation.prediction):
            continue
        found = metric.estimate(validation.truth, validation.truth, validation.prediction)
        cells = [number(found.value), interval(found.low, found.high), number(found.constant)]
        if sealed:
            told = sealed.get(metric.name) or {}
            ends = interval(told["low"], told["high"]) if told else ""
            cells = [number(told.get("value")), ends, *cells]
        rows.append((f"{metric.title} {'↓' if metric.better == 'lower' else '↑'}", *cells))
    first = ("sealed rows", "interval") if sealed else ()
    head = ("metric", *first, "held out", "95 % interval", "best constant")
    caption = (
        f"Held out: training rows, in {_folds(validation)}. ↓ lower is better, ↑ higher is better."
    )
    return Table(head, tuple(rows), caption=caption)


def _measures(scores: Any) -> Table:
    rows = tuple(
        (
            line["name"],
            number(line["value"]),
            interval(*line["interval"]),
            number(line["best_constant"]),
        )
        for line in scores["measures"]
    )
    caption = f"On {count(scores['rows'], 'row')} that the scored fit did not see."
    return Table(("metric", "value", "95 % interval", "best constant"), rows, caption=caption)


def _ruler(found: Verdict) -> Picture:
    """The interval beside the constant, on one line."""
    constant = found.constant if found.constant is not None else found.value

    marks = ((found.value, "model", ACCENT, True), (constant, "best constant", MUTED, False))

    def draw(ax: Any) -> None:
        ax.plot([found.low, found.high], [0, 0], color=ACCENT, linewidth=5, alpha=0.35)
        ax.plot([found.value], [0], "o", color=ACCENT, markersize=8)
        ax.plot([constant], [0], "|", color=INK, markersize=18, markeredgewidth=2)
        ends = sorted((found.low, found.high, constant))
        room = ROOM * (ends[-1] - ends[0] or 1.0)
        ax.set_xlim(ends[0] - room, ends[-1] + room)
        ax.set_ylim(-2.2, 1.8)
        for x, name, colour, up in marks:
            _tag(ax, x, f"{name} {number(x)}", colour, up=up)
        ax.set_yticks([])
        ax.grid(visible=False, axis="y")
        ax.spines["left"].set_visible(False)
        ax.set_xlabel(found.metric)

    label = (
        f"{found.metric}: model {number(found.value)}, interval {interval(found.low, found.high)}; "
        f"best constant {number(constant)}."
    )
    return picture(draw, label, size=(5.0, 1.4))


def _tag(ax: Any, x: float, text: str, colour: str, *, up: bool) -> None:
    """A name above or below a mark, kept inside of the picture."""
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
