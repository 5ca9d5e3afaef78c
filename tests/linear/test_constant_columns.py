"""A constant that is no binary fraction, as a column without a penalty: it changes nothing."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from likely import LogisticRegression, MaxEntropy, OrdinalRegression, SoftmaxRegression

MODELS = {
    "softmax": lambda: SoftmaxRegression(l2=0.0),
    "softmax-lbfgs": lambda: SoftmaxRegression(l2=0.0, solver="lbfgs"),
    "max-entropy": lambda: MaxEntropy(l2=0.0),
    "ordinal": lambda: OrdinalRegression(l2=0.0),
    "firth": lambda: LogisticRegression(l2=0.0, firth=True),
    **{
        solver: lambda solver=solver: LogisticRegression(l2=0.0, solver=solver)
        for solver in ("auto", "proximal-newton", "lbfgs", "coordinate-descent", "fista")
    },
}


@pytest.mark.parametrize("constant", [0.1, 0.3, 1 / 3, 1e6 + 0.1, -0.7])
@pytest.mark.parametrize("name", MODELS)
def test_a_constant_column_changes_no_probability(name, constant):
    rng = np.random.default_rng(3)
    x = rng.normal(size=(157, 1))
    latent = x[:, 0] + rng.logistic(size=157)
    two = isinstance(MODELS[name](), LogisticRegression)
    y = (latent > 0).astype(int) if two else np.digitize(latent, [-1, 1])
    X = np.column_stack([x, np.full(157, constant)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the column is redundant
        found, alone = MODELS[name]().fit(X, y), MODELS[name]().fit(x, y)
    assert_allclose(found.predict_proba(X), alone.predict_proba(x), atol=1e-7)
    assert np.abs(found.coef_).max() < 10
