"""Honest scores: nested against best-of-many, inside the fold against outside of it."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin

import likely as lk
from likely.metrics import METRICS
from likely.spaces import Integer, Real
from likely.workbench.data.folds import Fold, share_of_rows
from likely.workbench.data.opening import dataset
from likely.workbench.data.task import task_of
from likely.workbench.search.choice import OuterFold, outer_folds
from likely.workbench.search.question import CrossValidated
from likely.workbench.search.trials import TrialScore
from likely.workbench.search.tune import tune

pytestmark = pytest.mark.filterwarnings(
    "ignore::likely.errors.NothingToCalibrate"
)  # small separable tables


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


class Nearest(ClassifierMixin, BaseEstimator):  # type: ignore[misc]  # as above
    """The class of the row with the nearest x."""

    def __init__(self, weight: float = 1.0) -> None:
        self.weight = weight

    def fit(self, X: Any, y: Any) -> "Nearest":
        self.classes_, self.codes_ = np.unique(np.asarray(y), return_inverse=True)
        self.x_ = _array(X)[:, 0]
        return self

    def predict_proba(self, X: Any) -> Any:
        nearest = abs(_array(X)[:, [0]] - self.x_).argmin(axis=1)
        return np.eye(2)[self.codes_[nearest]] * 0.98 + 0.01


def _array(X: Any) -> Any:
    return np.column_stack([column.to_numpy() for column in X.columns])


@pytest.mark.slow
def test_on_pure_noise_the_nested_score_is_chance_and_the_best_score_is_not() -> None:
    """60 rows, 12 columns that know nothing, a model that looks at one of them.

    A column's accuracy has a standard deviation of 0.065, so the best of 12 is near 0.5 + 1.6 ·
    0.065 = 0.61; the mean over 6 tables has one of 0.027, and the bounds leave about three.
    """
    best, nested = [], []
    for seed in range(6):
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
            folds=2,
            nested=3,
            metric="accuracy",
            seed=seed,
            executor="serial",
        )
        assert len(study.trials) == 12
        best.append(study.best_score_)
        nested.append(study.nested_score_)
    assert abs(np.mean(nested) - 0.5) < 0.08
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
    assert inside.best_score_ > inside.baseline - 0.02  # no better than the constant …
    assert outside.best_score_ < outside.baseline - 0.1  # … where the leak seems to know


def test_a_nested_study_shows_what_each_fold_chose(iris: Any) -> None:
    study = tune(iris, "target", "discriminant", trials=3, folds=2, nested=2)
    assert len(study.outer) == 2
    mean = np.mean([each.score.value for each in study.outer])
    assert study.nested_score_ == pytest.approx(mean, rel=1e-14)  # the order of the sum differs
    low, high = study.nested_interval_
    assert low < study.nested_score_ < high
    text, html = str(study), study._repr_html_()
    for each in study.outer:
        assert each.parameters["covariance"] in text
        assert OuterFold.from_line(each.to_line()) == each
    assert "Nested cross-validation: Log loss" in text
    assert "Chosen by each outer fold" in html
    worse = {"space": {"shrinkage": [0.0, 1.0]}, "search": "grid", "by_hand": [{"shrinkage": 1.0}]}
    plain = tune(iris, "target", "discriminant", folds=2, repeats=1, **worse)
    assert "a nested search (nested=5, --nested 5) gives an unbiased one" in str(plain)
    assert np.isnan(plain.nested_score_)


def test_a_share_of_the_rows_has_every_class_and_grows(iris: Any) -> None:
    table = pa.Table.from_pandas(iris)
    task = task_of(table, "target")
    objective = CrossValidated(
        OneColumn(), dataset(table, "target").with_task(), METRICS["log-loss"], 2
    )
    fold = next(iter(objective.folds))
    strata = task.strata(table)
    ninth, third = (share_of_rows(fold.train, share, strata, 0) for share in (1 / 9, 1 / 3))
    assert set(ninth) < set(third) < set(fold.train)
    assert set(task.codes(table)[ninth]) == {0, 1, 2}
    assert len(third) == pytest.approx(len(fold.train) / 3, abs=3)


class Seen:
    """Every fit of a search: the rows that it learned from and those that it was scored on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.searches: list[tuple[int, list[Fold], CrossValidated]] = []
        plain = CrossValidated.evaluate

        def evaluate(this: CrossValidated, parameters: Any, *, share: float = 1.0) -> TrialScore:
            self.searches.append((this.rows.table.num_rows, list(this.folds), this))
            return plain(this, parameters, share=share)

        monkeypatch.setattr(CrossValidated, "evaluate", evaluate)


