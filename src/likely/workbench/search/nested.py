"""Nested cross-validation: the score of the whole search, not of the best settings.

    for each outer fold:  search on the other folds → settings → fit there → score the fold

The best of many cross-validated scores is optimistic, because it was chosen.  A fold that was not
used for the choice gives an unbiased score.  The nested score is of the rows of all outer folds
together.  The settings that each fold chose are kept; if they differ much, the search has gained
little.

References
----------
Varma & Simon (2006), Bias in error estimation when using cross-validation for model selection,
BMC Bioinformatics 7.  Cawley & Talbot (2010), JMLR 11.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from likely.errors import InvalidInput
from likely.files import append_line
from likely.intervals import Estimate
from likely.spaces import Parameters
from likely.workbench.data.folds import Folds
from likely.workbench.scoring.held_out import HeldOut
from likely.workbench.search.choice import choose
from likely.workbench.search.exploration import Explored
from likely.workbench.search.question import CrossValidated, Question
from likely.workbench.search.trials import (
    Trial,
    entries_of,
    estimate_of,
    estimate_record,
    number_text,
)

OUTER_SEED = 7919  # outer folds must not be the inner ones


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
