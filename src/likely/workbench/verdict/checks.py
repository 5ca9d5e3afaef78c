"""What is known about a model when it is judged: scores, held-out rows, findings, effects.

Checks of held-out rows for the verdict: each returns a sentence if it objects, else nothing.

References
----------
Czado, Gneiting & Held (2009), Predictive model assessment for count data, Biometrics 65 (PIT).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from likely._typing import Array
from likely.metrics import Score
from likely.metrics.numbers import Deviance, GammaDeviance, PoissonDeviance, UnitDeviance
from likely.metrics.score import CONSTANT, title_of
from likely.numerics.intervals import Estimate, clearly_better
from likely.output.formatting import (
    LARGEST_FIXED,
    all_listed,
    count,
    number,
    p_phrase,
    percent,
    quoted,
    short_number,
)
from likely.sealing.final_score import FinalScore
from likely.workbench.scoring.held_out import HeldOut
from likely.workbench.scoring.paired import LEVEL, MOST_LONE, DecisiveRows, lone_rows, mean_ends
from likely.workbench.scoring.reference import reference_from_json

if TYPE_CHECKING:
    from likely.workbench.scoring.column_effects import ColumnEffects
    from likely.workbench.scoring.validation import Validation

SHIFTED = 0.05  # of quantiles: the largest distance of shares, beyond what chance explains
KOLMOGOROV = 1.36  # √n D of uniform numbers is above this in 5 % of samples
CENTRAL = (0.1, 0.9)  # quantiles of the 80 % interval that a sentence names
GAUSSIAN_95 = 1.96  # standard errors in half of an interval
SUSPICIOUS_VALUES = ("LK116", "LK117")  # outliers, and zeros that may be missing
RARE = 0.2  # a share of a class below which one threshold for all is often too high
MOST_IMPORTANT = 3  # columns that a sentence names
IMPORTANT = 0.1  # of the largest effect: a smaller one is not named
WORTH_SAYING = 0.01  # of a loss: means that are the constant but for rounding are not worse
DEVIANCES: Mapping[str, UnitDeviance] = {"count": PoissonDeviance(), "positive": GammaDeviance()}


@final
@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known about a model: of sealed rows if they were evaluated, else of held-out rows.

    ``findings`` are those of ``look``, with ``code`` and ``columns``.
    """

    score: Score | None = None  # of held-out rows
    final: FinalScore | None = None
    held: "Validation | None" = None  # the predictions of held-out rows
    findings: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    features: frozenset[str] | None = None  # the columns that the model uses; None: all
    important: tuple[str, ...] = ()  # columns with the largest effects, where they are known
    missed: str = ""  # what a boosted reference says that the model's terms miss
    surpassed: str = ""  # which model of a comparison is clearly better

    @property
    def where(self) -> str:
        return "the held-out rows" if self.final is None else "the sealed rows"

    @property
    def gain(self) -> Estimate | None:
        """The gain over the baseline; None without a score of this model."""
        if self.final is None:
            return None if self.score is None else self.score.gain
        return self.final.gain_over_baseline if self.final.of_this_model else None

    @property
    def n_rows(self) -> int:
        """The rows of the score."""
        if self.final is not None:
            return self.final.n_rows
        return 0 if self.score is None else self.score.n_rows

    @property
    def baseline(self) -> str:
        """``the baseline``, with its model if that is not the constant."""
        model = CONSTANT if self.score is None else self.score.baseline
        return "the baseline" if model == CONSTANT else f"the baseline ({model})"

    @property
    def measures(self) -> Mapping[str, Estimate]:
        """An estimate of each metric, by name."""
        if self.final is not None:
            return self.final.measures
        return {} if self.score is None else self.score.estimates


def evidence_in_run(
    run: Mapping[str, Any],
    *,
    look: Mapping[str, Any] | None = None,
    held: "Validation | None" = None,
    final: FinalScore | None = None,
    effects: "ColumnEffects | None" = None,
    comparisons: Sequence[Mapping[str, Any]] = (),
) -> Evidence:
    """The evidence in the files of a RUN: facts, findings, held-out rows, effects, comparisons."""
    score = None if held is None else held.score
    if run.get("scores"):
        score = Score.from_json(run["scores"])
    return Evidence(
        score,
        final,
        held,
        findings=tuple(run.get("findings") or (look or {}).get("findings") or ()),
        features=frozenset(run.get("columns") or ()) or None,
        important=() if effects is None else important_columns(effects),
        missed=missed_terms(str(run.get("model")), comparisons),
        surpassed=better_model(str(run.get("model")), score, comparisons),
    )


