"""Which settings are chosen: the default, unless another is better by one standard error."""

import numpy as np
import pandas as pd
import pytest

import likely as lk
from likely.errors import InvalidInput
from likely.intervals import Estimate
from likely.spaces import Choice, Real, Space
from likely.workbench.scoring.paired import standard_error
from likely.workbench.search.choice import choose, size_of
from likely.workbench.search.trials import Trial, TrialScore

SPACE = Space({"l2": Real(1e-3, 1e3, log=True)})
DEFAULT = {"l2": 1.0}


def trial(number, per_fold, **settings):
    value = float(np.mean(per_fold))
    score = TrialScore(Estimate(value, value - 0.1, value + 0.1, 1.0), tuple(per_fold), 0.0)
    return Trial(number, settings, 1.0, score)


def chosen(trials, better="lower", default=DEFAULT, space=SPACE):
    return choose(trials, better, space=space, default=default, test_per_train=0.25)


@pytest.mark.parametrize(("better", "sign"), [("lower", 1.0), ("higher", -1.0)])
@pytest.mark.parametrize("in_errors", [0.9, 1.1])
def test_the_default_is_left_for_a_gain_of_more_than_one_standard_error(better, sign, in_errors):
    noise = np.array([0.02, -0.03, 0.01, -0.01, 0.01])  # of mean 0
    gains = noise + in_errors * standard_error(noise, test_per_train=0.25)
    usual = np.array([0.4, 0.5, 0.6, 0.5, 0.4])
    found = chosen([trial(0, usual, l2=1.0), trial(1, usual - sign * gains, l2=5.0)], better)
    assert found.gain == pytest.approx(gains.mean())
    assert found.error == pytest.approx(standard_error(gains, test_per_train=0.25))
    assert found.trial.number == (1 if in_errors > 1 else 0)
    assert found.is_default == (in_errors < 1)
    assert found.best.number == 1


def test_a_default_without_a_finite_score_is_left():
    found = chosen([trial(0, [0.4, np.inf], l2=1.0), trial(1, [0.5, 0.6], l2=5.0)])
    assert found.trial.number == 1


def test_without_a_default_the_best_is_chosen():
    trials = [trial(0, [0.5, 0.5], l2=1.0), trial(1, [0.49, 0.5], l2=1000.0)]
    assert chosen(trials, default=None).trial.number == 1
    assert chosen(trials, default={"l2": 7.0}).trial.number == 1  # it was not tried
    assert chosen([]) is None


def test_of_equal_scores_the_more_penalised_is_chosen_and_of_clear_ones_the_best():
    trials = [trial(k, [0.5, 0.5001], l2=l2) for k, l2 in enumerate((0.01, 10.0, 0.1))]
    assert chosen(trials, default=None).trial.number == 1
    trials.append(trial(3, [0.4, 0.4], l2=0.001))
    assert chosen(trials, default=None).trial.number == 3


def test_a_penalty_makes_a_model_smaller_and_its_inverse_larger():
    space = Space({"l2": Real(0.1, 10.0), "svc__C": Real(0.1, 10.0), "link": Choice(("a", "b"))})
    size = size_of({"l2": 1.0, "svc__C": 1.0, "link": "a"}, space)
    assert size_of({"l2": 2.0, "svc__C": 1.0, "link": "a"}, space) < size
    assert size_of({"l2": 1.0, "svc__C": 2.0, "link": "a"}, space) > size
    assert size_of({"l2": 1.0, "svc__C": 1.0, "link": "b"}, space) == size


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2))
    y = np.where(X[:, 0] + rng.logistic(size=90) > 0, "yes", "no")
    return pd.DataFrame(X, columns=["a", "b"]).assign(y=y)


def test_the_default_trial_has_the_score_of_compare_and_is_called_default(frame):
    study = lk.tune(frame, "y", "logistic", trials=3)
    entry = lk.compare(frame, "y", "logistic")["logistic"]
    assert study.default_trial_.number == 0
    assert study.default_trial_.score.estimate == entry.main
    assert study.default_trial_.per_fold == tuple(entry.per_fold)
    assert any(line.split()[:1] == ["default"] for line in str(study).splitlines())
    assert "repeated 2 times" in str(study)


def test_a_small_gain_keeps_the_default_and_says_so(frame):
    study = lk.tune(frame, "y", "logistic", space={"l2": [0.9, 1.1]}, search="grid", folds=3)
    assert study.best_parameters_ == {"l2": 1.0}
    assert study.best_trial_ is study.default_trial_
    said = " ".join(str(study).split())
    assert "The default settings are kept: l2=1. The best of 3 trials (grid, seed 0), trial" in said
    assert "more than one standard error was expected" in said
    assert study.refit().model_.l2 == 1.0


def test_the_link_is_searched_on_request_only(frame):
    options = {"trials": 2, "folds": 2, "repeats": 1}
    assert lk.tune(frame, "y", "logistic", **options).settings == ["l2", "l1"]
    asked = lk.tune(frame, "y", "logistic", search_link=True, **options)
    assert asked.settings == ["link", "l2", "l1"]
    assert asked.trials[0].parameters["link"] == "logit"
    with pytest.raises(InvalidInput, match="search_link was given, and naive-bayes has no link"):
        lk.tune(frame, "y", "naive-bayes", search_link=True)
    with pytest.raises(InvalidInput, match="search_link was given with a space"):
        lk.tune(frame, "y", "logistic", search_link=True, space={"l2": [1.0]})


@pytest.mark.parametrize("search", ["random", "halving", "grid"])
def test_equal_settings_are_not_tried_twice(frame, search):
    space = {"covariance": ["tied", "full", "diagonal"]}
    study = lk.tune(
        frame, "y", "discriminant", space=space, search=search, trials=30, folds=2, repeats=1
    )
    rounds = {}
    for each in study.trials:
        rounds.setdefault(each.share, []).append(each.parameters["covariance"])
    assert all(len(names) == len(set(names)) for names in rounds.values())
    assert max(map(len, rounds.values())) == 3
