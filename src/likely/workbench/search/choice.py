"""Which settings a search chooses: the default, unless others are better by a standard error.

    d_j = score of the default − score of the best on fold j (the other way round where higher is
          better),   d̄ their mean,   se = √((1/J + n_test/n_train) s²)

    choose the best if d̄ > se, else the default

The standard error is that of the paired test of ``likely.workbench.scoring.paired``.  The best of
many trials is the best partly by luck, and a small gain does not pay for settings that nobody
expects.

Scores that differ from the plain minimum by at most one per cent of the width of its interval count
as equal; of these, the best is the most penalised and smallest model.

Nested cross-validation: the score of the whole search, not of the best settings.

    for each outer fold:  search on the other folds → settings → fit there → score the fold

The best of many cross-validated scores is optimistic, because it was chosen.  A fold that was not
used for the choice gives an unbiased score.  The nested score is of the rows of all outer folds
together.  The settings that each fold chose are kept; if they differ much, the search has gained
little.

References
----------
Breiman, Friedman, Olshen & Stone (1984), Classification and regression trees, §3.4.3 (one standard
error).  Nadeau & Bengio (2003), Machine Learning 52.
Varma & Simon (2006), Bias in error estimation when using cross-validation for model selection,
BMC Bioinformatics 7.  Cawley & Talbot (2010), JMLR 11.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np

from likely.errors import InvalidInput
from likely.numerics.intervals import Estimate
from likely.spaces import Dimension, Parameters, Space
from likely.storage.files import append_line
from likely.workbench.data.folds import Folds
from likely.workbench.scoring.held_out import HeldOut
from likely.workbench.scoring.paired import standard_error
from likely.workbench.search.exploration import Explored, best_of
from likely.workbench.search.question import CrossValidated, Question
from likely.workbench.search.trials import (
    Proposal,
    Trial,
    entries_of,
    estimate_of,
    estimate_record,
    number_text,
)

OUTER_SEED = 7919  # outer folds must not be the inner ones
EQUAL = 0.01  # of the width of the interval: a difference that counts as none
PENALTIES = frozenset(  # settings that make a model simpler as they grow
    {"l1", "l2", "alpha", "smoothing", "shrinkage", "reg_alpha", "reg_lambda", "reg_param"}
    | {"variance_floor", "weight_decay", "l2_regularization", "dropout", "ccp_alpha"}
    | {"min_samples_leaf", "min_samples_split", "n_neighbors"}
)
SIZES = frozenset(  # settings that make a model larger as they grow
    {"C", "max_depth", "max_leaf_nodes", "n_components", "degree", "gamma"}
)


class Chosen(NamedTuple):
    """The trial whose settings are chosen, and why."""

    trial: Trial
    best: Trial  # of the scores that count as equal to the minimum, the most penalised model
    default: Trial | None  # None where it was not tried, or has no score
    minimum: Trial  # the argmin of the table (argmax where higher is better), first of equal ones
    gain: float = nan  # of the best over the default, the mean over folds
    error: float = nan  # its standard error

    @property
    def is_default(self) -> bool:
        return self.default is not None and self.trial.number == self.default.number


def choose(
    trials: Sequence[Trial],
    better: str,
    *,
    space: Space,
    default: Parameters | None,
    test_per_train: float,
    beside: Trial | None = None,
) -> Chosen | None:
    """The chosen trial of those on the most rows; None if no trial has a score.

    ``beside`` is the trial of the default settings where it is not one of the table.
    """
    tried = [*trials, *([] if beside is None else [beside])]
    first = best_of(tried, better)
    if first is None:
        return None
    minimum = best_of(trials, better) or first
    rivals = [each for each in tried if each.score is not None and each.share == first.share]
    best = min(
        (each for each in rivals if _is_equal(each, first)),
        key=lambda each: (size_of(each.parameters, space), each.number < 0, each.number),
    )
    usual = default_trial(rivals, default)
    if usual is None or usual.proposal.key == best.proposal.key:
        return Chosen(best if usual is None else usual, best, usual, minimum)
    gain, error = _gain(usual, best, better, test_per_train)
    clear = gain > error or not isfinite(error)  # an infinite score of the default is clear
    return Chosen(best if clear else usual, best, usual, minimum, gain, error)


def default_trial(trials: Sequence[Trial], default: Parameters | None) -> Trial | None:
    """The first trial with the default settings; the one on the most rows."""
    if default is None:
        return None
    key = Proposal(0, default).key
    found = [each for each in trials if Proposal(0, each.parameters).key == key]
    return max(found, key=lambda each: each.share, default=None)


def size_of(parameters: Parameters, space: Space) -> float:
    """How large and how little penalised a model is, from its place in the space."""
    size = 0.0
    for name, dimension in space.dimensions.items():
        word = name.rpartition("__")[2]
        sign = (word in SIZES) - (word in PENALTIES)
        u = _place(dimension, parameters[name]) if sign and name in parameters else None
        size += sign * (0.5 if u is None else u)
    return size


def _place(dimension: Dimension, value: Any) -> float | None:
    """The place of a value in its range, from 0 to 1; in a list by size, whatever its order."""
    if dimension.levels is None:
        return dimension.to_unit(value)
    listed = dimension.grid(1)
    if not all(isinstance(each, int | float) for each in (*listed, value)):
        return None
    below = sum(each < value for each in listed) + sum(each <= value for each in listed)
    return below / (2 * len(listed))


def _is_equal(trial: Trial, best: Trial) -> bool:
    """Whether the score of a trial counts as that of the best."""
    if trial is best:
        return True
    assert best.score is not None, "the best trial has a score"
    width = best.score.estimate.high - best.score.estimate.low
    near = EQUAL * width if isfinite(width) else 0.0
    return abs(trial.value - best.value) <= near


def _gain(default: Trial, best: Trial, better: str, test_per_train: float) -> tuple[float, float]:
    """The mean over folds by which the best is better, and its standard error."""
    sign = 1.0 if better == "lower" else -1.0
    with np.errstate(invalid="ignore"):  # inf − inf
        gains = sign * (np.array(default.per_fold) - np.array(best.per_fold))
        return float(np.mean(gains)), standard_error(gains, test_per_train=test_per_train)


@final
@dataclass(frozen=True)
class OuterFold:
    """The settings that a search chose without the fold, its estimate, and the fold's score."""

    fold: int
    parameters: Parameters
    cv_estimate: float  # the best cross-validated score of the inner search
    score: Estimate  # of the rows of the fold

    def to_line(self) -> str:
        record = {
            "fold": self.fold,
            "parameters": self.parameters,
            "cv_estimate": number_text(self.cv_estimate),
            "score": estimate_record(self.score),
        }
        return json.dumps(record, sort_keys=True, ensure_ascii=False)

    @classmethod
    def from_line(cls, line: str) -> "OuterFold":
        record: dict[str, Any] = json.loads(line)
        score = estimate_of(record["score"])
        return cls(record["fold"], record["parameters"], float(record["cv_estimate"]), score)