def missed_terms(model: str, comparisons: Sequence[Mapping[str, Any]]) -> str:
    """What the reference of the newest comparison with this model says of it; may be empty."""
    for each in reversed(comparisons):
        reference = reference_from_json(each.get("reference"))
        if reference is not None and model in reference.gains:
            return reference.about(model)
    return ""


def better_model(model: str, score: Score | None, comparisons: Sequence[Mapping[str, Any]]) -> str:
    """That the best model of the newest comparison with this one is clearly better; may be empty.

    Nothing is said where the score of the run itself, whose settings may be others, is as good.
    """
    for each in reversed(comparisons):
        entries = {str(entry["model"]): entry for entry in each.get("models") or ()}
        if model not in entries:
            continue
        ours, best = entries[model], entries[str(each["best"])]
        against, metric = ours.get("against_best") or {}, str(each["metric"])
        own = None if score is None else score.estimates.get(metric)
        sign = 1 if each["better"] == "higher" else -1
        as_good = own is not None and sign * (own.value - best["value"]) >= 0
        if as_good or not (against.get("p") or 1.0) < 1 - LEVEL:
            return ""
        values = f"{short_number(best['value'])} after {short_number(ours['value'])}"
        return (
            f"In the comparison on these rows {best['model']} was clearly better than {model}, "
            f"with default settings: {title_of(metric)} {values} ({p_phrase(against['p'])})."
        )
    return ""


def important_columns(effects: "ColumnEffects") -> tuple[str, ...]:
    """The columns with the largest effects; those nearly as large are named with them.

    Columns that were shuffled together are not named as one.
    """
    found = effects.importance
    joined = {" + ".join(names) for names in found.together}
    largest = float(found.increase.max(initial=0.0))
    return tuple(
        name
        for name, increase in zip(found.names, found.increase.tolist(), strict=True)
        if increase > IMPORTANT * largest and name not in joined
    )[:MOST_IMPORTANT]


def far_predictions(evidence: Evidence) -> str:
    held = evidence.held
    if held is None or held.has_classes or not len(held.truth.y):
        return ""
    return far_in_words(held.truth.y, held.prediction.means)


def far_in_words(y: Array, mean: Array) -> str:
    """A sentence on means outside the observed range by more than its width; may be empty."""
    low, high = float(y.min()), float(y.max())
    far = np.maximum(mean - high, low - mean)
    n_far = int((far > high - low).sum())
    if not n_far:
        return ""
    farthest = float(mean[int(far.argmax())])
    shown = short_number(farthest) if abs(farthest) < LARGEST_FIXED else number(farthest)
    are = "is" if n_far == 1 else "are"
    return (
        f"{count(n_far, 'prediction')} of {len(y):,} {are} far outside the observed range "
        f"{short_number(low)} to {short_number(high)}: up to {shown}."
    )


def worse_means(held: HeldOut) -> tuple[str, ...]:
    """By which measures predicted numbers are clearly worse than a constant's mean.

    The differences are row by row.  Where a few predictions explode, they carry the whole loss and
    its interval contains everything; the model is then worse if its squared error is larger.
    """
    if held.task.has_classes or held.is_constant or not len(held.truth.y):
        return ()
    truth, mean, constant = held.truth, held.prediction.means, held.constant.means
    if not np.isfinite(mean).all():
        return ("predicted means are infinite",)
    y, found = truth.y, []
    squares = (np.square(y - mean), np.square(y - constant))
    square, least = (float(np.average(each, weights=truth.weights)) for each in squares)
    far = far_in_words(y, mean)
    explodes = bool(far) and square > (1 + WORTH_SAYING) * least
    if explodes or _is_worse(held, squares):
        found.append(f"R² {number(1 - square / least)}")
    losses = {"mean absolute error": (np.abs(y - mean), np.abs(y - constant))}
    deviance = DEVIANCES.get(truth.kind)
    if deviance is not None and min(mean.min(), constant.min()) > 0:
        losses[Deviance(deviance).title] = (deviance.of(y, mean), deviance.of(y, constant))
    for title, pair in losses.items():
        if _is_worse(held, pair):
            ours, theirs = (short_number(np.average(one, weights=truth.weights)) for one in pair)
            found.append(f"{title} {ours} against {theirs}")
    return (*found, far.rstrip(".")) if found and far else tuple(found)


