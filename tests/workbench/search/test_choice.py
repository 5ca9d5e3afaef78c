"""Which settings are chosen: the default, unless another is better by one standard error."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import likely as lk
from likely.errors import InvalidInput
from likely.numerics.intervals import Estimate
from likely.spaces import Choice, Real, Space
from likely.workbench.scoring.paired import standard_error
from likely.workbench.search.choice import choose, size_of
from likely.workbench.search.study_text import choice_text, study_facts
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


@pytest.mark.parametrize(("better", "sign"), [("lower", 1.0), ("higher", -1.0)])
def test_the_plain_minimum_keeps_its_name_where_a_near_tie_is_chosen(better, sign):
    values = [0.5, 0.4999, 0.4995, 0.4995, 0.7]  # an interval is 0.2 wide: 0.002 counts as none
    trials = [trial(k, [sign * v] * 2, l2=10.0**-k) for k, v in enumerate(values)]
    found = chosen(trials, better, default=None)
    assert found.minimum.number == 2  # the first of two equal ones, as argmin
    assert found.best.number == found.trial.number == 0
    assert chosen(trials[2:], better, default=None).minimum is trials[2]


def test_of_equal_scores_the_minimum_is_the_first_of_the_table_and_not_one_that_was_added():
    trials = [trial(k, [0.5, 0.5], l2=1.0 + k) for k in range(3)]
    trials.append(trial(-1, [0.5, 0.5], l2=7.0))
    assert chosen(trials, default=None).minimum.number == 0
    failed = Trial(0, {"l2": 1.0}, 1.0, None, "no")
    assert chosen([failed, *trials[1:]], default=None).minimum.number == 1
    assert chosen(trials[2:], default=None).minimum.number == 2


def test_the_default_beside_a_grid_is_chosen_from_and_is_not_the_minimum_of_the_table():
    usual, best = trial(0, [0.3, 0.31], l2=1.0), trial(2, [0.5, 0.5], l2=2.0)
    found = choose(
        [trial(1, [0.6, 0.6], l2=3.0), best],
        "lower",
        space=SPACE,
        default=DEFAULT,
        test_per_train=0.25,
        beside=usual,
    )
    assert (found.trial, found.best, found.minimum) == (usual, usual, best)
    failed = Trial(1, {"l2": 3.0}, 1.0, None, "no")
    alone = choose(
        [failed], "lower", space=SPACE, default=DEFAULT, test_per_train=0.25, beside=usual
    )
    assert alone.minimum is alone.trial is usual


def test_a_penalty_makes_a_model_smaller_and_its_inverse_larger():
    space = Space({"l2": Real(0.1, 10.0), "svc__C": Real(0.1, 10.0), "link": Choice(("a", "b"))})
    size = size_of({"l2": 1.0, "svc__C": 1.0, "link": "a"}, space)
    assert size_of({"l2": 2.0, "svc__C": 1.0, "link": "a"}, space) < size
    assert size_of({"l2": 1.0, "svc__C": 2.0, "link": "a"}, space) > size
    assert size_of({"l2": 1.0, "svc__C": 1.0, "link": "b"}, space) == size


@pytest.mark.parametrize("listed", [(0.1, 1.0, 10.0), (10.0, 0.1, 1.0)])
def test_a_list_of_penalties_counts_by_size_and_not_by_order(listed):
    space = Space({"l2": Choice(listed), "max_depth": Choice((None, 3))})
    sizes = [size_of({"l2": l2, "max_depth": None}, space) for l2 in (0.1, 1.0, 10.0, 20.0)]
    assert_allclose(sizes, [0.5 - 1 / 6, 0.0, 0.5 - 5 / 6, -0.5], rtol=1e-14)
    trials = [trial(k, [0.5, 0.5], l2=l2) for k, l2 in enumerate(listed)]
    assert chosen(trials, default=None, space=space).trial.parameters == {"l2": 10.0}


@pytest.fixture(scope="module")
def near():
    """A grid whose scores are near ties, each better with less penalty."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2))
    y = np.where(X[:, 0] + 0.3 * rng.logistic(size=60) > 0, "yes", "no")
    table = pd.DataFrame(X, columns=["a", "b"]).assign(y=y)
    space = {"l2": [30.0, 30.1, 30.2], "l1": [0.0, 0.01]}
    model = lk.LogisticRegression(l2=1000.0)  # a default that is worse than the grid
    return lk.tune(table, "y", model, space=space, search="grid", folds=2, repeats=1)


