"""``compare``: equal to fitting by hand, honest about what is learned where, and never a crash."""

import json
import time
import warnings
from typing import ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.metrics import log_loss, r2_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import likely as lk
from likely.errors import InvalidInput, UnknownName, UnseenCategories, UnsettledColumn
from likely.output.progress import ModelScored, ProgressStep, listening, report
from likely.workbench.comparison.comparison_text import text_of
from likely.workbench.data.opening import dataset
from likely.workbench.models.registry import entries_for_task
from likely.workbench.preparation.prepared import Prepared
from likely.workbench.scoring.cross_validation import merged_fits
from tests.machine import costs_at_most, import_libraries

ALLOWED_IMPORTS = 30  # times what the libraries need to be imported, a second each


def mixed(n=300, kind="binary", seed=0):
    """Numbers and categories with gaps, and a target of some kind that depends on them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.1, np.nan, rng.normal(50, 10, n)),
            "income": 1000 * rng.normal(size=n),
            "town": rng.choice(np.array(["a", "b", "c", None], dtype=object), n),
            "owner": rng.random(n) < 0.4,
        }
    )
    score = frame["income"] / 1000 + (frame["town"] == "b")
    noisy = score + rng.logistic(size=n)
    levels = np.array(["low", "mid", "top"])[np.digitize(noisy, [-0.5, 1.5])]
    frame["y"] = {
        "binary": np.where(noisy > 0, "yes", "no"),
        "classes": levels,
        "ordinal": pd.Categorical(levels, ["low", "mid", "top"], ordered=True),
        "count": rng.poisson(np.exp(0.4 * score + 2)),
        "positive": np.exp(0.4 * score + 0.5 * rng.normal(size=n)),
        "real": score + rng.normal(size=n),
    }[kind]
    return frame


def by_hand(estimator, frame, folds):
    """Fits on the training rows of each fold, and what they say of the rows held out."""
    for fold in folds:
        train, held = frame.iloc[fold.train], frame.iloc[fold.test]
        yield clone(estimator).fit(train, "y"), held.drop(columns="y"), held["y"]


@pytest.mark.parametrize("kind", ["binary", "classes", "ordinal", "count", "positive", "real"])
@pytest.mark.long
def test_every_kind_is_compared_with_its_models_and_the_baseline(kind):
    found = lk.compare(mixed(kind=kind), "y", folds=3, repeats=1)
    assert found.task.kind == kind
    assert {each.name for each in found.entries} == {
        each.name for each in entries_for_task(found.task)
    }
    assert not found.failed
    assert found.best.name != "constant"
    assert found.best.against_best is None
    assert found.baseline.against_baseline is None
    sign = 1 if found.metric.better == "lower" else -1
    scores = [sign * each.value for each in found.entries]
    assert scores == sorted(scores)


def test_slow_models_wait_to_be_asked_for():
    frame = mixed(150, "real")
    found = lk.compare(frame, "y", folds=2, repeats=1)
    assert found.left_out == ("ridge", "neural-network")
    assert str(found).endswith("To include them, use everything=True.")
    assert text_of(found, in_terminal=True).endswith("To include them, use --all.")
    whole = lk.compare(frame, "y", folds=2, repeats=1, everything=True)
    assert "ridge" in {each.name for each in whole.entries}
    assert whole.left_out == ()


def test_scores_of_folds_and_of_all_rows_are_those_of_fits_by_hand():
    frame = mixed()
    found = lk.compare(frame, "y", ["logistic"], folds=4, repeats=2)
    entry = found["logistic"]
    per_fold, said, truth = [], [], []
    for model, X, y in by_hand(entry.estimator, frame, found.folds):
        p = model.predict_proba(X)
        per_fold.append(log_loss(y, p, labels=["no", "yes"]))
        said.append(p)
        truth.append(y)
    np.testing.assert_allclose(entry.per_fold, per_fold, rtol=1e-12)
    together = [
        log_loss(np.concatenate(truth[r : r + 4]), np.concatenate(said[r : r + 4])) for r in (0, 4)
    ]
    assert entry.value == pytest.approx(np.mean(together), rel=1e-12)


def test_r2_is_of_all_held_out_rows_and_not_the_mean_over_folds():
    frame = mixed(60, "real")
    found = lk.compare(frame, "y", ["linear"], folds=5, repeats=1, metric="r2")
    entry, parts = found["linear"], []
    for model, X, y in by_hand(entry.estimator, frame, found.folds):
        parts.append((y.to_numpy(), model.predict(X)))
    y, mean = map(np.concatenate, zip(*parts, strict=True))
    assert entry.value == pytest.approx(r2_score(y, mean), rel=1e-10)
    averaged = np.mean([r2_score(*part) for part in parts])
    assert entry.per_fold.mean() == pytest.approx(averaged, rel=1e-10)
    assert abs(entry.value - averaged) > 1e-3


def test_leave_one_out_of_ridge_is_its_closed_form():
    """r / (1 − h), with the intercept not penalised."""
    rng = np.random.default_rng(0)
    n, l2 = 25, 2.0
    X = rng.normal(size=(n, 3))
    y = X @ [1.0, -1.0, 0.5] + rng.normal(size=n)
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=y)
    model = Prepared(lk.LinearRegression(l2=l2), scale=False)
    found = lk.compare(frame, "y", {"ridge": model}, folds=n, repeats=1, metric="rmse")
    wide = np.column_stack([np.ones(n), X])
    hat = wide @ np.linalg.solve(wide.T @ wide + np.diag([0, l2, l2, l2]), wide.T)
    left_out = (y - hat @ y) / (1 - np.diag(hat))
    assert found["ridge"].value == pytest.approx(np.sqrt(np.mean(left_out**2)), rel=1e-8)


@pytest.mark.parametrize("calibrate", [None, "temperature"])
@pytest.mark.parametrize("smoothing", [1.0, "auto"])
def test_merged_totals_give_what_refitting_gives(calibrate, smoothing):
    rows = dataset(mixed(), "y").with_task()
    folds = rows.folds(n_folds=4, repeats=1, seed=3)
    model = Prepared(lk.NaiveBayes(calibrate=calibrate, smoothing=smoothing))
    fits = merged_fits(model, rows, folds.fold_of_rows(0))
    assert fits is not None
    for fit, fold in zip(fits, folds, strict=True):
        held = rows.table.take(fold.test).drop_columns(["y"])
        again = clone(model).fit(rows.table.take(fold.train), "y")
        # moments are merged in another order: the rest is rounding
        np.testing.assert_allclose(
            fit.predict_log_proba(held), again.predict_log_proba(held), rtol=1e-9, atol=1e-11
        )
        assert fit.model_.temperature_ == pytest.approx(again.model_.temperature_, rel=1e-9)


def test_what_only_one_fold_holds_is_not_merged():
    frame = mixed()
    frame.loc[7, "town"] = "rare"
    rows = dataset(frame, "y").with_task()
    fold = rows.folds(n_folds=4, repeats=1, seed=0).fold_of_rows(0)
    model = Prepared(lk.NaiveBayes())
    assert merged_fits(model, rows, fold) is None
    lonely = frame.assign(town="a", spike=np.arange(300) == 7)
    rows = dataset(lonely, "y").with_task()
    assert merged_fits(model, rows, fold) is None
    found = lk.compare(frame, "y", {"nb": lk.NaiveBayes()}, folds=4, repeats=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategories)
        scores = [
            log_loss(y, fit.predict_proba(X), labels=["no", "yes"])
            for fit, X, y in by_hand(model, frame, found.folds)
        ]
    np.testing.assert_allclose(found["nb"].per_fold, scores, rtol=1e-12)


class Fragile(ClassifierMixin, BaseEstimator):
    """Refuses to be fitted to the first row of a table."""

    def fit(self, X, y):
        raise RuntimeError("the sky is falling")


def test_a_model_that_fails_is_a_row_with_its_sentence():
    found = lk.compare(mixed(), "y", [Fragile(), "logistic"], folds=3, repeats=2)
    assert [each.name for each in found.entries] == ["logistic", "constant", "Fragile"]
    assert found.failed[0].problem == "in fold 1 of repeat 1: RuntimeError: the sky is falling"
    assert "Fragile failed in fold 1 of repeat 1" in str(found)
    assert np.isnan(found.to_frame()["value"].iloc[-1])


class Endless(ClassifierMixin, BaseEstimator):
    """A fit that reports its steps and has no end."""

    def fit(self, X, y):
        while True:
            report("step", 1)
            time.sleep(0.001)


def test_a_model_that_needs_more_than_its_time_is_listed_as_not_finished():
    began = time.perf_counter()
    found = lk.compare(mixed(), "y", [Endless(), "naive-bayes"], folds=3, repeats=2, seconds=0.2)
    assert time.perf_counter() - began < 60
    assert [each.name for each in found.entries] == ["naive-bayes", "constant", "Endless"]
    assert found["Endless"].problem == "not finished in 0.2 s"
    assert found["Endless"].is_unfinished and not found["naive-bayes"].problem
    assert "Endless was not finished in 0.2 s. Give more seconds=, or leave it out." in str(found)
    row = next(line for line in str(found).splitlines() if line.strip().startswith("Endless "))
    assert row.split() == ["Endless", "not", "finished"]


class Slow(Endless):
    """A fit that takes a moment and reports nothing; it counts the fits."""

    fits: ClassVar = []

    def fit(self, X, y):
        time.sleep(0.05)
        self.fits.append(len(X))
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))


def test_no_fit_follows_the_one_in_which_the_time_of_a_model_is_over():
    Slow.fits.clear()
    found = lk.compare(mixed(), "y", [Slow()], executor="serial", repeats=4, seconds=0.01)
    assert found["Slow"].is_unfinished
    assert len(Slow.fits) == 1
    with pytest.raises(InvalidInput, match=r"seconds=0 was given; a number above 0"):
        lk.compare(mixed(), "y", ["naive-bayes"], seconds=0)


def test_listeners_hear_the_scores_of_the_fast_models_before_the_slow_ones_are_fitted():
    heard = []
    rows = mixed()
    with listening(heard.append):
        found = lk.compare(rows, "y", ["neural-network", "naive-bayes"], folds=2, repeats=2)
    scored = [each for each in heard if isinstance(each, ModelScored)]
    assert [each.what for each in scored] == ["constant", "naive-bayes", "neural-network"]
    assert scored[1][2:5] == found["naive-bayes"].main[:3]
    names = [
        each.detail for each in heard if isinstance(each, ProgressStep) and each.what == "fits"
    ]
    assert names[-4:] == ["neural-network"] * 4
    assert {*names[:-4]} == {"constant", "naive-bayes"}
    first = heard.index(scored[1])
    assert "neural-network" not in [getattr(each, "detail", "") for each in heard[:first]]


def test_a_column_of_text_that_holds_numbers_is_refused_before_any_fit():
    frame = mixed(100).assign(money=[f"{i * 1.5 + 1:.2f}" for i in range(100)])
    with pytest.raises(UnsettledColumn, match="is text, but most of its values are numbers"):
        lk.compare(frame, "y", ["logistic", "naive-bayes"], folds=2, repeats=1)
    data = lk.dataset(frame, "y", number=["money"])
    assert len(lk.compare(data, models=["logistic"], folds=2, repeats=1).entries) == 2


class Encoded(ClassifierMixin, BaseEstimator):
    """Logistic regression on the mean of y for each value of a column: learned in the fit."""

    def fit(self, X, y):
        codes = (np.asarray(y) == "yes").astype(float)
        frame = pd.DataFrame({"key": X.column("key").to_pylist(), "y": codes})
        self.means_ = frame.groupby("key")["y"].mean()
        self.overall_ = codes.mean()
        self.model_ = lk.LogisticRegression(l2=1.0).fit(self._encode(X), y)
        self.classes_ = self.model_.classes_
        return self

    def _encode(self, X):
        keys = pd.Series(X.column("key").to_pylist())
        return keys.map(self.means_).fillna(self.overall_).to_numpy()[:, None]

    def predict_proba(self, X):
        return self.model_.predict_proba(self._encode(X))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        return tags


def test_a_comparison_shows_no_leak_of_an_encoding_that_each_fold_learns_itself():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"key": [f"k{k}" for k in rng.integers(0, 150, 600)]})
    frame["y"] = rng.choice(["yes", "no"], 600)
    inside = lk.compare(frame, "y", {"encoded": Encoded()}, category=["key"])
    assert inside["encoded"].value > inside.baseline.value  # noise: worse than a constant
    leaked = frame.assign(key=(frame["y"] == "yes").groupby(frame["key"]).transform("mean"))
    outside = lk.compare(leaked, "y", ["logistic"])
    assert outside.best.name == "logistic"
    assert outside.best.against_baseline.p < 0.01


@pytest.mark.long
def test_on_noise_nothing_is_clearly_better_than_the_constant():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(200, 5)), columns=list("abcde"))
    frame["y"] = rng.choice(["yes", "no"], 200)
    found = lk.compare(frame, "y")
    clear = [
        each.name
        for each in found.entries
        if each.against_baseline is not None
        and each.against_baseline.p < 0.05
        and each.value < found.baseline.value
    ]
    assert clear == []


def test_groups_are_held_out_whole():
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(30), 6)
    frame = pd.DataFrame({"x": person + 0.05 * rng.normal(size=180), "person": person})
    frame["y"] = np.where(rng.random(30) < 0.5, "yes", "no")[person]  # a fact about the person
    nearest = {"nearest": Prepared(KNeighborsClassifier(1))}
    parted = lk.compare(frame, "y", nearest, metric="accuracy", folds=3)
    grouped = lk.compare(frame, "y", nearest, metric="accuracy", folds=3, group="person")
    assert parted["nearest"].value > 0.95
    assert grouped["nearest"].value < 0.75
    assert "whole groups of person" in str(grouped)


def test_a_seal_gives_its_training_rows_its_target_and_its_groups(tmp_path):
    frame = mixed().assign(person=np.arange(300) // 3)
    sealed = lk.seal(frame, "y", group="person", name="a", folder=tmp_path)
    found = lk.compare(sealed, models=["logistic"], folds=3, repeats=1)
    assert found.rows.table.num_rows == sealed.manifest.n_train
    assert (found.task.target, found.rows.group) == ("y", "person")
    again = lk.compare(str(tmp_path / "a.seal"), models=["logistic"], folds=3, repeats=1)
    np.testing.assert_array_equal(found.best.per_fold, again.best.per_fold)
    assert sealed.evaluations == 0


def test_a_seal_by_time_is_compared_forwards_in_time(tmp_path):
    frame = mixed().assign(day=np.arange(300.0))
    sealed = lk.seal(frame, "y", by_time="day", name="a", folder=tmp_path)
    found = lk.compare(sealed, models=["logistic"], folds=3)
    assert found.folds.repeats == 1
    days = found.rows.table.column("day").to_numpy()
    for fold in found.folds:
        assert days[fold.train].max() < days[fold.test].min()


def test_rows_without_a_target_are_left_out_and_counted():
    frame = mixed()
    frame["y"] = frame["y"].where(np.arange(300) >= 20, None)
    found = lk.compare(frame, "y", ["logistic"], folds=3, repeats=1)
    assert found.rows.n_without_target == 20
    whole = lk.compare(frame.iloc[20:], "y", ["logistic"], folds=3, repeats=1)
    assert found.best.value == whole.best.value


def test_the_seed_decides_the_folds():
    frame = mixed()
    one, two, other = (
        lk.compare(frame, "y", ["logistic"], folds=3, repeats=1, seed=seed) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one.best.per_fold, two.best.per_fold)
    assert (one.best.per_fold != other.best.per_fold).any()


def test_the_best_model_is_the_one_fitted_directly():
    frame = mixed()
    best = lk.compare(frame, "y", ["logistic"], folds=3, repeats=1).best_model()
    assert not hasattr(best, "model_")
    X = frame.drop(columns="y")
    direct = Prepared(lk.LogisticRegression()).fit(X, frame["y"])
    fitted = best.fit(X, frame["y"])
    np.testing.assert_allclose(fitted.predict_proba(X), direct.predict_proba(X), rtol=1e-12)


def test_it_prints_as_a_table_a_frame_a_page_and_json():
    found = lk.compare(mixed(), "y", ["logistic", lk.NaiveBayes(), lk.NaiveBayes()], folds=3)
    text = str(found)
    assert text.startswith("table: 300 rows, target y (2 classes).")
    words = ("log loss", "95 % interval", "accuracy", "p vs best", "Best: ")
    assert all(word in text for word in words)
    assert {"NaiveBayes", "NaiveBayes 2"} < {each.name for each in found.entries}
    assert list(found.to_frame()["model"]) == [each.name for each in found.entries]
    assert isinstance(found.to_frame("pyarrow"), pa.Table)
    assert "<td" in found._repr_html_() and "<script" not in found._repr_html_()
    facts = json.loads(json.dumps(found.facts()))
    assert facts["best"] == found.best.name
    assert len(facts["models"][0]["folds"]) == 6
    with pytest.raises(KeyError, match="no model 'tree'"):
        found["tree"]


def test_warnings_are_kept_with_the_model_and_not_shown():
    frame = mixed(120)
    model = lk.LogisticRegression(max_iter=1, l2=1e-6)
    found = lk.compare(frame, "y", [model], folds=2, repeats=1)  # warnings are errors here
    assert any("converge" in text for text in found["LogisticRegression"].warnings)


def test_mistakes_are_refused():
    frame = mixed(60)
    with pytest.raises(UnknownName, match=r"no model 'logistik'.*Did you mean 'logistic'"):
        lk.compare(frame, "y", ["logistik"])
    with pytest.raises(InvalidInput, match="linear is for numbers"):
        lk.compare(frame, "y", ["linear"])
    with pytest.raises(InvalidInput, match="rmse is not a metric of targets with two classes"):
        lk.compare(frame, "y", metric="rmse")
    with pytest.raises(InvalidInput, match="No target was given"):
        lk.compare(frame)
    with pytest.raises(UnknownName, match="no column 'persn'"):
        lk.compare(frame, "y", group="persn")
    with pytest.raises(InvalidInput, match="no column except 'y'"):
        lk.compare(frame[["y"]], "y")


@pytest.mark.slow
def test_seven_thousand_rows_of_twenty_mixed_columns_take_less_than_half_a_minute():
    rng = np.random.default_rng(0)
    wide = mixed(7000)
    for j in range(16):
        x = rng.normal(size=7000)
        wide.insert(0, f"x{j}", np.where(rng.random(7000) < 0.05, np.nan, x) if j < 4 else x)

    def compare():
        assert not lk.compare(wide, "y").failed

    assert costs_at_most(ALLOWED_IMPORTS, import_libraries, compare)


def test_an_infinite_score_prints_as_a_dash_with_a_reason():
    """A line through counts predicts means below 0, of which the Poisson has no deviance."""
    rng = np.random.default_rng(0)
    x = 1.3 * rng.normal(size=200)
    table = pa.table({"x": x, "k": rng.poisson(np.exp(0.2 + 0.9 * x))})
    found = lk.compare(table, "k", ["linear"], folds=3, repeats=1, kind="count")
    assert found["linear"].others["poisson-deviance-explained"] == -np.inf
    told = " ".join(str(found).split())
    assert "inf " not in told and "∞" not in told
    assert "– for linear: infinite, because a predicted mean is 0 or below" in told
    assert "paired t-test over folds, corrected for training sets that share rows" in told


def bare(model, **options):
    """The notes of a model that is given as it is, and what is printed."""
    found = lk.compare(mixed(), "y", {"mine": model}, folds=3, repeats=1, **options)
    return found["mine"].notes, str(found), found.facts()["models"]


def test_a_bare_estimator_of_another_library_has_a_note_about_its_columns():
    """SEL-5: what it is fitted to are not the columns as they were given."""
    notes, text, facts = bare(KNeighborsClassifier(5))
    (note,) = notes
    assert note.startswith(
        "columns are prepared before each fit: missing cells are filled, categories become columns "
        "of 0 and 1 and numbers are standardised. Another preparation is possible in Python: "
        "Prepared(model, scale=False)"
    )
    assert "mine: columns are prepared before each fit" in " ".join(text.split())
    assert {each["model"]: each["notes"] for each in facts} == {"mine": [note], "constant": []}
    path = "sklearn.neighbors.KNeighborsClassifier"
    found = lk.compare(mixed(), "y", [path], folds=3, repeats=1)
    assert found[path].notes == notes


def test_a_bare_model_whose_numbers_are_standardised_has_a_note():
    (note,) = bare(lk.LogisticRegression(l2=1.0))[0]
    assert "numbers are standardised" in note
    assert "Prepared(model, scale=False)" in note


@pytest.mark.parametrize(
    "model",
    [
        Prepared(KNeighborsClassifier(5), scale=True),
        Prepared(KNeighborsClassifier(5)),
        lk.NaiveBayes(),
        "logistic",
    ],
    ids=lambda model: str(model)[:30],
)
def test_a_model_with_its_own_preparation_or_without_scales_has_no_note(model):
    notes, text, _ = bare(model)
    assert notes == ()
    assert "are prepared before each fit" not in text


def test_a_pipeline_that_chooses_its_columns_is_given_them_as_they_are_without_a_note():
    own = make_column_transformer((StandardScaler(), ["income"]))
    notes, _, facts = bare(make_pipeline(own, KNeighborsClassifier(5)))
    assert notes == ()
    assert facts[0]["problem"] is None


def few(n=5):
    """A table so small that almost every fold warns."""
    return pd.DataFrame(
        {
            "x": np.arange(1.0, n + 1),
            "z": [2.5, 1.5, 3.5, 0.5, 9.5][:n],
            "t": list("abacb")[:n],
            "y": list("pqpqp")[:n],
        }
    )


def test_warnings_of_fits_are_shown_once_for_each_model_and_kind():
    found = lk.compare(few(), "y", ["logistic", "naive-bayes", "discriminant"], folds=2)
    kinds = {name: found[name].warning_kinds for name in ("logistic", "naive-bayes")}
    assert len(found["logistic"].warnings) > len(kinds["logistic"]) == 1
    assert "Categories not seen in training" in kinds["logistic"][0]
    assert "more like it in other folds.)" in kinds["logistic"][0]
    text = " ".join(str(found).split())
    assert text.count("Categories not seen in training are ignored") == 1  # for both models
    assert "of 5 held-out rows: t." in text
    assert "Fit again" not in text
    assert "There is nothing to calibrate" in text
    assert "There is nothing to calibrate" in found._repr_html_()


def test_a_model_that_fits_every_row_is_said_to_have_no_spread():
    linear = lk.compare(few(), "z", ["linear"], folds=5)["linear"]
    assert np.isnan(linear.value) and np.isfinite(linear.others["r2"])
    assert "has as many coefficients as rows; it then has no spread" in linear.notes[0]
