"""Bad input to linear models: a clear error or the right answer, never silence.

One test per row of the table, one case per model: what other libraries do silently (zeros for a
column in large units, coefficients of 40 for separated classes) must be loud or right here.
"""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris

import likely
from likely.errors import InvalidInput, RedundantColumns, Separation

N = 240


def features(seed=0, n=N, p=3):
    return np.random.default_rng(seed).normal(size=(n, p))


def signal(X, seed=1):
    rng = np.random.default_rng(seed)
    return X @ np.linspace(0.8, -0.4, X.shape[1]) + rng.logistic(size=len(X))


def real(X):
    return signal(X)


def count(X):
    return np.random.default_rng(2).poisson(np.exp(0.4 * X[:, 0]))


def two(X):
    return (signal(X) > 0).astype(int)


def three(X):
    return np.digitize(signal(X), [-0.7, 0.7])


MODELS = {
    "linear": (lambda **options: likely.LinearRegression(**options), real),
    "lasso": (lambda l2=0.0, **options: likely.LinearRegression(l1=2.0, l2=l2, **options), real),
    "poisson": (lambda **options: likely.GLM("poisson", **options), count),
    "logistic": (lambda l2=0.0, **options: likely.LogisticRegression(l2=l2, **options), two),
    "probit": (
        lambda l2=0.0, **options: likely.LogisticRegression("probit", l2=l2, **options),
        two,
    ),
    "softmax": (lambda l2=0.0, **options: likely.SoftmaxRegression(l2=l2, **options), three),
    "ordinal": (lambda l2=0.0, **options: likely.OrdinalRegression(l2=l2, **options), three),
}
CLASSIFIERS = ("logistic", "probit", "softmax", "ordinal")
FREE = ("linear", "poisson", "logistic", "probit", "softmax", "ordinal")  # fitted without a penalty

every = pytest.mark.parametrize("name", MODELS)
each_free = pytest.mark.parametrize("name", FREE)
each_classifier = pytest.mark.parametrize("name", CLASSIFIERS)


def fitted(name, X, y, **options):
    make, _ = MODELS[name]
    return make(**options).fit(X, y)


def answers(model, X):
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)


@each_free
@pytest.mark.parametrize("scale", [1e8, 1e-8])
def test_the_unit_of_a_column_does_not_matter(name, scale):
    X, y = features(), MODELS[name][1](features())
    units = np.array([1.0, scale, 1.0])
    plain, scaled = fitted(name, X, y), fitted(name, X * units, y)
    assert_allclose(scaled.coef_ * units, plain.coef_, rtol=1e-6, atol=1e-8)
    assert_allclose(answers(scaled, X * units), answers(plain, X), rtol=1e-6, atol=1e-8)


@each_free
def test_columns_far_from_zero_are_fitted_as_if_they_were_near(name):
    X, y = features(), MODELS[name][1](features())
    shift = np.array([0.0, 1e7, -1e5])
    plain, moved = fitted(name, X, y), fitted(name, X + shift, y)
    assert_allclose(moved.coef_, plain.coef_, rtol=1e-5, atol=1e-7)


@each_classifier
def test_separated_classes_are_detected_and_the_column_is_named(name):
    X = features()
    y = np.digitize(X[:, 1], [-0.5, 0.5]) if name in ("softmax", "ordinal") else X[:, 1] > 0
    with pytest.warns(Separation, match=r"separated along 'x1'.*l2=1\.0"):
        fitted(name, X, y)


@each_classifier
def test_a_category_that_decides_its_rows_is_detected(name):
    X = features()
    X[:, 2] = np.arange(len(X)) % 10 == 0
    y = MODELS[name][1](X)
    y = np.where(X[:, 2] == 1, y.max(), y)
    with pytest.warns(Separation, match=r"separated along 'x2'"):
        fitted(name, X, y)


@each_classifier
def test_a_penalty_answers_separated_classes_without_a_warning(name):
    X = features()
    y = np.digitize(X[:, 1], [-0.5, 0.5]) if name in ("softmax", "ordinal") else X[:, 1] > 0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fitted(name, X, y, l2=1.0)
    assert np.abs(model.coef_).max() < 50


def test_firths_penalty_answers_separated_classes():
    X = features()
    model = likely.LogisticRegression(firth=True).fit(X, X[:, 1] > 0)
    assert 1 < model.coef_[0, 1] < 200
    assert np.isfinite(model.summary().to_frame("pandas")["se"]).all()


