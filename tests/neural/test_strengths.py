"""The strength of a column is the slope of what was learned, not of where training started."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

import likely


def one_of_ten(seed=0, n=200):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 10))
    return X, (X[:, 3] + 0.5 * rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize("n_networks", [1, 3])
def test_one_useful_column_of_ten_stands_out_after_early_stopping(n_networks):
    X, y = one_of_ten()
    model = likely.NeuralNetworkClassifier(
        early_stopping=True, n_networks=n_networks, learning_rate=3e-3, random_state=0
    ).fit(X, y)
    share = model.column_strengths_
    assert_allclose(share.sum(), 1.0)
    others = np.delete(share, 3)
    assert share[3] > 5 * others.max()
    assert model.describe().most_important()[0] == "x3"


def test_strengths_of_a_linear_model_are_coefficients_times_standard_deviations():
    X, y = one_of_ten()
    X = X * np.linspace(0.1, 5, 10)
    model = likely.NeuralNetworkClassifier((), solver="lbfgs", l2=1.0).fit(X, y)
    expected = np.abs(model.weights_[0][0]) * X.std(axis=0)
    assert_allclose(model.column_strengths_, expected / expected.sum(), rtol=1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_slopes_equal_finite_differences(n_classes):
    """Of the predictor of classes, centred over them."""
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % n_classes
    model = likely.NeuralNetworkClassifier(
        (6, 5),
        solver="adam",
        activation="tanh",
        max_epochs=3,
        tol=None,
        random_state=0,
        dtype="float64",
    ).fit(X, y)

    def eta(rows):
        found = model.trace(rows).a[-1]
        return found - found.mean(axis=1, keepdims=True) if n_classes > 2 else found

    total = np.empty(4)
    for j, step in enumerate(1e-5 * np.eye(4)):
        slope = (eta(X + step) - eta(X - step)) / 2e-5
        total[j] = np.abs(slope).mean() * X[:, j].std()
    assert_allclose(model.column_strengths_, total / total.sum(), rtol=1e-6)


def test_sparse_rows_and_constant_columns_have_strengths():
    X, y = one_of_ten()
    X[:, 5] = 0.0
    options = {"hidden": (4,), "solver": "adam", "max_epochs": 2, "tol": None, "random_state": 0}
    dense, csr = (
        likely.NeuralNetworkClassifier(**options).fit(rows, y) for rows in (X, sparse.csr_array(X))
    )
    assert dense.column_strengths_[5] == 0.0
    assert_allclose(csr.column_strengths_, dense.column_strengths_, rtol=1e-5)
    start = likely.NeuralNetworkClassifier(**{**options, "max_epochs": 0})
    problem = start.training_starts(start.options_on(X), X, y, None)[0].problem
    zero = problem.column_strengths([np.zeros(problem.architecture.n_parameters)])
    assert_allclose(zero, 0.0)  # nothing depends on anything
