"""Models side by side: scores on the same folds, intervals, paired tests, and the baseline.

The score of a model is computed from all held-out rows of a repeat together, with an interval over
these rows, and averaged over repeats.  Paired tests are between the scores of single folds,
corrected for the overlap of their training sets (``likely.workbench.scoring.paired``).
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from pathlib import Path
from typing import Any, Unpack, final

import numpy as np
from sklearn.base import clone

from likely.compute.executor import SERIAL_BYTES, Executor, executor_of_fits
from likely.data.frames import frame_of
from likely.errors import InvalidInput
from likely.metrics import METRICS, Metric
from likely.metrics.registry import SHOWN_NEXT
from likely.output.formatting import capitalised
from likely.output.pictures import intervals_along_side
from likely.output.progress import stage, tell
from likely.sealing.folder import SealFolder
from likely.workbench.comparison.comparison_entry import (
    ChosenModels,
    Entry,
    Tally,
    fast_first,
    n_prepared_columns,
    suited_models,
    with_pairs,
)
from likely.workbench.comparison.comparison_text import html_of, text_of
from likely.workbench.comparison.records import keep_comparison
from likely.workbench.data.dataset import Dataset
from likely.workbench.data.folds import Folds
from likely.workbench.data.opening import DataArguments, dataset, takes_data_arguments
from likely.workbench.data.task import Task
from likely.workbench.look.findings import FLATTERING, Finding
from likely.workbench.look.look import findings_beside_scores
from likely.workbench.models.model_entry import ModelEntry
from likely.workbench.models.registry import BASELINE, MODELS, entries_by_name
from likely.workbench.preparation.prepared import Prepared, prepared
from likely.workbench.scoring.cross_validation import Loop, TimeLimit, cross_validate_all
from likely.workbench.scoring.paired import standings
from likely.workbench.scoring.predictions import metric_of_models
from likely.workbench.scoring.reference import Reference, RowLosses, boosted_on, costs_little


@final
@dataclass(frozen=True, eq=False)
class Comparison:
    """Models on the same folds, the best first.  Prints as a table.

    Attributes
    ----------
    entries : tuple of Entry
        The best first; those that failed last.
    rows : Dataset
        The table, its task, and what it is called.
    metric : Metric
        The metric by which models are ordered.
    others : tuple of Metric
        Other metrics, shown next to it.
    folds : Folds
    left_out : tuple of str
        Slow models that suit the task and were not requested.
    unable : dict
        Models that suit the task and do not take its weight, offset or exposure, by role.
    unseen : tuple
        Classes whose rows were all in one held-out fold, so its models had not seen them.
    remarks : tuple of str
        Why the metric is not the usual one, and which models would have taken too long.
    kept : tuple of Path
        The file in which it is saved for the report: that of the seal, if it could be written.
    doubts : tuple of Finding
        Leaks and near copies, with which every score is too good: no model is then called better
        (``flattering``).  A single column that is nearly enough is only to be checked.
    reference : Reference or None
        What gradient boosting gains over the models, where no model was named and it costs little.
        It is never one of the entries.
    """

    entries: tuple[Entry, ...]
    rows: Dataset
    metric: Metric
    others: tuple[Metric, ...]
    folds: Folds
    left_out: tuple[str, ...] = ()
    unseen: tuple[Any, ...] = ()
    unable: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    kept: tuple[Path, ...] = ()
    doubts: tuple[Finding, ...] = ()
    reference: Reference | None = None

    @property
    def flattering(self) -> tuple[Finding, ...]:
        """The doubts with which no model is called better."""
        return tuple(
            each for each in self.doubts if each.code in FLATTERING and each.severity != "note"
        )

    @property
    def best(self) -> Entry:
        """The entry with the best score, which may be the baseline."""
        return self.entries[0]

    @property
    def baseline(self) -> Entry:
        return self[BASELINE]

    @property
    def failed(self) -> tuple[Entry, ...]:
        return tuple(each for each in self.entries if each.problem)

    @property
    def all_failed(self) -> bool:
        """Whether only the baseline was scored, although other models were tried."""
        return bool(self.failed) and len(self.failed) == len(self.entries) - 1

    @property
    def task(self) -> Task:
        return self.rows.settled

    def best_model(self) -> Any:
        """The best model with its preparation, not yet fitted."""
        return clone(self.best.estimator)

    def keep(self, folder: str | Path) -> Path:
        """Add the comparison to those of a SEAL or a RUN, where the report finds it.

        A comparison on a seal is kept without this.
        """
        path = Path(folder)
        if not path.is_dir():
            raise InvalidInput(
                f"{path} is not a folder; that of a SEAL or a RUN was expected, as likely train "
                "writes it. Give its path."
            )
        kept = keep_comparison(path, self.facts())
        if not kept:
            raise InvalidInput(
                f"{path} cannot be written to; a comparison is saved in a file of the folder. "
                "Change its permissions, or give another folder."
            )
        return kept[0]

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
        """One row per model, in pandas, polars or Arrow, like the data."""
        entries = self.entries
        columns: dict[str, Any] = {"model": np.array([e.name for e in entries], dtype=object)}
        columns |= zip(
            ("value", "low", "high"), np.array([e.main[:3] for e in entries]).T, strict=True
        )
        for metric in self.others:
            columns[metric.name] = np.array([e.others.get(metric.name, nan) for e in entries])
        columns["fit_seconds"] = np.array([e.seconds for e in entries])
        for name in ("against_best", "against_baseline"):
            tests = [getattr(e, name) for e in entries]
            columns[f"p_{name}"] = np.array([nan if t is None else t.p for t in tests])
        columns["problem"] = np.array([e.problem for e in entries], dtype=object)
        return frame_of(columns, self.rows.library if library is None else library)

    def plot(self, ax: Any = None) -> Any:
        """The score of each model with its interval, the best first; the matplotlib axes.

        The dashed line is the baseline; a model whose interval contains it is grey.
        """
        scored = [each for each in self.entries if not each.problem]
        label = f"{capitalised(self.metric.title)} ({self.metric.better} is better)"
        return intervals_along_side(
            ax,
            [each.name for each in scored],
            [each.main[:3] for each in scored],
            label,
            reference=self.baseline.main.value,
        )

    def facts(self) -> dict[str, Any]:
        """The whole comparison, in types of JSON."""
        task, folds = self.task, self.folds
        return {
            "data": self.rows.label,
            "rows": self.rows.table.num_rows,
            "rows_without_target": self.rows.n_without_target,
            "target": task.target,
            "kind": task.kind,
            "reason": task.reason,
            "classes": list(task.classes),
            "metric": self.metric.name,
            "better": self.metric.better,
            "folds": folds.n_folds,
            "repeats": folds.repeats,
            "seed": folds.seed,
            "test_per_train": folds.test_per_train,
            "group": self.rows.group,
            "by_time": self.rows.by_time,
            "roles": self.rows.roles.given(),
            "columns": self.rows.features.column_names,
            "categories": sorted(self.rows.categories),
            "best": self.best.name,
            "models": [each.facts() for each in self.entries],
            "left_out": list(self.left_out),
            "unable": {role: list(names) for role, names in self.unable.items()},
            "unseen_classes": list(self.unseen),
            "reference": None if self.reference is None else self.reference.to_json(),
            "findings": [each.facts() for each in self.doubts],
            "notes": [*self.remarks, *self.rows.notes, *map(str, self.doubts)],
        }


@takes_data_arguments
def compare(
    data: Any,
    target: Any = None,
    models: Any = None,
    *,
    folds: int = 5,
    repeats: int | None = None,
    seed: int = 0,
    everything: bool = False,
    metric: str | Metric | Callable[..., float] | None = None,
    seconds: float | None = None,
    executor: str | Executor = "auto",
    **about: Unpack[DataArguments],
) -> Comparison:
    """Score models on the same folds of a table, with their baseline.

    Each model is fitted with its preparation (missing values, categories, scaling) inside the
    fold, the fast ones first.  One that fails is listed with the reason.  A comparison on a seal is
    saved in its folder, where the report finds it, as in the shell; otherwise nothing is written.

    Parameters
    ----------
    data : data frame, array, Source, Sealed, Dataset, built-in name, or path of a file or a seal
        Only the training rows of a seal are read.
    target : str, or one label for each row
        The column to predict; a seal and built-in data have their own.
    models : name, estimator, list of both, or mapping of names to estimators, optional
        By default, all that suit the target.  The baseline, ``constant``, is always included.
    folds, repeats : int
        The number of folds, and of repeats of the cross-validation with other folds: by default 2,
        and 1 from 100,000 rows on.
    seed : int
        Seed of the folds, and of models that use random numbers.
    everything : bool, default=False
        Whether slow models are included.
    metric : str, Metric or callable, optional
        The metric by which models are ordered; by default log loss or log-likelihood, and the root
        mean squared error where a model of numbers has no density.  May be a
        function f(y, prediction) like those of ``sklearn.metrics``, or its import path: see
        ``likely.metrics.CallableMetric``.
    seconds : float, optional
        The seconds that the fits of one model may take together; one that needs more is stopped,
        and listed as not finished.  A fit of another library is not stopped: no other one follows.
    group : str, optional
        A column of groups; the rows of a group are held out together.  It is not a feature.
    by_time : str, optional
        A column of times; rows are predicted from earlier rows.  A seal records both.
    weight : str, optional
        A column of weights: a row of weight 2 counts twice, in each fit and in the scores.
    offset, exposure : str, optional
        Columns that change a prediction: the first is added to the linear predictor, the second
        multiplies the mean.  A seal records all three.  Models that do not take them are left out;
        one that was named fails.
    kind : str, optional
        The kind of target: binary, classes, ordinal, count, positive or real.  By default that of
        the seal; otherwise it is inferred from the values, or from the models.
    order : sequence, optional
        The classes from lowest to highest; the task is then ordinal.
    drop : sequence of str, optional
        Columns to leave out.
    category : sequence of str, optional
        Columns of numeric codes to treat as categories.
    feature : sequence of str, optional
        Columns to use as they are, although they look like identifiers or free text.
    text : sequence of str, optional
        Columns of text whose words are counted; free text is recognised.  A seal records all four.
    number, date, decimal, sheet : optional
        How numbers and dates of a file are written, as in ``read``.
    executor : str or Executor, default="auto"
        How fits are run: in parallel threads for a small table, otherwise one after another.

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
    rows = dataset(data, target, **about).for_models(models, "compare")
    task = rows.settled
    plan = rows.folds(folds, repeats, seed)
    chosen = ChosenModels(models)
    if models is None:
        chosen = suited_models(rows, everything=everything, n_fits=len(plan))
    named = entries_by_name(chosen.models)
    tried = {
        name: prepared(entry.build(task, seed=seed), entry.words)
        for name, entry in named.items()
        if name != BASELINE
    }
    main, remarks = metric_of_models(task.kind, metric, tried)
    others = tuple(METRICS[name] for name in SHOWN_NEXT[task.kind] if name != main.name)
    estimators = {BASELINE: MODELS[BASELINE].build(task)} | tried  # looks at no column to fail for
    tallies = {
        name: Tally(name, one, bare=_is_bare(named.get(name))) for name, one in estimators.items()
    }
    at_once = executor_of_fits(executor, rows.table.nbytes)
    loop = Loop(rows, plan, limit=_time_limit(seconds))
    groups = fast_first(named, estimators, together=rows.table.nbytes < SERIAL_BYTES)

    def score(groups: Sequence[Collection[str]]) -> None:
        estimators = {name: tally.estimator for name, tally in tallies.items()}
        for found in cross_validate_all(estimators, loop, at_once, groups=groups):
            for name, each in found.items():
                tallies[name].take(each, (main, *others))
                if tallies[name].is_complete(plan.repeats):
                    tell(tallies[name].entry().event(main))

    def compared() -> Comparison:
        return Comparison(
            entries=_ranked([each.entry() for each in tallies.values()], main, plan.test_per_train),
            rows=rows,
            metric=main,
            others=others,
            folds=plan,
            left_out=chosen.slow,
            unseen=_unseen_classes(rows, plan),
            unable=chosen.unable,
            remarks=(*remarks, *chosen.too_long, *chosen.unread),
            doubts=findings_beside_scores(rows),
        )

    with stage("comparing", unit="fits"):
        score(groups)
        found = compared()
        boosted = None
        if models is None and costs_little(rows, n_prepared_columns(rows)):
            boosted = boosted_on(rows, plan, seed=seed)
        if models is None:
            missed = boosted is not None and boosted.over(_losses(tallies)).is_missed_by(
                found.best.name
            )
            twin, remark = with_pairs(found.entries, len(plan), missed=missed)
            if twin is not None and twin.name not in tallies:  # unless all were asked for
                built = prepared(twin.build(task, seed=seed), twin.words)
                tallies[twin.name] = Tally(twin.name, built)
                score([[twin.name]])
                if tallies[twin.name].is_same_as(tallies[twin.without_pairs]):
                    del tallies[twin.name]  # no pair had evidence
                remarks = (*remarks, *([remark] if remark else []))
            elif twin is None and remark:
                remarks = (*remarks, remark)
            found = compared()
        if boosted is not None:
            reference, best = boosted.over(_losses(tallies)), found.best
            if best.name in reference.gains:
                reference = boosted.with_columns(reference, best.name, best.estimator)
                found = replace(found, reference=reference)
    return found if rows.seal is None else _saved(found, rows.seal)


