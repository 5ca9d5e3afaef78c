"""What calibration takes: weights, frames, texts, rows without errors; and what it refuses."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

import likely
from likely import NaiveBayes
from likely.calibrate.isotonic import IsotonicScaling
from likely.calibrate.platt import PlattScaling
from likely.calibrate.temperature import TemperatureScaling
from likely.errors import InvalidInput, NothingToCalibrate
from tests.scalings import CANCER, Passes, every_scaling, halves, noisy, score_alone


@every_scaling
def test_weight_two_is_the_row_twice_and_weight_zero_the_row_absent(scaling):
    X, y, X_new, y_new = halves(3)
    weight = np.random.default_rng(0).integers(0, 3, len(y_new)).astype(float)
    fitted = GaussianNB().fit(X, y)
    weighted = scaling(fitted, "prefit").fit(X_new, y_new, sample_weight=weight)
    index = np.repeat(np.arange(len(y_new)), weight.astype(int))
    repeated = scaling(fitted, "prefit").fit(X_new[index], y_new[index])
    assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-7)


@every_scaling
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_go_through_with_their_names_and_their_own_target(scaling, library):
    X, y = CANCER
    X = X[:, :4]
    frame = pd.DataFrame(X, columns=list("abcd"))
    both = frame.assign(kind=np.where(y, "well", "ill"))
    if library != "pandas":
        convert = pl.from_pandas if library == "polars" else pa.Table.from_pandas
        frame, both = convert(frame), convert(both)
    by_frame = scaling(NaiveBayes()).fit(both, "kind")
    by_array = scaling(NaiveBayes()).fit(X, y)
    assert by_frame.feature_names_in_.tolist() == list("abcd")
    assert by_frame.classes_.tolist() == ["ill", "well"]
    assert_allclose(by_frame.predict_proba(frame), by_array.predict_proba(X))
    assert not hasattr(by_array, "feature_names_in_")


def test_sparse_rows_and_texts_go_through():
    texts = ["good fine", "fine good good", "bad", "poor bad", "good", "bad poor poor"] * 5
    y = [1, 1, 0, 0, 1, 0] * 5
    model = PlattScaling(make_pipeline(CountVectorizer(), MultinomialNB()), cv=3).fit(texts, y)
    assert model.predict(["good", "poor"]).tolist() == [1, 0]
    X = sparse.csr_array(np.abs(noisy()[0]))
    assert IsotonicScaling(MultinomialNB()).fit(X, noisy()[1]).predict_proba(X).shape == (400, 2)


def test_a_calibration_set_may_lack_a_class_that_the_estimator_knows():
    X, y = load_iris(return_X_y=True)
    model = PlattScaling(GaussianNB().fit(X, y), "prefit").fit(X[:100], y[:100])
    assert model.classes_.tolist() == [0, 1, 2]
    assert (model.predict_proba(X)[:, 2] < 0.1).all()


def test_scores_that_make_no_error_settle_no_temperature_and_that_is_said():
    model, X = score_alone([-2.0, -1.0, 1.0, 2.0])
    with pytest.warns(NothingToCalibrate, match="temperature is 1.*use the estimator as it is"):
        cold = TemperatureScaling(model, "prefit").fit(X, [0, 0, 1, 1])
    assert cold.temperature_ == 1


@pytest.mark.parametrize(
    ("estimator", "cv", "y", "message"),
    [
        (GaussianNB(), 1, [0, 1] * 5, "cv is 1; expected a number of folds, 2 or more"),
        (GaussianNB(), "folds", [0, 1] * 5, "cv is 'folds'"),
        (GaussianNB(), 5, [0] * 9 + [1], "Class 1 has one row; folds need two"),
        (GaussianNB(), 5, [0] * 10, "only one class, 0"),
        (GaussianNB(), [(np.arange(9), [9])], [0] * 9 + [1], "leaves 1 classes"),
        (Passes((0, 1, 2)), 2, [0, 1, 2, 0, 1, 2, 0, 1, 2, 0], "has 2 columns; expected 3"),
    ],
    ids=["one-fold", "a-word", "a-lone-row", "one-class", "a-class-left-out", "scores-missing"],
)
def test_what_cannot_be_calibrated_is_refused(estimator, cv, y, message):
    X = np.random.default_rng(0).normal(size=(10, 2))
    with pytest.raises(InvalidInput, match=message):
        PlattScaling(estimator, cv).fit(X, y)


def test_weights_that_the_estimator_does_not_take_are_refused():
    X, y = noisy()
    with pytest.raises(InvalidInput, match=r"KNeighborsClassifier.fit does not take it"):
        PlattScaling(KNeighborsClassifier()).fit(X, y, sample_weight=np.ones(len(y)))


def test_prefit_needs_a_fitted_estimator():
    with pytest.raises(NotFittedError):
        PlattScaling(GaussianNB(), "prefit").fit(*noisy())


def test_an_estimator_without_scores_is_refused():
    class Blunt(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

    with pytest.raises(InvalidInput, match="Blunt has none of decision_function"):
        PlattScaling(Blunt()).fit(*noisy())


def test_scores_that_are_not_finite_are_refused_with_their_row():
    model, X = score_alone([0.0, 1.0, np.nan, 2.0])
    with pytest.raises(InvalidInput, match="decision_function of Passes is nan at row 2"):
        PlattScaling(model, "prefit").fit(X, [0, 1, 0, 1])


def test_a_complaint_about_a_cell_counts_the_callers_rows():
    X, y = noisy()
    X = np.array(X)
    X[7, 0] = np.nan
    with pytest.raises(InvalidInput, match="row 7, column 'x0'"):
        PlattScaling(likely.LogisticRegression()).fit(X, y)