@each_free
def test_a_duplicate_column_is_named_and_the_predictions_are_those_without_it(name):
    X, y = features(), MODELS[name][1](features())
    doubled = np.column_stack([X, X[:, 1]])
    with pytest.warns(RedundantColumns, match="'x3'"):
        model = fitted(name, doubled, y)
    assert_allclose(answers(model, doubled), answers(fitted(name, X, y), X), rtol=1e-6, atol=1e-8)


@each_free
def test_a_column_of_zeros_gets_a_coefficient_of_zero(name):
    X, y = features(), MODELS[name][1](features())
    with pytest.warns(RedundantColumns, match="'x3'"):
        model = fitted(name, np.column_stack([X, np.zeros(N)]), y)
    assert_allclose(model.coef_[..., 3], 0.0, rtol=1e-12, atol=1e-12)
    assert_allclose(model.coef_[..., :3], fitted(name, X, y).coef_, rtol=1e-6, atol=1e-8)


@every
def test_a_column_of_zeros_is_no_trouble_under_a_penalty(name):
    X, y = features(), MODELS[name][1](features())
    model = fitted(name, np.column_stack([X, np.zeros(N)]), y, l2=1.0)
    assert_allclose(model.coef_[..., 3], 0.0, rtol=1e-12, atol=1e-12)


@every
@pytest.mark.parametrize(("value", "word"), [(np.nan, "NaN"), (np.inf, "infinity")])
def test_a_cell_that_is_not_finite_is_refused_by_row_and_column(name, value, word):
    X = features()
    y = MODELS[name][1](X)
    X[7, 1] = value
    with pytest.raises(InvalidInput, match=rf"{word}.*row 7, column 'x1'"):
        fitted(name, X, y)


@every
def test_a_cell_that_is_not_finite_is_refused_in_new_rows_too(name):
    X = features()
    model = fitted(name, X, MODELS[name][1](X))
    X[7, 1] = np.nan
    with pytest.raises(InvalidInput, match=r"NaN.*row 7, column 'x1'"):
        model.predict(X)


@pytest.mark.parametrize("name", ["linear", "lasso", "poisson"])
def test_a_response_that_is_missing_is_refused(name):
    X = features()
    y = MODELS[name][1](X).astype(float)
    y[3] = np.nan
    with pytest.raises(ValueError, match=r"y contains NaN"):
        fitted(name, X, y)


@each_classifier
def test_one_class_is_refused_by_name(name):
    with pytest.raises(InvalidInput, match=r"needs at least 2 classes.*'only'"):
        fitted(name, features(), np.full(N, "only"))


@each_classifier
def test_text_labels_come_back_as_they_were(name):
    X = features()
    codes = MODELS[name][1](X)
    labels = np.array(["a low", "b middle", "c high"])[codes]
    order = {"order": sorted(set(labels))} if name == "ordinal" else {}
    model = fitted(name, X, labels, **order)
    assert set(model.predict(X)) <= set(labels)
    assert_allclose(answers(model, X), answers(fitted(name, X, codes), X), rtol=1e-9, atol=1e-9)


@each_classifier
def test_labels_one_and_two_are_not_zero_and_one(name):
    X = features()
    codes = MODELS[name][1](X)
    model = fitted(name, X, codes + 1)
    assert_allclose(model.classes_, np.unique(codes) + 1)
    assert_allclose(answers(model, X), answers(fitted(name, X, codes), X), rtol=1e-9, atol=1e-9)


@every
def test_more_columns_than_rows_are_answered_under_a_penalty(name):
    X = features(n=30, p=60)
    y = MODELS[name][1](X)
    model = fitted(name, X, y, l2=1.0)
    assert np.isfinite(answers(model, X)).all()
    assert np.abs(model.coef_).max() < 10


@pytest.mark.parametrize("name", ["linear", "poisson"])
def test_more_columns_than_rows_are_named_without_one(name):
    X = features(n=20, p=30)
    y = MODELS[name][1](X) + 1.0
    with pytest.warns(RedundantColumns):
        model = fitted(name, X, y)
    assert_allclose(model.predict(X), y, rtol=1e-4, atol=1e-4)


