"""Predictions of rows by fits that had not seen them, and their score.

``HeldOut.score`` is the score that every command gives: from all rows of a repeat of
cross-validation together, or from one part of the rows, averaged over repeats.

One part is chosen by a hash of the row's index, or of its cells where a stream has copies of rows
(see ``data.copies``; near copies are seen in memory only).  Without copies it is the same in memory
and in a stream, and so is its score, except for metrics that would need every row: in a stream
these are approximate.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, final, runtime_checkable

import numpy as np

from likely._typing import Array, Codes
from likely.data.arrow import in_one_table
from likely.data.copies import held_out_of_stream
from likely.data.hashed_splits import split_mask, split_source
from likely.data.labels import LARGE
from likely.data.source import Source
from likely.data.source_blocks import chunks
from likely.inputs.foreign_models import predictive_family
from likely.kinds import CLASS_KINDS, TargetKind
from likely.likelihoods.predictive import PredictiveFamily
from likely.metrics.base import Metric
from likely.metrics.baseline import BestConstant, class_log_shares
from likely.metrics.numbers import LogLikelihood
from likely.metrics.prediction import Prediction, Truth
from likely.metrics.registry import metrics_for
from likely.metrics.score import LEVEL, Score, ScoreTotals, score_of
from likely.numerics.additive import pairwise_total
from likely.numerics.intervals import Estimate, gain_to_json
from likely.workbench.data.task import Task
from likely.workbench.models.model_inside import link_of
from likely.workbench.scoring.predictions import predict_for, truth_of

if TYPE_CHECKING:
    import pyarrow as pa

    from likely.workbench.data.dataset import Dataset

ONE_PART = "one part held out"
FRACTION = 0.2  # of the rows, held out
FEWEST_ROWS = 20  # below this nothing is held out
CHUNK_ROWS = 65536
ONE_COMPONENT = "one component"  # what a density is compared with


@runtime_checkable
class LearnsUnlabelled(Protocol):
    """A model that also learns from rows without a label."""

    unlabelled: Any  # the label that marks such rows, or None


@final
@dataclass(frozen=True, eq=False)
class HeldOut:
    """Predictions of rows by fits that had not seen them, each row once, in their order."""

    task: Task
    truth: Truth
    prediction: Prediction
    constant: Prediction  # of the best constant of the same fit's rows
    row: Codes  # (n,), the place of each row in its table
    fold: Codes  # (n,), the fold that held it out
    groups: Codes | None = None  # (n,); rows of one were held out together
    n_folds: int | None = None  # None of one part
    families: tuple[PredictiveFamily | None, ...] = ()  # by fold, of numbers
    is_constant: bool = False  # whether the model that predicted is the best constant itself
    own: Prediction | None = None  # of numbers: the best constant of the model's own family

    @classmethod
    def joined(cls, parts: "Sequence[HeldOut]") -> "HeldOut":
        """The folds of a repeat as one."""
        groups = [part.groups for part in parts if part.groups is not None]
        own = [part.own for part in parts if part.own is not None]
        whole = replace(
            parts[0],
            truth=Truth.joined([part.truth for part in parts]),
            prediction=Prediction.joined([part.prediction for part in parts]),
            constant=Prediction.joined([part.constant for part in parts]),
            row=np.concatenate([part.row for part in parts]),
            fold=np.concatenate([part.fold for part in parts]),
            groups=np.concatenate(groups) if groups else None,
            families=tuple(family for part in parts for family in part.families),
            own=Prediction.joined(own) if len(own) == len(parts) else None,
        )
        return whole.rows(np.argsort(whole.row, kind="stable"))

    def rows(self, index: Array) -> "HeldOut":
        """Some of the rows, by index or mask."""
        return replace(
            self,
            truth=self.truth.rows(index),
            prediction=self.prediction.rows(index),
            constant=self.constant.rows(index),
            row=self.row[index],
            fold=self.fold[index],
            groups=None if self.groups is None else self.groups[index],
            own=None if self.own is None else self.own.rows(index),
        )

    def own_baseline(self, *, level: float = LEVEL) -> "OwnBaseline | None":
        """The gain over the best constant of the model's own family, where it is another one."""
        family = self.families[0] if self.families else None
        if self.own is None or family is None or self.is_constant:
            return None
        if np.allclose(self.own.losses(self.truth), self.constant.losses(self.truth)):
            return None
        score = score_of(
            [LogLikelihood()],
            self.truth,
            self.prediction,
            self.own,
            groups=self.groups,
            level=level,
        )
        return OwnBaseline(family.response.name, score.gain)

    def totals(self, metrics: Sequence[Metric]) -> ScoreTotals:
        """The statistics of these rows, which add to those of others."""
        prediction = None if self.is_constant else self.prediction
        return ScoreTotals.of(metrics, self.truth, prediction, self.constant)

    def score(self, metrics: Sequence[Metric] | None = None, *, level: float = LEVEL) -> Score:
        """The score by these metrics, the main one first; by all of the task if none are given."""
        score = score_of(
            metrics_for(self.task.kind) if metrics is None else metrics,
            self.truth,
            None if self.is_constant else self.prediction,
            self.constant,
            groups=self.groups,
            level=level,
        )
        how = ONE_PART if self.n_folds is None else f"{self.n_folds}-fold cross-validation"
        return replace(score, how=how, folds=self.n_folds)

    def by_fold(self, metric: Metric) -> Array:
        """The value of each fold alone, (n_folds,): for the paired tests between models."""
        scored = metric.of_constant(self.constant) if self.is_constant else self.prediction
        found = []
        for held in np.unique(self.fold):
            rows = np.flatnonzero(self.fold == held)
            found.append(metric.value(metric.statistics(self.truth.rows(rows), scored.rows(rows))))
        return np.array(found)


