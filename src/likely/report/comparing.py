"""Models side by side on the same folds, the best first, the baseline always among them."""

from collections.abc import Mapping, Sequence
from typing import Any

from likely.evaluate.metrics import METRICS
from likely.report.figures import ACCENT, INK, MUTED, picture
from likely.report.run_files import RunFacts
from likely.report.section import Block, LeftOut, Picture, Remark, Section, Table, Text
from likely.report.wording import capitalised, count, interval, number

TITLE = "Comparison"
BASELINE = "constant"
KNOWN = {  # keys of every entry; any other is a metric beside the main one
    "model",
    "averaged",
    "interval",
    "pooled",
    "pooled_interval",
    "folds",
    "fit_seconds",
    "against_best",
    "against_baseline",
    "problem",
    "warnings",
}
SMALLEST_P = 0.001
MOST_DRAWN = 20


def comparing(facts: RunFacts) -> Section | LeftOut:
    found = facts.comparison
    if found is None:
        return LeftOut(TITLE, "no comparison was kept; likely compare DATA makes one")
    entries = [each for each in found["models"] if not each.get("problem")]
    failed = [each for each in found["models"] if each.get("problem")]
    blocks: list[Block] = [Text(_opening(found)), _table(found, entries)]
    if len(entries) > 1:
        blocks.append(_intervals(found, entries[:MOST_DRAWN]))
    blocks += [Remark(each["problem"], badge="failed", title=each["model"]) for each in failed]
    if found.get("left_out"):
        blocks.append(Text(f"Slow, and not tried: {', '.join(found['left_out'])}.", small=True))
    return Section("comparison", TITLE, tuple(blocks))


def _title(name: str) -> str:
    return METRICS[name].title if name in METRICS else name


def _opening(found: Mapping[str, Any]) -> str:
    repeats = f", {found['repeats']} times" if found.get("repeats", 1) > 1 else ""
    return (
        f"{capitalised(_title(found['metric']))} on {count(found['rows'], 'row')}, each held out "
        f"in {count(found['folds'], 'fold')}{repeats}; {found['better']} is better. The mean is "
        "over folds, pooled is of all held-out rows together; p is of the corrected paired test of "
        "Nadeau and Bengio. Chosen on these folds, the best score is a little too good."
    )


def _table(found: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> Table:
    beside = [key for key in (entries[0] if entries else {}) if key not in KNOWN]
    head = ("model", "mean", "95 % interval", "pooled", *map(_title, beside))
    rows = tuple(
        (
            str(each["model"]),
            number(each["averaged"]),
            interval(*each["interval"]),
            number(each["pooled"]),
            *(number(each.get(key)) for key in beside),
            "best" if each["model"] == found["best"] else _p(each["against_best"]),
            _p(each["against_baseline"]),
            f"{number(each['fit_seconds'])} s",
        )
        for each in entries
    )
    marked = frozenset(i for i, each in enumerate(entries) if each["model"] == found["best"])
    return Table((*head, "p: best", f"p: {BASELINE}", "one fit"), rows, marked=marked)


def _p(test: Mapping[str, Any] | None) -> str:
    if test is None or test.get("p") is None:
        return "–"
    return f"< {SMALLEST_P}" if test["p"] < SMALLEST_P else f"{test['p']:.3f}"


def _intervals(found: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> Picture:
    usable = [each for each in entries if None not in (each["averaged"], *each["interval"])]
    metric = _title(found["metric"])

    def draw(ax: Any) -> None:
        for i, each in enumerate(usable):
            low, high = each["interval"]
            baseline = each["model"] == BASELINE
            colour = MUTED if baseline else ACCENT
            ax.plot([low, high], [i, i], color=colour, lw=4, alpha=0.35, solid_capstyle="round")
            ax.plot([each["averaged"]], [i], "o", color=colour, markersize=6)
            if baseline:
                ax.axvline(each["averaged"], color=MUTED, lw=1, linestyle=(0, (4, 3)), zorder=0)
        ax.set_yticks(range(len(usable)), [str(each["model"]) for each in usable])
        ax.tick_params(axis="y", labelcolor=INK, length=0)
        ax.set_ylim(len(usable) - 0.5, -0.5)
        ax.grid(visible=False, axis="y")
        ax.spines["left"].set_visible(False)
        ax.set_xlabel(metric)

    told = ", ".join(f"{each['model']} {number(each['averaged'])}" for each in usable)
    caption = "Means over folds with 95 % intervals. The dashes are the best constant."
    size = (4.8, 0.9 + 0.27 * len(usable))
    return picture(draw, f"{metric} of each model: {told}.", caption=caption, size=size)