@each_classifier
@pytest.mark.filterwarnings("ignore::likely.errors.RedundantColumns")
def test_more_columns_than_rows_separate_classes_without_one(name):
    X = features(n=20, p=30)
    with pytest.warns(Separation):
        fitted(name, X, MODELS[name][1](X))


def test_one_row_of_a_regression_is_its_own_mean():
    X = np.array([[1.0, 2.0]])
    with pytest.warns(RedundantColumns):
        model = likely.LinearRegression().fit(X, [3.0])
    assert_allclose(model.predict(X), 3.0)
    with pytest.warns(RedundantColumns):
        assert_allclose(likely.GLM("poisson").fit(X, [3.0]).predict(X), 3.0)


@each_classifier
def test_one_row_of_a_classifier_is_one_class_and_refused(name):
    with pytest.raises(InvalidInput, match="at least 2 classes"):
        fitted(name, np.array([[1.0, 2.0]]), np.array([1]))


@pytest.mark.parametrize("name", ["linear", "lasso", "poisson"])
def test_a_constant_response_is_the_constant(name):
    X = features()
    model = fitted(name, X, np.full(N, 2.0))
    assert_allclose(model.predict(X), 2.0, rtol=1e-6)
    assert_allclose(model.coef_, 0.0, atol=1e-7)


@every
def test_weights_that_are_all_zero_are_refused(name):
    X = features()
    make, target = MODELS[name]
    with pytest.raises(InvalidInput, match=r"at least one non-zero number.*positive weight"):
        make().fit(X, target(X), sample_weight=np.zeros(N))


def test_a_response_that_the_family_cannot_have_is_refused():
    X = features()
    with pytest.raises(InvalidInput, match=r"poisson response must be.*found -1"):
        likely.GLM("poisson").fit(X, np.where(np.arange(N) == 5, -1.0, 2.0))
    with pytest.raises(InvalidInput, match=r"gamma response must be.*found 0"):
        likely.GLM("gamma").fit(X, np.where(np.arange(N) == 5, 0.0, 2.0))


def test_three_classes_for_two_are_refused_with_the_model_to_use():
    X = features()
    with pytest.raises(InvalidInput, match="Use SoftmaxRegression"):
        likely.LogisticRegression().fit(X, three(X))


def test_a_count_of_zero_throughout_is_named():
    """All counts 0: the estimate of the rate is 0, its logarithm −∞."""
    with pytest.warns(Separation, match="the intercept"):
        likely.GLM("poisson").fit(features(), np.zeros(N))


@pytest.mark.parametrize("tol", [1e-6, 1e-8, 1e-13])
def test_classes_that_overlap_by_a_few_rows_are_not_called_separated(tol):
    """Versicolor against virginica: strong coefficients, and a finite estimate."""
    X, y = load_iris(return_X_y=True)
    model = likely.LogisticRegression(l2=0.0, tol=tol).fit(X[50:], y[50:])
    assert np.abs(model.coef_).max() < 20


@pytest.mark.parametrize("model", [likely.LinearRegression(), likely.GLM(), likely.GLM("gamma")])
@pytest.mark.parametrize(("unit", "advice"), [(1e200, "Divide y"), (1e-200, "Multiply y")])
def test_responses_whose_squares_are_lost_are_refused(model, unit, advice):
    """Without a warning of NumPy's, and instead of errors of exactly 0."""
    X = features()
    y = unit * (np.abs(X[:, 0]) + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InvalidInput, match=rf"The largest response is .*{advice} by a round"):
            model.fit(X, y)


@pytest.mark.parametrize("unit", [1e-140, 1e-30, 1e30, 1e140])
def test_responses_of_any_other_size_scale_everything(unit):
    X = features()
    y = X @ np.arange(1.0, X.shape[1] + 1) + np.sin(np.arange(len(X)))
    one, other = likely.LinearRegression().fit(X, y), likely.LinearRegression().fit(X, unit * y)
    assert_allclose(other.coef_ / unit, one.coef_, rtol=1e-10)
    errors = other.inference_.standard_errors / unit
    assert_allclose(errors, one.inference_.standard_errors, rtol=1e-10)
    assert_allclose(other.inference_.p, one.inference_.p, rtol=1e-8)


def test_responses_of_0_are_no_extreme():
    model = likely.LinearRegression().fit(features(), np.zeros(len(features())))
    assert (model.coef_ == 0).all()