class OwnBaseline(NamedTuple):
    """The family of a model of numbers, and the gain over the best constant of that family."""

    family: str
    gain: Estimate

    def to_json(self) -> dict[str, Any]:
        return {"family": self.family, **gain_to_json(self.gain)}


class OnePart(NamedTuple):
    """The fit to the other rows, and the score of the part."""

    model: Any
    score: Score
    task: Task | None = None  # None without a target
    held: HeldOut | None = None  # in memory: the prediction of each row
    n_unlabelled: int = 0  # rows of the part without a target, which are left out
    n_unseen: int = 0  # rows of a class that the fit had not seen


def fit_on(model: Any, data: "Dataset", source: Source) -> Any:
    """The model after a fit on rows of the data, in memory or as they are read."""
    if data.in_memory:
        return replace(data, source=source).fit(model)
    target = [] if data.target is None else [data.target]
    return model.fit(source, *target, **data.roles.to_fit())


def hold_out(
    make: Callable[[], Any],
    data: "Dataset",
    kind: TargetKind | None,
    *,
    seed: int,
    task: Task | None = None,
) -> OnePart | None:
    """Fit on four fifths of the rows and score on the rest; None where these are too few.

    ``kind`` is the kind of target of the model; ``task`` is known for a table in memory.
    Without a target the score is of a density, compared with that of one component.
    """
    source = data.source
    if source.n_rows is not None and source.n_rows < FEWEST_ROWS:
        return None
    seen, part = split_source(source, seed, FRACTION, _held(data, seed))
    if not any(batch.num_rows for batch in seen):
        return None
    model = fit_on(make(), data, seen)
    if kind is None:
        one = fit_on(one_component(make()), data, seen)
        return _density(model, one, data, part)
    task = _task(model, data, kind) if task is None else _labelled(model, task)
    scorer = _Scorer(model, task, data, _constant(model, task, data, seen))
    if data.in_memory:
        return scorer.in_memory(seed)
    return scorer.streamed(part)


def _held(data: "Dataset", seed: int) -> Array | None:
    """A bit for every row that is held out, where copies decide; else None."""
    if not data.in_memory:
        return held_out_of_stream(data.features_read, seed, FRACTION, texts=data.texts)
    if data.units is None:
        return None
    return np.packbits(split_mask(0, len(data.units), seed, FRACTION, data.units))


