"""The ridge penalty of largest marginal likelihood."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely import SoftmaxRegression, load, save
from likely.errors import InvalidInput
from likely.linear.softmax import CLEAR, STRONGEST, Determined, marginal_l2


def rows(n, signal, *, columns=6, seed=0):
    """Three classes, with one informative column among several."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, columns))
    eta = np.column_stack([np.zeros(n), signal * X[:, 0], -signal * X[:, 0] - 1.5])
    return X, (eta + rng.gumbel(size=(n, 3))).argmax(axis=1)


def linear_model(y_scale, n=50, d=8, seed=0):
    """Gaussian rows with a known noise, of which the marginal likelihood is exact."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = X @ rng.normal(0, y_scale, d) + rng.normal(size=n)
    H, b = X.T @ X, X.T @ y

    def fitted_at(l2):
        inverse = np.linalg.inv(H + l2 * np.eye(d))
        return Determined(float(np.trace(inverse @ H)), float(np.square(inverse @ b).sum()))

    def log_evidence(l2):
        covariance = np.eye(n) + X @ X.T / l2
        return -(np.linalg.slogdet(covariance)[1] + y @ np.linalg.solve(covariance, y)) / 2

    return fitted_at, log_evidence, d, n


def test_the_fixed_point_is_the_maximum_of_the_marginal_likelihood():
    fitted_at, log_evidence, d, n = linear_model(0.4)
    found = marginal_l2(fitted_at, d, n)
    assert found > 1
    grid = np.geomspace(1, 500, 400)
    best = grid[np.argmax([log_evidence(l2) for l2 in grid])]
    assert_allclose(np.log(found), np.log(best), atol=0.1)
    assert log_evidence(found) - log_evidence(STRONGEST * n) > CLEAR


def test_columns_without_information_leave_the_constant():
    fitted_at, _, d, n = linear_model(0.0)
    assert marginal_l2(fitted_at, d, n) == STRONGEST * n
    X, y = rows(120, 0.0, columns=15)
    model = SoftmaxRegression(l2="auto").fit(X, y)
    assert model.l2_ == 1200
    assert_allclose(model.predict_proba(X), np.tile(np.bincount(y) / 120, (120, 1)), atol=0.06)


def test_strong_signals_are_hardly_shrunk_and_many_rows_not_searched():
    X, y = rows(150, 4.0)
    model = SoftmaxRegression(l2="auto").fit(X, y)
    assert 1 <= model.l2_ < 10
    same = SoftmaxRegression(l2=model.l2_).fit(X, y)
    assert_allclose(model.coef_, same.coef_, rtol=1e-6)
    assert "l2=" in str(model.summary())
    X, y = rows(1300, 0.0)
    assert SoftmaxRegression(l2="auto").fit(X, y).l2_ == 1.0


def test_of_two_classes_the_penalty_is_shared_by_opposite_weights():
    X, y = rows(300, 1.0)
    X, y = X[y < 2], y[y < 2]
    shared = SoftmaxRegression(l2="auto").fit(X, y)
    alone = SoftmaxRegression(l2="auto", reference=0).fit(X, y)
    assert_allclose(np.log(shared.l2_ / 2), np.log(alone.l2_), atol=0.1)


def test_the_choice_is_forgotten_with_another_penalty_and_saved_with_the_model(tmp_path):
    X, y = rows(150, 1.0)
    model = SoftmaxRegression(l2="auto").fit(X, y)
    save(model, tmp_path / "model.likely")
    again = load(tmp_path / "model.likely")
    assert again.l2_ == model.l2_
    assert str(again.summary()) == str(model.summary())
    assert not hasattr(model.set_params(l2=2.0).fit(X, y), "l2_")
    with pytest.raises(InvalidInput, match=r"l1=0.5 and l2='auto' were given.*Give l2 as a number"):
        SoftmaxRegression(l1=0.5, l2="auto").fit(X, y)
    with pytest.raises(InvalidInput, match="'best' is not a strength"):
        SoftmaxRegression(l2="best").fit(X, y)
