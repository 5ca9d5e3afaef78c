"""Studies: honest scores, and folders that survive every accident."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

import likely as lk
from likely import NaiveBayes
from likely.compute.executor import Threads
from likely.errors import InvalidInput, UnknownName
from likely.spaces import Real
from likely.workbench.preparation.prepared import Prepared
from likely.workbench.search.exploration import FINISHED
from likely.workbench.search.strategies import ranked
from likely.workbench.search.tune import tune
from tests.workbench.search.studies import answers, timeless


def test_the_best_is_in_the_table_and_beats_the_constant(iris: Any) -> None:
    study = tune(iris, "target", "discriminant", trials=8, folds=3)
    frame = study.to_frame("pandas")
    best = frame.loc[frame["trial"] == study.best_trial_.number].iloc[0]
    assert best["log-loss"] == study.best_score_ < study.baseline
    low, high = study.best_interval_
    assert low < study.best_score_ < high
    assert study.best_parameters_["covariance"] == best["covariance"]
    assert study.choice_ is not None
    assert study.choice_.best.value <= frame["log-loss"].min() + 0.01 * (high - low)
    assert study.stopped == FINISHED
    model = study.best_model().fit(iris, "target")
    assert model.score(iris.drop(columns="target"), iris["target"]) > 0.9


def test_the_model_as_it_is_is_tried_first_with_its_settings_written_out(iris: Any) -> None:
    study = tune(iris, "target", "discriminant", trials=2, folds=2)
    assert study.trials[0].parameters == {"covariance": "tied", "shrinkage": 0.0}
    hand = tune(iris, "target", "discriminant", trials=1, folds=2, by_hand=[{"shrinkage": 0.5}])
    assert hand.best_parameters_ == {"covariance": "tied", "shrinkage": 0.5}


def test_the_refit_is_a_direct_fit_and_the_test_set_is_looked_at_once(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 3))
    frame = pd.DataFrame(X, columns=list("abc"))
    frame["y"] = np.where(X[:, 0] - X[:, 1] + rng.normal(size=240) > 0, "yes", "no")
    sealed = lk.seal(frame, "y", name="a", folder=tmp_path)
    space = {"l2": Real(1e-4, 1e4, log=True)}
    study = lk.tune(
        sealed, None, "logistic", space=space, search="refine", folds=3, repeats=1, by_hand=()
    )
    assert len(study.trials) > 9
    assert sealed.evaluations == 0  # nine decades and their refinements are no look
    model, train = study.refit(), sealed.train.drop(columns="y")
    direct = Prepared(lk.LogisticRegression(**study.best_parameters_)).fit(sealed.train, "y")
    assert_allclose(model.model_.coef_, direct.model_.coef_, rtol=0, atol=1e-12)
    assert_allclose(model.predict_proba(train), direct.predict_proba(train), rtol=0, atol=1e-12)
    default = Prepared(lk.LogisticRegression()).fit(sealed.train, "y")
    assert abs(model.model_.coef_ - default.model_.coef_).max() > 1e-6  # so the test can fail
    sealed.final(model)
    assert sealed.evaluations == 1


def test_trials_by_hand_join_the_table_and_the_search_goes_on_without_them(
    iris: Any, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"trials": 3, "folds": 2, "study": tmp_path / "s"}
    study = tune(iris, "target", "discriminant", **options)
    more = study.add({"shrinkage": 0.02}, {"covariance": "full", "prior": "uniform"})
    frame = more.to_frame("pandas")
    assert frame["trial"].tolist() == [0, 1, 2, -1, -2]
    assert frame["prior"].tolist()[-1] == "uniform"
    assert frame["shrinkage"].tolist()[-2] == 0.02
    assert more.choice_ is not None
    assert more.choice_.best.value == frame["log-loss"].min()
    alone = tune(iris, "target", "discriminant", trials=1, folds=2, by_hand=[{"shrinkage": 0.02}])
    assert more.trials[3].value == alone.best_score_
    assert answers(more.add({"shrinkage": 0.02})) == answers(more)  # known already
    long = more.resume(trials=6)
    assert [trial.number for trial in long.trials] == [0, 1, 2, 3, 4, 5, -1, -2]
    plain = tune(iris, "target", "discriminant", trials=6, folds=2)
    assert timeless(long.trials[:6]) == timeless(plain.trials)
    again = tune(iris, "target", "discriminant", **options | {"trials": 6})
    assert answers(again) == answers(long)
    in_memory = tune(iris, "target", "discriminant", trials=3, folds=2).add({"shrinkage": 0.02})
    assert [trial.number for trial in in_memory.resume(trials=4).trials] == [0, 1, 2, 3, -1]
    with pytest.raises(InvalidInput, match="Did you mean 'shrinkage'"):
        study.add({"shrinkge": 0.1})


def test_a_best_by_hand_is_said(iris: Any) -> None:
    bad = {"space": {"shrinkage": [1.0]}, "by_hand": (), "search": "grid"}
    study = tune(iris, "target", "discriminant", folds=2, nested=2, **bad).add({"shrinkage": 0.0})
    assert study.best_trial_.number == -1
    assert "added by hand. The nested score is that of the search without them." in str(study)


def test_a_grid_has_the_product_of_its_lists(iris: Any) -> None:
    space = {"covariance": ["tied", "full"], "shrinkage": [0.0, 0.1, 0.5]}
    study = tune(iris, "target", "discriminant", space=space, search="grid", folds=2)
    frame = study.to_frame()
    assert isinstance(frame, pd.DataFrame)  # as the data were
    assert len(frame) == 2 * 3
    assert len(frame[["covariance", "shrinkage"]].drop_duplicates()) == 6
    assert study.trials[0].parameters == {"covariance": "tied", "shrinkage": 0.0}  # the default


def test_rounds_of_halving_are_shown() -> None:
    iris = load_iris(as_frame=True).frame
    study = tune(iris, "target", "discriminant", search="halving", trials=9, folds=2)
    assert [trial.share for trial in study.trials] == [1 / 9] * 9 + [1 / 3] * 4 + [1.0] * 2
    assert study.trials[0].parameters in [trial.parameters for trial in study.trials[-2:]]
    for round_ in ("9 on 11.1 % (best ", "4 on 33.3 % (best ", "2 on all (best "):
        assert round_ in str(study)


def test_the_folds_of_numbers_are_plain_and_of_classes_stratified(iris: Any) -> None:
    rng = np.random.default_rng(3)
    table = pa.table({"x": rng.normal(size=61), "y": rng.gamma(2.0, size=61)})
    plain = tune(table, "y", "linear", trials=1, folds=4, repeats=1).question.objective.folds
    assert plain.stratify is None
    sizes = [len(fold.test) for fold in plain]
    assert sum(sizes) == 61
    assert max(sizes) - min(sizes) <= 1
    objective = tune(iris, "target", "discriminant", trials=1, folds=4).question.objective
    for fold in objective.folds:
        counts = np.bincount(objective.rows.task.codes(objective.rows.table)[fold.test])
        assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize("search", ["random", "halving", "bayes"])
@pytest.mark.long
def test_threads_give_the_study_that_one_thread_gives(iris: Any, search: str) -> None:
    options: dict[str, Any] = {"search": search, "trials": 6, "folds": 2, "seed": 4}
    one = tune(iris, "target", "softmax", executor="serial", **options)
    three = tune(iris, "target", "softmax", executor=Threads(3), **options)
    assert answers(one) == answers(three)


def test_warnings_of_fits_are_kept_with_their_trials(iris: Any) -> None:
    separated = pa.table({"x": np.arange(40.0), "y": ["a"] * 20 + ["b"] * 20})
    study = tune(
        separated, "y", "logistic", space={"l2": [0.0, 1.0]}, search="grid", by_hand=(), folds=2
    )
    first, second = (trial.score for trial in study.trials)
    assert first is not None
    assert second is not None
    assert any(text.startswith("Separation: ") for text in first.warnings)
    assert second.warnings == ()
    assert "Trials with warnings: 1." in str(study)


def test_settings_that_repeat_are_not_fitted_again(iris: Any) -> None:
    study = tune(
        iris,
        "target",
        "discriminant",
        space={"covariance": ["tied", "full"]},
        trials=8,
        folds=2,
        executor="serial",
    )
    seconds = {trial.parameters["covariance"]: set() for trial in study.trials}
    for trial in study.trials:
        assert trial.score is not None
        seconds[trial.parameters["covariance"]].add(trial.score.seconds)
    assert [len(values) for values in seconds.values()] == [1, 1]


def test_when_every_trial_fails_the_first_reason_is_given(iris: Any) -> None:
    with pytest.raises(
        InvalidInput, match=r"None of 3 trials of NaiveBayes has a score.*smoothing"
    ):
        space = {"smoothing": Real(-3.0, -1.0)}
        tune(iris, "target", NaiveBayes("categorical"), space=space, trials=3, by_hand=())


def test_rows_without_a_target_are_left_out() -> None:
    rng = np.random.default_rng(1)
    y = [None if k % 7 == 0 else "ab"[k % 2] for k in range(70)]
    study = tune(pa.table({"x": rng.normal(size=70), "y": y}), "y", "logistic", trials=2, folds=2)
    assert study.question.objective.rows.model_columns.num_rows == 60


def test_of_a_sealed_folder_the_training_part_is_searched(iris: Any, tmp_path: Path) -> None:
    sealed = lk.seal(iris, "target", name="iris", folder=tmp_path)
    study = tune(sealed.path, None, "discriminant", trials=2, folds=2)
    assert study.question.objective.rows.settled.target == "target"
    assert study.question.objective.rows.table.num_rows == sealed.manifest.n_train
    with pytest.raises(InvalidInput, match="No target was given"):
        tune(iris, None, "discriminant")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"trials": 0}, "trials=0; expected a whole number from 1 up"),
        ({"trials": "many"}, "trials='many'; expected a whole number"),
        ({"minutes": "2"}, "minutes='2'; expected more than 0"),
        ({"nested": 1}, "nested=1; expected a whole number from 2 up"),
        ({"minutes": 0}, "minutes=0; expected more than 0"),
        ({"space": {"shrinkge": [0.1]}}, "Did you mean 'shrinkage'"),
        ({"by_hand": [{"shrinkge": 0.1}]}, "Did you mean 'shrinkage'"),
        ({"metric": "rmse"}, "rmse is not a metric of targets with classes"),
        ({"group": "target2"}, "Did you mean 'target'"),
        ({"by_time": "target2"}, "Did you mean 'target'"),
        ({"group": "target"}, "'target' is the target; another column was expected"),
        ({"group": "target", "by_time": "target"}, "rows are held out by one of them"),
        ({"search": "gird"}, "Did you mean 'grid'"),
        ({"metric": "logloss"}, "Did you mean 'log-loss'"),
        ({"space": {"shrinkage": 0.3}}, "a list of values"),
    ],
)
def test_what_cannot_be_searched_is_refused(iris: Any, options: Any, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        tune(iris, "target", "discriminant", **options)


def test_a_model_must_be_a_name_or_an_estimator(iris: Any) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'discriminant'"):
        tune(iris, "target", "discriminent")
    with pytest.raises(InvalidInput, match="expected a name, an import path or an estimator"):
        tune(iris, "target", NaiveBayes)
    with pytest.raises(InvalidInput, match="constant has no default search space"):
        tune(iris, "target", "constant")


def test_numbers_are_tuned_by_likelihood_where_higher_is_better() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 32))
    table = pa.table({f"x{j}": X[:, j] for j in range(32)} | {"y": X[:, 0] - rng.normal(size=60)})
    study = tune(table, "y", "linear", trials=12)
    assert study.metric.better == "higher"
    assert study.best_score_ == max(trial.value for trial in study.trials)
    assert study.best_trial_ is ranked(study.trials, "higher")[0]
    assert study.best_score_ > study.trials[0].value  # 32 columns on 48 rows: a penalty pays
