"""A comparison, put for the terminal and for the notebook."""

from html import escape
from math import isfinite, isnan
from textwrap import wrap
from typing import TYPE_CHECKING

from likely.metrics import metrics_for
from likely.names import listed
from likely.workbench.folds import parted_by
from likely.workbench.models import BASELINE
from likely.workbench.score_text import interval_text, score_text

if TYPE_CHECKING:
    from likely.workbench.comparison import Comparison, Entry
    from likely.workbench.paired import Paired

WIDEST = 100  # columns of text
CLEAR = 0.05  # a difference with a smaller p is called clear
LINE = "rgba(127,127,127,.45)"  # seen on a light page and on a dark one
CELL = "text-align:right;padding:.15em .7em;border:0;font-variant-numeric:tabular-nums"
FIRST = CELL.replace("right", "left")


def text_of(found: "Comparison", width: int = WIDEST) -> str:
    """The title, the table, and what it says in words."""
    rows = table_of(found)
    wide = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
    lines = [
        "  "
        + "  ".join(cell.rjust(w) if j else cell.ljust(w) for j, (cell, w) in _cells(row, wide))
        for row in rows
    ]
    said = [line for each in sentences(found) for line in wrap(each, width, break_on_hyphens=False)]
    first, *more = titles(found)
    head = [first, *(line for each in more for line in wrap(each, width, break_on_hyphens=False))]
    return "\n".join([*head, "", *(line.rstrip() for line in lines), "", *said])


def html_of(found: "Comparison") -> str:
    head, *rows = table_of(found)
    said = "".join(f"<p style='margin:.3em 0'>{escape(each)}</p>" for each in sentences(found))
    first, *more = titles(found)
    return (
        "<div style='font-size:.95em;overflow-x:auto'>"
        f"<p style='font-weight:600'>{escape(first)}</p><p>{escape(' '.join(more))}</p>"
        f"<table style='border-collapse:collapse;color:inherit;border-top:1px solid {LINE};"
        f"border-bottom:1px solid {LINE}'><thead>{_html_row(head, 'th')}</thead>"
        f"<tbody>{''.join(_html_row(row, 'td') for row in rows)}</tbody></table>{said}</div>"
    )


def titles(found: "Comparison") -> list[str]:
    """What was compared, on what, and how."""
    rows, folds, task = found.rows, found.folds, found.task
    what = f"{len(task.classes)} classes" if task.kind == "classes" else task.kind
    without = (
        f" ({rows.n_without_target:,} without a target are left out)"
        if rows.n_without_target
        else ""
    )
    repeats = f", {folds.repeats} times" if folds.repeats > 1 else ""
    how = f"{folds.n_folds} folds{repeats}{parted_by(rows.group, rows.by_time)}"
    doubt = [task.doubt] if task.doubt else []
    return [
        f"{rows.label}: {rows.table.num_rows:,} rows{without}, target {task.target} ({what}).",
        *doubt,
        f"Cross-validated {found.metric.title}, {found.metric.better} is better: {how}. "
        "'mean' is averaged over folds, '95 %' is its interval, corrected for the rows that "
        "training sets share, 'pooled' is of all held-out rows together; p is of the corrected "
        "paired test.",
    ]


def table_of(found: "Comparison") -> list[list[str]]:
    """A head and a row per model, the best first."""
    beside = [metric.title for metric in found.beside]
    head = ["model", "mean", "95 %", "pooled", *beside, "fit s", "p: best", f"p: {BASELINE}"]
    return [head, *(_row(found, each, len(head)) for each in found.entries)]


