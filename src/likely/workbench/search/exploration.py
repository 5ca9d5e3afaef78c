"""The loop of every search: propose, evaluate, record, until the budget is used.

Trials that the log already holds are not run again.  As proposals depend on earlier trials only,
a search that was killed at any moment gives the same result as an uninterrupted one.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice
from math import inf
from time import monotonic
from typing import Any, NamedTuple, final

from likely.compute.executor import Executor, executor_for
from likely.errors import InvalidFile, InvalidInput, NotConverged, UnsupportedAccess
from likely.output.formatting import number
from likely.output.progress import report
from likely.spaces import Parameters, Space
from likely.workbench.scoring.cross_validation import caught_warnings, warnings_by_thread
from likely.workbench.search.question import (
    JointObjective,
    MedianRule,
    Result,
    StoppableObjective,
    StoppedTrial,
    in_waves,
    median_rule,
)
from likely.workbench.search.strategies import Plan, Search, ranked
from likely.workbench.search.trials import Objective, Proposal, Trial, TrialLog, TrialScore

# Trials of a batch at most.  All are trained on the first fold, then on the second, …, so that
# scores are known, and logged, after the last fold, which is the last computation of the batch.
TOGETHER = 256

FINISHED, OUT_OF_TIME, INTERRUPTED = "finished", "out of time", "interrupted"


@final
@dataclass(frozen=True)
class Explored:
    """The trials in order, and the reason for the end of the search."""

    trials: tuple[Trial, ...]
    stopped: str  # FINISHED, OUT_OF_TIME or INTERRUPTED


@final
@dataclass(frozen=True)
class Clock:
    """Seconds spent on a search, over all runs of it, and the limit."""

    limit: float
    earlier: float
    start: float

    @property
    def elapsed(self) -> float:
        return self.earlier + monotonic() - self.start

    @property
    def over(self) -> bool:
        return self.elapsed >= self.limit


class TrialOutcome(NamedTuple):
    """A score, or the reason why there is none, with the folds of a trial that was stopped."""

    score: TrialScore | None
    problem: str = ""
    partial: tuple[float, ...] = ()

    @classmethod
    def of(cls, trial: Trial) -> "TrialOutcome":
        return cls(trial.score, trial.problem, trial.partial)

    def trial(self, proposal: Proposal, elapsed: float) -> Trial:
        return Trial(*proposal, self.score, self.problem, elapsed, self.partial)


Evaluation = Callable[[Iterator[Proposal]], AbstractContextManager[Iterator[TrialOutcome]]]


def explore(
    objective: Objective,
    space: Space,
    *,
    search: Search,
    plan: Plan,
    log: TrialLog | None = None,
    minutes: float | None = None,
    executor: str | Executor = "serial",
    earlier: Sequence[Trial] = (),
) -> Explored:
    """Run the search; Ctrl-C ends it early, with the trials that are done.

    ``earlier`` are trials 0 … m − 1 of any search, from which this one continues.
    """
    log = TrialLog() if log is None else log
    clock = Clock(inf if minutes is None else 60 * minutes, log.elapsed, monotonic())
    past: list[Trial] = list(earlier)
    try:
        with warnings_by_thread():
            while generation := search.generation(space, tuple(past), plan):
                for wave in in_waves(generation) if plan.stop_unpromising else [generation]:
                    rule = median_rule(past, plan.better, wave[0].number)
                    evaluate = _evaluation(
                        objective,
                        rule if plan.stop_unpromising else None,
                        executor_for(executor, 0),
                    )
                    past += _run(wave, evaluate, log, clock, plan)
                    if not past or past[-1].number < wave[-1].number:
                        return Explored(tuple(past), OUT_OF_TIME)
    except KeyboardInterrupt:
        kept = sorted((*earlier, *log.trials.values()), key=lambda trial: trial.number)
        return Explored(tuple(kept), INTERRUPTED)
    return Explored(tuple(past), FINISHED)


def try_by_hand(objective: Objective, chosen: Sequence[Parameters], log: TrialLog) -> None:
    """Add settings to a separate log, outside the search; numbers count down from −1."""
    with warnings_by_thread():
        for parameters in chosen:
            proposal = Proposal(-1 - len(log.trials), parameters)
            began = monotonic()
            outcome = _evaluated(objective.evaluate, proposal)
            log.append(outcome.trial(proposal, monotonic() - began))


def best_of(trials: Sequence[Trial], better: str) -> Trial | None:
    """The best of the trials on the most rows; None if no trial has a score."""
    scored = [trial for trial in trials if trial.score is not None]
    most = max((trial.share for trial in scored), default=1.0)
    best = ranked((trial for trial in scored if trial.share == most), better)
    return best[0] if best else None


def known_best(trials: Sequence[Trial], better: str, *, called: str = "trials") -> Trial:
    """The best trial; an error with the problem of the first one, if none has a score."""
    best = best_of(trials, better)
    if best is None:
        problem = trials[0].problem if trials else "nothing was tried."
        raise InvalidInput(
            f"None of {len(trials)} {called} has a score; expected at least one. "
            f"Fix the problem of the first: {problem}"
        )
    return best


def _run(
    generation: Sequence[Proposal],
    evaluate: Evaluation,
    log: TrialLog,
    clock: Clock,
    plan: Plan,
) -> list[Trial]:
    """The trials of one generation in order; fewer where time ran out."""
    done: list[Trial] = []
    first = _first_of_each(generation, log)
    fresh = [each for each in generation if first[each.key] == each.number]
    fresh = [each for each in fresh if each.number not in log.trials]
    begun = _in_time(fresh, clock, any_before=bool(log.trials))
    with evaluate(begun) as outcomes:
        for proposal in generation:
            known = log.trials.get(proposal.number)
            if known is None:
                twin = log.trials.get(first[proposal.key])
                outcome = next(outcomes, None) if twin is None else TrialOutcome.of(twin)
                if outcome is None:
                    break
                known = outcome.trial(proposal, clock.elapsed)
                log.append(known)
                report("trials run", 1, _best_so_far(log, plan))
            elif not known.answers(proposal):
                raise _another_study(log, known, proposal)
            done.append(known)
    return done


def _first_of_each(generation: Sequence[Proposal], log: TrialLog) -> dict[str, int]:
    """The first trial with the same settings on the same rows: later ones take its score."""
    earlier = (trial.proposal for trial in log.trials.values())
    first: dict[str, int] = {}
    for each in sorted((*earlier, *generation), key=lambda proposal: proposal.number):
        first.setdefault(each.key, each.number)
    return first


def _evaluation(objective: Objective, rule: MedianRule | None, executor: Executor) -> Evaluation:
    """How proposals are evaluated; unpromising ones, where there is a rule, on some folds only."""
    if isinstance(objective, JointObjective) and objective.evaluates_together:
        return lambda begun: nullcontext(_in_batches(objective, rule, executor, begun))
    evaluate: Callable[..., TrialScore | StoppedTrial] = objective.evaluate
    if rule is not None and isinstance(objective, StoppableObjective):
        evaluate = partial(objective.evaluate_unless, rule)
    return partial(executor.mapping, partial(_evaluated, evaluate))


def _in_batches(
    objective: JointObjective,
    rule: MedianRule | None,
    executor: Executor,
    begun: Iterator[Proposal],
) -> Iterator[TrialOutcome]:
    """Trials on the same share of the rows are evaluated together."""
    for share, alike in groupby(begun, key=lambda proposal: proposal.share):
        while batch := [proposal.parameters for proposal in islice(alike, TOGETHER)]:
            results = objective.evaluate_together(rule, batch, share=share, executor=executor)
            yield from map(_attempt, results)


def _evaluated(
    evaluate: Callable[..., TrialScore | StoppedTrial], proposal: Proposal
) -> TrialOutcome:
    return _attempt(partial(evaluate, proposal.parameters, share=proposal.share))


def _attempt(result: Result) -> TrialOutcome:
    """Settings that cannot be fitted are a result too: the search continues without them."""
    with caught_warnings() as messages:
        try:
            score = result()
        except (ValueError, ArithmeticError, NotConverged, UnsupportedAccess) as error:
            return TrialOutcome(None, f"{type(error).__name__}: {error}")
    if isinstance(score, StoppedTrial):
        return TrialOutcome(None, score.reason, score.per_fold)
    return TrialOutcome(score._replace(warnings=(*score.warnings, *messages)))


def _in_time(fresh: Sequence[Proposal], clock: Clock, *, any_before: bool) -> Iterator[Proposal]:
    """The proposals that may still start; the first always may."""
    for place, proposal in enumerate(fresh):
        if clock.over and (place or any_before):
            return
        yield proposal


def _best_so_far(log: TrialLog, plan: Plan) -> str:
    best = best_of(list(log.trials.values()), plan.better)
    return "no score yet" if best is None else f"best {number(best.value)}"


def _another_study(log: TrialLog, known: Trial, proposal: Proposal) -> InvalidFile:
    settings: dict[str, Any] = proposal.parameters
    return InvalidFile(
        log.path,
        f"trial {known.number} tried {known.parameters}; this search expected {settings}. "
        "It was written by another version or by hand: start a study in another folder.",
    )
