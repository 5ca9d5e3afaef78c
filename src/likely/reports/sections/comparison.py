"""The comparisons of models, the best first, always with the baseline.

Comparisons on the same folds by the same metric are one table.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from likely.metrics.score import title_of, why_dashes
from likely.numerics.intervals import clearly_worse, gain_from_json
from likely.output.formatting import (
    DASH,
    capitalised,
    count,
    estimate,
    estimate_cells,
    listed,
    number,
    p_value,
    setting,
)
from likely.reports.figures import ACCENT, INK, MUTED, few_ticks, picture
from likely.reports.section import (
    Block,
    Gallery,
    Heading,
    LeftOut,
    Picture,
    Remark,
    Section,
    TableBlock,
    Text,
)
from likely.runs.folder import RunFacts
from likely.workbench.comparison.records import Record, models_in
from likely.workbench.data.folds import split_text
from likely.workbench.models.registry import BASELINE, MODELS
from likely.workbench.scoring.cross_validation import UNFINISHED
from likely.workbench.scoring.reference import reference_from_json

TITLE = "Comparison"
MOST_DRAWN = 20
BEYOND = 1.0  # the axis continues beyond the constant, as a share of its distance from the best
WIDEST = 2.0  # an interval is shown as far as this many times the range of the scores
MARGIN = 0.04  # of the axis, on both sides
ARROW = 0.28  # of the axis, behind it: there an arrow and its number touch no other mark
READING = (
    "Scores and 95 % intervals are for all held-out rows together; p is from the paired t-test "
    "over folds, with the correction of Nadeau and Bengio for overlapping training sets. The best "
    "model was chosen on these folds, so its score is slightly optimistic."
)


def comparison(facts: RunFacts) -> Section | LeftOut:
    found = tuple(reversed(facts.comparisons))  # the newest first
    if not found:
        if facts.run.get("seal"):
            return LeftOut(TITLE, f"none was made; run {facts.command('compare')}")
        return LeftOut(TITLE, f"none was saved; run {facts.command('compare')}")
    blocks: list[Block] = [Text(f"{_tried(found)} {READING}")]
    for each in found:
        if len(found) > 1:
            how = f"By {title_of(each['metric'])}, in {_folds(each)}"
            blocks.append(Heading(f"{how}{_without(each, found)}"))
        blocks += _one(each, (facts.run.get("task") or {}).get("kind"))
    return Section("comparison", TITLE, tuple(blocks))


def _tried(found: Sequence[Record]) -> str:
    """The number of models that were compared, because many comparisons produce chance results."""
    names = models_in(found)
    were = "was" if len(names) == 1 else "were"
    ways = "" if len(found) == 1 else f", in {count(len(found), 'comparison')}"
    return (
        f"{count(len(names), 'model')} {were} compared with the baseline by likely compare{ways}."
    )


def _one(found: Record, kind: str | None) -> list[Block]:
    entries = [each for each in found["models"] if not each.get("problem")]
    failed = [each for each in found["models"] if each.get("problem")]
    opening = Text(_opening(found, kind))
    drawn = _interval_chart(found, entries[:MOST_DRAWN], title_of(found["metric"]))
    blocks: list[Block] = [opening if drawn is None else Gallery((opening, drawn))]
    blocks.append(_table(found, entries))
    worse = [each["model"] for each in entries if clearly_worse(gain_from_json(each))]
    if worse:
        names = listed(worse, 60)
        blocks.append(
            Text(f"Clearly worse than the baseline, not to be used: {names}.", small=True)
        )
    blocks += [
        Remark(
            f"Its means are worse than a constant's: {'; '.join(each['worse_by'])}. It is not "
            "called the best, whatever its score, and not to be used.",
            badge="not to be used",
            title=each["model"],
        )
        for each in entries
        if each.get("worse_by")
    ]
    reference = reference_from_json(found.get("reference"))
    if reference is not None and reference.is_missed_by(found["best"]):
        blocks.append(Remark(reference.about(found["best"])))
    for each in failed:
        badge = "not finished" if each["problem"].startswith(UNFINISHED) else "failed"
        blocks.append(Remark(each["problem"], badge=badge, title=each["model"]))
    blocks += [
        Text(f"Models that take no {role}, not tried: {', '.join(names)}.", small=True)
        for role, names in (found.get("unable") or {}).items()
    ]
    if found.get("left_out"):
        blocks.append(Text(f"Slow models, not tried: {', '.join(found['left_out'])}.", small=True))
    return blocks


def _folds(found: Record) -> str:
    repeats = f", repeated {found['repeats']} times" if found.get("repeats", 1) > 1 else ""
    seed = f", seed {found['seed']}" if found.get("seed") else ""
    split = split_text(found.get("group"), found.get("by_time"))
    return f"{count(found['folds'], 'fold')}{repeats}{seed}{split}"


def _without(each: Record, found: Sequence[Record]) -> str:
    """The columns that other comparisons had, and this one did not."""
    own = each.get("columns")
    if own is None:  # saved by an earlier version
        return ""
    others = dict.fromkeys(name for one in found for name in one.get("columns") or ())
    gone = [name for name in others if name not in own]
    return f", without {listed(gone, 6)}" if gone else ""


def _opening(found: Record, kind: str | None) -> str:
    """What was scored, and how; ``kind`` is the kind of target of this run."""
    taken = found.get("kind", kind)
    other = "" if kind in (None, taken) else f" In this comparison, the target was of kind {taken}."
    compared = models_in([found])
    best = (
        "Best: the baseline (constant)" if found["best"] == BASELINE else f"Best: {found['best']}"
    )
    return (
        f"{capitalised(title_of(found['metric']))} of {count(len(compared), 'model')} on "
        f"{count(found['rows'], 'row')}, each held out in {_folds(found)}; {found['better']} is "
        f"better. {best}.{other}"
    )


def _table(found: Record, entries: Sequence[Mapping[str, Any]]) -> TableBlock:
    others = list(entries[0]["others"]) if entries else []
    head = ("model", title_of(found["metric"]), "95 % interval", *map(title_of, others))
    rows = tuple(
        (
            str(each["model"]),
            *estimate_cells(each["value"], *each["interval"]),
            *(number(each["others"].get(key)) for key in others),
            DASH if each["model"] in (found["best"], BASELINE) else _p(each["against_best"]),
            f"{each['fit_seconds']:.3f}",
        )
        for each in entries
    )
    marked = frozenset(i for i, each in enumerate(entries) if each["model"] == found["best"])
    head = (*head, "p vs best", "seconds per fit")
    names = frozenset({len(head) - 2})  # p is small
    caption = why_dashes(  # JSON has no infinite numbers
        [
            str(each["model"])
            for each in entries
            if None in (each["value"], *each["others"].values())
        ]
    )
    return TableBlock(head, rows, caption=caption, marked=marked, names=names)


def _p(test: Mapping[str, Any] | None) -> str:
    return DASH if test is None else p_value(test.get("p"))


class _Window(NamedTuple):
    """The part of the axis that is shown."""

    left: float
    right: float

    def holds(self, x: float) -> bool:
        return self.left <= x <= self.right

    def around(self, values: Sequence[float]) -> "_Window":
        """The axis with room for the arrows of values outside it."""
        room = ARROW * (self.right - self.left)
        left = self.left - (room if any(x < self.left for x in values) else 0.0)
        right = self.right + (room if any(x > self.right for x in values) else 0.0)
        return _Window(left, right)


def _interval_chart(found: Record, entries: Sequence[Record], metric: str) -> Picture | None:
    """Means with intervals; None where there are not two to compare."""
    usable = [each for each in entries if None not in (each["value"], *each["interval"])]
    if len(usable) < 2:
        return None
    window = _window(usable, lower=found["better"] == "lower")
    shown = window.around([each["value"] for each in usable])

    def draw(ax: Any) -> None:
        margin = MARGIN * (shown.right - shown.left)
        ax.set_xlim(shown.left - margin, shown.right + margin)
        for i, each in enumerate(usable):
            if window.holds(each["value"]):
                _line(ax, i, each, window)
            else:
                _arrow(ax, i, each["value"], shown)
        ax.set_yticks(range(len(usable)), [str(each["model"]) for each in usable])
        ax.tick_params(axis="y", labelcolor=INK, length=0)
        ax.set_ylim(len(usable) - 0.5, -0.5)
        ax.grid(visible=False, axis="y")
        ax.spines["left"].set_visible(False)
        ax.set_xlabel(capitalised(metric))
        few_ticks(ax.xaxis)

    scores = (estimate_cells(each["value"], *each["interval"])[0] for each in usable)
    each_score = ", ".join(
        f"{each['model']} {score}" for each, score in zip(usable, scores, strict=True)
    )
    caption = "Scores with 95 % intervals. The dashed line is the baseline."
    if not all(window.holds(each["value"]) for each in usable):
        caption += " An arrow marks a score outside the axis."
    size = (4.8, 0.9 + 0.27 * len(usable))
    return picture(draw, f"{metric} of each model: {each_score}.", caption=caption, size=size)


def _line(ax: Any, i: int, each: Record, window: _Window) -> None:
    value, baseline = each["value"], each["model"] == BASELINE
    colour = MUTED if baseline else ACCENT
    if baseline:
        ax.axvline(value, color=MUTED, lw=1, linestyle=(0, (4, 3)), zorder=0)
    low, high = each["interval"]
    ends = [max(low, window.left), min(high, window.right)]
    ax.plot(ends, [i, i], color=colour, lw=4, alpha=0.35, solid_capstyle="round")
    ax.plot([value], [i], "o", color=colour, markersize=6)


def _arrow(ax: Any, i: int, value: float, shown: _Window) -> None:
    """An arrow at the end of the axis, with the value that is outside."""
    right = value > (shown.left + shown.right) / 2
    edge = shown.right if right else shown.left
    ax.plot([edge], [i], ">" if right else "<", color=ACCENT, markersize=6)
    place = {"xytext": (-8 if right else 8, 0), "textcoords": "offset points"}
    side = {"ha": "right" if right else "left", "va": "center"}
    ax.annotate(number(value), (edge, i), color=INK, fontsize=9, **place, **side)


def _window(entries: Sequence[Record], *, lower: bool) -> _Window:
    """The range from the best score to a little beyond the constant, with intervals."""
    sign = 1.0 if lower else -1.0  # below, less is better
    values = {str(each["model"]): sign * each["value"] for each in entries}
    best, constant = min(values.values()), values.get(BASELINE, max(values.values()))
    widths = [abs(high - low) for low, high in (each["interval"] for each in entries)]
    gap = max(constant - best, min(widths)) or abs(best) or 1.0
    furthest = constant + BEYOND * gap
    inside = [each for each in entries if sign * each["value"] <= furthest]
    scores = [sign * each["value"] for each in inside]
    span = max(max(scores) - min(scores), gap)
    ends = [sign * end for each in inside for end in each["interval"]]
    near = max(min(ends), min(scores) - WIDEST * span)
    far = min(max(ends), max(scores) + WIDEST * span)
    left, right = sorted((sign * near, sign * far))
    return _Window(left, right)


# ── The settings that a search tried, and the nested score of the search ──────────────────────────

TUNING = "Tuning"
MOST_TRIALS = 10


def tuning(facts: RunFacts) -> Section | LeftOut:
    study = facts.study
    if study is None:
        model = str(facts.run.get("model"))
        if model not in MODELS or MODELS[model].space is None:
            return LeftOut(TUNING, "no settings were searched")
        return LeftOut(TUNING, f"no settings were searched; run {facts.command('tune', model)}")
    metric = title_of(study["metric"])
    beside = study.get("beside")  # the default settings, where a grid does not hold them
    tried = [*study["trials"], *([beside] if beside else [])]
    scored = [trial for trial in tried if trial.get("value") is not None]
    sign = 1 if study["better"] == "lower" else -1
    chosen = study.get("best", {}).get("number")
    scored.sort(key=lambda trial: (trial.get("number") != chosen, sign * trial["value"]))
    opening = (
        f"{count(len(study['trials']), 'trial')} of {study['model']} by {study['search']} search; "
        f"{metric}, {study['better']} is better.{_stopped(study)} Baseline (constant): "
        f"{number(study.get('baseline'))}. Intervals are for the held-out rows."
    )
    names = list(dict.fromkeys(name for trial in scored for name in trial["parameters"]))
    rows = tuple(
        (_settings(trial["parameters"], names), *estimate_cells(trial["value"], *trial["interval"]))
        for trial in scored[:MOST_TRIALS]
    )
    choice = (study.get("choice") or {}).get("text")
    blocks: list[Block] = [Text(opening), *([Text(choice)] if choice else []), _nested(study)]
    head = ("settings", metric, "95 % interval")
    left = len(scored) - MOST_TRIALS
    more = f"{count(left, 'more trial')}" if left > 0 else ""
    blocks.append(TableBlock(head, rows, marked=frozenset({0}), more=more))
    return Section("tuning", TUNING, tuple(blocks))


def _stopped(study: Mapping[str, Any]) -> str:
    """How many trials were not finished."""
    n = sum(bool(trial.get("stopped")) for trial in study["trials"])
    return f" {n} were stopped early, as worse than the median of the earlier ones." if n else ""


def _nested(study: Mapping[str, Any]) -> Remark:
    nested = study.get("nested")
    if not nested:
        text = "The best of several scores is optimistic: expect a slightly worse one on new rows."
        return Remark(text, tone="note")
    low, high = nested["interval"]
    score = estimate(nested["value"], low, high, level=0.95)
    return Remark(
        f"Nested cross-validation, on rows not used to choose the settings: {score}.", tone="good"
    )


def _settings(parameters: Mapping[str, Any], names: Sequence[str]) -> str:
    """The settings of a trial, in the same order for all trials."""
    given = [f"{name}={setting(parameters[name])}" for name in names if name in parameters]
    return ", ".join(given) or "default settings"