class OuterLog:
    """Outer folds by number, in memory and, where there is a path, in an append-only file."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.folds: dict[int, OuterFold] = {}
        if path is not None and path.exists():
            problem = (
                "this is not an outer fold; expected the JSON line that tune wrote. Remove the "
                "file: the folds are then scored again."
            )
            read = entries_of(path, OuterFold.from_line, problem)
            self.folds = {outer.fold: outer for outer in read}

    def append(self, outer: OuterFold) -> None:
        if self.path is not None:
            append_line(self.path, outer.to_line())
        self.folds[outer.fold] = outer


def outer_folds(whole: CrossValidated, n_outer: int) -> Folds:
    """Folds that differ from those of the search."""
    return whole.split(n_outer, whole.seed + OUTER_SEED)


def scored(whole: CrossValidated, held: HeldOut, number: int, best: Trial) -> OuterFold:
    """The fold under the settings that the inner search chose."""
    return OuterFold(number, best.parameters, best.value, held.score([whole.metric]).main)


def chosen(explored: Explored, inner: CrossValidated, question: Question, number: int) -> Trial:
    """The trial that an inner search chooses."""
    best = choose(
        explored.trials,
        inner.metric.better,
        space=question.space,
        default=question.plan.default,
        test_per_train=inner.folds.test_per_train,
    )
    if best is None:
        raise InvalidInput(
            f"No trial without outer fold {number} has a score; expected at least one. "
            f"Fix the problem of the first: {explored.trials[0].problem}"
        )
    return best.trial
