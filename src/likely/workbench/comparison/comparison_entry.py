"""One model of a comparison: its scores, its tests against others, and notes about its fits.

Which models a comparison tries where none is named: those that suit the task and its roles.

Which models read the texts of a table; the others use its other columns, if it has any.

What a comparison would cost, so that a model with an absurd cost is left out, and named.

    multiplications of a fit  ≈  n d² + 10 K d³        of models with K covariances of d columns

d counts the prepared columns: one for each category but the first of a column of text.  Other
models are linear in the columns, or search by gradients, and are always tried.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from types import MappingProxyType
from typing import Any, NamedTuple, final, get_args

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.inputs.estimators import column_needs
from likely.inputs.foreign_models import chooses_columns, takes_sparse
from likely.kinds import IN_WORDS
from likely.metrics import Metric, Score, mean_score
from likely.numerics.intervals import NO_ESTIMATE, Estimate, clearly_worse, gain_to_json
from likely.output.formatting import all_listed, listed
from likely.output.progress import ModelScored
from likely.workbench.data.dataset import Dataset
from likely.workbench.data.roles import ARGUMENTS
from likely.workbench.models.model_entry import Cost, ModelEntry
from likely.workbench.models.registry import (
    BASELINE,
    MODELS,
    entries_for_task,
    entry_of_estimator,
)
from likely.workbench.preparation.choices import needs_of
from likely.workbench.preparation.prepared import Prepared
from likely.workbench.scoring.cross_validation import UNFINISHED, Repeat, without_metric
from likely.workbench.scoring.held_out import OwnBaseline
from likely.workbench.scoring.paired import DecisiveRows, Paired, lone_rows
from likely.workbench.scoring.reference import RowLosses, row_losses
from likely.workbench.verdict.checks import worse_means

MOST_WORK = 2e13  # multiplications of all fits of a model
WORK_A_SECOND = 2e10  # of a processor core, roughly
FACTORISED = 10  # multiplications of a symmetric eigenvalue problem are about 10 d³
FEW_SECONDS, MOST_SECONDS = 5.0, 120.0  # for all fits with pairs of columns
TIMES_AS_LONG = 4  # a fit with pairs as one without
MOST_COLUMNS = 2000  # for models of pairs of columns, unless slow models are asked for
OF_PAIRS = frozenset({"discriminant", "discriminant-full", "bayesian-network"})  # columns² or ³


@final
@dataclass(frozen=True, eq=False)
class Entry:
    """One model of a comparison; ``problem`` says why there are no scores."""

    name: str
    estimator: Any  # not fitted, with its preparation inside
    score: Score | None = None
    per_fold: Array = field(default_factory=lambda: np.empty(0))  # the main metric, fold by fold
    seconds: float = nan  # of one fit, on average
    against_best: Paired | None = None  # this model's score minus the best one's, over folds
    against_baseline: Paired | None = None
    problem: str = ""
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # how columns are prepared for an estimator without a preparation
    metric: str = ""  # the one that orders the models; a model may not have it
    own: OwnBaseline | None = None  # the constant of its own family, where that is another one
    lone: DecisiveRows | None = None  # rows without which it would be clearly better
    worse_by: tuple[str, ...] = ()  # by what its means are worse than a constant's: never the best

    @property
    def worse_than_baseline(self) -> bool:
        """Whether it is clearly worse than the baseline of the table."""
        return self.score is not None and clearly_worse(self.score.gain)

    @property
    def main(self) -> Estimate:
        """The estimate by the metric that orders the models."""
        if self.score is None:
            return NO_ESTIMATE
        return (
            self.score.estimates.get(self.metric, NO_ESTIMATE) if self.metric else self.score.main
        )

    @property
    def without_metric(self) -> bool:
        """Whether it has scores, but not by the metric that orders the models."""
        return (
            self.score is not None and bool(self.metric) and self.metric not in self.score.estimates
        )

    @property
    def value(self) -> float:
        return self.main.value

    @property
    def others(self) -> dict[str, float]:
        """The values of the other metrics, by name."""
        if self.score is None:
            return {}
        main = self.metric or self.score.metric
        return {name: e.value for name, e in self.score.estimates.items() if name != main}

    @property
    def is_unfinished(self) -> bool:
        """Whether it took longer than it might."""
        return self.problem.startswith(UNFINISHED)

    def event(self, metric: Metric) -> ModelScored:
        """What listeners are told while other models are at work."""
        return ModelScored(self.name, metric.title, *self.main[:3], self.seconds, self.problem)

    @property
    def warning_kinds(self) -> tuple[str, ...]:
        """The first warning of each kind, with the number of others."""
        by_kind: dict[str, list[str]] = {}
        for warning in self.warnings:
            kind, colon, text = warning.partition(": ")
            by_kind.setdefault(kind if colon else "", []).append(text if colon else warning)
        return tuple(
            texts[0] + (f" ({len(texts) - 1} more like it in other folds.)" if texts[1:] else "")
            for texts in by_kind.values()
        )

    def facts(self) -> dict[str, Any]:
        """The model and its scores, in types of JSON."""
        paired = {"against_best": self.against_best, "against_baseline": self.against_baseline}
        gain = NO_ESTIMATE if self.score is None else self.score.gain
        return {
            "model": self.name,
            **self.main.to_json(),
            "baseline_link": None if self.score is None else self.score.baseline_link,
            **gain_to_json(gain),
            "own_baseline": None if self.own is None else self.own.to_json(),
            "worse_by": list(self.worse_by),
            "lone_rows": None if self.lone is None else self.lone.to_json(),
            "folds": self.per_fold.tolist(),
            "others": self.others,
            "fit_seconds": self.seconds,
            **{key: None if test is None else test._asdict() for key, test in paired.items()},
            "problem": self.problem or None,
            "warnings": list(self.warnings),
            "notes": list(self.notes),
        }


@final
@dataclass(eq=False)
class Tally:
    """A model, and its repeats so far."""

    name: str
    estimator: Any
    bare: bool = False  # whether it was given as an estimator without a preparation
    scores: list[Score] = field(default_factory=list)
    per_fold: list[Array] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    problem: str = ""
    metric: str = ""
    without: str = ""  # why it has no score by the main metric
    own: list[OwnBaseline] = field(default_factory=list)  # of each repeat, where it is another one
    lone: DecisiveRows | None = None  # of the first repeat
    worse_by: tuple[str, ...] = ()  # of the first repeat in which it is
    losses: RowLosses | None = None  # of each row of the table, in the first repeat

    def take(self, found: Repeat, metrics: Sequence[Metric]) -> None:
        self.warnings += [text for text in found.warnings if text not in self.warnings]
        self.problem = found.problem
        if self.problem:
            return
        held, main = replace(found.held, is_constant=self.name == BASELINE), metrics[0]
        self.metric, suited = main.name, held.is_constant or main.suits(held.prediction)
        if not suited:
            self.without = str(without_metric(self.estimator, main, held.prediction))
        if not suited and not any(each.suits(held.prediction) for each in metrics):
            self.problem = f": {self.without}"
            return
        self.scores.append(held.score(metrics))
        self.worse_by = self.worse_by or worse_means(held)
        if len(self.scores) == 1 and held.prediction.in_nats:
            self.losses = row_losses(held)
        none = np.full(len(np.unique(held.fold)), nan)
        self.per_fold.append(held.by_fold(main) if suited else none)
        self.seconds += found.seconds
        self.own += filter(None, [held.own_baseline()])
        if len(self.scores) == 1 and not held.is_constant:
            self.lone = lone_rows(
                held.prediction.gain_over(held.constant, held.truth), held.truth.weights, held.row
            )

    def is_same_as(self, other: "Tally") -> bool:
        """Whether it predicts just the same."""
        return not self.problem and all(map(np.array_equal, self.per_fold, other.per_fold))

    def is_complete(self, repeats: int) -> bool:
        """Whether nothing more will be taken."""
        return bool(self.problem) or len(self.scores) == repeats

    def entry(self) -> Entry:
        warnings = tuple(self.warnings)
        if self.problem:
            return Entry(self.name, self.estimator, problem=self.problem, warnings=warnings)
        return Entry(
            self.name,
            self.estimator,
            mean_score(self.scores),
            np.concatenate(self.per_fold),
            float(np.mean(self.seconds)),
            warnings=warnings,
            notes=(
                *([f"ranked last: {self.without}"] if self.without else []),
                *(preparation_notes(self.estimator) if self.bare else ()),
            ),
            metric=self.metric,
            own=self._own_baseline(),
            lone=self.lone,
            worse_by=self.worse_by,
        )

    def _own_baseline(self) -> OwnBaseline | None:
        if not self.own:
            return None
        gain = Estimate(*np.mean([each.gain for each in self.own], axis=0).tolist())
        return OwnBaseline(self.own[0].family, gain)


def fast_first(
    entries: Mapping[str, ModelEntry], names: Iterable[str], *, together: bool
) -> list[list[str]]:
    """Groups of models in the order of their cost, each scored before the next.

    Models of low cost are one group if fits run side by side (``together``).  What a model of
    another library costs is not known: it comes after them.
    """
    costs = [*get_args(Cost)]
    low, foreign = costs.index("low"), costs.index("low") + 0.5

    def cost(name: str) -> float:
        entry = entries.get(name)
        if entry is None:
            return low  # the baseline
        return foreign if entry.is_foreign else costs.index(entry.cost)

    ordered = sorted(names, key=cost)
    fast = [name for name in ordered if cost(name) == low]
    rest = [[name] for name in ordered[len(fast) :]]
    return [fast, *rest] if together else [*([name] for name in fast), *rest]


class Twin(NamedTuple):
    """A model with pairs of columns, and why it is tried or not."""

    entry: ModelEntry | None
    remark: str


def with_pairs(entries: Sequence[Entry], n_fits: int, *, missed: bool) -> Twin:
    """The best of the additive models with pairs of columns.

    It is tried if that takes a few seconds, and up to minutes if the models have ``missed``
    something.
    """
    twins = {each.without_pairs: each for each in MODELS.values() if each.without_pairs}
    best = next((each for each in entries if each.name in twins and not each.problem), None)
    if best is None:
        return Twin(None, "")
    twin, seconds = twins[best.name], best.seconds * TIMES_AS_LONG * n_fits
    if seconds <= FEW_SECONDS:
        return Twin(twin, "")
    if not missed:
        return Twin(None, "")
    if seconds > MOST_SECONDS:
        why = f"because its fits would take about {seconds / 60:.0f} minutes; name it to try it"
        return Twin(None, f"Not tried, {why}: {twin.name}.")
    why = "because its terms without pairs of columns miss something"
    return Twin(twin, f"{twin.name} was tried {why}.")


def preparation_notes(estimator: Prepared) -> tuple[str, ...]:
    """How columns are prepared for an estimator that was given without a preparation.

    None for one that has its own, and for a model of this library whose columns keep their scale.
    """
    model = estimator.model
    needs = needs_of(model, impute="auto", scale="auto")
    foreign = entry_of_estimator(estimator).is_foreign
    if chooses_columns(model) or not (foreign or needs.scale):
        return ()
    steps = ["missing cells are filled"] * needs.impute
    steps += ["categories become columns of 0 and 1"] * needs.levels
    steps.append(f"numbers are {'standardised' if needs.scale else 'not scaled'}")
    return (
        f"columns are prepared before each fit: {all_listed(steps)}. Another preparation is "
        f"possible in Python: Prepared(model, scale={not needs.scale}), or a Pipeline that begins "
        "with a ColumnTransformer, which is given the columns as they are.",
    )


class ChosenModels(NamedTuple):
    """The models to compare, and those that were left out, with the reason."""

    models: Any  # names, estimators or entries
    slow: tuple[str, ...] = ()
    unable: Mapping[str, tuple[str, ...]] = MappingProxyType({})  # those that lack a role, by it
    too_long: tuple[str, ...] = ()  # notes about models that would take hours
    unread: tuple[str, ...] = ()  # and about models that read no text


def suited_models(rows: Dataset, *, everything: bool, n_fits: int) -> ChosenModels:
    """The models that suit the task, and can be fitted that often in a reasonable time."""
    task, roles = rows.settled, rows.roles.given()
    kind, many = task.kind, task.many_zeros
    suited = entries_for_task(rows.settled, everything=True)
    unable = {
        role: names
        for role in roles
        if (
            names := tuple(
                each.name
                for each in suited
                if not each.accepts(ARGUMENTS[role], kind, many_zeros=many)
            )
        )
    }
    able = [each for each in suited if not any(each.name in names for names in unable.values())]
    if unable and {each.name for each in able} <= {BASELINE}:
        role, names = next(iter(unable.items()))
        raise InvalidInput(
            f"The {role} {roles[role]!r} was given, and no model for {IN_WORDS[kind]} takes one "
            f"({', '.join(names)} do not). Leave it out, or give the kind of the target (--kind) "
            "if it holds counts or amounts."
        )
    unable = {role: tuple(n for n in names if not MODELS[n].without_pairs)
              for role, names in unable.items()}  # fmt: skip
    tried = entries_for_task(rows.settled, everything=everything)
    chosen = [each for each in tried if each in able]
    if not everything and len(rows.source.names) > MOST_COLUMNS:
        chosen = [each for each in chosen if each.name not in OF_PAIRS]
    slow = tuple(each.name for each in able if each not in chosen and not each.without_pairs)
    fitted, too_long = affordable(chosen, rows, n_fits)
    readers, unread = text_readers(fitted, rows)
    return ChosenModels(readers, slow, unable, too_long, unread)


class TextReaders(NamedTuple):
    """Models to try, and a remark about those that do not read text."""

    entries: list[ModelEntry]
    remarks: tuple[str, ...]


def text_readers(entries: Sequence[ModelEntry], rows: Dataset) -> TextReaders:
    """The models that can learn from these columns."""
    task, texts = rows.settled, listed([*map(repr, rows.texts)], 3)
    blind = [
        entry.name
        for entry in entries
        if task.text and entry.name != BASELINE and not takes_sparse(entry.build(task))
    ]
    if not blind:
        return TextReaders(list(entries), ())
    names, verb = listed(blind, 6), "reads" if len(blind) == 1 else "read"
    if task.text == "beside":
        remark = f"Without the text {texts}, because they read dense columns only: {names}."
        return TextReaders(list(entries), (remark,))
    kept = [entry for entry in entries if entry.name not in blind]
    return TextReaders(kept, (f"Not tried, because they {verb} no text: {names}.",))


class Affordable(NamedTuple):
    """Models to try, and a remark about those that are left out."""

    entries: list[ModelEntry]
    remarks: tuple[str, ...]


def affordable(entries: Sequence[ModelEntry], rows: Dataset, n_fits: int) -> Affordable:
    """The models that can be fitted this often in a reasonable time."""
    n_columns = n_prepared_columns(rows)
    n_rows, seconds = rows.table.num_rows, {}
    for entry in entries:
        n_covariances = _n_covariances(entry, rows)
        work = n_rows * n_columns**2 + FACTORISED * n_covariances * n_columns**3
        if n_covariances and n_fits * work > MOST_WORK:
            seconds[entry.name] = n_fits * work / WORK_A_SECOND
    kept = [each for each in entries if each.name not in seconds]
    if not seconds:
        return Affordable(kept, ())
    names, hours = listed([*seconds], 6), max(seconds.values()) / 3600
    return Affordable(
        kept,
        (
            f"Not tried, because covariances of {n_columns:,} columns would take about "
            f"{hours:,.1f} hours: {names}. To try one anyway, name it; or drop columns with many "
            "categories.",
        ),
    )


def n_prepared_columns(rows: Dataset) -> int:
    """Columns of the table in which categories are columns of 0 and 1."""
    import pyarrow as pa
    import pyarrow.compute as pc

    total = 0
    for column in rows.features.drop_columns(list(rows.texts)).columns:  # they read no text
        coded = pa.types.is_dictionary(column.type)
        if not coded and pa.types.is_primitive(column.type):
            total += 1
            continue
        values = column.cast(column.type.value_type) if coded else column
        total += max(pc.count_distinct(values, mode="only_valid").as_py() - 1, 1)
    return total


def _n_covariances(entry: ModelEntry, rows: Dataset) -> int:
    """Covariances of all columns that a fit factorises; 0 for other models."""
    task = rows.settled
    model = entry.build(task)
    if column_needs(model).most_with_missing is None:
        return 0
    tied = model.get_params(deep=False).get("covariance") == "tied"
    return 1 if tied else max(len(task.classes), 1)
