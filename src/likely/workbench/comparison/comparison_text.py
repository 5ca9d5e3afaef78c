"""A comparison as text for the terminal and as HTML for the notebook.

Categories that occur in the held-out rows of a fold only, so that its fit has not seen them.
"""

from collections.abc import Callable, Iterable
from math import isfinite, nan
from typing import TYPE_CHECKING

import numpy as np

from likely.kinds import target_in_words
from likely.metrics.registry import main_metric
from likely.metrics.score import GAIN, UNIT, right_in_words, title_of, why_dashes
from likely.numerics.intervals import clearly_better
from likely.output.formatting import (
    WIDEST,
    estimate,
    estimate_cells,
    html_block,
    html_paragraph,
    html_table,
    listed,
    number,
    p_value,
    paragraph,
    quoted,
    text_table,
)
from likely.workbench.data.dataset import Dataset
from likely.workbench.data.folds import Folds, codes_of, split_text
from likely.workbench.models.registry import BASELINE
from likely.workbench.scoring.cross_validation import UNFINISHED
from likely.workbench.scoring.validation import unusual_cells
from likely.workbench.verdict.checks import lone_rows_in_words, row_in_words
from likely.workbench.verdict.verdict import better_metrics, in_words, worse_metrics

if TYPE_CHECKING:
    from likely.workbench.comparison.comparison import Comparison
    from likely.workbench.comparison.comparison_entry import Entry

UNSEEN = ("Categories not seen in training", "Categories that the fit did not see")
CLEAR = 0.05  # a difference with a smaller p is called clear


def text_of(found: "Comparison", width: int = WIDEST, *, in_terminal: bool = False) -> str:
    """The title, the table, and the conclusions in words.

    Advice uses commands and options if ``in_terminal``, else arguments of Python.
    """
    first, *more = titles(found)
    head, *rows = table_of(found)
    above = [line for each in more for line in paragraph(each, width)]
    text = sentences(found, in_terminal=in_terminal)
    below = [line for each in text for line in paragraph(each, width)]
    return "\n".join([first, *above, "", *text_table(head, rows), "", *below])


def html_of(found: "Comparison") -> str:
    first, *more = titles(found)
    head, *rows = table_of(found)
    return html_block(
        html_paragraph(first, bold=True),
        html_paragraph(" ".join(more)),
        html_table(head, rows),
        *map(html_paragraph, sentences(found)),
    )


def titles(found: "Comparison") -> list[str]:
    """The rows, the target, the metric and the folds, in sentences."""
    rows, folds, task = found.rows, found.folds, found.task
    what = target_in_words(task.kind, len(task.classes) if task.has_classes else None)
    repeats = f", repeated {folds.repeats} times" if folds.repeats > 1 else ""
    how = f"{folds.n_folds} folds{repeats}{split_text(rows.group, rows.by_time)}"
    roles = "".join(f", {role} {name}" for role, name in rows.roles.given().items())
    return [
        f"{rows.label}: {rows.table.num_rows:,} rows, target {task.target} ({what}){roles}.",
        *filter(None, [right_of_classes(found), task.doubt]),
        f"Cross-validated {found.metric.title}, {found.metric.better} is better: {how}. "
        "The 95 % interval is computed from the held-out rows; p is from the paired t-test over "
        "folds, corrected for training sets that share rows.",
    ]


def table_of(found: "Comparison") -> list[list[str]]:
    """A head and a row per model, the best first."""
    classes = found.task.classes if found.task.kind == "binary" else None
    shown, *others = (title_of(metric.name, classes) for metric in (found.metric, *found.others))
    last = ["seconds per fit", "p vs best"]
    head = ["model", shown, "95 % interval", *others, *last]
    return [head, *(_row(found, each, len(head)) for each in found.entries)]


