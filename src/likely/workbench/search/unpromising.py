"""The median rule: a trial that is worse than half of the earlier ones is not finished.

    stop after fold j  if  its mean score of folds 1 … j is worse than the median of the earlier
                           trials, each by its mean score of the same folds

Earlier trials are those of earlier waves of ``WAVE`` trials, whatever ran at the same time, so
that the answer depends neither on the number of cores nor on an interruption.  A trial that was
stopped counts with the folds that it has: otherwise only good trials would be compared with, and
the rule would become stricter and stricter.

References
----------
Golovin, Solnik, Moitra, Kochanski, Karro & Sculley, Google Vizier: a service for black-box
optimization, KDD 2017, §3.2.2.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from statistics import fmean, median
from typing import Any, NamedTuple, Protocol, final, runtime_checkable

from likely.compute.executor import Executor
from likely.formatting import number
from likely.workbench.search.trials import Proposal, Trial, TrialScore

WAVE = 8  # trials that are compared with the same earlier ones
FEWEST = 5  # earlier trials, below which none is stopped


class StoppedTrial(NamedTuple):
    """A trial that was not finished: the scores of its folds, and why."""

    per_fold: tuple[float, ...]
    reason: str


Result = Callable[[], TrialScore | StoppedTrial]  # of a trial, or raises its error


@runtime_checkable
class StoppableObjective(Protocol):
    """An objective that can stop at the folds of a trial that a rule finds unpromising."""

    def evaluate_unless(
        self, rule: "MedianRule", parameters: Mapping[str, Any], *, share: float = 1.0
    ) -> TrialScore | StoppedTrial: ...


@runtime_checkable
class JointObjective(Protocol):
    """An objective that can evaluate a batch of trials in one computation."""

    @property
    def evaluates_together(self) -> bool: ...

    def evaluate_together(
        self,
        rule: "MedianRule | None",
        settings: Sequence[Mapping[str, Any]],
        *,
        share: float,
        executor: Executor,
    ) -> list[Result]: ...


@final
@dataclass(frozen=True)
class MedianRule:
    """The scores of earlier trials by fold, and which scores are better."""

    earlier: tuple[tuple[float, ...], ...]  # by trial and fold
    better: str

    def reason(self, per_fold: Sequence[float], n_folds: int) -> str:
        """Why a trial with these scores is stopped; empty where it goes on."""
        done = len(per_fold)
        known = [fmean(scores[:done]) for scores in self.earlier]
        known = [each for each in known if not isnan(each)]
        if not 0 < done < n_folds or len(known) < FEWEST:
            return ""
        own, middle = fmean(per_fold), median(known)
        if not (own > middle if self.better == "lower" else own < middle):
            return ""
        return (
            f"stopped after fold {done} of {n_folds}: its mean score so far is {number(own)}, and "
            f"the median of the earlier trials on the same folds is {number(middle)}."
        )


def median_rule(past: Sequence[Trial], better: str, number: int) -> MedianRule:
    """The rule for the trial of this number, which looks at the waves before its own."""
    first = number // WAVE * WAVE
    scores = (trial.per_fold for trial in past if trial.number < first)
    return MedianRule(tuple(each for each in scores if each), better)


def in_waves(generation: Sequence[Proposal]) -> list[list[Proposal]]:
    """The proposals of a generation, wave by wave; which wave depends on their numbers alone."""
    waves: dict[int, list[Proposal]] = {}
    for proposal in generation:
        waves.setdefault(proposal.number // WAVE, []).append(proposal)
    return list(waves.values())