def _is_worse(held: HeldOut, losses: tuple[Array, Array]) -> bool:
    """Whether the first of two losses of each row is clearly the larger, and by enough."""
    weight = held.truth.weights
    ours, theirs = (float(np.average(each, weights=weight)) for each in losses)
    if not ours > (1 + WORTH_SAYING) * theirs:
        return False
    return mean_ends(losses[1] - losses[0], weight, held.groups, LEVEL)[1] < 0


def impossible_values(evidence: Evidence) -> str:
    held, n = evidence.held, 0
    if evidence.final is not None:
        n = evidence.final.n_impossible
    elif held is not None:
        n = held.prediction.n_impossible(held.truth)
    if not n:
        return ""
    rows = f"{count(n, 'row')} of {evidence.where}"
    return f"{rows} had a value to which the model gave probability 0."


def shifted_quantiles(evidence: Evidence) -> str:
    held = evidence.held
    if held is None or held.pit is None or not len(held.pit):
        return ""
    pit = np.sort(held.pit)
    n = len(pit)
    rank = np.arange(1, n + 1) / n
    distance = float(np.maximum(rank - pit, pit - rank + 1 / n).max())
    groups = None if evidence.score is None else evidence.score.n_groups
    if distance - KOLMOGOROV / sqrt(groups or n) <= SHIFTED:
        return ""
    inside = float(((pit > CENTRAL[0]) & (pit <= CENTRAL[1])).mean())
    expected = CENTRAL[1] - CENTRAL[0]
    below = float((pit <= 0.5).mean())
    if abs(inside - expected) >= abs(below - 0.5):
        width = "wide" if inside > expected else "narrow"
        what = f"80 % intervals contain {percent(inside)} of the held-out values (too {width})"
    else:
        what = f"{percent(below)} of the held-out values are below their predicted median"
    return f"The predicted quantiles are not calibrated: {what}."


def worse_folds(evidence: Evidence) -> str:
    held, score = evidence.held, evidence.score
    if held is None or held.gain is None or score is None:
        return ""
    if score.n_groups is not None and (score.group is not None or held.groups is None):
        return ""  # a fold of few groups may be worse by chance
    folds = np.unique(held.fold)
    if len(folds) < 2 or not clearly_better(score.gain):
        return ""
    level, bad = 1 - 0.05 / len(folds), []
    for fold in folds:
        rows = held.fold == fold
        units = None if held.groups is None else held.groups[rows]
        if mean_ends(held.gain[rows], np.ones(int(rows.sum())), units, level)[1] < 0:
            bad.append(str(fold + 1))
    if not bad:
        return ""
    which = f"fold {bad[0]}" if len(bad) == 1 else f"folds {all_listed(bad)}"
    return f"In {which} of {len(folds)} the model is clearly worse than the baseline."


def lone_rows_in_words(found: DecisiveRows, names: list[str]) -> str:
    """``One row carries 99 % of the loss: row 24067 (x = 0). Without it, …``; names are of rows."""
    n = len(found.rows)
    rows, verb, them = ("One row", "carries", "it") if n == 1 else (f"{n} rows", "carry", "them")
    which = f"{'row' if n == 1 else 'rows'} {all_listed(names)}"
    return (
        f"{rows} {verb} {percent(found.share)} of what the model loses to the baseline: {which}. "
        f"Without {them}, the mean gain per row would be {short_number(found.without)}, not "
        f"{short_number(found.gain)}. Check whether {'its' if n == 1 else 'their'} values are "
        f"possible."
    )