def sentences(found: "Comparison", *, in_terminal: bool = False) -> list[str]:
    """The conclusions, with their limits."""
    parts = [_verdict(found, in_terminal), *_about_near(found), *_about_worse(found)]
    parts += _about_means(found)
    if found.reference is not None:
        parts += filter(None, [found.reference.about(found.best.name)])
    parts += _about_lone_rows(found)
    parts += [*_about_links(found), *found.remarks, *found.rows.notes, *map(str, found.doubts)]
    more = f"Give more {'--seconds' if in_terminal else 'seconds='}, or leave it out."
    for names, problem in _once(found, lambda each: filter(None, [each.problem])):
        late = problem.startswith(UNFINISHED)
        parts.append(f"{names} was {problem}. {more}" if late else f"{names} failed {problem}")
    parts += [f"{names}: {note}" for names, note in _once(found, lambda each: each.notes)]
    if not in_terminal:  # where they are notes below the table
        parts += warning_notes(found)
    parts += filter(None, [why_dashes(_infinite(found))])
    if found.unseen:
        parts.append(
            f"Classes whose rows were all in one held-out fold: {quoted(found.unseen)}. The models "
            "of that fold had not seen them; such a row counts as probability 2⁻⁵² for every model."
        )
    parts += [
        f"Models that take no {role} were not tried: {', '.join(names)}."
        for role, names in found.unable.items()
    ]
    if found.left_out:
        parts.append(
            f"Slow models were not tried: {', '.join(found.left_out)}. To include them, use "
            f"{'--all' if in_terminal else 'everything=True'}."
        )
    return parts


def _about_near(found: "Comparison") -> list[str]:
    """The models that are not clearly worse than the best; those below the baseline apart."""
    if found.best.name == BASELINE:
        return []
    names = [each.name for each in found.entries]
    place = names.index(BASELINE)
    near = [
        k
        for k, each in enumerate(found.entries)
        if k and k != place and each.against_best is not None and each.against_best.p >= CLEAR
        if not (each.worse_than_baseline or each.worse_by)  # named by others
    ]
    sign = 1 if found.metric.better == "higher" else -1
    tied = [
        found.entries[k] for k in near if sign * (found.entries[k].value - found.best.value) > 0
    ]
    above = listed([names[k] for k in near if k < place], 60)
    below = listed([names[k] for k in near if k > place], 60)
    parts = []
    if above:
        parts.append(f"Not clearly worse than {found.best.name} (p ≥ {CLEAR}): {above}.")
    for each in tied:  # the means decide
        parts.append(
            f"{each.name} has a better {found.metric.title} ({number(each.value)}), but not "
            f"clearly better, and {found.best.name} predicts the means better: R² "
            f"{number(_r2(found.best))} against {number(_r2(each))}."
        )
    if below:
        parts.append(
            f"Below the baseline, though the folds do not show them clearly worse than "
            f"{found.best.name} (p ≥ {CLEAR}): {below}."
        )
    return parts


def _r2(each: "Entry") -> float:
    """R² of numbers; of classes 0, for none predicts a mean."""
    return each.others.get("r2", 0.0)


def _about_worse(found: "Comparison") -> list[str]:
    """The models not to use, and whether they are better than the constant of their own family."""
    worse = [each for each in found.entries if each.worse_than_baseline]
    if not worse:
        return []
    names, them = listed([each.name for each in worse], 60), "it" if len(worse) == 1 else "them"
    text = f"Clearly worse than the baseline (constant), do not use {them}: {names}."
    return [text, *(_about_family(each) for each in worse if each.own is not None)]


def _about_means(found: "Comparison") -> list[str]:
    """The models that are not called the best although they score well, and why."""
    sign = 1 if found.metric.better == "higher" else -1
    texts = []
    for each in found.entries:
        if each.worse_by:
            above = sign * (each.value - found.best.value) > 0
            score = f"a better {found.metric.title} ({number(each.value)}) than {found.best.name}"
            first = f"{each.name} has {score}, but is not called the best" if above else each.name
            texts.append(
                f"{first}: its means are worse than a constant's ({'; '.join(each.worse_by)}). "
                "Do not use it."
            )
    return texts


def _about_lone_rows(found: "Comparison") -> list[str]:
    """Rows that alone make a model no better than the baseline, numbered from 0."""
    table, features = found.rows.table, found.rows.features.column_names
    texts = []
    for each in found.entries:
        if each.lone is not None:
            names = [
                row_in_words(row, unusual_cells(table, row, features)) for row in each.lone.rows
            ]
            texts.append(f"{each.name}: {lone_rows_in_words(each.lone, names)}")
    return texts


