"""Models side by side on the same folds, the best first, the baseline always among them.

Every comparison that was made is here; those on the same folds by the same metric are one table.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from likely.formatting import DASH, capitalised, count, estimate_cells, number, p_value
from likely.metrics import METRICS
from likely.report.interval_chart import intervals_drawn
from likely.report.section import Block, Gallery, Heading, LeftOut, Remark, Section, Table, Text
from likely.runs.folder import RunFacts
from likely.runs.records import Record, models_in
from likely.workbench.folds import split_text
from likely.workbench.models import BASELINE

TITLE = "Comparison"
KNOWN = {  # keys of every entry; any other is a metric beside the main one
    "model",
    "value",
    "interval",
    "best_constant",
    "folds",
    "fit_seconds",
    "against_best",
    "against_baseline",
    "problem",
    "warnings",
}
MOST_DRAWN = 20
READING = (
    "A score is that of all held-out rows together, with its 95 % interval; p is from the paired "
    "t-test over folds, corrected by Nadeau and Bengio for training sets that share rows. The best "
    "model was chosen on these folds, so its score is slightly optimistic."
)


def comparing(facts: RunFacts) -> Section | LeftOut:
    found = tuple(reversed(facts.comparisons))  # the newest first
    if not found:
        if facts.run.get("seal"):
            return LeftOut(TITLE, f"none was made; {facts.command('compare')} makes one")
        command = facts.command("compare")
        return LeftOut(TITLE, f"none was kept; {command} makes one, and keeps it in a run on them")
    blocks: list[Block] = [Text(f"{_tried(found)} {READING}")]
    for each in found:
        if len(found) > 1:
            blocks.append(Heading(f"By {_title(each['metric'])}, in {_folds(each)}"))
        blocks += _one(each, (facts.run.get("task") or {}).get("kind"))
    return Section("comparison", TITLE, tuple(blocks))


def _tried(found: Sequence[Record]) -> str:
    """How many models were ever compared, so that a choice among many is seen as one."""
    names = models_in(found)
    were = "was" if len(names) == 1 else "were"
    ways = "" if len(found) == 1 else f", in {count(len(found), 'way')} of scoring"
    return (
        f"{count(len(names), 'model')} {were} compared with the baseline by likely compare{ways}."
    )


def _one(found: Record, kind: str | None) -> list[Block]:
    entries = [each for each in found["models"] if not each.get("problem")]
    failed = [each for each in found["models"] if each.get("problem")]
    said = Text(_opening(found, kind))
    drawn = intervals_drawn(found, entries[:MOST_DRAWN], _title(found["metric"]))
    blocks: list[Block] = [said if drawn is None else Gallery((said, drawn))]
    blocks.append(_table(found, entries))
    blocks += [Remark(each["problem"], badge="failed", title=each["model"]) for each in failed]
    if found.get("left_out"):
        blocks.append(
            Text(f"Slow models that were not tried: {', '.join(found['left_out'])}.", small=True)
        )
    return blocks


def _title(name: str) -> str:
    return METRICS[name].title if name in METRICS else name


def _folds(found: Record) -> str:
    repeats = f", {found['repeats']} times" if found.get("repeats", 1) > 1 else ""
    seed = f", seed {found['seed']}" if found.get("seed") else ""
    parted = split_text(found.get("group"), found.get("by_time"))
    return f"{count(found['folds'], 'fold')}{repeats}{seed}{parted}"


def _opening(found: Record, kind: str | None) -> str:
    """What was scored, and how; ``kind`` is what this run takes its target for."""
    taken = found.get("kind", kind)
    other = "" if kind in (None, taken) else f" There the target was taken as {taken}."
    compared = models_in([found])
    best = (
        "Best: the baseline (constant)" if found["best"] == BASELINE else f"Best: {found['best']}"
    )
    return (
        f"{capitalised(_title(found['metric']))} of {count(len(compared), 'model')} on "
        f"{count(found['rows'], 'row')}, each held out in {_folds(found)}; {found['better']} is "
        f"better. {best}.{other}"
    )


def _table(found: Record, entries: Sequence[Mapping[str, Any]]) -> Table:
    beside = [key for key in (entries[0] if entries else {}) if key not in KNOWN]
    head = ("model", _title(found["metric"]), "95 % interval", *map(_title, beside))
    rows = tuple(
        (
            str(each["model"]),
            *estimate_cells(each["value"], *each["interval"]),
            *(number(each.get(key)) for key in beside),
            DASH if each["model"] == found["best"] else _p(each["against_best"]),
            _p(each["against_baseline"]),
            f"{number(each['fit_seconds'])} s",
        )
        for each in entries
    )
    marked = frozenset(i for i, each in enumerate(entries) if each["model"] == found["best"])
    head = (*head, "p vs best", f"p vs {BASELINE}", "one fit")
    names = frozenset({len(head) - 3, len(head) - 2})  # p is small
    return Table(head, rows, caption=_infinite(entries, beside), marked=marked, names=names)


def _infinite(entries: Sequence[Mapping[str, Any]], beside: Sequence[str]) -> str:
    """Why a score is not a number: JSON has none that is infinite."""
    gone = [
        str(each["model"])
        for each in entries
        if any(each.get(key, 0.0) is None for key in ("value", *beside))
    ]
    if not gone:
        return ""
    return (
        f"{DASH} for {', '.join(gone)}: infinite or undefined; a predicted mean of 0 or below has "
        "no deviance of counts or amounts, and no log-likelihood."
    )


def _p(test: Mapping[str, Any] | None) -> str:
    return DASH if test is None else p_value(test.get("p"))