def row_in_words(row: int, cells: Mapping[str, Any]) -> str:
    """``24067 (x = 0, y = 0)``: a row, with cells that are far from those of other rows."""
    shown = [f"{name} = {_cell(value)}" for name, value in cells.items()]
    return f"{row} ({', '.join(shown)})" if shown else str(row)


def _cell(value: Any) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return short_number(value) if is_number else str(value)


def one_row(evidence: Evidence) -> str:
    """Whether a few rows alone make the model worse than the baseline."""
    held = evidence.held
    if held is None or held.gain is None:
        return ""
    if evidence.final is not None:
        return _few_sealed_rows(evidence, held.gain)
    found = lone_rows(held.gain, held.truth.weights, held.row)
    if found is None:
        return ""
    unusual = {each["row"]: each.get("unusual") or {} for each in held.surprising}
    names = [row_in_words(row, unusual.get(row, {})) for row in found.rows]
    return lone_rows_in_words(found, names)


def _few_sealed_rows(evidence: Evidence, held_gain: Array) -> str:
    """Whether a few sealed rows carry the loss; they are not shown, so the interval must tell.

    k rows that lose L each of n, and others that lose nothing, have the mean kL/n with the
    standard error √k L/n: the square of their ratio is k.
    """
    gain = evidence.gain
    if gain is None or not gain.value < min(0.0, float(held_gain.min())):
        return ""
    half = gain.high - gain.value
    if not 0 < half < inf or (n_rows := (GAUSSIAN_95 * gain.value / half) ** 2) > MOST_LONE + 0.5:
        return ""
    rows, verb = ("one", "carries") if n_rows < 1.5 else (f"{n_rows:.0f}", "carry")
    codes = [each for each in evidence.findings if each.get("code") in SUSPICIOUS_VALUES]
    columns = list(dict.fromkeys(str(one) for each in codes for one in each.get("columns") or ()))
    where = f" look found outliers or suspicious zeros in {quoted(columns)}." if columns else ""
    return (
        f"About {rows} of {evidence.n_rows:,} sealed rows {verb} nearly all of the loss: the mean "
        f"gain of these, {short_number(gain.value)}, is worse than the gain of the worst held-out "
        f"row ({short_number(float(held_gain.min()))}); that of the held-out rows is "
        f"{short_number(float(held_gain.mean()))} on average. Sealed rows are not shown; look for "
        f"impossible values in the data.{where}"
    )


class Threshold(NamedTuple):
    """A threshold for the second of two classes that finds rows of the rare one."""

    value: float
    recall: float  # of the rare class
    precision: float


def never_predicted(evidence: Evidence) -> str:
    """A hint to use another threshold, where a rare class is never predicted."""
    held = evidence.held
    if held is None or held.kind != "binary" or held.prediction.labels is not None:
        return ""
    share = np.bincount(held.truth.y, held.truth.weights, minlength=2) / held.truth.weights.sum()
    rare = int(share.argmin())
    if not 0 < share[rare] < RARE or (held.prediction.predicted == rare).any():
        return ""
    found = best_threshold(held, rare)
    return (
        f"{held.labels[rare]!r} ({percent(float(share[rare]))} of the rows) is never predicted, "
        f"because its probability is nowhere above 0.5. To find such rows, use likely predict "
        f"--threshold {found.value:.2g}: on the held-out rows it finds {percent(found.recall)} of "
        f"them, and {percent(found.precision)} of the rows that it picks are of this class."
    )


def best_threshold(held: "Validation", rare: int) -> Threshold:
    """The threshold with the largest F₁ of the rare class, rounded to two digits."""
    p, is_rare = np.exp(held.prediction.log_p[:, 1]), held.truth.y == rare
    weight, tried = held.truth.weights, {}
    for value in np.unique(np.round(p, 2)):
        if 0 < value < 1:
            picked = (p >= value) == (rare == 1)
            hit, all_picked = float(weight[picked & is_rare].sum()), float(weight[picked].sum())
            recall = hit / float(weight[is_rare].sum())
            precision = hit / all_picked if all_picked else 0.0
            tried[2 * hit / (all_picked + float(weight[is_rare].sum()))] = Threshold(
                float(value), recall, precision
            )
    return tried[max(tried)] if tried else Threshold(0.5, 0.0, 0.0)
