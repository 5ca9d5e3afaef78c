"""The median rule: what it stops, and that the answer does not depend on how the search ran."""

from dataclasses import dataclass, field
from math import nan
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from likely.numerics.intervals import Estimate
from likely.spaces import Real, Space
from likely.workbench.search.exploration import best_of, explore
from likely.workbench.search.question import (
    FEWEST,
    WAVE,
    MedianRule,
    StoppedTrial,
    median_rule,
)
from likely.workbench.search.strategies import Plan, search_named
from likely.workbench.search.trials import Trial, TrialLog, TrialScore
from likely.workbench.search.tune import tune
from tests.workbench.search.studies import answers

LINE = Space({"x": Real(0.0, 1.0)})
PLAN = Plan(seed=1, trials=40, stop_unpromising=True)
EARLIER = tuple((float(k), float(k), float(k)) for k in range(1, 6))  # their median is 3


@dataclass
class Folds:
    """Four folds with scores near x; remembers how many were computed."""

    n_folds: int = 4
    computed: list[int] = field(default_factory=list)

    def scores(self, parameters: Any) -> list[float]:
        noise = np.random.default_rng(int(1e6 * parameters["x"])).normal(size=self.n_folds)
        return [float(value) for value in parameters["x"] + 0.05 * noise]

    def evaluate(self, parameters: Any, *, share: float = 1.0) -> TrialScore:
        scores = self.scores(parameters)
        self.computed.append(len(scores))
        mean = float(np.mean(scores))
        return TrialScore(Estimate(mean, mean, mean, 1.0), tuple(scores), 0.0)

    def evaluate_unless(
        self, rule: MedianRule, parameters: Any, *, share: float = 1.0
    ) -> TrialScore | StoppedTrial:
        scores = self.scores(parameters)
        for done in range(1, self.n_folds):
            if reason := rule.reason(scores[:done], self.n_folds):
                self.computed.append(done)
                return StoppedTrial(tuple(scores[:done]), reason)
        return self.evaluate(parameters, share=share)


def explored(objective: Any, plan: Plan = PLAN, **options: Any) -> tuple[Trial, ...]:
    return explore(objective, LINE, search=search_named("random"), plan=plan, **options).trials


def timeless(trials: tuple[Trial, ...]) -> list[Any]:
    return [(t.number, t.parameters, t.score, t.problem, t.partial) for t in trials]


@pytest.mark.parametrize(("better", "bad", "good"), [("lower", 3.1, 2.9), ("higher", 2.9, 3.1)])
def test_a_trial_is_stopped_where_it_is_worse_than_the_median(better, bad, good) -> None:
    rule = MedianRule(EARLIER, better)
    assert rule.reason([bad], 3).startswith("stopped after fold 1 of 3: its mean score so far is")
    assert rule.reason([good], 3) == ""
    assert rule.reason([3.0], 3) == ""  # as good as the median
    assert rule.reason([good, bad, bad], 3) == ""  # nothing is left to stop
    assert rule.reason([nan], 3) == ""


def test_few_earlier_trials_or_none_stop_nothing() -> None:
    assert MedianRule(EARLIER[: FEWEST - 1], "lower").reason([99.0], 3) == ""
    assert MedianRule((), "lower").reason([99.0], 3) == ""


def test_a_stopped_trial_counts_and_a_failed_one_does_not() -> None:
    past = [
        Trial(0, {}, 1.0, TrialScore(Estimate(1, 1, 1, nan), (1.0, 2.0), 0.0)),
        Trial(1, {}, 1.0, None, "stopped", partial=(9.0,)),
        Trial(2, {}, 1.0, None, "no fit"),
        Trial(WAVE, {}, 1.0, TrialScore(Estimate(1, 1, 1, nan), (7.0, 7.0), 0.0)),
    ]
    assert median_rule(past, "lower", WAVE + 2).earlier == ((1.0, 2.0), (9.0,))
    assert median_rule(past, "lower", WAVE - 1).earlier == ()


def test_it_saves_folds_and_finds_the_same_best() -> None:
    stopping, all_of_them = Folds(), Folds()
    found = explored(stopping)
    every = explored(all_of_them, Plan(seed=1, trials=40))
    assert [t.parameters for t in found] == [t.parameters for t in every]
    best, known = best_of(found, "lower"), best_of(every, "lower")
    assert best is not None and known is not None and best.number == known.number
    assert sum(stopping.computed) < 0.7 * sum(all_of_them.computed)
    stopped = [trial for trial in found if trial.stopped]
    assert stopped and all(trial.number >= WAVE and trial.score is None for trial in stopped)


def test_the_answer_depends_neither_on_threads_nor_on_an_interruption(tmp_path) -> None:
    whole = explored(Folds())
    assert timeless(explored(Folds(), executor="threads")) == timeless(whole)
    path = tmp_path / "trials.jsonl"
    explored(Folds(), log=TrialLog(path))
    lines = path.read_bytes().splitlines(keepends=True)
    for n_kept in (3, WAVE, 2 * WAVE + 1):
        path.write_bytes(b"".join(lines[:n_kept]))
        resumed = Folds()
        assert timeless(explored(resumed, log=TrialLog(path))) == timeless(whole)
        assert len(resumed.computed) == len(whole) - n_kept
    short = explored(Folds(), Plan(seed=1, trials=11, stop_unpromising=True))
    assert timeless(explored(Folds(), earlier=short)) == timeless(whole)


@pytest.mark.long
def test_tune_stops_trials_and_says_so(tmp_path) -> None:
    frame = load_iris(as_frame=True).frame
    options: dict[str, Any] = {"trials": 20, "folds": 3, "stop_unpromising": True}
    study = tune(frame, "target", "discriminant", study=tmp_path / "s", **options)
    stopped = [trial for trial in study.trials if trial.stopped]
    assert len(stopped) > 2
    assert f"worse than the median of the earlier trials: {len(stopped)} of 20 trials" in str(study)
    every = tune(frame, "target", "discriminant", trials=20, folds=3)
    assert study.best_parameters_ == every.best_parameters_
    assert not any(trial.stopped for trial in every.trials)
    again = tune(frame, "target", "discriminant", study=tmp_path / "s", **options)
    assert answers(again) == answers(study)
    rounds = tune(frame, "target", "discriminant", search="halving", **options)
    assert not any(trial.stopped for trial in rounds.trials)