def test_no_row_of_an_outer_fold_is_in_its_inner_search(
    iris: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = Seen(monkeypatch)
    table = pa.Table.from_pandas(iris.assign(id=np.arange(len(iris)) + 0.5))
    options: dict[str, Any] = {"trials": 2, "folds": 2, "nested": 3, "executor": "serial"}
    study = tune(table, "target", "discriminant", **options)
    whole = study.question.objective
    outer = [whole.rows.table.column("id").to_numpy()[f.test] for f in outer_folds(whole, 3)]
    inner = [this.rows.table.column("id").to_numpy() for _, _, this in seen.searches[2:]]
    assert len(inner) == 3 * 2
    for held, searched in zip(np.repeat(np.arange(3), 2), inner, strict=True):
        assert not {*outer[held]} & {*searched}
        assert {*outer[held]} | {*searched} == {*whole.rows.table.column("id").to_numpy()}


def people() -> Any:
    """Six rows of each of 24 people; the answer is a fact about the person, and x names them."""
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(24), 6)
    fact = np.where(rng.permutation(24) < 12, "yes", "no")
    x = person + 0.01 * rng.normal(size=144)
    return pa.table({"x": x, "person": [f"p{k}" for k in person], "y": fact[person]})


def test_groups_are_whole_in_every_fold_and_are_no_feature(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen, table = Seen(monkeypatch), people()
    options: dict[str, Any] = {"trials": 2, "folds": 3, "nested": 3, "metric": "accuracy"}
    study = tune(table, "y", Nearest(), space={"weight": [1.0]}, group="person", **options)
    whole = study.question.objective
    outer = list(outer_folds(whole, 3))
    assert len(seen.searches) == 1 + 3
    for objective, folds in [(whole, outer), *((this, f) for _, f, this in seen.searches)]:
        person = objective.rows.table.column("person").to_numpy()
        for fold in folds:
            assert not {*person[fold.train]} & {*person[fold.test]}
    assert study.question.to_json()["group"] == "person"
    assert list(study.refit().feature_names_in_) == ["x"]
    assert study.nested_score_ < 0.75
    assert study.best_score_ < 0.75
    parted = tune(
        table.drop_columns(["person"]), "y", Nearest(), space={"weight": [1.0]}, **options
    )
    assert parted.nested_score_ > 0.95  # the neighbour is the same person


def test_a_seal_by_group_or_time_is_tuned_as_it_was_sealed(tmp_path: Any) -> None:
    frame = people().append_column("day", pa.array(np.arange(144.0)))
    grouped = lk.seal(frame, "y", group="person", name="a", folder=tmp_path)
    study = tune(grouped, None, "naive-bayes", trials=1, folds=3, nested=2)
    assert study.question.objective.folds.groups is not None
    assert "person" not in study.question.objective.rows.model_columns.column_names
    timed = lk.seal(frame, "y", by_time="day", name="b", folder=tmp_path)
    study = tune(timed, None, "discriminant", trials=1, folds=3)
    assert study.question.to_json()["by_time"] == "day"
    days = study.question.objective.rows.model_columns.column("day").to_numpy()
    for fold in study.question.objective.folds:
        assert days[fold.train].max() < days[fold.test].min()
    assert grouped.evaluations == timed.evaluations == 0


def test_by_time_every_fold_is_predicted_from_what_came_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen, rng = Seen(monkeypatch), np.random.default_rng(1)
    day = rng.permutation(160)
    table = pa.table({"x": rng.normal(size=160), "day": day, "y": rng.normal(size=160)})
    options: dict[str, Any] = {"trials": 1, "folds": 3, "nested": 3}
    study = tune(table, "y", "linear", by_time="day", **options)
    whole = study.question.objective
    outer = list(outer_folds(whole, 3))
    sizes = [len(fold.train) for fold in outer]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1]  # the window grows
    for objective, folds in [(whole, outer), *((this, f) for _, f, this in seen.searches)]:
        days = objective.rows.table.column("day").to_numpy()
        for fold in folds:
            assert days[fold.train].max() < days[fold.test].min()
    assert len(study.outer) == 3


def test_outer_folds_are_not_the_folds_of_the_search(iris: Any) -> None:
    rows = dataset(pa.Table.from_pandas(iris), "target").with_task()
    objective = CrossValidated(OneColumn(), rows, METRICS["log-loss"], 3)
    inner = [set(fold.test.tolist()) for fold in objective.folds]
    outer = [set(fold.test.tolist()) for fold in outer_folds(objective, 3)]
    assert len(outer) == 3
    assert not any(fold in inner for fold in outer)
