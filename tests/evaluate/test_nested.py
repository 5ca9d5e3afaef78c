"""Honest scores: nested against best-of-many, inside the fold against outside of it."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris

from likely.evaluate.metrics import METRICS
from likely.evaluate.nested import OuterFold, outer_folds
from likely.evaluate.objective import CrossValidated
from likely.evaluate.space import Integer, Real
from likely.evaluate.study import tune
from likely.evaluate.task import task_of


@pytest.fixture(scope="module")
def iris() -> Any:
    return load_iris(as_frame=True).frame.iloc[::3].reset_index(drop=True)


class OneColumn(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # no types in scikit-learn
    """The class whose mean of one column is nearer."""

    def __init__(self, column: int = 0) -> None:
        self.column = column

    def fit(self, X: Any, y: Any) -> "OneColumn":
        x, y = _array(X)[:, self.column], np.asarray(y)
        self.classes_ = np.unique(y)
        self.means_ = np.array([x[y == label].mean() for label in self.classes_])
        return self

    def predict_proba(self, X: Any) -> Any:
        gap = abs(_array(X)[:, [self.column]] - self.means_)
        sure = np.where(gap == gap.min(axis=1, keepdims=True), 0.7, 0.3)
        return sure / sure.sum(axis=1, keepdims=True)


class TargetEncoded(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # as above
    """The share of class 1 among the rows of the fit with the same code, smoothed."""

    def __init__(self, prior_rows: float = 1.0) -> None:
        self.prior_rows = prior_rows

    def fit(self, X: Any, y: Any) -> "TargetEncoded":
        codes, y = _array(X)[:, 0].astype(int), np.asarray(y)
        self.classes_, self.share_ = np.unique(y), y.mean()
        ones, rows = (np.bincount(codes, w, minlength=1000) for w in (y, np.ones(len(y))))
        self.level_ = (ones + self.prior_rows * self.share_) / (rows + self.prior_rows)
        return self

    def predict_proba(self, X: Any) -> Any:
        p = self.level_[_array(X)[:, 0].astype(int)].clip(0.01, 0.99)
        return np.column_stack([1 - p, p])


def _array(X: Any) -> Any:
    return np.column_stack([column.to_numpy() for column in X.columns])


def test_on_pure_noise_the_nested_score_is_chance_and_the_best_score_is_not() -> None:
    """60 rows, 12 columns that know nothing, a model that looks at one of them.

    A column's accuracy has a standard deviation of 0.065, so the best of 12 is near 0.5 + 1.6 ·
    0.065 = 0.61; the mean over 8 tables has one of 0.023, and the bounds leave about three.
    """
    best, nested = [], []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        columns = {f"x{j:02d}": rng.normal(size=60) for j in range(12)}
        table = pa.table({**columns, "y": rng.permutation(np.repeat([0, 1], 30))})
        study = tune(
            table,
            "y",
            OneColumn(),
            space={"column": Integer(0, 11)},
            search="grid",
            by_hand=(),
            trials=12,
            folds=3,
            nested=3,
            metric="accuracy",
            seed=seed,
            executor="serial",
        )
        assert len(study.trials) == 12
        best.append(study.best_score_)
        nested.append(study.nested_score_)
    assert abs(np.mean(nested) - 0.5) < 0.07
    assert np.mean(best) > 0.55
    assert np.mean(best) - np.mean(nested) > 0.05


def test_a_target_encoding_of_all_rows_leaks_and_one_inside_the_fold_does_not() -> None:
    """100 codes that know nothing about y: what leaks is y itself, one row in three."""
    rng = np.random.default_rng(0)
    codes, y = rng.integers(0, 100, 300), rng.permutation(np.repeat([0, 1], 150))
    space = {"prior_rows": Real(0.1, 100.0, log=True)}
    inside = tune(
        pa.table({"code": codes, "y": y}), "y", TargetEncoded(), space=space, trials=6, folds=4
    )
    leaking = TargetEncoded(prior_rows=0.5).fit(pa.table({"code": codes}), y)
    encoded = leaking.predict_proba(pa.table({"code": codes}))[:, 1]
    outside = tune(pa.table({"level": encoded, "y": y}), "y", "logistic", trials=6, folds=4)
    assert inside.best_score_ > inside.constant - 0.02  # no better than the constant …
    assert outside.best_score_ < outside.constant - 0.1  # … where the leak seems to know


def test_a_nested_study_shows_what_each_fold_chose(iris: Any) -> None:
    study = tune(iris, "target", "discriminant", trials=3, folds=2, nested=2)
    assert len(study.outer) == 2
    assert study.nested_score_ == np.mean([each.score for each in study.outer])
    low, high = study.nested_interval_
    assert low < study.nested_score_ < high
    text, html = str(study), study._repr_html_()
    for each in study.outer:
        assert each.parameters["covariance"] in text
        assert OuterFold.from_line(each.to_line()) == each
    assert "Nested: Log loss" in text
    assert "What each outer fold chose" in html
    plain = tune(iris, "target", "discriminant", trials=2, folds=2)
    assert "that score is too good; nested=5 gives an honest one" in str(plain)
    assert np.isnan(plain.nested_score_)


def test_a_share_of_the_rows_has_every_class_and_grows(iris: Any) -> None:
    table = pa.Table.from_pandas(iris)
    task = task_of(table, "target")
    objective = CrossValidated(OneColumn(), table, task, METRICS["log-loss"], 2)
    fold = next(iter(objective.folds))
    ninth, third = (objective._some(fold.train, share) for share in (1 / 9, 1 / 3))
    assert set(ninth) < set(third) < set(fold.train)
    assert set(task.codes(table)[ninth]) == {0, 1, 2}
    assert len(third) == pytest.approx(len(fold.train) / 3, abs=3)


def test_groups_are_never_on_both_sides_of_any_fold() -> None:
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(30), 4)
    table = pa.table({"x": rng.normal(size=120) + person % 2, "person": person, "y": person % 2})
    study = tune(table, "y", "naive-bayes", group="person", trials=1, folds=3, nested=3)
    whole = study.question.objective
    outer = next(iter(outer_folds(whole, 3)))
    for objective, fold in [(whole, outer)] + [
        (part, fold) for part in (whole, whole.on(outer.train)) for fold in part.folds
    ]:
        codes = np.asarray(objective.table.column("person").to_numpy())
        assert not {*codes[fold.train]} & {*codes[fold.test]}
    assert study.question.to_json()["group"] == "person"


def test_outer_folds_are_not_the_folds_of_the_search(iris: Any) -> None:
    table = pa.Table.from_pandas(iris)
    task = task_of(table, "target")
    objective = CrossValidated(OneColumn(), table, task, METRICS["log-loss"], 3)
    inner = [set(fold.test.tolist()) for fold in objective.folds]
    outer = [set(fold.test.tolist()) for fold in outer_folds(objective, 3)]
    assert len(outer) == 3
    assert not any(fold in inner for fold in outer)