def _about_family(each: "Entry") -> str:
    assert each.own is not None, "asked by the caller"
    family, gain = each.own
    beside = f"{each.name}, against its own baseline (a constant of the family {family}): the gain"
    text = f"{beside} is {estimate(*gain[:3])}."
    if not clearly_better(gain):
        return text
    return f"{text} Its means follow the columns, but this family does not suit the target."


def warning_notes(found: "Comparison") -> list[str]:
    """The warnings of the fits: one for each model and kind, and models with the same together."""
    texts = _once(found, lambda each: each.warning_kinds)
    others = [f"{names}: {text}" for names, text in texts if not text.startswith(UNSEEN)]
    return [*(_about_unseen(found) if len(others) < len(texts) else ()), *others]


def _about_unseen(found: "Comparison") -> list[str]:
    """One note about categories that are in held-out rows only, for all models and folds."""
    columns, n_unseen = unseen_in_folds(found.rows, found.folds)
    if not n_unseen:
        return []
    return [
        f"{UNSEEN[0]} are ignored, or read as the reference, in "
        f"{n_unseen:,} of {found.rows.table.num_rows:,} held-out rows: {listed(columns, 6)}."
    ]


def _infinite(found: "Comparison") -> list[str]:
    """The models with a score that is shown as a dash."""
    return [
        each.name
        for each in found.entries
        if not each.problem and not all(map(isfinite, _shown(each)))
    ]


def _shown(each: "Entry") -> list[float]:
    """The scores that a model has."""
    return [*([] if each.without_metric else [each.value]), *each.others.values()]


def _verdict(found: "Comparison", in_terminal: bool) -> str:
    best = found.best
    if found.all_failed:
        return "No model could be scored except the baseline (constant)."
    if best.score is None or not isfinite(best.value):
        return f"No model has a finite {found.metric.title}, so none can be called the best."
    sign = 1 if found.metric.better == "higher" else -1
    if best.name == BASELINE and any(
        each.worse_by and sign * (each.value - best.value) > 0 for each in found.entries
    ):
        return (
            "No model is called better than the baseline (constant): those that score better "
            f"predict worse means than a constant.{_learned_otherwise(found)}"
        )
    if best.name == BASELINE:
        gained = any(each.score and each.score.better_than_baseline for each in found.entries)
        learned = _learned_otherwise(found)
        if gained or learned or not _of_gain(found):
            text = f"No model has a better {found.metric.title} than the baseline (constant)."
            return f"{text}{learned}"
        return (
            "No model is better than the baseline (constant): no model predicts better than "
            "ignoring the columns."
        )
    better = best.score.better_than_baseline and not found.flattering
    word = "clearly better" if better else "not clearly better"
    sealed = in_terminal and found.rows.sealed
    advice = "run likely final on the sealed rows" if sealed else "score it on sealed rows"
    unit = UNIT if best.score.in_nats and not _of_gain(found) else ""
    but = "" if better else _learned_otherwise(found, best)
    but += f"{_doubted(found)}{_contradicted(best)}"
    return (
        f"Best: {best.name}, {word} than the baseline: the {GAIN}{unit} is "
        f"{estimate(*best.score.gain[:3])}.{but} It was chosen on "
        f"these folds, so its score is slightly optimistic; {advice} for an unbiased score."
    )


def right_of_classes(found: "Comparison") -> str:
    """How often the best model and the most frequent class are right; empty of numbers."""
    task, score = found.task, found.best.score
    if not task.has_classes or score is None or found.best.name == BASELINE:
        return ""
    codes = task.codes(found.rows.table)
    weight = np.ones(len(codes)) if found.rows.weights is None else found.rows.weights
    share = np.bincount(codes[codes >= 0], weight[codes >= 0], minlength=len(task.classes))
    said = right_in_words(score.estimates.get("accuracy"), str(task.classes[int(share.argmax())]))
    return f"The best model, {found.best.name}, is {said}." if said else ""