def predict_elsewhere(model: Any, rows: "Dataset", training: "Dataset") -> HeldOut | None:
    """Predictions of another table, with the best constant of ``training``.

    None where no row has a target and a weight above 0.
    """
    task, table = rows.settled, rows.table
    constant = _constant(model, task, training, training.source)
    return _Scorer(model, task, rows, constant).part(table, np.arange(table.num_rows))[0]


class _Scorer(NamedTuple):
    """A fitted model and the best constant of the same rows."""

    model: Any
    task: Task
    data: "Dataset"
    constant: BestConstant

    def in_memory(self, seed: int) -> OnePart | None:
        table = in_one_table(self.data.source)
        copies = self.data.units
        rows = np.flatnonzero(split_mask(0, table.num_rows, seed, FRACTION, copies))
        held, n_unlabelled, n_unseen = self.part(table.take(rows), rows, copies)
        if held is None:
            return None
        return OnePart(self.model, held.score(), self.task, held, n_unlabelled, n_unseen)

    def streamed(self, part: Source) -> OnePart | None:
        metrics = metrics_for(self.task.kind, in_memory=False)
        totals: list[ScoreTotals] = []
        n_unlabelled = n_unseen = 0
        for table in _chunks(self.model, part, self.data):
            held, unlabelled, unseen = self.part(table, np.arange(table.num_rows))
            n_unlabelled, n_unseen = n_unlabelled + unlabelled, n_unseen + unseen
            if held is not None:
                totals.append(held.totals(metrics))
        if not totals:
            return None
        score = replace(pairwise_total(totals).score(), how=ONE_PART)
        return OnePart(self.model, score, self.task, None, n_unlabelled, n_unseen)

    def part(
        self, table: "pa.Table", rows: Array, copies: Codes | None = None
    ) -> tuple[HeldOut | None, int, int]:
        """The rows that count, how many have no target, and how many have an unseen class."""
        counts, known = _counts(table, self.data), self.task.known(table)
        n_unlabelled = int((counts & ~known).sum())
        kept = np.flatnonzero(counts & known)
        if not len(kept):
            return None, n_unlabelled, 0
        table, rows = table.take(kept), rows[kept]
        truth = _truth(self.model, self.task, table, self.data)
        given = self.data.roles.to_predict(table)
        prediction = predict_for(self.model, self.task, table, given)
        family = None if self.task.has_classes else predictive_family(self.model)
        held = HeldOut(
            self.task,
            truth,
            prediction,
            self.constant.prediction(truth),
            rows,
            np.zeros(len(rows), dtype=np.int64),
            None if copies is None else copies[rows],
            families=(family,),
        )
        unseen = [self.task.classes.index(label) for label in prediction.unseen]
        return held, n_unlabelled, int(np.isin(truth.y, unseen).sum())


def one_component(mixture: Any) -> Any:
    """The baseline of a mixture: the same event models and priors with one component."""
    return mixture.set_params(n_components=1, start=None, prior="estimate")


def _density(model: Any, one: Any, data: "Dataset", part: Source) -> OnePart | None:
    """log p(x) per row, and that of a model with one component."""
    totals = []
    for table in _chunks(model, part, data):
        X = table.select(list(model.feature_names_in_))
        ours, theirs = (
            Prediction(log_density=np.asarray(each.log_likelihoods(X))) for each in (model, one)
        )
        truth = Truth(np.zeros(table.num_rows), _weight(table, data), kind="real")
        totals.append(ScoreTotals.of([LogLikelihood()], truth, ours, theirs))
    if not totals:
        return None
    score = pairwise_total(totals).score()
    return OnePart(model, replace(score, how=ONE_PART, baseline=ONE_COMPONENT))