def _losses(tallies: Mapping[str, Tally]) -> dict[str, RowLosses]:
    return {name: each.losses for name, each in tallies.items() if each.losses is not None}


def _time_limit(seconds: float | None) -> TimeLimit | None:
    if seconds is None:
        return None
    if not isinstance(seconds, int | float) or not seconds > 0:
        raise InvalidInput(
            f"seconds={seconds!r} was given; a number above 0 was expected, the time of the fits "
            "of one model. Give one, or None for no limit."
        )
    return TimeLimit(seconds)


def _unseen_classes(rows: Dataset, plan: Folds) -> tuple[Any, ...]:
    """The classes whose rows are all in one held-out fold."""
    task = rows.settled
    whole = plan.held_out_whole(task.codes(rows.table)) if task.has_classes else ()
    return tuple(task.classes[code] for code in whole)


def _saved(compared: Comparison, seal: SealFolder) -> Comparison:
    """The comparison, saved in the folder of its seal unless every model failed."""
    if compared.all_failed:
        return compared
    return replace(compared, kept=keep_comparison(seal.path, compared.facts()))


def _is_bare(entry: ModelEntry | None) -> bool:
    """Whether an estimator was given in place of a registered name, without a preparation."""
    if entry is None or entry.name in MODELS:
        return False
    return not isinstance(entry.example, Prepared)


def _ranked(entries: list[Entry], metric: Metric, test_per_train: float) -> tuple[Entry, ...]:
    """The best first, with the paired tests against it and against the baseline."""
    scored = {each.name: each for each in entries if not each.problem}
    order = standings(
        {name: each.per_fold for name, each in scored.items()},
        {name: each.value for name, each in scored.items()},
        better=metric.better,
        baseline=BASELINE,
        test_per_train=test_per_train,
        never_best=[name for name, each in scored.items() if each.worse_by],
        r2={name: each.others.get("r2", nan) for name, each in scored.items()}
        if metric.needs_density
        else None,
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