def _learned_otherwise(found: "Comparison", only: "Entry | None" = None) -> str:
    """A sentence about a model that is clearly better than the baseline by another metric."""
    if found.flattering:
        return ""
    n_models = max(sum(each.name != BASELINE for each in found.entries), 1)
    for each in found.entries if only is None else (only,):
        unfit = each.score is None or each.name == BASELINE or each.worse_by
        measures = {} if each.score is None or unfit else each.score.estimates
        n_rows = each.score.n_rows if each.score else 0
        better = better_metrics(measures, n_rows, n_models=n_models)
        if better:
            return f" But {each.name} is clearly better by {in_words(better, measures)}."
    return ""


def _doubted(found: "Comparison") -> str:
    """Why a gain is not called clear, although its interval is above 0."""
    score = found.best.score
    if not found.flattering or score is None or not score.better_than_baseline:
        return ""
    codes = ", ".join(each.code for each in found.flattering)
    return f" A gain in these rows shows little, because of what is said below ({codes})."


def _contradicted(best: "Entry") -> str:
    """A sentence about metrics by which the best model is clearly worse than the baseline."""
    measures = {} if best.score is None else best.score.estimates
    worse = worse_metrics(measures)
    if not worse:
        return ""
    return f" But it is clearly worse than the baseline by {in_words(worse, measures)}."


def _of_gain(found: "Comparison") -> bool:
    """Whether the models are ordered by the metric of which the gain is a difference."""
    return found.metric is main_metric(found.task.kind)


def _about_links(found: "Comparison") -> list[str]:
    """With offsets or exposures and different links: the baseline of each link."""
    by_link: dict[str | None, list[Entry]] = {}
    for each in found.entries:
        if each.score is not None:
            by_link.setdefault(each.score.baseline_link, []).append(each)
    if len(by_link) < 2:
        return []
    parts = []
    for link, entries in by_link.items():
        names = listed([each.name for each in entries], 60)
        under = "not moved" if link is None else f"{link} link"
        parts.append(f"{number(entries[0].main.baseline)} ({under}: {names})")
    columns = " and ".join(found.rows.roles.at_prediction())
    return [
        f"The means and the baselines depend on {columns}, through the link of each model: "
        f"{'; '.join(parts)}."
    ]


def _once(
    found: "Comparison", texts_of: Callable[["Entry"], Iterable[str]]
) -> list[tuple[str, str]]:
    """Each text about models once, with the names of those it is about."""
    grouped: dict[str, list[str]] = {}
    for each in found.entries:
        for text in texts_of(each):
            grouped.setdefault(text, []).append(each.name)
    return [(", ".join(names), text) for text, names in grouped.items()]


def _row(found: "Comparison", each: "Entry", n_cells: int) -> list[str]:
    if each.problem:
        word = "not finished" if each.is_unfinished else "failed"
        return [each.name, word, *[""] * (n_cells - 2)]
    test = None if each.name == BASELINE else each.against_best  # the gain judges the baseline
    scores = each.main[:3]
    others = (each.others.get(metric.name, nan) for metric in found.others)
    return [
        each.name,
        *estimate_cells(*scores),
        *(number(x if isfinite(x) else None) for x in others),
        f"{each.seconds:.3f}",
        "best" if each is found.best else "" if test is None else p_value(test.p),
    ]


def unseen_in_folds(rows: Dataset, folds: Folds) -> tuple[list[str], int]:
    """The columns with such categories, and the rows that have one, in any repeat."""
    import pyarrow as pa

    columns, unseen = [], np.zeros(rows.table.num_rows, dtype=bool)
    parts = [part for repeat in range(folds.repeats) for part in folds.of_repeat(repeat)]
    for name, column in zip(rows.features.column_names, rows.features.columns, strict=True):
        if pa.types.is_primitive(column.type):
            continue
        known, codes = column.is_valid().to_numpy(), codes_of(rows.table, name)
        new = np.zeros_like(unseen)
        for part in parts:
            new[part.test] |= known[part.test] & ~np.isin(codes[part.test], codes[part.train])
        if new.any():
            columns.append(name)
            unseen |= new
    return columns, int(unseen.sum())
