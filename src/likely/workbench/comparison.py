"""Models side by side: scores on the same folds, intervals, paired tests, and the baseline.

    averaged    the mean over folds of the score of each
    pooled      the score of all held-out rows of a repeat together, and the mean over repeats

The two agree for a score that is a mean over rows, up to the sizes of the folds; R², AUC and the
like differ.  The interval beside the average and the paired tests are corrected for the overlap of
training sets (``likely.workbench.paired``).

References
----------
Forman & Scholz (2010), Apples-to-apples in cross-validation studies, SIGKDD Explorations 12.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from math import nan
from operator import add
from typing import Any, final

import numpy as np
from sklearn.base import clone

from likely._typing import Array
from likely.compute.executor import Executor
from likely.data.frames import frame_of
from likely.errors import InvalidInput
from likely.kinds import TargetKind
from likely.metrics import METRICS, Metric, metric_named, metrics_for
from likely.workbench.comparison_text import html_of, text_of
from likely.workbench.contest import Arena, Contestant, contest
from likely.workbench.contestants import contestants_for
from likely.workbench.folds import Folds
from likely.workbench.models import BASELINE
from likely.workbench.paired import Paired, standings
from likely.workbench.rows import Rows, rows_for
from likely.workbench.search.question import executor_of_trials
from likely.workbench.task import Task

BESIDE: dict[TargetKind, tuple[str, ...]] = {  # shown next to the main metric
    "binary": ("accuracy",),
    "classes": ("accuracy",),
    "ordinal": ("ranked-probability", "accuracy"),
    "count": ("poisson-deviance-explained", "r2"),
    "positive": ("r2",),
    "real": ("r2",),
}


@final
@dataclass(frozen=True, eq=False)
class Entry:
    """One model of a comparison; ``problem`` says why there are no scores."""

    name: str
    estimator: Any  # not fitted, with its preparation inside
    per_fold: Array = field(default_factory=lambda: np.empty(0))  # the main metric, fold by fold
    averaged: float = nan
    low: float = nan  # ends of the average's interval
    high: float = nan
    pooled: float = nan
    pooled_low: float = nan
    pooled_high: float = nan
    beside: Mapping[str, float] = field(default_factory=dict)  # pooled, by name of the metric
    seconds: float = nan  # of one fit, on average
    against_best: Paired | None = None  # this model's score less the best one's
    against_baseline: Paired | None = None
    problem: str = ""
    warnings: tuple[str, ...] = ()

    def facts(self) -> dict[str, Any]:
        """For a program."""
        paired = {"against_best": self.against_best, "against_baseline": self.against_baseline}
        return {
            "model": self.name,
            "averaged": self.averaged,
            "interval": [self.low, self.high],
            "pooled": self.pooled,
            "pooled_interval": [self.pooled_low, self.pooled_high],
            "folds": self.per_fold.tolist(),
            **self.beside,
            "fit_seconds": self.seconds,
            **{key: None if test is None else test._asdict() for key, test in paired.items()},
            "problem": self.problem or None,
            "warnings": list(self.warnings),
        }


@final
@dataclass(frozen=True, eq=False)
class Comparison:
    """Models on the same folds, the best first.  Prints as a table.

    Attributes
    ----------
    entries : tuple of Entry
        The best first; those that failed last.
    rows : Rows
        The table, its task, and what it is called.
    metric : Metric
        The main one, by which models are ordered.
    beside : tuple of Metric
        Shown next to it.
    folds : Folds
    left_out : tuple of str
        Slow models that suit the task and were not asked for.
    unseen : tuple
        Classes that some fold held out whole, so that its models had not seen them.
    """

    entries: tuple[Entry, ...]
    rows: Rows
    metric: Metric
    beside: tuple[Metric, ...]
    folds: Folds
    left_out: tuple[str, ...] = ()
    unseen: tuple[Any, ...] = ()

    @property
    def best(self) -> Entry:
        """The entry with the best average; the baseline may be it."""
        return self.entries[0]

    @property
    def baseline(self) -> Entry:
        return self[BASELINE]

    @property
    def failed(self) -> tuple[Entry, ...]:
        return tuple(each for each in self.entries if each.problem)

    @property
    def all_failed(self) -> bool:
        """Whether the baseline is all that was scored, and other models were tried."""
        return bool(self.failed) and len(self.failed) == len(self.entries) - 1

    @property
    def task(self) -> Task:
        return self.rows.task

    def best_model(self) -> Any:
        """The best model with its preparation, not yet fitted."""
        return clone(self.best.estimator)

    def __getitem__(self, name: str) -> Entry:
        found = {each.name: each for each in self.entries}
        if name not in found:
            raise KeyError(f"There is no model {name!r}; those compared are {', '.join(found)}.")
        return found[name]

    def __str__(self) -> str:
        return text_of(self)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html_of(self)

    def to_frame(self, library: str | None = None) -> Any:
        """One row per model, in pandas, polars or Arrow, as the data were."""
        entries = self.entries
        columns: dict[str, Any] = {"model": np.array([e.name for e in entries], dtype=object)}
        for name in ("averaged", "low", "high", "pooled", "pooled_low", "pooled_high"):
            columns[name] = np.array([getattr(e, name) for e in entries])
        for metric in self.beside:
            columns[metric.name] = np.array([e.beside.get(metric.name, nan) for e in entries])
        columns["fit_seconds"] = np.array([e.seconds for e in entries])
        for name in ("against_best", "against_baseline"):
            tests = [getattr(e, name) for e in entries]
            columns[f"p_{name}"] = np.array([nan if t is None else t.p for t in tests])
        columns["problem"] = np.array([e.problem for e in entries], dtype=object)
        return frame_of(columns, self.rows.library if library is None else library)

    def facts(self) -> dict[str, Any]:
        """Everything, in the types that JSON has."""
        task, folds = self.task, self.folds
        return {
            "data": self.rows.label,
            "rows": self.rows.table.num_rows,
            "rows_without_target": self.rows.n_without,
            "target": task.target,
            "kind": task.kind,
            "reason": task.reason,
            "classes": list(task.classes),
            "metric": self.metric.name,
            "better": self.metric.better,
            "folds": folds.n_folds,
            "repeats": folds.repeats,
            "seed": folds.seed,
            "test_per_train": float(np.mean([len(f.test) / len(f.train) for f in folds])),
            "group": self.rows.group,
            "by_time": self.rows.by_time,
            "best": self.best.name,
            "models": [each.facts() for each in self.entries],
            "left_out": list(self.left_out),
            "unseen_classes": list(self.unseen),
        }


def compare(
    data: Any,
    target: Any = None,
    models: Any = None,
    *,
    folds: int = 5,
    repeats: int = 2,
    seed: int = 0,
    everything: bool = False,
    metric: str | Metric | None = None,
    group: str | None = None,
    by_time: str | None = None,
    kind: TargetKind | None = None,
    order: Sequence[Any] | None = None,
    executor: str | Executor = "auto",
) -> Comparison:
    """Score models on the same folds of a table, beside the best constant.

    Each model is fitted with its preparation (missing values, categories, scaling) inside the
    fold.  One that fails is listed with the reason.

    Parameters
    ----------
    data : data frame, array, Source, Sealed, or path of a file or of a sealed folder
        Of what is sealed only the training part is read.
    target : str, or one label for each row
        The column to predict; a seal remembers it.
    models : name, estimator, list of both, or mapping of names to estimators, optional
        All that suit the target, if not given.  The baseline, ``constant``, is always there.
    folds, repeats : int
        Each repeat deals the rows anew.
    seed : int
        Of the folds, and of models that draw.
    everything : bool, default=False
        Whether the slow models are tried too.
    metric : str, optional
        By which models are ordered; log loss or log-likelihood, if not given.
    group : str, optional
        A column whose equal values are never on both sides of a fold, and which is no feature.
    by_time : str, optional
        A column by which rows are predicted from earlier ones.  A seal remembers both.
    kind : str, optional
        The kind of task: binary, classes, ordinal, count, positive or real.  If not given, a seal
        remembers it, the target's own values say it, or the models do where they need another.
    order : sequence, optional
        The classes from lowest to highest; the task is then ordinal.
    executor : str or Executor, default="auto"
        Where fits run: side by side on threads for a small table, else one after another.

    Returns
    -------
    Comparison
        ``best``, ``entries``, ``to_frame()``; prints as a table.

    Examples
    --------
    >>> import likely as lk, numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> frame = pd.DataFrame({"x": rng.normal(size=200)})
    >>> frame["y"] = frame["x"] + rng.normal(size=200) > 0
    >>> found = lk.compare(frame, "y", ["logistic"])
    >>> [entry.name for entry in found.entries]
    ['logistic', 'constant']
    >>> found.best.against_baseline.p < 0.01
    True
    """
    models = list(models) if isinstance(models, Iterator) else models
    rows = rows_for(
        data,
        target,
        models=models,
        kind=kind,
        order=order,
        group=group,
        by_time=by_time,
        doing="compare",
    )
    return compare_rows(
        rows,
        models,
        folds=folds,
        repeats=repeats,
        seed=seed,
        everything=everything,
        metric=metric,
        executor=executor,
    )


def compare_rows(
    rows: Rows,
    models: Any = None,
    *,
    folds: int = 5,
    repeats: int = 2,
    seed: int = 0,
    everything: bool = False,
    metric: str | Metric | None = None,
    executor: str | Executor = "auto",
) -> Comparison:
    """``compare`` of a table that is open."""
    contestants, left_out = contestants_for(models, rows.task, seed=seed, everything=everything)
    main = metrics_for(rows.task.kind)[0] if metric is None else metric_named(metric)
    if rows.task.kind not in main.tasks:
        raise InvalidInput(
            f"{main.name} is no metric of {rows.task.kind} targets. Choose one of "
            f"{', '.join(each.name for each in metrics_for(rows.task.kind))}."
        )
    beside = tuple(METRICS[name] for name in BESIDE[rows.task.kind] if name != main.name)
    plan = rows.folds(n_folds=folds, repeats=repeats, seed=seed)
    arena = Arena(rows.learned, rows.task, plan, (main, *beside))
    contest(arena, contestants, executor_of_trials(executor, rows.table))
    ranked = _ranked([_entry(arena, each) for each in contestants], arena)
    return Comparison(ranked, rows, main, beside, plan, left_out, _unseen(rows, plan))


def _unseen(rows: Rows, folds: Folds) -> tuple[Any, ...]:
    """The classes that a fold held out whole."""
    if not rows.task.has_classes:
        return ()
    codes, found = rows.task.codes(rows.table), set()
    for fold in folds:
        found |= set(np.setdiff1d(codes[fold.test], codes[fold.train]).tolist())
    return tuple(rows.task.classes[k] for k in sorted(found))


def _entry(arena: Arena, each: Contestant) -> Entry:
    told = {"problem": each.problem, "warnings": tuple(each.warnings)}
    entry = Entry(each.name, each.estimator, **told)  # type: ignore[arg-type]  # str and tuple
    if each.problem:
        return entry
    main, *beside = arena.metrics
    per_fold = np.array([main.value(one.statistics[main.name]) for one in each.scored])
    low, high = arena.interval(per_fold)
    pooled, pooled_low, pooled_high = _pooled(arena, each, main)
    present = [metric for metric in beside if metric.name in each.scored[0].statistics]
    return replace(
        entry,
        per_fold=per_fold,
        averaged=float(per_fold.mean()),
        low=low,
        high=high,
        pooled=pooled,
        pooled_low=pooled_low,
        pooled_high=pooled_high,
        beside={metric.name: _pooled(arena, each, metric)[0] for metric in present},
        seconds=float(np.mean([one.seconds for one in each.scored])),
    )


def _pooled(arena: Arena, each: Contestant, metric: Metric) -> tuple[float, float, float]:
    """The score of a repeat's rows together, with its ends; means over repeats."""
    n = arena.folds.n_folds
    repeats = [each.scored[start : start + n] for start in range(0, len(each.scored), n)]
    totals = [reduce(add, (one.statistics[metric.name] for one in folds)) for folds in repeats]
    values = np.array([(metric.value(one), *metric.interval(one)) for one in totals])
    value, low, high = values.mean(axis=0)
    return float(value), float(low), float(high)


def _ranked(entries: list[Entry], arena: Arena) -> tuple[Entry, ...]:
    """The best first, with the paired tests against it and against the baseline."""
    scored = {each.name: each for each in entries if not each.problem}
    order = standings(
        {name: each.per_fold for name, each in scored.items()},
        better=arena.metrics[0].better,
        baseline=BASELINE,
        test_per_train=arena.held_per_learned,
    )
    tested = [
        replace(
            scored[each.name],
            against_best=each.against_best,
            against_baseline=each.against_baseline,
        )
        for each in order
    ]
    return (*tested, *(each for each in entries if each.problem))