def test_a_grid_of_three_by_two_has_six_trials_and_its_minimum_is_the_argmin_of_its_table(near):
    table = near.to_frame("pandas")
    assert len(near.trials) == len(table) == 3 * 2
    assert table["trial"].tolist() == [1, 2, 3, 4, 5, 6]
    lowest = table.loc[table["log-loss"].idxmin()]
    assert near.choice_.minimum.number == lowest["trial"]
    assert near.choice_.minimum.value == lowest["log-loss"]
    assert near.default_trial_ is near.beside
    assert near.default_trial_.parameters == {"l2": 1000.0, "l1": 0.0}
    assert "of 6 trials (grid, seed 0)" in str(near)


def test_the_rule_of_near_ties_is_said_where_the_minimum_is_not_chosen(near):
    choice, said = near.choice_, " ".join(str(near).split())
    assert choice.best is not choice.minimum
    rule = (
        f"The lowest log loss is that of trial {choice.minimum.number}, "
        f"{choice.minimum.value:.6g}; trial {choice.best.number} has {choice.best.value:.6g}. "
        "Scores that differ by at most 1 % of the width of the interval count as equal, and of "
        "such trials the most penalised or smallest model is taken."
    )
    assert rule in said
    assert rule in near._repr_html_()
    facts = study_facts(near)
    assert facts["choice"]["minimum_number"] == choice.minimum.number
    assert facts["choice"]["minimum_value"] == choice.minimum.value
    assert rule in facts["choice"]["text"]
    assert len(facts["trials"]) == 6
    assert facts["beside"]["default"] is True
    assert [each["number"] for each in facts["trials"]] == [1, 2, 3, 4, 5, 6]


def test_a_grid_is_resumed_with_its_default_and_does_not_try_it_again(near):
    assert [each.number for each in near.resume().trials] == [1, 2, 3, 4, 5, 6]
    assert near.resume().beside == near.beside
    assert len(near.add({"l2": 1000.0, "l1": 0.0}).trials) == 6  # the default is known


def test_a_default_that_is_better_than_the_whole_grid_is_kept_without_a_word_on_near_ties(frame):
    space = {"l2": [1e4, 1e5]}
    study = lk.tune(frame, "y", "logistic", space=space, search="grid", folds=2, repeats=1)
    said = " ".join(str(study).split())
    assert "The default settings are kept: l2=1. None of 2 trials (grid, seed 0) is better." in said
    assert "count as equal" not in said
    assert study.best_trial_ is study.beside
    assert study.choice_.minimum in study.trials


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
    assert "The default settings are kept: l2=1. The best of 2 trials (grid, seed 0), trial" in said
    assert "more than one standard error was expected" in said
    assert study.refit().model_.l2 == 1.0


def test_a_trial_that_is_worse_than_the_default_is_not_called_better(frame):
    """Of equal scores the most penalised is the best, whose own score may be a little worse."""
    study = lk.tune(frame, "y", model="logistic", trials=4, folds=3, repeats=1)
    default, *others = study.trials
    near = study.choice_._replace(trial=default, best=others[0], default=default, gain=-2.9e-6)
    told = choice_text(study, near)
    assert "better by -" not in told
    assert "None of" in told and "is better." in told
    assert "is better by 2.900e-06" in choice_text(study, near._replace(gain=2.9e-6))


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