def sentences(found: "Comparison") -> list[str]:
    """What the table says, with its reservations."""
    said = [_verdict(found)]
    near = [each.name for each in _ahead_of_baseline(found) if _is_near(each)]
    if near:
        said.append(f"Not clearly worse than {found.best.name} (p ≥ {CLEAR}): {', '.join(near)}.")
    said += [f"{names} failed {problem}" for names, problem in _failures(found)]
    said += _infinite(found)
    if found.unseen:
        said.append(
            f"Held out whole in some fold, so that no model there had seen it: "
            f"{listed(found.unseen)}. Such a row counts as if its probability were 2⁻⁵², by every "
            "model alike."
        )
    if found.left_out:
        said.append(
            f"Slow, and not tried: {', '.join(found.left_out)}. Use everything=True (--all)."
        )
    return said


def _infinite(found: "Comparison") -> list[str]:
    """Why a score is a dash."""
    gone = [
        each.name
        for each in found.entries
        if not each.problem
        and not all(map(isfinite, (each.averaged, each.pooled, *each.beside.values())))
    ]
    if not gone:
        return []
    return [
        f"– of {', '.join(gone)}: infinite, for it predicts means at or below 0, or denies a value "
        "that occurs."
    ]


def _ahead_of_baseline(found: "Comparison") -> "list[Entry]":
    """After the best and before the constant: what is no better than that is no alternative."""
    names = [each.name for each in found.entries]
    return list(found.entries[1 : names.index(BASELINE)])


def _is_near(each: "Entry") -> bool:
    return each.against_best is not None and each.against_best.p >= CLEAR


def _verdict(found: "Comparison") -> str:
    best, test = found.best, found.best.against_baseline
    if found.all_failed:
        return "No model could be scored but the best constant."
    if not isfinite(best.averaged):
        return f"No model has a finite {found.metric.title}, so that none can be called the best."
    if best.name == BASELINE and found.metric is not metrics_for(found.task.kind)[0]:
        return f"No model has a better {found.metric.title} than the best constant."
    if best.name == BASELINE:
        return "No model is better than the best constant: nothing was learned from the columns."
    how = "" if test is None else f", {_p_phrase(test)}"
    clear = test is not None and test.p < CLEAR
    gap = "" if test is None else f" by {score_text(abs(test.difference))}"
    word = "better" if clear else "not clearly better"
    sealed = found.rows.sealed
    honest = "final scores it on sealed rows" if sealed else "rows sealed beforehand would tell"
    return (
        f"Best: {best.name}, {word} than the constant{gap}{how}. Chosen on these folds, its score "
        f"is a little too good; {honest}."
    )


def _failures(found: "Comparison") -> list[tuple[str, str]]:
    """Each problem once, with the models that it befell."""
    grouped: dict[str, list[str]] = {}
    for each in found.failed:
        grouped.setdefault(each.problem, []).append(each.name)
    return [(", ".join(names), problem) for problem, names in grouped.items()]


def _row(found: "Comparison", each: "Entry", n_cells: int) -> list[str]:
    if each.problem:
        return [each.name, "failed", *[""] * (n_cells - 2)]
    beside = [
        score_text(each.beside[m.name]) if m.name in each.beside else "" for m in found.beside
    ]
    return [
        each.name,
        score_text(each.averaged),
        interval_text(each.low, each.high),
        score_text(each.pooled),
        *beside,
        f"{each.seconds:.3f}",
        "best" if each is found.best else p_text(each.against_best),
        p_text(each.against_baseline),
    ]


def p_text(test: "Paired | None") -> str:
    if test is None or isnan(test.p):
        return ""
    return "<0.001" if test.p < 0.001 else f"{test.p:.3f}"


def _p_phrase(test: "Paired") -> str:
    text = p_text(test)
    return "p unknown" if not text else f"p {text}" if text[0] == "<" else f"p = {text}"


def _cells(row: list[str], wide: list[int]) -> list[tuple[int, tuple[str, int]]]:
    return list(enumerate(zip(row, wide, strict=True)))


def _html_row(row: list[str], tag: str) -> str:
    cells = "".join(
        f"<{tag} style='{CELL if j else FIRST}'>{escape(cell)}</{tag}>"
        for j, cell in enumerate(row)
    )
    return f"<tr style='background:none'>{cells}</tr>"