def _constant(model: Any, task: Task, data: "Dataset", seen: Source) -> BestConstant:
    """The best constant of the training rows: from counts for classes, from values for numbers."""
    names = [str(data.target), *data.roles.given().values()]
    only = seen.select([name for name in dict.fromkeys(names) if name != data.clusters])
    truths = []
    for table in chunks(only, CHUNK_ROWS):
        kept = np.flatnonzero(_counts(table, data) & task.known(table))
        truth = _truth(model, task, table.take(kept), data)
        if task.has_classes:
            counts = np.bincount(truth.y, truth.weights, minlength=len(task.classes))
            codes = np.arange(len(counts))
            truth = Truth(codes, counts, task.classes, task.kind)
        truths.append(truth)
    if not task.has_classes:
        return BestConstant.of(Truth.joined(truths))
    total = np.sum([truth.weights for truth in truths], axis=0)
    return BestConstant(class_log_shares(np.arange(len(total)), total, len(total)))


def _truth(model: Any, task: Task, table: "pa.Table", data: "Dataset") -> Truth:
    truth = truth_of(task, table, _weight(table, data))
    offsets = None if task.has_classes else data.roles.offsets(table)
    return truth if offsets is None else truth.moved_by(offsets, link_of(model))


def _task(model: Any, data: "Dataset", kind: TargetKind) -> Task:
    """The task of a target that is read: its classes are all that occur."""
    target = str(data.target)
    if kind not in CLASS_KINDS:
        return Task(kind, target, zeros=_zeros(data, target) if kind == "real" else 0.0)
    met = model.classes_.tolist()
    labels = set(met).union(*(_labels(batch, target) for batch in data.source.select([target])))
    in_order = sorted(labels) if met == sorted(met) else [*met, *sorted(labels - set(met))]
    task = Task(kind, target, tuple(in_order), tuple(in_order) if kind == "ordinal" else None)
    return _labelled(model, task)


def _zeros(data: "Dataset", target: str) -> float:
    """The share of exact zeros among amounts, as ``task_of`` has it of a table."""
    n = n_zeros = 0
    largest, whole = 0.0, True
    for table in chunks(data.source.select([target]), CHUNK_ROWS):
        y = Task("real", target).numbers(table)
        y = y[~np.isnan(y)]
        if y.size and y.min() < 0:
            return 0.0
        n, n_zeros = n + y.size, n_zeros + int((y == 0).sum())
        largest, whole = y.max(initial=largest), whole and bool((y == np.rint(y)).all())
    return n_zeros / n if n and not (whole and largest < LARGE) else 0.0


def _labels(batch: Any, target: str) -> set[Any]:
    """The distinct labels of a batch, without missing ones."""
    found = batch.column(target).unique().to_pylist()
    return {label for label in found if label is not None and label == label}


def _labelled(model: Any, task: Task) -> Task:
    """The task without the label that marks unlabelled rows; two classes are binary."""
    if not task.has_classes:
        return task
    marked = model.unlabelled if isinstance(model, LearnsUnlabelled) else None
    classes = tuple(label for label in task.classes if label != marked)
    two = task.kind == "classes" and len(classes) == 2
    return replace(task, classes=classes, kind="binary" if two else task.kind)


def _chunks(model: Any, part: Source, data: "Dataset") -> "Iterator[pa.Table]":
    """The rows that count, piece by piece, with the columns that a score needs."""
    others = [name for role, name in data.roles.given().items() if role != "clusters"]
    target = [] if data.target is None else [data.target]
    names = [*(str(name) for name in model.feature_names_in_), *target, *others]
    for table in chunks(part.select(list(dict.fromkeys(names))), CHUNK_ROWS):
        kept = table.filter(_counts(table, data))
        if kept.num_rows:
            yield kept


def _counts(table: "pa.Table", data: "Dataset") -> Array:
    """Which rows have a weight above 0."""
    weight = _weight(table, data)
    return np.ones(table.num_rows, dtype=bool) if weight is None else weight > 0


def _weight(table: "pa.Table", data: "Dataset") -> Array | None:
    if data.weight is None:
        return None
    return np.asarray(table.column(data.weight).to_numpy(), dtype=np.float64)
