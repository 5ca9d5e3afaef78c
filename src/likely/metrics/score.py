"""The score of held-out rows: each metric with its baseline, and the gain over the baseline.

    rows → totals, which add → score

    gain = mean of (loss of the constant − loss of the model), row by row

``likely.metrics.prediction`` defines the loss.  Intervals are Student's on the rows, with room for
one more surprise (``metrics.surprise``); for rows in groups they are cluster-robust, with G − 1
degrees of freedom for G groups; the interval of a gain in accuracy is that of matched proportions.
For several repeats, the value and the ends are means.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite, isnan
from typing import Any, cast, final

import numpy as np

from likely._typing import Array, Codes
from likely.kinds import TargetKind
from likely.metrics.base import Metric
from likely.metrics.prediction import Prediction, RowValues, Truth, with_surprise
from likely.metrics.registry import METRICS
from likely.numerics.additive import Additive
from likely.numerics.intervals import (
    Ends,
    Estimate,
    about_matched_mean,
    clearly_better,
    clipped,
    effective_rows,
    gain_from_json,
    gain_to_json,
    measures_from_json,
    measures_to_json,
    n_groups_of,
)
from likely.output.formatting import (
    DASH,
    capitalised,
    count,
    estimate_cells,
    estimate_compared,
    paragraph,
    text_table,
)
from likely.storage.json import plain

CONSTANT = "constant"
GAIN = "gain over the baseline"
UNIT = " (per row, in nats)"
SHOWN = (
    "log-loss",
    "accuracy",
    "auc",
    "auc-approximate",
    "brier",
    "ranked-probability",
    "rank-error",
    "log-likelihood",
)
MOST_SHOWN = 6  # JSON has all
IN_NATS = {"log-loss", "log-likelihood"}  # metrics that only a model with such a gain has
OF_SECOND_CLASS = {"f1", "average-precision", "average-precision-approximate"}  # of two
LEVEL = 0.95  # of intervals


@final
@dataclass(frozen=True)
class Score:
    """The score of predictions by one or more metrics."""

    estimates: Mapping[str, Estimate]  # by the name of the metric, the main one first
    gain: Estimate  # in the units of the loss; that of the constant is 0
    n_rows: int
    how: str = ""  # "5-fold cross-validation"
    folds: int | None = None
    repeats: int = 1
    group: str | None = None  # the column whose groups were held out whole
    n_groups: int | None = None
    baseline: str = CONSTANT  # the model that the baseline is
    baseline_link: str | None = None  # under which offsets or exposures move it; None if none do
    in_nats: bool = True  # whether the gain is one in log-likelihood

    @property
    def metric(self) -> str:
        """The name of the main metric."""
        return next(iter(self.estimates))

    @property
    def main(self) -> Estimate:
        return self.estimates[self.metric]

    @property
    def better_than_baseline(self) -> bool:
        """Whether the gain over the baseline is clearly above 0."""
        return clearly_better(self.gain)

    @property
    def shown(self) -> list[str]:
        """The names of the metrics that are shown, the usual ones first; JSON has all."""
        return sorted(self.estimates, key=lambda name: name not in SHOWN)[:MOST_SHOWN]

    def table(self, classes: Sequence[Any] | None = None) -> tuple[list[str], list[list[str]]]:
        """A head, and a row for each metric that is shown and for the gain over the baseline."""
        rows = [
            [title_of(name, classes), *estimate_cells(*self.estimates[name])] for name in self.shown
        ]
        rows.append([gain_title(self.estimates), *estimate_cells(*self.gain[:3]), ""])
        first = "on held-out rows" if self.folds is None else "by cross-validation"
        return [first, "", "95 % interval", "baseline"], rows

    def remarks(self) -> list[str]:
        """Sentences on dashes and baselines in the table."""
        gone = [title_of(name) for name in self.shown if not isfinite(self.estimates[name].value)]
        about = about_median(self) if "mae" in self.shown else ""
        dashes = why_dashes(gone, of_classes="accuracy" in self.estimates)
        return [each for each in (dashes, about) if each]

    def __str__(self) -> str:
        remarks = paragraph(" ".join([f"Scores of {count(self.n_rows, 'row')}.", *self.remarks()]))
        return "\n".join([*text_table(*self.table()), "", *remarks])

    def to_json(self) -> dict[str, Any]:
        """The score as ``run.json``, ``--json`` and the report have it; null is NaN."""
        record: dict[str, Any] = {
            "name": title_of(self.metric),
            "metric": self.metric,
            "how": self.how,
            "folds": self.folds,
            "repeats": self.repeats,
            "rows": self.n_rows,
            "group": self.group,
            "groups": self.n_groups,
            **self.main.to_json(),
            "baseline_model": self.baseline,
            "baseline_link": self.baseline_link,
            **gain_to_json(self.gain),
            "measures": [
                {"name": title_of(line["metric"]), **line}
                for line in measures_to_json(self.estimates)
            ],
        }
        return cast(dict[str, Any], plain(record))

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> "Score":
        """Read what ``to_json`` wrote."""
        return cls(
            measures_from_json(record["measures"]),
            gain_from_json(record),
            n_rows=record["rows"],
            how=record["how"],
            folds=record["folds"],
            repeats=record["repeats"],
            group=record["group"],
            n_groups=record["groups"],
            baseline=record["baseline_model"],
            baseline_link=record["baseline_link"],
            in_nats=bool(IN_NATS & {line["metric"] for line in record["measures"]}),
        )


@final
@dataclass(frozen=True, eq=False)
class ScoreTotals(Additive):
    """The statistics of some rows from which a score is computed; those of disjoint rows add."""

    metrics: tuple[Metric, ...]  # the main one first
    model: Mapping[str, Any]  # statistics by the name of the metric
    constant: Mapping[str, Any]
    gain: RowValues
    n_rows: int
    kind: TargetKind
    by_labels: bool = False  # whether the gain is one in right classes
    link: str | None = None  # under which the constant is moved
    in_nats: bool = True  # whether the gain is one in log-likelihood

    @classmethod
    def of(
        cls,
        metrics: Sequence[Metric],
        truth: Truth,
        prediction: Prediction | None,
        constant: Prediction,
    ) -> "ScoreTotals":
        """The metrics that suit the prediction, also for the constant; None is the constant."""
        suited = tuple(m for m in metrics if prediction is None or m.suits(prediction))
        by_constant = {m.name: m.statistics(truth, m.of_constant(constant)) for m in suited}
        by_model = by_constant
        if prediction is not None:
            by_model = {m.name: m.statistics(truth, prediction) for m in suited}
        saved = _saved(truth, prediction, constant)
        n_rows = int((truth.weights > 0).sum())
        present = truth.weights > 0
        gain = RowValues.of(saved[present], truth.weights[present])
        by_labels = prediction is not None and prediction.labels is not None
        in_nats = prediction is None or prediction.in_nats
        return cls(
            suited, by_model, by_constant, gain, n_rows, truth.kind, by_labels, truth.link, in_nats
        )

    def __add__(self, other: "ScoreTotals") -> "ScoreTotals":
        return ScoreTotals(
            self.metrics,
            {name: own + other.model[name] for name, own in self.model.items()},
            {name: own + other.constant[name] for name, own in self.constant.items()},
            self.gain + other.gain,
            self.n_rows + other.n_rows,
            self.kind,
            self.by_labels,
            self.link,
            self.in_nats,
        )

    def score(self, *, level: float = LEVEL) -> Score:
        """The score of independent rows."""
        found = {
            m.name: Estimate(
                m.value(self.model[m.name]),
                *clipped(m.interval(self.model[m.name], level), *m.bounds(self.kind)),
                m.value(self.constant[m.name]),
            )
            for m in self.metrics
        }
        ends = (
            self._matched_ends(self.gain.n, level) if self.by_labels else self.gain.gain_ends(level)
        )
        gain = Estimate(self.gain.first, *ends, 0.0)
        return Score(found, gain, self.n_rows, baseline_link=self.link, in_nats=self.in_nats)

    def gain_ends(self, saved: Array, weight: Array, groups: Codes, level: float) -> Ends:
        """The interval of the gain of rows that come in groups."""
        if self.by_labels:
            return self._matched_ends(effective_rows(saved, groups, level, weight), level)
        return RowValues.of_groups(saved, weight, groups).gain_ends(level)

    def _matched_ends(self, n: float, level: float) -> Ends:
        """The interval of matched proportions, for n effective independent rows."""
        scatter = float(self.gain.moments.scatter[0, 0]) / self.gain.n
        return about_matched_mean(self.gain.first, n * scatter, n, level)


def score_of(
    metrics: Sequence[Metric],
    truth: Truth,
    prediction: Prediction | None,
    constant: Prediction,
    *,
    groups: Codes | None = None,
    level: float = LEVEL,
) -> Score:
    """The score of rows in memory; None is that of the constant itself."""
    totals = ScoreTotals.of(metrics, truth, prediction, constant)
    score = totals.score(level=level)
    if groups is None:
        return score
    estimates = {}
    for m in totals.metrics:
        scored = m.of_constant(constant) if prediction is None else prediction
        ends = m.ends(totals.model[m.name], truth, scored, level=level, groups=groups)
        low, high = clipped(ends, *m.bounds(truth.kind))
        estimates[m.name] = score.estimates[m.name]._replace(low=low, high=high)
    present = truth.weights > 0
    saved = _saved(truth, prediction, constant)[present]
    low, high = totals.gain_ends(saved, truth.weights[present], groups[present], level)
    gain = score.gain._replace(low=low, high=high)
    return replace(score, estimates=estimates, gain=gain, n_groups=n_groups_of(groups[present]))


def _saved(truth: Truth, prediction: Prediction | None, constant: Prediction) -> Array:
    """The loss of the constant minus that of the model, row by row; of classes, with a surprise."""
    if prediction is None:
        return np.zeros(len(truth.y))
    if prediction.log_proba is not None and prediction.labels is None:
        return with_surprise(prediction.log_p - constant.log_p, truth, prediction)
    return prediction.gain_over(constant, truth)


def mean_score(scores: Sequence[Score]) -> Score:
    """The score of several repeats: the means of values, ends and constants."""
    first = scores[0]
    return replace(
        first,
        estimates={
            name: _mean([each.estimates[name] for each in scores])
            for name in first.estimates
            if all(name in each.estimates for each in scores)
        },
        gain=_mean([each.gain for each in scores]),
        repeats=len(scores),
    )


def title_of(metric: str, classes: Sequence[Any] | None = None) -> str:
    """The title of a metric in text, with the class that it is about; for a function, its name."""
    known = METRICS.get(metric)
    if known is not None and metric in OF_SECOND_CLASS and classes is not None:
        return f"{known.title} ({classes[1]})"
    return metric.rpartition(".")[2].replace("_", " ") if known is None else known.title


def groups_text(n_groups: int, group: str | None) -> str:
    """``40 groups of shop``; without a column, rows that are copies are the groups."""
    return count(n_groups, "different row" if group is None else "group") + (
        "" if group is None else f" of {group}"
    )


def gain_title(metrics: Collection[str]) -> str:
    """The title of the gain in text, with its unit for a log-likelihood."""
    return GAIN + (UNIT if IN_NATS & {*metrics} else "")


def score_sentence(title: str, found: Estimate, rows: str, baseline: str = CONSTANT) -> str:
    """``Log loss 0.412 (95 % interval 0.389 to 0.436) on 960 rows. Baseline (constant): 0.562.``

    A baseline that is not known (NaN) is left out.
    """
    value, constant = estimate_compared(*found, level=LEVEL)
    compared = "" if isnan(found.baseline) else f" Baseline ({baseline}): {constant}."
    return f"{capitalised(title)} {value} on {rows}.{compared}"


def right_in_words(accuracy: Estimate | None, always: str | None = None) -> str:
    """``right for 72 of 100 rows; always saying no is right for 62``; empty of numbers.

    ``always`` is the most frequent class.  The rows are as many as are needed to tell both apart.

    >>> right_in_words(Estimate(0.9962, 0.99, 1.0, 0.9958), "no")
    'right for 9,962 of 10,000 rows; always saying no is right for 9,958'
    """
    if accuracy is None or not isfinite(accuracy.value + accuracy.baseline):
        return ""
    ours, theirs = accuracy.value, accuracy.baseline
    out_of = next(
        n
        for n in (100, 1000, 10_000)
        if n == 10_000
        or (
            (round(n * ours) != round(n * theirs) or ours == theirs)
            and (round(n * ours) < n or ours == 1)
        )
    )
    name = "the most frequent class" if always is None else always
    ours, theirs = round(out_of * ours), round(out_of * theirs)
    return f"right for {ours:,} of {out_of:,} rows; always saying {name} is right for {theirs:,}"


def about_median(score: Score) -> str:
    """A sentence on the median as baseline; empty where the baseline is the mean.

    With offsets or exposures the constant is a mean, not a median.
    """
    if "mae" not in score.estimates or score.baseline_link is not None:
        return ""
    return f"The baseline of the {title_of('mae')} is the median; that of others is the mean."


def why_dashes(names: Sequence[str], *, of_classes: bool = False) -> str:
    """A sentence on scores that are shown as a dash, by model or metric; may be empty."""
    if not names:
        return ""
    why = "infinite, because a predicted mean is 0 or below"
    if of_classes:
        why = "undefined, as where all scored rows are of one class"
    return f"{DASH} for {', '.join(names)}: {why}."


def _mean(estimates: Sequence[Estimate]) -> Estimate:
    with np.errstate(invalid="ignore"):  # inf − inf
        return Estimate(*np.mean(estimates, axis=0).tolist())
