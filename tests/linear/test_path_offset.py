"""Paths of models with an offset or an exposure: every fit has it, and every held-out row."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from likely.errors import InvalidInput
from likely.linear.glm import GLM
from likely.linear.logistic import LogisticRegression
from likely.linear.path import PenaltyPath
from likely.linear.regression import LinearRegression
from likely.linear.softmax import SoftmaxRegression

TIGHT = 1e-13  # of a gap: coefficients are as exact as its root
P = 6
MODELS = {
    "linear": LinearRegression(tol=TIGHT),
    "searched": LinearRegression(tol=TIGHT, solver="proximal-newton"),
    "logistic": LogisticRegression(l2=0.0, tol=TIGHT),
}


def table(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, P)) + 1.0
    return X, X[:, 0] - 0.7 * X[:, 1] + 0.3 * X[:, 2], rng


def counts_with_exposure():
    X, eta, rng = table(3, n=200)
    exposure = rng.uniform(0.2, 5.0, len(X))
    return X, rng.poisson(exposure * np.exp(0.5 * eta)), exposure


def test_a_path_of_counts_takes_their_exposure():
    """Held-out deviance too: a path that forgot the exposure would choose by other numbers."""
    X, y, exposure = counts_with_exposure()
    path = PenaltyPath(GLM("poisson", tol=TIGHT), n_penalties=8).fit(X, y, exposure=exposure)
    alone = GLM("poisson", l1=path.penalty_, tol=TIGHT).fit(X, y, exposure=exposure)
    assert_allclose(path.model_.coef_, alone.coef_, atol=1e-6)
    assert_allclose(
        path.predict(X, exposure=exposure), alone.predict(X, exposure=exposure), rtol=1e-5
    )
    by_offset = PenaltyPath(GLM("poisson", tol=TIGHT), n_penalties=8).fit(
        X, y, offset=np.log(exposure)
    )
    assert_allclose(by_offset.deviance_, path.deviance_)
    assert_allclose(path.score(X, y, exposure=exposure), alone.score(X, y, exposure=exposure))
    first = GLM("poisson", l1=path.penalties_[0], tol=TIGHT).fit(X, y, exposure=exposure)
    assert not first.coef_.any()
    assert GLM("poisson", l1=0.97 * path.penalties_[0]).fit(X, y, exposure=exposure).coef_.any()


@pytest.mark.parametrize("name", ["linear", "searched", "logistic"])
def test_an_offset_is_in_every_fit_of_a_path_and_in_its_folds(name):
    X, eta, rng = table(0, n=60)
    noisy = eta + rng.logistic(size=60)
    y, offset = (noisy > 0.6) * 1 if name == "logistic" else noisy, 0.3 * X[:, 3]
    path = PenaltyPath(MODELS[name], n_penalties=5).fit(X, y, offset=offset)
    for i in (0, 2, 4):
        alone = clone(MODELS[name]).set_params(l1=path.penalties_[i]).fit(X, y, offset=offset)
        assert_allclose(path.coefs_[i], alone.coef_, atol=1e-5)
    if name != "logistic":  # y − o is all that least squares sees
        moved = PenaltyPath(MODELS[name], n_penalties=5).fit(X, y - offset)
        assert_allclose(path.deviance_, moved.deviance_, rtol=1e-6)
    same = path.model_.predict(X, offset=offset)
    assert_array_equal(path.predict(X, offset=offset), same)


def test_what_is_beside_the_rows_may_be_named_and_is_refused_where_it_means_nothing():
    X, y, exposure = counts_with_exposure()
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(P)]).assign(y=y, e=exposure)
    path = PenaltyPath(GLM("poisson"), n_penalties=4).fit(frame, "y", exposure="e")
    arrays = PenaltyPath(GLM("poisson"), n_penalties=4).fit(X, y, exposure=exposure)
    assert_allclose(path.model_.coef_, arrays.model_.coef_, rtol=1e-9, atol=1e-9)
    assert_allclose(path.predict(frame, exposure="e"), arrays.predict(X, exposure=exposure))
    with pytest.raises(InvalidInput, match="exposure was given; LinearRegression takes offset"):
        PenaltyPath(LinearRegression()).fit(X, y, exposure=exposure)
    with pytest.raises(InvalidInput, match="SoftmaxRegression takes neither offset nor exposure"):
        PenaltyPath(SoftmaxRegression()).fit(X, y > 2, offset=exposure)


def test_given_penalties_are_no_way_around_the_checks_of_a_fit():
    X, y, exposure = counts_with_exposure()
    alone = {"penalties": [1.0], "cv": None}
    with pytest.raises(InvalidInput, match="only the log link turns into an offset"):
        PenaltyPath(GLM("gaussian"), **alone).fit(X, y, exposure=exposure)
    with pytest.raises(InvalidInput, match="LogisticRegression needs at least 2 classes"):
        PenaltyPath(LogisticRegression(l2=0.0), **alone).fit(X, np.zeros(len(X)))


@pytest.mark.parametrize(
    ("model", "link"), [(GLM("poisson"), "log"), (LinearRegression(), "identity")]
)
def test_a_path_adds_offsets_on_the_scale_of_its_model(model, link):
    X, y, _ = counts_with_exposure()
    assert PenaltyPath(model, n_penalties=3, cv=2).fit(X, y).offset_link() == link
