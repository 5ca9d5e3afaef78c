"""The equivalent logistic model gives the same posterior, whatever is mixed."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from likely import NaiveBayes
from likely.distributions import EXPONENTIAL_FAMILIES
from likely.errors import InvalidInput
from likely.special import log_softmax


def test_mixed_columns_are_linear_in_their_statistics():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 200)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40 + 5 * y, 1 + y),
            "town": rng.choice(["Bonn", "Ulm"], 200),
            "ok": rng.random(200) < 0.2 + 0.2 * y,
            "n": rng.poisson(1 + y),
        }
    )
    model = NaiveBayes({"n": "poisson"}).fit(frame, y)
    form = model.logistic_form()
    T = {
        "age": frame["age"],
        "age²": frame["age"] ** 2,
        "town=Bonn": frame["town"] == "Bonn",
        "town=Ulm": frame["town"] == "Ulm",
        "ok": frame["ok"],
        "n": frame["n"],
    }
    assert set(form.terms) == set(T)
    design = np.stack([T[term].to_numpy(dtype=float) for term in form.terms], axis=1)
    log_posterior = log_softmax(design @ form.coef.T + form.intercept, axis=1)
    assert_allclose(log_posterior, model.predict_log_proba(frame), rtol=1e-10, atol=1e-10)


def test_any_exponential_family_names_its_own_statistics():
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = NaiveBayes(EXPONENTIAL_FAMILIES["gaussian"]).fit(X, np.arange(40) % 2)
    form = model.logistic_form()
    assert form.terms == ("T1(x0)", "T2(x0)", "T1(x1)", "T2(x1)")
    T = np.stack([X[:, 0], X[:, 0] ** 2, X[:, 1], X[:, 1] ** 2], axis=1)
    log_posterior = log_softmax(T @ form.coef.T + form.intercept, axis=1)
    assert_allclose(log_posterior, model.predict_log_proba(X), rtol=1e-10, atol=1e-10)


def test_a_laplace_column_has_no_such_form():
    model = NaiveBayes("laplace").fit([[0.0], [1.0], [5.0]], [0, 0, 1])
    with pytest.raises(InvalidInput, match="Laplace is not linear"):
        model.logistic_form()
